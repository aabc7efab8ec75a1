//! Calls to objects of the same process: no socket, no message header, the same marshaling and the same dispatch.
//!
//! A blocking call runs the servant on the caller's thread, as a function call would: nothing can interrupt it there, so the
//! time that a call may take does not apply, and a reply that comes late is still the reply. (On another thread it could be
//! abandoned, but every call would pay for that with two switches of threads, and servants would lose the caller's
//! thread-locals and its place in a chain of callbacks.) The call of a future runs on a worker and ends in time.

use throughline_cdr::{ByteOrder, CodeSets, Decode, Reader, Writer};
use throughline_giop::Ior;
use throughline_giop::request::Response;

use crate::binding::Binding;
use crate::dispatch::upcall;
use crate::exception::SystemException;
use crate::interface::Operation;
use crate::invoke::{Outcome, Step};
use crate::orb::Orb;
use crate::servant::{self, ServerCall};

/// A writer of the arguments of a local call.
#[inline]
pub(crate) fn argument_writer(buffer: &mut Vec<u8>) -> Writer<'_> {
    let mut writer = Writer::with_base(buffer, ByteOrder::NATIVE, 0);
    writer.set_codesets(CodeSets::UNICODE);
    writer
}

/// A reader of the results of a local call.
#[inline]
pub(crate) fn result_reader(results: &[u8]) -> Reader<'_> {
    let mut reader = Reader::new(results, ByteOrder::NATIVE);
    reader.set_codesets(CodeSets::UNICODE);
    reader
}

/// Runs the operation on the calling thread.
pub(crate) fn call(
    orb: &Orb,
    binding: &Binding,
    operation: Operation,
    arguments: &[u8],
    response: Response,
) -> Result<Step, SystemException> {
    let table = orb.table();
    let key = binding.local_key().unwrap_or_default();
    let object = table.find(key).ok_or_else(SystemException::object_not_exist)?;
    if let Some(to) = object.forward() {
        return Ok(Step::Forward(to.clone()));
    }
    let index = object.find_operation(operation.name.as_bytes(), operation.index);
    let index = index.ok_or_else(SystemException::bad_operation)?;
    let context = orb.weak();
    let mut results = Vec::new();
    let reader = result_reader(arguments).with_context(context);
    let mut call = ServerCall::new(reader, &mut results, 0, response.is_expected());
    upcall(&object, index, &mut call).map_err(|exception| *exception)?;
    let outcome = call.outcome();
    Ok(match outcome {
        servant::Outcome::Normal if !response.is_expected() => Step::Done(Outcome::None),
        servant::Outcome::Normal => Step::Done(Outcome::Local { results, user: false }),
        servant::Outcome::UserException => Step::Done(Outcome::Local { results, user: true }),
        // A skeleton that forwards on its own account.
        servant::Outcome::Forward => Step::Forward(Ior::decode(&mut result_reader(&results))?),
    })
}
