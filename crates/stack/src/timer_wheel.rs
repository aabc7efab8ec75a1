//! A timer wheel: who is due when, at a cost that does not grow with their number.

use smoltcp::time::{Duration, Instant};

/// Milliseconds of a round. Who is due in the round that runs has a place of a millisecond; others wait by rounds.
const ROUND: u64 = 1024;
/// Rounds that have places of their own. Who is due later stays for another lap.
const ROUNDS: u64 = 512;

/// Numbers of those who want to be woken, by time. Entries are not taken back: who is woken early asks again.
///
/// After Varghese and Lauck, "Hashed and Hierarchical Timing Wheels" (1987), scheme 7 with two levels.
#[derive(Debug)]
pub(crate) struct TimerWheel {
    /// Those due in the round of `next`.
    round: Places,
    /// Those due in later rounds.
    later: Places,
    /// The next millisecond to be looked at.
    next: u64,
    len: usize,
}

/// When, and who.
type Entry = (u64, u32);

/// Entries by place.
#[derive(Debug)]
struct Places {
    entries: Vec<Vec<Entry>>,
    /// A bit for each place that has somebody.
    used: Vec<u64>,
}

impl Default for TimerWheel {
    fn default() -> Self {
        Self { round: Places::new(ROUND), later: Places::new(ROUNDS), next: 0, len: 0 }
    }
}

fn milliseconds(time: Instant) -> u64 {
    time.total_millis() as u64
}

impl TimerWheel {
    /// Wakes `who` at `due`, or up to a millisecond later.
    pub fn add(&mut self, due: Instant, who: u32) {
        let due = (milliseconds(due) + 1).max(self.next);
        self.len += 1;
        self.put((due, who), self.next / ROUND);
    }

    fn put(&mut self, entry: Entry, round: u64) {
        match entry.0 / ROUND {
            own if own == round => self.round.put(entry.0 % ROUND, entry),
            own => self.later.put(own % ROUNDS, entry),
        }
    }

    /// Calls `wake` with all who are due.
    pub fn advance(&mut self, now: Instant, mut wake: impl FnMut(u32)) {
        let now = milliseconds(now);
        let (from, to) = (self.next, now + 1);
        if to <= from {
            return;
        }
        self.next = to;
        if self.len == 0 {
            return;
        }
        let end = (from / ROUND + 1) * ROUND;
        let mut place = from % ROUND;
        while let Some(used) = self.round.first_used(place, to.min(end) - (end - ROUND)) {
            place = used;
            let woken = self.round.take(used);
            self.len -= woken.len();
            woken.iter().for_each(|(_, who)| wake(*who));
            self.round.give_back(used, woken);
        }
        // A whole lap shows everybody.
        let rounds = (from / ROUND + 1..=to / ROUND).take(ROUNDS as usize);
        rounds.for_each(|round| self.begin(round % ROUNDS, now, &mut wake));
    }

    /// The round of a place has begun, or is over: wakes who is due by now, and puts the others where they belong.
    fn begin(&mut self, place: u64, now: u64, wake: &mut impl FnMut(u32)) {
        let mut entries = self.later.take(place);
        self.len -= entries.len();
        let mut kept = 0;
        for at in 0..entries.len() {
            let (due, who) = entries[at];
            if due <= now {
                wake(who);
                continue;
            }
            self.len += 1;
            if due / ROUND == self.next / ROUND {
                self.round.put(due % ROUND, (due, who));
            } else {
                entries[kept] = (due, who);
                kept += 1;
            }
        }
        entries.truncate(kept);
        self.later.put_back(place, entries);
    }

    /// How many entries there are.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// When to look again: not after anybody is due.
    pub fn next(&self) -> Option<Instant> {
        if self.len == 0 {
            return None;
        }
        let round = self.next / ROUND;
        let at = |milliseconds| Instant::ZERO + Duration::from_millis(milliseconds);
        if let Some(place) = self.round.first_used(self.next % ROUND, ROUND) {
            return Some(at(round * ROUND + place));
        }
        let place = (round + 1) % ROUNDS;
        let (ahead, behind) = (self.later.first_used(place, ROUNDS), self.later.first_used(0, place));
        let rounds = ahead.map(|used| used - place).or(behind.map(|used| used + ROUNDS - place))?;
        Some(at((round + 1 + rounds) * ROUND))
    }
}

impl Places {
    fn new(count: u64) -> Self {
        Self { entries: (0..count).map(|_| Vec::new()).collect(), used: vec![0; count.div_ceil(64) as usize] }
    }

    fn put(&mut self, place: u64, entry: Entry) {
        self.entries[place as usize].push(entry);
        self.used[(place / 64) as usize] |= 1 << (place % 64);
    }

    /// Takes all out of a place.
    fn take(&mut self, place: u64) -> Vec<Entry> {
        self.used[(place / 64) as usize] &= !(1 << (place % 64));
        std::mem::take(&mut self.entries[place as usize])
    }

    /// Puts what was taken back, or what is left of it.
    fn put_back(&mut self, place: u64, entries: Vec<Entry>) {
        if !entries.is_empty() {
            self.used[(place / 64) as usize] |= 1 << (place % 64);
        }
        self.entries[place as usize] = entries;
    }

    /// Gives the memory of what was taken back.
    fn give_back(&mut self, place: u64, mut entries: Vec<Entry>) {
        entries.clear();
        self.put_back(place, entries);
    }

    /// The first place from `place` on, and before `end`, that has somebody.
    fn first_used(&self, place: u64, end: u64) -> Option<u64> {
        let mut place = place;
        while place < end {
            let rest = self.used[(place / 64) as usize] >> (place % 64);
            if rest != 0 {
                let found = place + u64::from(rest.trailing_zeros());
                return (found < end).then_some(found);
            }
            place += 64 - place % 64;
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
    fn beyond_a_lap() {
        let mut wheel = TimerWheel::default();
        let lap = ROUND * ROUNDS;
        let times = [lap - 1, lap, lap + 1, 2 * lap - 2, 2 * lap + 5, 7 * lap + 3];
        for (who, time) in times.iter().enumerate() {
            wheel.add(at(*time), who as u32);
        }
        let mut woken = Vec::new();
        while let Some(next) = wheel.next() {
            wheel.advance(next, |who| woken.push((who as usize, next.total_millis() as u64)));
        }
        assert_eq!(woken, times.map(|time| time + 1).into_iter().enumerate().collect::<Vec<_>>());
        assert_eq!(wheel.len(), 0);
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
