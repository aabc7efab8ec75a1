//! A timer wheel: who is due when, at a cost that does not grow with their number.

use smoltcp::time::{Duration, Instant};

/// Places of the wheel, each a millisecond wide. Who is due later stays for another round.
const PLACES: u64 = 4096;

/// Numbers of those who want to be woken, by time. Entries are not taken back: who is woken early asks again.
///
/// After Varghese and Lauck, "Hashed and Hierarchical Timing Wheels" (1987), scheme 6.
#[derive(Debug)]
pub(crate) struct TimerWheel {
    places: Vec<Vec<(u64, u32)>>,
    /// The next millisecond to be looked at.
    next: u64,
    len: usize,
}

impl Default for TimerWheel {
    fn default() -> Self {
        Self { places: (0..PLACES).map(|_| Vec::new()).collect(), next: 0, len: 0 }
    }
}

fn milliseconds(time: Instant) -> u64 {
    time.total_millis() as u64
}

impl TimerWheel {
    /// Wakes `who` at `due`, or up to a millisecond later.
    pub fn add(&mut self, due: Instant, who: u32) {
        let due = (milliseconds(due) + 1).max(self.next);
        self.places[(due % PLACES) as usize].push((due, who));
        self.len += 1;
    }

    /// Calls `wake` with all who are due.
    pub fn advance(&mut self, now: Instant, mut wake: impl FnMut(u32)) {
        let now = milliseconds(now);
        // A whole round shows everybody.
        let first = self.next.max((now + 1).saturating_sub(PLACES));
        self.next = self.next.max(now + 1);
        if self.len == 0 {
            return;
        }
        for time in first..=now {
            let place = &mut self.places[(time % PLACES) as usize];
            let before = place.len();
            place.retain(|(due, who)| {
                if *due <= now {
                    wake(*who);
                }
                *due > now
            });
            self.len -= before - place.len();
        }
    }

    /// When to look again: not after anybody is due.
    pub fn next(&self) -> Option<Instant> {
        if self.len == 0 {
            return None;
        }
        let used = |time: &u64| !self.places[(time % PLACES) as usize].is_empty();
        let time = (self.next..self.next + PLACES).find(used)?;
        Some(Instant::ZERO + Duration::from_millis(time))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(milliseconds)
    }

    #[test]
    fn everybody_is_woken_once_and_in_time() {
        let mut wheel = TimerWheel::default();
        let times: Vec<u64> = (0..500).map(|n| n * n % 20_011).collect();
        for (who, time) in times.iter().enumerate() {
            wheel.add(at(*time), who as u32);
        }
        let mut woken = vec![None; times.len()];
        let mut now = 0;
        while let Some(next) = wheel.next() {
            assert!(next > at(now) || now == 0);
            now = next.total_millis() as u64;
            wheel.advance(next, |who| assert_eq!(woken[who as usize].replace(now), None));
        }
        for (time, woken) in times.iter().zip(woken) {
            assert_eq!(woken, Some(time + 1));
        }
    }

    #[test]
    fn after_a_long_silence() {
        let mut wheel = TimerWheel::default();
        wheel.advance(at(1_000_000), |_| unreachable!());
        wheel.add(at(1_000_000), 1);
        wheel.add(at(1_100_000), 2);
        let mut woken = Vec::new();
        wheel.advance(at(1_050_000), |who| woken.push(who));
        assert_eq!(woken, [1]);
        wheel.advance(at(9_000_000), |who| woken.push(who));
        assert_eq!((woken, wheel.next()), (vec![1, 2], None));
    }
}
