//! Two endpoints, the network between them, and a clock that jumps to whatever happens next.

use std::{
    cmp::{Ordering, Reverse},
    collections::BinaryHeap,
    time::Duration,
};

use throughline_demux::Slot;
use throughline_vi::reliable::{Config, Connection, Ecn, Endpoint, EndpointConfig, Event, Handled, Level};

use crate::link::{Conditions, Delivery, Link, Random};

pub type Side = usize;
pub type Message = Vec<u8>;
pub type Events = Vec<(Slot, Event<Message, Message>)>;
/// The opener's side, and the other one's.
pub const CLIENT: Side = 0;
pub const SERVER: Side = 1;

struct OnTheWay {
    delivery: Delivery,
    order: u64,
    to: Side,
}

impl PartialEq for OnTheWay {
    fn eq(&self, other: &Self) -> bool {
        self.order == other.order
    }
}
impl Eq for OnTheWay {}
impl PartialOrd for OnTheWay {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for OnTheWay {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.delivery.at, self.order).cmp(&(other.delivery.at, other.order))
    }
}

/// What a server does with a connection that it has accepted.
pub type OnAccept = Box<dyn FnMut(&mut Connection<Message, Message>)>;

pub struct World {
    pub now: Duration,
    pub config: Config,
    pub ends: [Endpoint<Side, Message, Message>; 2],
    /// By the side that sends.
    pub links: [Link; 2],
    pub accepts: bool,
    pub on_accept: OnAccept,
    pub accepted: Vec<Slot>,
    on_the_way: BinaryHeap<Reverse<OnTheWay>>,
    order: u64,
    buffer: Vec<u8>,
    /// Datagrams sent, by side.
    pub sent: [u64; 2],
    /// How likely a side does not take its events, when something happened to it: it is busy.
    pub busy: [f64; 2],
    random: Random,
}

impl World {
    pub fn new(config: Config, conditions: Conditions, seed: u64) -> Self {
        Self::with_endpoints(config, conditions, seed, EndpointConfig::default())
    }

    pub fn with_endpoints(config: Config, conditions: Conditions, seed: u64, ends: EndpointConfig) -> Self {
        let endpoint = |seed| {
            let mut random = Random(seed);
            Endpoint::new(ends.clone(), move || random.next())
        };
        Self {
            now: Duration::from_secs(1),
            config,
            ends: [endpoint(seed ^ 0xaaaa), endpoint(seed ^ 0xbbbb)],
            links: [Link::new(conditions, seed ^ 1), Link::new(conditions, seed ^ 2)],
            accepts: true,
            on_accept: Box::new(|_| ()),
            accepted: Vec::new(),
            on_the_way: BinaryHeap::new(),
            order: 0,
            buffer: vec![0; 65_536],
            sent: [0; 2],
            busy: [0.0; 2],
            random: Random(seed ^ 3),
        }
    }

    pub fn open(&mut self, level: Level) -> Slot {
        let (config, now) = (self.config.clone(), self.now);
        self.ends[CLIENT].open(&config, SERVER, level, b"name", now).unwrap()
    }

    pub fn connection(&mut self, side: Side, slot: Slot) -> &mut Connection<Message, Message> {
        self.ends[side].connection(slot).expect("a connection")
    }

    /// Hands everything that wants to be sent to the network.
    pub fn flush(&mut self, side: Side) {
        while let Some((to, transmit)) = self.ends[side].transmit(self.now, &mut self.buffer) {
            self.sent[side] += 1;
            let (order, heap) = (&mut self.order, &mut self.on_the_way);
            self.links[side].carry(self.now, &self.buffer[..transmit.length], transmit.ect, |delivery| {
                *order += 1;
                heap.push(Reverse(OnTheWay { delivery, order: *order, to }));
            });
        }
    }

    /// Puts a datagram before an endpoint.
    pub fn deliver(&mut self, to: Side, from: Side, ecn: Ecn, octets: &[u8]) -> Handled<Side> {
        let handled = self.ends[to].handle(self.now, from, ecn, octets);
        let Handled::Incoming(incoming) = handled else { return handled };
        if !self.accepts {
            return handled;
        }
        let Ok(slot) = self.ends[to].accept(&self.config, &incoming, self.now) else { return handled };
        self.accepted.push(slot);
        (self.on_accept)(self.ends[to].connection(slot).expect("just accepted"));
        self.ends[to].handle(self.now, from, ecn, octets)
    }

    /// When anything happens next.
    pub fn next(&self) -> Option<Duration> {
        let delivery = self.on_the_way.peek().map(|first| first.0.delivery.at);
        [delivery, self.ends[0].timeout(), self.ends[1].timeout()].into_iter().flatten().min()
    }

    /// Lets the next thing happen; `None` if nothing will. Events are of the side that something happened to, before it
    /// sends anything.
    pub fn step(&mut self) -> Option<(Side, Events)> {
        let Some(at) = self.next() else { return self.at_last() };
        assert!(at < Duration::from_secs(1_000_000), "time runs away");
        self.now = self.now.max(at);
        let side = if let Some(Reverse(next)) = self.on_the_way.peek()
            && next.delivery.at <= self.now
        {
            let Reverse(OnTheWay { delivery, to, .. }) = self.on_the_way.pop().expect("there");
            self.deliver(to, 1 - to, delivery.ecn, &delivery.octets);
            to
        } else {
            let side = if self.ends[0].timeout().is_some_and(|at| at <= self.now) { 0 } else { 1 };
            self.ends[side].handle_timeout(self.now);
            side
        };
        let busy = self.random.chance(self.busy[side]);
        Some((side, if busy { Events::new() } else { self.events(side) }))
    }

    /// The events of a side that was busy until nothing happened any more.
    fn at_last(&mut self) -> Option<(Side, Events)> {
        (0..2).map(|side| (side, self.events(side))).find(|(_, events)| !events.is_empty())
    }

    pub fn events(&mut self, side: Side) -> Events {
        std::iter::from_fn(|| self.ends[side].event(self.now)).collect()
    }

    /// Lets things happen until `done` says so or nothing more happens; both sides send at once whatever they can.
    pub fn run(
        &mut self,
        mut each: impl FnMut(&mut Self, Side, Slot, Event<Message, Message>) -> bool,
    ) -> bool {
        (0..2).for_each(|side| self.flush(side));
        while let Some((side, events)) = self.step() {
            for (slot, event) in events {
                if each(self, side, slot, event) {
                    return true;
                }
            }
            self.flush(side);
        }
        false
    }

    /// As [`run`](Self::run), until a time.
    pub fn run_until(
        &mut self,
        end: Duration,
        mut each: impl FnMut(&mut Self, Side, Slot, Event<Message, Message>),
    ) {
        (0..2).for_each(|side| self.flush(side));
        while self.next().is_some_and(|at| at <= end) {
            let (side, events) = self.step().expect("there is a next");
            events.into_iter().for_each(|(slot, event)| each(self, side, slot, event));
            self.flush(side);
        }
        self.now = end;
    }
}

/// A message that tells which it is, of so many octets.
pub fn message(seed: u64, number: u64, length: usize) -> Message {
    let mut random = Random(seed ^ number << 32);
    let mut octets = Vec::with_capacity(length + 8);
    while octets.len() < length {
        octets.extend_from_slice(&random.next().to_le_bytes());
    }
    octets.truncate(length);
    octets
}
