//! What the experiments on forwarding must show on any machine: counts, and in release builds what does not depend on its speed.

use super::{Row, counts, run, skipped};

fn of(rows: &[Row], metric: &str, key: &str, wanted: &str) -> Vec<f64> {
    let is = |row: &&Row| row["metric"] == metric && row.get(key).is_some_and(|value| value == wanted);
    rows.iter().filter(is).map(|row| row["value"].as_f64().unwrap()).collect()
}

#[test]
fn forwarding() {
    let (rows, notes) = run("forwarding", &[]);
    for scheme in ["none", "computed-hash", "source-hash"] {
        assert_eq!(of(&rows, "time", "scheme", scheme).len(), 2, "{scheme}");
    }
    if counts() {
        let instructions = |scheme| of(&rows, "instructions", "scheme", scheme);
        for (without, with) in instructions("none").iter().zip(instructions("source-hash")) {
            assert!(with < 0.75 * without, "{with} with a cache, {without} without");
        }
    }
    if of(&rows, "rate", "devices", "veth").is_empty() {
        return skipped(&notes);
    }
    for forwarder in ["kernel", "throughline"] {
        let rates = of(&rows, "rate", "forwarder", forwarder);
        assert!(rates.iter().all(|rate| *rate > 1000.0), "{forwarder}: {rates:?}");
    }
}

#[test]
fn threaded() {
    let (rows, notes) = run("threaded", &[]);
    if rows.is_empty() {
        return skipped(&notes);
    }
    let one = |metric: &str| of(&rows, metric, "protocol", "distance-vector")[0];
    assert_eq!(one("misdelivered"), 0.0);
    assert_eq!(of(&rows, "arrived", "scheme", "threaded"), [90.0]);
    // Where all was quiet every router is led by the index.
    assert!(of(&rows, "hops_by_index", "scheme", "threaded")[0] > 0.9);
    assert_eq!(of(&rows, "hops_by_index", "scheme", "none"), [0.0]);
    // Six seconds of silence, an update each second.
    assert!((5.0..13.0).contains(&one("outage")), "{}", one("outage"));
}
