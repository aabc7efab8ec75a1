//! What the command tells of itself.

mod common;

use common::{failure_of, run, stdout_of, throughline};

#[test]
fn help_and_version_are_printed() {
    assert!(stdout_of(&["--version"]).starts_with("throughline "));
    for arguments in [&["--help"][..], &["call", "--help"], &["help", "ior"]] {
        assert!(stdout_of(arguments).contains("Usage: throughline"), "{arguments:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn help_that_cannot_be_written_is_a_failure() {
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    for arguments in [&["--help"][..], &["call", "-h"], &["help", "ior"], &["--version"]] {
        let output = throughline().args(arguments).stdout(full()).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(message.contains("cannot write to standard output"), "{message}");
    }
    // A reader that has gone away has seen what it wanted.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    assert!(throughline().arg("--help").stdout(writer).status().unwrap().success());
    // Where what is wrong cannot be told, the status tells it.
    for arguments in [&["call"][..], &["nonsense"], &[]] {
        assert_eq!(throughline().args(arguments).stderr(full()).status().unwrap().code(), Some(2));
    }
}

#[test]
fn what_goes_on_is_told_if_asked_for() {
    // To connect is not worth a word, unless one asks.
    let server = common::Server::start(&["names", "serve", "--listen", "127.0.0.1:0"]);
    let told = |log: &[&str]| {
        let output = run(&[&["names", "list", "--service", &server.line], log].concat());
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    assert_eq!([&[][..], &["--log", "info"], &["--log", "debug,throughline=off"]].map(told), [""; 3]);
    for log in ["debug", "off,throughline=debug"] {
        let told = told(&["--log", log]);
        assert!(told.contains("DEBUG") && told.contains("connected address="), "{log}: {told}");
    }
    for wrong in ["loud", "warn,throughline=loud", "throughline", "warn,,"] {
        let (status, message) = failure_of(&["names", "list", "--log", wrong]);
        assert_eq!(status, 2);
        assert!(message.contains("is no level: off, error"), "{message}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_goes_on_and_cannot_be_told_is_not_missed() {
    let server = common::Server::start(&["names", "serve", "--listen", "127.0.0.1:0"]);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let arguments = ["names", "list", "--service", &server.line, "--log", "debug"];
    assert!(throughline().args(arguments).stderr(full).status().unwrap().success());
}
