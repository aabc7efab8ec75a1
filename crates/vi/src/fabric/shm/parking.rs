//! Going to sleep without missing anything: a word in the sleeper's memory says that it sleeps.
//!
//! The number in the word is odd while the sleeper sleeps, and another number each time. Whoever publishes something looks
//! at it afterwards and wakes the sleeper once. The sleeper announces itself first and looks for news afterwards. So
//! either the one sees the announcement or the other the news.

use crate::sync::{AtomicU64, Ordering, load_after_publishing, publish_before_loads};

/// The sleeper: whatever is found after this was not overlooked, and from now on others wake us.
#[inline]
pub(crate) fn announce(word: &AtomicU64) {
    // SYNC POINT: parked. Pairs with `must_wake`.
    publish_before_loads(word, word.load(Ordering::Relaxed) | 1);
}

/// The sleeper is awake.
#[inline]
pub(crate) fn awake(word: &AtomicU64) {
    let number = word.load(Ordering::Relaxed);
    word.store(number.wrapping_add(number & 1), Ordering::Release);
}

/// Whether to wake the sleeper, after something was published. `woken` gives what this returned on the last time it slept.
#[inline(always)]
pub(crate) fn must_wake(word: &AtomicU64, woken: impl FnOnce() -> u64) -> Option<u64> {
    // SYNC POINT: parked. Pairs with `announce`.
    let number = load_after_publishing(word);
    // Mostly it is awake.
    if number & 1 == 0 {
        return None;
    }
    (number != woken()).then_some(number)
}
