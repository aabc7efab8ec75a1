//! What the command tells of itself.

mod common;

use common::{stdout_of, throughline};

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
