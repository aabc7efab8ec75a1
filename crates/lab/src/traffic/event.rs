//! What a stream consists of.

use itertools::Itertools;

/// A packet arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Nanoseconds since the beginning.
    pub time: u64,
    /// Whose packet: a number from 0.
    pub flow: u32,
    /// What it is.
    pub kind: Kind,
}

/// What a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A user enters a transaction.
    Entry,
    /// A user acknowledges a response.
    Acknowledgement,
    /// Part of a transaction that overlaps with another of the same user; see [`TpcA::waits`](super::TpcA::waits).
    Overlapping,
    /// Data, or the answer to a poll.
    Data,
    /// The first packet of a connection, which is then inserted.
    Open,
    /// The last packet of a connection, which is then removed.
    Close,
    /// A packet for a flow that does not exist.
    Stray,
}

impl Kind {
    /// As rows have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Entry => "entry",
            Self::Acknowledgement => "acknowledgement",
            Self::Overlapping => "overlapping",
            Self::Data => "data",
            Self::Open => "open",
            Self::Close => "close",
            Self::Stray => "stray",
        }
    }
}

/// A stream of any kind.
pub type Stream = Box<dyn Iterator<Item = Event>>;

/// Several streams as one, in the order of time; at the same moment, in the order given.
pub fn together(streams: impl IntoIterator<Item = Stream>) -> impl Iterator<Item = Event> {
    // Of what is at the same time the merge takes any first, so the streams are numbered.
    let numbered = streams.into_iter().enumerate().map(|(n, stream)| stream.map(move |event| (n, event)));
    numbered.kmerge_by(|a, b| (a.1.time, a.0) < (b.1.time, b.0)).map(|(_, event)| event)
}

/// The same stream, its flows counted from `first`.
pub fn from_flow(first: u32, stream: impl Iterator<Item = Event>) -> impl Iterator<Item = Event> {
    stream.map(move |event| Event { flow: event.flow + first, ..event })
}

/// A stream up to the last of `packets` that are counted, which are those from the time `warm` on.
pub(crate) fn until_counted(
    stream: impl Iterator<Item = Event>,
    warm: u64,
    packets: usize,
) -> impl Iterator<Item = Event> {
    let mut left = packets;
    stream.take_while(move |event| {
        let more = left > 0;
        left = left.saturating_sub(usize::from(event.time >= warm));
        more
    })
}

/// Seconds as nanoseconds.
pub fn seconds(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}
