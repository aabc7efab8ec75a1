//! The spanning tree of bridges and the networks between them: at no time a circle, and before long a way to everywhere.

use proptest::prelude::*;
use throughline_forward::{
    Bridge, BridgeConfig, BridgePort, HEADROOM, Outgoing, PortId, PortLabels, PortState, SpanningTree,
    SpanningTreeConfig, TreePort,
};
use throughline_stack::{
    Message,
    smoltcp::{
        time::{Duration, Instant},
        wire::EthernetAddress,
    },
};

const STEP: Duration = Duration::from_millis(250);
/// Until a claim is too old, and a port has listened and learnt; and some time for news to spread.
const CONVERGED_S: u64 = 20 + 2 * 15 + 8;

/// Where the ports of bridges are: `wires[bridge][port]` is a network.
struct World {
    trees: Vec<SpanningTree>,
    wires: Vec<Vec<usize>>,
    up: Vec<Vec<bool>>,
    networks: usize,
    now: Instant,
}

fn address(bridge: usize, port: usize) -> EthernetAddress {
    EthernetAddress([2, 0, 0, 0, bridge as u8, port as u8])
}

fn tree_ports(bridge: usize, ports: usize) -> Vec<TreePort> {
    (0..ports).map(|port| TreePort::new(address(bridge, port))).collect()
}

impl World {
    fn new(wires: Vec<Vec<usize>>) -> Self {
        let now = Instant::from_secs(1);
        let tree = |(bridge, ports): (usize, &Vec<usize>)| {
            SpanningTree::new(&SpanningTreeConfig::default(), &tree_ports(bridge, ports.len()), now)
        };
        let trees = wires.iter().enumerate().map(tree).collect();
        let networks = wires.iter().flatten().max().map_or(0, |most| most + 1);
        let up = wires.iter().map(|ports| vec![true; ports.len()]).collect();
        Self { trees, wires, up, networks, now }
    }

    /// Carries what bridges say until they say nothing more at this time.
    fn settle(&mut self) {
        for _ in 0..200 {
            let mut said = Vec::new();
            for (bridge, tree) in self.trees.iter_mut().enumerate() {
                tree.poll(self.now, |port, bytes| said.push((bridge, usize::from(port.0), bytes)));
            }
            if said.is_empty() {
                return;
            }
            for (from, by, bytes) in said {
                self.carry(from, by, &bytes);
            }
        }
        panic!("words without end");
    }

    fn carry(&mut self, from: usize, by: usize, bytes: &[u8]) {
        if !self.up[from][by] {
            return;
        }
        for bridge in 0..self.trees.len() {
            for port in 0..self.wires[bridge].len() {
                let there = self.wires[bridge][port] == self.wires[from][by] && self.up[bridge][port];
                if there && (bridge, port) != (from, by) {
                    self.trees[bridge].receive(PortId(port as u16), bytes, self.now);
                }
            }
        }
    }

    fn pass(&mut self, seconds: u64) {
        let until = self.now + Duration::from_secs(seconds);
        while self.now < until {
            self.settle();
            self.now += STEP;
        }
    }

    /// At no time is there a circle.
    fn run_for(&mut self, seconds: u64) {
        let until = self.now + Duration::from_secs(seconds);
        while self.now < until {
            self.settle();
            let (circle, _) = self.joined(|world, bridge, port| world.forwards(bridge, port));
            assert!(!circle, "a circle at {}", self.now);
            self.now += STEP;
        }
    }

    fn forwards(&self, bridge: usize, port: usize) -> bool {
        self.up[bridge][port] && self.trees[bridge].state(PortId(port as u16)).forwards()
    }

    /// Whether these ports close a circle, and what is joined by them: a number for each bridge, then for each network.
    fn joined(&self, by: impl Fn(&Self, usize, usize) -> bool) -> (bool, Vec<usize>) {
        let mut groups: Vec<usize> = (0..self.trees.len() + self.networks).collect();
        let mut circle = false;
        for bridge in 0..self.trees.len() {
            for port in (0..self.wires[bridge].len()).filter(|port| by(self, bridge, *port)) {
                let (one, other) = (groups[bridge], groups[self.trees.len() + self.wires[bridge][port]]);
                circle |= one == other;
                groups.iter_mut().filter(|group| **group == one).for_each(|group| *group = other);
            }
        }
        (circle, groups)
    }

    /// What can be reached is reached, and all who reach each other have the same root, the first of them.
    fn assert_converged(&self) {
        let (_, wires) = self.joined(|world, bridge, port| world.up[bridge][port]);
        let (circle, tree) = self.joined(Self::forwards);
        assert!(!circle);
        let all = self.trees.len() + self.networks;
        for one in 0..all {
            for other in one + 1..all {
                assert_eq!(wires[one] == wires[other], tree[one] == tree[other], "{one} and {other}");
            }
        }
        for (bridge, tree) in self.trees.iter().enumerate() {
            let first = (0..self.trees.len()).find(|other| wires[*other] == wires[bridge]).unwrap();
            assert_eq!(tree.root(), self.trees[first].id(), "the root of {bridge}");
        }
    }

    fn set_link(&mut self, bridge: usize, port: usize, up: bool) {
        self.up[bridge][port] = up;
        self.trees[bridge].set_link(PortId(port as u16), up, self.now);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// Whatever is connected with whatever, and whichever links fail and work again.
    #[test]
    fn there_is_never_a_circle_and_soon_a_way_to_everywhere(
        wires in prop::collection::vec(prop::collection::vec(0..6_usize, 1..5), 1..7),
        events in prop::collection::vec((0..7_usize, 0..5_usize, any::<bool>(), 0..40_u64), 0..12),
    ) {
        let mut world = World::new(wires);
        world.run_for(CONVERGED_S);
        world.assert_converged();
        for (bridge, port, up, seconds) in events {
            let bridge = bridge % world.trees.len();
            let port = port % world.wires[bridge].len();
            world.set_link(bridge, port, up);
            world.run_for(seconds);
        }
        world.run_for(CONVERGED_S);
        world.assert_converged();
    }

    /// Whatever strangers say: nothing breaks, and when they are silent there is a tree again.
    #[test]
    fn lies_are_forgotten(
        lies in prop::collection::vec((0..3_usize, 0..2_usize, prop::collection::vec(any::<u8>(), 38), 0..9_u64), 1..40),
    ) {
        let mut world = World::new(vec![vec![0, 1], vec![1, 2], vec![2, 0]]);
        world.run_for(40);
        for (bridge, port, bytes, pause) in lies {
            // Bytes of a message, but for what is drawn: who the root is, how far, and who says so.
            let mut said = [0x42, 0x42, 3, 0, 0, 0, 0].to_vec();
            said.extend(&bytes[..23]);
            said.extend([0, bytes[30] & 3, 20, 0, 2, 0, 15, 0]);
            world.trees[bridge].receive(PortId(port as u16), &said, world.now);
            world.trees[bridge].receive(PortId(port as u16), &bytes, world.now);
            world.settle();
            world.now += Duration::from_secs(pause);
        }
        // Who hears what others do not hear may close a circle, as long as he believes it.
        world.pass(CONVERGED_S);
        world.run_for(CONVERGED_S);
        world.assert_converged();
    }
}

#[test]
fn the_cheaper_way_to_the_root_is_used() {
    let mut world = World::new(vec![vec![0, 1], vec![0, 1]]);
    for cost in [4, 100] {
        let mut ports = tree_ports(1, 2);
        ports[0].cost = cost;
        world.trees[1] = SpanningTree::new(&SpanningTreeConfig::default(), &ports, world.now);
        world.run_for(CONVERGED_S);
        let states = [0, 1].map(|port| world.forwards(1, port));
        assert_eq!(states, [cost == 4, cost != 4], "with cost {cost}");
    }
}

#[test]
fn all_remember_stations_for_less_long_while_the_tree_changes() {
    // A row: the root is at one end.
    let mut world = World::new(vec![vec![0, 1], vec![1, 2], vec![2, 3, 4]]);
    world.run_for(2 * CONVERGED_S);
    let ageing = |world: &World| world.trees.iter().map(SpanningTree::ageing).collect::<Vec<_>>();
    assert_eq!(ageing(&world), [None; 3]);
    world.set_link(2, 2, false);
    world.run_for(5);
    assert_eq!(ageing(&world), [None; 3], "nobody is reached by another way");
    world.set_link(2, 2, true);
    // It listens and learns.
    world.run_for(29);
    assert_eq!(ageing(&world), [None; 3]);
    world.run_for(6);
    assert_eq!(ageing(&world), [Some(Duration::from_secs(15)); 3]);
    let changes = world.trees[0].counts().changes;
    world.run_for(20 + 15 + 4);
    assert_eq!(ageing(&world), [None; 3]);
    assert_eq!(world.trees[0].counts().changes, changes, "what was acknowledged is not told again");
}

#[test]
fn a_port_where_only_hosts_may_be_is_shut_while_a_bridge_is_heard() {
    let now = Instant::from_secs(1);
    let mut ports = tree_ports(1, 2);
    ports[1].hosts = true;
    let mut tree = SpanningTree::new(&SpanningTreeConfig::default(), &ports, now);
    assert_eq!(tree.state(PortId(1)), PortState::Forwarding, "at once");
    // Somebody says that he is the root.
    let mut lie = Vec::new();
    SpanningTree::new(&SpanningTreeConfig { priority: 0, ..Default::default() }, &tree_ports(0, 1), now)
        .poll(now, |_, bytes| lie = bytes);
    tree.receive(PortId(1), &lie, now);
    assert_eq!((tree.state(PortId(1)), tree.root()), (PortState::Disabled, tree.id()));
    tree.poll(now + Duration::from_secs(19), |_, _| ());
    tree.receive(PortId(1), &lie, now + Duration::from_secs(19));
    tree.poll(now + Duration::from_secs(21), |_, _| ());
    assert_eq!(tree.state(PortId(1)), PortState::Disabled, "still heard");
    tree.poll(now + Duration::from_secs(39), |_, _| ());
    assert_eq!(tree.state(PortId(1)), PortState::Forwarding);
    // Elsewhere it is believed.
    tree.receive(PortId(0), &lie, now + Duration::from_secs(39));
    assert_ne!(tree.root(), tree.id());
    assert_eq!(tree.counts().refused, 2);
}

/// A bridge of the rapid protocol speaks that until it has heard another, and one may have times that are not ours.
#[test]
fn a_port_where_only_hosts_may_be_is_shut_whatever_a_bridge_says() {
    let now = Instant::from_secs(1);
    let mut ports = tree_ports(1, 2);
    ports[1].hosts = true;
    // The rapid protocol's; none of a version that is known; one with times that are impossible.
    let rapid = [&[0x42, 0x42, 3, 0, 0, 2, 2, 0x3c, 0x80, 0][..], &[0; 29]].concat();
    let unknown = vec![0x42, 0x42, 3, 0, 0, 9, 9, 0, 0, 0];
    let timeless = [&[0x42, 0x42, 3, 0, 0, 0, 0, 0][..], &[0; 30]].concat();
    // Of no bridge: other users of the link, and another protocol.
    let others = [vec![0xaa, 0xaa, 3, 0, 0, 0, 0, 0], vec![0x42, 0x42, 3, 7, 7, 0, 0, 0], vec![0x42]];
    for (said, shuts) in [rapid, unknown, timeless]
        .map(|said| (said, true))
        .into_iter()
        .chain(others.map(|said| (said, false)))
    {
        let mut tree = SpanningTree::new(&SpanningTreeConfig::default(), &ports, now);
        tree.receive(PortId(1), &said, now);
        let state = if shuts { PortState::Disabled } else { PortState::Forwarding };
        assert_eq!((tree.state(PortId(1)), tree.counts().refused), (state, 1), "{said:?}");
    }
}

#[test]
fn who_is_infinitely_far_from_the_root_is_no_way_to_it() {
    let now = Instant::from_secs(1);
    let mut tree = SpanningTree::new(&SpanningTreeConfig::default(), &tree_ports(1, 1), now);
    let mut far = vec![0x42, 0x42, 3, 0, 0, 0, 0, 0];
    far.extend([0; 8]);
    far.extend([0xff; 4 + 8 + 2]);
    far.extend([0, 0, 20, 0, 2, 0, 15, 0]);
    tree.receive(PortId(0), &far, now);
    assert_eq!(tree.root(), tree.id());
    // One that costs less than everything is one.
    far[19] = 0xf0;
    tree.receive(PortId(0), &far, now);
    assert_ne!(tree.root(), tree.id());
    tree.poll(now + Duration::from_secs(21), |_, _| ());
    assert_eq!(tree.root(), tree.id());
}

#[test]
fn times_that_the_others_could_not_use_are_told() {
    let with = |max_age, hello, delay| {
        let [max_age, hello, forward_delay] = [max_age, hello, delay].map(Duration::from_secs);
        SpanningTreeConfig { max_age, hello, forward_delay, ..Default::default() }.are_times_possible()
    };
    assert!(with(20, 2, 15) && with(6, 1, 4) && with(40, 10, 30));
    assert!(!with(5, 1, 15) && !with(41, 2, 30) && !with(20, 11, 15) && !with(20, 2, 31) && !with(6, 0, 4));
    assert!(!with(6, 1, 3), "a port would forward before the others know");
    assert!(!with(20, 10, 15), "a claim would be too old before the next one");
}

/// Two bridges that both join two networks, and a host on each.
struct Circle {
    bridges: [Bridge; 2],
    out: Outgoing,
    now: Instant,
    /// Frames seen on each network.
    seen: [usize; 2],
}

impl Circle {
    fn new(spanned: bool) -> Self {
        let now = Instant::from_secs(1);
        let bridge = |number| {
            let ports = [BridgePort { labels: PortLabels::UNKNOWN, mtu: 1500 }; 2];
            let mut bridge = Bridge::new(&ports, BridgeConfig::default()).unwrap();
            if spanned {
                bridge.span(&SpanningTreeConfig::default(), &tree_ports(number, 2), now);
            }
            bridge
        };
        Self { bridges: [0, 1].map(bridge), out: Outgoing::new(1500, 64), now, seen: [0; 2] }
    }

    /// Carries frames until there are none, or too many.
    fn settle(&mut self) {
        let mut under_way = Vec::new();
        for turn in 0..2_000 {
            let turn = turn % 2;
            self.bridges[turn].poll(self.now, &mut self.out);
            under_way.extend(self.out.frames.drain(..).map(|(port, frame)| (turn, port, frame)));
            let Some((from, port, frame)) = under_way.pop() else { continue };
            self.seen[usize::from(port.0)] += usize::from(frame.bytes()[..2] != [1, 0x80]);
            self.bridges[1 - from].arrive(port, frame, self.now, &mut self.out);
            under_way.extend(self.out.frames.drain(..).map(|(port, frame)| (1 - from, port, frame)));
        }
    }

    fn run_for(&mut self, seconds: u64) {
        for _ in 0..seconds {
            self.settle();
            self.now += Duration::from_secs(1);
        }
    }

    /// A host of the first network sends to another, or to all.
    fn send(&mut self, to: EthernetAddress) -> [usize; 2] {
        let mut bytes = [0; 60];
        bytes[..6].copy_from_slice(&to.0);
        bytes[6..12].copy_from_slice(&[2, 0, 0, 1, 0, 1]);
        bytes[12..14].copy_from_slice(&[8, 0]);
        self.seen = [0; 2];
        for bridge in &mut self.bridges {
            bridge.arrive(PortId(0), Message::copied(HEADROOM, &bytes), self.now, &mut self.out);
        }
        // Both copies leave in turn.
        let frames: Vec<_> = self.out.frames.drain(..).collect();
        for (number, (port, frame)) in frames.into_iter().enumerate() {
            self.seen[usize::from(port.0)] += 1;
            let other = if self.bridges[0].spanning_tree().is_some() { 1 } else { 1 - number };
            self.bridges[other].arrive(port, frame, self.now, &mut self.out);
        }
        self.settle();
        self.seen
    }
}

#[test]
fn in_a_circle_of_bridges_each_network_gets_a_frame_once() {
    let mut circle = Circle::new(true);
    assert_eq!(circle.send(EthernetAddress::BROADCAST), [0, 0], "not yet");
    circle.run_for(CONVERGED_S);
    assert_eq!(circle.send(EthernetAddress::BROADCAST), [0, 1]);
    assert_eq!(circle.send(EthernetAddress([2, 0, 0, 1, 0, 99])), [0, 1], "nobody known");
    let blocked: u64 = circle.bridges.iter().map(|bridge| bridge.counts().blocked).sum();
    assert!(blocked >= 4, "{blocked}");
    let states: Vec<PortState> =
        [0, 1].map(|n| circle.bridges[1].spanning_tree().unwrap().state(PortId(n))).into();
    assert_eq!(states, [PortState::Forwarding, PortState::Blocking]);

    // The root's way to the second network fails: the other bridge goes by it then.
    circle.bridges[0].set_link(PortId(1), false, circle.now);
    circle.run_for(CONVERGED_S);
    let tree = circle.bridges[1].spanning_tree().unwrap();
    assert_eq!([0, 1].map(|n| tree.state(PortId(n))), [PortState::Forwarding; 2]);
}

#[test]
fn without_a_tree_they_send_a_frame_round_and_round() {
    let mut circle = Circle::new(false);
    let seen = circle.send(EthernetAddress::BROADCAST);
    assert!(seen.iter().sum::<usize>() > 100, "{seen:?}");
}
