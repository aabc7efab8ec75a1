//! Flows between addresses as a router sees them.

use std::collections::HashMap;

use rand::RngExt;
use throughline_demux::FlowId;

use crate::traffic::{Generator, generator};

/// Subnets of a site, and hosts in each, numbered from 1 as administrators do.
const SUBNETS: u32 = 16;
const HOSTS: u32 = 60;

/// Where the ends of the flows are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Addresses {
    /// Both in the subnets of one site.
    Site,
    /// The source in the subnets of one site, the destination anywhere.
    Outbound,
    /// Both anywhere.
    Anywhere,
}

impl Addresses {
    pub(crate) const ALL: [Self; 3] = [Self::Site, Self::Outbound, Self::Anywhere];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Site => "site",
            Self::Outbound => "outbound",
            Self::Anywhere => "random",
        }
    }

    fn pair(self, generator: &mut Generator) -> (u32, u32) {
        let site = |generator: &mut Generator| {
            let (subnet, host) = (generator.random_range(0..SUBNETS), generator.random_range(1..=HOSTS));
            0x0a01_0000 | subnet << 8 | host
        };
        match self {
            Self::Site => (site(generator), site(generator)),
            Self::Outbound => (site(generator), generator.random()),
            Self::Anywhere => (generator.random(), generator.random()),
        }
    }
}

/// Different flows, each with the random label that its source gave it. A source numbers its flows from 1.
pub(crate) fn draw(addresses: Addresses, flows: u32, seed: u64) -> Vec<(FlowId, u32)> {
    let mut generator = generator(seed);
    let mut numbers: HashMap<u32, u32> = HashMap::new();
    let mut drawn = Vec::new();
    for _ in 0..flows {
        let (source, destination) = addresses.pair(&mut generator);
        let number = numbers.entry(source).or_default();
        *number += 1;
        let mut bytes = [0; 12];
        bytes[..4].copy_from_slice(&source.to_be_bytes());
        bytes[4..8].copy_from_slice(&destination.to_be_bytes());
        bytes[8..].copy_from_slice(&number.to_be_bytes());
        drawn.push((FlowId::new(bytes), generator.random()));
    }
    drawn
}
