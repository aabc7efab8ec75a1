//! A call by the native protocol: one attempt, which other ways follow if it is not possible.

use std::time::Instant;

use throughline_cdr::{Decode, DecodeError, EncodeError, Reader, Writer};
use throughline_giop::Ior;
use throughline_wire::Kind;

use crate::binding::Binding;
use crate::exception::{Kind as Exception, OperationError, SystemException, minor};
use crate::interface::Operation;
use crate::invoke::{MAX_FORWARDS, broken, may_have_moved, read_results};
use crate::native::read_exception;
use crate::reference::ObjectRef;
use crate::transport::native::client::{NativeRoute, Own};
use crate::transport::native::exchange::{Attempt, NativeReply, begin, finish, marshal};

/// What has become of a call so far.
#[derive(Default)]
pub(crate) struct Course {
    /// One for the whole call, however often it is forwarded, and whatever ways it takes.
    pub(crate) deadline: Option<Instant>,
    pub(crate) forwards: usize,
    /// From where nobody is, which happens once.
    pub(crate) went_back: bool,
}

impl ObjectRef {
    /// Calls by the native protocol, if the reference leads that way and it works. Exceptions of the system are errors
    /// already; results and user exceptions are yet to be [read](read_native).
    #[inline]
    pub(crate) fn call_native(
        &self,
        operation: Operation,
        wants_reply: bool,
        course: &mut Course,
        encode: impl Fn(&mut Writer<'_>) -> Result<(), EncodeError>,
    ) -> Result<Attempt, Box<SystemException>> {
        loop {
            let Some(own) = self.begin_native(operation, wants_reply, course)? else {
                return Ok(Attempt::NotPossible);
            };
            let own = marshal(own, &encode)?;
            if let Some(attempt) = self.finish_native(own, wants_reply, course)? {
                return Ok(attempt);
            }
        }
    }

    /// Finds a link and writes the header of the request; none if the reference leads no such way now.
    fn begin_native(
        &self,
        operation: Operation,
        wants_reply: bool,
        course: &mut Course,
    ) -> Result<Option<Box<Own>>, Box<SystemException>> {
        loop {
            let binding = self.present_binding();
            let Some(route) = binding.native() else { return Ok(None) };
            self.orb().check_up()?;
            if course.deadline.is_none() {
                course.deadline = self.timeout().and_then(|timeout| Instant::now().checked_add(timeout));
            }
            match begin(route, operation, (course.deadline, self.priority()), wants_reply) {
                Ok(None) if self.goes_back(&binding, course) => {}
                Err(exception) if !wants_reply && may_have_moved(&exception) => {
                    let refused = self.refused(&binding, Some(route), exception, &mut course.forwards)?;
                    if refused.is_some() {
                        return Ok(None);
                    }
                }
                begun => return begun,
            }
        }
    }

    /// Sends it and waits for the answer; none if the call must be made anew.
    fn finish_native(
        &self,
        own: Box<Own>,
        wants_reply: bool,
        course: &mut Course,
    ) -> Result<Option<Attempt>, Box<SystemException>> {
        match finish(own, course.deadline, wants_reply)? {
            Attempt::Answered(mut reply) if reply.kind() == Kind::Forward => {
                self.forward(&mut reply, &mut course.forwards).map(|()| None)
            }
            Attempt::Answered(mut reply) if reply.kind() == Kind::SystemException => {
                self.failed(&mut reply, &mut course.forwards)
            }
            Attempt::NotPossible if self.goes_back(&self.present_binding(), course) => Ok(None),
            usual => Ok(Some(usual)),
        }
    }

    /// Where the object was forwarded to is gone, and there is no other way to it: back to where it was, once.
    #[cold]
    fn goes_back(&self, binding: &Binding, course: &mut Course) -> bool {
        let goes = !course.went_back && binding.route().is_none() && self.unbind(binding).is_some();
        course.went_back |= goes;
        goes
    }

    /// The object is elsewhere.
    #[cold]
    fn forward(&self, reply: &mut NativeReply, forwards: &mut usize) -> Result<(), Box<SystemException>> {
        *forwards += 1;
        if *forwards > MAX_FORWARDS {
            return Err(SystemException::new(Exception::Transient, minor::TOO_MANY_FORWARDS).into());
        }
        self.rebind(&reply.read(|mut body| Ior::decode(&mut body)).map_err(SystemException::from)?);
        Ok(())
    }

    /// The server answered with an exception of the system; none if the call must be made anew.
    #[cold]
    fn failed(
        &self,
        reply: &mut NativeReply,
        forwards: &mut usize,
    ) -> Result<Option<Attempt>, Box<SystemException>> {
        let exception = reply.read(|mut body| read_exception(&mut body)).map_err(broken)?;
        let binding = self.present_binding();
        let sender = |route: &&NativeRoute| reply.is_of_unknown_object() && reply.is_from(&route.server);
        self.refused(&binding, binding.natives().find(sender), exception.into(), forwards)
    }

    /// As [`failed`](Self::failed), with the exception that a call led to; and the route to a server that does not know the object, if
    /// it is for that.
    #[cold]
    fn refused(
        &self,
        binding: &Binding,
        route: Option<&NativeRoute>,
        exception: Box<SystemException>,
        forwards: &mut usize,
    ) -> Result<Option<Attempt>, Box<SystemException>> {
        match route {
            // The handle is stale; a key may lead further than a handle.
            Some(route) if binding.route().is_some() => {
                binding.note_stale(route);
                Ok(Some(Attempt::NotPossible))
            }
            _ if *forwards == 0 && may_have_moved(&exception) && self.unbind(binding).is_some() => {
                *forwards += 1;
                Ok(None)
            }
            _ => Err(exception),
        }
    }
}

/// Reads the results, or turns the user exception into the error.
#[inline]
pub(crate) fn read_native<T, E: OperationError>(
    reference: &ObjectRef,
    reply: &mut NativeReply,
    decode: impl FnOnce(&mut Reader<'_>) -> Result<T, DecodeError>,
) -> Result<T, E> {
    let user = reply.kind() == Kind::UserException;
    reply.read(|body| read_results(body.with_context(reference.orb().weak()), user, decode))
}
