//! Calls carried out at most once, whatever the fabric repeats: a state machine without I/O.
//!
//! A [`Caller`] numbers its calls and repeats each until its reply comes; a [`CallTable`] at the server tells which of the
//! calls that come in are to be carried out, and keeps replies until their callers have them. With a fabric that loses and
//! repeats, a call whose reply comes was carried out exactly once. One without a reply was carried out at most once.
//!
//! # State that ends by itself
//!
//! This is the timer-based transport of Birrell and Nelson ("Implementing Remote Procedure Calls", 1984). Nothing is set
//! up: a caller that the table does not know is accepted, and forgotten when no packet of its known calls can come any
//! more. For that two times must be agreed on ([`Times`]): how long a caller repeats a call, and how long a packet may live
//! in the network. The state of a caller is kept for their sum after it was last heard of:
//!
//! ```text
//! caller   first sent ---- repeats ----> gives up
//! network                                |---- lives at most ----> last copy arrives
//! server       | carried out, kept for (repeats + lives) -----------------> | forgotten
//! ```
//!
//! A server that loses its state in a crash must refuse calls for that long: [`CallTable::after_crash`].
//!
//! # Source hashing
//!
//! A caller draws an id of 64 bits and an index of 32 bits at random, and puts both into all of its packets. The table
//! takes the lower bits of the index for the place to look into and compares the id (Chandranmenon and Varghese, "Trading
//! Packet Headers for Packet Processing", 1996); it computes no hash unless callers collide there.
//!
//! # Several calls at a time
//!
//! A caller may have [`WINDOW`] calls outstanding. Each call tells the lowest number that still is; replies below it are
//! dropped.

mod call;
mod caller;
mod history;
mod replies;
mod table;

use std::time::Duration;

pub use self::{
    call::{CALL_ID, Call, CallId, CallerId},
    caller::{Caller, GivenUp},
    table::{CallTable, Limits, Refusal, Ticket, Verdict},
};

/// Calls that a caller may have outstanding.
pub const WINDOW: u64 = 64;

/// The times that callers and servers must agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// A caller repeats a call for at most so long.
    pub repeats: Duration,
    /// A packet lives in the network for at most so long.
    pub lives: Duration,
}

impl Times {
    /// How long a caller's state must be kept after it was last heard of.
    pub fn retention(&self) -> Duration {
        self.repeats + self.lives
    }
}

impl Default for Times {
    /// 30 s each.
    fn default() -> Self {
        Self { repeats: Duration::from_secs(30), lives: Duration::from_secs(30) }
    }
}
