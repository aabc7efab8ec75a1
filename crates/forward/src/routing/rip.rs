//! RIP version 2 (RFC 2453) and RIPng (RFC 2080): messages.

mod check;
mod ng;
mod signed;
mod v2;

pub(crate) use check::{may_be_told, network};
pub use {
    check::{EntryError, RouteEntry},
    signed::Sequences,
};

/// UDP port of RIP version 2.
pub const RIP_PORT: u16 = 520;
/// UDP port of RIPng.
pub const RIPNG_PORT: u16 = 521;
/// The metric that says that there is no way.
pub const INFINITY: u8 = 16;
/// Octets of an entry, in both versions.
const ENTRY: usize = 20;
/// Octets in front of the entries, in both versions.
const HEADER: usize = 4;

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// RIP version 2, for IPv4.
    Rip2,
    /// RIPng, for IPv6.
    RipNg,
}

/// What a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Asks for routes.
    Request,
    /// Tells routes.
    Response,
}

/// A message as it came, or as it is to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// What it is for.
    pub command: Command,
    /// What it asks for or tells, or why an entry can't be used. Each is on its own: one that is wrong leaves the others.
    pub entries: Vec<Result<RouteEntry, EntryError>>,
    /// Of a request, that it asks for all routes; it has no entries then.
    pub whole_table: bool,
}

/// Why a message is refused as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// Shorter than a header, or no whole number of entries.
    #[error("{0} octets, which is no header with entries")]
    Length(usize),
    /// More entries than a message may have.
    #[error("{0} entries")]
    TooMany(usize),
    /// Neither request nor response.
    #[error("command {0}")]
    Command(u8),
    /// Another version.
    #[error("version {0}")]
    Version(u8),
    /// Not authenticated, though it must be; or authenticated though it must not, or in another way.
    #[error("authentication is missing, or of another kind")]
    Authentication,
    /// The password is another.
    #[error("a wrong password")]
    Password,
    /// No key has this id.
    #[error("no key has id {0}")]
    UnknownKey(u8),
    /// The digest is not that of the message.
    #[error("a wrong digest")]
    Digest,
    /// A message of before, sent again.
    #[error("a message that was there before")]
    Replay,
}

impl Version {
    /// Its UDP port.
    pub fn port(self) -> u16 {
        match self {
            Self::Rip2 => RIP_PORT,
            Self::RipNg => RIPNG_PORT,
        }
    }

    fn number(self) -> u8 {
        match self {
            Self::Rip2 => 2,
            Self::RipNg => 1,
        }
    }

    /// Command, and the octets behind the header.
    fn header(self, bytes: &[u8]) -> Result<(Command, &[u8]), MessageError> {
        let (&[command, version, _, _], body) =
            bytes.split_first_chunk::<HEADER>().ok_or(MessageError::Length(bytes.len()))?;
        let command = match command {
            1 => Command::Request,
            2 => Command::Response,
            other => return Err(MessageError::Command(other)),
        };
        if version != self.number() {
            return Err(MessageError::Version(version));
        }
        Ok((command, body))
    }

    fn start(self, command: Command) -> Vec<u8> {
        let command = match command {
            Command::Request => 1,
            Command::Response => 2,
        };
        vec![command, self.number(), 0, 0]
    }
}

pub use {
    ng::{read as read_ng, write as write_ng},
    v2::{read as read_v2, write as write_v2},
};
