//! A call that does not block: a future for any runtime.
//!
//! The arguments are marshaled when the operation is called, so they need not live longer than that; the request is
//! handed to the connection when the future is first polled. A future that is dropped cancels its request.
//!
//! A call may be forwarded to a server with other code sets, where text looks different, and everything after it may have
//! moved. Its arguments are gone by then; but a function that knows their types can read what was marshaled and marshal it
//! anew. Generated stubs name one. It costs a pointer until it is needed.

use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use throughline_cdr::{CodeSets, DecodeError, EncodeError, Reader, Writer};
use throughline_giop::finish;
use throughline_giop::request::Response;

use crate::arguments::{Arguments, Rewrite};
use crate::binding::{Binding, Route};
use crate::call_pool::Pooled;
use crate::exception::{Completion, Kind, OperationError, SystemException, minor};
use crate::handover::{Bringer, Brought, Handover};
use crate::interface::Operation;
use crate::invoke::{
    CONNECT_TIMEOUT, MAX_FORWARDS, MAX_RETRIES, Outcome, RequestStart, Step, failed, is_in_vain,
    may_have_moved, not_connected, read_results,
};
use crate::local;
use crate::priority::{Priority, Scope};
use crate::reference::{ObjectRef, Present};
use crate::transport::address::share;
use crate::transport::calls::CallFailure;
use crate::transport::client::ClientConnection;
use crate::transport::native::answers::{PipeReply, SmallReply};
use crate::transport::native::client::NativeServer;
use crate::transport::native::pipe::Begun;
use crate::transport::native::pipe_calls::PipeFailure;
use crate::transport::native::plan::Plan;

impl ObjectRef {
    /// Calls an operation without blocking. `encode` runs now, `decode` when the reply has come. Generated stubs call
    /// this, and [`CallFuture::rewriting`].
    ///
    /// # Errors
    /// The future yields what [`call`](Self::call) returns.
    pub fn call_async<T, E, D>(
        &self,
        operation: Operation,
        encode: impl FnOnce(&mut Writer<'_>) -> Result<(), EncodeError>,
        decode: D,
    ) -> CallFuture<E, D>
    where
        E: OperationError,
        D: FnOnce(&mut Reader<'_>) -> Result<T, DecodeError>,
    {
        let mut call = Call::of(self, operation);
        if let Err(error) = encode(&mut call.writer()) {
            call.cannot_write(error);
        }
        CallFuture { call, decode: Some(decode), error: std::marker::PhantomData }
    }
}

/// The future of one call.
#[must_use = "a call is made when its future is awaited"]
pub struct CallFuture<E, D> {
    call: Pooled,
    decode: Option<D>,
    error: std::marker::PhantomData<fn() -> E>,
}

/// The future of a call, as generated stubs return it.
pub trait AsyncCall: Future {
    /// Sends the request now, instead of when the future is first polled. So many calls can be under way before the first is
    /// waited for. Where there is no connection to the server yet, one is made meanwhile, and the request leaves when the future
    /// is polled.
    fn begin(self) -> Self
    where
        Self: Sized;
}

impl<T, E, D> AsyncCall for CallFuture<E, D>
where
    E: OperationError,
    D: FnOnce(&mut Reader<'_>) -> Result<T, DecodeError> + Unpin,
{
    #[inline]
    fn begin(mut self) -> Self {
        self.call.begin();
        self
    }
}

impl<E, D> CallFuture<E, D> {
    /// The call begun, for [`Begun`](crate::Begun), which knows the rest. Another way may have taken some of its time.
    pub(crate) fn begun(mut self, rewrite: Option<Rewrite>, deadline: Option<Instant>) -> Pooled {
        self.call.rewrite = rewrite;
        self.call.deadline = deadline.or(self.call.deadline);
        self.call.begin();
        self.call
    }

    /// The future of a call that was [begun](Self::begun).
    pub(crate) fn of_call(call: Pooled, decode: D) -> Self {
        Self { call, decode: Some(decode), error: std::marker::PhantomData }
    }

    /// A call that was begun otherwise and not carried out.
    pub(crate) fn again(reference: &ObjectRef, plan: &Plan, decode: D) -> Self {
        let mut call = Call::of(reference, plan.operation);
        (call.deadline, call.rewrite) = (plan.deadline, plan.rewrite);
        call.priority = plan.priority;
        // As it is in requests by the native protocol.
        call.code_sets = CodeSets::UNICODE;
        call.writer().write_bytes(plan.arguments());
        Self::of_call(call, decode)
    }

    /// The same call, whose arguments can be marshaled anew for a server with other code sets. Without this, a call with
    /// arguments that is forwarded to such a server ends with `TRANSIENT`, and can be made again.
    pub fn rewriting(mut self, rewrite: Rewrite) -> Self {
        self.call.rewrite = Some(rewrite);
        self
    }
}

impl<E, D> std::fmt::Debug for CallFuture<E, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CallFuture({} on {:?})", self.call.operation.name, self.call.reference())
    }
}

/// A call, without what depends on the operation's types.
pub(crate) struct Call {
    /// There is one as long as a future has the call.
    reference: Option<ObjectRef>,
    /// Where it leads, if that is elsewhere than its own profiles say.
    elsewhere: Option<Arc<Binding>>,
    pub(crate) operation: Operation,
    pub(crate) deadline: Option<Instant>,
    pub(crate) priority: Option<Priority>,
    code_sets: CodeSets,
    rewrite: Option<Rewrite>,
    state: State,
    forwards: usize,
    retries: usize,
    /// Which of the binding's routes the request takes.
    route: usize,
    /// How many routes were left because their servers take their leave.
    left: usize,
    /// The call was made where it was forwarded to, in vain.
    went_back: bool,
    pub(crate) arguments: Arguments,
}

impl Default for Call {
    fn default() -> Self {
        Self {
            reference: None,
            elsewhere: None,
            operation: Operation::new("", 0),
            deadline: None,
            priority: None,
            code_sets: CodeSets::UNICODE,
            rewrite: None,
            state: State::Finished,
            forwards: 0,
            retries: 0,
            route: 0,
            left: 0,
            went_back: false,
            arguments: Arguments::new(),
        }
    }
}

pub(crate) enum State {
    Start,
    /// A worker runs the operation of a local object, or does what the native protocol needs; a thread of its own connects.
    AtWorker(Arc<Handover>),
    /// A thread is to connect, or does.
    Connecting(Arc<Handover>, Box<Itinerary>),
    Sent {
        connection: Arc<ClientConnection>,
        id: u32,
        fresh: bool,
        /// Where its request waits to be sent, or waited.
        place: Range<u64>,
    },
    /// Sent by the binding's native way of this index.
    Piped {
        way: usize,
        id: u32,
    },
    /// The native protocol has no free buffer. Whom it wakes when there is one.
    Stuck(Arc<NativeServer>, Option<Waker>),
    Failed(SystemException),
    Finished,
}

/// By which routes a connection is looked for.
#[derive(Clone, Copy)]
pub(crate) struct Itinerary {
    /// The one that calls took when this began.
    usual: usize,
    /// How many are left, should the server of the next one keep others waiting.
    others: usize,
    until: Instant,
}

impl<T, E, D> Future for CallFuture<E, D>
where
    E: OperationError,
    D: FnOnce(&mut Reader<'_>) -> Result<T, DecodeError> + Unpin,
{
    type Output = Result<T, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<T, E>> {
        let this = self.get_mut();
        let mut small = SmallReply::EMPTY;
        match this.call.poll_small(cx, &mut small) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(true) => {
                let decode = this.decode.take().expect(POLLED_AGAIN);
                let reader = small.reader().with_context(this.call.reference().orb().weak());
                Poll::Ready(read_results(reader, small.user, decode))
            }
            Poll::Ready(false) => this.poll_any(cx),
        }
    }
}

impl<T, E, D> CallFuture<E, D>
where
    E: OperationError,
    D: FnOnce(&mut Reader<'_>) -> Result<T, DecodeError> + Unpin,
{
    /// Anything else than a small answer by the native protocol.
    #[inline(never)]
    fn poll_any(&mut self, cx: &mut Context<'_>) -> Poll<Result<T, E>> {
        match self.call.poll_outcome(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Ok(Answer::Small(small))) => {
                let decode = self.decode.take().expect(POLLED_AGAIN);
                let reader = small.reader().with_context(self.call.reference().orb().weak());
                Poll::Ready(read_results(reader, small.user, decode))
            }
            Poll::Ready(Ok(Answer::Other(outcome))) => {
                let decode = self.decode.take().expect(POLLED_AGAIN);
                Poll::Ready(outcome.read(self.call.reference(), decode))
            }
            Poll::Ready(Err(exception)) => Poll::Ready(Err(exception.into())),
        }
    }
}

const POLLED_AGAIN: &str = "a future is not polled after it has finished";

/// How a call ended.
enum Answer {
    Small(SmallReply),
    Other(Outcome),
}

impl Call {
    /// A call that is yet to be made, of an object.
    fn of(reference: &ObjectRef, operation: Operation) -> Pooled {
        let mut call = Pooled::take();
        let this = &mut *call;
        this.deadline = reference.timeout().and_then(|t| Instant::now().checked_add(t));
        this.priority = reference.priority();
        let present = reference.present_binding();
        this.code_sets = present.code_sets();
        if let Present::Forwarded(elsewhere) = present {
            this.elsewhere = Some(elsewhere);
        }
        this.operation = operation;
        this.state = State::Start;
        if let Err(exception) = reference.orb().check_up() {
            this.state = State::Failed(exception);
        }
        this.reference = Some(reference.clone());
        call
    }

    /// For the next one.
    #[inline]
    pub(crate) fn clear(&mut self) {
        if !matches!(self.state, State::Finished) {
            self.abandon();
        }
        self.reference = None;
        self.elsewhere = None;
        self.rewrite = None;
        (self.forwards, self.retries, self.left, self.went_back) = (0, 0, 0, false);
        self.arguments.clear();
    }

    /// Nobody wants the answer any more.
    #[inline(never)]
    fn abandon(&mut self) {
        match std::mem::replace(&mut self.state, State::Finished) {
            State::Sent { connection, id, .. } => connection.cancel(id),
            State::Piped { way, id } => self.forget_piped(way, id),
            State::Stuck(server, Some(waker)) => server.forget_stuck(&waker),
            _ => {}
        }
    }

    /// The object.
    #[inline(always)]
    pub(crate) fn reference(&self) -> &ObjectRef {
        self.reference.as_ref().expect("there is one as long as a future has the call")
    }

    /// Where it leads.
    #[inline(always)]
    pub(crate) fn binding(&self) -> &Arc<Binding> {
        match &self.elsewhere {
            Some(elsewhere) => elsewhere,
            None => self.reference().own_binding(),
        }
    }

    /// Of the arguments.
    #[inline]
    fn writer(&mut self) -> Writer<'_> {
        self.arguments.writer(self.code_sets)
    }

    #[cold]
    fn cannot_write(&mut self, error: EncodeError) {
        self.state = State::Failed(self.binding().unwritable(error));
    }

    /// Sends the request, if the call has not begun yet.
    fn begin(&mut self) {
        if matches!(self.state, State::Start) {
            self.start();
            if let State::Sent { connection, .. } = &self.state {
                connection.flush();
            }
        }
    }

    /// Looks for a small answer by the native protocol, and for nothing else; whether it is there.
    #[inline]
    fn poll_small(&mut self, cx: &mut Context<'_>, into: &mut SmallReply) -> Poll<bool> {
        let State::Piped { way, id } = self.state else { return Poll::Ready(false) };
        let Some(route) = self.binding().native_at(way) else { return Poll::Ready(false) };
        let polled = route.server.poll_small(id, cx, into);
        if let Poll::Ready(true) = polled {
            self.state = State::Finished;
        }
        polled
    }

    /// Goes on until the call has ended.
    fn poll_outcome(&mut self, cx: &mut Context<'_>) -> Poll<Result<Answer, SystemException>> {
        loop {
            if matches!(self.state, State::Piped { .. }) {
                let mut small = SmallReply::EMPTY;
                match self.poll_small(cx, &mut small) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(true) => return Poll::Ready(Ok(Answer::Small(small))),
                    Poll::Ready(false) => {}
                }
            }
            let step = match self.poll_step(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(step) => step,
            };
            match step.and_then(|step| self.follow(step)) {
                Ok(None) => {}
                Ok(Some(outcome)) => return Poll::Ready(Ok(Answer::Other(outcome))),
                Err(exception) => {
                    if let Err(exception) = self.look_where_it_was(exception) {
                        self.state = State::Finished;
                        return Poll::Ready(Err(exception));
                    }
                }
            }
        }
    }

    /// Asks anew for an object that is not where an earlier call was forwarded to.
    #[cold]
    fn look_where_it_was(&mut self, exception: SystemException) -> Result<(), SystemException> {
        if self.forwards > 0 || !may_have_moved(&exception) {
            return Err(exception);
        }
        self.go_back(exception)?;
        self.forwards += 1;
        self.state = State::Start;
        Ok(())
    }

    /// Goes on as far as possible; none means that the state has changed.
    fn poll_step(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Step>, SystemException>> {
        match std::mem::replace(&mut self.state, State::Finished) {
            State::Start => {
                self.start();
                Poll::Ready(Ok(None))
            }
            State::AtWorker(handover) => match handover.poll(cx) {
                Poll::Pending => {
                    self.state = State::AtWorker(handover);
                    Poll::Pending
                }
                Poll::Ready(brought) => Poll::Ready(self.take_brought(brought)),
            },
            State::Connecting(handover, itinerary) => match handover.poll(cx) {
                Poll::Pending => {
                    self.state = State::Connecting(handover, itinerary);
                    Poll::Pending
                }
                Poll::Ready(Brought::TimedOut(_)) if itinerary.others > 0 && !self.is_late() => {
                    let others = itinerary.others - 1;
                    self.state = self.connect(Itinerary { others, ..*itinerary });
                    Poll::Ready(Ok(None))
                }
                Poll::Ready(brought) => Poll::Ready(self.take_brought(brought)),
            },
            State::Sent { connection, id, fresh, place } => match connection.poll(id, fresh, cx) {
                Poll::Pending => {
                    self.state = State::Sent { connection, id, fresh: false, place };
                    Poll::Pending
                }
                Poll::Ready(Ok(reply)) => Poll::Ready(Step::of(reply, connection.code_sets()).map(Some)),
                Poll::Ready(Err(failure)) => Poll::Ready(self.again(connection.failure_of(&place, failure))),
            },
            State::Piped { way, id } => Poll::Ready(match self.take_piped(way, id) {
                Ok(reply) => self.native_answer(Some(way), reply),
                Err(failure) => self.native_failure(failure),
            }),
            State::Stuck(..) if self.is_late() => {
                Poll::Ready(Err(failed(CallFailure::TimedOut).completed(Completion::No)))
            }
            State::Stuck(server, _) => match server.poll_room(cx, self.deadline.is_some()) {
                Poll::Pending => {
                    self.state = State::Stuck(server, Some(cx.waker().clone()));
                    Poll::Pending
                }
                Poll::Ready(()) => {
                    self.state = State::Start;
                    Poll::Ready(Ok(None))
                }
            },
            State::Failed(exception) => Poll::Ready(Err(exception)),
            State::Finished => Poll::Ready(Err(SystemException::bad_param().detail("polled after the end"))),
        }
    }

    fn take_brought(&mut self, brought: Brought) -> Result<Option<Step>, SystemException> {
        match brought {
            Brought::Local(result) => result.map(Some),
            Brought::Native(Ok(Some(reply))) => self.native_answer(None, reply),
            Brought::Native(Ok(None)) => self.again(CallFailure::NotStarted),
            Brought::NoTimeForNative => {
                self.start_otherwise(None);
                Ok(None)
            }
            Brought::Native(Err(exception)) => Err(exception),
            Brought::TimedOut(completed) => Err(self.timed_out(completed)),
            Brought::Nothing => Err(SystemException::shut_down()),
            Brought::Connected(Err((address, e))) => {
                self.other_way(not_connected(self.reference().orb(), &address, &e))
            }
            Brought::Connected(Ok((route, connection))) => self.sent_by(route, connection),
        }
    }

    /// The time is over, and a worker still runs the operation of a local object, connects, or has not come to that.
    fn timed_out(&self, completed: Completion) -> SystemException {
        let binding = self.binding();
        match binding.route() {
            Some(route) if binding.local_key().is_none() && binding.native_way().is_none() => {
                let error = io::ErrorKind::TimedOut.into();
                not_connected(self.reference().orb(), route.endpoint.address(), &error)
            }
            _ => failed(CallFailure::TimedOut).completed(completed),
        }
    }

    fn sent_by(
        &mut self,
        route: usize,
        connection: Arc<ClientConnection>,
    ) -> Result<Option<Step>, SystemException> {
        self.route = route;
        self.write_for(route)?;
        match self.send(route, connection) {
            Ok(state) => self.state = state,
            Err(Refused::Call(failure)) => return self.again(failure),
            Err(Refused::Exception(exception)) => return Err(exception),
        }
        Ok(None)
    }

    /// An answer by the native protocol, by this way if it is known.
    fn native_answer(
        &mut self,
        way: Option<usize>,
        reply: PipeReply,
    ) -> Result<Option<Step>, SystemException> {
        match self.native_step(way, reply)? {
            Some(step) => Ok(Some(step)),
            None => self.again(CallFailure::NotStarted),
        }
    }

    #[cold]
    fn native_failure(&mut self, failure: PipeFailure) -> Result<Option<Step>, SystemException> {
        match failure {
            PipeFailure::TimedOut => Err(failed(CallFailure::TimedOut)),
            PipeFailure::NotCarriedOut => self.again(CallFailure::NotStarted),
            PipeFailure::Lost(why) => Err(failed(CallFailure::Lost(why))),
        }
    }

    /// The server has not started the call: it can be sent once more.
    fn again(&mut self, failure: CallFailure) -> Result<Option<Step>, SystemException> {
        if failure != CallFailure::NotStarted || !self.may_try_again() {
            self.leave(failure)?;
        }
        self.state = State::Start;
        Ok(None)
    }

    /// As a blocking call.
    fn may_try_again(&mut self) -> bool {
        if self.retries < MAX_RETRIES {
            self.retries += 1;
            return true;
        }
        if self.left + 1 >= self.binding().routes() {
            return false;
        }
        (self.left, self.retries) = (self.left + 1, MAX_RETRIES - 1);
        self.binding().turn_from(self.route);
        true
    }

    /// Goes back to the reference's own profiles from where nobody carries calls out any more: this one if nothing was done, or the
    /// next.
    #[cold]
    fn leave(&mut self, failure: CallFailure) -> Result<(), SystemException> {
        let goes_on = self.forwards == 0 && failure == CallFailure::NotStarted;
        let (in_vain, exception) = (is_in_vain(&failure), failed(failure));
        if !in_vain {
            return Err(exception);
        }
        self.go_back(exception.clone())?;
        (self.forwards, self.retries, self.left) = (self.forwards + 1, 0, 0);
        if goes_on { Ok(()) } else { Err(exception) }
    }

    /// The place that the reference was forwarded to may be gone: its own profiles are the way back, once.
    fn other_way(&mut self, exception: SystemException) -> Result<Option<Step>, SystemException> {
        self.go_back_once(exception)?;
        self.state = State::Start;
        Ok(None)
    }

    /// From now on to where the reference's own profiles lead; the exception if that is where the call was made.
    fn go_back(&mut self, exception: SystemException) -> Result<(), SystemException> {
        let own = self.reference().unbind(self.binding());
        own.ok_or(exception)?;
        self.elsewhere = None;
        Ok(())
    }

    /// As [`go_back`](Self::go_back), from where nobody is. As a blocking call.
    fn go_back_once(&mut self, exception: SystemException) -> Result<(), SystemException> {
        let again = std::mem::replace(&mut self.went_back, true);
        self.go_back(exception.clone())?;
        if again { Err(exception) } else { Ok(()) }
    }

    fn follow(&mut self, step: Option<Step>) -> Result<Option<Outcome>, SystemException> {
        match step {
            None => return Ok(None),
            Some(Step::Done(outcome)) => return Ok(Some(outcome)),
            Some(Step::Address(disposition)) => self.binding().set_disposition(disposition),
            Some(Step::Forward(ior)) => self.elsewhere = Some(self.reference().rebind(&ior)),
        }
        self.forwards += 1;
        if self.forwards > MAX_FORWARDS {
            return Err(SystemException::new(Kind::Transient, minor::TOO_MANY_FORWARDS));
        }
        self.state = State::Start;
        Ok(None)
    }
}

/// Why a request did not leave.
enum Refused {
    Call(CallFailure),
    Exception(SystemException),
}

impl Call {
    /// Sends the request, or begins what must come before that.
    #[inline]
    fn start(&mut self) {
        let way = if self.binding().local_key().is_some() { None } else { self.binding().native_way() };
        let begun = way.and_then(|way| Some((way, self.send_native(way)?)));
        match begun {
            Some((way, Begun::Sent(id))) => self.state = State::Piped { way, id },
            begun => self.start_otherwise(begun),
        }
    }

    #[inline(never)]
    fn start_otherwise(&mut self, begun: Option<(usize, Begun)>) {
        self.state = self.other_start(begun).unwrap_or_else(State::Failed);
    }

    fn other_start(&mut self, begun: Option<(usize, Begun)>) -> Result<State, SystemException> {
        if let Some((way, begun)) = begun {
            return self.not_sent(way, begun);
        }
        if self.binding().local_key().is_some() {
            self.write_in(CodeSets::UNICODE)?;
            return Ok(self.run_local());
        }
        if self.binding().native_way().is_some() {
            // In vain once more, to say why.
            self.write_in(CodeSets::UNICODE)?;
        }
        if self.binding().route().is_none() {
            let nowhere = self.reference().no_usable_profile();
            return self.go_back_once(nowhere).map(|()| State::Start);
        }
        let index = self.binding().current();
        self.route = index;
        self.write_for(index)?;
        match self.route(index)?.endpoint.shared_connection() {
            None => Ok(self.connect_in_time()),
            Some(connection) => match self.send(index, connection) {
                Ok(state) => Ok(state),
                // It has just ended: another one is made.
                Err(Refused::Call(CallFailure::NotStarted)) => Ok(self.connect_in_time()),
                Err(Refused::Call(failure)) => Err(failed(failure)),
                Err(Refused::Exception(exception)) => Err(exception),
            },
        }
    }

    fn route(&self, index: usize) -> Result<&Route, SystemException> {
        self.binding().route_at(index).ok_or_else(|| self.reference().no_usable_profile())
    }

    fn write_for(&mut self, route: usize) -> Result<(), SystemException> {
        self.write_in(self.route(route)?.message_code_sets())
    }

    /// Sees to it that text among the arguments is as this server reads it.
    #[inline]
    pub(crate) fn write_in(&mut self, code_sets: CodeSets) -> Result<(), SystemException> {
        if self.code_sets == code_sets || self.arguments.octets().is_empty() {
            Ok(())
        } else {
            self.rewrite(code_sets)
        }
    }

    #[cold]
    fn rewrite(&mut self, code_sets: CodeSets) -> Result<(), SystemException> {
        let no_wide_text = |a: CodeSets, b: CodeSets| a.wide.is_none() && b.wide.is_none();
        if self.code_sets.narrow == code_sets.narrow && no_wide_text(self.code_sets, code_sets) {
            return Ok(());
        }
        let Some(rewrite) = self.rewrite else {
            return Err(SystemException::new(Kind::Transient, minor::SERVER_CLOSING)
                .detail("forwarded to a server with other code sets; call again"));
        };
        let context = self.reference().orb().weak();
        let mut reader = local::result_reader(self.arguments.octets()).with_context(context);
        reader.set_codesets(self.code_sets);
        let mut anew = Arguments::new();
        rewrite(&mut reader, &mut anew.writer(code_sets)).map_err(|e| self.binding().unwritable(e))?;
        (self.arguments, self.code_sets) = (anew, code_sets);
        Ok(())
    }

    /// Connects beside the workers.
    fn connect_in_time(&self) -> State {
        let patience = Instant::now() + CONNECT_TIMEOUT;
        self.connect(Itinerary {
            usual: self.binding().current(),
            others: self.binding().routes().saturating_sub(1),
            until: self.deadline.map_or(patience, |deadline| deadline.min(patience)),
        })
    }

    /// As above, when those who asked for the same server before have their connections. That is waited for as long as leaves the
    /// other routes their shares of the time.
    fn connect(&self, itinerary: Itinerary) -> State {
        let Itinerary { usual, others, until } = itinerary;
        let handover = Arc::new(Handover::default());
        let (result, binding) = (Bringer(Arc::clone(&handover)), Arc::clone(self.binding()));
        let left = move || until.saturating_duration_since(Instant::now());
        let share = (others > 0).then(|| Instant::now() + share(left(), others + 1));
        handover.until(share.or(self.deadline), self.reference().orb());
        let (present, routes) = (binding.current(), binding.routes());
        // Others may have found a route that works.
        let asked = if present == usual { (usual + routes - 1 - others) % routes } else { present };
        if let Some(route) = self.binding().route_at(asked) {
            route.endpoint.send_out(Box::new(move |in_vain| {
                if !result.begin_in_time() {
                    return in_vain;
                }
                let next = if binding.current() == present { asked } else { binding.current() };
                // Where the one before was in vain, this one tries last.
                let first = next + usize::from(in_vain && next == asked);
                let connected = binding.connect(first, left(), |e, t| e.connect_shared(t));
                let connected = connected.map(|(route, connection)| (binding.index_of(route), connection));
                let reached = connected.as_ref().is_ok_and(|(index, _)| *index == asked);
                result.bring(Brought::Connected(connected));
                !reached && (in_vain || first == asked)
            }));
        }
        State::Connecting(handover, Box::new(itinerary))
    }

    /// A local object's servant may block: it runs on a worker, not on the thread that polls. When the call's time is over
    /// before that, the future goes on; the servant finishes, and what it answers is dropped.
    fn run_local(&mut self) -> State {
        let handover = Arc::new(Handover::default());
        let (result, binding) = (Bringer(Arc::clone(&handover)), Arc::clone(self.binding()));
        let (orb, operation, arguments) =
            (self.reference().orb().clone(), self.operation, self.arguments.octets().to_vec());
        let priority = self.priority;
        handover.until(self.deadline, self.reference().orb());
        self.reference().orb().reactor().spawn(Box::new(move |_| {
            if !result.begin() {
                return;
            }
            let _scope = priority.map(Scope::enter);
            let outcome = local::call(&orb, &binding, operation, &arguments, Response::Target);
            result.bring(Brought::Local(outcome));
        }));
        State::AtWorker(handover)
    }

    /// `index`: of the route whose connection it is. Another call may prefer another one meanwhile.
    fn send(&self, index: usize, connection: Arc<ClientConnection>) -> Result<State, Refused> {
        let route = self.route(index).map_err(Refused::Exception)?;
        connection.register().map_err(|e| {
            let address = route.endpoint.address();
            Refused::Exception(not_connected(self.reference().orb(), address, &e))
        })?;
        let id = connection.reserve_task(route.version, self.deadline).map_err(Refused::Call)?;
        let announce = connection.must_announce();
        let start = RequestStart {
            binding: self.binding(),
            route,
            operation: self.operation,
            priority: self.priority,
            id,
            announce,
        };
        let mut message = crate::invoke::Buffer::take();
        let written = start.write(&mut message.bytes, Response::Target).and_then(|open| {
            message.bytes.extend_from_slice(self.arguments.octets());
            finish(&mut message.bytes, open).map_err(|_| SystemException::marshal())
        });
        if let Err(exception) = written {
            connection.forget(id);
            return Err(Refused::Exception(exception));
        }
        let place = connection.push(&message.bytes);
        Ok(State::Sent { connection, id, fresh: true, place })
    }
}

impl Binding {
    /// How text among the arguments is written.
    pub(crate) fn code_sets(&self) -> CodeSets {
        match (self.local_key(), self.route()) {
            (None, Some(route)) if self.native().is_none() => route.message_code_sets(),
            _ => CodeSets::UNICODE,
        }
    }
}
