//! Memory that segments will need.

use smoltcp::socket::tcp;
use throughline_demux::{Slot, prefetch_at};

use super::Tcp;
use crate::{Lead, Reach};

/// Bytes of a connection's next data that are fetched: the processor sees by itself how longer ones go on.
const BEGINNING: usize = 64;

impl Tcp {
    /// From a session to its socket, and from there to the buffers' places that a segment and its answer will need.
    #[inline]
    pub(super) fn fetch_ahead(&mut self, slot: Slot, reach: Reach) -> Option<Lead> {
        if reach == Reach::Session {
            self.sessions.prefetch(slot);
            return None;
        }
        let session = self.sessions.get(slot)?;
        if reach == Reach::Data {
            fetch_places(session.socket()?);
            return None;
        }
        let len = size_of::<tcp::Socket<'static>>();
        Some(Lead { upper: session.upper, parts: session.prefetch_socket(), len })
    }
}

/// Nothing is taken out of the buffers, or put into them.
fn fetch_places(socket: &mut tcp::Socket<'static>) {
    let _ = socket.recv(|data| (0, prefetch_at(data.as_ptr_range().end, BEGINNING)));
    let _ = socket.send(|room| (0, prefetch_at(room.as_ptr(), BEGINNING)));
}
