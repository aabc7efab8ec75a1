//! Why a link does not go on.

use std::io;

use throughline_vi::{CompletionError, ConnectError, ResourceError, WaitError};

/// Why a link is of no use any more, or yet.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LinkError {
    #[error("no connection: {0}")]
    Connect(#[from] ConnectError),
    #[error("no virtual interface: {0}")]
    Resource(#[from] ResourceError),
    #[error("the connection failed: {0}")]
    Broken(#[from] CompletionError),
    #[error("no message in time")]
    Timeout,
    #[error("the peer does not take what it is sent")]
    Stalled,
    #[error("a message of more than {0} octets")]
    TooLong(usize),
    #[error("the host has no address")]
    Unknown,
    #[error("the host is not known: {0}")]
    Name(io::Error),
    #[error("cannot wait: {0}")]
    Wait(WaitError),
    #[error("a message that is none of this protocol")]
    Nonsense,
    #[error("no worker can read: {0}")]
    Unattended(io::Error),
    #[error("the ORB was shut down")]
    ShutDown,
}

impl LinkError {
    pub(crate) fn is_timeout(&self) -> bool {
        matches!(self, Self::Timeout)
    }

    /// The time was over before there was a connection.
    pub(crate) fn is_connect_timeout(&self) -> bool {
        match self {
            Self::Connect(error) => matches!(error, ConnectError::Timeout),
            Self::Name(error) => error.kind() == io::ErrorKind::TimedOut,
            _ => false,
        }
    }

    /// Nobody was there, or nobody wanted the connection.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self, Self::Broken(CompletionError::NobodyListens | CompletionError::Refused))
    }

    /// The peer closed the connection in order.
    pub(crate) fn is_farewell(&self) -> bool {
        matches!(self, Self::Broken(CompletionError::Disconnected))
    }
}

impl From<WaitError> for LinkError {
    fn from(error: WaitError) -> Self {
        match error {
            WaitError::Timeout => Self::Timeout,
            other => Self::Wait(other),
        }
    }
}
