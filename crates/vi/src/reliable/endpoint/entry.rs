//! What an endpoint knows of a connection.

use std::collections::VecDeque;

use throughline_demux::{Carried, Slot};

use crate::reliable::{Connection, Sink, Source};

/// A slot: a connection, or, for a while, the id of one that ended.
pub struct Place<A, S, R> {
    pub key: Carried<(u64, u8)>,
    pub entry: Option<Entry<A, S, R>>,
}

/// A connection, and where the endpoint has it in its queues.
pub struct Entry<A, S, R> {
    pub address: A,
    pub connection: Connection<S, R>,
    pub is_sending: bool,
    pub is_eventful: bool,
    /// Accepted, and not known to be from where it says.
    pub is_half_open: bool,
    /// Somebody has the slot, which may be nobody else's then.
    pub is_held: bool,
    /// Somebody waits until everything posted is complete.
    pub awaits_sent: bool,
}

impl<A, S: Source, R: Sink> Entry<A, S, R> {
    pub fn new(address: A, connection: Connection<S, R>) -> Self {
        let is_half_open = !connection.is_verified();
        Self {
            address,
            connection,
            is_sending: false,
            is_eventful: false,
            is_half_open,
            is_held: false,
            awaits_sent: false,
        }
    }

    /// Has the peer told that there may be room for what was refused.
    #[inline]
    pub fn announce_room(&mut self, slot: Slot, sending: &mut VecDeque<Slot>) {
        if !self.is_sending && self.connection.room_is_news() {
            self.is_sending = true;
            sending.push_back(slot);
        }
    }

    /// Whether there are events, or that is complete which somebody waits for.
    #[inline]
    pub fn has_news(&self) -> bool {
        self.connection.has_event() || self.awaits_sent && self.connection.all_sent()
    }

    /// Whether nothing more will come of it, and nobody has its slot.
    pub fn is_over(&self) -> bool {
        self.connection.is_finished() && !self.is_sending && !self.is_eventful && !self.is_held
    }
}
