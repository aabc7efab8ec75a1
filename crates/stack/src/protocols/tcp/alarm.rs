//! When a connection is to be woken, and what the timer wheel knows of it.

use smoltcp::time::Instant;

/// No time at all.
const NEVER: Instant = Instant::from_micros_const(i64::MAX);

/// The times at which the wheel wakes a connection. Nothing is taken out of a wheel: who no longer needs to be woken is woken
/// for nothing.
///
/// A connection at work is due soon again and again, and, when all is acknowledged, in minutes. The entry for that stays in
/// the wheel and serves the next time too; otherwise every segment would leave one behind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alarm {
    /// The first entry.
    near: Instant,
    /// The last entry, if there are several.
    far: Instant,
}

impl Default for Alarm {
    fn default() -> Self {
        Self { near: NEVER, far: NEVER }
    }
}

impl Alarm {
    /// Has the connection woken by `due`, or sooner. Whether the wheel must be told.
    #[inline]
    pub fn set(&mut self, due: Instant) -> bool {
        if self.near <= due {
            return false;
        }
        if self.near == NEVER && self.far <= due {
            (self.near, self.far) = (self.far, NEVER);
            return false;
        }
        if self.near != NEVER {
            self.far = if self.far == NEVER { self.near } else { self.far.max(self.near) };
        }
        self.near = due;
        true
    }

    /// Whether the connection is woken by then anyway.
    #[inline]
    pub fn is_set_by(&self, time: Instant) -> bool {
        self.near <= time
    }

    /// The wheel has woken the connection. Whether that was wanted: it may have been for one that had its place before.
    pub fn rings(&mut self, now: Instant) -> bool {
        let wanted = self.near <= now;
        if wanted {
            self.near = NEVER;
        }
        if self.far <= now {
            self.far = NEVER;
        }
        wanted
    }
}

#[cfg(test)]
mod tests {
    use smoltcp::time::Duration;

    use super::*;
    use crate::timer_wheel::TimerWheel;

    /// A connection that is due 5 ms after each of its segments, then 40 ms, then 300 s.
    #[test]
    fn a_connection_at_work_leaves_no_entries_behind() {
        let (mut alarm, mut wheel) = (Alarm::default(), TimerWheel::default());
        let (mut now, mut due) = (Instant::ZERO, NEVER);
        for step in 0..100_000 {
            now += Duration::from_millis(3);
            let mut rang = false;
            wheel.advance(now, |_| rang |= alarm.rings(now));
            assert!(rang || due > now, "not woken at {due}");
            due = match step % 50 {
                0 => now + Duration::from_millis(5),
                1..20 => due.max(now + Duration::from_millis(1)).min(now + Duration::from_millis(40)),
                _ => now + Duration::from_secs(300),
            };
            if alarm.set(due) {
                wheel.add(due, 0);
            }
            assert!(wheel.len() < 20, "{} entries", wheel.len());
        }
    }

    #[test]
    fn an_entry_of_another_wakes_nobody() {
        let mut alarm = Alarm::default();
        assert!(!alarm.rings(Instant::from_secs(1)));
        assert!(alarm.set(Instant::from_secs(9)));
        assert!(!alarm.rings(Instant::from_secs(8)));
        assert!(alarm.is_set_by(Instant::from_secs(9)) && !alarm.is_set_by(Instant::from_secs(8)));
        assert!(alarm.rings(Instant::from_secs(10)) && !alarm.rings(Instant::from_secs(10)));
    }
}
