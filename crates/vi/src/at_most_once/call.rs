//! What a call is known by.

use throughline_demux::Carried;

/// Octets of a [`CallId`] in a packet.
pub const CALL_ID: usize = 28;

/// Who calls. The id decides; the index says where to look.
pub type CallerId = Carried<u64>;

/// What identifies a call. In packets, little-endian:
///
/// ```text
///  0                 4                                   12
/// +-----------------+-----------------------------------+
/// | index           | caller's id                       |
/// +-----------------+-----------------+-----------------+-----------------+
/// | number of the call                | numbers below are settled         |
/// +-----------------------------------+-----------------------------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallId {
    /// Who calls.
    pub caller: CallerId,
    /// Which of its calls: 0, 1, 2, ... Of an [acknowledgement](Call::Acknowledgement), the next call.
    pub number: u64,
    /// The caller has the replies of all calls with lower numbers, or gave them up. At most `number`.
    pub settled: u64,
}

/// What a caller sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call<Q> {
    /// A call, with its request.
    Request(Q),
    /// No call, only news of what is settled.
    Acknowledgement,
}

impl CallId {
    /// The id in a packet.
    pub fn to_octets(&self) -> [u8; CALL_ID] {
        let mut octets = [0; CALL_ID];
        octets[..4].copy_from_slice(&self.caller.index.to_le_bytes());
        octets[4..12].copy_from_slice(&self.caller.key.to_le_bytes());
        octets[12..20].copy_from_slice(&self.number.to_le_bytes());
        octets[20..].copy_from_slice(&self.settled.to_le_bytes());
        octets
    }

    /// The id in a packet; any octets are one, though [`CallTable`](super::CallTable) refuses some.
    pub fn from_octets(octets: &[u8; CALL_ID]) -> Self {
        let word = |at: usize| u64::from_le_bytes(*octets[at..].first_chunk().expect("8 octets"));
        let index = u32::from_le_bytes(*octets.first_chunk().expect("4 octets"));
        Self { caller: CallerId { index, key: word(4) }, number: word(12), settled: word(20) }
    }
}
