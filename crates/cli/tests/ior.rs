//! `throughline ior`.

mod common;

use std::io::{Read, Write};
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;

use common::{Folder, Server, failure_of, stdout_of, throughline};

/// Made by omniORB: interface Bench::Target, host 127.0.0.1, port 9, key "one".
const OMNIORB: &str = "IOR:010000001500000049444c3a42656e63682f5461726765743a312e300000000001000000000000005400000001010200\
0a0000003132372e302e302e31000900030000006f6e65000200000000000000080000000100000000545441010000001c00\
000001000000010001000100000001000105090101000100000009010100";

#[test]
fn a_foreign_reference() {
    let text = stdout_of(&["ior", OMNIORB]);
    for part in [
        "interface  IDL:Bench/Target:1.0",
        "IIOP 1.2",
        "address  127.0.0.1:9",
        "key      one",
        "key hex  6f6e65",
        "TAG_ORB_TYPE  omniORB",
        "char ISO 8859-1, also UTF-8; wchar UTF-16",
        "corbaloc   corbaloc:iiop:1.2@127.0.0.1:9/one",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
}

#[test]
fn for_programs() {
    let json: serde_json::Value = serde_json::from_str(&stdout_of(&["ior", "--json", OMNIORB])).unwrap();
    assert_eq!(json["type_id"], "IDL:Bench/Target:1.0");
    let profile = &json["profiles"][0];
    assert_eq!((&profile["version"], &profile["key_text"]), (&"1.2".into(), &"one".into()));
    assert_eq!(profile["addresses"][0]["port"], 9);
    assert_eq!(profile["components"][1]["name"], "TAG_CODE_SETS");
}

#[test]
fn our_own_keys_are_taken_apart() {
    let key = "%54%4c%61%31%1c%00%00%00%05%00%00%00%88%77%66%55%44%33%22%11";
    let text = stdout_of(&["ior", &format!("corbaloc::localhost:1/{key}")]);
    assert!(text.contains("active: slot 5, nonce "), "{text}");
}

#[test]
fn every_form() {
    let unix = stdout_of(&["ior", "corbaloc:omniunix:/run/bank.sock:/key"]);
    assert!(unix.contains("unix:/run/bank.sock"), "{unix}");
    let several = stdout_of(&["ior", "corbaloc::a:1,iiop:1.2@[::1]:2/key"]);
    assert!(several.contains("profile 2") && several.contains("[::1]:2"), "{several}");
    assert!(stdout_of(&["ior", "corbaname::host#a/b.c"]).contains("a/b.c"));
    assert!(stdout_of(&["ior", "corbaloc:rir:/NameService"]).contains("NameService"));
    assert!(stdout_of(&["ior", "IOR:00000000000000010000000000000000"]).contains("nil"));
}

#[test]
fn from_a_file() {
    let folder = Folder::new("ior");
    let file = folder.file("server.txt");
    std::fs::write(&file, format!("listening\nteller {OMNIORB}\n")).unwrap();
    assert_eq!(stdout_of(&["ior", &format!("@{file}")]), stdout_of(&["ior", OMNIORB]));
    std::fs::write(&file, "none\n").unwrap();
    let (status, message) = failure_of(&["ior", &format!("@{file}")]);
    assert!(status == 2 && message.contains("has no reference in it"), "{message}");
    assert!(message.contains("next:  pass the whole text"), "{message}");
    let (status, message) = failure_of(&["ior", &format!("@{file}.not")]);
    assert!(status == 2 && message.contains("next:  check the name"), "{message}");
    let (status, message) = failure_of(&["ior", "@/dev/zero"]);
    assert!(status == 2 && message.contains("longer than 16 MiB"), "{message}");
}

/// `my-server | throughline ior -`: the server says more than its reference, and goes on serving.
#[test]
fn from_a_server_that_goes_on() {
    let mut child =
        throughline().args(["ior", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut server = child.stdin.take().unwrap();
    write!(server, "listening\nteller {OMNIORB}\n").unwrap();
    let (shown, ends) = mpsc::channel::<()>();
    let server = std::thread::spawn(move || {
        let was_shown = ends.recv_timeout(Duration::from_secs(20)).is_ok();
        drop(server);
        was_shown
    });
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    let _ = shown.send(());
    assert!(child.wait().unwrap().success() && server.join().unwrap(), "{text}");
    assert_eq!(text, stdout_of(&["ior", OMNIORB]));
}

/// What would command the terminal is shown, and no place is named that would be another.
#[test]
fn a_hostile_reference() {
    let octets = |text: &str| [&(text.len() as u32 + 1).to_be_bytes(), text.as_bytes(), &[0]].concat();
    let padded = |mut octets: Vec<u8>| {
        octets.resize(octets.len().next_multiple_of(4), 0);
        octets
    };
    let profile = |host: &str| {
        let (head, host) = ([0, 1, 0, 0], octets(host));
        let mut profile = [&head[..], &host].concat();
        profile.resize(profile.len().next_multiple_of(2), 0);
        profile.extend([0, 9]);
        [&padded(profile)[..], &[0, 0, 0, 3], b"one"].concat()
    };
    let reference = |type_id: &str, host: &str| {
        let (type_id, profile) = (padded([&[0; 4], &octets(type_id)[..]].concat()), profile(host));
        let counts = [[0, 0, 0, 1], [0, 0, 0, 0], (profile.len() as u32).to_be_bytes()].concat();
        let hex = [type_id, counts, profile]
            .concat()
            .iter()
            .map(|octet| format!("{octet:02x}"))
            .collect::<String>();
        stdout_of(&["ior", &format!("IOR:{hex}")])
    };
    assert!(reference("IDL:X:1.0", "host").contains("corbaloc   corbaloc:iiop:host:9/one"));
    let text = reference("IDL:\u{1b}[31mX:1.0", "\u{1b}]0;x\u{7}\u{9b}\r\nh");
    assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
    for part in ["IDL:\\u001b[31mX:1.0", "\\u001b]0;x\\u0007", "\\u009b\\u000d\\u000ah:9"] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    assert!(!text.contains("corbaloc"), "{text}");
}

#[test]
fn each_way_is_tried() {
    let mut server = Server::start(&["demo-server", "--listen", "127.0.0.1:0"]);
    let text = stdout_of(&["ior", "--ping", &server.line]);
    assert!(text.contains("the object exists\n  iiop at 127.0.0.1:"), "{text}");
    assert!(text.lines().filter(|line| line.ends_with(": answers")).count() >= 2, "{text}");
    let json: serde_json::Value =
        serde_json::from_str(&stdout_of(&["ior", "--ping", "--json", &server.line])).unwrap();
    assert!(json["ways"].as_array().unwrap().iter().all(|way| way["answers"] == true), "{json}");
    server.kill();
    let (status, message) = failure_of(&["ior", "--ping", &server.line]);
    assert!(status == 1 && message.contains("each way by itself:\n"), "{message}");
}

#[test]
fn what_is_no_reference() {
    for bad in [
        "",
        "nonsense",
        "IOR:0g",
        "IOR:00",
        "corbaloc:",
        "corbaloc:ftp:x/y",
        "corbaloc:shm:x/y",
        "corbaname::h#a//b",
    ] {
        let (status, message) = failure_of(&["ior", bad]);
        assert_eq!(status, 2, "{bad}");
        assert!(message.contains("is not a reference") && message.contains("cause:"), "{bad}: {message}");
    }
    let (status, message) = failure_of(&["ior", "--ping", "corbaloc::127.0.0.1:1/x"]);
    assert_eq!(status, 1);
    assert!(message.contains("does not answer"), "{message}");
}
