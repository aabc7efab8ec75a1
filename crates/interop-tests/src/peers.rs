//! Other processes.

/// Says that a test is not made.
pub fn skipped(why: &str) {
    eprintln!("SKIPPED: {why}");
}
