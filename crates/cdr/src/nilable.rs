//! Values that may be absent on the wire: object references, of which the absent one is called nil.

use crate::{Decode, DecodeError, Encode, EncodeError, Reader, Writer};

/// A type whose encoding has a form for "none". `Option<T>` of such a type is [`Encode`] and [`Decode`].
pub trait Nilable: Sized {
    /// Writes the value, or the form for none.
    ///
    /// # Errors
    /// As [`Encode::encode`].
    fn encode_nilable(value: Option<&Self>, w: &mut Writer<'_>) -> Result<(), EncodeError>;

    /// Reads a value, or none.
    ///
    /// # Errors
    /// As [`Decode::decode`].
    fn decode_nilable(r: &mut Reader<'_>) -> Result<Option<Self>, DecodeError>;
}

impl<T: Nilable> Encode for Option<T> {
    fn encode(&self, w: &mut Writer<'_>) -> Result<(), EncodeError> {
        T::encode_nilable(self.as_ref(), w)
    }
}

impl<'a, T: Nilable> Decode<'a> for Option<T> {
    /// A nil object reference: an empty type id and no profile.
    const MIN_SIZE: usize = 8;

    fn decode(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        T::decode_nilable(r)
    }
}
