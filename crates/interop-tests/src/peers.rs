//! Programs of both sides: built, started on ports that the system chooses, judged by what they print, ended by handle.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use throughline::Ior;

/// No test waits longer for a program.
const PATIENCE: Duration = Duration::from_secs(100);

/// Prints why a test is not made.
pub fn skipped(why: &str) {
    // Straight to stderr, where the test harness does not swallow it.
    let _ = std::io::Write::write_all(&mut std::io::stderr(), format!("SKIPPED: {why}\n").as_bytes());
}

/// Whether a program can be run.
pub fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Whether this machine has IPv6's loopback address.
pub fn has_ipv6() -> bool {
    TcpListener::bind("[::1]:0").is_ok()
}

/// The folder `interop` of the workspace.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../interop")
}

/// Builds omniORB's programs, once, and returns where they are; an error says what is missing. They are kept in `out`, or
/// in the folder that the environment variable `THROUGHLINE_PEERS` names.
///
/// # Errors
/// What to install.
///
/// # Panics
/// When they cannot be built although everything is there.
pub fn omniorb(out: &Path) -> Result<PathBuf, String> {
    let tools = ["make", "g++", "omniidl"];
    let missing: Vec<_> = tools.into_iter().filter(|tool| !is_installed(tool)).collect();
    if !missing.is_empty() || !Path::new("/usr/include/omniORB4/CORBA.h").exists() {
        return Err(format!(
            "no omniORB to build against (missing: {missing:?}); apt-get install g++ make omniidl libomniorb4-dev"
        ));
    }
    let out = std::env::var_os("THROUGHLINE_PEERS").map_or_else(|| out.to_owned(), PathBuf::from);
    std::fs::create_dir_all(&out).expect("the folder of omniORB's programs can be made");
    // One at a time: test programs may run side by side.
    let lock = File::create(out.join("lock")).expect("a lock can be made");
    lock.lock().expect("the lock can be taken");
    let mut make = Command::new("make");
    make.arg("-s").arg("-C").arg(folder()).arg(format!("OUT={}", out.display()));
    let status = make.stdout(Stdio::null()).status().expect("make runs");
    assert!(status.success(), "omniORB's programs cannot be built");
    Ok(out)
}

/// A server that ends when its input does.
pub struct Server {
    child: Child,
    input: Option<ChildStdin>,
    /// What it printed: its reference.
    pub reference: String,
}

impl Server {
    /// Starts a program and waits for the line that it prints.
    ///
    /// # Panics
    /// When it prints none.
    pub fn start(program: impl AsRef<Path>, options: &[&str]) -> Self {
        let mut command = Command::new(program.as_ref());
        command.args(options).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the server can be started");
        let (input, output) = (child.stdin.take(), child.stdout.take().expect("its output was asked for"));
        let mut server = Self { child, input, reference: String::new() };
        let (told, reference) = mpsc::channel();
        thread::spawn(move || {
            let mut line = String::new();
            let _ = BufReader::new(output).read_line(&mut line);
            told.send(line)
        });
        server.reference =
            reference.recv_timeout(Duration::from_secs(20)).unwrap_or_default().trim().to_owned();
        assert!(server.reference.starts_with("IOR:"), "no reference from {command:?}");
        server
    }

    /// The TCP port of the reference.
    ///
    /// # Panics
    /// When it has none.
    pub fn port(&self) -> u16 {
        let ior: Ior = self.reference.parse().expect("a reference");
        ior.iiop_profiles().next().expect("a profile").expect("a sound profile").port
    }

    /// Ends the server's input, and expects that it ends well.
    ///
    /// # Panics
    /// When it does not.
    pub fn end(mut self) {
        drop(self.input.take());
        let status = wait(&mut self.child, Duration::from_secs(20));
        assert!(status.is_some_and(|status| status.success()), "the server ended with {status:?}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for a process, for a while.
fn wait(child: &mut Child, patience: Duration) -> Option<ExitStatus> {
    let started = Instant::now();
    while started.elapsed() < patience {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        thread::sleep(Duration::from_millis(5));
    }
    None
}

/// Runs a program to its end, which it must reach in time; its status and output.
///
/// # Panics
/// When it runs too long or cannot be started.
pub fn run(command: &mut Command) -> (ExitStatus, String) {
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("the program can be started");
    let mut output = child.stdout.take().expect("its output was asked for");
    let reader = thread::spawn(move || {
        let mut text = Vec::new();
        let _ = output.read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    });
    let status = wait(&mut child, PATIENCE);
    if status.is_none() {
        let _ = child.kill();
        let _ = child.wait();
    }
    let said = reader.join().expect("the output is read to its end");
    (status.unwrap_or_else(|| panic!("{command:?} ran too long, having said:\n{said}")), said)
}

/// What a client said of each check, by name: `ok`, `FAIL`, `skip`, with the reason.
#[derive(Debug, Default)]
pub struct Report(BTreeMap<String, (String, String)>);

impl Report {
    /// Reads a client's output.
    pub fn read(output: &str) -> Self {
        let line = |line: &str| {
            let (verdict, rest) = line.split_once(' ')?;
            let (name, why) = rest.split_once(": ").unwrap_or((rest, ""));
            let known = ["ok", "FAIL", "skip"].contains(&verdict);
            known.then(|| (name.to_owned(), (verdict.to_owned(), why.to_owned())))
        };
        Self(output.lines().filter_map(line).collect())
    }

    /// The names with a verdict.
    pub fn with(&self, verdict: &str) -> Vec<&str> {
        self.0.iter().filter(|(_, (v, _))| v == verdict).map(|(name, _)| &**name).collect()
    }

    /// The lines of what failed.
    pub fn failures(&self) -> String {
        let failed = self.0.iter().filter(|(_, (verdict, _))| verdict == "FAIL");
        failed.map(|(name, (_, why))| format!("{name}: {why}\n")).collect()
    }
}
