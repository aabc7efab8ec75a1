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

    /// Has `send` send one datagram, if `write` writes any: its length. If `send` says that there is no room for it, it is what is
    /// to leave next. Nothing waits to leave before.
    #[inline]
    pub(crate) fn pass(
        &mut self,
        write: impl FnOnce(&mut [u8]) -> Option<(A, Transmit)>,
        send: impl FnOnce(&Run<A>, &[u8]) -> bool,
    ) -> Option<usize> {
        debug_assert!(self.is_empty(), "datagrams leave in order");
        let (to, Transmit { length, ect }) = write(&mut self.buffer[..MOST])?;
        let run = Run { to, ect, segment: length, octets: length };
        if !send(&run, &self.buffer[..length]) {
            self.run = Some(run);
        }
        Some(length)
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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::reliable::{Config, Ecn, EndpointConfig, Event, Handled, Level};
    use throughline_demux::{OsNonces, Slot};

    const NOW: Duration = Duration::from_secs(1);

    type End = Endpoint<u8, Vec<u8>, Vec<u8>>;

    fn end() -> End {
        Endpoint::new(EndpointConfig::default(), OsNonces::default())
    }

    /// Whoever is reached has room for messages. Which connection was accepted, if any.
    fn carry(from: &mut End, to: &mut End) -> Option<Slot> {
        let (mut buffer, mut accepted) = (vec![0; 2_000], None);
        while let Some((_, transmit)) = from.transmit(NOW, &mut buffer) {
            let datagram = &buffer[..transmit.length];
            if let Handled::Incoming(incoming) = to.handle(NOW, 0, Ecn::NotCapable, datagram) {
                let slot = to.accept(&Config::data_center(), &incoming, NOW).unwrap();
                let connection = to.connection(slot).unwrap();
                (0..8).for_each(|_| connection.post_receive(vec![0; 64]).unwrap());
                to.handle(NOW, 0, Ecn::NotCapable, datagram);
                accepted = Some(slot);
            }
        }
        while to.event(NOW).is_some() {}
        accepted
    }

    fn pass(
        batch: &mut Batch<u8>,
        from: &mut End,
        slot: Slot,
        text: &[u8],
        sent: impl FnOnce(&[u8]) -> bool,
    ) {
        let passed = batch.pass(|buffer| from.write_short(slot, NOW, text, buffer), |_, octets| sent(octets));
        from.short_left(slot, NOW, text.to_vec(), passed.expect("nothing is in the way"));
    }

    #[test]
    fn what_there_is_no_room_for_waits_with_a_number_of_its_own() {
        let (mut one, mut other, mut batch) = (end(), end(), Batch::new());
        let slot = one.open(&Config::data_center(), 0, Level::Delivery, b"", NOW).unwrap();
        let peer = carry(&mut one, &mut other).unwrap();
        for _ in 0..3 {
            carry(&mut other, &mut one);
            carry(&mut one, &mut other);
        }
        let (mut first, mut second) = (Vec::new(), Vec::new());
        pass(&mut batch, &mut one, slot, b"first", |octets| {
            first.extend_from_slice(octets);
            false
        });
        let (run, octets) = batch.run().expect("it waits");
        assert_eq!((run.octets, octets), (first.len(), &first[..]));
        // Nothing of it is sent by another way.
        assert!(one.transmit(NOW, &mut [0; 2_000]).is_none());
        batch.left();
        pass(&mut batch, &mut one, slot, b"second", |octets| {
            second.extend_from_slice(octets);
            true
        });
        assert!(batch.is_empty());
        for (datagram, text) in [(&first, &b"first"[..]), (&second, b"second")] {
            assert_eq!(other.handle(NOW, 0, Ecn::NotCapable, datagram), Handled::Connection(peer));
            let messages = std::iter::from_fn(|| other.event(NOW));
            let received = messages.filter_map(|(_, event)| match event {
                Event::Received(buffer, arrived) => Some(buffer[..arrived.unwrap().length].to_vec()),
                _ => None,
            });
            assert_eq!(received.collect::<Vec<_>>(), [text]);
        }
        other.handle(NOW, 0, Ecn::NotCapable, &first);
        assert_eq!(other.peek(peer).unwrap().stats().duplicates, 1, "the number was used once");
        carry(&mut other, &mut one);
        assert_eq!(one.peek(slot).unwrap().stats().lost, 0);
        assert!(one.peek(slot).unwrap().all_sent());
    }
}
