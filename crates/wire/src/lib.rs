//! The header of the native protocol: everything a receiver needs to place a message, as indices, in one place.
//!
//! It is a *Data Manipulation Layer* header after Chandranmenon and Varghese, "Trading Packet Headers for Packet
//! Processing" (1996): what the layers know that a receiver wants before it touches the data is compiled into one
//! header in front. The connection comes as a flow id and a source hash, the object as slot and nonce, the operation as
//! an index; where data, destination and check value lie can be said by [regions](RegionList), which most messages do
//! without.
//!
//! # Layout
//!
//! Little-endian, every field at its natural alignment. Messages to an object ([`Kind::is_addressed`]) have 40 bytes, all
//! others the first 24 of them:
//!
//! ```text
//!          0        1        2        3        4        5        6        7
//!     +--------+--------+--------+--------+--------+--------+--------+--------+
//!   0 | n    1 |  kind  | flags  |priority|            source hash            |
//!     +--------+--------+--------+--------+--------+--------+--------+--------+
//!   8 |                                flow id                                |
//!     +--------+--------+--------+--------+--------+--------+--------+--------+
//!  16 |             sequence              |    operation    |    time left    |  or detail
//!     +--------+--------+--------+--------+--------+--------+--------+--------+
//!  24 |                             object's nonce                            |
//!     +--------+--------+--------+--------+--------+--------+--------+--------+
//!  32 |           object's slot           |          operation check          |
//!     +--------+--------+--------+--------+--------+--------+--------+--------+
//!
//!     then n regions of 16 bytes:
//!     +--------+--------+--------+--------+--------+--------+--------+--------+
//!   0 |               kind                |              detail               |
//!     +--------+--------+--------+--------+--------+--------+--------+--------+
//!   8 |              offset               |              length               |
//!     +--------+--------+--------+--------+--------+--------+--------+--------+
//!
//!     then the body, up to the end of the message
//! ```
//!
//! Byte 0 has the version, 1, in its low half and the number of regions, n, in its high half. The body begins at a multiple
//! of 8, so that CDR's alignment in the message is alignment in memory. With the word that announces a frame in a ring,
//! a request leaves 16 bytes of a cache line of 64 to its arguments, a reply 32 to its results: small calls travel in
//! one line each way.
//!
//! What is not there, and why:
//!
//! - **No length of the body.** Fabrics deliver messages whole and know their length; two lengths that may differ
//!   are one too many. Where something follows the data (a check value, say), a [`RegionKind::Payload`] tells them apart.
//! - **No names.** Names are looked up when a reference is bound.
//! - **No time of day.** Clocks differ: [`TimeLeft`] says how long the caller will wait from now on.
//!
//! # The operation check
//!
//! An operation's index means something within one interface's numbering only. References can be narrowed unchecked,
//! kept for years or made up, and a stub may be of a base interface, whose numbering is its own. So each request says which
//! operation its index means: 32 bits of a hash over the operation's description ([`operation_check`]). A server compares
//! them with those of the operation at that index in the object's own table; when they differ it looks for an operation
//! with this check, and answers with an exception if there is none, or more than one. That is one load and a comparison per
//! call. 32 bits are enough against mistakes: two operations that differ agree once in 4 * 10^9. They are no protection
//! against a peer who lies, and need be none: whatever the index, it is compared with the number of operations, and the
//! body is read as a stranger's.
//!
//! # Trust
//!
//! [`Message::read`] refuses what is too short, of another version, of a kind or with flags that version 1 does not
//! have, and regions that are not wholly within the message. The flow id says where state is kept and the nonce proves
//! that the bearer was given the object's handle. Neither says who sent the message: fabrics that can be listened to
//! must authenticate their packets.
//!
//! # Example
//!
//! ```
//! use throughline_wire::{FlowIds, Header, Kind, Message, operation_check};
//!
//! let flows = FlowIds::new([0x5eed, 0xfeed]); // from the system's random source
//! let request = Header {
//!     flow: flows.next(),
//!     sequence: 1,
//!     slot: 7,
//!     nonce: 0x0123_4567_89ab_cdef,
//!     check: operation_check("balance"),
//!     operation: 0,
//!     ..Header::new(Kind::Request)
//! };
//! let mut buffer = [0; 64];
//! let body = request.write(&mut buffer)?;
//! body[..4].copy_from_slice(&42_u32.to_le_bytes());
//!
//! let message = Message::read(&buffer[..request.size() + 4])?;
//! assert_eq!(message.header, request);
//! assert_eq!(message.body, [42, 0, 0, 0]);
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]

mod check;
mod dml;
mod flow;
mod kind;
mod message;
mod priority;
mod region;
mod time_left;

pub use {
    check::operation_check,
    dml::{ADDRESSED_BYTES, Header, NoRoom, PLAIN_BYTES, VERSION},
    flow::{Flow, FlowIds, precomputed_hash},
    kind::{Flags, Kind, UNKNOWN_OBJECT},
    message::{Answer, Message, ReadError},
    priority::{MAX_PRIORITY_LEVEL, priority_code, priority_level},
    region::{MAX_REGIONS, REGION_BYTES, Region, RegionError, RegionKind, RegionList, Regions},
    time_left::TimeLeft,
};
