//! `throughline demo`.

mod common;

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use common::{Folder, has, stdout_of, throughline};

#[test]
fn tables() {
    let text = stdout_of(&["demo", "--quick"]);
    for part in [
        "linear",
        "dynamic-hash",
        "perfect-hash",
        "active",
        "shared memory",
        "history agree",
        "/office",
        "IOR:",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    assert!(text.lines().filter(|line| line.contains(" random ")).count() == 4, "{text}");
}

#[test]
fn rows() {
    let text = stdout_of(&["demo", "--quick", "--json"]);
    let rows: Vec<serde_json::Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert!(rows.iter().all(|r| r["experiment"] == "demo" && !r["value"].is_null() && r["unit"].is_string()));
    let calls = |key: &str| rows.iter().filter(|r| r["metric"] == "call_median" && !r[key].is_null()).count();
    assert_eq!((calls("strategy"), calls("transport")), (12, 3));
    let balance = rows.iter().find(|r| r["metric"] == "books_balance").unwrap();
    assert_eq!(balance["value"], true);
    assert!(balance["transactions"].as_u64().unwrap() > 0);
}

#[test]
fn it_stays_for_others() {
    let mut child =
        throughline().args(["demo", "--quick", "--serve"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut corbaname = String::new();
    let mut ior = String::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap) {
        let line = line.trim();
        if line.starts_with("corbaname:") {
            corbaname = line.to_owned();
        } else if line.starts_with("IOR:") {
            ior = line.to_owned();
            break;
        }
    }
    // It waits for the end only after it has printed that.
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert!(stdout_of(&["ior", "--resolve", "--ping", &corbaname]).contains("the object exists"));
    assert!(stdout_of(&["ior", &ior]).contains("IDL:Bank/Office:1.0"));
    let told = Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert!(told.success() && child.wait().unwrap().success());
    assert!(!common::run(&["ior", "--ping", &ior]).status.success(), "the server outlived the demonstration");
}

#[test]
fn the_idl_is_everybodys() {
    let folder = Folder::new("demo-idl");
    std::fs::write(folder.file("bank.idl"), stdout_of(&["demo", "--idl"])).unwrap();
    stdout_of(&["idl", "--check", &folder.file("bank.idl")]);
    if has("omniidl") {
        let status = Command::new("omniidl")
            .args(["-bcxx", "-C", &folder.file("")])
            .arg(folder.file("bank.idl"))
            .status();
        assert!(status.unwrap().success());
    }
}
