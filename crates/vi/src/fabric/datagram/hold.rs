//! Messages that wait for others which are about to follow, so that all of them leave in one datagram.

use std::time::{Duration, Instant};

/// Messages wait for no longer than this, and for nobody who takes longer between two of them.
const HOLD: Duration = Duration::from_micros(20);

/// So many messages do not wait after one that waited in vain.
const HURRIED: u32 = 64;

/// The messages of a VI that wait.
#[derive(Default)]
pub(super) struct Hold {
    /// Since when, and since the latest.
    since: Option<(Instant, Instant)>,
    /// So many of the next do not wait.
    hurried: u32,
}

impl Hold {
    /// Whether any wait.
    #[inline]
    pub(super) fn is_held(&self) -> bool {
        self.since.is_some()
    }

    /// Whether a message waits that is posted now, and those before it; `expected` if others are about to follow.
    #[inline]
    pub(super) fn waits(&mut self, expected: bool) -> bool {
        if !expected || self.hurried > 0 {
            self.end();
            self.hurried = self.hurried.saturating_sub(expected.into());
            return false;
        }
        let now = Instant::now();
        let (first, latest) = self.since.unwrap_or((now, now));
        self.look_back(now - latest);
        let waits = now - first < HOLD;
        self.since = waits.then_some((first, now));
        waits
    }

    /// Those that wait leave now; whether there are any.
    #[inline]
    pub(super) fn end(&mut self) -> bool {
        let Some((_, latest)) = self.since.take() else { return false };
        self.look_back(latest.elapsed());
        true
    }

    /// Who takes so long between two messages does something else meanwhile: the first should not have waited.
    fn look_back(&mut self, pause: Duration) {
        if pause >= HOLD {
            self.hurried = HURRIED;
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn messages_wait_while_others_follow_and_not_for_somebody_who_is_slow() {
        let mut hold = Hold::default();
        assert!(!hold.waits(false) && !hold.is_held());
        // A machine that is busy elsewhere may make any of these slow.
        let quick = (0..1000).any(|_| {
            hold = Hold::default();
            hold.waits(true) && hold.waits(true) && !hold.waits(false) && hold.hurried == 0
        });
        assert!(quick && !hold.is_held());
        assert!(hold.waits(true));
        std::thread::sleep(HOLD);
        assert!(hold.end() && !hold.end());
        assert!((0..HURRIED).all(|_| !hold.waits(true)));
        assert!(hold.waits(true));
        std::thread::sleep(HOLD);
        assert!(!hold.waits(true), "for long enough");
    }
}
