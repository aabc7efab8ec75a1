//! From a GIOP message to the servant's method and back to a reply: bytes in, bytes out, no I/O.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use throughline_cdr::{ByteOrder, CharSet, CodeSets, DecodeError, WideCharSet, WideEncoding};
use throughline_giop::control::{write_close_connection, write_message_error};
use throughline_giop::header::{MessageHeader, MessageType, Version};
use throughline_giop::locate::{LocateRequestHeader, Location, write_locate_reply};
use throughline_giop::reply::{NewReply, ReplyStatus, begin_reply, write_system_exception};
use throughline_giop::request::RequestHeader;
use throughline_giop::{Open, finish, service_context};

use crate::exception::{Completion, Kind, SystemException, minor};
use crate::object_table::{ActiveObject, ObjectTable};
use crate::orb::WeakOrb;
use crate::priority::{Judge, Priority, Scope};
use crate::servant::{Outcome, Replier, ServerCall};

/// What requests on one connection have in common.
#[derive(Debug)]
pub(crate) struct Session {
    /// The index of the operation called last: the prediction for the next call.
    predicted: AtomicU32,
    /// The client's choice of code sets, see [`pack`]; 0 before it is known.
    code_sets: AtomicU32,
    /// A oneway runs, or what runs is not known yet: the next request waits for its end, so that oneways are executed in order.
    ordered: AtomicBool,
    /// The most urgent that the client may be.
    limit: Priority,
}

impl Session {
    /// Of a client that may be this urgent.
    pub(crate) fn new(limit: Priority) -> Self {
        Self {
            predicted: AtomicU32::new(0),
            code_sets: AtomicU32::new(0),
            ordered: AtomicBool::new(false),
            limit,
        }
    }

    /// The same session for one request that a lane carries out: what it says of the order is not said of those that are
    /// carried out where they were received.
    pub(crate) fn beside(&self) -> Self {
        let same = |of: &AtomicU32| AtomicU32::new(of.load(Ordering::Relaxed));
        let (predicted, code_sets) = (same(&self.predicted), same(&self.code_sets));
        Self { predicted, code_sets, ordered: AtomicBool::new(false), limit: self.limit }
    }

    /// The prediction of a request [beside](Self::beside) is as good as any.
    pub(crate) fn predict_as(&self, beside: &Self) {
        let predicted = beside.predicted.load(Ordering::Relaxed);
        if predicted != self.predicted.load(Ordering::Relaxed) {
            self.predicted.store(predicted, Ordering::Relaxed);
        }
    }

    /// Whether the running servant must finish before the next request starts.
    pub(crate) fn is_ordered(&self) -> bool {
        self.ordered.load(Ordering::Relaxed)
    }

    /// A message is about to be handled, perhaps a oneway.
    pub(crate) fn nothing_overtakes(&self) {
        self.ordered.store(true, Ordering::Relaxed);
    }

    /// The most urgent that the client may be.
    pub(crate) fn limit(&self) -> Priority {
        self.limit
    }

    fn code_sets(&self, request: &RequestHeader<'_>, version: Version) -> Result<CodeSets, SystemException> {
        let packed = self.learn_code_sets(request);
        if packed & UNKNOWN != 0 {
            // Text would be taken for what it is not, and nobody would notice.
            return Err(SystemException::new(Kind::CodesetIncompatible, minor::UNKNOWN_CODE_SET));
        }
        Ok(unpack(packed, version))
    }

    /// What the client has said of its code sets, up to and with this request.
    #[inline]
    pub(crate) fn learn_code_sets(&self, request: &RequestHeader<'_>) -> u32 {
        let mut packed = self.code_sets.load(Ordering::Relaxed);
        if packed == 0
            && !request.service_contexts.is_empty()
            && let Some(data) = request.service_contexts.find(service_context::CODE_SETS)
            && let Ok(chosen) = throughline_giop::codeset::CodeSetContext::from_octets(data)
        {
            packed = pack(chosen.char_data, WideCharSet::from_id(chosen.wchar_data));
            self.code_sets.store(packed, Ordering::Relaxed);
        }
        packed
    }
}

/// Bit 0: known; bit 1: UTF-8 rather than ISO 8859-1; bit 2: UTF-16 agreed upon for wide text; bit 3: [`UNKNOWN`]. A
/// client that names no narrow code set at all uses the default.
fn pack(narrow: u32, wide: Option<WideCharSet>) -> u32 {
    let unknown = if narrow != 0 && CharSet::from_id(narrow).is_none() { UNKNOWN } else { 0 };
    1 | u32::from(narrow == CharSet::Utf8.id()) << 1 | u32::from(wide.is_some()) << 2 | unknown
}

/// The client chose a narrow code set that is none of ours.
const UNKNOWN: u32 = 8;

#[inline]
fn unpack(packed: u32, version: Version) -> CodeSets {
    CodeSets {
        narrow: if packed & 2 != 0 { CharSet::Utf8 } else { CharSet::Latin1 },
        // A client that never said what wide text is gets UTF-16 all the same: it cannot mean anything else
        // of ours. GIOP 1.0 has no wide text.
        wide: (version > Version::V1_0 && (packed == 0 || packed & 4 != 0)).then_some(WideCharSet::Utf16),
        wide_encoding: if version < Version::V1_2 { WideEncoding::Giop11 } else { WideEncoding::Giop12 },
    }
}

/// What the connection is to do after a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reaction {
    /// Send what was written, if anything, and go on.
    Continue,
    /// Send what was written, if anything, and close.
    Close,
}

/// Turns messages into calls of one ORB's objects.
#[derive(Debug)]
pub(crate) struct Dispatcher {
    table: Arc<ObjectTable>,
    /// For object references among the arguments.
    orb: WeakOrb,
    pub(crate) judge: Judge,
    /// Some adapter serves in lanes.
    pub(crate) lanes: AtomicBool,
}

impl Dispatcher {
    pub(crate) fn new(table: Arc<ObjectTable>, orb: WeakOrb) -> Self {
        Self { table, orb, judge: Judge::default(), lanes: AtomicBool::new(false) }
    }

    pub(crate) fn table(&self) -> &ObjectTable {
        &self.table
    }

    /// What readers of arguments need to make references.
    pub(crate) fn context(&self) -> &WeakOrb {
        &self.orb
    }

    /// A whole MessageError message.
    pub(crate) fn message_error(&self, version: Version) -> Vec<u8> {
        let mut out = Vec::new();
        write_message_error(&mut out, version, ByteOrder::NATIVE);
        out
    }

    /// A whole CloseConnection message.
    pub(crate) fn close_connection(&self) -> Vec<u8> {
        let mut out = Vec::new();
        write_close_connection(&mut out, Version::V1_0, ByteOrder::NATIVE);
        out
    }

    /// Handles one whole message; what is to be sent is appended to `out`, or handed to `replier` if it is large.
    pub(crate) fn handle(
        &self,
        header: &MessageHeader,
        message: &[u8],
        (session, replier): (&Session, Option<&dyn Replier>),
        out: &mut Vec<u8>,
    ) -> Reaction {
        match header.kind {
            MessageType::Request => self.request(header, message, (session, replier), out),
            MessageType::LocateRequest => self.locate(header, message, out),
            // The reply may be on its way already; sending it is allowed.
            MessageType::CancelRequest => Reaction::Continue,
            MessageType::CloseConnection | MessageType::MessageError => Reaction::Close,
            // Replies never come to a server, fragments are put together before they come here.
            MessageType::Reply | MessageType::LocateReply | MessageType::Fragment => {
                out.extend_from_slice(&self.message_error(Version::V1_0));
                Reaction::Close
            }
        }
    }

    fn request(
        &self,
        header: &MessageHeader,
        message: &[u8],
        (session, replier): (&Session, Option<&dyn Replier>),
        out: &mut Vec<u8>,
    ) -> Reaction {
        let request = match RequestHeader::read(header, message) {
            Ok(request) => request,
            Err(error) => return self.unreadable(header, error, out),
        };
        let expected = request.response.is_expected();
        session.ordered.store(!expected, Ordering::Relaxed);
        let start = out.len();
        let result = self.run(header, &request, (session, replier), out);
        if !expected {
            out.truncate(start);
        } else if let Err(exception) = result {
            out.truncate(start);
            raise(out, header.version, request.request_id, &exception);
        }
        Reaction::Continue
    }

    /// A header that cannot be read: nobody knows which request to answer, nor whether the next message starts
    /// where this one ends.
    fn unreadable(&self, header: &MessageHeader, error: DecodeError, out: &mut Vec<u8>) -> Reaction {
        tracing::debug!(%error, kind = ?header.kind, "unreadable message");
        out.extend_from_slice(&self.message_error(Version::V1_0));
        Reaction::Close
    }

    fn run(
        &self,
        header: &MessageHeader,
        request: &RequestHeader<'_>,
        (session, replier): (&Session, Option<&dyn Replier>),
        out: &mut Vec<u8>,
    ) -> Result<(), SystemException> {
        let key = request.target.object_key()?;
        let object = self.table.find(key).ok_or_else(SystemException::object_not_exist)?;
        let predicted = session.predicted.load(Ordering::Relaxed);
        let found = object.find_operation(request.operation, predicted);
        // What has moved may have operations that its stand-in knows nothing of.
        let found = found.or_else(|| object.forward().map(|_| 0));
        let operation = found.ok_or_else(SystemException::bad_operation)?;
        if operation != predicted {
            session.predicted.store(operation, Ordering::Relaxed);
        }
        let expected = request.response.is_expected();
        let reply = NewReply {
            request_id: request.request_id,
            status: ReplyStatus::NoException,
            service_contexts: &[],
        };
        let open = begin_reply(out, header.version, ByteOrder::NATIVE, &reply)?;
        let mut arguments = request.body.clone();
        arguments.set_codesets(session.code_sets(request, header.version)?);
        let mut call = ServerCall::new(arguments.with_context(&self.orb), out, open.start, expected)
            .with_replier(replier, open);
        let _scope = self.priority(request, session).map(Scope::enter);
        let result = upcall(&object, operation, &mut call);
        if call.is_sent() {
            // Whatever happened afterwards comes too late.
            open.abandon(out);
            return Ok(());
        }
        result.map_err(|exception| *exception)?;
        let outcome = call.outcome();
        complete(out, open, header.version, outcome)
    }

    /// The priority that the client gave its request, as far as it may.
    #[inline]
    fn priority(&self, request: &RequestHeader<'_>, session: &Session) -> Option<Priority> {
        if request.service_contexts.is_empty() {
            return None;
        }
        let octets = request.service_contexts.find(service_context::RT_CORBA_PRIORITY)?;
        self.judge.said(octets, session.limit)
    }

    fn locate(&self, header: &MessageHeader, message: &[u8], out: &mut Vec<u8>) -> Reaction {
        let request = match LocateRequestHeader::read(header, message) {
            Ok(request) => request,
            Err(error) => return self.unreadable(header, error, out),
        };
        let found = request.target.object_key().ok().and_then(|key| self.table.find(key));
        let location = match &found {
            None => Location::Unknown,
            Some(object) => match object.forward() {
                Some(to) => Location::Forward(to.clone()),
                None => Location::Here,
            },
        };
        let written =
            write_locate_reply(out, header.version, ByteOrder::NATIVE, request.request_id, &location);
        if written.is_err() { Reaction::Close } else { Reaction::Continue }
    }
}

/// Calls the skeleton. A servant that panics costs its caller an `UNKNOWN`, and nobody else anything.
///
/// An exception is in a box, since what is handed through here is copied as a whole, exception or not.
#[inline(always)]
pub(crate) fn upcall(
    object: &ActiveObject<'_>,
    operation: u32,
    call: &mut ServerCall<'_>,
) -> Result<(), Box<SystemException>> {
    match catch_unwind(AssertUnwindSafe(|| object.invoke(operation, call).map_err(Box::new))) {
        Ok(result) => result,
        Err(_) => Err(panicked(object, operation)),
    }
}

#[cold]
fn panicked(object: &ActiveObject<'_>, operation: u32) -> Box<SystemException> {
    tracing::error!(operation, object = ?object, "servant panicked");
    Box::new(SystemException::unknown().completed(Completion::Maybe))
}

/// Puts the outcome and the size into a reply.
fn complete(
    out: &mut Vec<u8>,
    open: Open,
    version: Version,
    outcome: Outcome,
) -> Result<(), SystemException> {
    let status = match outcome {
        Outcome::Normal => ReplyStatus::NoException,
        Outcome::UserException => ReplyStatus::UserException,
        Outcome::Forward => ReplyStatus::LocationForward,
    };
    if status != ReplyStatus::NoException {
        // After the message header: the request id first (1.2), or the empty list of service contexts before it.
        let offset = if version == Version::V1_2 { 16 } else { 20 };
        open.writer(out).patch_u32(open.start + offset, status as u32);
    }
    finish(out, open).map_err(|_| SystemException::marshal().completed(Completion::Yes))?;
    Ok(())
}

pub(crate) fn raise(out: &mut Vec<u8>, version: Version, request_id: u32, exception: &SystemException) {
    let written =
        write_system_exception(out, version, ByteOrder::NATIVE, request_id, &[], &exception.on_the_wire());
    if let Err(error) = written {
        tracing::error!(%error, "cannot write an exception");
    }
}
