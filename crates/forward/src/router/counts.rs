//! What became of the frames that came to a router.

macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)+) => {
        /// Why a router sends a packet no further.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Refused {
            $($(#[$doc])* $name,)+
        }

        impl Refused {
            /// All reasons there are.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// In words.
            pub const fn text(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)+
                }
            }
        }
    };
}

reasons! {
    /// Its hardware address is another's.
    NotForUs = "not for us",
    /// Neither IP nor ARP.
    Protocol = "not IP",
    /// The label is none.
    Label = "bad label",
    /// The frame ends within the packet.
    Truncated = "truncated",
    /// The header makes no sense, or it says by which way the router is to answer.
    Malformed = "malformed header",
    /// The sum of IPv4's header is wrong, or that of a datagram to the router.
    Checksum = "wrong checksum",
    /// A sender that can't be one, such as the router itself.
    Source = "impossible source",
    /// A destination that can't be one, or one on the link only.
    Destination = "impossible destination",
    /// Its source is not where it came from, so that it might go round.
    WrongWay = "not from where its source is",
    /// It has passed as many routers as it may. Its sender is told, as for those below.
    TimeExceeded = "time exceeded",
    /// No prefix matches.
    NoRoute = "no route",
    /// Longer than the next network carries, and not to be cut.
    TooBig = "too big",
    /// To the router, and pieces of it have not come in time. Its sender is told if the first has.
    Incomplete = "pieces are missing",
    /// The next hop doesn't say its hardware address.
    NoHost = "next hop does not answer",
    /// Something of the router itself that it doesn't have. Of messages of ICMP nobody is told.
    NoPort = "no such port or protocol here",
    /// Too many wait for hardware addresses.
    Waiting = "too many wait",
    /// There is no room for a header or a piece.
    NoRoom = "no room",
}

/// What became of the frames.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RouterCounts {
    /// Frames that arrived.
    pub arrived: u64,
    /// Packets sent on, whole or in pieces. Those that wait for the next hop's hardware address are not yet.
    pub forwarded: u64,
    /// Packets and ARP frames for the router itself.
    pub local: u64,
    /// Errors, echoes and messages of protocols sent by the router; not those that wait, as above.
    pub said: u64,
    /// Lookups by threaded index that led to the destination's entry.
    pub threaded: u64,
    /// Indices of groups that led to another group, or to none.
    pub group_misses: u64,
    /// Messages about indices of groups that were refused.
    pub group_refusals: u64,
    /// Packets that were given a label.
    pub labelled: u64,
    /// Packets whose label was taken off, since the next neighbours know none or the link has no room for it.
    pub unlabelled: u64,
    /// Labels that came from neighbours who are said to know none: they were taken off, unread.
    pub distrusted: u64,
    refused: [u64; Refused::ALL.len()],
}

/// What a frame is counted as when it leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaves {
    /// Somebody else's packet.
    Forwarded,
    /// One of the router's own.
    Said,
    /// A piece of a packet of which another one is counted.
    Piece,
}

impl RouterCounts {
    /// A frame leaves.
    #[inline]
    pub(super) fn leave(&mut self, what: Leaves) {
        match what {
            Leaves::Forwarded => self.forwarded += 1,
            Leaves::Said => self.said += 1,
            Leaves::Piece => {}
        }
    }

    /// How many were refused for this reason.
    pub fn refused(&self, why: Refused) -> u64 {
        self.refused[why as usize]
    }

    #[cold]
    pub(super) fn refuse(&mut self, why: Refused) {
        self.refused[why as usize] += 1;
    }
}
