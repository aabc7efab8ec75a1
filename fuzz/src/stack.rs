//! Frames of strangers, to a host with users.
//!
//! A target sends frames that are right below its protocol, so that this is reached, and anything from there on. Whatever comes,
//! the three architectures deliver the same, send the same and count the same reasons; memory stays within its bounds; and
//! afterwards somebody honest is served.

mod control;
mod host;
mod input;
mod internet;
mod link;
mod neighbor;
mod outcome;
mod sealed;
mod transport;

use throughline_stack::Architecture;

pub use self::{
    control::{ICMP, ICMP6},
    internet::{IPV4, IPV6},
    link::{ETH, ETHDAA},
    neighbor::ARP,
    sealed::SEALED,
    transport::{RPC, TCP, UDP},
};
use self::{
    host::{Way, outcome},
    input::Input,
    link::World,
};

/// A protocol that frames are for.
pub struct Target {
    /// Descriptions of graphs that have it.
    graphs: &'static [&'static str],
    /// Makes the next frame.
    frame: fn(&mut Input<'_>, &World) -> Vec<u8>,
    /// The protocol that somebody honest is served by.
    honest: &'static str,
    /// Bytes that what comes may cost, at most.
    most: usize,
}

/// All of them, mixed, to hosts that have most protocols.
pub const ALL: Target = Target {
    graphs: &[
        "udp(limit=8) > ipv4(limit=8) > eth(limit=8); udp > ipv6(limit=8) > eth; tcp(limit=8, receive=512, send=512) > ipv4; \
         tcp > ipv6; rpc(limit=8) > ipv4; icmp > ipv4; icmp6 > ipv6; arp > eth",
        "udp(limit=8) > ipv4(limit=8) > ethdaa(limit=8); tcp(limit=8, receive=512, send=512) > ipv4; rpc(limit=8) > ipv4; \
         icmp > ipv4; arp > eth(limit=8)",
        "udp(limit=8) > ipv6(limit=8) > ethdaa(limit=8); tcp(limit=8, receive=512, send=512) > ipv6; rpc(limit=8) > ipv6; \
         icmp6 > ipv6 > eth(limit=8)",
    ],
    frame: |input, world| {
        let v4 = [&IPV4, &ICMP, &ARP, &UDP, &TCP, &RPC, &ETH, &ETHDAA];
        let v6 = [&IPV6, &ICMP6, &ICMP6, &UDP, &TCP, &RPC, &ETH, &ETHDAA];
        let target = *input.pick(if world.v6 { &v6 } else { &v4 });
        (target.frame)(input, world)
    },
    honest: "udp",
    most: 4 << 20,
};

/// Has frames made of an input, in each architecture, and compares what becomes of them.
pub fn agree(target: &Target, input: &[u8]) {
    let mut input = Input::new(input);
    let description = *input.pick(target.graphs);
    let moved = input.flag();
    let queued = input.flag();
    let way = |architecture| Way { architecture, queued, moved };
    let expected = outcome(
        target,
        description,
        Way { architecture: Architecture::Layered, queued: false, moved: false },
        input,
    );
    for architecture in [Architecture::Integrated, Architecture::Direct] {
        if architecture == Architecture::Direct && !description.contains("ethdaa") {
            continue;
        }
        let found = outcome(target, description, way(architecture), input);
        assert!(found.agrees(&expected), "{:?}: {description}\n{found:?}\n{expected:?}", way(architecture));
    }
}
