//! The shapes that the experiment `dispatch` must show on any machine: counts exactly, times with much room.

use serde_json::Value;

use super::Row;

/// The rows of `throughline-lab dispatch --quick --json`, and what it said besides.
fn run(more: &[&str]) -> (Vec<Row>, String) {
    super::run("dispatch", more)
}

/// The value of the only row with these keys.
fn value(rows: &[Row], wanted: &[(&str, Value)]) -> f64 {
    let mut found = rows.iter().filter(|row| wanted.iter().all(|(k, v)| row.get(*k) == Some(v)));
    let row = found.next().unwrap_or_else(|| panic!("no row with {wanted:?}"));
    assert!(found.next().is_none(), "several rows with {wanted:?}");
    row["value"].as_f64().unwrap()
}

fn time(rows: &[Row], strategy: &str, objects: u32, step: &str) -> f64 {
    value(
        rows,
        &[
            ("metric", "time".into()),
            ("strategy", strategy.into()),
            ("objects", objects.into()),
            ("operations", 100.into()),
            ("invocation", "worst-case".into()),
            ("step", step.into()),
        ],
    )
}

#[test]
fn lists_grow_and_handles_do_not() {
    let (rows, _) = run(&[]);
    let find = |strategy, objects| time(&rows, strategy, objects, "find-object");
    assert!(find("linear", 500) > 5.0 * find("linear", 1));
    assert!(find("active", 20_000) < 4.0 * find("active", 1), "the same work; room for a noisy machine");
    assert!(find("linear", 500) > 5.0 * find("active", 500));
    for claim in ["TAO-1", "TAO-2", "TAO-3", "TAO-4", "TAO-5"] {
        assert!(rows.iter().any(|row| row.get("claim") == Some(&claim.into())), "{claim}");
    }
    let bytes =
        [("metric", "bytes_per_object".into()), ("strategy", "active".into()), ("source", "tables".into())];
    assert!(value(&rows, &bytes) <= 64.0);
    let left_out = [("metric", "left_out".into()), ("strategy", "linear".into())];
    assert_eq!(value(&rows, &left_out), 20_000.0);
}

#[test]
fn instructions() {
    if !super::counts() {
        return;
    }
    let (rows, notes) = run(&["--instructions"]);
    let count = |strategy: &str, objects: u32, invocation: &str, step: &str| {
        value(
            &rows,
            &[
                ("metric", "instructions".into()),
                ("strategy", strategy.into()),
                ("objects", objects.into()),
                ("operations", 100.into()),
                ("invocation", invocation.into()),
                ("step", step.into()),
            ],
        )
    };
    if !rows.iter().any(|row| row["metric"] == "instructions") {
        return super::skipped(&notes);
    }
    let once = count("active", 1, "first", "to-skeleton");
    for objects in [1, 20_000] {
        for invocation in ["first", "worst-case"] {
            assert_eq!(count("active", objects, invocation, "to-skeleton"), once, "{objects} {invocation}");
        }
    }
    let linear = count("linear", 1, "worst-case", "find-object");
    assert!(count("linear", 100, "worst-case", "find-object") > 5.0 * linear);
    assert!(
        count("linear", 1, "worst-case", "find-operation")
            > 5.0 * count("linear", 1, "first", "find-operation")
    );
    assert!(once <= 20.0, "{once} instructions from key to skeleton");
    let names =
        rows.iter().filter(|row| row["strategy"] == "active+perfect-hash" && row.contains_key("name_length"));
    let mut by_length = vec![Vec::new(); 25];
    for row in names {
        let length = row["name_length"].as_u64().unwrap() as usize;
        by_length.get_mut(length).into_iter().for_each(|all| all.push(row["value"].as_f64().unwrap()));
    }
    for (length, counts) in by_length.iter().enumerate().skip(1) {
        assert!(!counts.is_empty(), "no name of {length} bytes");
        let within = counts.iter().all(|count| (1.0..=60.0).contains(count));
        assert!(within, "{counts:?} instructions from a name of {length} bytes to its operation");
    }
    let lines = [
        ("metric", "cache_lines".into()),
        ("strategy", "active".into()),
        ("objects", 20_000.into()),
        ("counted", "each further lookup".into()),
    ];
    assert!(value(&rows, &lines) <= 2.0);
}
