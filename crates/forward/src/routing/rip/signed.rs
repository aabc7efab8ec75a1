//! Authentication of RIP version 2: in the first entry and, for digests, in a trailer.
//!
//! ```text
//!   4    6   8                     24        4    6   8    10  11  12    16        24
//!   +----+---+---------------------+         +----+---+----+---+---+-----+---------+-------+------+---+------+
//!   |ffff| 2 | password            |   or    |ffff| 3 |len |id |ad |seq. | 0       |entries| ffff | 1 |digest|
//!   +----+---+---------------------+         +----+---+----+---+---+-----+---------+-------+------+---+------+
//! ```
//!
//! `len` counts from the first octet of the message to the trailer, `ad` is the digest's length; the digest covers all before
//! it.

use std::collections::BTreeMap;

use throughline_stack::smoltcp::wire::IpAddress;

use super::{ENTRY, HEADER, MessageError};
use crate::routing::authentication::{Authentication, Key};

/// What stands in place of an address family.
const FAMILY: u16 = 0xffff;
const PASSWORD: u16 = 2;
const KEYED: u16 = 3;
const TRAILER: [u8; 4] = [0xff, 0xff, 0, 1];

/// Messages that may have one number: an update of 4,096 routes takes 171.
const ALIKE: usize = 256;

/// The last sequence number of each neighbour and key, for so many neighbours at most.
#[derive(Clone, Debug)]
pub struct Sequences {
    last: BTreeMap<(IpAddress, u8), Last>,
    most: usize,
}

#[derive(Clone, Debug)]
struct Last {
    sequence: u32,
    /// The beginnings of the digests of the messages that had it.
    digests: Vec<u64>,
}

impl Sequences {
    /// Of as many neighbours.
    pub fn new(most: usize) -> Self {
        Self { last: BTreeMap::new(), most }
    }

    /// Takes a message in, unless its number is less than the last one, or it was there before. The number alone may be the
    /// same: all messages of an update may have one (RFC 2082, 3.2.2), and FRR's have the second in which they were sent.
    fn accept(&mut self, from: IpAddress, key: u8, sequence: u32, digest: &[u8]) -> Result<(), MessageError> {
        let full = self.last.len() >= self.most;
        let digest = digest.first_chunk().map_or(0, |first| u64::from_be_bytes(*first));
        let new = Last { sequence, digests: vec![digest] };
        match self.last.get_mut(&(from, key)) {
            Some(last) if sequence < last.sequence => return Err(MessageError::Replay),
            Some(last) if sequence > last.sequence => *last = new,
            Some(last) if last.digests.len() >= ALIKE || last.digests.contains(&digest) => {
                return Err(MessageError::Replay);
            }
            Some(last) => last.digests.push(digest),
            // Who has the key is a neighbour; that there are so many is not foreseen.
            None if full => return Err(MessageError::Authentication),
            None => drop(self.last.insert((from, key), new)),
        }
        Ok(())
    }
}

/// The entries of a message, without authentication, which was checked.
pub(super) fn verified<'a>(
    bytes: &'a [u8],
    authentication: &Authentication,
    from: IpAddress,
    sequences: &mut Sequences,
) -> Result<&'a [u8], MessageError> {
    let body = &bytes[HEADER..];
    let first = body.first_chunk::<ENTRY>().filter(|entry| word(entry, 0) == FAMILY);
    match (authentication, first) {
        (Authentication::None, None) => Ok(body),
        (Authentication::Password(expected), Some(entry)) if word(entry, 2) == PASSWORD => {
            let differences = expected.0.iter().zip(&entry[4..]).fold(0, |all, (a, b)| all | (a ^ b));
            if differences == 0 { Ok(&body[ENTRY..]) } else { Err(MessageError::Password) }
        }
        (Authentication::Keyed(keys), Some(entry)) if word(entry, 2) == KEYED => {
            keyed(bytes, entry, keys, from, sequences)
        }
        _ => Err(MessageError::Authentication),
    }
}

fn keyed<'a>(
    bytes: &'a [u8],
    entry: &[u8; ENTRY],
    keys: &[Key],
    from: IpAddress,
    sequences: &mut Sequences,
) -> Result<&'a [u8], MessageError> {
    let (length, id, size) = (usize::from(word(entry, 4)), entry[6], usize::from(entry[7]));
    let sequence = u32::from_be_bytes([entry[8], entry[9], entry[10], entry[11]]);
    let key = keys.iter().find(|key| key.id == id).ok_or(MessageError::UnknownKey(id))?;
    let (signed, digest) = bytes.split_at_checked(length + TRAILER.len()).ok_or(MessageError::Digest)?;
    // Some count the trailer's first octets in.
    let expected = key.algorithm.size();
    let sizes = size == expected || size == expected + TRAILER.len();
    if length < HEADER + ENTRY || !sizes || signed[length..] != TRAILER || !key.verify(signed, digest) {
        return Err(MessageError::Digest);
    }
    sequences.accept(from, id, sequence, digest)?;
    Ok(&bytes[HEADER + ENTRY..length])
}

/// Begins a message's entries. `sequence` grows with each message.
pub(super) fn begin(message: &mut Vec<u8>, authentication: &Authentication, sequence: u32) {
    match authentication {
        Authentication::None => {}
        Authentication::Password(password) => {
            message.extend(FAMILY.to_be_bytes());
            message.extend(PASSWORD.to_be_bytes());
            message.extend(password.0);
        }
        Authentication::Keyed(keys) => {
            let Some(key) = keys.first() else { return };
            message.extend(FAMILY.to_be_bytes());
            message.extend(KEYED.to_be_bytes());
            message.extend([0, 0, key.id, key.algorithm.size() as u8]);
            message.extend(sequence.to_be_bytes());
            message.extend([0; 8]);
        }
    }
}

/// Signs it.
pub(super) fn end(message: &mut Vec<u8>, authentication: &Authentication) {
    let Authentication::Keyed(keys) = authentication else { return };
    let Some(key) = keys.first() else { return };
    let length = message.len() as u16;
    message[HEADER + 4..HEADER + 6].copy_from_slice(&length.to_be_bytes());
    message.extend(TRAILER);
    key.sign(message);
}

fn word(entry: &[u8; ENTRY], at: usize) -> u16 {
    u16::from_be_bytes([entry[at], entry[at + 1]])
}
