//! The command as tests run it.
#![allow(dead_code, missing_docs)]

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

pub fn throughline() -> Command {
    Command::new(env!("CARGO_BIN_EXE_throughline"))
}

/// Runs a command to its end.
pub fn run(arguments: &[&str]) -> Output {
    throughline().args(arguments).stdin(Stdio::null()).output().unwrap()
}

/// What a command that must work prints.
pub fn stdout_of(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The status and messages of a command that must fail.
pub fn failure_of(arguments: &[&str]) -> (i32, String) {
    let output = run(arguments);
    assert!(!output.status.success(), "{arguments:?}");
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

/// Whether a program of the machine is there; says so aloud if not.
pub fn has(program: &str) -> bool {
    let there =
        Command::new("sh").arg("-c").arg(format!("command -v {program}")).stdout(Stdio::null()).status();
    let there = there.is_ok_and(|status| status.success());
    if !there {
        eprintln!("SKIPPED: no `{program}` on this machine");
    }
    there
}

/// The folder of a source checkout.
pub fn checkout() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().parent().unwrap()
}

/// A running server, ended with its owner.
pub struct Server {
    child: Child,
    /// Its first line.
    pub line: String,
}

impl Server {
    pub fn start(arguments: &[&str]) -> Self {
        Self::spawn(throughline().args(arguments))
    }

    pub fn spawn(command: &mut Command) -> Self {
        // The demonstration's server ends when its input does: it stays open as long as the child is held.
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        // What else it prints must not block it.
        std::thread::spawn(move || out.read_to_end(&mut Vec::new()));
        Self { child, line: line.trim().to_owned() }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// `kill -9`.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A folder that is removed with its owner.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("throughline-cli-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
