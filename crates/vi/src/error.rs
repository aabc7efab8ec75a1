//! What may go wrong, by the operation that reports it.

use std::io;

/// Why a descriptor was not carried out. It comes with the descriptor's completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompletionError {
    /// The message is longer than the buffers posted for it, or than the fabric carries.
    #[error("the message is longer than its buffers")]
    TooLong,
    /// A buffer's memory has another protection tag than the VI, or is not registered with this fabric.
    #[error("memory of another protection tag, or not registered")]
    Protection,
    /// A peer was shown more memory than it takes: this side by the peer or the other way round. See
    /// [`ViAttributes::peer_memory`](crate::ViAttributes::peer_memory), and [`Nic::register`](crate::Nic::register) for how much can be
    /// shown at all.
    #[error("more memory than can be shown to the peer")]
    TooMuchMemory,
    /// The peer cannot be shown a buffer's memory, since for five seconds it has taken no note of what it was shown or told before, or
    /// the system has had no room for that, or the user too many files on their way between processes.
    #[error("the peer takes no note of what memory it is shown")]
    Unheeded,
    /// Memory that was shown, by this side or the peer, cannot be mapped at the other: that process has no room for it, or may
    /// open no more files.
    #[error("no room to map the memory that was shown")]
    NotMapped,
    /// The remote memory is unknown, stale, too short, of another tag, or lacks the right.
    #[error("no such right to remote memory")]
    RemoteProtection,
    /// A message arrived and no receive descriptor was posted.
    #[error("no receive descriptor was posted at the receiver")]
    ReceiveQueueEmpty,
    /// The other side disconnected before the descriptor was carried out.
    #[error("disconnected by the peer")]
    Disconnected,
    /// The other side is gone without a word, or does not answer.
    #[error("the connection is lost")]
    ConnectionLost,
    /// The other side broke the rules of the fabric.
    #[error("the peer broke the protocol")]
    Protocol,
    /// Nobody listens where the VI was [connected early](crate::Vi::connect_early).
    #[error("nobody listens there")]
    NobodyListens,
    /// The listener refused the VI that was [connected early](crate::Vi::connect_early).
    #[error("refused by the peer")]
    Refused,
    /// The VI broke, or was disconnected, while the descriptor waited behind others.
    #[error("flushed when the VI stopped")]
    Flushed,
}

impl CompletionError {
    /// What the peer's sends fail with when this side stops for this reason.
    pub(crate) fn as_told_to_the_peer(self) -> Self {
        match self {
            Self::TooLong | Self::ReceiveQueueEmpty | Self::TooMuchMemory | Self::NotMapped => self,
            Self::Disconnected | Self::Flushed => Self::Disconnected,
            _ => Self::ConnectionLost,
        }
    }
}

/// Why a descriptor was not taken into a work queue; the descriptor is handed back.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
pub struct PostError<D> {
    /// Why.
    pub reason: PostRefused,
    /// The descriptor with its buffers.
    pub descriptor: D,
}

/// The reasons of a [`PostError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PostRefused {
    /// As many descriptors as the queue holds are outstanding or not yet taken back.
    #[error("the work queue is full")]
    QueueFull,
    /// Sends need a connected VI.
    #[error("the VI is not connected")]
    NotConnected,
}

/// Why a wait ended without a completion.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WaitError {
    /// The time is over.
    #[error("nothing completed in time")]
    Timeout,
    /// Nothing is outstanding on this queue, or the VI is not connected: nothing would complete, however long one waits.
    #[error("nothing is outstanding")]
    NothingOutstanding,
    /// The operating system refused to wait.
    #[error("cannot wait: {0}")]
    Io(#[from] io::Error),
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// Nobody listens under this address and discriminator.
    #[error("nobody listens there")]
    NobodyListens,
    /// The listener refused.
    #[error("rejected by the peer")]
    Rejected,
    /// The two VIs have different reliability levels.
    #[error("the two sides have different reliability levels")]
    ReliabilityMismatch,
    /// The time is over.
    #[error("no connection in time")]
    Timeout,
    /// The VI is connected, or was: a VI connects once.
    #[error("the VI is not idle")]
    NotIdle,
    /// The other process belongs to another user.
    #[error("the peer belongs to user {0}")]
    OtherUser(u32),
    /// The VI belongs to another fabric than the request.
    #[error("the VI and the request belong to different fabrics")]
    OtherFabric,
    /// The fabric does not offer this reliability level.
    #[error("the fabric does not offer this reliability level")]
    Unsupported,
    /// The address is none of this fabric, or the discriminator is too long.
    #[error("not an address of this fabric")]
    BadAddress,
    /// The peer sent something that is not the protocol, or memory that cannot be trusted.
    #[error("the peer broke the protocol: {0}")]
    Protocol(&'static str),
    /// The operating system refused.
    #[error("cannot connect: {0}")]
    Io(#[from] io::Error),
}

impl From<rustix::io::Errno> for ConnectError {
    fn from(errno: rustix::io::Errno) -> Self {
        Self::Io(errno.into())
    }
}

/// Why a NIC, a VI or registered memory could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResourceError {
    /// A size or number is out of range.
    #[error("{0} is out of range")]
    OutOfRange(&'static str),
    /// The address is taken.
    #[error("the address is taken")]
    AddressInUse,
    /// The operating system refused.
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl From<rustix::io::Errno> for ResourceError {
    fn from(errno: rustix::io::Errno) -> Self {
        Self::Io(errno.into())
    }
}
