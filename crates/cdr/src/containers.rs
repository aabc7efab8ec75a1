//! Strings, sequences and arrays.

use std::borrow::Cow;

use crate::{Decode, DecodeError, Encode, EncodeError, Primitive, Reader, Writer};

impl Encode for str {
    #[inline]
    fn encode(&self, w: &mut Writer<'_>) -> Result<(), EncodeError> {
        w.write_string(self)
    }
}

impl Encode for String {
    #[inline]
    fn encode(&self, w: &mut Writer<'_>) -> Result<(), EncodeError> {
        w.write_string(self)
    }
}

impl<'a> Decode<'a> for String {
    const MIN_SIZE: usize = 4;
    #[inline]
    fn decode(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        r.read_string().map(Cow::into_owned)
    }
    #[inline]
    fn decode_into(&mut self, r: &mut Reader<'a>) -> Result<(), DecodeError> {
        let text = r.read_string()?;
        self.clear();
        self.push_str(&text);
        Ok(())
    }
}

impl<'a> Decode<'a> for Cow<'a, str> {
    const MIN_SIZE: usize = 4;
    #[inline]
    fn decode(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        r.read_string()
    }
}

impl<T: Encode> Encode for [T] {
    #[inline]
    fn encode(&self, w: &mut Writer<'_>) -> Result<(), EncodeError> {
        w.write_length(self.len())?;
        T::encode_slice(self, w)
    }
}

impl<T: Encode> Encode for Vec<T> {
    #[inline]
    fn encode(&self, w: &mut Writer<'_>) -> Result<(), EncodeError> {
        self.as_slice().encode(w)
    }
}

impl<'a, T: Decode<'a>> Decode<'a> for Vec<T> {
    const MIN_SIZE: usize = 4;
    #[inline]
    fn decode(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let count = r.read_length(T::MIN_SIZE)?;
        T::decode_vec(r, count)
    }
    #[inline]
    fn decode_into(&mut self, r: &mut Reader<'a>) -> Result<(), DecodeError> {
        let count = r.read_length(T::MIN_SIZE)?;
        T::decode_instead(self, r, count)
    }
}

impl<T: Encode + ToOwned + ?Sized> Encode for Cow<'_, T> {
    #[inline]
    fn encode(&self, w: &mut Writer<'_>) -> Result<(), EncodeError> {
        self.as_ref().encode(w)
    }
}

impl<'a, T: Primitive> Decode<'a> for Cow<'a, [T]> {
    const MIN_SIZE: usize = 4;
    #[inline]
    fn decode(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        r.read_slice()
    }
}

/// An array, which has no length on the wire; not to be confused with a slice, which is a sequence.
impl<T: Encode, const N: usize> Encode for [T; N] {
    #[inline]
    fn encode(&self, w: &mut Writer<'_>) -> Result<(), EncodeError> {
        T::encode_slice(self, w)
    }
    #[inline]
    fn encode_slice(items: &[Self], w: &mut Writer<'_>) -> Result<(), EncodeError> {
        T::encode_slice(items.as_flattened(), w)
    }
}

impl<'a, T: Decode<'a>, const N: usize> Decode<'a> for [T; N] {
    const MIN_SIZE: usize = T::MIN_SIZE.saturating_mul(N);
    #[inline]
    fn decode(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        T::decode_array(r)
    }
    fn decode_boxed(r: &mut Reader<'a>) -> Result<Box<Self>, DecodeError> {
        // So many octets must be there at least, or else memory would be taken for nothing.
        if Self::MIN_SIZE > r.remaining() {
            return Err(DecodeError::truncated(r.position()));
        }
        match T::decode_vec(r, N)?.try_into() {
            Ok(items) => Ok(items),
            Err(_) => unreachable!("as many elements were read as were asked for"),
        }
    }
}
