//! Which ports of bridges forward, so that there is one way between any two stations: the spanning tree protocol
//! (IEEE 802.1D-1998, clause 8).
//!
//! Bridges tell their neighbours who they think is the root, and how far away; they believe the best they hear. The root tells it
//! anew every two seconds, and who has not heard so for twenty looks for another way. A port waits for twice the delay before it
//! forwards, so that all others know by then. There is no input or output here: messages and the time go in, messages
//! come out.

mod bpdu;
mod port;
mod types;

use throughline_stack::smoltcp::{
    time::{Duration, Instant},
    wire::EthernetAddress,
};

use self::{
    bpdu::{Bpdu, Configuration},
    port::Port,
    types::{Claim, Seconds, Times},
};
use crate::PortId;

pub(crate) use self::bpdu::BRIDGES;
pub use self::{port::PortState, types::BridgeId};

/// The most ports: they have 12 bits.
pub(crate) const MOST_PORTS: usize = 4_095;
/// At most one message in that time by each port (8.10.2).
const HOLD: Duration = Duration::from_secs(1);
/// A claim is at least so much older at each bridge further on.
const AGE_STEP: Seconds = Seconds::whole(1);

/// How a bridge takes part in the spanning tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpanningTreeConfig {
    /// The bridge with the lowest priority, and of those the lowest address, is the root.
    pub priority: u16,
    /// If it is the root: how old what the others know of it may become, 6 to 40 s.
    pub max_age: Duration,
    /// How often it says that it is there, 1 to 10 s.
    pub hello: Duration,
    /// How long a port listens, and then learns, before it forwards: 2 to 30 s.
    pub forward_delay: Duration,
}

/// A port that takes part in the spanning tree.
#[derive(Clone, Copy, Debug)]
pub struct TreePort {
    /// Its address.
    pub hardware: EthernetAddress,
    /// What its link costs. The standard has 100 for 10 Mb/s, 19 for 100, 4 for 1,000 and 2 for 10,000.
    pub cost: u32,
    /// Among ports of a bridge to the same network, the one with the lowest is used: steps of 16.
    pub priority: u8,
    /// Whether only hosts are there: it forwards at once. If a bridge is heard there nevertheless, it is not believed, and the
    /// port is shut for as long.
    pub hosts: bool,
}

impl TreePort {
    /// A port to a network of 1,000 Mb/s, where there may be bridges.
    pub fn new(hardware: EthernetAddress) -> Self {
        Self { hardware, cost: 4, priority: 0x80, hosts: false }
    }
}

impl Default for SpanningTreeConfig {
    /// The standard's: priority 0x8000, 20 s, 2 s and 15 s.
    fn default() -> Self {
        let Times { max_age, hello, forward_delay } = Times::default();
        Self {
            priority: 0x8000,
            max_age: max_age.duration(),
            hello: hello.duration(),
            forward_delay: forward_delay.duration(),
        }
    }
}

impl SpanningTreeConfig {
    fn times(&self) -> Times {
        let Self { max_age, hello, forward_delay, .. } = self;
        Times {
            max_age: Seconds::of(*max_age),
            hello: Seconds::of(*hello),
            forward_delay: Seconds::of(*forward_delay),
        }
    }

    /// Whether the others could use these times, and would know of a change before a port forwards (8.10.2).
    pub fn are_times_possible(&self) -> bool {
        let Times { max_age, hello, forward_delay } = self.times();
        let [max_age, hello, delay] = [max_age, hello, forward_delay].map(|time| u32::from(time.0));
        self.times().are_possible()
            && 2 * (delay.saturating_sub(256)) >= max_age
            && max_age >= 2 * (hello + 256)
    }
}

/// What became of messages of bridges, and of the tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeCounts {
    /// Messages that were believed, or were no better than what was known.
    pub heard: u64,
    /// Messages that are none, or came where no bridge may be.
    pub refused: u64,
    /// Messages sent.
    pub said: u64,
    /// Changes of the tree that were noticed here, or told by bridges farther from the root.
    pub changes: u64,
}

/// The part of one bridge.
pub struct SpanningTree {
    id: BridgeId,
    own_times: Times,
    /// Those of the root.
    times: Times,
    root: BridgeId,
    /// The way to the root: what it costs, and which port it begins with.
    cost: u32,
    root_port: Option<usize>,
    ports: Vec<Port>,
    /// When the root says again that it is there.
    hello: Option<Instant>,
    /// When others are told again of a change.
    notice: Option<Instant>,
    /// A change was noticed here, and the root does not know yet.
    noticed: bool,
    /// The root has noticed a change, and says so until then.
    changing_until: Option<Instant>,
    /// The root says that something changes.
    changing: bool,
    said: Vec<(PortId, Bpdu)>,
    counts: TreeCounts,
}

impl SpanningTree {
    /// A bridge of which all links work.
    ///
    /// # Panics
    /// If there are no ports, or more than 4,095.
    pub fn new(config: &SpanningTreeConfig, ports: &[TreePort], now: Instant) -> Self {
        assert!((1..=MOST_PORTS).contains(&ports.len()), "1 to 4,095 ports");
        let address = ports.iter().map(|port| port.hardware).min().expect("ports");
        let id = BridgeId::new(config.priority, address);
        let ports = ports.iter().enumerate().map(|(number, port)| Port::new(number, port, id)).collect();
        let times = config.times();
        let mut tree = Self {
            id,
            own_times: times,
            times,
            root: id,
            cost: 0,
            root_port: None,
            ports,
            hello: Some(now),
            notice: None,
            noticed: false,
            changing_until: None,
            changing: false,
            said: Vec::new(),
            counts: TreeCounts::default(),
        };
        (0..tree.ports.len()).for_each(|port| tree.enable(port, now));
        tree
    }

    /// What a port may do.
    ///
    /// # Panics
    /// If there is no such port.
    pub fn state(&self, port: PortId) -> PortState {
        self.ports[port.index()].state
    }

    /// Who we are.
    pub fn id(&self) -> BridgeId {
        self.id
    }

    /// Who is the root, as far as is known here.
    pub fn root(&self) -> BridgeId {
        self.root
    }

    /// For how long stations are remembered while the tree changes; `None` if as long as ever.
    pub fn ageing(&self) -> Option<Duration> {
        self.changing.then(|| self.times.forward_delay.duration())
    }

    /// What was done so far.
    pub fn counts(&self) -> TreeCounts {
        self.counts
    }

    /// What another bridge has said: what follows the header of Ethernet.
    ///
    /// # Panics
    /// If there is no such port.
    pub fn receive(&mut self, port: PortId, bytes: &[u8], now: Instant) {
        let at = port.index();
        let bpdu = Bpdu::read(bytes).filter(|_| !self.ports[at].hosts);
        let Some(bpdu) = bpdu else {
            self.counts.refused += 1;
            if self.ports[at].hosts && bpdu::is_of_a_bridge(bytes) {
                self.guard(at, now);
            }
            return;
        };
        if !self.ports[at].is_on() {
            return;
        }
        self.counts.heard += 1;
        match bpdu {
            Bpdu::Configuration(heard) => self.learn(at, &heard, now),
            Bpdu::TopologyChange if self.ports[at].is_designated(self.id) => {
                self.notice_change(now);
                self.ports[at].acknowledge = true;
                self.say(at, now);
            }
            Bpdu::TopologyChange => {}
        }
    }

    /// Takes what is to be said, by which port, and says when there will be more to do.
    pub fn poll(&mut self, now: Instant, mut say: impl FnMut(PortId, Vec<u8>)) -> Option<Instant> {
        for at in 0..self.ports.len() {
            self.port_due(at, now);
        }
        if is_due(&mut self.hello, now) && self.is_root() {
            self.say_to_all(now);
            self.hello = Some(now + self.times.hello.duration());
        }
        if is_due(&mut self.notice, now) {
            self.tell_change(now);
        }
        if is_due(&mut self.changing_until, now) {
            (self.noticed, self.changing) = (false, false);
        }
        for (port, bpdu) in self.said.drain(..) {
            self.counts.said += 1;
            say(port, bpdu.bytes());
        }
        let own = [self.hello, self.notice, self.changing_until];
        self.ports.iter().map(Port::due).chain(own).flatten().min()
    }

    /// Says that the link of a port works, or does not.
    ///
    /// # Panics
    /// If there is no such port.
    pub fn set_link(&mut self, port: PortId, up: bool, now: Instant) {
        let at = port.index();
        self.ports[at].guarded = None;
        match (up, self.ports[at].is_on()) {
            (true, false) => self.enable(at, now),
            (false, true) => self.disable(at, now),
            _ => {}
        }
    }

    fn is_root(&self) -> bool {
        self.root == self.id
    }

    fn enable(&mut self, at: usize, now: Instant) {
        self.designate(at);
        let port = &mut self.ports[at];
        port.state = if port.hosts { PortState::Forwarding } else { PortState::Blocking };
        self.set_states(now);
        // Another bridge is to hear of us at once.
        self.say(at, now);
    }

    fn disable(&mut self, at: usize, now: Instant) {
        let was_root = self.is_root();
        self.designate(at);
        let port = &mut self.ports[at];
        port.state = PortState::Disabled;
        (port.next_state, port.hold) = (None, None);
        (port.pending, port.acknowledge) = (false, false);
        self.choose(now);
        self.became_root(was_root, now);
    }

    /// A bridge where there are to be hosts only: as if the link did not work, until none was heard for as long as a claim holds.
    fn guard(&mut self, at: usize, now: Instant) {
        if self.ports[at].is_on() {
            self.disable(at, now);
        } else if self.ports[at].guarded.is_none() {
            // The link does not work.
            return;
        }
        self.ports[at].guarded = Some(now + self.times.max_age.duration());
    }

    /// Another bridge's claim (8.7.1).
    fn learn(&mut self, at: usize, heard: &Configuration, now: Instant) {
        if heard.claim.bridge == self.id && heard.claim.port == self.ports[at].id {
            // Our own words.
            return;
        }
        if !self.is_better(at, &heard.claim) {
            if self.ports[at].is_designated(self.id) {
                self.say(at, now);
            }
            return;
        }
        let was_root = self.is_root();
        let port = &mut self.ports[at];
        port.claim = heard.claim;
        let left = heard.times.max_age.0 - heard.age.0;
        port.claim_ends = Some(now + Seconds(left).duration());
        self.choose(now);
        if was_root && !self.is_root() {
            (self.hello, self.changing_until) = (None, None);
            if self.noticed {
                self.tell_change(now);
            }
        }
        if self.root_port == Some(at) {
            self.times = heard.times;
            self.changing = heard.changing;
            self.say_to_all(now);
            if heard.acknowledged {
                (self.noticed, self.notice) = (false, None);
            }
        }
    }

    /// Whether a claim is better than what is known by a port, or by who made that one (8.6.2.2).
    fn is_better(&self, at: usize, claim: &Claim) -> bool {
        let known = self.ports[at].claim;
        let distance = |claim: &Claim| (claim.root, claim.cost, claim.bridge);
        match distance(claim).cmp(&distance(&known)) {
            std::cmp::Ordering::Less => true,
            std::cmp::Ordering::Equal => claim.bridge != self.id || claim.port <= known.port,
            std::cmp::Ordering::Greater => false,
        }
    }

    /// Finds the root, the way to it and the networks that we speak for, and what follows for the ports.
    fn choose(&mut self, now: Instant) {
        self.choose_root();
        for at in 0..self.ports.len() {
            if self.ports[at].is_on() && self.should_speak(at) {
                self.designate(at);
            }
        }
        self.set_states(now);
    }

    /// 8.6.8. Who claims to be so far away that we would be farther than can be said is no way to anywhere.
    fn choose_root(&mut self) {
        let id = self.id;
        let way = |(at, port): (usize, &Port)| {
            let Claim { root, cost, bridge, port: theirs } = port.claim;
            let known = port.is_on() && !port.is_designated(id) && root < id;
            let cost = cost.checked_add(port.cost).filter(|_| known)?;
            Some((root, cost, bridge, theirs, port.id, at))
        };
        let best = self.ports.iter().enumerate().filter_map(way).min();
        (self.root, self.cost, self.root_port) = match best {
            Some((root, cost, .., at)) => (root, cost, Some(at)),
            None => (id, 0, None),
        };
    }

    /// Whether nobody on the network of a port has a better way to the root (8.6.9).
    fn should_speak(&self, at: usize) -> bool {
        let port = &self.ports[at];
        let ours = Claim { root: self.root, cost: self.cost, bridge: self.id, port: port.id };
        port.is_designated(self.id) || port.claim.root != self.root || ours <= port.claim
    }

    /// 8.6.10.
    fn designate(&mut self, at: usize) {
        let port = &mut self.ports[at];
        port.claim = Claim { root: self.root, cost: self.cost, bridge: self.id, port: port.id };
        port.claim_ends = None;
    }

    /// 8.6.11.
    fn set_states(&mut self, now: Instant) {
        for at in 0..self.ports.len() {
            let port = &mut self.ports[at];
            let (root, designated) = (self.root_port == Some(at), port.is_designated(self.id));
            if root || !designated {
                (port.pending, port.acknowledge) = (false, false);
            }
            match port.state {
                PortState::Blocking if root || designated => {
                    port.state = PortState::Listening;
                    port.next_state = Some(now + self.times.forward_delay.duration());
                }
                PortState::Disabled | PortState::Blocking => {}
                _ if root || designated => {}
                was => {
                    (port.state, port.next_state) = (PortState::Blocking, None);
                    if was.learns() {
                        self.notice_change(now);
                    }
                }
            }
        }
    }

    /// If nobody better is known any more.
    fn became_root(&mut self, was_root: bool, now: Instant) {
        if was_root || !self.is_root() {
            return;
        }
        self.times = self.own_times;
        self.changing = false;
        self.noticed = false;
        self.notice_change(now);
        self.notice = None;
        self.say_to_all(now);
        self.hello = Some(now + self.times.hello.duration());
    }

    /// What time brings for a port.
    fn port_due(&mut self, at: usize, now: Instant) {
        if is_due(&mut self.ports[at].guarded, now) {
            self.enable(at, now);
        }
        if is_due(&mut self.ports[at].claim_ends, now) {
            let was_root = self.is_root();
            self.designate(at);
            self.choose(now);
            self.became_root(was_root, now);
        }
        if is_due(&mut self.ports[at].next_state, now) {
            self.advance(at, now);
        }
        if is_due(&mut self.ports[at].hold, now) && self.ports[at].pending {
            self.say(at, now);
        }
    }

    fn advance(&mut self, at: usize, now: Instant) {
        let port = &mut self.ports[at];
        port.state = match port.state {
            PortState::Listening => {
                port.next_state = Some(now + self.times.forward_delay.duration());
                PortState::Learning
            }
            PortState::Learning => PortState::Forwarding,
            other => other,
        };
        let speaks = self.ports.iter().any(|port| port.is_on() && port.is_designated(self.id));
        if self.ports[at].state == PortState::Forwarding && speaks {
            self.notice_change(now);
        }
    }

    /// 8.6.14.
    fn notice_change(&mut self, now: Instant) {
        self.counts.changes += 1;
        if self.is_root() {
            self.changing = true;
            let Times { max_age, forward_delay, .. } = self.times;
            self.changing_until = Some(now + max_age.duration() + forward_delay.duration());
        } else if !self.noticed {
            self.tell_change(now);
        }
        self.noticed = true;
    }

    /// Tells the next bridge on the way to the root, again and again until it has heard.
    fn tell_change(&mut self, now: Instant) {
        if let Some(root) = self.root_port {
            self.said.push((PortId(root as u16), Bpdu::TopologyChange));
            self.notice = Some(now + self.own_times.hello.duration());
        }
    }

    fn say_to_all(&mut self, now: Instant) {
        for at in 0..self.ports.len() {
            if self.ports[at].is_on() && self.ports[at].is_designated(self.id) {
                self.say(at, now);
            }
        }
    }

    /// Says what is known of the root, but not too often (8.6.1).
    fn say(&mut self, at: usize, now: Instant) {
        let age = self.root_port.and_then(|root| self.ports[root].claim_ends).map_or(Seconds(0), |ends| {
            let left = if ends > now { Seconds::of(ends - now) } else { Seconds(0) };
            Seconds(self.times.max_age.0.saturating_sub(left.0).saturating_add(AGE_STEP.0))
        });
        let (changing, times) = (self.changing, self.times);
        let port = &mut self.ports[at];
        if port.hold.is_some_and(|hold| hold > now) {
            port.pending = true;
            return;
        }
        port.pending = false;
        if age >= times.max_age {
            return;
        }
        let claim = Claim { root: self.root, cost: self.cost, bridge: self.id, port: port.id };
        let acknowledged = std::mem::take(&mut port.acknowledge);
        port.hold = Some(now + HOLD);
        let said = Configuration { changing, acknowledged, claim, age, times };
        self.said.push((PortId(at as u16), Bpdu::Configuration(said)));
    }
}

/// Whether a time has come, which is none any more then.
fn is_due(at: &mut Option<Instant>, now: Instant) -> bool {
    at.take_if(|at| *at <= now).is_some()
}
