//! What the experiment `filter` must show on any machine: all rows, and in a release build that keeping flows saves as many
//! instructions as it must save time.

use super::{Row, counts, run, skipped};

/// The one value of a metric, for a number of filters and a scheme.
fn value(rows: &[Row], metric: &str, filters: u64, scheme: &str) -> f64 {
    let matches = |row: &&Row| {
        row["metric"] == metric
            && row["filters"] == filters
            && row["scheme"] == scheme
            && row["claim"] == "HDR-1"
    };
    let mut found = rows.iter().filter(matches);
    let row = found.next().unwrap_or_else(|| panic!("no row {metric} {filters} {scheme}"));
    assert!(found.next().is_none(), "{metric} {filters} {scheme}");
    row["value"].as_f64().unwrap()
}

#[test]
fn consumers_are_kept_by_flow() {
    let folder = std::env::temp_dir().join(format!("throughline-filter-{}", std::process::id()));
    let counts = counts();
    let more = ["--plots", folder.to_str().unwrap(), "--instructions"];
    let (rows, notes) = run("filter", if counts { &more } else { &more[..2] });
    if notes.contains("libpcap is needed") {
        return skipped(&notes);
    }
    let figure = std::fs::read_to_string(folder.join("filter.svg")).unwrap();
    assert!(figure.starts_with("<svg") && figure.contains("source-hash"));
    std::fs::remove_dir_all(folder).unwrap();
    for filters in [16, 1000] {
        for scheme in ["libpcap", "none", "computed-hash", "source-hash"] {
            assert!(value(&rows, "time", filters, scheme) > 0.0);
        }
        for scheme in ["computed-hash", "source-hash"] {
            // What is gained is that of a release build.
            assert!(value(&rows, "speedup", filters, scheme) > if counts { 1.0 } else { 0.0 });
            assert!(value(&rows, "hits", filters, scheme) > 0.99, "1,000 flows, 65,536 places");
        }
    }
    if !counts {
        return;
    }
    if notes.contains("valgrind") {
        return skipped("no valgrind here (Debian package `valgrind`), instructions are not counted");
    }
    for (filters, factor) in [(16, 6.0), (1000, 100.0)] {
        let all = value(&rows, "instructions", filters, "none");
        for scheme in ["computed-hash", "source-hash"] {
            let kept = value(&rows, "instructions", filters, scheme);
            assert!(all >= factor * kept, "{filters} filters, {scheme}: {all} and {kept}");
        }
    }
}
