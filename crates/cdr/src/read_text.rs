//! Reading text in the transmission code sets.

use std::borrow::Cow;
use std::char::DecodeUtf16Error;

use crate::error::saturate;
use crate::{ByteOrder, CharSet, DecodeError, Reader, WChar, WString, WideCharSet, WideEncoding};

impl<'a> Reader<'a> {
    /// Reads a `char`: one octet.
    #[inline]
    pub fn read_char(&mut self) -> Result<char, DecodeError> {
        let octet = self.read_u8()?;
        if octet >= 0x80 && self.codesets().narrow == CharSet::Utf8 {
            return Err(DecodeError::InvalidText { offset: saturate(self.position() - 1) });
        }
        Ok(char::from(octet))
    }

    /// Reads a `string`, borrowed unless it must be converted. The length counts a final NUL; a length of 0, which
    /// some ORBs send for an empty string, is taken as such.
    #[inline]
    pub fn read_string(&mut self) -> Result<Cow<'a, str>, DecodeError> {
        let octets = self.read_string_octets()?;
        match self.codesets().narrow {
            // ASCII, the usual case, is the same in both.
            _ if octets.is_ascii() => {}
            CharSet::Latin1 => return Ok(Cow::Owned(octets.iter().copied().map(char::from).collect())),
            CharSet::Utf8 => {}
        }
        std::str::from_utf8(octets).map(Cow::Borrowed).map_err(|_| DecodeError::InvalidText {
            offset: saturate(self.position().saturating_sub(octets.len() + 1)),
        })
    }

    /// Reads a `string` without converting it: its octets without the NUL.
    #[inline]
    pub fn read_string_octets(&mut self) -> Result<&'a [u8], DecodeError> {
        let octets = self.read_octets()?;
        match octets.split_last() {
            None => Ok(octets),
            Some((0, text)) if !text.contains(&0) => Ok(text),
            _ => Err(DecodeError::InvalidTerminator {
                offset: saturate(self.position().saturating_sub(octets.len())),
            }),
        }
    }

    fn wide_encoding(&self) -> Result<WideEncoding, DecodeError> {
        match self.codesets().wide {
            Some(WideCharSet::Utf16) => Ok(self.codesets().wide_encoding),
            None => Err(DecodeError::NoWideCharSet),
        }
    }

    /// Reads a `wchar`.
    pub fn read_wchar(&mut self) -> Result<WChar, DecodeError> {
        let start = self.position();
        let c = match self.wide_encoding()? {
            WideEncoding::Giop11 => one_char([self.read_u16()?].into_iter()),
            WideEncoding::Giop12 => {
                let length = usize::from(self.read_u8()?);
                let c = match self.read_bytes(length)? {
                    // With nothing to follow, what looks like a byte order mark is the character.
                    &[high, low] => one_char([u16::from_be_bytes([high, low])].into_iter()),
                    octets if length.is_multiple_of(2) => one_char(marked_units(octets)),
                    _ => None,
                };
                Some(c.ok_or_else(|| wide_length(start, length))?)
            }
        };
        match c {
            Some(Ok(c)) => Ok(WChar(c)),
            _ => Err(DecodeError::InvalidText { offset: saturate(start) }),
        }
    }

    /// Reads a `wstring`.
    pub fn read_wstring(&mut self) -> Result<WString, DecodeError> {
        match self.wide_encoding()? {
            WideEncoding::Giop11 => self.read_wstring_units(),
            WideEncoding::Giop12 => {
                let octets = self.read_octets()?;
                counted_utf16(octets, self.position() - octets.len())
            }
        }
        .map(WString)
    }

    /// GIOP 1.1: units in the message's order, the last of which is NUL.
    fn read_wstring_units(&mut self) -> Result<String, DecodeError> {
        let count = self.read_length(2)?;
        let start = self.position();
        let octets = self.read_bytes(count * 2)?;
        match octets.split_last_chunk() {
            None => Ok(String::new()),
            Some((text, [0, 0])) => units_to_string(units(text, self.order()), start),
            Some(_) => Err(DecodeError::InvalidTerminator { offset: saturate(start) }),
        }
    }
}

/// GIOP 1.2: counted octets.
fn counted_utf16(octets: &[u8], start: usize) -> Result<String, DecodeError> {
    if !octets.len().is_multiple_of(2) {
        return Err(wide_length(start, octets.len()));
    }
    units_to_string(marked_units(octets), start)
}

#[cold]
fn wide_length(start: usize, length: usize) -> DecodeError {
    DecodeError::InvalidWideLength { offset: saturate(start), length: saturate(length) }
}

/// Big-endian units, unless they start with a byte order mark that says otherwise (section 9.3.1.6, RFC 2781).
fn marked_units(octets: &[u8]) -> impl Iterator<Item = u16> {
    let (text, order) = match octets {
        [0xFE, 0xFF, text @ ..] => (text, ByteOrder::Big),
        [0xFF, 0xFE, text @ ..] => (text, ByteOrder::Little),
        text => (text, ByteOrder::Big),
    };
    units(text, order)
}

/// The only character that these units make, or what is wrong with them. `None` if there is not one, but none or more.
fn one_char(units: impl Iterator<Item = u16>) -> Option<Result<char, DecodeUtf16Error>> {
    let mut chars = char::decode_utf16(units);
    let first = chars.next()?;
    (first.is_err() || chars.next().is_none()).then_some(first)
}

fn units(octets: &[u8], order: ByteOrder) -> impl Iterator<Item = u16> {
    let (pairs, _) = octets.as_chunks::<2>();
    pairs.iter().map(move |&pair| match order {
        ByteOrder::Big => u16::from_be_bytes(pair),
        ByteOrder::Little => u16::from_le_bytes(pair),
    })
}

fn units_to_string(units: impl Iterator<Item = u16>, start: usize) -> Result<String, DecodeError> {
    let offset = saturate(start);
    char::decode_utf16(units)
        .map(|c| match c {
            Ok('\0') => Err(DecodeError::InvalidTerminator { offset }),
            Ok(c) => Ok(c),
            Err(_) => Err(DecodeError::InvalidText { offset }),
        })
        .collect()
}
