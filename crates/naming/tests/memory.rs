//! What texts of strangers cost: the memory of the whole process is looked at, so alone in it.

mod common;

use common::start;

/// The most memory that this process ever had, in octets.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}

#[test]
fn texts_longer_than_any_name_are_not_taken_apart() {
    let (_service, _client, root) = start();
    // As components it would be 40 times as large.
    let endless = "i/".repeat(4 << 20) + "i";
    root.to_string(&root.to_name("warm").unwrap()).unwrap();
    let before = peak();
    root.to_name(&endless).unwrap_err();
    root.resolve_str(&endless).unwrap_err();
    root.to_url(":localhost", &endless).unwrap_err();
    let grown = peak() - before;
    assert!(grown < 8 * endless.len(), "{grown} octets for a text of {}", endless.len());
}
