//! How many packets there were, and of which kind.

use super::binned::Bin;

/// How many packets there were of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Frames in the capture.
    pub frames: u64,
    /// Their octets on the wire.
    pub bytes: u64,
    /// Packets that belong to flows, and are looked up.
    pub packets: u64,
    /// Those of them that are TCP.
    pub tcp: u64,
    /// Those of them that are IPv6.
    pub v6: u64,
    /// Frames that carry no IP.
    pub not_ip: u64,
    /// IP packets that are neither TCP nor UDP, those that carry others among them.
    pub other_protocol: u64,
    /// IP packets cut off before their ports, or malformed.
    pub broken: u64,
    /// Fragments whose flow is not known.
    pub lost_fragments: u64,
    /// Packets to addresses that were not asked for.
    pub not_asked_for: u64,
    /// Frames of a link type that is not understood, and which one.
    pub unknown_link: u64,
    /// The link type of the last of these.
    pub last_unknown_link: u32,
    /// Frames that are earlier than one before them.
    pub set_back: u64,
    /// Nanoseconds by which they are, at most.
    pub most_set_back: u64,
    /// The most nanoseconds between two frames.
    pub longest_gap: u64,
    /// Flows that began.
    pub flows: u64,
    /// The most that were alive at once.
    pub most_live: u64,
    /// Flows taken out before their time, for want of room.
    pub evicted: u64,
}

/// An interval of the capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// Packets.
    pub packets: u64,
    /// Octets.
    pub bytes: u64,
    /// Flows that began.
    pub begun: u64,
    /// The most flows that were alive at once.
    pub live: u64,
}

impl Bin for Moment {
    fn join(&mut self, next: Self) {
        self.packets += next.packets;
        self.bytes += next.bytes;
        self.begun += next.begun;
        self.live = self.live.max(next.live);
    }
}
