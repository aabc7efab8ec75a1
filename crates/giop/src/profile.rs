//! Profiles: IIOP's (section 9.7.2), and the one that holds components for all protocols (section 7.6.4).

use throughline_cdr::{ByteOrder, Decode, DecodeError, Encode, EncodeError, Reader, Writer};

use crate::codeset::CodeSetComponentInfo;
use crate::component::{
    self, Address, CODE_SETS, TaggedComponent, read_alternate_address, read_unix_address,
};
use crate::header::Version;
use crate::ior::{TaggedProfile, encapsulate};

/// The tag of an [`IiopProfile`].
pub const TAG_INTERNET_IOP: u32 = 0;
/// The tag of a profile that is a list of components.
pub const TAG_MULTIPLE_COMPONENTS: u32 = 1;

/// An object that is reached by GIOP over TCP.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IiopProfile {
    /// The highest GIOP version that the server speaks, as far as we do.
    pub version: Version,
    /// A name or address; IPv6 addresses are without brackets.
    pub host: String,
    /// The TCP port; 0 where another component has the address.
    pub port: u16,
    /// What the server knows the object by.
    pub object_key: Vec<u8>,
    /// What else there is to know; none in IIOP 1.0.
    pub components: Vec<TaggedComponent>,
}

impl IiopProfile {
    /// Reads the data of a profile tagged [`TAG_INTERNET_IOP`].
    pub fn from_octets(octets: &[u8]) -> Result<Self, DecodeError> {
        let (mut r, version) = open(octets)?;
        let host = r.read_string()?.into_owned();
        let port = r.read_u16()?;
        let object_key = r.read_octets()?.to_vec();
        // A profile of a later minor version may have more, and must still be understood (section 9.7.2).
        let components = match version {
            Version::V1_0 => Vec::new(),
            _ if r.remaining() == 0 => Vec::new(),
            _ => Vec::decode(&mut r)?,
        };
        Ok(Self { version, host, port, object_key, components })
    }

    /// The data of a profile, in this byte order.
    pub fn to_octets(&self, order: ByteOrder) -> Result<Vec<u8>, EncodeError> {
        encapsulate(order, |w| {
            w.write_bytes(&[1, self.version.minor()]);
            w.write_string(&self.host)?;
            w.write_u16(self.port);
            w.write_octets(&self.object_key)?;
            match self.version {
                Version::V1_0 if !self.components.is_empty() => {
                    Err(EncodeError::Invalid("IIOP 1.0 has no components"))
                }
                Version::V1_0 => Ok(()),
                _ => self.components.encode(w),
            }
        })
    }

    /// The profile with its tag, as part of an [`Ior`](crate::Ior).
    pub fn to_tagged(&self) -> Result<TaggedProfile, EncodeError> {
        Ok(TaggedProfile { tag: TAG_INTERNET_IOP, data: self.to_octets(ByteOrder::NATIVE)? })
    }

    /// The data of the first component with this tag.
    pub fn component(&self, tag: u32) -> Option<&[u8]> {
        component::find(&self.components, tag)
    }

    /// All addresses: the profile's own unless its port is 0, then those in components. Components that make no
    /// sense are left out.
    pub fn addresses(&self) -> Vec<Address> {
        let own = Address::Tcp { host: self.host.clone(), port: self.port };
        let more = self.components.iter().filter_map(|component| match component.tag {
            component::ALTERNATE_IIOP_ADDRESS => read_alternate_address(&component.data).ok(),
            component::OMNIORB_UNIX_TRANS => read_unix_address(&component.data).ok(),
            _ => None,
        });
        Some(own).filter(|_| self.port != 0).into_iter().chain(more).collect()
    }

    /// The code sets that the server understands, if it says.
    pub fn code_sets(&self) -> Option<Result<CodeSetComponentInfo, DecodeError>> {
        self.component(CODE_SETS).map(CodeSetComponentInfo::from_octets)
    }
}

/// Starts reading a profile: its version. Any minor version of 1 is readable.
fn open(octets: &[u8]) -> Result<(Reader<'_>, Version), DecodeError> {
    let mut r = Reader::encapsulation(octets)?;
    match r.read_u8()? {
        1 => {}
        _ => return Err(DecodeError::Invalid { what: "IIOP profile of an unknown major version" }),
    }
    let version = Version::from_minor_at_most_1_2(r.read_u8()?);
    Ok((r, version))
}

/// The object key in the data of an IIOP profile, in place.
pub fn object_key(octets: &[u8]) -> Result<&[u8], DecodeError> {
    let (mut r, _) = open(octets)?;
    r.read_string_octets()?;
    r.read_u16()?;
    r.read_octets()
}

/// Reads the data of a profile tagged [`TAG_MULTIPLE_COMPONENTS`].
pub fn read_multiple_components(octets: &[u8]) -> Result<Vec<TaggedComponent>, DecodeError> {
    Vec::decode(&mut Reader::encapsulation(octets)?)
}

/// A profile tagged [`TAG_MULTIPLE_COMPONENTS`].
pub fn multiple_components(components: &[TaggedComponent]) -> Result<TaggedProfile, EncodeError> {
    let data = encapsulate(ByteOrder::NATIVE, |w: &mut Writer<'_>| components.encode(w))?;
    Ok(TaggedProfile { tag: TAG_MULTIPLE_COMPONENTS, data })
}
