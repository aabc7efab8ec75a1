//! What senders label their packets with: a flow id that no other flow has, and a number that says where nodes find the flow.
//!
//! The id is unique in space and, without anything being stored, in time: [`FlowIds`] counts on from 64 bits that a sender draws
//! when it starts, so after a crash its flows have other ids than before. The number is chosen in one of the paper's three
//! ways (3.1), or is the index of the destination at the first router (4):
//!
//! | way | [`Labeller`] | when |
//! |---|---|---|
//! | random | [`random`](Labeller::random) | flows of one sender: filters, routers |
//! | precomputed | [`precomputed`](Labeller::precomputed) | an id that several senders use, such as a destination |
//! | assigned with the address | [`assigned`](Labeller::assigned) | bridges |
//! | threaded | [`threaded`](Labeller::threaded) | the first router has told a [`Source`](crate::threaded::Source) |
//!
//! ```
//! use throughline_forward::{HEADROOM, Labeller, Packet, insert_label};
//! use throughline_stack::Message;
//! use throughline_wire::RegionList;
//!
//! let labeller = Labeller::new();
//! let label = labeller.random(); // once for a flow
//! let mut frame = Message::copied(HEADROOM, &[0; 60]);
//! insert_label(&mut frame, label, &RegionList::new())?;
//! assert_eq!(Packet::of(frame.bytes())?.label, Some(label));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use throughline_demux::{NonceSource, OsNonces};
use throughline_wire::{Flow, FlowIds, precomputed_hash};

use crate::{AddressIndices, Label};

/// How the number on a packet is chosen that has none yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assignment {
    /// Each flow has an id and a number of its own: packets with the same addresses, protocol and ports.
    Random,
    /// All packets to a destination have the same, whoever sends them.
    Precomputed,
    /// The indices that the addresses of the link were given, for bridges.
    Assigned,
}

/// Labels for the flows of a sender.
#[derive(Debug)]
pub struct Labeller {
    ids: FlowIds,
}

impl Default for Labeller {
    fn default() -> Self {
        Self::new()
    }
}

impl Labeller {
    /// Whose ids nobody had before, this sender in a former life included.
    ///
    /// # Panics
    /// When the system has no randomness to give.
    pub fn new() -> Self {
        let mut random = OsNonces::default();
        Self::with_random([random.next_nonce(), random.next_nonce()])
    }

    /// With 128 random bits of the caller's, anew for each sender and each of its lives.
    pub const fn with_random(random: [u64; 2]) -> Self {
        Self { ids: FlowIds::new(random) }
    }

    /// Of a new flow: an id that no flow has had, and a random hash.
    pub fn random(&self) -> Label {
        Label { flow: self.ids.next(), threaded: false }
    }

    /// Of a flow that several senders know by the same id: the hash that all of them compute.
    pub const fn precomputed(shared: u64) -> Label {
        Label { flow: Flow { id: shared, source_hash: precomputed_hash(shared) }, threaded: false }
    }

    /// Of a new flow between two stations whose addresses were given indices.
    pub fn assigned(&self, indices: AddressIndices) -> Label {
        let Flow { id, .. } = self.ids.next();
        Label { flow: Flow { id, source_hash: indices.word() }, threaded: false }
    }

    /// Of a new flow whose packets carry an index that the first router has told for their destination.
    pub fn threaded(&self, index: u32) -> Label {
        let Flow { id, .. } = self.ids.next();
        Label { flow: Flow { id, source_hash: index }, threaded: true }
    }
}
