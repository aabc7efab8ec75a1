//! The same flows in real time, over a veth pair whose one end is a bad wire.

use std::net::Ipv4Addr;
use std::time::{Duration, Instant as Clock};

use throughline_forward::{HEADROOM, Label, Outgoing, Packet as Seen, PortId};
use throughline_stack::smoltcp::time::{Duration as Time, Instant};
use throughline_stack::{Device, Faults, Faulty, Message, Packet, Pool};
use throughline_wire::Flow;

use super::frames::{answer, hashed, indexed, packet};
use super::node::{Node, Scheme};
use super::table::{INNER, OUTER, host};
use crate::LabError;
use crate::experiments::paths::failed;
use crate::experiments::priority::wire;

/// There and back.
pub(super) const ROUND_TRIP: Duration = Duration::from_millis(2);
/// When nothing comes for so long, something was lost.
const PATIENCE: Duration = Duration::from_secs(2);

/// Milliseconds until a flow's last packet was sent on, for each flow; or why there is no veth pair here.
pub(super) fn run(
    node: &mut Node,
    flows: impl Iterator<Item = (Scheme, Ipv4Addr, u32)> + Send,
) -> Result<Result<Vec<f64>, String>, LabError> {
    let run = || {
        let mut world = World::new(node)?;
        flows.map(|(scheme, destination, packets)| world.flow(scheme, destination, packets)).collect()
    };
    wire::in_namespace(run).map_or_else(|why| Ok(Err(why)), |times: Result<_, LabError>| times.map(Ok))
}

/// The source and the node, both on this thread. What the node sends on has arrived.
struct World<'n> {
    node: &'n mut Node,
    source: Faulty<Packet>,
    inner: Packet,
    pool: Pool,
    out: Outgoing,
    begun: Clock,
}

impl<'n> World<'n> {
    fn new(node: &'n mut Node) -> Result<Self, LabError> {
        let [source, inner] = wire::veth()?;
        let latency = Time::from_micros(ROUND_TRIP.as_micros() as u64 / 2);
        let faults = Faults { latency, ..Faults::default() };
        Ok(Self {
            node,
            source: Faulty::new(source, faults, faults, 1),
            inner,
            pool: Pool::new(2048, HEADROOM, 2048),
            out: Outgoing::new(1500, 2048),
            begun: Clock::now(),
        })
    }

    fn now(&mut self) -> Instant {
        let now = Instant::from_micros(self.begun.elapsed().as_micros() as i64);
        self.source.clock(now);
        now
    }

    fn flow(&mut self, scheme: Scheme, destination: Ipv4Addr, packets: u32) -> Result<f64, LabError> {
        let now = self.now();
        self.node.meet(now, &mut self.out);
        let flow = self.node.fresh();
        let threaded = indexed(self.node.index_of(destination));
        let started = Clock::now();
        let label = match scheme {
            Scheme::Datagram => None,
            Scheme::SourceHash => Some(hashed(flow)),
            Scheme::Threaded => Some(threaded),
            Scheme::Circuit => Some(indexed(self.circuit(destination, flow)?)),
        };
        self.send(scheme, destination, label, packets)?;
        let took = started.elapsed().as_secs_f64() * 1e3;
        self.node.over();
        Ok(took)
    }

    fn circuit(&mut self, destination: Ipv4Addr, flow: Flow) -> Result<u32, LabError> {
        self.send(Scheme::Circuit, destination, Some(hashed(flow)), 1)?;
        let request = self.out.frames.pop().ok_or_else(|| failed("a circuit's first packet is lost"))?.1;
        let answer = answer(request.bytes())?;
        let now = self.now();
        self.node.arrive(Scheme::Circuit, OUTER, answer, now, &mut self.out)?;
        for (_, frame) in self.out.frames.drain(..) {
            self.inner.send(frame, &mut self.pool).map_err(|(_, error)| error)?;
        }
        self.inner.flush()?;
        let asked = Clock::now();
        while asked.elapsed() < PATIENCE {
            self.now();
            let Some(frame) = self.source.receive(&mut self.pool)? else { continue };
            if let Some(label) = Seen::of(frame.bytes()).ok().and_then(|seen| seen.label) {
                return Ok(label.flow.source_hash);
            }
        }
        Err(failed("a circuit's answer is lost"))
    }

    /// Sends all packets at once, and takes them through the node as they come.
    fn send(
        &mut self,
        scheme: Scheme,
        destination: Ipv4Addr,
        label: Option<Label>,
        packets: u32,
    ) -> Result<(), LabError> {
        self.out.frames.drain(..).for_each(|(_, frame)| self.out.pool.give(frame));
        self.now();
        for _ in 0..packets {
            let frame = packet(destination, label)?;
            self.source.send(frame, &mut self.pool).map_err(|(_, error)| error)?;
        }
        let asked = Clock::now();
        while (self.out.frames.len() as u32) < packets {
            let now = self.now();
            // What is due leaves; nothing comes but what strangers send.
            while let Some(frame) = self.source.receive(&mut self.pool)? {
                self.pool.give(frame);
            }
            self.source.flush()?;
            while let Some(frame) = self.inner.receive(&mut self.pool)? {
                self.take(scheme, INNER, frame, now)?;
            }
            if asked.elapsed() > PATIENCE {
                return Err(failed("a packet is lost on the veth pair"));
            }
        }
        Ok(())
    }

    /// Only the source's: the kernel may have something to say too.
    fn take(&mut self, scheme: Scheme, port: PortId, frame: Message, now: Instant) -> Result<(), LabError> {
        let ours = Seen::of(frame.bytes()).is_ok_and(|seen| seen.source() == host(INNER, 2).hardware);
        if ours {
            self.node.arrive(scheme, port, frame, now, &mut self.out)?;
        } else {
            self.pool.give(frame);
        }
        Ok(())
    }
}
