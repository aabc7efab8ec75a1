//! Tagged components of profiles (section 7.6.6).

use throughline_cdr::{ByteOrder, Decode, DecodeError, Encode, EncodeError, Reader, Writer};

use crate::ior::encapsulate;

/// Which ORB made the reference: an unsigned long that OMG assigns.
pub const ORB_TYPE: u32 = 0;
/// The server's code sets; see [`codeset`](crate::codeset).
pub const CODE_SETS: u32 = 1;
/// Policies that requests must respect.
pub const POLICIES: u32 = 2;
/// Another host and port of the same server.
pub const ALTERNATE_IIOP_ADDRESS: u32 = 3;
/// Security by TLS.
pub const SSL_SEC_TRANS: u32 = 20;
/// Security mechanisms, as of CSIv2.
pub const CSI_SEC_MECH_LIST: u32 = 33;
/// omniORB's Unix-domain socket: host name and path.
pub const OMNIORB_UNIX_TRANS: u32 = 0x4154_5402;
/// omniORB's persistent server identifier.
pub const OMNIORB_PERSISTENT_ID: u32 = 0x4154_5403;

/// The name of a component tag, as the standard or its vendor gives it.
pub const fn tag_name(tag: u32) -> Option<&'static str> {
    Some(match tag {
        ORB_TYPE => "TAG_ORB_TYPE",
        CODE_SETS => "TAG_CODE_SETS",
        POLICIES => "TAG_POLICIES",
        ALTERNATE_IIOP_ADDRESS => "TAG_ALTERNATE_IIOP_ADDRESS",
        SSL_SEC_TRANS => "TAG_SSL_SEC_TRANS",
        CSI_SEC_MECH_LIST => "TAG_CSI_SEC_MECH_LIST",
        OMNIORB_UNIX_TRANS => "TAG_OMNIORB_UNIX_TRANS",
        OMNIORB_PERSISTENT_ID => "TAG_OMNIORB_PERSISTENT_ID",
        _ => return None,
    })
}

/// Something more to know about an object or its server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TaggedComponent {
    /// What kind of thing.
    pub tag: u32,
    /// The thing itself, usually an encapsulation.
    pub data: Vec<u8>,
}

impl Encode for TaggedComponent {
    fn encode(&self, w: &mut Writer<'_>) -> Result<(), EncodeError> {
        w.write_u32(self.tag);
        w.write_octets(&self.data)
    }
}

impl Decode<'_> for TaggedComponent {
    const MIN_SIZE: usize = 8;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self { tag: r.read_u32()?, data: r.read_octets()?.to_vec() })
    }
}

/// The data of the first component with this tag.
pub fn find(components: &[TaggedComponent], tag: u32) -> Option<&[u8]> {
    components.iter().find(|component| component.tag == tag).map(|component| &*component.data)
}

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Address {
    /// A TCP port.
    Tcp {
        /// Name or address, IPv6 without brackets.
        host: String,
        /// The port.
        port: u16,
    },
    /// A Unix-domain socket.
    Unix {
        /// The name of the machine that has it.
        host: String,
        /// Its path.
        path: String,
    },
}

impl Address {
    /// The component that tells of this address.
    pub fn to_component(&self) -> Result<TaggedComponent, EncodeError> {
        match self {
            Self::Tcp { host, port } => of(ALTERNATE_IIOP_ADDRESS, |w| {
                w.write_string(host)?;
                w.write_u16(*port);
                Ok(())
            }),
            Self::Unix { host, path } => of(OMNIORB_UNIX_TRANS, |w| {
                w.write_string(host)?;
                w.write_string(path)
            }),
        }
    }
}

/// A component whose data is what `write` writes, encapsulated.
pub fn of(
    tag: u32,
    write: impl FnOnce(&mut Writer<'_>) -> Result<(), EncodeError>,
) -> Result<TaggedComponent, EncodeError> {
    Ok(TaggedComponent { tag, data: encapsulate(ByteOrder::NATIVE, write)? })
}

/// The component that names the ORB.
pub fn orb_type(orb: u32) -> TaggedComponent {
    let mut data = vec![ByteOrder::NATIVE.flag()];
    Writer::with_base(&mut data, ByteOrder::NATIVE, 0).write_u32(orb);
    TaggedComponent { tag: ORB_TYPE, data }
}

/// Reads a component tagged [`ORB_TYPE`].
pub fn read_orb_type(octets: &[u8]) -> Result<u32, DecodeError> {
    Reader::encapsulation(octets)?.read_u32()
}

/// Reads a component tagged [`ALTERNATE_IIOP_ADDRESS`].
pub fn read_alternate_address(octets: &[u8]) -> Result<Address, DecodeError> {
    let mut r = Reader::encapsulation(octets)?;
    Ok(Address::Tcp { host: r.read_string()?.into_owned(), port: r.read_u16()? })
}

/// Reads a component tagged [`OMNIORB_UNIX_TRANS`].
pub fn read_unix_address(octets: &[u8]) -> Result<Address, DecodeError> {
    let mut r = Reader::encapsulation(octets)?;
    Ok(Address::Unix { host: r.read_string()?.into_owned(), path: r.read_string()?.into_owned() })
}
