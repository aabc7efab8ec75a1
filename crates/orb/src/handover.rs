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
    /// The ORB was shut down before a worker came to it.
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
        !inner.done
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
        self.put_with(|_| what);
    }

    fn put_with(&self, what: impl FnOnce(&HandoverState) -> Brought) {
        let waker = {
            let mut inner = lock(&self.0);
            if inner.done {
                return;
            }
            inner.done = true;
            inner.brought = Some(what(&inner));
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
        if lock(&self.0).keeps_time {
            return;
        }
        self.put_with(|handover| {
            Brought::TimedOut(if handover.begun { Completion::Maybe } else { Completion::No })
        });
    }
}
