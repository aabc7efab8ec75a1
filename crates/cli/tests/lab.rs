//! `throughline lab`.

mod common;

use common::{failure_of, stdout_of};

#[test]
fn experiments_are_listed() {
    assert!(stdout_of(&["lab", "list"]).contains("dispatch"));
    let json = stdout_of(&["lab", "list", "--json"]);
    let rows: Vec<serde_json::Value> = json.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert!(rows.iter().any(|row| row["name"] == "dispatch"));
}

#[test]
fn unknown_ones_are_refused() {
    let (status, message) = failure_of(&["lab", "run", "nonsense"]);
    assert_eq!(status, 2);
    assert!(message.contains("choose one of: "), "{message}");
}
