//! What our nodes tell each other of indices, and routers of links.
//!
//! These messages have a UDP port of their own, [`INDEX_PORT`], instead of entries of a private address family within RIP's: other
//! routers count entries of an unknown family as errors of the neighbour, there are at most 25 entries in a message, and
//! sources that ask for an index speak no RIP. A router that knows nothing of indices has not got the port, and is sent nothing
//! but what is sent to the group of the routing protocol, which it drops unseen.
//!
//! ```text
//!   0      1      2      3      4         8                 16      18    20
//!   +------+------+------+------+---------+-----------------+-------+-----+----------------+--------+
//!   | 'T'  | 1    | kind | key  | sender  | sequence number | count | 0   | count entries  | digest |
//!   +------+------+------+------+---------+-----------------+-------+-----+----------------+--------+
//!
//!   0       1        2    4        8                   24
//!   +-------+--------+----+--------+-------------------+   an index of a prefix;
//!   | 4, 6  | length | 0  | index  | address, 0...     |   other kinds have other entries
//!   +-------+--------+----+--------+-------------------+
//! ```
//!
//! Numbers have the network's order. There is a digest if the key is not 0; it is that of RFC 4822, of everything before it.

use std::net::{Ipv4Addr, Ipv6Addr};

use throughline_stack::smoltcp::wire::{IpAddress, IpCidr};

use crate::routing::{
    Reason,
    authentication::{Authentication, Key},
};

/// UDP port of messages about indices: one of those nobody is given (RFC 6335).
pub const INDEX_PORT: u16 = 49_520;

const MAGIC: u8 = b'T';
const VERSION: u8 = 1;
pub(crate) const HEADER: usize = 20;
const INDEX: usize = 24;
/// Entries that are sent in one message: with header and digest it fits into 1,280 octets.
pub(crate) const MOST_INDICES: usize = 45;
/// No message is longer.
const LONGEST: usize = 1_232;

/// What a message is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// The sender's indices of prefixes. Index 0 takes one back.
    Indices = 1,
    /// Asks for the index of a destination.
    Query = 2,
    /// The answer.
    Answer = 3,
    /// Who would allocate the indices of multicast groups on a link.
    Candidate = 4,
    /// The indices of groups on a link.
    Groups = 5,
    /// Asks for indices of groups.
    WantGroups = 6,
    /// Link state: who is there.
    Hello = 16,
    /// Link state: what routers are connected to.
    Update = 17,
    /// Link state: that an update has come.
    Acknowledge = 18,
}

impl Kind {
    fn of(number: u8) -> Option<Self> {
        use Kind::*;
        [Indices, Query, Answer, Candidate, Groups, WantGroups, Hello, Update, Acknowledge]
            .into_iter()
            .find(|kind| *kind as u8 == number)
    }
}

/// In front of all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What follows.
    pub kind: Kind,
    /// The sender's id among the routers.
    pub sender: u32,
    /// Grows with each message. The answer to a query has the query's.
    pub sequence: u64,
    /// Entries that follow.
    pub count: u16,
}

/// Header and entries of a message whose digest is right.
///
/// # Errors
/// [`Reason`]: nothing of it may be used.
pub fn read<'a>(bytes: &'a [u8], authentication: &Authentication) -> Result<(Header, &'a [u8]), Reason> {
    let header = bytes.first_chunk::<HEADER>().ok_or(Reason::Length)?;
    if header[0] != MAGIC || header[1] != VERSION {
        return Err(Reason::Version);
    }
    let kind = Kind::of(header[2]).ok_or(Reason::Command)?;
    if bytes.len() > LONGEST || number(header, 18, 2) != 0 {
        return Err(Reason::Length);
    }
    let body = match (key(authentication), header[3]) {
        (None, 0) => &bytes[HEADER..],
        (Some(keys), id @ 1..) => verified(bytes, keys, id)?,
        _ => return Err(Reason::Authentication),
    };
    let [sender, sequence, count] = [(4, 4), (8, 8), (16, 2)].map(|(at, size)| number(header, at, size));
    Ok((Header { kind, sender: sender as u32, sequence, count: count as u16 }, body))
}

/// Passwords, which everybody could read, authenticate no indices.
fn key(authentication: &Authentication) -> Option<&[Key]> {
    match authentication {
        Authentication::Keyed(keys) => Some(keys),
        Authentication::None | Authentication::Password(_) => None,
    }
}

fn verified<'a>(bytes: &'a [u8], keys: &[Key], id: u8) -> Result<&'a [u8], Reason> {
    let key = keys.iter().find(|key| key.id == id).ok_or(Reason::UnknownKey)?;
    let end = bytes.len().checked_sub(key.algorithm.size()).ok_or(Reason::Digest)?;
    let (signed, digest) = bytes.split_at(end);
    let body = signed.get(HEADER..).ok_or(Reason::Digest)?;
    if key.verify(signed, digest) { Ok(body) } else { Err(Reason::Digest) }
}

/// Writes a message around its entries.
pub fn write(header: Header, entries: &[u8], authentication: &Authentication) -> Vec<u8> {
    // A key of id 0 can sign RIP's messages, not these.
    let key = key(authentication).and_then(|keys| keys.iter().find(|key| key.id != 0));
    let mut message = vec![MAGIC, VERSION, header.kind as u8, key.map_or(0, |key| key.id)];
    message.extend(header.sender.to_be_bytes());
    message.extend(header.sequence.to_be_bytes());
    message.extend(header.count.to_be_bytes());
    message.extend([0; 2]);
    message.extend(entries);
    if let Some(key) = key {
        key.sign(&mut message);
    }
    message
}

/// An index, as it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// The prefix; or all bits of a destination.
    pub prefix: IpCidr,
    /// Its place in the sender's table.
    pub index: u32,
}

/// Entries of [`Kind::Indices`], [`Kind::Query`], [`Kind::Answer`] and of groups.
///
/// # Errors
/// [`Reason`]: nothing of them may be used.
pub fn read_indices(header: &Header, body: &[u8]) -> Result<Vec<Told>, Reason> {
    let (entries, rest) = body.as_chunks::<INDEX>();
    if !rest.is_empty() || entries.len() != usize::from(header.count) {
        return Err(Reason::Length);
    }
    entries.iter().map(read_index).collect()
}

fn read_index(entry: &[u8; INDEX]) -> Result<Told, Reason> {
    let length = entry[1];
    let index = number(entry, 4, 4) as u32;
    let address: IpAddress = match entry[0] {
        4 if entry[12..] == [0; 12] && length <= 32 => Ipv4Addr::from(number(entry, 8, 4) as u32).into(),
        6 if length <= 128 => {
            let (_, octets) = entry.split_last_chunk::<16>().expect("an entry is longer");
            Ipv6Addr::from(*octets).into()
        }
        4 | 6 => return Err(Reason::Mask),
        _ => return Err(Reason::Family),
    };
    let prefix = IpCidr::new(address, length);
    if crate::routing::rip::network(prefix) != prefix {
        return Err(Reason::Host);
    }
    Ok(Told { prefix, index })
}

/// Writes such entries.
pub fn write_indices(told: &[Told]) -> Vec<u8> {
    let mut entries = Vec::with_capacity(told.len() * INDEX);
    for Told { prefix, index } in told {
        let (family, mut octets) = match prefix.address() {
            IpAddress::Ipv4(address) => (4, address.octets().to_vec()),
            IpAddress::Ipv6(address) => (6, address.octets().to_vec()),
        };
        octets.resize(16, 0);
        entries.extend([family, prefix.prefix_len(), 0, 0]);
        entries.extend(index.to_be_bytes());
        entries.extend(octets);
    }
    entries
}

pub(crate) fn number(bytes: &[u8], at: usize, size: usize) -> u64 {
    bytes[at..at + size].iter().fold(0, |all, octet| all << 8 | u64::from(*octet))
}
