//! A call by the native protocol: one attempt, which other ways follow if it is not possible.

use std::sync::atomic::Ordering;
use std::time::Instant;

use throughline_cdr::{Decode, DecodeError, EncodeError, Reader, Writer};
use throughline_giop::Ior;
use throughline_wire::Kind;

use crate::exception::{Kind as Exception, OperationError, SystemException, minor};
use crate::interface::Operation;
use crate::invoke::{MAX_FORWARDS, broken, read_results};
use crate::native::read_exception;
use crate::reference::ObjectRef;
use crate::transport::native::client::{Attempt, NativeReply, NativeRoute, exchange};

impl ObjectRef {
    /// Calls by the native protocol, if the reference leads that way and it works. Exceptions of the system are errors
    /// already; results and user exceptions are yet to be [read](read_native).
    #[inline]
    pub(crate) fn call_native(
        &self,
        operation: Operation,
        wants_reply: bool,
        encode: impl Fn(&mut Writer<'_>) -> Result<(), EncodeError>,
    ) -> Result<Attempt, SystemException> {
        let mut forwards = 0;
        let mut went_back = false;
        let mut deadline = None;
        loop {
            let binding = self.present_binding();
            let Some(route) = binding.native() else { return Ok(Attempt::NotPossible) };
            self.orb().check_up()?;
            // One for the whole call, however often it is forwarded.
            deadline = deadline.or_else(|| self.timeout().and_then(|t| Instant::now().checked_add(t)));
            match exchange(route, operation, deadline, wants_reply, &encode)? {
                Attempt::Answered(reply) if reply.kind() == Kind::Forward => {
                    self.forward(&reply, &mut forwards)?
                }
                Attempt::Answered(reply) if reply.kind() == Kind::SystemException => {
                    return self.failed(route, &reply);
                }
                // Where the object was forwarded to is gone, and there is no other way to it: back to where it was, once.
                Attempt::NotPossible
                    if !went_back && binding.route().is_none() && self.unbind(&binding).is_some() =>
                {
                    went_back = true;
                }
                usual => return Ok(usual),
            }
        }
    }

    /// The object is elsewhere.
    #[cold]
    fn forward(&self, reply: &NativeReply, forwards: &mut usize) -> Result<(), SystemException> {
        *forwards += 1;
        if *forwards > MAX_FORWARDS {
            return Err(SystemException::new(Exception::Transient, minor::TOO_MANY_FORWARDS));
        }
        self.rebind(&reply.read(|mut r| Ior::decode(&mut r)).map_err(broken)?);
        Ok(())
    }

    /// The server answered with an exception of the system.
    #[cold]
    fn failed(&self, route: &NativeRoute, reply: &NativeReply) -> Result<Attempt, SystemException> {
        let exception = reply.read(|mut r| read_exception(&mut r)).map_err(broken)?;
        if exception.kind == Exception::ObjectNotExist && self.binding().route().is_some() {
            // The handle is stale; a key may lead further than a handle.
            route.stale.store(true, Ordering::Relaxed);
            return Ok(Attempt::NotPossible);
        }
        Err(exception)
    }
}

/// Reads the results, or turns the user exception into the error.
#[inline]
pub(crate) fn read_native<T, E: OperationError>(
    reference: &ObjectRef,
    reply: &NativeReply,
    decode: impl FnOnce(&mut Reader<'_>) -> Result<T, DecodeError>,
) -> Result<T, E> {
    let context = reference.orb().downgrade();
    reply.read(|r| read_results(r.with_context(&context), reply.kind() == Kind::UserException, decode))
}
