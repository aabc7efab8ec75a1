//! Calls that are begun now and waited for later, by one thread: the fastest way to have many under way.
//!
//! The request leaves when the call is begun; over UDP with those that follow, while other answers are there that the thread is
//! about to wait for: then it begins calls as fast as it waits, or the next ones leave alone. Where the object's server shares
//! memory with this process and the request is small, no lock is taken and nothing is allocated; any other call is a
//! [future](crate::CallFuture) beneath, whose request leaves when it is waited for if there is no connection to the server
//! [yet](crate::AsyncCall::begin).

use std::marker::PhantomData;
use std::time::Instant;

use throughline_cdr::{DecodeError, EncodeError, Output, Reader, Writer};
use throughline_vi::SMALL_MESSAGE;
use throughline_wire::{ADDRESSED_BYTES, Kind};

use crate::arguments::Rewrite;
use crate::call_future::{Call, CallFuture};
use crate::call_pool::Pooled;
use crate::exception::{OperationError, SystemException};
use crate::interface::Operation;
use crate::invoke::{Outcome, broken, failed, read_results};
use crate::native::{body_writer, read_exception};
use crate::reference::{ObjectRef, Present};
use crate::transport::calls::CallFailure;
use crate::transport::native::answers::{PipeReply, SmallReply};
use crate::transport::native::client::NativeRoute;
use crate::transport::native::drive::block_on;
use crate::transport::native::exchange::request;
use crate::transport::native::pipe_calls::PipeFailure;
use crate::transport::native::plan::{Plan, Wanted};
use crate::transport::native::window::{self, Ticket, Waited};

/// Reads the results of an operation.
pub type Decoder<T> = fn(&mut Reader<'_>) -> Result<T, DecodeError>;

/// A call under way, to be [waited](Self::wait) for by the thread that has begun it. Generated stubs return it: for an
/// operation `withdraw` that of `withdraw_begin`.
///
/// ```no_run
/// use std::collections::VecDeque;
/// use throughline::rt::Operation;
/// use throughline::{Begun, ObjectRef, SystemException};
///
/// fn thousand_pings(object: &ObjectRef, ping: Operation) -> Result<(), SystemException> {
///     let begin = || object.begin::<(), SystemException>(ping, |_| Ok(()), |_| Ok(()), None);
///     let mut pending: VecDeque<_> = (0..64).map(|_| begin()).collect();
///     for _ in 64..1000 {
///         pending.pop_front().expect("64 of them").wait()?;
///         pending.push_back(begin());
///     }
///     pending.into_iter().try_for_each(Begun::wait)
/// }
/// ```
///
/// Calls of one thread may overtake one another in the server. Nothing is received while the thread neither begins calls nor
/// waits. The answer to a call that is dropped is dropped too; the servant runs all the same.
#[must_use = "whether a call succeeded is known when it has been waited for"]
pub struct Begun<'r, T, E> {
    reference: &'r ObjectRef,
    /// Of a call on a link of the thread's, until that is over.
    ticket: Option<Ticket>,
    /// Of any other call, what a future keeps of it.
    future: Option<Box<Call>>,
    decode: Decoder<T>,
    /// Of the thread that has begun it.
    thread: PhantomData<*const ()>,
    error: PhantomData<fn() -> E>,
}

impl ObjectRef {
    /// Begins a call of an operation: `encode` runs now, twice if need be, `decode` when the answer is waited for. Generated
    /// stubs call this, and say how to `rewrite` the arguments should the call be forwarded to a server with other code sets.
    #[inline]
    pub fn begin<T, E: OperationError>(
        &self,
        operation: Operation,
        encode: impl Fn(&mut Writer<'_>) -> Result<(), EncodeError>,
        decode: Decoder<T>,
        rewrite: Option<Rewrite>,
    ) -> Begun<'_, T, E> {
        let mut message = [0; SMALL_MESSAGE];
        let (mut used, mut overflow) = (ADDRESSED_BYTES, Vec::new());
        let encoded = encode(&mut body_writer(Output::memory(&mut message, &mut used, &mut overflow)));
        let small = encoded.is_ok() && overflow.is_empty();
        let mut deadline = None;
        let ticket = if small {
            self.begin_near(&operation, (&mut message, used), rewrite, &mut deadline)
        } else {
            None
        };
        let future = match ticket {
            Some(_) => None,
            None => self.begin_otherwise::<T, E>(operation, encode, decode, (rewrite, deadline)).into_box(),
        };
        Begun { reference: self, ticket, future, decode, thread: PhantomData, error: PhantomData }
    }

    #[cold]
    #[inline(never)]
    fn begin_otherwise<T, E: OperationError>(
        &self,
        operation: Operation,
        encode: impl Fn(&mut Writer<'_>) -> Result<(), EncodeError>,
        decode: Decoder<T>,
        (rewrite, deadline): (Option<Rewrite>, Option<Instant>),
    ) -> Pooled {
        self.call_async::<T, E, _>(operation, encode, decode).begun(rewrite, deadline)
    }

    /// Sends the request, if that can be done at once. The time to find out counts: when it ends is told in any case.
    fn begin_near(
        &self,
        operation: &Operation,
        (message, used): (&mut [u8; SMALL_MESSAGE], usize),
        rewrite: Option<Rewrite>,
        deadline: &mut Option<Instant>,
    ) -> Option<Ticket> {
        let Present::Own(binding) = self.present_binding() else { return None };
        // Of an object of this process there are none.
        let route = binding.native()?;
        self.orb().check_up().ok()?;
        if self.is_ordinary() {
            let wanted = Wanted { operation, rewrite, deadline: None, priority: None };
            return send(route, (message, used), &wanted);
        }
        *deadline = self.timeout().and_then(|timeout| Instant::now().checked_add(timeout));
        let priority = self.priority();
        send_urgently(route, (message, used), &Wanted { operation, rewrite, deadline: *deadline, priority })
    }
}

#[inline(always)]
fn send(
    route: &NativeRoute,
    message: (&mut [u8; SMALL_MESSAGE], usize),
    wanted: &Wanted<'_>,
) -> Option<Ticket> {
    let header = request(route, *wanted.operation, (wanted.deadline, wanted.priority), Kind::Request);
    window::send(&route.server, &header, message, wanted)
}

/// As [`send`], compiled apart: it takes longer.
#[inline(never)]
fn send_urgently(
    route: &NativeRoute,
    message: (&mut [u8; SMALL_MESSAGE], usize),
    wanted: &Wanted<'_>,
) -> Option<Ticket> {
    send(route, message, wanted)
}

impl<T, E: OperationError> Begun<'_, T, E> {
    /// Waits for the answer, and reads it.
    ///
    /// # Errors
    /// As the blocking call of the operation.
    #[inline]
    pub fn wait(mut self) -> Result<T, E> {
        let mut small = SmallReply::EMPTY;
        let Some(ticket) = self.ticket.take() else { return self.wait_otherwise() };
        match window::wait(ticket, &mut small) {
            Waited::Small => {
                let reader = small.reader().with_context(self.reference.orb().weak());
                read_results(reader, small.user, self.decode)
            }
            Waited::Other(outcome) => self.conclude(outcome.0, outcome.1),
        }
    }

    #[cold]
    #[inline(never)]
    fn wait_otherwise(mut self) -> Result<T, E> {
        match self.future.take() {
            Some(call) => block_on(CallFuture::of_call(Pooled::of(call), self.decode)),
            None => Err(SystemException::bad_param().detail("waited for twice").into()),
        }
    }

    #[cold]
    fn conclude(&self, plan: Plan, outcome: Result<PipeReply, PipeFailure>) -> Result<T, E> {
        match Self::outcome(outcome) {
            Ok(Some(reply)) => Outcome::Native(reply).read(self.reference, self.decode),
            Ok(None) => block_on(CallFuture::again(self.reference, &plan, self.decode)),
            Err(exception) => Err(exception.into()),
        }
    }

    /// None if the server has not carried the call out, and it is to be made again, perhaps by another way.
    fn outcome(outcome: Result<PipeReply, PipeFailure>) -> Result<Option<PipeReply>, SystemException> {
        match outcome {
            Ok(reply) if reply.kind() == Kind::Forward => Ok(None),
            Ok(reply) if reply.kind() == Kind::SystemException => {
                let exception = read_exception(&mut reply.reader()).map_err(broken)?;
                // Another way may know the object by another name.
                if reply.is_of_unknown_object() { Ok(None) } else { Err(exception) }
            }
            Ok(reply) => Ok(Some(reply)),
            Err(PipeFailure::NotCarriedOut) => Ok(None),
            Err(PipeFailure::Lost(why)) => Err(failed(CallFailure::Lost(why))),
            Err(PipeFailure::TimedOut) => Err(failed(CallFailure::TimedOut)),
        }
    }
}

impl<T, E> Drop for Begun<'_, T, E> {
    /// In two words, wherever a call might be dropped: were it handed on by its address, it would have to be put together in
    /// memory, and be copied from there before it has left the processor's store buffer.
    #[inline(always)]
    fn drop(&mut self) {
        let (ticket, future) = (self.ticket.take(), self.future.take());
        if ticket.is_some() || future.is_some() {
            forget(ticket, future);
        }
    }
}

#[cold]
#[inline(never)]
fn forget(ticket: Option<Ticket>, future: Option<Box<Call>>) {
    ticket.into_iter().for_each(window::forget);
    drop(future.map(Pooled::of));
}

impl<T, E> std::fmt::Debug for Begun<'_, T, E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Begun({:?})", self.reference)
    }
}
