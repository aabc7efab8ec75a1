//! `throughline lab`.

mod common;

use std::fs::OpenOptions;

use common::{failure_of, stdout_of, throughline};

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

#[test]
fn the_folder_for_figures_is_tried_before_the_run() {
    for folder in ["/dev/null/x", "/proc/nope"] {
        let (status, message) = failure_of(&["lab", "run", "pcb", "--plots", folder]);
        assert_eq!(status, 1);
        assert!(message.contains(folder) && message.contains("next:  name another folder"), "{message}");
    }
}

#[test]
fn a_capture_that_is_of_no_use_is_named() {
    for (file, why) in [("/dev/null", "it is empty"), ("/nowhere/a.pcap", "No such file")] {
        let (status, message) = failure_of(&["lab", "run", "filter", "--quick", "--capture", file]);
        assert_eq!(status, 1);
        let told = format!("the capture {file}: ");
        assert!([&told, why, "next:"].iter().all(|part| message.contains(part)), "{message}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_named() {
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = throughline();
    command.args(["lab", "run", "collisions", "--quick", "--json", "--interop", "nowhere"]).stdout(full);
    let output = command.output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(message.contains("standard output cannot be written") && message.contains("next:"), "{message}");
    assert!(message.contains("--interop changes nothing in the experiment collisions"), "{message}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_standard_error_that_cannot_be_written_changes_nothing() {
    let full = || OpenOptions::new().write(true).open("/dev/full").unwrap();
    let run = ["lab", "run", "collisions", "--quick", "--json", "--interop", "nowhere"];
    let output = throughline().args(run).stderr(full()).output().unwrap();
    assert!(output.status.success(), "{}", output.status);
    assert!(output.stdout.ends_with(b"}\n"));
    let status = |arguments: &[&str]| throughline().args(arguments).stderr(full()).status().unwrap().code();
    assert_eq!(status(&["lab", "run", "nonsense"]), Some(2));
    assert_eq!(status(&["simulate", "scan", "-o", "/nowhere/x"]), Some(1));
    let wrong = concat!(env!("CARGO_TARGET_TMPDIR"), "/wrong.idl");
    std::fs::write(wrong, "interface {").unwrap();
    assert_eq!(status(&["idl", wrong]), Some(1));
}

#[test]
fn without_what_it_needs_an_experiment_fails() {
    let output = throughline().env("PATH", "/nowhere").args(["lab", "run", "hash-cost"]).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("nothing was measured") && message.contains("next:"), "{message}");
}

#[test]
fn help_has_examples_and_statuses() {
    let help = stdout_of(&["lab", "run", "--help"]);
    assert!(help.contains("throughline lab run pcb") && help.contains("Exit status"), "{help}");
}
