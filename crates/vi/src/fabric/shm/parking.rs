//! Going to sleep without missing anything: a word in the sleeper's memory says that it sleeps.
//!
//! The number in the word is another one each time it sleeps. Whoever publishes something looks at it afterwards and wakes the
//! sleeper once. The sleeper announces itself first and looks for news afterwards. So either the one sees the announcement or
//! the other the news.
//!
//! That takes a full fence on both sides, and each message pays for the publisher's. A sleeper spares it that who, after the
//! first moment of his sleep, has the system put such a fence into all running threads ([`barrier`](super::barrier)) and looks
//! again.

use crate::sync::{AtomicU64, Ordering, full_fence, keep_order, publish_before_loads};

const ASLEEP: u64 = 1;
/// Publishers need no fence.
pub(crate) const LOOKS_AGAIN: u64 = 2;
const NEXT: u64 = 4;

/// The sleeper: whatever is found after this was not overlooked, and from now on others wake us. True if publishers had
/// no fence until now: then this holds only once the system has put one into all of them.
#[inline]
pub(crate) fn announce(word: &AtomicU64) -> bool {
    let before = word.load(Ordering::Relaxed);
    // SYNC POINT: parked. Pairs with `must_wake`.
    publish_before_loads(word, before & !LOOKS_AGAIN | ASLEEP);
    before & LOOKS_AGAIN != 0
}

/// As [`announce`], but publishers do without fences if they did before, which is returned: then what is found after this may
/// not be all, and what is published now may wake nobody, until the system has put a fence into all publishers.
#[inline]
pub(crate) fn doze(word: &AtomicU64) -> bool {
    let before = word.load(Ordering::Relaxed);
    publish_before_loads(word, before | ASLEEP);
    before & LOOKS_AGAIN != 0
}

/// The sleeper is awake.
#[inline]
pub(crate) fn awake(word: &AtomicU64) {
    let number = word.load(Ordering::Relaxed);
    if number & ASLEEP != 0 {
        word.store((number - ASLEEP).wrapping_add(NEXT), Ordering::Release);
    }
}

/// Whether to wake the sleeper, after something was published. `woken` gives what this returned on the last time it slept.
/// `reached` is [`LOOKS_AGAIN`] if the system puts fences into this process, else 0.
#[inline(always)]
pub(crate) fn must_wake(word: &AtomicU64, reached: u64, woken: impl FnOnce() -> u64) -> Option<u64> {
    keep_order();
    let mut number = word.load(Ordering::Acquire);
    if number & reached == 0 {
        full_fence();
        // SYNC POINT: parked. Pairs with `announce`.
        number = word.load(Ordering::SeqCst);
    }
    // Mostly it is awake.
    if number & ASLEEP == 0 {
        return None;
    }
    (number != woken()).then_some(number)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_sleeper_is_woken_once_each_time_it_sleeps() {
        for reached in [0, LOOKS_AGAIN] {
            let word = AtomicU64::new(LOOKS_AGAIN);
            let mut woken = 0;
            for _ in 0..3 {
                assert_eq!(must_wake(&word, reached, || woken), None);
                doze(&word);
                woken = must_wake(&word, reached, || woken).expect("it sleeps");
                assert_eq!(must_wake(&word, reached, || woken), None);
                awake(&word);
            }
        }
    }

    #[test]
    fn who_wants_to_be_woken_at_once_needs_a_fence_in_all_publishers_the_first_time() {
        let word = AtomicU64::new(LOOKS_AGAIN);
        assert!(doze(&word));
        awake(&word);
        assert!(announce(&word));
        awake(&word);
        assert!(!announce(&word));
        awake(&word);
        assert!(!doze(&word), "who was woken at once is so from then on");
    }
}
