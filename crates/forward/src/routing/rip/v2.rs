//! RIP version 2.
//!
//! ```text
//!   0         1         2                   4            24
//!   +---------+---------+-------------------+------------+--  up to 25
//!   | command | 2       | 0                 | entry      |
//!   +---------+---------+-------------------+------------+--
//!
//!   entry:  family 2 | route tag 2 | address 4 | mask 4 | next hop 4 | metric 4
//! ```

use std::net::Ipv4Addr;

use throughline_stack::smoltcp::wire::{IpAddress, IpCidr};

use super::{
    Command, ENTRY, EntryError, INFINITY, Message, MessageError, RouteEntry, Sequences, Version, signed,
};
use crate::routing::authentication::Authentication;

/// Entries of a message, authentication among them.
const MOST: usize = 25;
/// Address family of IPv4.
const INET: u16 = 2;

/// Reads a message.
///
/// # Errors
/// [`MessageError`]: nothing of it may be used.
pub fn read(
    bytes: &[u8],
    authentication: &Authentication,
    from: IpAddress,
    sequences: &mut Sequences,
) -> Result<Message, MessageError> {
    let (command, _) = Version::Rip2.header(bytes)?;
    let body = signed::verified(bytes, authentication, from, sequences)?;
    let (entries, rest) = body.as_chunks::<ENTRY>();
    if !rest.is_empty() {
        return Err(MessageError::Length(bytes.len()));
    }
    if entries.len() > MOST {
        return Err(MessageError::TooMany(entries.len()));
    }
    let whole_table = command == Command::Request
        && matches!(entries, [one] if number::<2>(one, 0) == 0 && number::<4>(one, 16) == INFINITY.into());
    let entries = if whole_table {
        Vec::new()
    } else {
        entries.iter().map(|entry| read_entry(command, entry)).collect()
    };
    Ok(Message { command, entries, whole_table })
}

fn read_entry(command: Command, entry: &[u8; ENTRY]) -> Result<RouteEntry, EntryError> {
    let family = number::<2>(entry, 0) as u16;
    if family != INET {
        return Err(EntryError::Family(family));
    }
    let [address, mask, next_hop] = [4, 8, 12].map(|at| Ipv4Addr::from(number::<4>(entry, at)));
    let length = mask.to_bits().leading_ones();
    if mask.to_bits().checked_shl(length).unwrap_or(0) != 0 {
        return Err(EntryError::Mask);
    }
    let metric = number::<4>(entry, 16);
    let entry = RouteEntry {
        prefix: IpCidr::new(address.into(), length as u8),
        next_hop: (!next_hop.is_unspecified()).then_some(next_hop.into()),
        tag: number::<2>(entry, 2) as u16,
        metric: u8::try_from(metric).map_err(|_| EntryError::Metric(u8::MAX))?,
    };
    // What is asked for is only looked up.
    if command == Command::Request { Ok(entry) } else { entry.checked() }
}

fn number<const N: usize>(entry: &[u8; ENTRY], at: usize) -> u32 {
    entry[at..at + N].iter().fold(0, |all, octet| all << 8 | u32::from(*octet))
}

/// Writes as many messages as it takes. Those of IPv6 among the entries are left out. A request without entries asks for all
/// routes.
pub fn write(
    command: Command,
    entries: &[RouteEntry],
    authentication: &Authentication,
    sequence: &mut u32,
) -> Vec<Vec<u8>> {
    let most = if matches!(authentication, Authentication::None) { MOST } else { MOST - 1 };
    let mut writer = |entries: &[RouteEntry]| {
        let mut message = Version::Rip2.start(command);
        *sequence = sequence.saturating_add(1);
        signed::begin(&mut message, authentication, *sequence);
        entries.iter().for_each(|entry| write_entry(&mut message, entry));
        if entries.is_empty() {
            message.extend([0; ENTRY - 1]);
            message.push(INFINITY);
        }
        signed::end(&mut message, authentication);
        message
    };
    match (command, entries) {
        (Command::Request, []) => vec![writer(&[])],
        _ => entries.chunks(most).map(writer).collect(),
    }
}

fn write_entry(message: &mut Vec<u8>, entry: &RouteEntry) {
    let IpCidr::Ipv4(prefix) = entry.prefix else { return };
    let next_hop = match entry.next_hop {
        Some(IpAddress::Ipv4(next_hop)) => next_hop,
        _ => Ipv4Addr::UNSPECIFIED,
    };
    message.extend(INET.to_be_bytes());
    message.extend(entry.tag.to_be_bytes());
    message.extend(prefix.address().octets());
    message.extend(prefix.netmask().octets());
    message.extend(next_hop.octets());
    message.extend(u32::from(entry.metric).to_be_bytes());
}
