//! Whether oneways reach anybody.
//!
//! The native protocol tells objects by their handles, and a handle says nothing to a server that was started anew, nor when the object
//! was activated anew: who sends nothing but oneways would never hear of it. So now and then one of them is to be acknowledged. Nobody
//! waits for that: it is read when the thread uses the link the next time.

use std::collections::VecDeque;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The slot and the nonce of an object.
type Object = (u32, u64);

/// An object's oneways are acknowledged not more often, as long as it is there.
const INTERVAL: Duration = Duration::from_millis(100);

/// So many oneways follow one for which it was too early before the time is looked at again.
const UNTIMED: u32 = 15;

/// An acknowledgement that did not come before so many further calls is not waited for: the servant may take for ever.
const GIVEN_UP_AFTER: u32 = 4096;

/// What one link remembers of acknowledgements to come, and of objects that are gone: so many each.
pub(super) const KNOWN: usize = 64;

/// When an object's oneways are acknowledged, whoever sends them.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// So many need not be looked at.
    untimed: AtomicU32,
    /// When the last one was, in milliseconds; 0 for never.
    last: AtomicU64,
}

impl Turns {
    /// Whether it is the turn of this one.
    #[inline]
    pub(super) fn come(&self) -> bool {
        let untimed = self.untimed.load(Ordering::Relaxed);
        if untimed > 0 {
            self.untimed.store(untimed - 1, Ordering::Relaxed);
            return false;
        }
        static EPOCH: OnceLock<Instant> = OnceLock::new();
        self.come_at(EPOCH.get_or_init(Instant::now).elapsed())
    }

    /// Threads that come here at a time may both have a turn, or the untimed ones be fewer.
    #[cold]
    fn come_at(&self, now: Duration) -> bool {
        let (now, interval) = (now.as_millis() as u64 + 1, INTERVAL.as_millis() as u64);
        let last = self.last.load(Ordering::Relaxed);
        let comes = last == 0 || now.saturating_sub(last) >= interval;
        if comes {
            self.last.store(now, Ordering::Relaxed);
        } else {
            self.untimed.store(UNTIMED, Ordering::Relaxed);
        }
        comes
    }
}

/// What is known of the oneways of one link.
#[derive(Debug, Default)]
pub(super) struct Oneways {
    /// Those that are to be acknowledged, by their sequence numbers.
    asked: VecDeque<(u32, Object)>,
    gone: VecDeque<Object>,
}

impl Oneways {
    /// Whether there is anything to look at.
    #[inline]
    pub(super) fn matter(&self) -> bool {
        !(self.asked.is_empty() && self.gone.is_empty())
    }

    /// The next one is to be acknowledged.
    #[cold]
    pub(super) fn ask(&mut self, sequence: u32, object: Object) {
        self.asked.retain(|(asked, _)| sequence.wrapping_sub(*asked) < GIVEN_UP_AFTER);
        keep(&mut self.asked, (sequence, object));
    }

    /// It was not sent.
    #[cold]
    pub(super) fn forget(&mut self, sequence: u32) {
        self.asked.retain(|(asked, _)| *asked != sequence);
    }

    /// Whether an acknowledgement is still to come.
    pub(super) fn wait(&self) -> bool {
        !self.asked.is_empty()
    }

    /// An answer has come that no call waits for. Of which object it says how a oneway ended.
    pub(super) fn acknowledged(&mut self, sequence: u32) -> Option<Object> {
        let at = self.asked.iter().position(|(asked, _)| *asked == sequence)?;
        self.asked.remove(at).map(|(_, object)| object)
    }

    /// The server does not know the object.
    pub(super) fn lost(&mut self, object: Object) {
        if self.reach(object) {
            keep(&mut self.gone, object);
        }
    }

    /// Whether the server was not found not to know it.
    pub(super) fn reach(&self, object: Object) -> bool {
        !self.gone.contains(&object)
    }
}

/// In place of the oldest one if need be.
fn keep<T>(known: &mut VecDeque<T>, another: T) {
    if known.len() == KNOWN {
        known.pop_front();
    }
    known.push_back(another);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_come_at_intervals() {
        let turns = Turns::default();
        let mut comes = |ms| turns.come_at(Duration::from_millis(ms));
        assert_eq!([0, 1, 99, 100, 150, 200].map(&mut comes), [true, false, false, true, false, true]);
        // After it was too early some are not looked at.
        comes(201);
        assert_eq!(turns.untimed.load(Ordering::Relaxed), UNTIMED);
        assert!((0..UNTIMED).all(|_| !turns.come()));
        assert_eq!(turns.untimed.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn an_acknowledgement_is_told_once() {
        let mut oneways = Oneways::default();
        oneways.ask(1, (7, 7));
        oneways.ask(2, (8, 8));
        assert_eq!([2, 2, 3, 1].map(|n| oneways.acknowledged(n)), [Some((8, 8)), None, None, Some((7, 7))]);
        assert!(!oneways.wait());
        oneways.ask(3, (7, 7));
        oneways.forget(3);
        assert!(!oneways.wait());
    }

    #[test]
    fn an_acknowledgement_that_does_not_come_is_not_waited_for() {
        let mut oneways = Oneways::default();
        oneways.ask(u32::MAX, (7, 7));
        oneways.ask(GIVEN_UP_AFTER - 2, (7, 7));
        assert_eq!(oneways.asked.len(), 2);
        oneways.ask(GIVEN_UP_AFTER - 1, (7, 7));
        assert_eq!(oneways.acknowledged(u32::MAX), None);
    }

    #[test]
    fn no_more_is_known_than_there_is_room_for() {
        let mut oneways = Oneways::default();
        for n in 0..=KNOWN as u32 {
            oneways.ask(n, (n, 0));
            oneways.lost((n, 0));
            oneways.lost((n, 0));
        }
        assert_eq!((oneways.asked.len(), oneways.gone.len()), (KNOWN, KNOWN));
        assert!(oneways.reach((0, 0)) && !oneways.reach((1, 0)) && !oneways.reach((KNOWN as u32, 0)));
    }
}
