//! Readiness of many connections: a thin, safe face of epoll in its one-shot form.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::{Timespec, epoll};
use rustix::io::Errno;

/// What a registered descriptor waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Interest {
    pub(crate) read: bool,
    pub(crate) write: bool,
}

/// A descriptor that is ready: the token it was registered with, and for what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) token: u64,
    pub(crate) writable: bool,
}

/// A set of descriptors of which each event wakes one thread, once, until the descriptor is armed again.
#[derive(Debug)]
pub(crate) struct Poller {
    epoll: OwnedFd,
    /// Signalled to wake one waiting thread for work that no descriptor announces.
    wake: OwnedFd,
}

/// The token of the wake-up descriptor.
pub(crate) const WAKE: u64 = u64::MAX;

impl Poller {
    pub(crate) fn new() -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let flags = rustix::event::EventfdFlags::CLOEXEC
            | rustix::event::EventfdFlags::NONBLOCK
            | rustix::event::EventfdFlags::SEMAPHORE;
        let wake = rustix::event::eventfd(0, flags)?;
        // Semaphore and level-triggered: every `wake` lets one thread out of `wait`.
        epoll::add(&epoll, &wake, epoll::EventData::new_u64(WAKE), epoll::EventFlags::IN)?;
        Ok(Self { epoll, wake })
    }

    /// Registers a descriptor, armed for `interest`.
    pub(crate) fn add(&self, fd: impl AsFd, token: u64, interest: Interest) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, fd, epoll::EventData::new_u64(token), flags(interest))?)
    }

    /// Arms a registered descriptor again (or disarms it, with an empty interest).
    pub(crate) fn arm(&self, fd: impl AsFd, token: u64, interest: Interest) -> io::Result<()> {
        Ok(epoll::modify(&self.epoll, fd, epoll::EventData::new_u64(token), flags(interest))?)
    }

    /// Forgets a descriptor.
    pub(crate) fn remove(&self, fd: impl AsFd) {
        let _ = epoll::delete(&self.epoll, fd);
    }

    /// Lets one waiting thread return with the token [`WAKE`].
    pub(crate) fn wake(&self) {
        let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
    }

    /// Takes one signal of [`wake`](Self::wake); false when another thread had it.
    pub(crate) fn take_wake(&self) -> bool {
        rustix::io::read(&self.wake, &mut [0_u8; 8]).is_ok()
    }

    /// Waits for one event, at most `timeout`.
    pub(crate) fn wait(&self, timeout: Option<Duration>) -> io::Result<Option<Event>> {
        let spec =
            timeout.map(|t| Timespec { tv_sec: t.as_secs() as i64, tv_nsec: i64::from(t.subsec_nanos()) });
        let mut events =
            [epoll::Event { flags: epoll::EventFlags::empty(), data: epoll::EventData::new_u64(0) }];
        match epoll::wait(&self.epoll, &mut events[..], spec.as_ref()) {
            Ok(0) | Err(Errno::INTR) => Ok(None),
            Ok(_) => {
                let [event] = events;
                let flags = event.flags;
                let writable = flags
                    .intersects(epoll::EventFlags::OUT | epoll::EventFlags::ERR | epoll::EventFlags::HUP);
                Ok(Some(Event { token: event.data.u64(), writable }))
            }
            Err(e) => Err(e.into()),
        }
    }
}

fn flags(interest: Interest) -> epoll::EventFlags {
    let mut flags = epoll::EventFlags::ONESHOT;
    if interest.read {
        flags |= epoll::EventFlags::IN | epoll::EventFlags::RDHUP;
    }
    if interest.write {
        flags |= epoll::EventFlags::OUT;
    }
    flags
}
