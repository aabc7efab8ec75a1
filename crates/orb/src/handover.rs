//! What a worker does for a future, and brings back to it.

use std::io;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use crate::exception::{Completion, SystemException};
use crate::invoke::Step;
use crate::orb::Orb;
use crate::transport::address::Address;
use crate::transport::client::ClientConnection;
use crate::transport::keeper::Timed;
use crate::transport::native::answers::PipeReply;
use crate::transport::reactor::{lock, wake};

/// What a worker brings back to a future.
#[derive(Default)]
pub(crate) struct Handover(Mutex<HandoverState>);

#[derive(Default)]
struct HandoverState {
    brought: Option<Brought>,
    waker: Option<Waker>,
    /// The servant of a local object runs, or has run.
    begun: bool,
    /// The worker has begun, and looks at the clock itself.
    keeps_time: bool,
    done: bool,
}

pub(crate) enum Brought {
    /// The index of the route that could be connected.
    Connected(Result<(usize, Arc<ClientConnection>), (Address, io::Error)>),
    Local(Result<Step, SystemException>),
    /// By the native protocol: an answer, or none, and then it is worth looking once more which ways there are.
    Native(Result<Option<PipeReply>, SystemException>),
    /// Nothing by the native protocol, in the time that the call could give it: other calls may try, this one takes another way.
    NoTimeForNative,
    /// The time of the call is over. What the worker does no longer matters.
    TimedOut(Completion),
    /// The ORB was shut down before a worker came to it, or had a connection.
    Nothing,
}

/// A worker's end of a [`Handover`]: brings nothing if the work is never done.
pub(crate) struct Bringer(pub(crate) Arc<Handover>);

impl Bringer {
    /// Whether the work is still wanted, which is begun then.
    pub(crate) fn begin(&self) -> bool {
        let mut inner = lock(&self.0.0);
        inner.begun = true;
        !inner.done
    }

    /// As [`begin`](Self::begin), of work that ends in time by itself.
    pub(crate) fn begin_in_time(&self) -> bool {
        let mut inner = lock(&self.0.0);
        inner.keeps_time = true;
        !inner.done && self.is_wanted()
    }

    /// Whether there is a future still to bring something to.
    pub(crate) fn is_wanted(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    pub(crate) fn bring(self, what: Brought) {
        self.0.put(what);
    }
}

impl Drop for Bringer {
    fn drop(&mut self) {
        self.0.put(Brought::Nothing);
    }
}

impl Handover {
    fn put(&self, what: Brought) {
        self.put_with(|_| Some(what));
    }

    /// Decides what there is to bring, if anything, under the lock under which work begins.
    fn put_with(&self, what: impl FnOnce(&HandoverState) -> Option<Brought>) {
        let waker = {
            let mut inner = lock(&self.0);
            if inner.done {
                return;
            }
            let Some(what) = what(&inner) else { return };
            inner.done = true;
            inner.brought = Some(what);
            inner.waker.take()
        };
        if let Some(waker) = waker {
            wake(waker);
        }
    }

    /// Sees to it that nobody waits for longer than until `deadline`.
    pub(crate) fn until(self: &Arc<Self>, deadline: Option<Instant>, orb: &Orb) {
        if let Some(deadline) = deadline {
            let handover = Arc::downgrade(self);
            orb.reactor().keeper.time(orb.reactor(), deadline, handover);
        }
    }

    pub(crate) fn poll(&self, cx: &mut Context<'_>) -> Poll<Brought> {
        let mut inner = lock(&self.0);
        match inner.brought.take() {
            Some(what) => Poll::Ready(what),
            None => {
                inner.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Timed for Handover {
    fn time_is_over(&self) {
        self.put_with(|handover| {
            let completed = if handover.begun { Completion::Maybe } else { Completion::No };
            (!handover.keeps_time).then_some(Brought::TimedOut(completed))
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    #[test]
    fn work_is_not_begun_that_was_given_up_and_not_given_up_when_begun() {
        let handovers: Vec<_> = (0..20_000).map(|_| Arc::new(Handover::default())).collect();
        let (ready, end) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
        // Both come to the same one at the same time; false when that has been enough of them.
        let together = |round: usize| {
            ready.fetch_add(1, Ordering::SeqCst);
            while ready.load(Ordering::SeqCst) < 2 * (round + 1) {
                std::thread::yield_now();
            }
            round < end.load(Ordering::SeqCst)
        };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let rounds = handovers.iter().enumerate().take_while(|(round, _)| together(*round));
                rounds.for_each(|(_, handover)| handover.time_is_over());
            });
            let (started, mut begun) = (Instant::now(), Vec::new());
            for (round, handover) in handovers.iter().enumerate() {
                if started.elapsed() > Duration::from_secs(1) {
                    end.store(round, Ordering::SeqCst);
                }
                if !together(round) {
                    break;
                }
                let bringer = Bringer(Arc::clone(handover));
                begun.push((bringer.begin_in_time(), bringer));
            }
            begun
        })
        .into_iter()
        .for_each(|(begun, bringer)| assert_eq!(begun, lock(&bringer.0.0).brought.is_none()));
    }
}
