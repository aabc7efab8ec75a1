//! What the experiments on looking connections up must show on any machine: counts, no times.

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
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn connect() {
    let rows = run("connect", &[]);
    claims(&rows, &["PCB-6"]);
    assert_eq!(rows.iter().filter(|row| row.contains_key("ok")).count(), 4);
}

#[test]
fn collisions() {
    let rows = run("collisions", &[]);
    claims(&rows, &["HDR-4"]);
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
