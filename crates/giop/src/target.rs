//! What a request is addressed to (section 9.4.2.2).

use throughline_cdr::{Decode, DecodeError, Encode, EncodeError, Reader, Writer};

use crate::ior::{Ior, TaggedProfile};
use crate::profile::{TAG_INTERNET_IOP, object_key};

/// How a peer wants requests addressed: `GIOP::AddressingDisposition`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressingDisposition {
    /// By object key.
    Key = 0,
    /// By a profile of the reference.
    Profile = 1,
    /// By the whole reference.
    Reference = 2,
}

impl Encode for AddressingDisposition {
    fn encode(&self, w: &mut Writer<'_>) -> Result<(), EncodeError> {
        w.write_i16(*self as i16);
        Ok(())
    }
}

impl Decode<'_> for AddressingDisposition {
    const MIN_SIZE: usize = 2;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        match r.read_u16()? {
            0 => Ok(Self::Key),
            1 => Ok(Self::Profile),
            2 => Ok(Self::Reference),
            other => Err(DecodeError::InvalidEnum { value: other.into() }),
        }
    }
}

/// A profile in place; [`TaggedProfile`] owns one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProfileRef<'a> {
    /// The protocol it is for.
    pub tag: u32,
    /// The profile, usually an encapsulation.
    pub data: &'a [u8],
}

impl<'a> ProfileRef<'a> {
    /// The object key, if this is an IIOP profile.
    pub fn object_key(&self) -> Result<&'a [u8], DecodeError> {
        match self.tag {
            TAG_INTERNET_IOP => object_key(self.data),
            _ => Err(DecodeError::Invalid { what: "profile without an object key" }),
        }
    }

    fn read(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self { tag: r.read_u32()?, data: r.read_octets()? })
    }

    fn write(&self, w: &mut Writer<'_>) -> Result<(), EncodeError> {
        w.write_u32(self.tag);
        w.write_octets(self.data)
    }
}

impl<'a> From<&'a TaggedProfile> for ProfileRef<'a> {
    fn from(profile: &'a TaggedProfile) -> Self {
        Self { tag: profile.tag, data: &profile.data }
    }
}

/// The object that a received request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target<'a> {
    /// By its key, the only way before GIOP 1.2.
    Key(&'a [u8]),
    /// By a profile of its reference.
    Profile(ProfileRef<'a>),
    /// By its reference.
    Reference {
        /// The repository id in the reference, without NUL.
        type_id: &'a [u8],
        /// Which profile the client chose.
        selected: u32,
        /// That profile; none if the reference has no such.
        profile: Option<ProfileRef<'a>>,
    },
}

impl<'a> Target<'a> {
    /// The object's key, wherever it is. Where there is none, the request can be answered all the same.
    #[inline]
    pub fn object_key(&self) -> Result<&'a [u8], DecodeError> {
        match self {
            Self::Key(key) => Ok(key),
            Self::Profile(profile) | Self::Reference { profile: Some(profile), .. } => profile.object_key(),
            Self::Reference { profile: None, .. } => {
                Err(DecodeError::Invalid { what: "selected profile is not in the reference" })
            }
        }
    }

    /// The way of addressing.
    pub const fn disposition(&self) -> AddressingDisposition {
        match self {
            Self::Key(_) => AddressingDisposition::Key,
            Self::Profile(_) => AddressingDisposition::Profile,
            Self::Reference { .. } => AddressingDisposition::Reference,
        }
    }

    /// Reads a `TargetAddress` of GIOP 1.2.
    #[inline]
    pub(crate) fn read(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        match AddressingDisposition::decode(r)? {
            AddressingDisposition::Key => r.read_octets().map(Self::Key),
            AddressingDisposition::Profile => ProfileRef::read(r).map(Self::Profile),
            AddressingDisposition::Reference => Self::read_reference(r),
        }
    }

    fn read_reference(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let selected = r.read_u32()?;
        let type_id = r.read_string_octets()?;
        let mut profile = None;
        for index in 0..r.read_length(8)? {
            let read = ProfileRef::read(r)?;
            if index == selected as usize {
                profile = Some(read);
            }
        }
        Ok(Self::Reference { type_id, selected, profile })
    }
}

/// The object that a request to be sent is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewTarget<'a> {
    /// By its key, the only way before GIOP 1.2.
    Key(&'a [u8]),
    /// By a profile of its reference.
    Profile(ProfileRef<'a>),
    /// By its reference.
    Reference {
        /// The reference.
        ior: &'a Ior,
        /// The index of the profile that the request travels by.
        selected: u32,
    },
}

impl NewTarget<'_> {
    /// Writes a `TargetAddress` of GIOP 1.2.
    #[inline]
    pub(crate) fn write(&self, w: &mut Writer<'_>) -> Result<(), EncodeError> {
        match self {
            Self::Key(key) => {
                AddressingDisposition::Key.encode(w)?;
                w.write_octets(key)
            }
            Self::Profile(profile) => {
                AddressingDisposition::Profile.encode(w)?;
                profile.write(w)
            }
            Self::Reference { ior, selected } => {
                AddressingDisposition::Reference.encode(w)?;
                w.write_u32(*selected);
                ior.encode(w)
            }
        }
    }

    /// Writes an object key, as before GIOP 1.2.
    #[inline]
    pub(crate) fn write_key(&self, w: &mut Writer<'_>) -> Result<(), EncodeError> {
        match self {
            Self::Key(key) => w.write_octets(key),
            _ => Err(EncodeError::Invalid("before GIOP 1.2, objects are addressed by key only")),
        }
    }
}
