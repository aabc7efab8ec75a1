//! The meeting point of the object adapter and generated skeletons: one call, seen from the server.

use throughline_cdr::{
    ByteOrder, CodeSets, Encode, EncodeError, FinishedInOut, Output, Reader, ReplyPlace, Writer,
};
use throughline_giop::{Ior, Open, finish_with};

use crate::exception::{Completion, SystemException, UserException};
use crate::interface::{IMPLICIT_OPERATIONS, Interface};
use crate::large::{Count, LargeMessage};
use crate::reference::ObjectRef;

/// How a skeleton ends: the reply is written, or a system exception is to be sent instead.
pub type Dispatched = Result<(), SystemException>;

/// A servant behind its generated skeleton, as the adapter keeps it.
pub trait Skeleton: Send + Sync + 'static {
    /// The most derived interface of the servant.
    fn interface(&self) -> &'static Interface;

    /// Runs the operation at `operation` of the interface's table: reads the arguments, calls the servant,
    /// writes the reply. An index past the table is answered with `BAD_OPERATION`.
    ///
    /// # Errors
    /// The system exception to send in place of a reply.
    fn invoke(&self, operation: u32, call: &mut ServerCall<'_>) -> Dispatched;

    /// Where the object lives now, if not here: its callers are sent there by `LOCATION_FORWARD`.
    fn forward(&self) -> Option<&Ior> {
        None
    }
}

/// A skeleton that knows the type of its references.
pub trait TypedSkeleton: Skeleton + Sized {
    /// The reference that clients of the servant use.
    type Reference: crate::reference::TypedReference;
}

/// How a call ended, as the reply will say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The operation returned; results follow.
    Normal,
    /// The operation raised a user exception.
    UserException,
    /// The object is elsewhere; its new reference follows.
    Forward,
}

/// Sends a reply with large blocks before the skeleton returns, as long as the results live.
pub(crate) trait Replier: std::fmt::Debug {
    fn send_large(
        &self,
        reply: LargeMessage<'_>,
        encode: &mut dyn FnMut(&mut Writer<'_>) -> Result<(), EncodeError>,
    );
}

/// One call under way on the server: arguments to read, a reply to write.
#[derive(Debug)]
pub struct ServerCall<'a> {
    arguments: Reader<'a>,
    out: Output<'a>,
    /// Where in `out` the reply message begins: alignment counts from here.
    base: usize,
    /// Where in `out` the reply's body begins.
    body: usize,
    code_sets: CodeSets,
    outcome: Outcome,
    wants_reply: bool,
    replier: Option<(&'a dyn Replier, Open)>,
    sent: bool,
    /// Where in the request the rest of the results is.
    returned: Option<usize>,
}

impl<'a> ServerCall<'a> {
    /// A call whose reply message starts at `base` of `out` and whose reply header has been written already.
    pub fn new(arguments: Reader<'a>, out: &'a mut Vec<u8>, base: usize, wants_reply: bool) -> Self {
        Self::replying_to(arguments, Output::vector(out), base, wants_reply)
    }

    /// As [`new`](Self::new), for a reply that goes to a buffer of any kind.
    #[inline]
    pub fn replying_to(arguments: Reader<'a>, out: Output<'a>, base: usize, wants_reply: bool) -> Self {
        let (body, code_sets) = (out.len(), arguments.codesets());
        Self {
            arguments,
            out,
            base,
            body,
            code_sets,
            outcome: Outcome::Normal,
            wants_reply,
            replier: None,
            sent: false,
            returned: None,
        }
    }

    /// Lets large results leave from where they lie; `open` is the reply message.
    #[inline]
    pub(crate) fn with_replier(mut self, replier: Option<&'a dyn Replier>, open: Open) -> Self {
        self.replier = replier.map(|replier| (replier, open));
        self
    }

    /// Whether the reply has left already.
    pub(crate) fn is_sent(&self) -> bool {
        self.sent
    }

    /// The arguments, in the order of the IDL.
    #[inline]
    pub fn arguments(&mut self) -> &mut Reader<'a> {
        &mut self.arguments
    }

    /// The [arguments](Self::arguments), and where the first result goes.
    #[inline]
    pub fn arguments_and_place(&mut self) -> (&mut Reader<'a>, ReplyPlace<'_>) {
        self.out.truncate(self.body);
        (&mut self.arguments, ReplyPlace::new(self.out.reborrow(), self.base))
    }

    /// Writes the results: return value first, then inout and out parameters in the order of the IDL.
    ///
    /// # Errors
    /// `MARSHAL` when a result cannot be encoded; the operation has completed all the same.
    #[inline]
    pub fn reply(&mut self, encode: impl Fn(&mut Writer<'_>) -> Result<(), EncodeError>) -> Dispatched {
        self.write(Outcome::Normal, encode)
    }

    /// As [`reply`](Self::reply), where this is the only result, and was [read alone](throughline_cdr::InOut::read_alone).
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn reply_in_out<T>(&mut self, data: &FinishedInOut<T>) -> Dispatched
    where
        FinishedInOut<T>: Encode,
    {
        self.write(Outcome::Normal, |w| data.encode(w))?;
        self.returned = data.in_request();
        Ok(())
    }

    /// Where in the request the rest of the reply's body is, if there is a rest.
    #[inline]
    pub(crate) fn returned(&self) -> Option<usize> {
        self.returned
    }

    /// Ends the call with a user exception.
    ///
    /// # Errors
    /// As [`reply`](Self::reply).
    pub fn raise<E: UserException>(&mut self, exception: &E) -> Dispatched {
        self.write(Outcome::UserException, |w| {
            w.write_string(E::REPOSITORY_ID)?;
            exception.encode(w)
        })
    }

    /// Ends the call by sending the client to another object.
    ///
    /// # Errors
    /// As [`reply`](Self::reply).
    pub fn forward(&mut self, to: &ObjectRef) -> Dispatched {
        self.write(Outcome::Forward, |w| to.encode(w))
    }

    #[inline]
    fn write(
        &mut self,
        outcome: Outcome,
        encode: impl Fn(&mut Writer<'_>) -> Result<(), EncodeError>,
    ) -> Dispatched {
        if !self.wants_reply || self.sent {
            return Ok(());
        }
        let mut count = Count::default();
        encode(&mut self.writer(outcome, &mut count)).map_err(unwritable)?;
        if count.0 == 0 { Ok(()) } else { self.send_large(count.0, &encode) }
    }

    /// A writer of the reply's body, which counts large blocks if they can leave from where they lie.
    #[inline]
    fn writer<'w>(&'w mut self, outcome: Outcome, count: &'w mut Count) -> Writer<'w> {
        self.outcome = outcome;
        self.out.truncate(self.body);
        let mut writer = Writer::to(self.out.reborrow(), ByteOrder::NATIVE, self.base);
        writer.set_codesets(self.code_sets);
        if self.replier.is_some() && outcome == Outcome::Normal {
            writer.divert_large(count);
        }
        writer
    }

    #[cold]
    fn send_large(
        &mut self,
        elsewhere: usize,
        encode: &dyn Fn(&mut Writer<'_>) -> Result<(), EncodeError>,
    ) -> Dispatched {
        // Only replies that are vectors have somebody who sends them early.
        let (Some((replier, open)), Some(out)) = (self.replier, self.out.as_vector()) else { return Ok(()) };
        let length = finish_with(out, open, elsewhere)
            .map_err(|_| SystemException::marshal().completed(Completion::Yes))?;
        let code_sets = self.code_sets;
        self.sent = true;
        replier.send_large(LargeMessage { buffer: out, open, length }, &mut |w| {
            w.set_codesets(code_sets);
            encode(w)
        });
        Ok(())
    }

    /// How the call ended.
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// Answers an operation that every object has; `operation` is its index in `interface`'s table.
    ///
    /// # Errors
    /// `BAD_OPERATION` for an index past the table, `NO_IMPLEMENT` for `_interface` (there is no interface
    /// repository).
    pub fn implicit(&mut self, interface: &'static Interface, operation: u32) -> Dispatched {
        let index = operation.wrapping_sub(interface.operations.implicit_base()) as usize;
        match IMPLICIT_OPERATIONS.get(index).copied() {
            Some("_is_a") => {
                let answer = interface.is_a(&self.arguments.read_string()?);
                self.reply(|w| answer.encode(w))
            }
            Some("_non_existent" | "_not_existent") => self.reply(|w| false.encode(w)),
            Some("_repository_id") => self.reply(|w| interface.repository_id.encode(w)),
            Some("_component") => self.reply(|w| None::<ObjectRef>.encode(w)),
            Some(_) => Err(SystemException::no_implement()),
            None => Err(SystemException::bad_operation()),
        }
    }
}

/// Results that cannot be encoded: the operation has run.
#[cold]
fn unwritable(error: EncodeError) -> SystemException {
    SystemException::from(error).completed(Completion::Yes)
}

/// Stands in an adapter for an object that has moved.
#[derive(Debug)]
pub(crate) struct Forwarder {
    pub(crate) interface: &'static Interface,
    /// As data: a reference would keep the ORB alive.
    pub(crate) to: Ior,
}

impl Skeleton for Forwarder {
    fn interface(&self) -> &'static Interface {
        self.interface
    }

    fn invoke(&self, _operation: u32, call: &mut ServerCall<'_>) -> Dispatched {
        call.write(Outcome::Forward, |w| self.to.encode(w))
    }

    fn forward(&self) -> Option<&Ior> {
        Some(&self.to)
    }
}
