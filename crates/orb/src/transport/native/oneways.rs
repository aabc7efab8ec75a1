//! Whether oneways reach anybody.
//!
//! The native protocol tells objects by their handles, and a handle says nothing to a server that was started anew, nor when the object
//! was activated anew: who sends nothing but oneways would never hear of it. So now and then one of them is to be acknowledged. Nobody
//! waits for that: it is read when the thread uses the link the next time.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// An object's oneways are acknowledged not more often, as long as it is there.
const INTERVAL: Duration = Duration::from_millis(100);

/// So many oneways follow one for which it was too early before the time is looked at again.
const UNTIMED: u32 = 15;

/// An acknowledgement that did not come before so many further calls is not waited for: the servant may take for ever.
const GIVEN_UP_AFTER: u32 = 4096;

/// So many acknowledgements may be outstanding on a link, lest they wait in the server for a thread that does not read, and keep it
/// from what was sent after them. The ring has room for twice as many that are exceptions.
pub(super) const MOST: usize = 64;

/// What is known of the oneways to an object, whoever sends them.
#[derive(Debug, Default)]
pub(super) struct Fate {
    /// So many need not be looked at.
    untimed: AtomicU32,
    /// When the last one was acknowledged, in milliseconds; 0 for never.
    last: AtomicU64,
    /// The server does not know the object.
    lost: AtomicBool,
}

impl Fate {
    /// Whether it is the turn of this one to be acknowledged.
    #[inline]
    pub(super) fn asks(&self) -> bool {
        let untimed = self.untimed.load(Ordering::Relaxed);
        if untimed > 0 {
            self.untimed.store(untimed - 1, Ordering::Relaxed);
            return false;
        }
        static EPOCH: OnceLock<Instant> = OnceLock::new();
        self.asks_at(EPOCH.get_or_init(Instant::now).elapsed())
    }

    /// Threads that come here at a time may both have a turn, or the untimed ones be fewer.
    #[cold]
    fn asks_at(&self, now: Duration) -> bool {
        let (now, interval) = (now.as_millis() as u64 + 1, INTERVAL.as_millis() as u64);
        let last = self.last.load(Ordering::Relaxed);
        let asks = last == 0 || now.saturating_sub(last) >= interval;
        if asks {
            self.last.store(now, Ordering::Relaxed);
        } else {
            self.untimed.store(UNTIMED, Ordering::Relaxed);
        }
        asks
    }

    /// They reach nobody.
    pub(super) fn lose(&self) {
        self.lost.store(true, Ordering::Relaxed);
    }

    /// Whether they were found to reach nobody.
    #[inline]
    pub(super) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }
}

/// The oneways of one link that are to be acknowledged, by their sequence numbers.
#[derive(Debug, Default)]
pub(super) struct Asked(Vec<(u32, Arc<Fate>)>);

impl Asked {
    /// Whether no acknowledgement is to come.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether another one may be acknowledged, by its sequence number.
    #[inline]
    pub(super) fn has_room(&mut self, sequence: u32) -> bool {
        self.0.len() < MOST || self.give_up(sequence)
    }

    /// Whether some were not acknowledged for long.
    #[cold]
    fn give_up(&mut self, sequence: u32) -> bool {
        self.0.retain(|(asked, _)| sequence.wrapping_sub(*asked) < GIVEN_UP_AFTER);
        self.0.len() < MOST
    }

    /// The next one is to be acknowledged.
    #[cold]
    pub(super) fn add(&mut self, sequence: u32, fate: &Arc<Fate>) {
        self.give_up(sequence);
        self.0.push((sequence, Arc::clone(fate)));
    }

    /// It was not sent.
    #[cold]
    pub(super) fn forget(&mut self, sequence: u32) {
        self.0.retain(|(asked, _)| *asked != sequence);
    }

    /// An answer has come that no call waits for. Of which object's oneways it tells something.
    pub(super) fn acknowledged(&mut self, sequence: u32) -> Option<Arc<Fate>> {
        let at = self.0.iter().position(|(asked, _)| *asked == sequence)?;
        Some(self.0.remove(at).1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_come_at_intervals() {
        let fate = Fate::default();
        let mut asks = |ms| fate.asks_at(Duration::from_millis(ms));
        assert_eq!([0, 1, 99, 100, 150, 200].map(&mut asks), [true, false, false, true, false, true]);
        // After it was too early some are not looked at.
        asks(201);
        assert_eq!(fate.untimed.load(Ordering::Relaxed), UNTIMED);
        assert!((0..UNTIMED).all(|_| !fate.asks()));
        assert_eq!(fate.untimed.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn an_acknowledgement_is_told_once() {
        let (mut asked, fates) = (Asked::default(), [(); 2].map(|()| Arc::default()));
        asked.add(1, &fates[0]);
        asked.add(2, &fates[1]);
        let mut told = |n| asked.acknowledged(n).map(|fate| fates.iter().position(|f| Arc::ptr_eq(f, &fate)));
        assert_eq!([2, 2, 3, 1].map(&mut told), [Some(Some(1)), None, None, Some(Some(0))]);
        assert!(asked.is_empty());
        asked.add(3, &fates[0]);
        asked.forget(3);
        assert!(asked.is_empty());
    }

    #[test]
    fn an_acknowledgement_that_does_not_come_is_not_waited_for() {
        let (mut asked, fate) = (Asked::default(), Arc::default());
        asked.add(u32::MAX, &fate);
        asked.add(GIVEN_UP_AFTER - 1, &fate);
        assert!(asked.acknowledged(u32::MAX).is_none());
        (0..MOST).for_each(|_| asked.add(u32::MAX, &fate));
        assert!(!asked.has_room(GIVEN_UP_AFTER - 2));
        assert!(asked.has_room(GIVEN_UP_AFTER - 1) && asked.acknowledged(u32::MAX).is_none());
    }

    #[test]
    fn no_more_are_outstanding_than_there_is_room_for() {
        let (mut asked, fate) = (Asked::default(), Arc::default());
        for n in 0..MOST as u32 {
            assert!(asked.has_room(n));
            asked.add(n, &fate);
        }
        assert!(!asked.has_room(MOST as u32));
        assert!(asked.acknowledged(0).is_some() && asked.has_room(MOST as u32));
    }
}
