//! Waiting: look for a while, then sleep.

use super::Doorbell;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::{
    io,
    os::fd::BorrowedFd,
    time::{Duration, Instant},
};

/// So long a sleep is at first where those who end it have no fence between what they publish and their look whether anybody
/// sleeps. What they publish at the moment of falling asleep may wait so long.
pub const NAP: Duration = Duration::from_millis(1);

/// Sleeps until the doorbell rings or the deadline has passed. It may end earlier. After [`Doorbell::doze`], which returned
/// whether to sleep in `two` parts, and when nothing was `ready`.
pub(crate) fn sleep_at(
    doorbell: &dyn Doorbell,
    two: bool,
    ready: impl Fn() -> bool,
    deadline: Option<Instant>,
) -> io::Result<()> {
    let mut fds = [PollFd::from_borrowed_fd(doorbell.fd(), PollFlags::IN)];
    let nap = two.then(|| Instant::now() + NAP);
    if let Some(nap) = nap.filter(|nap| deadline.is_none_or(|deadline| *nap < deadline)) {
        sleep(&mut fds, Some(nap))?;
        if !fds[0].revents().is_empty() {
            return Ok(());
        }
        doorbell.fence();
        if ready() {
            return Ok(());
        }
    }
    sleep(&mut fds, deadline)
}

/// Sleeps until one of the files is readable or the deadline has passed. A signal may end it early.
pub(crate) fn sleep(fds: &mut [PollFd<'_>], deadline: Option<Instant>) -> io::Result<()> {
    let left = match deadline {
        Some(deadline) => Some(
            Timespec::try_from(deadline.saturating_duration_since(Instant::now()))
                .map_err(io::Error::other)?,
        ),
        None => None,
    };
    match poll(fds, left.as_ref()) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

/// Waits until the file is readable; whether it is.
pub(crate) fn readable(fd: BorrowedFd<'_>, deadline: Option<Instant>) -> io::Result<bool> {
    loop {
        let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::IN)];
        sleep(&mut fds, deadline)?;
        if !fds[0].revents().is_empty() {
            return Ok(true);
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Ok(false);
        }
    }
}

/// How long to look before going to sleep.
///
/// Waking a sleeper on another processor costs tens of microseconds, so looking for about that long never costs more than
/// twice the best choice. Where it failed time and again it is given up but for one attempt in sixteen.
pub(crate) struct Spin {
    limit: Duration,
    failures: u32,
}

/// So many times in a row looking may be in vain.
const PATIENCE: u32 = 8;

impl Spin {
    pub(crate) fn new(limit: Duration) -> Self {
        Self { limit, failures: 0 }
    }

    /// Looks until something is found, or it is time to sleep.
    pub(crate) fn look<T>(
        &mut self,
        deadline: Option<Instant>,
        mut found: impl FnMut() -> Option<T>,
    ) -> Option<T> {
        if self.limit.is_zero() || self.failures >= PATIENCE && !self.failures.is_multiple_of(16) {
            self.failures = self.failures.wrapping_add(1);
            return found();
        }
        let start = Instant::now();
        let until = start.checked_add(self.limit).into_iter().chain(deadline).min();
        loop {
            for _ in 0..32 {
                if let Some(thing) = found() {
                    self.failures = 0;
                    return Some(thing);
                }
                std::hint::spin_loop();
            }
            if until.is_some_and(|until| Instant::now() >= until) {
                self.failures = self.failures.saturating_add(1);
                return None;
            }
        }
    }
}

/// After so long a time it is due what is to be done now and then.
const DUE: Duration = Duration::from_micros(500);
/// So many looks there are, at most, before somebody looks at the clock for that: some microseconds for who looks all the time.
const MOST_LOOKS: u32 = 256;

/// What is to be done now and then by whoever looks for something, though he may never sleep: soon for who looks all the time, and
/// each time for who looks seldom. Mostly that costs no more than counting.
pub(crate) struct NowAndThen {
    /// After so many looks the clock is looked at next, and after so many it was before.
    looks: u32,
    stride: u32,
    last: Instant,
}

impl NowAndThen {
    pub(crate) fn new() -> Self {
        Self { looks: 1, stride: 1, last: Instant::now() }
    }

    /// It is looked once more; whether it is due.
    #[inline]
    pub(crate) fn is_due(&mut self) -> bool {
        self.looks -= 1;
        self.looks == 0 && self.look_at_clock()
    }

    #[cold]
    fn look_at_clock(&mut self) -> bool {
        let now = Instant::now();
        let is_due = now.saturating_duration_since(self.last) >= DUE;
        self.stride = if is_due { 1 } else { (2 * self.stride).min(MOST_LOOKS) };
        if is_due {
            self.last = now;
        }
        self.looks = self.stride;
        is_due
    }
}
