//! The end of an ORB: who brings it about, and who waits for it.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::orb::Orb;
use crate::transport::reactor::{lock, wake};

/// Whether an ORB has ended.
#[derive(Default)]
pub(crate) struct Ending {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    over: bool,
    wakers: BTreeMap<u64, Waker>,
    /// How many have waited so far.
    waiters: u64,
}

thread_local! {
    /// So many ends the thread brings about: a servant that one of them drops may bring about another ORB's.
    static ENDS: Cell<usize> = const { Cell::new(0) };
}

/// The calling thread brings an end about.
pub(crate) struct Bringing(());

impl Bringing {
    pub(crate) fn begin() -> Self {
        ENDS.set(ENDS.get() + 1);
        Self(())
    }

    /// Whether the calling thread brings one about, and waits for none therefore: neither for this one, nor for another, which may
    /// wait for this one in turn.
    pub(crate) fn is_here() -> bool {
        ENDS.get() > 0
    }
}

impl Drop for Bringing {
    fn drop(&mut self) {
        ENDS.set(ENDS.get() - 1);
    }
}

impl Ending {
    /// It is over.
    pub(crate) fn finish(&self) {
        let wakers = {
            let mut state = lock(&self.state);
            state.over = true;
            self.changed.notify_all();
            std::mem::take(&mut state.wakers)
        };
        // Whoever is woken may look at once.
        wakers.into_values().for_each(wake);
    }

    /// Waits until it is over.
    pub(crate) fn wait(&self) {
        let mut state = lock(&self.state);
        while !state.over {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// A future that waits for the end of an ORB, and the place of its waker.
pub(crate) struct Waiter {
    orb: Orb,
    place: Option<u64>,
}

impl Waiter {
    pub(crate) fn new(orb: Orb) -> Self {
        Self { orb, place: None }
    }

    pub(crate) fn poll(&mut self, cx: &Context<'_>) -> Poll<()> {
        let mut state = lock(&self.orb.ending().state);
        if state.over {
            return Poll::Ready(());
        }
        let place = *self.place.get_or_insert_with(|| {
            state.waiters += 1;
            state.waiters
        });
        let before = state.wakers.insert(place, cx.waker().clone());
        // What a waker owns may look here when it is dropped.
        drop(state);
        drop(before);
        Poll::Pending
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let place = self.place.take();
        let waker = place.and_then(|place| lock(&self.orb.ending().state).wakers.remove(&place));
        drop(waker);
    }
}
