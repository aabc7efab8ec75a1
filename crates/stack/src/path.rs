//! Paths: the sessions of one connection, from the device to the user.

use std::collections::VecDeque;

use throughline_demux::Handle;

use crate::{Layer, Message, ProtocolId, Trouble, rate::Bucket, run_queue::Entry, shepherd::Pending};

/// The most layers of a graph.
pub const MAX_LAYERS: usize = 6;

/// What a user holds of a path.
///
/// It becomes stale when the path is closed, or, for a path that was made for someone who sent first, when others needed
/// its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PathId(pub(crate) Handle);

/// What a user holds of a port, application id or protocol number that anyone may send to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ListenerId(pub(crate) Handle);

/// The sessions of one connection, one of each layer, and what has arrived for its user.
///
/// A session reaches its neighbours by its place in the array: that is the paper's doubly linked stack of sessions.
///
/// In this order what a message needs when it comes is in one cache line, and what its user needs in the next.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Path {
    /// Whether the path is in the list of those that have something.
    pub listed: bool,
    /// Whether a worker handles a message or other news of it.
    pub handled: bool,
    /// Whether there were further news meanwhile.
    pub again: bool,
    /// Whether its listener knows of it; of a connection that was opened, whether it has come about.
    pub announced: bool,
    /// Whether something came since the search for unused paths last passed.
    pub touched: bool,
    /// Whether it stays until it is closed, however silent.
    pub pinned: bool,
    /// Whether a rate is set for it, or for its listener.
    pub rated: bool,
    len: u8,
    /// Messages that were found to be for the user and are still to be processed.
    pub pending: u32,
    /// How many there may be of those and of the ones received.
    pub room: u32,
    /// Messages for the user.
    pub received: VecDeque<Message>,
    /// How urgent its messages are. 0: as their frames say.
    pub priority: u32,
    /// The session that the user sends by.
    pub top: Option<Layer>,
    /// The keys of what comes sealed.
    pub association: Option<u32>,
    layers: [Option<Layer>; MAX_LAYERS],
    /// The place in the run queue of the message that came last, while any is there: none overtakes another.
    pub rank: u64,
    /// What left the run queue meanwhile, to be put back.
    pub held: Vec<Entry<Pending>>,
    pub bucket: Option<Bucket>,
    /// Who wants paths like this one; `None` if it was opened.
    pub listener: Option<Handle>,
    /// What went wrong, and the user has not heard of.
    pub trouble: Option<Trouble>,
}

// With the 16 bytes that the arena adds, each begins at a cache line, and the first ends behind `received`.
#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(
        throughline_demux::Arena::<Path>::bytes_per_record() == 256
            && std::mem::offset_of!(Path, priority) == 48
    )
};

impl Path {
    /// A path whose sessions are to be set, with room for so many messages.
    pub fn new(room: u32, listener: Option<Handle>) -> Self {
        Self { room, listener, touched: true, ..Self::default() }
    }

    /// The sessions, bottom to top.
    #[inline]
    pub fn layers(&self) -> impl Iterator<Item = Layer> {
        self.layers[..usize::from(self.len)].iter().flatten().copied()
    }

    /// Whether its user has room for one more message.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.received.len() + (self.pending as usize) < self.room as usize
    }

    /// Whether the sessions are known.
    #[inline]
    pub fn is_complete(&self) -> bool {
        self.len > 0
    }

    /// The lowest session.
    pub fn lowest(&self) -> Option<Layer> {
        self.layers[0]
    }

    /// Whose session the user sends by.
    pub fn top_protocol(&self) -> ProtocolId {
        self.top.map_or(ProtocolId(0), |top| top.protocol)
    }

    /// The session at a layer, counted from the bottom.
    #[inline]
    pub fn layer(&self, index: usize) -> Option<Layer> {
        self.layers.get(index).copied().flatten()
    }

    /// Sets all sessions, bottom to top; those beyond [`MAX_LAYERS`] are never there.
    pub fn set_layers(&mut self, layers: impl Iterator<Item = Layer>) {
        self.len = 0;
        for (place, layer) in self.layers.iter_mut().zip(layers) {
            *place = Some(layer);
            self.len += 1;
        }
    }
}

/// A listener, and the paths made for it that its user has not seen yet.
#[derive(Debug, Default)]
pub(crate) struct Listener {
    /// The protocol at which it listens.
    pub protocol: u8,
    /// What it was enabled with.
    pub participants: crate::Participants,
    pub accepted: VecDeque<PathId>,
    /// The place among these that is next to be looked at for a path that is over.
    pub looked_at: usize,
    /// Room for messages of each path.
    pub room: u32,
    /// How urgent their messages are. 0: as their frames say.
    pub priority: u32,
    /// What is left of the rate of all its paths together.
    pub bucket: Option<Bucket>,
}

impl Listener {
    /// Takes paths that are over from those that its user has not seen: who learns of paths by what they bring never asks for
    /// them. It looks at some only, the next time at others, since whoever opens one more has all the time it takes.
    pub fn forget_over(&mut self, mut is_over: impl FnMut(PathId) -> bool) {
        const SOME: usize = 64;
        for _ in 0..SOME.min(self.accepted.len()) {
            let at = self.looked_at % self.accepted.len();
            self.looked_at = at;
            if is_over(self.accepted[at]) {
                self.accepted.remove(at);
            } else {
                self.looked_at += 1;
            }
        }
    }
}
