//! Flows through the node over a wire with delay, in virtual time: the node decides which lookup each packet needs, and the
//! clock goes on by what such a lookup takes.

use std::net::Ipv4Addr;

use throughline_forward::{HEADROOM, Label, Outgoing, Packet, PortId};
use throughline_stack::smoltcp::time::{Duration, Instant};
use throughline_stack::{Device, End, Faults, Faulty, PairConfig, Pool, pair};
use throughline_wire::Flow;

use super::frames::{answer, hashed, indexed, packet};
use super::node::{Lookup, Node, Scheme};
use super::table::{INNER, OUTER};
use crate::LabError;
use crate::experiments::paths::failed;
use crate::model::Hop;

/// Nanoseconds of a microsecond, in which devices know the time.
const MICROSECOND: f64 = 1000.0;

/// What became of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Outcome {
    /// Until its last packet was sent on by the node, in nanoseconds.
    pub(crate) total: f64,
    /// Packets of the flow that took the long way.
    pub(crate) long: u32,
    /// Those that were found by an index.
    pub(crate) short: u32,
}

/// A source, a wire, and the node.
pub(super) struct World<'n> {
    node: &'n mut Node,
    source: Faulty<End>,
    inner: End,
    pool: Pool,
    out: Outgoing,
    /// What lookups take, in nanoseconds.
    hop: Hop,
    now: Instant,
    /// Until when the node is at work, in nanoseconds.
    busy: f64,
}

impl<'n> World<'n> {
    /// One in which the round trip and the lookups take so many nanoseconds.
    pub(super) fn new(node: &'n mut Node, hop: Hop) -> Self {
        let (source, inner) = pair(&PairConfig::default());
        let latency = Duration::from_micros((hop.round_trip / 2.0 / MICROSECOND) as u64);
        let faults = Faults { latency, ..Faults::default() };
        Self {
            node,
            source: Faulty::new(source, faults, faults, 1),
            inner,
            pool: Pool::new(2048, HEADROOM, 2048),
            out: Outgoing::new(1500, 2048),
            hop,
            now: Instant::ZERO,
            busy: 0.0,
        }
    }

    /// A new flow of so many packets to a destination, from its first thought on.
    pub(super) fn flow(
        &mut self,
        scheme: Scheme,
        destination: Ipv4Addr,
        packets: u32,
    ) -> Result<Outcome, LabError> {
        self.now += Duration::from_secs(1);
        self.source.clock(self.now);
        self.node.meet(self.now, &mut self.out);
        let begun = nanoseconds(self.now);
        self.busy = begun;
        let flow = self.node.fresh();
        let label = match scheme {
            Scheme::Datagram => None,
            Scheme::SourceHash => Some(hashed(flow)),
            Scheme::Threaded => Some(indexed(self.node.index_of(destination))),
            Scheme::Circuit => Some(indexed(self.circuit(destination, flow)?)),
        };
        let outcome = self.send(scheme, destination, label, packets)?;
        self.node.over();
        Ok(Outcome { total: self.busy - begun, ..outcome })
    }

    /// Sets a circuit up: a packet to the destination and its answer, which bears the index.
    fn circuit(&mut self, destination: Ipv4Addr, flow: Flow) -> Result<u32, LabError> {
        let scheme = Scheme::Circuit;
        self.send(scheme, destination, Some(hashed(flow)), 1)?;
        let request = self.out.frames.pop().ok_or_else(|| failed("a circuit's first packet is lost"))?.1;
        self.out.frames.clear();
        let answer = answer(request.bytes())?;
        self.arrive(scheme, OUTER, answer)?;
        self.at(self.busy);
        for (_, frame) in self.out.frames.drain(..) {
            self.inner.send(frame, &mut self.pool).map_err(|(_, error)| error)?;
        }
        loop {
            if let Some(frame) = self.source.receive(&mut self.pool)? {
                let label = Packet::of(frame.bytes()).map_err(failed)?.label;
                return Ok(label.map_or(0, |label| label.flow.source_hash));
            }
            let due = self.source.poll_at().ok_or_else(|| failed("a circuit's answer is lost"))?;
            self.at(nanoseconds(due));
        }
    }

    /// The source sends packets at once, and the node sends them on one after the other.
    fn send(
        &mut self,
        scheme: Scheme,
        destination: Ipv4Addr,
        label: Option<Label>,
        packets: u32,
    ) -> Result<Outcome, LabError> {
        for (_, frame) in self.out.frames.drain(..) {
            self.out.pool.give(frame);
        }
        for _ in 0..packets {
            let frame = packet(destination, label)?;
            self.source.send(frame, &mut self.pool).map_err(|(_, error)| error)?;
        }
        let mut outcome = Outcome { total: 0.0, long: 0, short: 0 };
        while let Some(due) = self.source.poll_at() {
            self.at(nanoseconds(due));
            // Nothing has come, but what is due has been sent.
            if self.source.receive(&mut self.pool)?.is_some() {
                return Err(failed("the source got what it did not ask for"));
            }
            while let Some(frame) = self.inner.receive(&mut self.pool)? {
                match self.arrive(scheme, INNER, frame)? {
                    Lookup::Long => outcome.long += 1,
                    Lookup::Short => outcome.short += 1,
                }
            }
        }
        match (outcome.long + outcome.short, self.out.frames.len() as u32) {
            (looked, sent) if looked == packets && sent == packets => Ok(outcome),
            (_, sent) => Err(failed(format!("{sent} of {packets} packets were sent on"))),
        }
    }

    /// The node is at work on a packet when it is there and all before it are done.
    fn arrive(
        &mut self,
        scheme: Scheme,
        port: PortId,
        frame: throughline_stack::Message,
    ) -> Result<Lookup, LabError> {
        let lookup = self.node.arrive(scheme, port, frame, self.now, &mut self.out)?;
        let lookup = lookup.ok_or_else(|| failed("a packet was not sent on"))?;
        let takes = if lookup == Lookup::Long { self.hop.long } else { self.hop.short };
        self.busy = self.busy.max(nanoseconds(self.now)) + takes;
        Ok(lookup)
    }

    /// The time is so many nanoseconds, or the next microsecond.
    fn at(&mut self, nanoseconds: f64) {
        self.now = self.now.max(Instant::from_micros((nanoseconds / MICROSECOND).ceil() as i64));
        self.source.clock(self.now);
    }
}

fn nanoseconds(time: Instant) -> f64 {
    time.total_micros() as f64 * MICROSECOND
}
