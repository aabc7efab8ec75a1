//! Reply: the outcome of a request (section 9.4.3).

use throughline_cdr::{ByteOrder, DecodeError, Encode, EncodeError, Reader};

use crate::exception::SystemException;
use crate::header::{MessageHeader, MessageType, Version};
use crate::ior::Ior;
use crate::open::{Open, begin};
use crate::service_context::{ServiceContext, ServiceContexts, write_all};
use crate::target::AddressingDisposition;

/// What a reply brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReplyStatus {
    /// The results.
    NoException = 0,
    /// A user exception: its repository id, then its members.
    UserException = 1,
    /// A [`SystemException`].
    SystemException = 2,
    /// An [`Ior`] at which to try again this time.
    LocationForward = 3,
    /// An [`Ior`] to use from now on; GIOP 1.2.
    LocationForwardPerm = 4,
    /// An [`AddressingDisposition`] with which to try again; GIOP 1.2.
    NeedsAddressingMode = 5,
}

impl ReplyStatus {
    fn from_number(number: u32, version: Version) -> Result<Self, DecodeError> {
        Ok(match (number, version) {
            (0, _) => Self::NoException,
            (1, _) => Self::UserException,
            (2, _) => Self::SystemException,
            (3, _) => Self::LocationForward,
            (4, Version::V1_2) => Self::LocationForwardPerm,
            (5, Version::V1_2) => Self::NeedsAddressingMode,
            _ => return Err(DecodeError::InvalidEnum { value: number }),
        })
    }
}

/// A received reply. Everything borrows from the message.
#[derive(Clone, Debug)]
pub struct ReplyHeader<'a> {
    /// The number of the request that this answers.
    pub request_id: u32,
    /// What the body is.
    pub status: ReplyStatus,
    /// What services added.
    pub service_contexts: ServiceContexts<'a>,
    /// The results, or what else the status says. Code sets are the caller's to set.
    pub body: Reader<'a>,
}

impl<'a> ReplyHeader<'a> {
    /// Reads the reply in `message`, which starts with the header given.
    #[inline]
    pub fn read(header: &MessageHeader, message: &'a [u8]) -> Result<Self, DecodeError> {
        let mut r = header.body(message);
        let version = header.version;
        if version == Version::V1_2 {
            let (request_id, status) = (r.read_u32()?, ReplyStatus::from_number(r.read_u32()?, version)?);
            let service_contexts = ServiceContexts::read(&mut r, message)?;
            if r.remaining() > 0 {
                r.align(8)?;
            }
            return Ok(Self { request_id, status, service_contexts, body: r });
        }
        let service_contexts = ServiceContexts::read(&mut r, message)?;
        let (request_id, status) = (r.read_u32()?, ReplyStatus::from_number(r.read_u32()?, version)?);
        Ok(Self { request_id, status, service_contexts, body: r })
    }
}

/// A reply to be written.
#[derive(Clone, Copy, Debug)]
pub struct NewReply<'a> {
    /// The number of the request that this answers.
    pub request_id: u32,
    /// What the body will be.
    pub status: ReplyStatus,
    /// What services add.
    pub service_contexts: &'a [ServiceContext<'a>],
}

/// Starts a reply; its results go to the [writer](Open::writer) of what is returned. Version and byte order are
/// those of the request.
#[inline]
pub fn begin_reply(
    buffer: &mut Vec<u8>,
    version: Version,
    order: ByteOrder,
    reply: &NewReply<'_>,
) -> Result<Open, EncodeError> {
    let padded = version == Version::V1_2;
    begin(buffer, (version, order, MessageType::Reply), padded, |w| {
        if version == Version::V1_2 {
            w.write_u32(reply.request_id);
            w.write_u32(reply.status as u32);
            return write_all(w, reply.service_contexts);
        }
        if reply.status as u32 > ReplyStatus::LocationForward as u32 {
            return Err(EncodeError::Invalid("a reply status that GIOP has since version 1.2 only"));
        }
        write_all(w, reply.service_contexts)?;
        w.write_u32(reply.request_id);
        w.write_u32(reply.status as u32);
        Ok(())
    })
}

/// Writes a whole reply whose body is one value.
fn write_reply(
    buffer: &mut Vec<u8>,
    version: Version,
    order: ByteOrder,
    reply: &NewReply<'_>,
    body: &dyn Encode,
) -> Result<(), EncodeError> {
    let open = begin_reply(buffer, version, order, reply)?;
    let written = body.encode(&mut open.writer(buffer));
    if written.is_err() {
        open.abandon(buffer);
    }
    written?;
    crate::open::finish(buffer, open).map_err(|_| EncodeError::LengthOverflow)?;
    Ok(())
}

/// Writes a whole reply that raises a system exception.
pub fn write_system_exception(
    buffer: &mut Vec<u8>,
    version: Version,
    order: ByteOrder,
    request_id: u32,
    service_contexts: &[ServiceContext<'_>],
    exception: &SystemException,
) -> Result<(), EncodeError> {
    let reply = NewReply { request_id, status: ReplyStatus::SystemException, service_contexts };
    write_reply(buffer, version, order, &reply, exception)
}

/// Writes a whole reply that sends the client elsewhere; `permanently` has an effect since GIOP 1.2.
pub fn write_location_forward(
    buffer: &mut Vec<u8>,
    version: Version,
    order: ByteOrder,
    request_id: u32,
    ior: &Ior,
    permanently: bool,
) -> Result<(), EncodeError> {
    let status = match permanently && version == Version::V1_2 {
        true => ReplyStatus::LocationForwardPerm,
        false => ReplyStatus::LocationForward,
    };
    write_reply(buffer, version, order, &NewReply { request_id, status, service_contexts: &[] }, ior)
}

/// Writes a whole reply that asks for another way of addressing. Needs GIOP 1.2, where alone there is a choice.
pub fn write_needs_addressing_mode(
    buffer: &mut Vec<u8>,
    order: ByteOrder,
    request_id: u32,
    wanted: AddressingDisposition,
) -> Result<(), EncodeError> {
    let reply = NewReply { request_id, status: ReplyStatus::NeedsAddressingMode, service_contexts: &[] };
    write_reply(buffer, Version::V1_2, order, &reply, &wanted)
}
