//! References made by omniORB's `genior` and read by us, and the other way by `catior`; skipped where those are not
//! installed.

use std::io::Write;
use std::process::Command;

use throughline_giop::codeset::CodeSetComponentInfo;
use throughline_giop::component::{Address, orb_type};
use throughline_giop::*;

fn run(program: &str, arguments: &[&str]) -> Option<String> {
    let Ok(output) = Command::new(program).args(arguments).output() else {
        // Straight to stderr, where the test harness does not swallow it.
        let _ = writeln!(std::io::stderr(), "SKIPPED: {program} is not installed");
        return None;
    };
    assert!(output.status.success(), "{program} {arguments:?} failed");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn we_read_what_genior_makes() {
    for (id, host, port, key) in [
        ("IDL:Bank/Account:1.0", "bank.example.org", "2809", "hello"),
        ("IDL:A:1.0", "::1", "1", "k"),
        ("", "127.0.0.1", "65535", "a key with spaces"),
    ] {
        let Some(text) = run("genior", &[id, host, port, key]) else { return };
        let ior: Ior = text.parse().unwrap();
        let profile = ior.iiop_profiles().next().unwrap().unwrap();
        assert_eq!((&*ior.type_id, &*profile.host, profile.port.to_string()), (id, host, port.to_owned()));
        assert_eq!(profile.object_key, key.as_bytes());
        if cfg!(target_endian = "little") {
            assert_eq!(ior.to_string(), text.trim());
        }
    }
}

#[test]
fn catior_reads_what_we_make() {
    let profile = IiopProfile {
        version: Version::V1_2,
        host: "bank.example.org".to_owned(),
        port: 4711,
        object_key: b"account".to_vec(),
        components: vec![
            orb_type(0x544C_0000),
            CodeSetComponentInfo::ours().to_component().unwrap(),
            Address::Tcp { host: "::1".to_owned(), port: 4712 }.to_component().unwrap(),
            Address::Unix { host: "lab".to_owned(), path: "/run/bank.sock".to_owned() }
                .to_component()
                .unwrap(),
        ],
    };
    let mut ior = Ior::of_iiop("IDL:Bank/Account:1.0", &profile).unwrap();
    ior.profiles
        .push(IiopProfile { version: Version::V1_0, components: vec![], ..profile }.to_tagged().unwrap());
    let Some(told) = run("catior", &[&ior.to_string()]) else { return };
    for line in [
        "Type ID: \"IDL:Bank/Account:1.0\"",
        "1. IIOP 1.2 bank.example.org 4711 \"account\"",
        "TAG_ORB_TYPE (unknown) (TL\\x00\\x00)",
        "char native code set:       UTF-8",
        "char conversion code sets:  ISO-8859-1",
        "wchar native code set:      UTF-16",
        "TAG_ALTERNATE_IIOP_ADDRESS ::1 4712",
        "TAG_OMNIORB_UNIX_TRANS lab /run/bank.sock",
        "2. IIOP 1.0 bank.example.org 4711 \"account\"",
    ] {
        assert!(told.contains(line), "no {line:?} in:\n{told}");
    }
}
