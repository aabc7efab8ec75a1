//! Instructions and cache lines, counted by valgrind's callgrind. They repeat exactly, unlike time.
//!
//! A part of an experiment ([`crate::children`]) runs under callgrind and says by client requests what is to be
//! counted; the counts come back through the files that callgrind writes.

mod parse;
mod request;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

pub(crate) use parse::Counts;
pub(crate) use request::{counted, counted_cold, dump, start, toggle};

use crate::{LabError, children};

/// What was counted under each label.
pub(crate) type Labelled = Vec<(String, Counts)>;

/// Why nothing can be counted here; none when it can.
pub(crate) fn missing() -> Option<&'static str> {
    if !request::SUPPORTED {
        return Some("instruction counts need an x86-64 machine");
    }
    let found =
        Command::new("valgrind").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let works = found.is_ok_and(|status| status.success());
    (!works).then_some("instructions are not counted: valgrind is not installed (Debian package `valgrind`)")
}

/// Runs a part under callgrind and returns what it counted, in the order of its dumps.
///
/// # Errors
/// When the part or valgrind fails.
pub(crate) fn run(part: &str, arguments: &[String]) -> Result<Labelled, LabError> {
    let folder = Folder::new()?;
    let out = format!("--callgrind-out-file={}", folder.0.join("out").display());
    // A first-level cache large enough that nothing is ever thrown out: each line misses once.
    let tool = [
        "valgrind",
        "--tool=callgrind",
        "--quiet",
        "--instr-atstart=no",
        "--collect-atstart=no",
        "--cache-sim=yes",
        "--D1=4194304,16,64",
        "--LL=8388608,16,64",
        &out,
    ];
    let output = children::command(part, &tool)?.args(arguments).stdin(Stdio::null()).output()?;
    if !output.status.success() {
        let what = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(LabError::Child { who: format!("{part} under valgrind"), what });
    }
    folder.read()
}

/// A folder of our own below the system's for temporary files.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self, LabError> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("throughline-lab-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    /// The dumps `out.1`, `out.2` and so on.
    fn read(&self) -> Result<Labelled, LabError> {
        let file = |number: u32| self.0.join(format!("out.{number}"));
        (1..).map(file).take_while(|path| path.exists()).map(|path| read(&path)).collect()
    }
}

fn read(path: &Path) -> Result<(String, Counts), LabError> {
    let parsed = parse::dump(&fs::read_to_string(path)?);
    parsed.ok_or_else(|| LabError::Child { who: "callgrind".to_owned(), what: "unreadable dump".to_owned() })
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
