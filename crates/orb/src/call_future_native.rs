//! The call of a future by the native protocol: one attempt, which other ways follow if it is not possible.

use std::sync::Arc;
use std::time::Instant;

use throughline_cdr::{CodeSets, Decode};
use throughline_giop::Ior;
use throughline_wire::Kind;

use crate::call_future::{Call, State};
use crate::exception::SystemException;
use crate::handover::{Bringer, Brought, Handover};
use crate::invoke::{Outcome, Step, broken, failed};
use crate::native::read_exception;
use crate::transport::calls::CallFailure;
use crate::transport::native::answers::PipeReply;
use crate::transport::native::client::NativeServer;
use crate::transport::native::exchange::{Attempt, begin, finish_while, marshal, request};
use crate::transport::native::pipe::Begun;
use crate::transport::native::pipe_calls::PipeFailure;
use crate::transport::reactor::Reactor;

/// A server that is about to be connected. Others wait for that, so they must learn if it does not happen.
struct Connecting(Option<Arc<NativeServer>>);

impl Connecting {
    fn connect(mut self, alone: bool, deadline: Option<Instant>) -> Brought {
        let Some(server) = self.0.take() else { return Brought::Native(Ok(None)) };
        match server.connect_pipe(alone, deadline) {
            _ if server.is_closed() => Brought::Nothing,
            true => Brought::Native(Ok(None)),
            false => Brought::NoTimeForNative,
        }
    }
}

impl Drop for Connecting {
    fn drop(&mut self) {
        if let Some(server) = &self.0 {
            server.pipe.connected(None);
        }
    }
}

impl Call {
    /// Sends the request by this way of the binding, if that is possible now. None if its arguments cannot be read there.
    #[inline]
    pub(crate) fn send_native(&mut self, way: usize) -> Option<Begun> {
        self.write_in(CodeSets::UNICODE).ok()?;
        let route = self.binding().native_at(way)?;
        let header = request(route, self.operation, (self.deadline, self.priority), Kind::Request);
        let begun = route.server.pipe.send(&header, self.arguments.octets(), self.deadline);
        if self.deadline.is_some() && matches!(begun, Begun::Sent(_)) {
            route.server.watch_deadlines();
        }
        Some(begun)
    }

    /// The request did not leave: what comes instead.
    #[cold]
    pub(crate) fn not_sent(&self, way: usize, begun: Begun) -> Result<State, SystemException> {
        let route = self.binding().native_at(way).ok_or_else(|| self.reference().no_usable_profile())?;
        let server = &route.server;
        match begun {
            Begun::Sent(id) => Ok(State::Piped { way, id }),
            Begun::NoRoom => Ok(State::Stuck(Arc::clone(server), None)),
            Begun::NotConnected => Ok(self.connect_native(way)),
            Begun::TooLong => Ok(self.exchange_at_worker(way)),
            Begun::Full => Err(failed(CallFailure::Full)),
        }
    }

    /// What became of a request that was sent.
    #[inline(never)]
    pub(crate) fn take_piped(&self, way: usize, id: u32) -> Result<PipeReply, PipeFailure> {
        let outcome = self.binding().native_at(way).and_then(|route| route.server.take_reply(id));
        outcome.unwrap_or_else(|| Err(PipeFailure::Lost("no call of this number is under way".to_owned())))
    }

    /// Nobody wants the answer any more.
    #[inline(never)]
    pub(crate) fn forget_piped(&self, way: usize, id: u32) {
        self.binding().native_at(way).into_iter().for_each(|route| route.server.pipe.forget(id));
    }

    /// Whether the time of the call is over.
    pub(crate) fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    #[cold]
    fn connect_native(&self, way: usize) -> State {
        let route = self.binding().native_at(way);
        let connecting = Connecting(route.map(|route| Arc::clone(&route.server)));
        let (alone, deadline) = (route.is_some_and(|route| route.alone), self.deadline);
        self.apart(move |_| connecting.connect(alone, deadline), Reactor::connect_apart)
    }

    /// What exceeds a registered buffer goes in parts, each of which may have to wait for the one before: a worker does that.
    #[cold]
    fn exchange_at_worker(&self, way: usize) -> State {
        let (binding, operation, deadline) = (Arc::clone(self.binding()), self.operation, self.deadline);
        let terms = (deadline, self.priority);
        let arguments = self.arguments.octets().to_vec();
        let exchange = move |own, wanted: &dyn Fn() -> bool| {
            let written = marshal(own, |w| {
                w.write_bytes(&arguments);
                Ok(())
            });
            let answered = written.and_then(|own| finish_while(own, deadline, wanted)).map_err(|e| *e)?;
            Ok(match answered {
                Attempt::Answered(mut reply) => Some(reply.detach()),
                Attempt::Sent | Attempt::NotPossible => None,
            })
        };
        let work = move |wanted: &dyn Fn() -> bool| {
            let Some(route) = binding.native_at(way) else { return Brought::Native(Ok(None)) };
            match begin(route, operation, terms, true) {
                Ok(None) if route.is_usable() => Brought::NoTimeForNative,
                Ok(None) => Brought::Native(Ok(None)),
                Ok(Some(own)) => Brought::Native(exchange(own, wanted)),
                Err(exception) => Brought::Native(Err(*exception)),
            }
        };
        self.apart(work, |reactor, job| reactor.spawn(Box::new(|_| job())))
    }

    /// What takes long, run by a thread that may; it is told whether anybody still waits for it.
    fn apart(
        &self,
        work: impl FnOnce(&dyn Fn() -> bool) -> Brought + Send + 'static,
        run: impl FnOnce(&Arc<Reactor>, Box<dyn FnOnce() + Send>),
    ) -> State {
        let handover = Arc::new(Handover::default());
        let result = Bringer(Arc::clone(&handover));
        handover.until(self.deadline, self.reference().orb());
        let job = move || {
            if result.begin_in_time() {
                let brought = work(&|| result.is_wanted());
                result.bring(brought);
            }
        };
        run(self.reference().orb().reactor(), Box::new(job));
        State::AtWorker(handover)
    }

    /// What an answer asks for; none if another way should be tried.
    #[inline]
    pub(crate) fn native_step(
        &self,
        way: Option<usize>,
        reply: PipeReply,
    ) -> Result<Option<Step>, SystemException> {
        match reply.kind() {
            Kind::Forward => Ok(Some(Step::Forward(Ior::decode(&mut reply.reader())?))),
            Kind::SystemException => self.native_exception(way, &reply).map(|()| None),
            _ => Ok(Some(Step::Done(Outcome::Native(reply)))),
        }
    }

    /// The exception that the server answered with, unless another way may lead to the object.
    #[cold]
    fn native_exception(&self, way: Option<usize>, reply: &PipeReply) -> Result<(), SystemException> {
        let exception = read_exception(&mut reply.reader()).map_err(broken)?;
        let route = way.or_else(|| self.binding().native_way()).and_then(|way| self.binding().native_at(way));
        match route {
            // The handle is stale; a key may lead further than a handle.
            Some(route) if reply.is_of_unknown_object() && self.binding().route().is_some() => {
                self.binding().note_stale(route);
                Ok(())
            }
            _ => Err(exception),
        }
    }
}
