//! Datagrams that may leave by one system call: to one address, of one length but for the last.

use std::{hash::Hash, time::Duration};

use super::{Endpoint, Sink, Source, Transmit};

/// The most octets that the system takes at once.
const MOST: usize = 65_507;

/// Datagrams to leave next.
pub(crate) struct Batch<A> {
    buffer: Box<[u8]>,
    run: Option<Run<A>>,
    /// A datagram that did not fit into the run, and where it is.
    next: Option<(Run<A>, usize)>,
}

/// Datagrams that leave together.
#[derive(Clone, Copy)]
pub(crate) struct Run<A> {
    pub(crate) to: A,
    /// Whether queues may mark them.
    pub(crate) ect: bool,
    /// Octets of each datagram but the last.
    pub(crate) segment: usize,
    /// Octets of all of them.
    pub(crate) octets: usize,
}

impl<A: Copy + Eq + Hash> Batch<A> {
    /// Empty.
    pub(crate) fn new() -> Self {
        Self { buffer: vec![0; 2 * MOST].into(), run: None, next: None }
    }

    /// Whether nothing waits to leave.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.run.is_none() && self.next.is_none()
    }

    /// Takes one datagram to leave next, which `write` writes. Nothing waits to leave.
    #[inline]
    pub(crate) fn put<E>(
        &mut self,
        write: impl FnOnce(&mut [u8]) -> Result<(A, Transmit), E>,
    ) -> Result<(), E> {
        let (to, Transmit { length, ect }) = write(&mut self.buffer[..MOST])?;
        self.run = Some(Run { to, ect, segment: length, octets: length });
        Ok(())
    }

    /// What is to leave now, if [`fill`](Self::fill) found anything. To be [taken](Self::left) out once it has.
    #[inline]
    pub(crate) fn run(&self) -> Option<(Run<A>, &[u8])> {
        self.run.map(|run| (run, &self.buffer[..run.octets]))
    }

    /// The run has left, or is lost.
    #[inline]
    pub(crate) fn left(&mut self) {
        self.run = None;
    }

    /// Takes up to `most` datagrams from an endpoint. Returns whether there are any. What was there before must have left.
    pub(crate) fn fill<S: Source, R: Sink>(
        &mut self,
        now: Duration,
        endpoint: &mut Endpoint<A, S, R>,
        most: usize,
    ) -> bool {
        let mut run = match self.next.take() {
            Some((run, at)) => {
                self.buffer.copy_within(at..at + run.octets, 0);
                run
            }
            None => match transmit(now, endpoint, &mut self.buffer[..MOST]) {
                Some(run) => run,
                None => return false,
            },
        };
        while run.octets / run.segment < most
            && run.octets % run.segment == 0
            && run.octets + run.segment <= MOST
        {
            let at = run.octets;
            let Some(next) = transmit(now, endpoint, &mut self.buffer[at..at + MOST]) else { break };
            let joins = next.to == run.to && next.ect == run.ect && next.octets <= run.segment;
            if !joins {
                self.next = Some((next, at));
                break;
            }
            run.octets += next.octets;
        }
        self.run = Some(run);
        true
    }
}

fn transmit<A: Copy + Eq + Hash, S: Source, R: Sink>(
    now: Duration,
    endpoint: &mut Endpoint<A, S, R>,
    buffer: &mut [u8],
) -> Option<Run<A>> {
    let (to, transmit) = endpoint.transmit(now, buffer)?;
    Some(Run { to, ect: transmit.ect, segment: transmit.length, octets: transmit.length })
}
