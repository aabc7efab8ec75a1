//! Datagrams and time, to routers of both protocols with two interfaces: memory stays within its bounds, and of what they say
//! to each other nothing is refused.
#![no_main]

use std::collections::BTreeSet;

use libfuzzer_sys::fuzz_target;
use throughline_forward::{
    routing::{
        Action, DistanceVector, DistanceVectorConfig, Heard, Interface, LinkState, LinkStateConfig, Routing,
        rip::Version,
    },
    threaded::message::{self, Header, INDEX_PORT, Kind},
};
use throughline_stack::smoltcp::{
    time::{Duration, Instant},
    wire::{IpAddress, IpCidr},
};

const KINDS: [Kind; 6] =
    [Kind::Indices, Kind::Hello, Kind::Update, Kind::Acknowledge, Kind::Query, Kind::Candidate];
const ROUTES: usize = 8;

fuzz_target!(|input: &[u8]| {
    let interface = |n| Interface::new(IpCidr::new(IpAddress::v4(10, 200, n, 1), 24));
    let interfaces = vec![interface(0), interface(1)];
    let vector = DistanceVectorConfig {
        routes_each: ROUTES,
        neighbors: 4,
        ..DistanceVectorConfig::new(Version::Rip2, 1, interfaces.clone())
    };
    let state = LinkStateConfig {
        advertisements: ROUTES,
        neighbors: 4,
        indices_each: ROUTES,
        ..LinkStateConfig::new(1, interfaces)
    };
    run(&mut DistanceVector::new(vector), 24, input);
    run(&mut LinkState::new(state), 8, input);
});

/// `hello` is the size of an entry of a hello.
fn run(routing: &mut dyn Routing, hello: usize, mut input: &[u8]) {
    let (mut now, mut actions, mut routes) = (Instant::ZERO, Vec::new(), BTreeSet::new());
    routing.originate(IpCidr::new(IpAddress::v4(10, 1, 0, 0), 16), 1, now);
    while let [flags, from, len, rest @ ..] = input {
        let (data, rest) = rest.split_at(rest.len().min(usize::from(*len) * 2));
        input = rest;
        now += Duration::from_millis(u64::from(*from) << (flags >> 5));
        let port = routing.ports()[usize::from(flags & 1) % routing.ports().len()];
        let heard = Heard {
            interface: u16::from(flags >> 1 & 1),
            from: IpAddress::v4(10, 200, flags >> 1 & 1, from % 8),
            from_port: port,
            port,
            hop_limit: 255,
        };
        let bytes = whole(port, *flags, *from, hello, data);
        routing.receive(&heard, &bytes, now);
        for _ in 0..4 {
            routing.poll(now, &mut actions);
        }
        for action in actions.drain(..) {
            match action {
                Action::Use(learned) => {
                    assert!(learned.interface < 2 && learned.metric > 0);
                    routes.insert(learned.prefix);
                }
                Action::Forget(prefix) => assert!(routes.remove(&prefix)),
                Action::Send { bytes, .. } => assert!(bytes.len() <= 1_232),
            }
        }
        // Sixteen who may each tell as many, or as many advertisements with 32 prefixes.
        assert!(routes.len() <= 32 * ROUTES);
        assert!(routing.poll_at().is_some());
    }
}

/// The input as it is, or behind a header that is right.
fn whole(port: u16, flags: u8, from: u8, hello: usize, data: &[u8]) -> Vec<u8> {
    match (port, flags >> 2 & 7) {
        (_, 7) => data.to_vec(),
        (INDEX_PORT, kind) => {
            let kind = KINDS[usize::from(kind) % KINDS.len()];
            let size = if kind == Kind::Hello { hello } else { 24 };
            let data = &data[..data.len() - if kind == Kind::Update { 0 } else { data.len() % size }];
            let header =
                Header { kind, sender: (from % 8).into(), sequence: 1, count: (data.len() / size) as u16 };
            message::write(header, data, &Default::default())
        }
        _ => [&[2, 2, 0, 0], &data[..data.len() / 20 * 20]].concat(),
    }
}
