//! Profiles of the native protocol: calls over Virtual Interfaces, beside the IIOP profile that every ORB reads.
//!
//! | transport | tag | data, an encapsulation |
//! |---|---|---|
//! | shared memory | `0x544c0001` | version (octet 1, octet minor), slot, nonce, machine (string), name (string) |
//! | UDP | `0x544c0002` | version, slot, nonce, host (string), port (unsigned short) |
//!
//! Slot (unsigned long) and nonce (unsigned long long) are the object's handle: whoever serves it needs no key and no
//! search. The tags are not registered with the OMG. Other ORBs pass such profiles on unread.

use throughline_cdr::{ByteOrder, DecodeError, EncodeError, Reader};

use crate::ior::{TaggedProfile, encapsulate};

/// The tag of a profile for shared memory.
pub const TAG_NATIVE_SHM: u32 = 0x544c_0001;
/// The tag of a profile for UDP.
pub const TAG_NATIVE_UDP: u32 = 0x544c_0002;

/// Where a server of the native protocol is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum NativeAddress {
    /// On the same machine, by memory that both map.
    Shm {
        /// What tells the machine from all others, and its present run from earlier ones.
        machine: String,
        /// What the server is called there.
        name: String,
    },
    /// By datagrams.
    Udp {
        /// A name or address; IPv6 addresses are without brackets.
        host: String,
        /// The UDP port.
        port: u16,
    },
}

/// An object that is reached by the native protocol.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NativeProfile {
    /// Where its server is.
    pub address: NativeAddress,
    /// The slot of the object's record.
    pub slot: u32,
    /// The nonce that proves that it is this object.
    pub nonce: u64,
}

impl NativeProfile {
    /// Reads a profile; none if it is one of another protocol.
    ///
    /// # Errors
    /// What is wrong with the data.
    pub fn from_tagged(profile: &TaggedProfile) -> Option<Result<Self, DecodeError>> {
        match profile.tag {
            TAG_NATIVE_SHM | TAG_NATIVE_UDP => Some(Self::read(profile.tag, &profile.data)),
            _ => None,
        }
    }

    fn read(tag: u32, octets: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::encapsulation(octets)?;
        if r.read_u8()? != 1 {
            return Err(DecodeError::Invalid { what: "native profile of an unknown major version" });
        }
        // A later minor version may have more after what is read here.
        let _minor = r.read_u8()?;
        let (slot, nonce) = (r.read_u32()?, r.read_u64()?);
        let first = r.read_string()?.into_owned();
        let address = match tag {
            TAG_NATIVE_SHM => NativeAddress::Shm { machine: first, name: r.read_string()?.into_owned() },
            _ => NativeAddress::Udp { host: first, port: r.read_u16()? },
        };
        Ok(Self { address, slot, nonce })
    }

    /// The profile with its tag, as part of an [`Ior`](crate::Ior).
    ///
    /// # Errors
    /// When a string of the address has a NUL.
    pub fn to_tagged(&self) -> Result<TaggedProfile, EncodeError> {
        let tag = match &self.address {
            NativeAddress::Shm { .. } => TAG_NATIVE_SHM,
            NativeAddress::Udp { .. } => TAG_NATIVE_UDP,
        };
        let data = encapsulate(ByteOrder::NATIVE, |w| {
            w.write_bytes(&[1, 0]);
            w.write_u32(self.slot);
            w.write_u64(self.nonce);
            match &self.address {
                NativeAddress::Shm { machine, name } => {
                    w.write_string(machine)?;
                    w.write_string(name)
                }
                NativeAddress::Udp { host, port } => {
                    w.write_string(host)?;
                    w.write_u16(*port);
                    Ok(())
                }
            }
        })?;
        Ok(TaggedProfile { tag, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_come_back_and_cut_ones_are_refused() {
        for address in [
            NativeAddress::Shm { machine: "a1b2".into(), name: "bank".into() },
            NativeAddress::Udp { host: "::1".into(), port: 2809 },
        ] {
            let profile = NativeProfile { address, slot: 7, nonce: 0x0123_4567_89ab_cdef };
            let tagged = profile.to_tagged().unwrap();
            assert_eq!(NativeProfile::from_tagged(&tagged), Some(Ok(profile)));
            for length in 0..tagged.data.len() {
                let cut = TaggedProfile { tag: tagged.tag, data: tagged.data[..length].to_vec() };
                assert!(matches!(NativeProfile::from_tagged(&cut), Some(Err(_))), "{length}");
            }
        }
        let other = TaggedProfile { tag: 0, data: Vec::new() };
        assert_eq!(NativeProfile::from_tagged(&other), None);
    }
}
