//! Interoperable object references (section 7.6).

use std::fmt;
use std::str::FromStr;

use thiserror::Error;
use throughline_cdr::{ByteOrder, Decode, DecodeError, Encode, EncodeError, Reader, Writer};

use crate::profile::{IiopProfile, TAG_INTERNET_IOP};

/// One way to reach an object, by one protocol.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TaggedProfile {
    /// Which protocol; see [`profile`](crate::profile).
    pub tag: u32,
    /// What the protocol needs to know, usually an encapsulation.
    pub data: Vec<u8>,
}

impl Encode for TaggedProfile {
    fn encode(&self, w: &mut Writer<'_>) -> Result<(), EncodeError> {
        w.write_u32(self.tag);
        w.write_octets(&self.data)
    }
}

impl Decode<'_> for TaggedProfile {
    const MIN_SIZE: usize = 8;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self { tag: r.read_u32()?, data: r.read_octets()?.to_vec() })
    }
}

/// An object reference as it travels: the interface's repository id, and ways to reach the object.
///
/// `Display` and `FromStr` are the `IOR:` form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ior {
    /// The most derived interface known, as a repository id; may be empty, which tells nothing.
    pub type_id: String,
    /// None in a nil reference.
    pub profiles: Vec<TaggedProfile>,
}

impl Ior {
    /// The reference to no object.
    pub const NIL: Self = Self { type_id: String::new(), profiles: Vec::new() };

    /// Whether this refers to no object.
    pub fn is_nil(&self) -> bool {
        self.profiles.is_empty()
    }

    /// The IIOP profiles, decoded one by one, in the order of preference.
    pub fn iiop_profiles(&self) -> impl Iterator<Item = Result<IiopProfile, DecodeError>> {
        let iiop = self.profiles.iter().filter(|profile| profile.tag == TAG_INTERNET_IOP);
        iiop.map(|profile| IiopProfile::from_octets(&profile.data))
    }

    /// A reference of one IIOP profile.
    pub fn of_iiop(type_id: impl Into<String>, profile: &IiopProfile) -> Result<Self, EncodeError> {
        Ok(Self { type_id: type_id.into(), profiles: vec![profile.to_tagged()?] })
    }

    /// Reads an encapsulated reference, which is what `IOR:` spells in hexadecimal.
    pub fn from_octets(octets: &[u8]) -> Result<Self, DecodeError> {
        Self::decode(&mut Reader::encapsulation(octets)?)
    }

    /// The reference as an encapsulation in this byte order.
    pub fn to_octets(&self, order: ByteOrder) -> Result<Vec<u8>, EncodeError> {
        encapsulate(order, |w| self.encode(w))
    }
}

impl Encode for Ior {
    fn encode(&self, w: &mut Writer<'_>) -> Result<(), EncodeError> {
        w.write_string(&self.type_id)?;
        self.profiles.encode(w)
    }
}

impl Decode<'_> for Ior {
    const MIN_SIZE: usize = 8;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let offset = u32::try_from(r.position()).unwrap_or(u32::MAX);
        let type_id = r.read_string()?.into_owned();
        // In a message it may be UTF-8. In the text of a reference, as in other messages, there is ISO 8859-1 only.
        if !type_id.is_ascii() && type_id.chars().any(|c| u8::try_from(c).is_err()) {
            return Err(DecodeError::InvalidText { offset });
        }
        Ok(Self { type_id, profiles: Vec::decode(r)? })
    }
}

/// An encapsulation on its own, without the length that goes before one inside a message.
pub(crate) fn encapsulate(
    order: ByteOrder,
    write: impl FnOnce(&mut Writer<'_>) -> Result<(), EncodeError>,
) -> Result<Vec<u8>, EncodeError> {
    let mut octets = vec![order.flag()];
    write(&mut Writer::with_base(&mut octets, order, 0))?;
    Ok(octets)
}

/// Why a text is no reference of the form `IOR:`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ParseIorError {
    /// It does not start with `IOR:`.
    #[error("does not start with IOR:")]
    NoPrefix,
    /// A character other than a hexadecimal digit, or an odd number of them.
    #[error("not pairs of hexadecimal digits, at character {0}")]
    NotHex(usize),
    /// The octets are no reference.
    #[error("not a reference: {0}")]
    Malformed(#[from] DecodeError),
}

const PREFIX: &str = "IOR:";

impl FromStr for Ior {
    type Err = ParseIorError;

    /// Accepts the prefix and the digits in either case, and white space around.
    fn from_str(text: &str) -> Result<Self, ParseIorError> {
        let text = text.trim();
        let digits = match text.split_at_checked(PREFIX.len()) {
            Some((prefix, digits)) if prefix.eq_ignore_ascii_case(PREFIX) => digits.as_bytes(),
            _ => return Err(ParseIorError::NoPrefix),
        };
        let (pairs, odd) = digits.as_chunks::<2>();
        if !odd.is_empty() {
            return Err(ParseIorError::NotHex(text.len() - 1));
        }
        let octets: Vec<u8> = pairs
            .iter()
            .enumerate()
            .map(|(at, &pair)| hex_pair(pair).ok_or(ParseIorError::NotHex(PREFIX.len() + at * 2)))
            .collect::<Result<_, _>>()?;
        Ok(Self::from_octets(&octets)?)
    }
}

/// The octet that two hexadecimal digits spell.
pub(crate) fn hex_pair([high, low]: [u8; 2]) -> Option<u8> {
    let digit = |octet| char::from(octet).to_digit(16);
    Some((digit(high)? << 4 | digit(low)?) as u8)
}

impl fmt::Display for Ior {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Fails for a type id with NUL or beyond ISO 8859-1 only, which no repository id is, and no reference that was read
        // has.
        let octets = self.to_octets(ByteOrder::NATIVE).map_err(|_| fmt::Error)?;
        f.write_str(PREFIX)?;
        octets.iter().try_for_each(|octet| write!(f, "{octet:02x}"))
    }
}
