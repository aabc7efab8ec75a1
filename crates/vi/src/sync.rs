//! Atomics: the real ones, or loom's when the interleavings are modelled.

#[cfg(not(loom))]
pub(crate) use core::sync::atomic::{AtomicU64, Ordering};
#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU64, Ordering};

/// Stores a word that publishes what was written before, and orders it before every later load: one side of
/// Dekker's handshake between whoever publishes and whoever goes to sleep.
#[inline(always)]
pub(crate) fn publish_before_loads(word: &AtomicU64, value: u64) {
    // One instruction on x86, and cheaper than a store with a fence.
    #[cfg(not(loom))]
    word.swap(value, Ordering::SeqCst);
    // Loom knows sequential consistency of fences only.
    #[cfg(loom)]
    {
        word.store(value, Ordering::Release);
        loom::sync::atomic::fence(Ordering::SeqCst);
    }
}

/// As [`publish_before_loads`], for a word that several raise and none lowers.
pub(crate) fn raise_before_loads(word: &AtomicU64, value: u64) {
    word.fetch_max(value, Ordering::SeqCst);
    #[cfg(loom)]
    loom::sync::atomic::fence(Ordering::SeqCst);
}

/// Loads a word after an earlier [`publish_before_loads`]: the other half of the handshake.
#[inline(always)]
pub(crate) fn load_after_publishing(word: &AtomicU64) -> u64 {
    word.load(Ordering::SeqCst)
}
