//! Waiting for completions.

use super::Vi;
use crate::{
    Completion, WaitError,
    fabric::{Spin, sleep_at},
};
use std::time::{Duration, Instant};

impl Vi {
    /// As [`send_done`](Self::send_done), and waits for it; for ever without a timeout.
    ///
    /// # Errors
    ///
    /// See [`WaitError`].
    pub fn send_wait(&mut self, timeout: Option<Duration>) -> Result<Completion, WaitError> {
        self.wait(timeout, Self::send_done, |vi| !vi.sending.is_empty(), |vi| vi.has_place())
    }

    /// As [`receive_done`](Self::receive_done), and waits for it; for ever without a timeout.
    ///
    /// # Errors
    ///
    /// See [`WaitError`].
    pub fn receive_wait(&mut self, timeout: Option<Duration>) -> Result<Completion, WaitError> {
        self.wait(timeout, Self::receive_done, |vi| !vi.posted.is_empty(), |_| true)
    }

    fn wait(
        &mut self,
        timeout: Option<Duration>,
        done: impl Fn(&mut Self) -> Option<Completion>,
        outstanding: impl Fn(&Self) -> bool,
        takes_messages: impl Fn(&Self) -> bool,
    ) -> Result<Completion, WaitError> {
        let deadline = deadline(timeout);
        loop {
            let mut spin = std::mem::replace(&mut self.spin, Spin::new(Duration::ZERO));
            let found = spin.look(deadline, || done(self));
            self.spin = spin;
            if let Some(completion) = found {
                return Ok(completion);
            }
            if !outstanding(self) || !self.state.is_connected() {
                return done(self).ok_or(WaitError::NothingOutstanding);
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Err(WaitError::Timeout);
            }
            self.park(takes_messages(self), deadline)?;
        }
    }

    fn park(&mut self, takes_messages: bool, deadline: Option<Instant>) -> Result<(), WaitError> {
        let Some(doorbell) = &self.doorbell else { return Ok(()) };
        if std::mem::take(&mut self.was_woken) {
            doorbell.drain();
        }
        let ready = || if takes_messages { doorbell.ready() } else { doorbell.ready_for_sends() };
        let two = doorbell.doze();
        if !ready() {
            // What was drained may have changed that, and whoever changes it from now on wakes us.
            let deadline = deadline.into_iter().chain(doorbell.wakes_by()).min();
            let slept = sleep_at(&**doorbell, two, ready, deadline);
            doorbell.disarm();
            self.was_woken = true;
            return Ok(slept?);
        }
        doorbell.disarm();
        Ok(())
    }
}

pub(crate) fn deadline(timeout: Option<Duration>) -> Option<Instant> {
    timeout.and_then(|timeout| Instant::now().checked_add(timeout))
}
