//! Randomness for what strangers must not guess.

use throughline_demux::{Arena, ConfigError};

/// An arena whose nonces come from the operating system's generator.
pub(crate) fn arena<R>(max: u32) -> Result<Arena<R>, ConfigError> {
    Arena::try_new(max)
}

/// A seed for a keyed hash.
pub(crate) fn seed() -> u64 {
    throughline_demux::NonceSource::next_nonce(&mut throughline_demux::OsNonces::default())
}
