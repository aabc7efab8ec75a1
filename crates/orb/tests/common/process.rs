//! Processes that a test starts and kills: the test's own binary, run again in a part.
#![allow(missing_docs)]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

const REFERENCE: &str = "THROUGHLINE_TEST_REFERENCE";

/// The reference that a child process was given; none in the test itself.
pub fn given() -> Option<String> {
    std::env::var(REFERENCE).ok()
}

/// Ends with this value, at the latest.
pub struct Process(Child);

impl Process {
    /// Runs the test `child`. What it says once it is ready comes with it.
    pub fn start(reference: &str) -> (Self, String) {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child", "--nocapture"])
            .env(REFERENCE, reference)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let said = lines.find_map(|line| line.unwrap().strip_prefix("READY ").map(str::to_owned));
        (Self(child), said.unwrap())
    }

    /// It does nothing from now on, and is not gone.
    #[allow(dead_code)] // Not every test stops any.
    pub fn stop(&self) {
        let pid = rustix::process::Pid::from_child(&self.0);
        rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
        // Not before all of its threads are.
        let stopped = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::UNTRACED).unwrap();
        assert!(stopped.is_some_and(|(_, status)| status.stopped()));
    }

    #[allow(dead_code)] // Not every test kills.
    pub fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
