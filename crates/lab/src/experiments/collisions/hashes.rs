//! The hash functions, the paper's and today's.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use crc::{Algorithm, CRC_8_AUTOSAR, CRC_8_SMBUS, Crc};
use rustc_hash::FxBuildHasher;
use throughline_demux::{FlowId, HashKind, KeyHash};

/// A hash function, ready to use.
type Boxed = Box<dyn Fn(&FlowId, u32) -> u64>;

/// A hash function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    /// The label that the source put into the packet.
    Source,
    /// XOR of all bytes.
    Xor8,
    /// XOR of all 16-bit words.
    Xor16,
    /// CRC-8 of either half, as 16 bits; the polynomial is ATM's, x^8 + x^2 + x + 1. The paper doesn't say which it takes.
    Crc8Atm,
    /// The same with a polynomial of more terms, AUTOSAR's.
    Crc8,
    /// Ethernet's CRC.
    Crc32,
    /// FNV-1a.
    Fnv,
    /// By the golden ratio.
    Multiplicative,
    /// The Rust compiler's, for keys that nobody chooses.
    Rustc,
    /// SipHash-1-3, the standard library's.
    Sip,
    /// foldhash with a secret seed, the library's default.
    Keyed,
}

impl Function {
    pub(crate) const ALL: [Self; 11] = [
        Self::Source,
        Self::Xor8,
        Self::Xor16,
        Self::Crc8Atm,
        Self::Crc8,
        Self::Crc32,
        Self::Fnv,
        Self::Multiplicative,
        Self::Rustc,
        Self::Sip,
        Self::Keyed,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Xor8 => "xor, bytes",
            Self::Xor16 => "xor, words",
            Self::Crc8Atm => "crc-8 twice, 07",
            Self::Crc8 => "crc-8 twice, 2f",
            Self::Crc32 => "crc-32",
            Self::Fnv => "fnv-1a",
            Self::Multiplicative => "multiplicative",
            Self::Rustc => "rustc-hash",
            Self::Sip => "siphash",
            Self::Keyed => "keyed",
        }
    }

    /// Whether the figure has it: as many as can be told apart.
    pub(crate) const fn is_drawn(self) -> bool {
        !matches!(self, Self::Multiplicative | Self::Fnv | Self::Rustc | Self::Sip)
    }

    /// The function of a flow id and of the label that came with it. Of the seed only the keyed one takes notice.
    pub(crate) fn with_seed(self, seed: u64) -> Boxed {
        let library = |kind: HashKind| -> Boxed {
            let hash = kind.with_seed(seed);
            Box::new(move |flow, _| hash.hash(flow))
        };
        match self {
            Self::Source => Box::new(|_, label| label.into()),
            Self::Xor8 => Box::new(|flow, _| flow.as_bytes().iter().fold(0, |sum, byte| sum ^ byte).into()),
            Self::Crc8Atm => crc_8_twice(&CRC_8_SMBUS),
            Self::Crc8 => crc_8_twice(&CRC_8_AUTOSAR),
            Self::Rustc => Box::new(|flow, _| FxBuildHasher.hash_one(flow)),
            Self::Sip => Box::new(|flow, _| BuildHasherDefault::<DefaultHasher>::default().hash_one(flow)),
            Self::Xor16 => library(HashKind::XorFold),
            Self::Crc32 => library(HashKind::Crc32),
            Self::Fnv => library(HashKind::Fnv1a),
            Self::Multiplicative => library(HashKind::Multiplicative),
            Self::Keyed => library(HashKind::Keyed),
        }
    }
}

fn crc_8_twice(algorithm: &'static Algorithm<u8>) -> Boxed {
    let crc = Crc::<u8>::new(algorithm);
    Box::new(move |flow, _| {
        let (first, second) = flow.as_bytes().split_at(6);
        u64::from(crc.checksum(first)) << 8 | u64::from(crc.checksum(second))
    })
}
