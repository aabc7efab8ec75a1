//! What a router tells everybody: whom it is connected to, and what can be reached there.
//!
//! ```text
//!   0        4      6         8          12    14      16         18  20
//!   +--------+------+---------+----------+-----+-------+----------+---+-------------+----------------+
//!   | origin | part | 0       | sequence | age | links | prefixes | 0 | links, 8    | prefixes, 20   |
//!   +--------+------+---------+----------+-----+-------+----------+---+-------------+----------------+
//!
//!   link:  router 4 | cost 2 | 0          prefix:  4 or 6 | length 1 | cost 2 | address 16, 0...
//! ```
//!
//! A message of kind [`Update`](crate::threaded::message::Kind::Update) has one of them. A router that has more than fits
//! into one sends several parts.

use std::net::{Ipv4Addr, Ipv6Addr};

use throughline_stack::smoltcp::wire::{IpAddress, IpCidr};

use crate::{
    routing::{Reason, rip::network},
    threaded::message::number,
};

const HEADER: usize = 20;
const LINK: usize = 8;
const PREFIX: usize = 20;
/// Links, and prefixes, of one part.
pub(super) const MOST: usize = 32;
/// Octets of an entry of an acknowledgement: origin, part, 0, sequence.
const NAME: usize = 12;

/// Which advertisement, of all there are.
pub(super) type Name = (u32, u16);

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Advertisement {
    pub origin: u32,
    pub part: u16,
    pub sequence: u32,
    /// Seconds since it was sent.
    pub age: u16,
    pub links: Vec<(u32, u16)>,
    pub prefixes: Vec<(IpCidr, u16)>,
}

impl Advertisement {
    pub fn name(&self) -> Name {
        (self.origin, self.part)
    }

    pub fn read(body: &[u8]) -> Result<Self, Reason> {
        let header = body.first_chunk::<HEADER>().ok_or(Reason::Length)?;
        let field = |at, size| number(header, at, size);
        let (links, prefixes) = (field(14, 2) as usize, field(16, 2) as usize);
        if links > MOST || prefixes > MOST || body.len() != HEADER + links * LINK + prefixes * PREFIX {
            return Err(Reason::Length);
        }
        let (links, prefixes) = body[HEADER..].split_at(links * LINK);
        let link = |entry: &[u8; LINK]| (number(entry, 0, 4) as u32, number(entry, 4, 2) as u16);
        Ok(Self {
            origin: field(0, 4) as u32,
            part: field(4, 2) as u16,
            sequence: field(8, 4) as u32,
            age: field(12, 2) as u16,
            links: links.as_chunks().0.iter().map(link).collect(),
            prefixes: prefixes.as_chunks().0.iter().map(read_prefix).collect::<Result<_, _>>()?,
        })
    }

    pub fn write(&self, age: u16) -> Vec<u8> {
        let mut body = Vec::with_capacity(HEADER + self.links.len() * LINK + self.prefixes.len() * PREFIX);
        body.extend(self.origin.to_be_bytes());
        body.extend(self.part.to_be_bytes());
        body.extend([0; 2]);
        body.extend(self.sequence.to_be_bytes());
        for half in [age, self.links.len() as u16, self.prefixes.len() as u16, 0] {
            body.extend(half.to_be_bytes());
        }
        for (router, cost) in &self.links {
            body.extend(router.to_be_bytes());
            body.extend(cost.to_be_bytes());
            body.extend([0; 2]);
        }
        for (prefix, cost) in &self.prefixes {
            let (family, mut octets) = match prefix.address() {
                IpAddress::Ipv4(address) => (4, address.octets().to_vec()),
                IpAddress::Ipv6(address) => (6, address.octets().to_vec()),
            };
            octets.resize(16, 0);
            body.extend([family, prefix.prefix_len()]);
            body.extend(cost.to_be_bytes());
            body.extend(octets);
        }
        body
    }
}

fn read_prefix(entry: &[u8; PREFIX]) -> Result<(IpCidr, u16), Reason> {
    let length = entry[1];
    let address: IpAddress = match entry[0] {
        4 if length <= 32 => Ipv4Addr::from(number(entry, 4, 4) as u32).into(),
        6 if length <= 128 => {
            let (_, octets) = entry.split_last_chunk::<16>().expect("an entry is longer");
            Ipv6Addr::from(*octets).into()
        }
        4 | 6 => return Err(Reason::Mask),
        _ => return Err(Reason::Family),
    };
    let prefix = IpCidr::new(address, length);
    if network(prefix) != prefix {
        return Err(Reason::Host);
    }
    if !crate::routing::rip::may_be_told(prefix) {
        return Err(Reason::Prefix);
    }
    Ok((prefix, number(entry, 2, 2) as u16))
}

/// What an acknowledgement says to have come.
pub(super) fn read_names(body: &[u8]) -> Result<Vec<(Name, u32)>, Reason> {
    let (entries, rest) = body.as_chunks::<NAME>();
    let name = |entry: &[u8; NAME]| {
        let [origin, part, sequence] = [(0, 4), (4, 2), (8, 4)].map(|(at, size)| number(entry, at, size));
        ((origin as u32, part as u16), sequence as u32)
    };
    if rest.is_empty() { Ok(entries.iter().map(name).collect()) } else { Err(Reason::Length) }
}

pub(super) fn write_name((origin, part): Name, sequence: u32) -> Vec<u8> {
    let mut entry = origin.to_be_bytes().to_vec();
    entry.extend(part.to_be_bytes());
    entry.extend([0; 2]);
    entry.extend(sequence.to_be_bytes());
    entry
}
