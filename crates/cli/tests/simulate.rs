//! `throughline simulate`, and its captures read by `throughline trace`.

mod common;

use std::process::Stdio;

use common::{Folder, failure_of, run, stdout_of, throughline};

/// What `trace` counts in a capture.
fn traced(arguments: &[&str]) -> Vec<serde_json::Value> {
    let rows = stdout_of(&[&["trace", "--json"], arguments].concat());
    rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn value(rows: &[serde_json::Value], metric: &str) -> f64 {
    rows.iter().find(|row| row["metric"] == metric).unwrap()["value"].as_f64().unwrap()
}

#[test]
fn a_file_that_trace_reads_and_models_know() {
    let folder = Folder::new("simulate");
    let file = folder.file("users.pcap");
    stdout_of(&["simulate", "tpc-a:users=200", "--packets", "20000", "-o", &file]);
    let rows = traced(&[&file]);
    assert_eq!((value(&rows, "packets"), value(&rows, "flows")), (20_000.0, 200.0));
    let bsd = rows.iter().find(|row| row["metric"] == "examined_mean" && row["locator"] == "bsd").unwrap();
    // Of 200 entries half; the one-entry cache hits next to never.
    assert!((bsd["value"].as_f64().unwrap() / 101.0 - 1.0).abs() < 0.03, "{bsd}");
}

/// Only one side's packets are there: with them alone connections are closed, as the help says.
#[test]
fn connections_that_close() {
    let folder = Folder::new("simulate-close");
    let file = folder.file("a.pcap");
    let churn = "churn:connections=20,packets=2,gap=0.1";
    stdout_of(&["simulate", churn, "--packets", "20000", "-o", &file]);
    let rows = traced(&["--one-way", &file]);
    // 20 that are open or about to, and those of the last minute, which linger, in 100 s.
    let (flows, alive) = (value(&rows, "flows"), value(&rows, "most_flows_alive"));
    assert!(alive > flows * 0.5 && alive < flows * 0.75, "{alive} of {flows}");
    assert_eq!(value(&traced(&[&file]), "most_flows_alive"), flows);
    let help = stdout_of(&["simulate", "--help"]);
    assert!(help.contains("closed only with --one-way"), "{help}");
}

#[test]
fn the_same_seed_gives_the_same_octets_by_a_pipe_too() {
    let folder = Folder::new("simulate-seed");
    let file = folder.file("a.pcap");
    let arguments = ["simulate", "churn", "scan:rate=50", "flood", "--packets", "3000", "--seed", "9"];
    stdout_of(&[&arguments[..], &["-o", &file]].concat());
    let piped = throughline().args(arguments).stdout(Stdio::piped()).output().unwrap();
    assert!(piped.status.success());
    assert_eq!(piped.stdout, std::fs::read(&file).unwrap());
    let folder = folder.file("");
    let dash = throughline().args(arguments).args(["-o", "-"]).current_dir(&folder).output().unwrap();
    assert!(dash.status.success() && dash.stdout == piped.stdout, "also where it is said so");
    assert!(!std::path::Path::new(&folder).join("-").exists());
    let other = throughline().args(&arguments[..6]).stdout(Stdio::piped()).output().unwrap();
    assert!(other.status.success() && other.stdout != piped.stdout);
}

#[test]
fn what_is_wrong_is_told() {
    for (arguments, part) in [
        (&["simulate", "oltp", "-o", "x"][..], "there is no traffic `oltp`"),
        (&["simulate", "tpc-a:users=0", "-o", "x"], "users is a whole number from 1"),
        (&["simulate", "tpc-a", "-o", "/nowhere/x"], "cannot write /nowhere/x"),
        (&["simulate", "scan:rate=0.000001", "--packets", "1000000", "-o", "/dev/null"], "the year 2106"),
        // It takes a number only.
        (&["simulate", "tpc-a", "-o", "/proc/self/oom_score_adj"], "cause: Invalid argument"),
    ] {
        let told = failure_of(arguments).1;
        assert!(told.contains(part), "{arguments:?}: {told}");
    }
    assert_eq!(run(&["simulate"]).status.code(), Some(2));
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = throughline().args(["simulate", "scan"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
}

/// Part of a capture could be taken for all of it.
#[test]
fn what_fails_leaves_no_part_of_a_capture() {
    let folder = Folder::new("simulate-part");
    let (new, old) = (folder.file("new.pcap"), folder.file("old.pcap"));
    std::fs::write(&old, "what was there").unwrap();
    for file in [&new, &old] {
        let told = failure_of(&["simulate", "scan:rate=0.000001", "--packets", "1000000", "-o", file]).1;
        assert!(told.contains("the year 2106"), "{told}");
    }
    assert!(!std::fs::exists(&new).unwrap());
    assert_eq!(std::fs::metadata(&old).unwrap().len(), 0);
}

/// Nor does what is ended.
#[test]
fn ctrl_c_leaves_no_part_of_a_capture() {
    let folder = Folder::new("simulate-ended");
    let (new, old) = (folder.file("new.pcap"), folder.file("old.pcap"));
    std::fs::write(&old, "").unwrap();
    let octets = |file: &str| std::fs::metadata(file).map_or(0, |about| about.len());
    for file in [&new, &old] {
        let mut child = throughline()
            .args(["simulate", "scan:rate=1000000", "--packets", "1000000000", "-o", file])
            .spawn()
            .unwrap();
        while octets(file) == 0 {
            assert_eq!(child.try_wait().unwrap(), None);
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        let process = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130));
    }
    assert!(!std::fs::exists(&new).unwrap());
    assert_eq!(std::fs::metadata(&old).unwrap().len(), 0);
}

#[test]
fn help_names_all_kinds_and_their_parameters() {
    let help = stdout_of(&["simulate", "--help"]);
    for part in ["tpc-a", "users=2000, think=10, response=0.2", "churn", "flood", "Examples:"] {
        assert!(help.contains(part), "{part}:\n{help}");
    }
}
