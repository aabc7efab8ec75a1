//! Connecting within the process.

use super::{Network, lane::Lane, link::LocalLink};
use crate::{
    ConnectError, ProtectionTag, Reliability, ResourceError,
    fabric::{Incoming, Link, Listen, Posted, readable},
};
use rustix::event::EventfdFlags;
use std::{
    collections::VecDeque,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::{Arc, Condvar, Mutex, PoisonError},
    time::{Duration, Instant},
};

/// Requests for one discriminator.
pub(crate) struct Queue {
    waiting: Mutex<VecDeque<Request>>,
    /// Readable while requests wait.
    bell: OwnedFd,
}

/// A request.
struct Request {
    reliability: Reliability,
    tag: ProtectionTag,
    /// To the side that accepts, and from it.
    lanes: [Arc<Lane>; 2],
    answer: Arc<Answer>,
}

#[derive(Default)]
struct Answer {
    state: Mutex<Outcome>,
    changed: Condvar,
}

#[derive(Default)]
enum Outcome {
    #[default]
    Pending,
    Accepted(ProtectionTag),
    Refused(ConnectError),
    /// Nobody waits for the answer any more.
    Abandoned,
}

/// Connects as the active side.
pub(crate) fn connect(
    link: &mut LocalLink,
    address: &str,
    discriminator: &[u8],
    deadline: Option<Instant>,
) -> Result<(), ConnectError> {
    let queue = link.network.listener(address, discriminator).ok_or(ConnectError::NobodyListens)?;
    let lanes = [Arc::new(Lane::new()?), Arc::new(Lane::new()?)];
    link.network.watch(&lanes, [&link.address, address]);
    let answer = Arc::new(Answer::default());
    let [there, back] = lanes.clone();
    let (reliability, tag) = (link.reliability, link.tag);
    queue.add(Request { reliability, tag, lanes: [there, back], answer: answer.clone() });
    drop(queue);
    let tag = answer.wait(deadline)?;
    let [there, back] = lanes;
    link.connected([back, there], tag);
    Ok(())
}

impl Answer {
    fn give(&self, outcome: Outcome) -> Result<(), ConnectError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !matches!(*state, Outcome::Pending) {
            return Err(ConnectError::Timeout);
        }
        *state = outcome;
        self.changed.notify_all();
        Ok(())
    }

    fn wait(&self, deadline: Option<Instant>) -> Result<ProtectionTag, ConnectError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match std::mem::replace(&mut *state, Outcome::Abandoned) {
                Outcome::Accepted(tag) => return Ok(tag),
                Outcome::Refused(why) => return Err(why),
                Outcome::Pending | Outcome::Abandoned => {}
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Err(ConnectError::Timeout);
            }
            *state = Outcome::Pending;
            let left = left.unwrap_or(Duration::from_secs(3600));
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Queue {
    pub(crate) fn new() -> std::io::Result<Self> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK | EventfdFlags::SEMAPHORE;
        Ok(Self { waiting: Mutex::default(), bell: rustix::event::eventfd(0, flags)? })
    }

    fn add(&self, request: Request) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).push_back(request);
        let _ = rustix::io::write(&self.bell, &1_u64.to_ne_bytes());
    }

    fn take(&self) -> Option<Request> {
        let request = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front()?;
        let _ = rustix::io::read(&self.bell, &mut [0; 8]);
        Some(request)
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        // Unless it was answered.
        let _ = self.answer.give(Outcome::Refused(ConnectError::Rejected));
    }
}

/// Where requests come in.
pub(crate) struct LocalListener {
    pub(crate) network: Arc<Network>,
    pub(crate) key: super::Name,
    pub(crate) queue: Arc<Queue>,
}

impl LocalListener {
    pub(crate) fn new(
        network: &Arc<Network>,
        address: &str,
        discriminator: &[u8],
    ) -> Result<Self, ResourceError> {
        let key = (address.to_owned(), discriminator.to_vec());
        let queue = network.listen(&key)?;
        Ok(Self { network: network.clone(), key, queue })
    }
}

impl Listen for LocalListener {
    fn next(&mut self, deadline: Option<Instant>) -> Result<Option<Box<dyn Incoming>>, ConnectError> {
        loop {
            if let Some(request) = self.queue.take() {
                return Ok(Some(Box::new(request)));
            }
            if !readable(self.queue.bell.as_fd(), deadline)? {
                return Ok(None);
            }
        }
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.queue.bell.as_fd()
    }
}

impl Drop for LocalListener {
    fn drop(&mut self) {
        self.network.unlisten(&self.key);
        while self.queue.take().is_some() {}
    }
}

impl Incoming for Request {
    fn reliability(&self) -> Reliability {
        self.reliability
    }

    fn process(&self) -> Option<u32> {
        Some(std::process::id())
    }

    fn accept(self: Box<Self>, link: &mut dyn Link, _: &mut Posted) -> Result<(), ConnectError> {
        let link = link.as_any().downcast_mut::<LocalLink>().ok_or(ConnectError::OtherFabric)?;
        self.answer.give(Outcome::Accepted(link.tag))?;
        link.connected(self.lanes.clone(), self.tag);
        Ok(())
    }

    fn reject(self: Box<Self>, mismatch: bool) {
        let why = if mismatch { ConnectError::ReliabilityMismatch } else { ConnectError::Rejected };
        let _ = self.answer.give(Outcome::Refused(why));
    }
}
