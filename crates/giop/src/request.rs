//! Request: an invocation (section 9.4.2).

use throughline_cdr::{ByteOrder, DecodeError, EncodeError, Reader, Writer};

use crate::header::{MessageHeader, MessageType, Version};
use crate::open::{Open, begin};
use crate::service_context::{ServiceContext, ServiceContexts, write_all};
use crate::target::{NewTarget, Target};

/// Whether, and when, the client wants a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Response {
    /// Never: a oneway (`SYNC_NONE`, `SYNC_WITH_TRANSPORT`).
    None = 0,
    /// Before the target is called (`SYNC_WITH_SERVER`); GIOP 1.2.
    Server = 1,
    /// After the target was called.
    Target = 3,
}

impl Response {
    const fn from_flags(flags: u8) -> Self {
        // The upper bits are reserved; 2 alone is undefined and asks for nothing.
        match flags & 3 {
            3 => Self::Target,
            1 => Self::Server,
            _ => Self::None,
        }
    }

    /// Whether a reply must be sent at all.
    pub const fn is_expected(self) -> bool {
        !matches!(self, Self::None)
    }
}

/// A received request. Everything borrows from the message.
#[derive(Clone, Debug)]
pub struct RequestHeader<'a> {
    /// The client's number for the request, unique among those outstanding on the connection.
    pub request_id: u32,
    /// Whether to reply.
    pub response: Response,
    /// The object.
    pub target: Target<'a>,
    /// The operation's name, without NUL.
    pub operation: &'a [u8],
    /// What services added.
    pub service_contexts: ServiceContexts<'a>,
    /// Who asks, as far as GIOP 1.0 and 1.1 tell; deprecated.
    pub principal: &'a [u8],
    /// The arguments. Code sets are the caller's to set.
    pub body: Reader<'a>,
}

impl<'a> RequestHeader<'a> {
    /// Reads the request in `message`, which starts with the header given.
    #[inline]
    pub fn read(header: &MessageHeader, message: &'a [u8]) -> Result<Self, DecodeError> {
        let mut r = header.body(message);
        match header.version {
            Version::V1_2 => Self::read_1_2(&mut r, message),
            version => Self::read_1_0(&mut r, message, version),
        }
    }

    fn read_1_2(r: &mut Reader<'a>, message: &'a [u8]) -> Result<Self, DecodeError> {
        let request_id = r.read_u32()?;
        let response = Response::from_flags(r.read_u8()?);
        r.read_bytes(3)?;
        let target = Target::read(r)?;
        let operation = read_operation(r)?;
        let service_contexts = ServiceContexts::read(r, message)?;
        if r.remaining() > 0 {
            r.align(8)?;
        }
        let body = r.clone();
        Ok(Self { request_id, response, target, operation, service_contexts, principal: &[], body })
    }

    fn read_1_0(r: &mut Reader<'a>, message: &'a [u8], version: Version) -> Result<Self, DecodeError> {
        let service_contexts = ServiceContexts::read(r, message)?;
        let request_id = r.read_u32()?;
        let response = if r.read_bool()? { Response::Target } else { Response::None };
        if version == Version::V1_1 {
            r.read_bytes(3)?;
        }
        let target = Target::Key(r.read_octets()?);
        let operation = read_operation(r)?;
        let principal = r.read_octets()?;
        let body = r.clone();
        Ok(Self { request_id, response, target, operation, service_contexts, principal, body })
    }
}

/// An operation's name without its NUL. A NUL inside makes it a name that no operation has; nothing else comes of it.
#[inline]
fn read_operation<'a>(r: &mut Reader<'a>) -> Result<&'a [u8], DecodeError> {
    match r.read_octets()?.split_last() {
        Some((0, name)) => Ok(name),
        _ => Err(DecodeError::Invalid { what: "operation name without its terminating NUL" }),
    }
}

/// A request to be written.
#[derive(Clone, Copy, Debug)]
pub struct NewRequest<'a> {
    /// Unique among those outstanding on the connection.
    pub request_id: u32,
    /// Whether a reply is wanted. Before GIOP 1.2, [`Response::Server`] asks for one like [`Response::Target`].
    pub response: Response,
    /// The object.
    pub target: NewTarget<'a>,
    /// The operation's name.
    pub operation: &'a str,
    /// What services add.
    pub service_contexts: &'a [ServiceContext<'a>],
}

/// Starts a request; its arguments go to the [writer](Open::writer) of what is returned.
#[inline]
pub fn begin_request(
    buffer: &mut Vec<u8>,
    version: Version,
    order: ByteOrder,
    request: &NewRequest<'_>,
) -> Result<Open, EncodeError> {
    let padded = version == Version::V1_2;
    begin(buffer, (version, order, MessageType::Request), padded, |w| match version {
        Version::V1_2 => write_1_2(w, request),
        _ => write_1_0(w, request, version),
    })
}

fn write_1_2(w: &mut Writer<'_>, request: &NewRequest<'_>) -> Result<(), EncodeError> {
    w.write_u32(request.request_id);
    w.write_bytes(&[request.response as u8, 0, 0, 0]);
    request.target.write(w)?;
    w.write_string(request.operation)?;
    write_all(w, request.service_contexts)
}

fn write_1_0(w: &mut Writer<'_>, request: &NewRequest<'_>, version: Version) -> Result<(), EncodeError> {
    write_all(w, request.service_contexts)?;
    w.write_u32(request.request_id);
    w.write_bool(request.response.is_expected());
    if version == Version::V1_1 {
        w.write_bytes(&[0; 3]);
    }
    request.target.write_key(w)?;
    w.write_string(request.operation)?;
    write_padding_principal(w);
    Ok(())
}

/// Nobody reads the principal. Its length is chosen so that the body starts at a multiple of 8, as it does since
/// GIOP 1.2: arguments can be marshaled before it is known where they go.
fn write_padding_principal(w: &mut Writer<'_>) {
    w.align(4);
    let length = w.position();
    w.write_u32(0);
    let start = w.position();
    w.align(8);
    w.patch_u32(length, (w.position() - start) as u32);
}
