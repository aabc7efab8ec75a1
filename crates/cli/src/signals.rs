//! Ctrl-C, or the system's request to terminate: the end of a server, or of what is read or written.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{SigSet, Signal};
use throughline::Orb;

use crate::failure::{Failure, Result};

/// How long requests under way may take to finish.
const GRACE: Duration = Duration::from_secs(2);

/// What those who write into our pipe, and are told to end by the same ctrl-c, may still have to write.
const LAST_WORDS: Duration = Duration::from_millis(250);

/// Times those last words that what is to be ended may take to begin.
const BEGINS: u32 = 4;

/// Hangups go on being ignored where they are, as under `nohup`: whatever waits for ctrl-c would be ended by them as well. To be
/// called before there are other threads, which do as the first one does.
pub fn keep_ignoring_hangups() {
    if std::fs::read_to_string("/proc/self/status").is_ok_and(|status| ignores_hangups(&status)) {
        let mut hangups = SigSet::empty();
        hangups.add(Signal::SIGHUP);
        let _ = hangups.thread_block();
    }
}

/// Whether a process with this status does: its signals are bits, of which this one is the lowest.
fn ignores_hangups(status: &str) -> bool {
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let bits = ignored.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok());
    bits.is_some_and(|bits| bits & 1 == 1)
}

/// The status of a process ended by ctrl-c.
pub const STATUS: i32 = 130;

/// Becomes true with the first ctrl-c; another one ends the process.
pub fn told() -> Result<Arc<AtomicBool>> {
    let told = Arc::new(AtomicBool::new(false));
    let tells = Arc::clone(&told);
    let handler = move || {
        if tells.swap(true, Ordering::Relaxed) {
            std::process::exit(STATUS);
        }
    };
    ctrlc::set_handler(handler).map_err(no_signals).map(|()| told)
}

/// The first ctrl-c ends what is under way; another one the process, and so does the first where `end` finds that nothing is.
pub fn end_once(end: impl Fn() -> bool + Send + 'static) -> Result {
    let mut told = false;
    let handler = move || {
        if std::mem::replace(&mut told, true) {
            std::process::exit(STATUS);
        }
        let ended = (0..BEGINS).any(|_| {
            thread::sleep(LAST_WORDS);
            end()
        });
        if !ended {
            std::process::exit(STATUS);
        }
    };
    ctrlc::set_handler(handler).map_err(no_signals)
}

fn no_signals(error: ctrlc::Error) -> Failure {
    Failure::new("cannot wait for ctrl-c").because(error)
}

/// Waits until the process is told to end, then shuts the ORB down in order.
pub fn serve_until_told(orb: &Orb) -> Result {
    let ending = orb.clone();
    ctrlc::set_handler(move || ending.shutdown(GRACE)).map_err(no_signals)?;
    orb.run();
    Ok(())
}
