//! Memory that segments will need.

use smoltcp::socket::Socket;
use throughline_demux::prefetch;

use super::{Tcp, key};
use crate::{Layer, Lower, Message, Upper, shepherd::AT_ONCE};

/// Of fewer connections what is needed is in the caches, where asking ahead costs more than it saves.
pub(super) const FORESEEN: usize = 512;

impl Tcp {
    /// Starts to fetch the connections of these segments. What is needed leads from one to the next: the table of keys, the
    /// session, its socket; each step is taken for all segments before the next.
    pub(super) fn foresee_all(
        &mut self,
        segments: &mut dyn Iterator<Item = (Layer, &Message)>,
        lower: &mut Lower<'_>,
    ) {
        let mut keys = heapless::Vec::<u64, AT_ONCE>::new();
        let ports = |(below, message)| Self::header(message).ok().map(|(from, to)| key(below, from, to));
        keys.extend(segments.filter_map(ports).take(AT_ONCE));
        let mut slots = [None; AT_ONCE];
        self.sessions.foresee(&keys, &mut slots[..keys.len()]);
        for slot in slots.into_iter().flatten() {
            let Some(session) = self.sessions.get(slot) else { continue };
            if let Some((_, Socket::Tcp(socket))) = session.sockets.iter().next() {
                prefetch(socket);
            }
            if let Upper::User(path) = session.upper {
                lower.foresee_path(path);
            }
        }
    }
}
