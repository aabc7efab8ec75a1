//! What can be wrong with octets to be read, or values to be written.

use thiserror::Error;

/// The family of CORBA system exceptions that an error belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// `MARSHAL`: the octets do not follow the grammar of CDR.
    Marshal,
    /// `DATA_CONVERSION`: a character has no place in the other code set.
    DataConversion,
    /// `BAD_PARAM`: the caller passed a value that has no encoding.
    BadParam,
}

/// Why octets could not be decoded. Offsets count from the alignment base: the start of the message or of the
/// encapsulation being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The octets end inside a value.
    #[error("value at offset {offset} reaches past the end")]
    Truncated {
        /// Where the value starts.
        offset: u32,
    },
    /// A length that the rest of the octets cannot hold.
    #[error("length {length} at offset {offset} is more than the rest can hold")]
    LengthTooLarge {
        /// Where the length stands.
        offset: u32,
        /// The length as sent.
        length: u32,
    },
    /// A bounded string or sequence longer than its bound.
    #[error("length {length} is over the bound {bound}")]
    BoundExceeded {
        /// The length as sent.
        length: u32,
        /// The bound in IDL.
        bound: u32,
    },
    /// A boolean that is neither 0 nor 1.
    #[error("boolean at offset {offset} is neither 0 nor 1")]
    InvalidBoolean {
        /// Where the boolean stands.
        offset: u32,
    },
    /// An enumerator, or a discriminator, outside its type.
    #[error("{value} names no enumerator")]
    InvalidEnum {
        /// The value as sent.
        value: u32,
    },
    /// A string without its terminating NUL, or with a NUL inside.
    #[error("string at offset {offset} is not terminated by its only NUL")]
    InvalidTerminator {
        /// Where the string's octets start.
        offset: u32,
    },
    /// Wide text whose length does not fit its encoding.
    #[error("wide text at offset {offset} has a length of {length}, which its encoding cannot have")]
    InvalidWideLength {
        /// Where the text starts.
        offset: u32,
        /// The length as sent.
        length: u32,
    },
    /// Values nested deeper than the reader's limit.
    #[error("values nested too deep")]
    TooDeep,
    /// An encapsulation without a valid byte order octet.
    #[error("encapsulation at offset {offset} has no valid byte order")]
    InvalidEncapsulation {
        /// Where the encapsulation starts.
        offset: u32,
    },
    /// Text that is not valid in the transmission code set (`DATA_CONVERSION`).
    #[error("text at offset {offset} is invalid in the transmission code set")]
    InvalidText {
        /// Where the text starts.
        offset: u32,
    },
    /// Wide text where no wide code set was agreed upon; GIOP 1.0 has none (`MARSHAL`, minor code 5).
    #[error("wide text without a wide code set")]
    NoWideCharSet,
    /// Octets that follow CDR's grammar, but not that of the type.
    #[error("{what}")]
    Invalid {
        /// What is wrong, as a short constant text.
        what: &'static str,
    },
}

impl DecodeError {
    /// The family of system exceptions to raise for this error.
    pub const fn class(&self) -> ErrorClass {
        match self {
            Self::InvalidText { .. } => ErrorClass::DataConversion,
            _ => ErrorClass::Marshal,
        }
    }

    #[cold]
    pub(crate) fn truncated(offset: usize) -> Self {
        Self::Truncated { offset: saturate(offset) }
    }
}

/// Offsets beyond 4 GiB occur in no GIOP message; an error that reports one is no less true for being clipped.
pub(crate) fn saturate(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

/// Why a value could not be encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// A string or sequence longer than an unsigned long can tell.
    #[error("longer than a CDR length can tell")]
    LengthOverflow,
    /// A string with a NUL inside, which IDL strings cannot hold.
    #[error("string contains NUL")]
    EmbeddedNul,
    /// A character that the transmission code set lacks (`DATA_CONVERSION`).
    #[error("character {0:?} has no place in the transmission code set")]
    Unrepresentable(char),
    /// Wide text where no wide code set was agreed upon; GIOP 1.0 has none.
    #[error("wide text without a wide code set")]
    NoWideCharSet,
    /// A value that the type forbids.
    #[error("{0}")]
    Invalid(&'static str),
}

impl EncodeError {
    /// The family of system exceptions to raise for this error.
    pub const fn class(&self) -> ErrorClass {
        match self {
            Self::Unrepresentable(_) => ErrorClass::DataConversion,
            Self::NoWideCharSet => ErrorClass::Marshal,
            _ => ErrorClass::BadParam,
        }
    }
}
