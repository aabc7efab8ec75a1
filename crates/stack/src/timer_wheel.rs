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
    /// A bit for each place that has somebody.
    used: [u64; (PLACES / 64) as usize],
    /// The next millisecond to be looked at.
    next: u64,
    len: usize,
}

impl Default for TimerWheel {
    fn default() -> Self {
        Self {
            places: (0..PLACES).map(|_| Vec::new()).collect(),
            used: [0; (PLACES / 64) as usize],
            next: 0,
            len: 0,
        }
    }
}

fn milliseconds(time: Instant) -> u64 {
    time.total_millis() as u64
}

impl TimerWheel {
    /// Wakes `who` at `due`, or up to a millisecond later.
    pub fn add(&mut self, due: Instant, who: u32) {
        let due = (milliseconds(due) + 1).max(self.next);
        let place = due % PLACES;
        self.places[place as usize].push((due, who));
        self.used[(place / 64) as usize] |= 1 << (place % 64);
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
        let mut time = first;
        while let Some(next) = self.used_from(time, (now + 1).saturating_sub(time)) {
            time = next + 1;
            let number = next % PLACES;
            let place = &mut self.places[number as usize];
            let before = place.len();
            place.retain(|(due, who)| {
                if *due <= now {
                    wake(*who);
                }
                *due > now
            });
            self.len -= before - place.len();
            if place.is_empty() {
                self.used[(number / 64) as usize] &= !(1 << (number % 64));
            }
        }
    }

    /// When to look again: not after anybody is due.
    pub fn next(&self) -> Option<Instant> {
        if self.len == 0 {
            return None;
        }
        let time = self.used_from(self.next, PLACES)?;
        Some(Instant::ZERO + Duration::from_millis(time))
    }

    /// The first of `count` milliseconds from `time` on whose place has somebody, whatever his round.
    fn used_from(&self, time: u64, count: u64) -> Option<u64> {
        let end = time + count;
        let mut time = time;
        while time < end {
            let place = time % PLACES;
            let rest = self.used[(place / 64) as usize] >> (place % 64);
            if rest != 0 {
                let found = time + u64::from(rest.trailing_zeros());
                return (found < end).then_some(found);
            }
            time += 64 - place % 64;
        }
        None
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
