//! Bells: to learn from outside that there is something to do for a VI, while its owner may be at work with it.

use crate::fabric::Doorbell;
use std::{
    fmt,
    os::fd::{AsFd, BorrowedFd},
    sync::Arc,
};

/// Tells whether something happened on a connected VI, to any thread. Whoever serves many VIs by many threads builds on it;
/// one thread does better with a [`CompletionQueue`](crate::CompletionQueue).
///
/// To sleep: [`arm`](Self::arm), look once more whether the VI is [`ready`](Self::ready), wait until the file is readable,
/// [`disarm`](Self::disarm), and [`drain`](Self::drain) it if it was. One thread at a time sleeps on a VI, be it by its bell, by its
/// completion queue, or in a call of its own that waits: who wakes up takes away what another one would have been woken by.
///
/// No bell rings when the time is over that a peer has to take note of a message's memory
/// ([`CompletionError::Unheeded`](crate::CompletionError::Unheeded)): who sends such polls when that may be.
#[derive(Clone)]
pub struct Bell(Arc<dyn Doorbell>);

impl Bell {
    pub(crate) fn new(doorbell: Arc<dyn Doorbell>) -> Self {
        Self(doorbell)
    }

    /// Whether the VI should be polled: a message may be there, or its connection is over.
    #[inline]
    pub fn ready(&self) -> bool {
        self.0.ready()
    }

    /// From now on whatever happens makes the file readable. What happened before must be looked for once more.
    pub fn arm(&self) {
        self.0.arm();
    }

    /// As [`arm`](Self::arm), for those who can sleep in two parts, which makes the peer's messages cheaper. If true, sleep for a
    /// [`NAP`](crate::NAP) at most; if nothing has ended that, ask for a [`fence`](Self::fence), look once more, and sleep
    /// for as long as you like. Where nothing but this is used to sleep it is true wherever it can be.
    pub fn doze(&self) -> bool {
        self.0.doze()
    }

    /// The second part of a sleep can begin, of all bells of this fabric that were armed by [`doze`](Self::doze).
    pub fn fence(&self) {
        self.0.fence();
    }

    /// Nobody sleeps any longer.
    pub fn disarm(&self) {
        self.0.disarm();
    }

    /// Takes from the file what made it readable. Only this way it is noticed that the peer is gone.
    pub fn drain(&self) {
        self.0.drain();
    }
}

impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.fd()
    }
}

impl fmt::Debug for Bell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bell(ready: {})", self.ready())
    }
}
