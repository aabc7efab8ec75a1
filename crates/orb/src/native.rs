//! From a native message to the servant's method and back to an answer: bytes in, bytes out, no I/O.
//!
//! The header says which object and which operation, both as indices; see [`throughline_wire`]. The body is CDR with text
//! in UTF-8 and UTF-16, counted from the header's first byte.

use throughline_cdr::{ByteOrder, CodeSets, Decode, DecodeError, Encode, Output, Reader, Writer};
use throughline_demux::{Handle, Slot};
use throughline_giop::exception::SystemException as OnTheWire;
use throughline_wire::{Flags, Header, Kind, Message, PLAIN_BYTES};

use crate::dispatch::{Dispatcher, upcall};
use crate::exception::SystemException;
use crate::object_table::ActiveObject;
use crate::priority::{Priority, Scope};
use crate::servant::{Outcome, ServerCall};

/// Where in a message its body is, and how its numbers are written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body {
    start: usize,
    order: ByteOrder,
}

impl Body {
    /// Of a message that is empty.
    pub(crate) const NONE: Self = Self { start: 0, order: ByteOrder::NATIVE };

    #[inline(always)]
    pub(crate) fn of(bytes: &[u8], message: &Message<'_>) -> Self {
        let little = message.header.flags.has(Flags::LITTLE_ENDIAN);
        let order = if little { ByteOrder::Little } else { ByteOrder::Big };
        Self { start: bytes.len() - message.body.len(), order }
    }

    /// The bytes of the message as CDR, from where the body begins.
    #[inline(always)]
    pub(crate) fn reader(self, bytes: &[u8]) -> Reader<'_> {
        let mut reader = Reader::starting_at(bytes, self.order, self.start);
        reader.set_codesets(CodeSets::UNICODE);
        reader
    }
}

/// As [`Body::reader`].
#[inline(always)]
pub(crate) fn body_reader<'a>(bytes: &'a [u8], message: &Message<'a>) -> Reader<'a> {
    Body::of(bytes, message).reader(bytes)
}

/// A writer of the body of a native message whose header takes the first bytes of `output`.
pub(crate) fn body_writer(output: Output<'_>) -> Writer<'_> {
    let mut writer = Writer::to(output, ByteOrder::NATIVE, 0);
    writer.set_codesets(CodeSets::UNICODE);
    writer
}

/// Reads the body of a [`Kind::SystemException`].
pub(crate) fn read_exception(body: &mut Reader<'_>) -> Result<SystemException, DecodeError> {
    OnTheWire::decode(body).map(SystemException::from_the_wire)
}

impl Dispatcher {
    /// Handles one message of a client that may be as urgent as `limit`. An answer, if there is one, is in `output`, which
    /// was empty.
    pub(crate) fn handle_native(&self, bytes: &[u8], mut output: Output<'_>, limit: Priority) {
        let message = match Message::read(bytes) {
            Ok(message) => message,
            Err(error) => {
                tracing::debug!(%error, "unreadable native message");
                return;
            }
        };
        match message.header.kind {
            Kind::Request | Kind::Oneway => self.call_native(bytes, &message, output, limit),
            Kind::Ping => {
                finish(&mut output, &message.header, Kind::Pong);
            }
            // Nothing that a server has to do anything for.
            _ => {}
        }
    }

    fn call_native(&self, bytes: &[u8], message: &Message<'_>, mut output: Output<'_>, limit: Priority) {
        let header = &message.header;
        let wants_reply = header.wants_reply();
        if wants_reply {
            // Its place; what it says is known at the end.
            finish(&mut output, header, Kind::Reply);
        }
        let result = self.run_native(bytes, message, output.reborrow(), limit);
        if !wants_reply {
            return output.truncate(0);
        }
        let kind = match result {
            Ok(Outcome::Normal) => return,
            Ok(Outcome::UserException) => Kind::UserException,
            Ok(Outcome::Forward) => Kind::Forward,
            Err(exception) => {
                output.truncate(PLAIN_BYTES);
                let _ = exception.on_the_wire().encode(&mut body_writer(output.reborrow()));
                Kind::SystemException
            }
        };
        finish(&mut output, header, kind);
    }

    #[inline(always)]
    fn run_native(
        &self,
        bytes: &[u8],
        message: &Message<'_>,
        output: Output<'_>,
        limit: Priority,
    ) -> Result<Outcome, SystemException> {
        let header = &message.header;
        let handle = Handle { slot: Slot(header.slot), nonce: header.nonce };
        let object = self.table().objects.get_any(handle).map(ActiveObject::new);
        let object = object.ok_or_else(SystemException::object_not_exist)?;
        let found = object.interface().operations.find_checked(header.operation.into(), header.check);
        // What has moved may have operations that its stand-in knows nothing of.
        let found = found.or_else(|| object.forward().map(|_| 0));
        let operation = found.ok_or_else(SystemException::bad_operation)?;
        let arguments = body_reader(bytes, message).with_context(self.context());
        let mut call = ServerCall::replying_to(arguments, output, 0, header.wants_reply());
        let urgent = header.priority != 0;
        let _scope = urgent.then(|| Scope::enter(self.judge.coded(header.priority, limit)));
        upcall(&object, operation, &mut call)?;
        Ok(call.outcome())
    }
}

/// Answers a request that is not carried out.
pub(crate) fn refuse(request: &Header, exception: &SystemException, mut output: Output<'_>) {
    finish(&mut output, request, Kind::SystemException);
    let _ = exception.on_the_wire().encode(&mut body_writer(output));
}

/// Writes the header of an answer to the front of `output`.
#[inline(always)]
fn finish(output: &mut Output<'_>, request: &Header, kind: Kind) {
    let header = request.answer(kind);
    if !output.is_empty() {
        // There is room: these bytes are there.
        let _ = header.write(output.octets_mut());
    } else if let Some(front) = output.claim::<PLAIN_BYTES>() {
        let _ = header.write(front);
    } else {
        finish_elsewhere(output, &header);
    }
}

/// To a vector.
#[cold]
fn finish_elsewhere(output: &mut Output<'_>, header: &Header) {
    let mut front = [0; PLAIN_BYTES];
    let _ = header.write(&mut front);
    Writer::to(output.reborrow(), ByteOrder::NATIVE, 0).write_bytes(&front);
}
