//! Wide characters and strings. They hold Unicode, and differ from `char` and `String` on the wire only.

use std::fmt;
use std::ops::{Deref, DerefMut};

use crate::{Decode, DecodeError, Encode, EncodeError, Reader, Writer};

/// IDL's `wchar`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WChar(pub char);

impl From<char> for WChar {
    fn from(c: char) -> Self {
        Self(c)
    }
}

impl From<WChar> for char {
    fn from(c: WChar) -> Self {
        c.0
    }
}

impl fmt::Display for WChar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Encode for WChar {
    fn encode(&self, w: &mut Writer<'_>) -> Result<(), EncodeError> {
        w.write_wchar(*self)
    }
}

impl Decode<'_> for WChar {
    const MIN_SIZE: usize = 2;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        r.read_wchar()
    }
}

/// IDL's `wstring`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WString(pub String);

impl Deref for WString {
    type Target = String;
    fn deref(&self) -> &String {
        &self.0
    }
}

impl DerefMut for WString {
    fn deref_mut(&mut self) -> &mut String {
        &mut self.0
    }
}

impl From<&str> for WString {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<String> for WString {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<WString> for String {
    fn from(text: WString) -> Self {
        text.0
    }
}

impl PartialEq<str> for WString {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for WString {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl fmt::Display for WString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Encode for WString {
    fn encode(&self, w: &mut Writer<'_>) -> Result<(), EncodeError> {
        w.write_wstring(&self.0)
    }
}

impl Decode<'_> for WString {
    const MIN_SIZE: usize = 4;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        r.read_wstring()
    }
}
