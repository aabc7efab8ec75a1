//! Flow ids and source hashes: what a sender labels its messages with, so that the receiver need not search.
//!
//! A *flow* is a stream of messages that are treated alike: here, the calls of one client to one server. Its *id* is
//! unique in space and time; its *source hash* is a number that the sender chooses once and the receiver uses as an
//! index into its table of flows, instead of a hash it would have to compute. An index that leads to another flow's entry is
//! no harm: the id is compared.

use core::sync::atomic::{AtomicU64, Ordering};

/// How a message's flow is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flow {
    /// Unique among all flows, those of crashed processes included.
    pub id: u64,
    /// Where the receiver looks first: as many low bits as its table wants. The same for all messages of a flow.
    ///
    /// Usually random ([`FlowIds`]); [`precomputed`](precomputed_hash) where several senders share a flow id;
    /// or a slot that the receiver gave out, which then never collides.
    pub source_hash: u32,
}

/// Names for the flows that a process begins.
///
/// Ids are `base`, `base + 1`, ..., and `base` is 64 random bits drawn when the process starts.
///
/// - *Unique in space*: a process that begins k flows uses an interval of k ids. P processes that do so meet with a
///   probability of about P^2 k / 2^64: for a million processes, restarts included, of a thousand flows each, 0.005 %.
///   With a random id for each
///   flow it would be 3 %.
/// - *Unique in time*: a process that crashed starts again with another base, so that messages of its past still under
///   way, and state that servers still keep, are never taken for those of its present. Nothing is stored.
///
/// The seed is the state of a process: after `fork`, the child needs a new `FlowIds`.
#[derive(Debug)]
pub struct FlowIds {
    next: AtomicU64,
    hash_seed: u64,
}

impl FlowIds {
    /// `random` must be 128 bits from the system's random source, anew for each process.
    pub const fn new(random: [u64; 2]) -> Self {
        Self { next: AtomicU64::new(random[0]), hash_seed: random[1] }
    }

    /// A name that no flow has had.
    ///
    /// Its source hash is random, by the paper's first way to assign it: pseudo-random numbers whose seed is unique
    /// to the source. What others know of a flow's id tells them nothing of the hashes.
    pub fn next(&self) -> Flow {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        Flow { id, source_hash: (mix(mix(id) ^ self.hash_seed) >> 32) as u32 }
    }
}

/// The source hash that all senders agree on for a flow id: the paper's second way, for ids that several sources use (an
/// address, say), which would otherwise take a place in the receiver's table for each of them.
///
/// Whoever can choose ids can make these collide.
pub const fn precomputed_hash(flow_id: u64) -> u32 {
    (mix(flow_id) >> 32) as u32
}

/// Every bit of the input reaches every bit of the result (the finaliser of MurmurHash3).
pub(crate) const fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    word = (word ^ (word >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    word ^ (word >> 33)
}
