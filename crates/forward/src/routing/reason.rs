//! Why what a neighbour sent was not used.

use std::collections::BTreeMap;

use super::rip::{EntryError, MessageError};

/// Why a message, or one entry of it, was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Reason {
    /// Not the length of a message.
    #[error("length")]
    Length,
    /// More entries than a message may have, or than it has octets for.
    #[error("too many entries")]
    TooMany,
    /// No such command or kind of message.
    #[error("command")]
    Command,
    /// Another version.
    #[error("version")]
    Version,
    /// Authentication is missing, or of another kind.
    #[error("authentication")]
    Authentication,
    /// A wrong password.
    #[error("password")]
    Password,
    /// No key has the id.
    #[error("unknown key")]
    UnknownKey,
    /// A wrong digest.
    #[error("digest")]
    Digest,
    /// Sent before.
    #[error("replay")]
    Replay,
    /// An address family that is not this protocol's.
    #[error("address family")]
    Family,
    /// A mask that is no prefix.
    #[error("mask")]
    Mask,
    /// A prefix that nobody may tell.
    #[error("prefix")]
    Prefix,
    /// Bits behind the prefix.
    #[error("bits behind the prefix")]
    Host,
    /// A metric that there is not.
    #[error("metric")]
    Metric,
    /// A next hop that is ourselves.
    #[error("next hop")]
    NextHop,
    /// From another port than routers send from.
    #[error("source port")]
    Port,
    /// Not on the link, not configured, or with our own address.
    #[error("not a neighbour")]
    NotANeighbor,
    /// It tells routes but does not hear us: the link has failed in one direction.
    #[error("deaf neighbour")]
    Deaf,
    /// It was passed on by a router.
    #[error("hop limit")]
    HopLimit,
    /// The neighbour has as many routes as it may have.
    #[error("too many routes")]
    TooManyRoutes,
    /// The link has as many neighbours as it may have.
    #[error("too many neighbours")]
    TooManyNeighbors,
    /// It asks too often.
    #[error("asked too often")]
    TooOften,
    /// Of a router that has our own id.
    #[error("our own id")]
    OwnId,
    /// More routers, links or prefixes than are kept.
    #[error("too large a network")]
    Database,
}

impl From<MessageError> for Reason {
    fn from(error: MessageError) -> Self {
        match error {
            MessageError::Length(_) => Self::Length,
            MessageError::TooMany(_) => Self::TooMany,
            MessageError::Command(_) => Self::Command,
            MessageError::Version(_) => Self::Version,
            MessageError::Authentication => Self::Authentication,
            MessageError::Password => Self::Password,
            MessageError::UnknownKey(_) => Self::UnknownKey,
            MessageError::Digest => Self::Digest,
            MessageError::Replay => Self::Replay,
        }
    }
}

impl From<EntryError> for Reason {
    fn from(error: EntryError) -> Self {
        match error {
            EntryError::Family(_) => Self::Family,
            EntryError::Mask => Self::Mask,
            EntryError::Prefix => Self::Prefix,
            EntryError::Host => Self::Host,
            EntryError::Metric(_) => Self::Metric,
        }
    }
}

/// How often each reason was met.
#[derive(Clone, Debug, Default)]
pub struct Refusals(BTreeMap<Reason, u64>);

impl Refusals {
    pub(crate) fn count(&mut self, reason: impl Into<Reason>) {
        *self.0.entry(reason.into()).or_default() += 1;
    }

    /// How often one was met.
    pub fn of(&self, reason: Reason) -> u64 {
        self.0.get(&reason).copied().unwrap_or(0)
    }

    /// Those that were met.
    pub fn iter(&self) -> impl Iterator<Item = (Reason, u64)> {
        self.0.iter().map(|(reason, count)| (*reason, *count))
    }
}
