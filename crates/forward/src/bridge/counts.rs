//! What became of a bridge's frames.

/// What became of the frames that came to a bridge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BridgeCounts {
    /// Frames that arrived.
    pub arrived: u64,
    /// Sent to the one port that their destination is behind.
    pub forwarded: u64,
    /// Sent to all other ports.
    pub flooded: u64,
    /// Not sent, since their destination is where they came from.
    pub near: u64,
    /// Dropped, since there were too many to flood.
    pub storm: u64,
    /// Dropped, since the spanning tree does not go by the port that they came by.
    pub blocked: u64,
    /// Dropped: to a group that no bridge forwards to, from an impossible address, or no frame.
    pub refused: u64,
    /// Addresses not learnt for want of room.
    pub full: u64,
    /// Addresses that were at another port before.
    pub moved: u64,
    /// Frames that were given a label.
    pub labelled: u64,
    /// Frames whose label was taken off, since the port's stations know none or the link has no room for it.
    pub unlabelled: u64,
    /// Labels that came by a port whose stations are said to know none: they were taken off, unread.
    pub distrusted: u64,
}
