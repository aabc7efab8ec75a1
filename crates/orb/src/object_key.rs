//! Object keys: the bytes of a reference that only the server that made them reads.
//!
//! | form | bytes | who makes it |
//! |---|---|---|
//! | active | `TLa1`, tag, slot (4 bytes each), nonce (8): 20 in all | adapters that look objects up by `active` |
//! | indexed | `TLk1`, adapter (4), adapter's nonce (8), object id | all other adapters |
//! | stable | any text: `NameService`, `bank/account-17` | adapters with stable keys |
//!
//! Numbers are in the byte order of the machine: nobody else reads them. The nonces are drawn at random when the
//! object or the adapter is made, so that a key of an earlier run, or a forged one, is refused. In an active key the
//! nonce is combined (exclusive or) with the eight bytes before the slot: one comparison with the object's nonce then
//! refuses a key in which any of them was changed.

use throughline_demux::{Handle, Slot, shared::Strategy};

use crate::object_table::Tag;

const ACTIVE: [u8; 4] = *b"TLa1";
const INDEXED: [u8; 4] = *b"TLk1";
/// The length of an active key in bytes.
pub(crate) const ACTIVE_LEN: usize = 20;
const INDEXED_LEN: usize = 16;

/// An object key, taken apart but not yet believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectKey<'a> {
    /// One step: the record's handle and its tag.
    Active { tag: u32, handle: Handle },
    /// The adapter's handle, then an id that the adapter's locator knows.
    Indexed { adapter: Handle, id: &'a [u8] },
    /// The whole key is looked up.
    Stable(&'a [u8]),
}

impl<'a> ObjectKey<'a> {
    /// Takes a key apart. Every byte string is a key of some form; whether it names an object is another matter.
    #[inline]
    pub(crate) fn parse(key: &'a [u8]) -> Self {
        if let Ok(key) = <&[u8; ACTIVE_LEN]>::try_from(key)
            && key[..4] == ACTIVE
        {
            return Self::Active { tag: u32_at(key, 4), handle: ActiveKey(key).handle() };
        }
        match key.strip_prefix(&INDEXED) {
            Some(rest) if key.len() >= INDEXED_LEN => {
                Self::Indexed { adapter: handle(rest), id: &rest[INDEXED_LEN - 4..] }
            }
            _ => Self::Stable(key),
        }
    }

    /// The bytes of the key.
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        match self {
            Self::Active { tag, handle } => {
                let [a, b, c, d] = ACTIVE;
                let [e, f, g, h] = tag.to_ne_bytes();
                let head = [a, b, c, d, e, f, g, h];
                let masked = Handle { nonce: handle.nonce ^ u64::from_ne_bytes(head), ..handle };
                [&head[..], &handle_bytes(masked)].concat()
            }
            Self::Indexed { adapter, id } => [&INDEXED[..], &handle_bytes(adapter), id].concat(),
            Self::Stable(key) => key.to_vec(),
        }
    }
}

/// What an object key made by this ORB says, for people and tools. It is taken at its word: whether there is such an
/// object only the server knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyParts<'a> {
    /// The key of an adapter that finds objects by `active`.
    Active {
        /// The adapter's slot.
        adapter: u32,
        /// How the adapter finds operations.
        operations: Strategy,
        /// The object's slot.
        slot: u32,
        /// Proves that the object is the one that was meant.
        nonce: u64,
    },
    /// The key of an adapter that looks ids up.
    Indexed {
        /// The adapter's slot.
        adapter: u32,
        /// Proves that the adapter is the one that was meant.
        nonce: u64,
        /// The object's id in the adapter.
        id: &'a [u8],
    },
}

impl<'a> KeyParts<'a> {
    /// Takes a key apart, if it has the form of one of this ORB's that carry handles; stable keys are plain text. Numbers
    /// are read in the byte order of this machine.
    pub fn of(key: &'a [u8]) -> Option<Self> {
        match ObjectKey::parse(key) {
            ObjectKey::Active { tag, handle } => {
                let tag = Tag(tag);
                let (adapter, operations) = (tag.adapter(), tag.operations());
                Some(Self::Active { adapter, operations, slot: handle.slot.0, nonce: handle.nonce })
            }
            ObjectKey::Indexed { adapter, id } => {
                Some(Self::Indexed { adapter: adapter.slot.0, nonce: adapter.nonce, id })
            }
            ObjectKey::Stable(_) => None,
        }
    }
}

/// A key as long as an active one: its handle is tried before anything else is known of it. The nonce in a key of
/// another form, or in none of ours, is nobody's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ActiveKey<'a>(&'a [u8; ACTIVE_LEN]);

impl<'a> ActiveKey<'a> {
    #[inline(always)]
    pub(crate) fn of(key: &'a [u8]) -> Option<Self> {
        key.try_into().ok().map(Self)
    }

    #[inline(always)]
    pub(crate) fn handle(self) -> Handle {
        Handle { slot: Slot(u32_at(self.0, 8)), nonce: u64_at(self.0, 12) ^ u64_at(self.0, 0) }
    }
}

#[inline(always)]
fn u32_at(key: &[u8; ACTIVE_LEN], at: usize) -> u32 {
    u32::from_ne_bytes([key[at], key[at + 1], key[at + 2], key[at + 3]])
}

#[inline(always)]
fn u64_at(key: &[u8; ACTIVE_LEN], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&key[at..at + 8]);
    u64::from_ne_bytes(word)
}

#[inline]
fn handle(bytes: &[u8]) -> Handle {
    let slot = u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    let mut nonce = [0; 8];
    nonce.copy_from_slice(&bytes[4..12]);
    Handle { slot: Slot(slot), nonce: u64::from_ne_bytes(nonce) }
}

fn handle_bytes(handle: Handle) -> [u8; 12] {
    let mut bytes = [0; 12];
    bytes[..4].copy_from_slice(&handle.slot.0.to_ne_bytes());
    bytes[4..].copy_from_slice(&handle.nonce.to_ne_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_back() {
        let handle = Handle { slot: Slot(7), nonce: 0x0123_4567_89ab_cdef };
        for key in [
            ObjectKey::Active { tag: 3, handle },
            ObjectKey::Indexed { adapter: handle, id: b"account-17" },
            ObjectKey::Indexed { adapter: handle, id: b"" },
            ObjectKey::Stable(b"NameService"),
        ] {
            assert_eq!(ObjectKey::parse(&key.to_bytes()), key);
        }
    }

    #[test]
    fn no_changed_byte_leaves_the_handle_as_it_was() {
        let handle = Handle { slot: Slot(7), nonce: 0x0123_4567_89ab_cdef };
        let key = ObjectKey::Active { tag: 3, handle }.to_bytes();
        let read = |key: &[u8]| ActiveKey::of(key).map(ActiveKey::handle);
        assert_eq!(read(&key), Some(handle));
        for at in 0..key.len() {
            let mut changed = key.clone();
            changed[at] ^= 0x10;
            assert_ne!(read(&changed), Some(handle), "byte {at}");
        }
    }

    #[test]
    fn cut_keys_are_plain_text() {
        let key = ObjectKey::Active { tag: 3, handle: Handle { slot: Slot(1), nonce: 2 } }.to_bytes();
        for len in 0..key.len() {
            assert_eq!(ObjectKey::parse(&key[..len]), ObjectKey::Stable(&key[..len]));
        }
    }
}
