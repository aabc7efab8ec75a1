//! Why a message went no further, and what users are refused.

/// Why a message went no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[repr(u8)]
pub enum Discard {
    /// Shorter than the header, or than the header says.
    #[error("truncated")]
    Truncated,
    /// A header that makes no sense.
    #[error("malformed header")]
    Malformed,
    /// A check sum does not agree.
    #[error("wrong checksum")]
    Checksum,
    /// Addressed to someone else.
    #[error("not for this host")]
    NotForUs,
    /// From an address that nobody may send from: our own, a group's, or none.
    #[error("impossible source address")]
    Source,
    /// No protocol of the graph has this number.
    #[error("unknown protocol")]
    UnknownProtocol,
    /// Nobody opened or enabled this port.
    #[error("no such port")]
    NoPort,
    /// Nobody has this application id.
    #[error("unknown application id")]
    UnknownApplication,
    /// The headers above do not belong to the path that the lowest named.
    #[error("headers of another path")]
    WrongPath,
    /// A fragment that overlaps others, or makes the datagram longer than can be.
    #[error("impossible fragment")]
    Fragment,
    /// The time to complete a datagram has passed, or others needed its place.
    #[error("datagram not completed")]
    Incomplete,
    /// There are as many sessions as may be, all in use.
    #[error("too many sessions")]
    Sessions,
    /// The receiver has no room.
    #[error("receive queue full")]
    QueueFull,
    /// More than the receiver is due.
    #[error("above the rate")]
    Rate,
    /// The send queue has no room.
    #[error("send queue full")]
    SendQueueFull,
    /// Nobody answers for the next hop's address.
    #[error("next hop does not answer")]
    Unresolved,
    /// It has come before, or something later has.
    #[error("came before")]
    Duplicate,
    /// Nobody has a key of this id.
    #[error("unknown key")]
    UnknownKey,
    /// Not sealed by who has the key, or changed since.
    #[error("forged")]
    Forged,
}

impl Discard {
    /// All reasons, in the order of their numbers.
    pub const ALL: [Self; 19] = [
        Self::Truncated,
        Self::Malformed,
        Self::Checksum,
        Self::NotForUs,
        Self::Source,
        Self::UnknownProtocol,
        Self::NoPort,
        Self::UnknownApplication,
        Self::WrongPath,
        Self::Fragment,
        Self::Incomplete,
        Self::Sessions,
        Self::QueueFull,
        Self::Rate,
        Self::SendQueueFull,
        Self::Unresolved,
        Self::Duplicate,
        Self::UnknownKey,
        Self::Forged,
    ];

    /// The name used in counters.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Truncated => "truncated",
            Self::Malformed => "malformed",
            Self::Checksum => "checksum",
            Self::NotForUs => "not_for_us",
            Self::Source => "source",
            Self::UnknownProtocol => "unknown_protocol",
            Self::NoPort => "no_port",
            Self::UnknownApplication => "unknown_application",
            Self::WrongPath => "wrong_path",
            Self::Fragment => "fragment",
            Self::Incomplete => "incomplete",
            Self::Sessions => "sessions",
            Self::QueueFull => "queue_full",
            Self::Rate => "rate",
            Self::SendQueueFull => "send_queue_full",
            Self::Unresolved => "unresolved",
            Self::Duplicate => "duplicate",
            Self::UnknownKey => "unknown_key",
            Self::Forged => "forged",
        }
    }
}

/// Why a session was not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// Someone has this port, application id, protocol number or key id already.
    #[error("taken by another user")]
    Taken,
    /// There are as many sessions as may be.
    #[error("too many sessions")]
    TooMany,
    /// The participants lack something that the protocol needs.
    #[error("the participants lack {0}")]
    Missing(&'static str),
    /// No address of ours, or no route, leads there, as to our own addresses; or, for TCP, it leads to more than one host.
    #[error("no route to the remote host")]
    NoRoute,
    /// The protocol has no users of this kind.
    #[error("this protocol is not for users")]
    NotForUsers,
    /// There is no such protocol in the graph.
    #[error("no such protocol in the graph")]
    NoProtocol,
}

/// Why a message was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The path is closed, or its connection is over.
    #[error("no such path")]
    NoPath,
    /// The message lacks headroom, or is longer than the protocol, or a stream's buffer, can carry.
    #[error("message too long")]
    TooLong,
    /// There is no room in a queue: the device's, that of messages that wait for the next hop's address, or a stream's buffer. A path
    /// of a stream becomes [ready](crate::Graph::ready) when there is more.
    #[error("send queue full")]
    QueueFull,
    /// No route leads there any more.
    #[error("no route")]
    NoRoute,
    /// The call before has not been answered.
    #[error("the call before has not been answered")]
    Busy,
    /// No call is waiting for this reply.
    #[error("no call waits for a reply")]
    NoCall,
    /// A session of this kind does not send.
    #[error("this session sends nothing")]
    NotForUsers,
    /// The key has sealed as many messages as it may.
    #[error("the key has sealed as many messages as it may")]
    KeyUsedUp,
}

/// What went wrong on a path, other than with a message of its user's. But for [`Unanswered`](Self::Unanswered) it is what a host
/// or a router said of a packet that was sent: news, no proof, since whoever guesses addresses and ports can say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// The other end said nothing for long, though it was asked again and again: whether it has executed the call is not
    /// known.
    #[error("the call was not answered")]
    Unanswered,
    /// Nobody is at the port.
    #[error("nobody is at the port")]
    NoPort,
    /// The host has no such protocol.
    #[error("the other host has no such protocol")]
    NoProtocol,
    /// The host or its network is not reached.
    #[error("the other host is not reached")]
    Unreachable,
    /// Somebody forbids it.
    #[error("prohibited on the way")]
    Prohibited,
    /// The packet is longer than some link carries.
    #[error("longer than a link on the way carries")]
    TooLong,
    /// It was on its way for too long, or pieces of it were lost.
    #[error("not arrived, or not complete, in time")]
    Expired,
}

/// A message is longer than the place that was made for it: so many bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the message has {0} bytes, more than there is a place for")]
pub struct TooLong(pub usize);

/// Why a stream gave or took nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StreamError {
    /// The path is not a stream: it carries messages.
    #[error("this path carries messages, not a stream")]
    NoStream,
    /// There is no such path.
    #[error("no such path")]
    NoPath,
    /// The other end has sent everything that it will send, and all of it was read.
    #[error("the other end has finished")]
    Finished,
    /// The connection is broken, refused, or closed on our side.
    #[error("the connection is closed")]
    Closed,
}
