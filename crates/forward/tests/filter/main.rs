//! Packet filters against libpcap's own interpreter, and banks of filters against running all of them.

mod bank;
mod captured;
#[path = "../captures/mod.rs"]
mod captures;
mod expressions;
mod frames;
mod programs;
mod reference;

use std::io::Write;
use std::sync::LazyLock;

use throughline_forward::filter::{CompileError, Libpcap};

/// libpcap; if there is none, that is said aloud.
fn libpcap() -> Option<&'static Libpcap> {
    static LIBPCAP: LazyLock<Result<Libpcap, CompileError>> = LazyLock::new(Libpcap::open);
    LIBPCAP.as_ref().inspect_err(|error| skipped(&error.to_string())).ok()
}

/// Says why a test is not made; straight to stderr, where the test harness does not swallow it.
fn skipped(why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}
