//! Servers and clients in processes of their own, ours and omniORB's, behind one line protocol.
//!
//! A server prints its reference and ends with its standard input. A client takes lines
//! `OP BYTES COUNT [WARMUP [THREADS]]` and answers each with one JSON object (see `interop/README.md`). Public for
//! comparisons outside the workspace, which bring peers of their own.

pub(crate) mod bench;
pub(crate) mod echo;
pub(crate) mod floor;
mod outstanding;

pub use bench::report;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::{LabError, Value};

/// Which processors a process may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cores {
    /// All that this process may use.
    Any,
    /// This one.
    Only(usize),
}

/// A process that ends with its standard input, and with this value at the latest.
pub struct Peer {
    name: String,
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts a process on the processors given.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn start(name: &str, mut command: Command, cores: Cores) -> Result<Self, LabError> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = on(cores, || command.spawn())??;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let output = BufReader::new(output.ok_or_else(|| failure(name, "it has no standard output"))?);
        Ok(Self { name: name.to_owned(), child, input, output })
    }

    /// The next line of its output.
    ///
    /// # Errors
    /// When there is none.
    pub fn line(&mut self) -> Result<String, LabError> {
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            return Err(failure(&self.name, "it ended early"));
        }
        Ok(line.trim_end().to_owned())
    }

    /// Has a client make calls.
    ///
    /// # Errors
    /// When it does not answer as it should.
    pub fn round(&mut self, round: &Round) -> Result<Times, LabError> {
        let Round { op, bytes, count, warmup, threads } = round;
        let input = self.input.as_mut().ok_or_else(|| failure(&self.name, "its input is closed"))?;
        writeln!(input, "{op} {bytes} {count} {warmup} {threads}")?;
        input.flush()?;
        let line = self.line()?;
        let answer: Value = serde_json::from_str(&line).map_err(|_| failure(&self.name, &line))?;
        let number = |key: &str| answer[key].as_f64().ok_or_else(|| failure(&self.name, &line));
        Ok(Times {
            median_ns: number("median_ns")?,
            p99_ns: number("p99_ns")?,
            rate_per_s: number("rate_per_s")?,
        })
    }

    /// Ends the process in order.
    ///
    /// # Errors
    /// When its status is not 0.
    pub fn end(mut self) -> Result<(), LabError> {
        drop(self.input.take());
        let status = self.child.wait()?;
        if status.success() { Ok(()) } else { Err(failure(&self.name, &status.to_string())) }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a client is asked to do.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    /// `ping`, `move`; `ping-async` for ours, `floor` for the floor; `echo`, `pipe` for bare transports.
    pub op: &'static str,
    /// Of a message.
    pub bytes: u32,
    /// Calls in all.
    pub count: u32,
    /// Calls before, by each thread.
    pub warmup: u32,
    /// Threads, or futures of one thread, or messages on their way.
    pub threads: u32,
}

/// What a client answers.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// Of the times of single calls, in nanoseconds, reading the clock included.
    pub median_ns: f64,
    /// The 99th percentile, likewise.
    pub p99_ns: f64,
    /// Calls a second.
    pub rate_per_s: f64,
}

pub(crate) fn failure(who: &str, what: &str) -> LabError {
    LabError::Child { who: who.to_owned(), what: what.to_owned() }
}

/// A command that plays a part, if `main` begins with [`child`](crate::child): `echo-server` and `echo-client`
/// (`floor|shm|tcp|unix|udp|vi-udp poll|block`, and the server's address), `bench-server` (`OBJECTS spin|block|adapt ADDRESS`) and
/// `bench-client` (`REFERENCE CONNECTIONS spin|block|adapt`).
///
/// # Errors
/// When the system does not say what this binary is.
pub fn part(name: &str) -> std::io::Result<Command> {
    crate::children::command(name, &[])
}

/// Processors that this process may use.
///
/// # Errors
/// When the system does not say.
pub fn available() -> Result<Vec<usize>, LabError> {
    let own = sched_getaffinity(None).map_err(std::io::Error::from)?;
    Ok((0..CpuSet::MAX_CPU).filter(|core| own.is_set(*core)).collect())
}

/// Does `start` with the thread on those processors: processes and threads started meanwhile stay there.
pub(crate) fn on<T>(cores: Cores, start: impl FnOnce() -> T) -> Result<T, LabError> {
    let Cores::Only(core) = cores else { return Ok(start()) };
    let before = sched_getaffinity(None).map_err(std::io::Error::from)?;
    let mut only = CpuSet::new();
    only.set(core);
    sched_setaffinity(None, &only).map_err(std::io::Error::from)?;
    let started = start();
    sched_setaffinity(None, &before).map_err(std::io::Error::from)?;
    Ok(started)
}
