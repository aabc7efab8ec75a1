//! LocateRequest and LocateReply: where an object is, without calling it (sections 9.4.5 and 9.4.6).

use throughline_cdr::{ByteOrder, Decode, DecodeError, Encode, EncodeError, Reader};

use crate::exception::SystemException;
use crate::header::{MessageHeader, MessageType, Version};
use crate::ior::Ior;
use crate::open::{begin, finish};
use crate::target::{AddressingDisposition, NewTarget, Target};

/// A received LocateRequest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocateRequestHeader<'a> {
    /// The client's number for the request.
    pub request_id: u32,
    /// The object.
    pub target: Target<'a>,
}

impl<'a> LocateRequestHeader<'a> {
    /// Reads the LocateRequest in `message`, which starts with the header given.
    pub fn read(header: &MessageHeader, message: &'a [u8]) -> Result<Self, DecodeError> {
        let mut r = header.body(message);
        let request_id = r.read_u32()?;
        let target = match header.version {
            Version::V1_2 => Target::read(&mut r)?,
            _ => Target::Key(r.read_octets()?),
        };
        Ok(Self { request_id, target })
    }
}

/// Writes a whole LocateRequest.
pub fn write_locate_request(
    buffer: &mut Vec<u8>,
    version: Version,
    order: ByteOrder,
    request_id: u32,
    target: &NewTarget<'_>,
) -> Result<(), EncodeError> {
    let open = begin(buffer, (version, order, MessageType::LocateRequest), false, |w| {
        w.write_u32(request_id);
        match version {
            Version::V1_2 => target.write(w),
            _ => target.write_key(w),
        }
    })?;
    finish(buffer, open).map_err(|_| EncodeError::LengthOverflow)?;
    Ok(())
}

/// What a LocateReply says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LocateStatus {
    /// No such object.
    UnknownObject = 0,
    /// The object is at this address.
    ObjectHere = 1,
    /// An [`Ior`] tells where, for this time.
    ObjectForward = 2,
    /// An [`Ior`] tells where, from now on; GIOP 1.2.
    ObjectForwardPerm = 3,
    /// A [`SystemException`]; GIOP 1.2.
    SystemException = 4,
    /// An [`AddressingDisposition`] with which to ask again; GIOP 1.2.
    NeedsAddressingMode = 5,
}

impl LocateStatus {
    fn from_number(number: u32, version: Version) -> Result<Self, DecodeError> {
        Ok(match (number, version) {
            (0, _) => Self::UnknownObject,
            (1, _) => Self::ObjectHere,
            (2, _) => Self::ObjectForward,
            (3, Version::V1_2) => Self::ObjectForwardPerm,
            (4, Version::V1_2) => Self::SystemException,
            (5, Version::V1_2) => Self::NeedsAddressingMode,
            _ => return Err(DecodeError::InvalidEnum { value: number }),
        })
    }
}

/// A received LocateReply.
#[derive(Clone, Debug)]
pub struct LocateReplyHeader<'a> {
    /// The number of the request that this answers.
    pub request_id: u32,
    /// What the body is.
    pub status: LocateStatus,
    /// What the status says, if anything.
    pub body: Reader<'a>,
}

impl<'a> LocateReplyHeader<'a> {
    /// Reads the LocateReply in `message`, which starts with the header given.
    pub fn read(header: &MessageHeader, message: &'a [u8]) -> Result<Self, DecodeError> {
        let mut r = header.body(message);
        let (request_id, status) = (r.read_u32()?, LocateStatus::from_number(r.read_u32()?, header.version)?);
        Ok(Self { request_id, status, body: r })
    }

    /// Reads the body too.
    pub fn location(mut self) -> Result<Location, DecodeError> {
        let r = &mut self.body;
        Ok(match self.status {
            LocateStatus::UnknownObject => Location::Unknown,
            LocateStatus::ObjectHere => Location::Here,
            LocateStatus::ObjectForward => Location::Forward(Ior::decode(r)?),
            LocateStatus::ObjectForwardPerm => Location::ForwardPerm(Ior::decode(r)?),
            LocateStatus::SystemException => Location::Exception(SystemException::decode(r)?),
            LocateStatus::NeedsAddressingMode => {
                Location::NeedsAddressingMode(AddressingDisposition::decode(r)?)
            }
        })
    }
}

/// Where an object is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// Nowhere that the server knows.
    Unknown,
    /// Right there.
    Here,
    /// At another address, for this time.
    Forward(Ior),
    /// At another address, from now on; before GIOP 1.2, written as [`Location::Forward`].
    ForwardPerm(Ior),
    /// The server failed to find out; before GIOP 1.2, written as [`Location::Unknown`].
    Exception(SystemException),
    /// Ask again in this way.
    NeedsAddressingMode(AddressingDisposition),
}

impl Location {
    fn on_the_wire(&self, version: Version) -> Result<(LocateStatus, Option<&dyn Encode>), EncodeError> {
        let since_1_2 = version == Version::V1_2;
        Ok(match self {
            Self::Unknown => (LocateStatus::UnknownObject, None),
            Self::Here => (LocateStatus::ObjectHere, None),
            Self::ForwardPerm(ior) if since_1_2 => (LocateStatus::ObjectForwardPerm, Some(ior)),
            Self::Forward(ior) | Self::ForwardPerm(ior) => (LocateStatus::ObjectForward, Some(ior)),
            Self::Exception(exception) if since_1_2 => (LocateStatus::SystemException, Some(exception)),
            Self::Exception(_) => (LocateStatus::UnknownObject, None),
            Self::NeedsAddressingMode(mode) if since_1_2 => (LocateStatus::NeedsAddressingMode, Some(mode)),
            Self::NeedsAddressingMode(_) => {
                return Err(EncodeError::Invalid("before GIOP 1.2, objects are addressed by key only"));
            }
        })
    }
}

/// Writes a whole LocateReply.
pub fn write_locate_reply(
    buffer: &mut Vec<u8>,
    version: Version,
    order: ByteOrder,
    request_id: u32,
    location: &Location,
) -> Result<(), EncodeError> {
    let (status, body) = location.on_the_wire(version)?;
    // Unlike those of requests and replies, this body is not padded to 8: it starts right after the status.
    let open = begin(buffer, (version, order, MessageType::LocateReply), false, |w| {
        w.write_u32(request_id);
        w.write_u32(status as u32);
        body.map_or(Ok(()), |body| body.encode(w))
    })?;
    finish(buffer, open).map_err(|_| EncodeError::LengthOverflow)?;
    Ok(())
}
