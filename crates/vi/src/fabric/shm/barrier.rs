//! A full fence in all threads that are running, of all processes that share memory this way: `membarrier(2)`.
//!
//! It interrupts other processors, which takes as long as a dozen messages. So it is for those who are about to sleep for long.

use crate::fabric::NAP;
use rustix::thread::{MembarrierCommand, membarrier};
use std::sync::OnceLock;

/// Whether this process gets such fences, and may ask for them.
pub(crate) fn reaches_us() -> bool {
    static REACHES: OnceLock<bool> = OnceLock::new();
    *REACHES.get_or_init(|| {
        membarrier(MembarrierCommand::RegisterGlobalExpedited).is_ok()
            && membarrier(MembarrierCommand::GlobalExpedited).is_ok()
    })
}

/// Whatever such threads stored before can be seen after this, if they looked at something stored by us before and did not
/// see it.
#[cold]
pub(crate) fn everywhere() {
    if membarrier(MembarrierCommand::GlobalExpedited).is_err() {
        // Forbidden meanwhile. No processor keeps a store to itself for so long.
        std::thread::sleep(NAP);
    }
}
