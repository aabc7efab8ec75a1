//! What strangers say to a bridge of the spanning tree, links that fail, and time: when all is quiet and whole it is alone, and
//! all its ports forward.
#![no_main]

use libfuzzer_sys::fuzz_target;
use throughline_forward::{PortId, PortState, SpanningTree, SpanningTreeConfig, TreePort};
use throughline_stack::smoltcp::{
    time::{Duration, Instant},
    wire::EthernetAddress,
};

const PORTS: u16 = 3;

fuzz_target!(|input: &[u8]| {
    let port = |number: u16| TreePort {
        hosts: number == 2,
        ..TreePort::new(EthernetAddress([2, 0, 0, 0, 1, number as u8]))
    };
    let ports: Vec<TreePort> = (0..PORTS).map(port).collect();
    let mut now = Instant::from_secs(1);
    let mut tree = SpanningTree::new(&SpanningTreeConfig::default(), &ports, now);
    let mut rest = input;
    while let [what, value, more @ ..] = rest {
        let port = PortId(u16::from(what >> 3) % PORTS);
        let (bytes, more) = more.split_at(more.len().min(usize::from(*value)));
        rest = more;
        match what & 7 {
            0..4 => tree.receive(port, bytes, now),
            4 => tree.receive(port, &configuration(bytes), now),
            5 => tree.set_link(port, value & 1 == 0, now),
            _ => now += Duration::from_millis(u64::from(*value) * 50),
        }
        let next = tree.poll(now, |_, said| assert!(said.len() == 7 || said.len() == 38));
        assert!(next.is_none_or(|next| next > now), "due at {next:?}, and it is {now}");
    }
    (0..PORTS).for_each(|port| tree.set_link(PortId(port), true, now));
    // The longest that a claim may hold, that a port may be shut, and that one may listen and learn.
    for _ in 0..4 * (40 + 40 + 60) {
        now += Duration::from_millis(250);
        tree.poll(now, |_, _| ());
    }
    assert_eq!(tree.root(), tree.id());
    assert!((0..PORTS).all(|port| tree.state(PortId(port)) == PortState::Forwarding));
});

/// A message with what is drawn as claim and flags, and possible times.
fn configuration(bytes: &[u8]) -> Vec<u8> {
    let mut said = vec![0x42, 0x42, 3, 0, 0, 0, 0];
    said.extend(bytes.iter().chain(&[0; 23]).take(23));
    said.extend([0, bytes.last().map_or(0, |age| age & 3), 20, 0, 2, 0, 15, 0]);
    said
}
