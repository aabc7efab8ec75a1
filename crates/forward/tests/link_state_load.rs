//! What link states cost to work through that somebody has made up to be worked through for long.

use std::time::{Duration as Time, Instant as Clock};

use throughline_forward::{
    routing::{Heard, Interface, LinkState, LinkStateConfig, Routing, authentication::Authentication},
    threaded::message::{self, Header, INDEX_PORT, Kind},
};
use throughline_stack::smoltcp::{
    time::{Duration, Instant},
    wire::{IpAddress, IpCidr},
};

const US: u32 = 1;
const NEIGHBOR: u32 = 2;
/// Parts of an advertisement that two routers may have together.
const PARTS: u16 = 2_000;

/// The links of one part, 32 of them.
fn part(origin: u32, part: u16, to: impl Fn(u32) -> u32) -> Vec<u8> {
    let mut body = origin.to_be_bytes().to_vec();
    body.extend(part.to_be_bytes());
    body.extend([0, 0, 0, 0, 0, 9, 0, 0, 0, 32, 0, 0, 0, 0]);
    for link in 0..32 {
        body.extend(to(u32::from(part) * 32 + link).to_be_bytes());
        body.extend([0, 1, 0, 0]);
    }
    body
}

/// How long it takes at best: the machine may have other work.
fn least(near: impl Fn(u32) -> u32 + Copy, far: impl Fn(u32) -> u32 + Copy) -> Time {
    (0..3).map(|_| time(near, far)).min().unwrap()
}

/// How long the ways take to be found when a neighbour, and the router behind it, tell of these links.
fn time(near: impl Fn(u32) -> u32 + Copy, far: impl Fn(u32) -> u32 + Copy) -> Time {
    let ours = Interface::new(IpCidr::new(IpAddress::v4(10, 0, 0, 1), 24));
    let mut routing = LinkState::new(LinkStateConfig::new(US, vec![ours]));
    let mut now = Instant::from_secs(1);
    let from = IpAddress::v4(10, 0, 0, 2);
    let heard = Heard { interface: 0, from, from_port: INDEX_PORT, port: INDEX_PORT, hop_limit: 255 };
    let say = |routing: &mut LinkState, kind, body: &[u8]| {
        let header = Header { kind, sender: NEIGHBOR, sequence: 1, count: 1 };
        routing.receive(&heard, &message::write(header, body, &Authentication::None), now);
    };
    say(&mut routing, Kind::Hello, &[US.to_be_bytes(), [0xff; 4]].concat());
    say(&mut routing, Kind::Update, &part(NEIGHBOR, PARTS, |_| US));
    for number in 0..PARTS {
        say(&mut routing, Kind::Update, &part(NEIGHBOR, number, near));
        say(&mut routing, Kind::Update, &part(3, number, far));
    }
    assert_eq!(routing.refusals().iter().count(), 0);
    now += Duration::from_secs(5);
    let begun = Clock::now();
    routing.poll(now, &mut Vec::new());
    begun.elapsed()
}

/// A link counts if both ends tell of it. Whether the other one does is not looked for among all of its links for each of ours.
#[test]
fn many_links_to_a_router_of_many_links_are_as_soon_worked_through_as_others() {
    let last = u32::from(PARTS) * 32 - 1;
    let different = least(|link| 1_000 + link, |link| 200_000 + link);
    let alike = least(|_| 3, |link| if link == last { NEIGHBOR } else { 200_000 + link });
    assert!(alike < 20 * different + Time::from_millis(100), "{alike:?} instead of {different:?}");
}
