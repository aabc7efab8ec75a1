//! What the experiments on looking connections up must show on any machine: counts, no times.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Row;

/// The rows of an experiment; it met all its targets.
fn run(experiment: &str, more: &[&str]) -> Vec<Row> {
    let (rows, _) = super::run(experiment, more);
    for row in &rows {
        assert_ne!(row.get("ok"), Some(&false.into()), "{row:?}");
    }
    rows
}

fn claims(rows: &[Row], claims: &[&str]) {
    for claim in claims {
        assert!(rows.iter().any(|row| row.get("claim") == Some(&(*claim).into())), "{claim}");
    }
}

#[test]
fn pcb() {
    let folder = std::env::temp_dir().join(format!("throughline-plots-{}", std::process::id()));
    let rows = run("pcb", &["--plots", folder.to_str().unwrap()]);
    claims(&rows, &["PCB-1", "PCB-2", "PCB-3", "PCB-4", "PCB-5", "PCB-7"]);
    let targets = rows.iter().filter(|row| row.contains_key("ok")).count();
    assert!(targets > 30, "{targets}");
    let gains = rows.iter().filter(|row| row["metric"] == "gain");
    for row in gains {
        let (gain, by) = (row["value"].as_f64().unwrap(), row["by"].as_str().unwrap());
        assert!(if by == "moving to the front" { gain <= 2.0 } else { gain > 5.0 }, "{row:?}");
    }
    let figure = std::fs::read_to_string(folder.join("pcb-figure-9.svg")).unwrap();
    assert!(figure.starts_with("<svg") && figure.contains("Sequent, 19 chains"));
    let of_figure = rows.iter().filter(|row| row.contains_key("figure") && row["source"] == "simulation");
    let traffic: BTreeSet<_> = of_figure.map(|row| row["traffic"].as_str().unwrap()).collect();
    assert_eq!(Vec::from_iter(traffic), ["independent", "tpc-a"]);
    // PCB-7 by equation 6 with the users of a chain; PCB-3 by its own.
    let model = |wanted: &[(&str, Value)]| {
        let mut models = rows.iter().filter(|row| row.get("source") == Some(&"model".into()));
        let row = models.find(|row| wanted.iter().all(|(key, value)| row.get(*key) == Some(value)));
        row.unwrap_or_else(|| panic!("no model {wanted:?}"))["value"].as_f64().unwrap()
    };
    for (chains, examined) in [(19, 29.62), (51, 11.49), (100, 6.21)] {
        let of = [
            ("locator", "chains-move-to-front".into()),
            ("chains", chains.into()),
            ("packet", "both".into()),
        ];
        assert!((model(&of) - examined).abs() < 0.01, "{chains}");
    }
    assert_eq!(model(&[("traffic", "fixed-think-time".into()), ("packet", "entry".into())]), 2000.0);
    assert_eq!(model(&[("traffic", "polling".into())]), 2000.0);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn connect() {
    let rows = run("connect", &[]);
    claims(&rows, &["PCB-6"]);
    let ratio = rows.iter().find(|row| row["metric"] == "lookup_time_over_sequent").unwrap();
    assert!(!ratio.contains_key("paper"), "the paper has no such time: {ratio:?}");
    let [least, value, most] = ["least", "value", "most"].map(|key| ratio[key].as_f64().unwrap());
    assert!(least <= value && value <= most, "{ratio:?}");
    assert!(rows.iter().filter(|row| row["unit"] == "entries").all(|row| row["order"] == "stop and wait"));
    assert_eq!(rows.iter().filter(|row| row.contains_key("ok")).count(), 4);
}

#[test]
fn collisions() {
    let rows = run("collisions", &[]);
    claims(&rows, &["HDR-4"]);
    let xor = |addresses: &str| {
        let wanted = [("hash", "xor, words"), ("addresses", addresses), ("metric", "collisions_over_random")];
        let mut rows = rows.iter().filter(|row| row["bins"] == 65_536);
        let row = rows.find(|row| wanted.iter().all(|(key, value)| row.get(*key) == Some(&(*value).into())));
        row.unwrap()["value"].as_f64().unwrap()
    };
    assert!(xor("site") > 10.0 && xor("outbound") < 1.1, "it is worse with both addresses of a site only");
    assert_eq!(rows.iter().filter(|row| row.contains_key("ok")).count(), 10);
}

#[test]
fn mixes() {
    let rows = run("mixes", &[]);
    let mean = |traffic: &str, lookup: &str| {
        let wanted = [("metric", "examined_mean"), ("traffic", traffic), ("lookup", lookup)]
            .map(|(k, v)| (k, Value::from(v)));
        let row = rows.iter().find(|row| wanted.iter().all(|(k, v)| row.get(*k) == Some(v)));
        row.unwrap_or_else(|| panic!("no {lookup} under {traffic}"))["value"].as_f64().unwrap()
    };
    assert!(mean("trains", "bsd") < 0.2 * mean("trains", "linear"), "what BSD's cache is for");
    assert!(mean("transactions", "bsd") > 0.99 * mean("transactions", "linear"), "what it is not for");
    assert!(mean("popularity", "move-to-front") < 0.5 * mean("popularity", "linear"));
    // By chance a walk is within 450 of half of a list, which is 5 times its standard deviation. In the order of their popularity
    // it were 245 or 1,756.
    let popular = mean("popularity", "linear");
    assert!((popular - 1000.5).abs() < 450.0, "popular flows are anywhere in the list: {popular}");
    let flood = "transactions under a flood";
    assert!(mean(flood, "sequent, xor") > 4.0 * mean(flood, "sequent"));
    for traffic in ["transactions", "trains", "connections come and go", "transactions under a scan", flood] {
        assert!(mean(traffic, "dynamic-hash") < 1.5, "{traffic}");
    }
}

#[test]
fn hash_cost() {
    if !super::counts() {
        return;
    }
    let rows = run("hash-cost", &[]);
    if rows.is_empty() {
        return super::skipped("no valgrind here (Debian package `valgrind`), instructions are not counted");
    }
    claims(&rows, &["HDR-2"]);
    let of = |scheme: &str| {
        rows.iter().find(|row| row["scheme"] == scheme).and_then(|row| row["value"].as_f64()).unwrap()
    };
    assert!(of("source-hash") < of("xor") && of("xor") < of("crc32"), "{rows:?}");
}

#[test]
fn lookup_instructions() {
    if !super::counts() {
        return;
    }
    let rows = run("lookup-instructions", &[]);
    if rows.is_empty() {
        return super::skipped("no valgrind here (Debian package `valgrind`), instructions are not counted");
    }
    claims(&rows, &["HDR-2", "HDR-3", "HDR-7"]);
    let of = |metric: &str, scheme: &str| {
        let row = rows.iter().find(|row| row["metric"] == metric && row["scheme"] == scheme);
        row.and_then(|row| row["value"].as_f64()).unwrap_or_else(|| panic!("no {metric} by {scheme}"))
    };
    let schemes = ["threaded", "source-hash", "xor", "longest-prefix"];
    let information = schemes.map(|scheme| of("information", scheme));
    assert!(information.is_sorted() && information[0] > 0.0, "{information:?}");
    assert_eq!(rows.iter().filter(|row| row.contains_key("ok")).count(), 3);
    // A header is passed at some cost, and the whole way costs about the sum.
    let passed: f64 = rows
        .iter()
        .filter(|row| row["metric"] == "pass" && row["scheme"] == "headers")
        .map(|row| row["value"].as_f64().unwrap())
        .sum();
    let whole = of("to_data", "headers");
    assert!((whole / passed - 1.0).abs() < 0.25, "{whole} and {passed}");
}

#[test]
fn setup_cost() {
    let folder = std::env::temp_dir().join(format!("throughline-setup-{}", std::process::id()));
    let rows = run("setup-cost", &["--plots", folder.to_str().unwrap()]);
    claims(&rows, &["HDR-5"]);
    let figure = std::fs::read_to_string(folder.join("setup-cost.svg")).unwrap();
    assert!(figure.starts_with("<svg") && figure.contains("virtual-circuit"));
    std::fs::remove_dir_all(folder).unwrap();
    let total = |scheme: &str, packets: u32| {
        let wanted = [("metric", "total_ms"), ("scheme", scheme), ("times", "figure 2")];
        let row = rows.iter().find(|row| {
            wanted.iter().all(|(key, value)| row.get(*key) == Some(&(*value).into()))
                && row["packets"] == packets
        });
        row.unwrap_or_else(|| panic!("no {scheme} of {packets}")).clone()
    };
    let ms = |scheme: &str, packets| total(scheme, packets)["value"].as_f64().unwrap();
    // As in the paper's figure: the circuit needs 334 packets to be faster than datagrams, and more to pay for its own set-up's
    // lookups; nothing is ever faster than an index that is there.
    assert!(ms("virtual-circuit", 333) > ms("datagram", 333));
    assert!(ms("virtual-circuit", 500) < ms("datagram", 500));
    for packets in [1, 2, 10, 100, 1000] {
        assert!(ms("source-hash", packets) < ms("virtual-circuit", packets), "{packets}");
        assert!(ms("threaded", packets) < ms("source-hash", packets), "{packets}");
    }
    // What the nodes did is what the model says of them.
    for (scheme, long, short) in
        [("datagram", 1000, 0), ("virtual-circuit", 0, 1000), ("source-hash", 1, 999), ("threaded", 0, 1000)]
    {
        let row = total(scheme, 1000);
        assert_eq!((&row["long_lookups"], &row["short_lookups"]), (&long.into(), &short.into()), "{scheme}");
    }
}

#[test]
fn schemes() {
    let rows = run("schemes", &[]);
    claims(&rows, &["HDR-6"]);
    for table in 1..=3 {
        let cells: Vec<&Row> = rows.iter().filter(|row| row.get("table") == Some(&table.into())).collect();
        assert!(cells.len() >= 9, "table {table}: {}", cells.len());
        for cell in cells {
            assert!(cell["backed_by"].as_str().is_some_and(|by| !by.is_empty()), "{cell:?}");
        }
    }
    let of = |line: &str, column: &str| {
        let row = rows
            .iter()
            .find(|row| row.get("line") == Some(&line.into()) && row.get("column") == Some(&column.into()));
        row.and_then(|row| row["value"].as_f64()).unwrap_or_else(|| panic!("no {column} of {line}"))
    };
    for line in ["bridging", "routing", "packet filter"] {
        assert!(of(line, "found by index") >= 0.98, "{line}");
    }
    assert_eq!(of("timer-based RPC", "copies refused"), 1.0);
    assert!(of("virtual-circuit", "set-up delay") > 0.99);
    for row in rows.iter().filter(|row| row.get("line") == Some(&"ours".into()) && row.contains_key("paper"))
    {
        assert_eq!(row["value"], row["paper"], "{row:?}");
    }
}
