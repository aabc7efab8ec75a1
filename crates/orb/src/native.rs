//! From a native message to the servant's method and back to an answer: bytes in, bytes out, no I/O.
//!
//! The header says which object and which operation, both as indices; see [`throughline_wire`]. The body is CDR with text
//! in UTF-8 and UTF-16, counted from the header's first byte.

use throughline_cdr::{ByteOrder, CodeSets, DecodeError, Encode, Output, Reader, Writer};
use throughline_demux::{Handle, Slot};
use throughline_wire::{Flags, Header, Kind, Message, PLAIN_BYTES, UNKNOWN_OBJECT};

use crate::dispatch::{Dispatcher, upcall};
use crate::exception::{Kind as Exception, SystemException};
use crate::object_table::{ActiveObject, ObjectTable};
use crate::priority::{Priority, Scope};
use crate::servant::{Outcome, ServerCall};
use crate::transport::native::Octets;

/// Where in a message its body is, and how its numbers are written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body {
    start: usize,
    order: ByteOrder,
}

impl Body {
    /// Of a message that is empty.
    pub(crate) const NONE: Self = Self { start: 0, order: ByteOrder::Big };

    #[inline(always)]
    pub(crate) fn of(bytes: &[u8], message: &Message<'_>) -> Self {
        let little = message.header.flags.has(Flags::LITTLE_ENDIAN);
        let order = if little { ByteOrder::Little } else { ByteOrder::Big };
        Self { start: bytes.len() - message.body.len(), order }
    }

    /// Of an answer without regions.
    #[inline(always)]
    pub(crate) fn of_answer(flags: Flags) -> Self {
        let order = if flags.has(Flags::LITTLE_ENDIAN) { ByteOrder::Little } else { ByteOrder::Big };
        Self { start: PLAIN_BYTES, order }
    }

    /// The bytes of the message as CDR, from where the body begins.
    #[inline(always)]
    pub(crate) fn reader(self, bytes: &[u8]) -> Reader<'_> {
        let mut reader = Reader::starting_at(bytes, self.order, self.start);
        reader.set_codesets(CodeSets::UNICODE);
        reader
    }

    /// As [`reader`](Self::reader).
    #[inline(always)]
    pub(crate) fn reader_of(self, octets: Octets<'_>) -> Reader<'_> {
        let reader = self.reader(octets.at_hand);
        match octets.tail {
            Some(tail) => reader.with_tail(tail),
            None => reader,
        }
    }
}

/// A writer of the body of a native message whose header takes the first bytes of `output`.
#[inline(always)]
pub(crate) fn body_writer(output: Output<'_>) -> Writer<'_> {
    let mut writer = Writer::to(output, ByteOrder::NATIVE, 0);
    writer.set_codesets(CodeSets::UNICODE);
    writer
}

/// Reads the body of a [`Kind::SystemException`].
pub(crate) fn read_exception(body: &mut Reader<'_>) -> Result<SystemException, DecodeError> {
    SystemException::read(body)
}

/// Whether an answer of so many octets, of which the first are at hand, says that the server does not know the object. A servant may say
/// so of another one, and has run then.
#[cold]
pub(crate) fn is_of_unknown_object(at_hand: &[u8], len: usize) -> bool {
    let header = Message::read_front(at_hand, len).map(|message| message.header);
    header.is_ok_and(|header| (header.kind, header.detail) == (Kind::SystemException, UNKNOWN_OBJECT))
}

/// The object of the last request, which is kept while others wait behind that: mostly they are for the same one.
#[derive(Debug, Default)]
pub(crate) struct Recent<'t>(Option<ActiveObject<'t>>);

impl<'t> Recent<'t> {
    /// The object that a lookup of the handle finds now.
    #[inline(always)]
    fn find(&mut self, table: &'t ObjectTable, handle: Handle) -> Option<&ActiveObject<'t>> {
        if !self.0.as_ref().is_some_and(|object| object.is_found_by(handle)) {
            // Not kept any longer than until here, whatever comes of the next.
            self.0 = None;
            self.0 = table.objects.get_any(handle).map(ActiveObject::new);
        }
        self.0.as_ref()
    }

    /// Nothing waits: who deactivates the object is not to wait for anybody either.
    #[inline(always)]
    pub(crate) fn forget(&mut self) {
        self.0 = None;
    }
}

/// How a call ended, and where in the request the rest of its results is, if that is there.
type Course = (Outcome, Option<usize>);

impl Dispatcher {
    /// Handles one message of a client that may be as urgent as `limit`. An answer, if there is one, is in `output`, which
    /// was empty.
    #[inline(always)]
    pub(crate) fn handle_native<'t>(
        &'t self,
        recent: &mut Recent<'t>,
        octets: Octets<'_>,
        output: Output<'_>,
        limit: Priority,
    ) {
        match Message::read_request(octets.at_hand) {
            Some(request) => self.call_native(recent, (octets, &request), output, limit),
            None => self.handle_other(recent, octets, output, limit),
        }
    }

    #[inline(never)]
    fn handle_other<'t>(
        &'t self,
        recent: &mut Recent<'t>,
        octets: Octets<'_>,
        mut output: Output<'_>,
        limit: Priority,
    ) {
        let message = match Message::read_front(octets.at_hand, octets.message_len()) {
            Ok(message) => message,
            Err(error) => {
                tracing::debug!(%error, "unreadable native message");
                return;
            }
        };
        match message.header.kind {
            Kind::Request | Kind::Oneway => self.call_native(recent, (octets, &message), output, limit),
            Kind::Ping => begin(&mut output, &message.header.answer(Kind::Pong)),
            // Nothing that a server has to do anything for.
            _ => {}
        }
    }

    #[inline(always)]
    fn call_native<'t>(
        &'t self,
        recent: &mut Recent<'t>,
        (octets, message): (Octets<'_>, &Message<'_>),
        mut output: Output<'_>,
        limit: Priority,
    ) {
        let wants_reply = message.header.wants_reply();
        if wants_reply {
            // Its place; what it says is known at the end.
            begin(&mut output, &message.header.answer(Kind::Reply));
        }
        let result = self.run_native(recent, (octets, message), output.reborrow(), limit);
        if !wants_reply {
            return output.truncate(0);
        }
        match result {
            Ok((Outcome::Normal, None)) => {}
            other => self.finish(output, octets, other),
        }
    }

    #[inline(always)]
    fn run_native<'t>(
        &'t self,
        recent: &mut Recent<'t>,
        (octets, message): (Octets<'_>, &Message<'_>),
        output: Output<'_>,
        limit: Priority,
    ) -> Result<Course, Box<SystemException>> {
        let header = &message.header;
        let handle = Handle { slot: Slot(header.slot), nonce: header.nonce };
        let Some(object) = recent.find(self.table(), handle) else {
            return refused(SystemException::object_not_exist());
        };
        let found = object.interface().operations.find_checked(header.operation.into(), header.check);
        // What has moved may have operations that its stand-in knows nothing of.
        let Some(operation) = found.or_else(|| object.forward().map(|_| 0)) else {
            return refused(SystemException::bad_operation());
        };
        let arguments = Body::of(octets.at_hand, message).reader_of(octets).with_context(self.context());
        // Nobody waits for the answer to a oneway, which may be late to be read: it has no results.
        let mut call = ServerCall::replying_to(arguments, output, 0, header.kind == Kind::Request);
        let urgent = header.priority != 0;
        let _scope = urgent.then(|| Scope::enter(self.judge.coded(header.priority, limit)));
        upcall(object, operation, &mut call)?;
        Ok((call.outcome(), call.returned()))
    }

    /// Makes the answer that was begun to a request another one than a normal reply.
    ///
    /// The request is read once more, lest its header be kept in memory for this.
    #[cold]
    fn finish(
        &self,
        mut output: Output<'_>,
        request: Octets<'_>,
        result: Result<Course, Box<SystemException>>,
    ) {
        let message = Message::read_front(request.at_hand, request.message_len());
        let Ok(Message { header: request, .. }) = message else { return };
        let mut detail = 0;
        let kind = match result {
            Ok((Outcome::Normal, Some(start))) => {
                // No message has more octets than 32 bits count.
                detail = start as u32;
                Kind::Returned
            }
            Ok((Outcome::Normal, None)) => Kind::Reply,
            Ok((Outcome::UserException, _)) => Kind::UserException,
            Ok((Outcome::Forward, _)) => Kind::Forward,
            Err(exception) => {
                output.truncate(PLAIN_BYTES);
                let _ = exception.on_the_wire().encode(&mut body_writer(output.reborrow()));
                // A servant may say so of another object.
                if exception.kind == Exception::ObjectNotExist && !self.knows(&request) {
                    detail = UNKNOWN_OBJECT;
                }
                Kind::SystemException
            }
        };
        // There is room: these bytes are there.
        let _ = Header { detail, ..request.answer(kind) }.write(output.octets_mut());
    }

    /// Whether the object that a request is for is here.
    fn knows(&self, request: &Header) -> bool {
        let handle = Handle { slot: Slot(request.slot), nonce: request.nonce };
        self.table().objects.get_any(handle).is_some()
    }
}

#[cold]
fn refused(exception: SystemException) -> Result<Course, Box<SystemException>> {
    Err(Box::new(exception))
}

/// Answers a request that is not carried out.
pub(crate) fn refuse(request: &Header, exception: &SystemException, mut output: Output<'_>) {
    begin(&mut output, &request.answer(Kind::SystemException));
    let _ = exception.on_the_wire().encode(&mut body_writer(output));
}

/// Writes the header of an answer to `output`, which is empty.
#[inline(always)]
fn begin(output: &mut Output<'_>, header: &Header) {
    match output.claim::<PLAIN_BYTES>() {
        Some(front) => {
            // There is room.
            let _ = header.write(front);
        }
        None => begin_elsewhere(output, header),
    }
}

/// To a vector.
#[cold]
fn begin_elsewhere(output: &mut Output<'_>, header: &Header) {
    let mut front = [0; PLAIN_BYTES];
    let _ = header.write(&mut front);
    Writer::to(output.reborrow(), ByteOrder::NATIVE, 0).write_bytes(&front);
}
