//! What types implement to travel.

use crate::{DecodeError, EncodeError, Reader, Writer};

/// A value that can be written as CDR.
pub trait Encode {
    /// Appends the value. After an error, what was appended so far is of no use.
    fn encode(&self, w: &mut Writer<'_>) -> Result<(), EncodeError>;

    /// Appends elements one after another, without a length. Primitives do it all at once.
    #[inline]
    fn encode_slice(items: &[Self], w: &mut Writer<'_>) -> Result<(), EncodeError>
    where
        Self: Sized,
    {
        items.iter().try_for_each(|item| item.encode(w))
    }
}

/// A value that can be read from CDR. It may borrow from the octets, for `'a`.
pub trait Decode<'a>: Sized {
    /// A lower bound for the octets that any value takes, padding not counted. Bounds sequence lengths before
    /// anything is allocated.
    const MIN_SIZE: usize;

    /// Reads a value.
    fn decode(r: &mut Reader<'a>) -> Result<Self, DecodeError>;

    /// Reads a value into this one, which may reuse its memory. After an error the value is valid, but any.
    #[inline]
    fn decode_into(&mut self, r: &mut Reader<'a>) -> Result<(), DecodeError> {
        *self = Self::decode(r)?;
        Ok(())
    }

    /// Reads a value to where it will stay. Large ones must not go by the stack.
    #[inline]
    fn decode_boxed(r: &mut Reader<'a>) -> Result<Box<Self>, DecodeError> {
        Self::decode(r).map(Box::new)
    }

    /// Reads `count` elements without a length; the caller has checked `count` with [`Reader::read_length`].
    #[inline]
    fn decode_vec(r: &mut Reader<'a>, count: usize) -> Result<Vec<Self>, DecodeError> {
        let mut items = Vec::new();
        Self::decode_append(&mut items, r, count)?;
        Ok(items)
    }

    /// Reads `count` elements onto the end of `items`. Elements may themselves contain sequences, so this counts as
    /// one level of nesting: recursive IDL types recurse through sequences only.
    fn decode_append(items: &mut Vec<Self>, r: &mut Reader<'a>, count: usize) -> Result<(), DecodeError> {
        // Elements may be larger in memory than on the wire: beyond a first page, memory follows what arrived.
        let first = count.min(4096 / size_of::<Self>().max(1) + 1);
        items.reserve(first);
        r.nested(|r| {
            for _ in 0..count {
                items.push(Self::decode(r)?);
            }
            Ok(())
        })
    }

    /// Reads `count` elements in place of those in `items`.
    #[inline]
    fn decode_instead(items: &mut Vec<Self>, r: &mut Reader<'a>, count: usize) -> Result<(), DecodeError> {
        items.clear();
        Self::decode_append(items, r, count)
    }

    /// Reads the elements of an array.
    fn decode_array<const N: usize>(r: &mut Reader<'a>) -> Result<[Self; N], DecodeError> {
        let mut failure = None;
        let items: [Option<Self>; N] = std::array::from_fn(|_| match failure {
            Some(_) => None,
            None => Self::decode(r).map_err(|error| failure = Some(error)).ok(),
        });
        match failure {
            Some(error) => Err(error),
            None => Ok(items.map(|item| item.expect("decoded above, or else `failure` is set"))),
        }
    }
}

impl<T: Encode + ?Sized> Encode for &T {
    #[inline]
    fn encode(&self, w: &mut Writer<'_>) -> Result<(), EncodeError> {
        (**self).encode(w)
    }
}

impl<T: Encode + ?Sized> Encode for Box<T> {
    #[inline]
    fn encode(&self, w: &mut Writer<'_>) -> Result<(), EncodeError> {
        (**self).encode(w)
    }
}

impl<'a, T: Decode<'a>> Decode<'a> for Box<T> {
    const MIN_SIZE: usize = T::MIN_SIZE;
    fn decode(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        T::decode_boxed(r)
    }
}

impl Encode for () {
    #[inline]
    fn encode(&self, _: &mut Writer<'_>) -> Result<(), EncodeError> {
        Ok(())
    }
}

impl Decode<'_> for () {
    const MIN_SIZE: usize = 0;
    #[inline]
    fn decode(_: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(())
    }
}
