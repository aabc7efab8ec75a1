//! Strings and sequences with a bound, checked when they are made, so that every value fits its IDL type.

use std::fmt;
use std::ops::Deref;

use thiserror::Error;

use crate::error::saturate;
use crate::{Decode, DecodeError, Encode, EncodeError, Reader, WString, Writer};

/// A value longer than the bound of its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("length {length} is over the bound {bound}")]
pub struct BoundExceeded {
    /// The length of the value that was refused.
    pub length: usize,
    /// The bound of the type.
    pub bound: usize,
}

impl From<BoundExceeded> for DecodeError {
    fn from(error: BoundExceeded) -> Self {
        Self::BoundExceeded { length: saturate(error.length), bound: saturate(error.bound) }
    }
}

const fn check(length: usize, bound: usize) -> Result<(), BoundExceeded> {
    if length <= bound { Ok(()) } else { Err(BoundExceeded { length, bound }) }
}

macro_rules! bounded_text {
    ($(#[$doc:meta])* $name:ident, $read:ident, $write:ident, $count:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name<const N: usize>(String);

        impl<const N: usize> $name<N> {
            /// Checks `text` against the bound.
            pub fn new(text: impl Into<String>) -> Result<Self, BoundExceeded> {
                let text = text.into();
                // Counting is worth it only if the octets alone do not settle it.
                if text.len() > N {
                    let count: fn(&str) -> usize = $count;
                    check(count(&text), N)?;
                }
                Ok(Self(text))
            }

            /// The string itself.
            pub fn into_inner(self) -> String {
                self.0
            }
        }

        impl<const N: usize> Deref for $name<N> {
            type Target = str;
            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl<const N: usize> TryFrom<String> for $name<N> {
            type Error = BoundExceeded;
            fn try_from(text: String) -> Result<Self, BoundExceeded> {
                Self::new(text)
            }
        }

        impl<const N: usize> TryFrom<&str> for $name<N> {
            type Error = BoundExceeded;
            fn try_from(text: &str) -> Result<Self, BoundExceeded> {
                Self::new(text)
            }
        }

        impl<const N: usize> From<$name<N>> for String {
            fn from(text: $name<N>) -> Self {
                text.0
            }
        }

        impl<const N: usize> fmt::Display for $name<N> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl<const N: usize> Encode for $name<N> {
            fn encode(&self, w: &mut Writer<'_>) -> Result<(), EncodeError> {
                w.$write(&self.0)
            }
        }

        impl<const N: usize> Decode<'_> for $name<N> {
            const MIN_SIZE: usize = 4;
            fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
                Ok(Self::new(r.$read()?)?)
            }
        }
    };
}

bounded_text! {
    /// IDL's `string<N>`: at most `N` characters.
    BoundedString, read_string, write_string, |text| text.chars().count()
}

bounded_text! {
    /// IDL's `wstring<N>`: at most `N` UTF-16 units, which is what other languages' wide characters are.
    BoundedWString, read_wstring, write_wstring, |text| text.encode_utf16().count()
}

impl<const N: usize> From<BoundedWString<N>> for WString {
    fn from(text: BoundedWString<N>) -> Self {
        Self(text.0)
    }
}

/// IDL's `sequence<T, N>`: at most `N` elements.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BoundedVec<T, const N: usize>(Vec<T>);

impl<T, const N: usize> BoundedVec<T, N> {
    /// Checks `items` against the bound.
    pub fn new(items: Vec<T>) -> Result<Self, BoundExceeded> {
        check(items.len(), N)?;
        Ok(Self(items))
    }

    /// Appends an element if there is room.
    pub fn push(&mut self, item: T) -> Result<(), BoundExceeded> {
        check(self.0.len() + 1, N)?;
        self.0.push(item);
        Ok(())
    }

    /// Takes the last element away.
    pub fn pop(&mut self) -> Option<T> {
        self.0.pop()
    }

    /// Removes all elements.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The elements themselves.
    pub fn into_inner(self) -> Vec<T> {
        self.0
    }
}

impl<T, const N: usize> Default for BoundedVec<T, N> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T, const N: usize> Deref for BoundedVec<T, N> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T, const N: usize> std::ops::DerefMut for BoundedVec<T, N> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T, const N: usize> TryFrom<Vec<T>> for BoundedVec<T, N> {
    type Error = BoundExceeded;
    fn try_from(items: Vec<T>) -> Result<Self, BoundExceeded> {
        Self::new(items)
    }
}

impl<T, const N: usize> From<BoundedVec<T, N>> for Vec<T> {
    fn from(items: BoundedVec<T, N>) -> Self {
        items.0
    }
}

impl<T: Encode, const N: usize> Encode for BoundedVec<T, N> {
    fn encode(&self, w: &mut Writer<'_>) -> Result<(), EncodeError> {
        self.0.encode(w)
    }
}

impl<'a, T: Decode<'a>, const N: usize> Decode<'a> for BoundedVec<T, N> {
    const MIN_SIZE: usize = 4;
    fn decode(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let mut items = Self::default();
        items.decode_into(r)?;
        Ok(items)
    }
    fn decode_into(&mut self, r: &mut Reader<'a>) -> Result<(), DecodeError> {
        let count = r.read_length(T::MIN_SIZE)?;
        check(count, N)?;
        T::decode_instead(&mut self.0, r, count)
    }
}
