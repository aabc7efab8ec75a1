//! Real captures, where there are any: in the folder that `THROUGHLINE_DATA` names, and those of Debian's source packages that
//! the tests of the command have fetched.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use throughline_capture::{Capture, Source};

/// Frames of Ethernet in the registry of link types.
const ETHERNET: u32 = 1;
/// More of a capture tell nothing new.
const MOST: usize = 2000;

/// Their files; if there are none, that is said aloud.
pub fn all() -> Vec<PathBuf> {
    let data = std::env::var_os("THROUGHLINE_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let debian = Path::new(env!("CARGO_TARGET_TMPDIR")).join("debian-captures");
    let captures = [files(&data), files(&debian)].concat();
    if captures.is_empty() {
        // Straight to stderr, where the test harness does not swallow it.
        let _ = writeln!(std::io::stderr(), "SKIPPED: no captures (set THROUGHLINE_DATA to a folder)");
    }
    captures
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => all.extend(files(&path)),
            Ok(_) if path.extension().is_some_and(|end| end == "pcap" || end == "pcapng") => all.push(path),
            _ => {}
        }
    }
    all
}

/// The first frames of one, of Ethernet.
pub fn frames(capture: &Path) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    let Ok(source) = Source::open(capture) else { return frames };
    let Ok(capture) = Capture::open(source) else { return frames };
    // Some are damaged on purpose: what is before the damage counts.
    let _ = capture.read(|frame| {
        if frame.link == ETHERNET && frames.len() < MOST {
            frames.push(frame.data.to_vec());
        }
    });
    frames
}
