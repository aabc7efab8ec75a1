//! RIPng.
//!
//! ```text
//!   entry:  prefix 16 | route tag 2 | prefix length 1 | metric 1
//! ```
//!
//! An entry with metric 255 is the next hop of those behind it. Authentication is left to IPsec.

use std::net::Ipv6Addr;

use throughline_stack::smoltcp::wire::{IpAddress, IpCidr};

use super::{Command, ENTRY, EntryError, INFINITY, Message, MessageError, RouteEntry, Version};

/// Entries that are sent in one message: as many as fit into 1,280 octets, which each link can carry.
const MOST: usize = (1280 - 40 - 8 - 4) / ENTRY;
/// Metric of an entry that is a next hop.
const NEXT_HOP: u8 = 0xff;

/// Reads a message.
///
/// # Errors
/// [`MessageError`]: nothing of it may be used.
pub fn read(bytes: &[u8]) -> Result<Message, MessageError> {
    let (command, body) = Version::RipNg.header(bytes)?;
    let (chunks, rest) = body.as_chunks::<ENTRY>();
    if !rest.is_empty() {
        return Err(MessageError::Length(bytes.len()));
    }
    // As many as a datagram can have.
    let mut entries = Vec::new();
    let mut next_hop = None;
    for entry in chunks {
        match next_hop_of(entry) {
            Some(address) => next_hop = address,
            None => entries.push(read_entry(command, entry, next_hop)),
        }
    }
    let whole = |entry: &Result<RouteEntry, EntryError>| {
        matches!(entry, Ok(entry) if entry.prefix.prefix_len() == 0
            && entry.metric == INFINITY && entry.prefix.address().is_unspecified())
    };
    let whole_table = command == Command::Request && matches!(&entries[..], [one] if whole(one));
    if whole_table {
        entries.clear();
    }
    Ok(Message { command, entries, whole_table })
}

/// What is no address of the link counts as the sender (RFC 2080, 2.1.1).
fn next_hop_of(entry: &[u8; ENTRY]) -> Option<Option<IpAddress>> {
    let address = address(entry);
    (entry[19] == NEXT_HOP).then(|| address.is_unicast_link_local().then_some(address.into()))
}

fn read_entry(
    command: Command,
    entry: &[u8; ENTRY],
    next_hop: Option<IpAddress>,
) -> Result<RouteEntry, EntryError> {
    let [.., tag, tag_low, length, metric] = *entry;
    if length > 128 {
        return Err(EntryError::Mask);
    }
    let prefix = IpCidr::new(address(entry).into(), length);
    let entry = RouteEntry { prefix, next_hop, tag: u16::from_be_bytes([tag, tag_low]), metric };
    if command == Command::Request { Ok(entry) } else { entry.checked() }
}

fn address(entry: &[u8; ENTRY]) -> Ipv6Addr {
    let (octets, _) = entry.split_first_chunk::<16>().expect("an entry is longer");
    Ipv6Addr::from(*octets)
}

/// Writes as many messages as it takes. Those of IPv4 among the entries are left out. A request without entries asks for all
/// routes. The sender is the next hop of all.
pub fn write(command: Command, entries: &[RouteEntry]) -> Vec<Vec<u8>> {
    let writer = |entries: &[RouteEntry]| {
        let mut message = Version::RipNg.start(command);
        entries.iter().for_each(|entry| write_entry(&mut message, entry));
        if entries.is_empty() {
            message.extend([0; ENTRY - 1]);
            message.push(INFINITY);
        }
        message
    };
    match (command, entries) {
        (Command::Request, []) => vec![writer(&[])],
        _ => entries.chunks(MOST).map(writer).collect(),
    }
}

fn write_entry(message: &mut Vec<u8>, entry: &RouteEntry) {
    let IpCidr::Ipv6(prefix) = entry.prefix else { return };
    message.extend(prefix.address().octets());
    message.extend(entry.tag.to_be_bytes());
    message.extend([prefix.prefix_len(), entry.metric]);
}
