//! A call as the client makes it: request out, reply in, and everything that may come between.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use throughline_cdr::{ByteOrder, CodeSets, Decode, DecodeError, EncodeError, Reader, Writer};
use throughline_giop::connection::Frame;
use throughline_giop::header::{MessageType, Version};
use throughline_giop::priority::PRIORITY_LEN;
use throughline_giop::reply::{ReplyHeader, ReplyStatus};
use throughline_giop::request::{NewRequest, Response, begin_request};
use throughline_giop::service_context::{CODE_SETS, RT_CORBA_PRIORITY, ServiceContext};
use throughline_giop::target::{AddressingDisposition, NewTarget, ProfileRef};
use throughline_giop::{Ior, Open, finish_with};

use crate::binding::{Binding, Route};
use crate::exception::{Completion, Kind, OperationError, SystemException, minor, shown};
use crate::interface::Operation;
use crate::invoke_native::{Course, read_native};
use crate::large::{Count, LargeMessage};
use crate::local;
use crate::orb::Orb;
use crate::priority::{Priority, Scope};
use crate::reference::ObjectRef;
use crate::transport::address::Address;
use crate::transport::calls::CallFailure;
use crate::transport::client::ClientConnection;
use crate::transport::native::answers::PipeReply;
use crate::transport::native::exchange::Attempt;

/// How often one call follows a forward before it is taken for a circle.
pub(crate) const MAX_FORWARDS: usize = 10;
/// How often a call that the server has not started is sent anew.
pub(crate) const MAX_RETRIES: usize = 3;
/// Connecting takes at most this long when a call has no limit of its own.
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// Buffers larger than this are not kept for the next call, in bytes.
const KEEP_BUFFER: usize = 1024 * 1024;

impl ObjectRef {
    /// Calls an operation and waits for its outcome. `encode` writes the arguments, anew for each server that the call is
    /// sent to; `decode` reads the results. Generated stubs call this.
    ///
    /// # Errors
    /// A user exception that `E` knows, or a system exception of the server, the network or this side.
    pub fn call<T, E: OperationError>(
        &self,
        operation: Operation,
        encode: impl Fn(&mut Writer<'_>) -> Result<(), EncodeError>,
        decode: impl FnOnce(&mut Reader<'_>) -> Result<T, DecodeError>,
    ) -> Result<T, E> {
        let mut course = Course::default();
        let attempt = self.call_native(operation, true, &mut course, &encode);
        if let Attempt::Answered(mut reply) = attempt.map_err(|e| *e)? {
            return read_native(self, &mut reply, decode);
        }
        self.call_otherwise((operation, Response::Target), course.deadline, &encode)?.read(self, decode)
    }

    /// As [`call`](Self::call), for operations with inout parameters: `encode` reads them, `decode` changes them.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub fn call_inout<D: ?Sized, T, E: OperationError>(
        &self,
        operation: Operation,
        data: &mut D,
        encode: impl Fn(&D, &mut Writer<'_>) -> Result<(), EncodeError>,
        decode: impl FnOnce(&mut D, &mut Reader<'_>) -> Result<T, DecodeError>,
    ) -> Result<T, E> {
        let mut course = Course::default();
        let attempt = self.call_native(operation, true, &mut course, |w| encode(data, w));
        if let Attempt::Answered(mut reply) = attempt.map_err(|e| *e)? {
            return read_native(self, &mut reply, |r| decode(data, r));
        }
        self.call_otherwise((operation, Response::Target), course.deadline, &|w| encode(data, w))?
            .read(self, |r| decode(data, r))
    }

    /// Sends a request that has no reply. Requests of one thread through one connection arrive, and are carried
    /// out, in the order in which they were sent.
    ///
    /// # Errors
    /// A system exception when the request could not be sent. `OBJECT_NOT_EXIST` as well once it is known, of an earlier one, that the
    /// object is gone.
    pub fn send_oneway(
        &self,
        operation: Operation,
        encode: impl Fn(&mut Writer<'_>) -> Result<(), EncodeError>,
    ) -> Result<(), SystemException> {
        let mut course = Course::default();
        let attempt = self.call_native(operation, false, &mut course, &encode);
        if let Attempt::Sent = attempt.map_err(|e| *e)? {
            return Ok(());
        }
        self.call_otherwise((operation, Response::None), course.deadline, &encode).map(|_| ())
    }

    /// Calls an object of this process, or by IIOP. Compiled once for all operations. There is a deadline already if another way
    /// was tried in vain.
    fn call_otherwise(
        &self,
        what: (Operation, Response),
        deadline: Option<Instant>,
        arguments: Arguments<'_>,
    ) -> Result<Outcome, SystemException> {
        OutgoingCall::new(self, what, deadline)?.complete(arguments)
    }
}

/// Writes the arguments of a call.
type Arguments<'e> = &'e dyn Fn(&mut Writer<'_>) -> Result<(), EncodeError>;

/// A request being written, then sent until it is answered.
struct OutgoingCall<'r> {
    reference: &'r ObjectRef,
    operation: Operation,
    response: Response,
    deadline: Option<Instant>,
    binding: Arc<Binding>,
    buffer: Buffer,
    /// Octets of large arguments, which are not in the buffer.
    elsewhere: usize,
    way: Way,
    /// Which of the binding's routes the request takes.
    route: usize,
    /// How many routes were left because their servers take their leave.
    left: usize,
    /// Nobody was there to whom the call was forwarded.
    went_back: bool,
}

/// How the request travels.
enum Way {
    /// The object is in this process; the buffer holds the arguments alone.
    Local,
    /// The buffer holds a message; the number of the request is reserved on the connection.
    Remote { connection: Arc<ClientConnection>, id: u32, open: Open, version: Version },
}

impl<'r> OutgoingCall<'r> {
    fn new(
        reference: &'r ObjectRef,
        (operation, response): (Operation, Response),
        deadline: Option<Instant>,
    ) -> Result<Self, SystemException> {
        reference.orb().check_up()?;
        let new = || reference.timeout().and_then(|t| Instant::now().checked_add(t));
        let deadline = deadline.or_else(new);
        let binding = reference.binding();
        Ok(Self {
            reference,
            operation,
            response,
            deadline,
            binding,
            buffer: Buffer::take(),
            elsewhere: 0,
            way: Way::Local,
            route: 0,
            left: 0,
            went_back: false,
        })
    }

    /// Reserves a place on a connection and writes the request's header at the front of the empty buffer.
    fn open_request(&mut self, mut tries: usize) -> Result<(), SystemException> {
        let binding = Arc::clone(&self.binding);
        loop {
            let (route, connection) = self.connection(&binding)?;
            let id = match self.response {
                Response::None => u32::MAX,
                _ => match connection.reserve(route.version) {
                    Ok(id) => id,
                    // It ended between the look and the reservation.
                    Err(CallFailure::NotStarted) if tries < MAX_RETRIES => {
                        tries += 1;
                        continue;
                    }
                    Err(failure) => return Err(failed(failure)),
                },
            };
            let announce = connection.must_announce();
            let request = RequestStart {
                binding: &binding,
                route,
                operation: self.operation,
                priority: self.reference.priority(),
                id,
                announce,
            };
            let version = route.version;
            // Others may prefer another one meanwhile.
            self.route = binding.index_of(route);
            let opened = request.write(&mut self.buffer.bytes, self.response);
            let open = opened.inspect_err(|_| connection.forget(id))?;
            self.way = Way::Remote { connection, id, open, version };
            return Ok(());
        }
    }

    fn connection<'b>(
        &self,
        binding: &'b Binding,
    ) -> Result<(&'b Route, Arc<ClientConnection>), SystemException> {
        let route = binding.route().ok_or_else(|| self.reference.no_usable_profile())?;
        if let Some(connection) = route.endpoint.connection() {
            return Ok((route, connection));
        }
        let timeout = remaining(self.deadline).unwrap_or(CONNECT_TIMEOUT);
        let connected = binding.connect(binding.current(), timeout, |e, t| e.connect(t));
        connected.map_err(|(address, e)| not_connected(self.reference.orb(), &address, &e))
    }

    /// Writes the arguments; large ones are only counted.
    fn marshal(&mut self, arguments: Arguments<'_>) -> Result<(), SystemException> {
        let mut count = Count::default();
        let is_local = matches!(self.way, Way::Local);
        let mut writer = self.writer();
        if !is_local {
            writer.divert_large(&mut count);
        }
        let result = arguments(&mut writer);
        self.elsewhere = count.0;
        result.map_err(|e| self.binding.unwritable(e))
    }

    /// A writer of the arguments.
    fn writer(&mut self) -> Writer<'_> {
        match &self.way {
            Way::Local => local::argument_writer(&mut self.buffer.bytes),
            Way::Remote { connection, open, version, .. } => {
                let mut writer = open.writer(&mut self.buffer.bytes);
                writer.set_codesets(for_message(connection.code_sets(), *version));
                writer
            }
        }
    }

    /// Sends the request, as often as needed, and waits for its reply.
    fn complete(mut self, arguments: Arguments<'_>) -> Result<Outcome, SystemException> {
        let (mut forwards, mut retries) = (0, 0);
        if let Some(outcome) = self.prepare(&mut forwards, arguments)? {
            return Ok(outcome);
        }
        loop {
            match self.try_once(arguments) {
                Ok(Step::Done(outcome)) => return Ok(outcome),
                Ok(Step::Address(disposition)) => self.binding.set_disposition(disposition),
                Ok(Step::Forward(ior)) => self.binding = self.reference.rebind(&ior),
                Err(Failure::Call(CallFailure::NotStarted)) if self.may_try_again(&mut retries) => {
                    match self.prepare(&mut forwards, arguments)? {
                        Some(outcome) => return Ok(outcome),
                        None => continue,
                    }
                }
                Err(Failure::Call(failure)) => {
                    self.leave(&failure, forwards)?;
                    (retries, self.left) = (0, 0);
                }
                Err(Failure::Exception(e)) if forwards == 0 && may_have_moved(&e) => {
                    self.binding = self.reference.unbind(&self.binding).ok_or(e)?;
                }
                Err(Failure::Exception(exception)) => return Err(exception),
            }
            forwards += 1;
            if forwards > MAX_FORWARDS {
                return Err(SystemException::new(Kind::Transient, minor::TOO_MANY_FORWARDS));
            }
            if let Some(outcome) = self.go_on_native(&mut forwards, arguments)? {
                return Ok(outcome);
            }
            if let Some(outcome) = self.prepare(&mut forwards, arguments)? {
                return Ok(outcome);
            }
        }
    }

    /// Whether a call that was not begun is to be made anew: some times where it was made, then by the other routes.
    fn may_try_again(&mut self, retries: &mut usize) -> bool {
        if *retries < MAX_RETRIES {
            *retries += 1;
            return true;
        }
        if self.left + 1 >= self.binding.routes() {
            return false;
        }
        // Twice there: a connection that was open may have been closed since.
        (self.left, *retries) = (self.left + 1, MAX_RETRIES - 1);
        self.binding.turn_from(self.route);
        true
    }

    /// Goes back to the reference's own profiles from where nobody carries calls out any more: this one if nothing was done, or the
    /// next.
    #[cold]
    fn leave(&mut self, failure: &CallFailure, forwards: usize) -> Result<(), SystemException> {
        let own = if is_in_vain(failure) { self.reference.unbind(&self.binding) } else { None };
        match own {
            Some(own) if forwards == 0 && *failure == CallFailure::NotStarted => self.binding = own,
            _ => return Err(failed(failure.clone())),
        }
        Ok(())
    }

    /// What the call brings where it was forwarded to, if the native protocol alone leads there.
    fn go_on_native(
        &mut self,
        forwards: &mut usize,
        arguments: Arguments<'_>,
    ) -> Result<Option<Outcome>, SystemException> {
        if self.binding.route().is_some() || self.binding.local_key().is_some() {
            return Ok(None);
        }
        let mut course = Course { deadline: self.deadline, forwards: *forwards, went_back: self.went_back };
        let wants_reply = self.response != Response::None;
        let attempt = self.reference.call_native(self.operation, wants_reply, &mut course, arguments);
        Ok(match attempt.map_err(|e| *e)? {
            Attempt::Answered(mut reply) => Some(Outcome::Native(reply.detach())),
            Attempt::Sent => Some(Outcome::None),
            Attempt::NotPossible => {
                // It may have been forwarded once more, or be back.
                (self.binding, *forwards) = (self.reference.binding(), course.forwards);
                self.went_back = course.went_back;
                None
            }
        })
    }

    fn try_once(&mut self, arguments: Arguments<'_>) -> Result<Step, Failure> {
        if let Way::Local = self.way {
            let orb = self.reference.orb();
            let marshaled = &self.buffer.bytes;
            let _scope = self.reference.priority().map(Scope::enter);
            return Ok(local::call(orb, &self.binding, self.operation, marshaled, self.response)?);
        }
        match (self.exchange(arguments).map_err(Failure::Call)?, &self.way) {
            (Some(reply), Way::Remote { connection, .. }) => Ok(Step::of(reply, connection.code_sets())?),
            _ => Ok(Step::Done(Outcome::None)),
        }
    }

    /// Sends the message once and waits for the reply, if there is to be one.
    fn exchange(&mut self, arguments: Arguments<'_>) -> Result<Option<Frame>, CallFailure> {
        let Way::Remote { connection, id, open, version } = &self.way else { return Ok(None) };
        let buffer = &mut self.buffer.bytes;
        let length = finish_with(buffer, *open, self.elsewhere).map_err(|_| {
            connection.forget(*id);
            CallFailure::TooLarge
        })?;
        let sent = if self.elsewhere == 0 {
            connection.send(*id, buffer, self.deadline)
        } else {
            let code_sets = for_message(connection.code_sets(), *version);
            let message = LargeMessage { buffer, open: *open, length };
            let encode = |w: &mut Writer<'_>| {
                w.set_codesets(code_sets);
                arguments(w)
            };
            connection.send_large(*id, message, encode, self.deadline)
        };
        if let Err(failure) = sent {
            connection.cancel(*id);
            return Err(failure);
        }
        if self.response == Response::None {
            return Ok(None);
        }
        crate::transport::server::before_waiting();
        connection.wait(*id, self.deadline).map(Some)
    }

    /// Writes the request; anew for another connection or another object, whose code sets and version may differ. What the call
    /// brought, if it was made on the way back from where nobody is.
    fn prepare(
        &mut self,
        forwards: &mut usize,
        arguments: Arguments<'_>,
    ) -> Result<Option<Outcome>, SystemException> {
        self.buffer.bytes.clear();
        self.way = Way::Local;
        if self.binding.local_key().is_none()
            && let Some(outcome) = self.open_request_anywhere(forwards, arguments)?
        {
            return Ok(Some(outcome));
        }
        self.marshal(arguments).map(|()| None)
    }

    /// The place that the reference was forwarded to may be gone: its own profiles are the way back, once. Whoever is forwarded to
    /// nobody time and again would wait for as long each time. What the call brought, if the native protocol alone leads back.
    fn open_request_anywhere(
        &mut self,
        forwards: &mut usize,
        arguments: Arguments<'_>,
    ) -> Result<Option<Outcome>, SystemException> {
        while let Err(e) = self.open_request(0) {
            match self.reference.unbind(&self.binding) {
                Some(own) if !std::mem::replace(&mut self.went_back, true) => self.binding = own,
                _ => return Err(e),
            }
            self.buffer.bytes.clear();
            if let Some(outcome) = self.go_on_native(forwards, arguments)? {
                return Ok(Some(outcome));
            }
            if self.binding.local_key().is_some() {
                break;
            }
        }
        Ok(None)
    }
}

/// Why one attempt brought no outcome.
enum Failure {
    Call(CallFailure),
    Exception(SystemException),
}

impl From<SystemException> for Failure {
    fn from(exception: SystemException) -> Self {
        Self::Exception(exception)
    }
}

impl Drop for OutgoingCall<'_> {
    fn drop(&mut self) {
        // An argument that could not be encoded, or a panic: nothing was sent.
        if let Way::Remote { connection, id, .. } = &self.way {
            connection.forget(*id);
        }
    }
}

/// The header of a request.
pub(crate) struct RequestStart<'a> {
    pub(crate) binding: &'a Binding,
    pub(crate) route: &'a Route,
    pub(crate) operation: Operation,
    pub(crate) priority: Option<Priority>,
    pub(crate) id: u32,
    pub(crate) announce: bool,
}

impl RequestStart<'_> {
    /// Appends the header; the arguments follow at a multiple of 8, in every version.
    pub(crate) fn write(&self, buffer: &mut Vec<u8>, response: Response) -> Result<Open, SystemException> {
        let profile = || &self.binding.ior().profiles[self.route.profile as usize];
        let target = match self.binding.disposition() {
            AddressingDisposition::Key => NewTarget::Key(&self.route.key),
            // Before GIOP 1.2 there is no other way, whatever a server of another route wanted.
            _ if self.route.version < Version::V1_2 => NewTarget::Key(&self.route.key),
            AddressingDisposition::Profile => NewTarget::Profile(ProfileRef::from(profile())),
            AddressingDisposition::Reference => {
                NewTarget::Reference { ior: self.binding.ior(), selected: self.route.profile }
            }
        };
        let octets = self.priority.map_or([0; PRIORITY_LEN], Priority::octets);
        let contexts = [
            ServiceContext { id: CODE_SETS, data: &self.route.announcement },
            ServiceContext { id: RT_CORBA_PRIORITY, data: &octets },
        ];
        let announce = self.announce && !self.route.announcement.is_empty();
        let (from, to) = (usize::from(!announce), 1 + usize::from(self.priority.is_some()));
        let request = NewRequest {
            request_id: self.id,
            response,
            target,
            operation: self.operation.name,
            service_contexts: &contexts[from..to],
        };
        Ok(begin_request(buffer, self.route.version, ByteOrder::NATIVE, &request)?)
    }
}

/// What a reply asks the client to do.
pub(crate) enum Step {
    Done(Outcome),
    Forward(Ior),
    Address(AddressingDisposition),
}

impl Step {
    /// `code_sets`: those of the connection.
    pub(crate) fn of(frame: Frame, code_sets: CodeSets) -> Result<Self, SystemException> {
        let header = frame.header;
        if header.kind != MessageType::Reply {
            return Err(failed(CallFailure::Malformed(format!("a {:?} to a request", header.kind))));
        }
        let mut reply = ReplyHeader::read(&header, &frame).map_err(broken)?;
        Ok(match reply.status {
            ReplyStatus::NoException | ReplyStatus::UserException => {
                let user = reply.status == ReplyStatus::UserException;
                let body = frame.len() - reply.body.remaining();
                Self::Done(Outcome::Remote { message: frame, body, user, code_sets })
            }
            ReplyStatus::SystemException => {
                return Err(SystemException::read(&mut reply.body).map_err(broken)?);
            }
            // Whoever says where to ask, or how, has done nothing else, even if it can't be read.
            ReplyStatus::LocationForward | ReplyStatus::LocationForwardPerm => {
                Self::Forward(Ior::decode(&mut reply.body)?)
            }
            ReplyStatus::NeedsAddressingMode => {
                Self::Address(AddressingDisposition::decode(&mut reply.body)?)
            }
        })
    }
}

/// What a call brought back.
pub(crate) enum Outcome {
    /// Nothing: the operation is a oneway.
    None,
    /// A reply message; the results, or the user exception, start at `body`.
    Remote { message: Frame, body: usize, user: bool, code_sets: CodeSets },
    /// An answer by the native protocol: the results, or the user exception.
    Native(PipeReply),
    /// The results, or the user exception, of an object in this process.
    Local { results: Vec<u8>, user: bool },
}

impl Outcome {
    /// Reads the results, or turns the user exception into the error.
    pub(crate) fn read<T, E: OperationError>(
        self,
        reference: &ObjectRef,
        decode: impl FnOnce(&mut Reader<'_>) -> Result<T, DecodeError>,
    ) -> Result<T, E> {
        let (reader, user) = self.results(reference)?;
        read_results(reader, user, decode)
    }

    /// What there is to read, and whether that is a user exception.
    fn results<'a>(&'a self, reference: &'a ObjectRef) -> Result<(Reader<'a>, bool), SystemException> {
        let (reader, user) = match self {
            Self::None => return Err(SystemException::marshal()),
            Self::Remote { message, body, user, code_sets } => {
                let header = message.header;
                let mut reader = Reader::starting_at(message, header.order, *body);
                reader.set_codesets(for_message(*code_sets, header.version));
                (reader, *user)
            }
            Self::Native(reply) => (reply.reader(), reply.kind() == throughline_wire::Kind::UserException),
            Self::Local { results, user } => (local::result_reader(results), *user),
        };
        Ok((reader.with_context(reference.orb().weak()), user))
    }
}

pub(crate) fn read_results<'a, T, E: OperationError>(
    mut reader: Reader<'a>,
    user: bool,
    decode: impl FnOnce(&mut Reader<'a>) -> Result<T, DecodeError>,
) -> Result<T, E> {
    if user {
        return Err(read_user_exception(&mut reader));
    }
    decode(&mut reader).map_err(|e| broken(e).into())
}

#[cold]
fn read_user_exception<E: OperationError>(reader: &mut Reader<'_>) -> E {
    let id = match reader.read_string() {
        Ok(id) => id,
        Err(e) => return broken(e).into(),
    };
    match E::decode_user(&id, reader) {
        Some(Ok(exception)) => exception,
        Some(Err(e)) => broken(e).into(),
        None => SystemException::new(Kind::Unknown, minor::UNLISTED_USER_EXCEPTION)
            .completed(Completion::Yes)
            .detail(format!("the operation's IDL does not list {}", shown(&id)))
            .into(),
    }
}

/// Results, or an exception, that cannot be read: the operation has run.
pub(crate) fn broken(error: DecodeError) -> SystemException {
    SystemException::from(error).completed(Completion::Yes)
}

/// Whether the object is not where an earlier call was forwarded to, and nothing was carried out. It was there once, and may be
/// elsewhere now.
pub(crate) fn may_have_moved(exception: &SystemException) -> bool {
    (exception.kind, exception.completed) == (Kind::ObjectNotExist, Completion::No)
}

/// Whether further calls of the same server would fail likewise: it leaves time and again, or is none.
pub(crate) fn is_in_vain(failure: &CallFailure) -> bool {
    matches!(failure, CallFailure::NotStarted | CallFailure::Malformed(_))
}

/// Code sets as a message of `version` uses them.
pub(crate) fn for_message(sets: CodeSets, version: Version) -> CodeSets {
    throughline_giop::codeset::for_version(sets.narrow, sets.wide, version)
}

pub(crate) fn remaining(deadline: Option<Instant>) -> Option<Duration> {
    deadline.map(|d| d.saturating_duration_since(Instant::now()))
}

#[cold]
pub(crate) fn not_connected(orb: &Orb, address: &Address, error: &std::io::Error) -> SystemException {
    if let Err(down) = orb.check_up() {
        return down;
    }
    let address = shown(&address.to_string());
    SystemException::new(Kind::Transient, minor::CONNECT_FAILED)
        .detail(format!("cannot connect to {address}: {error}; is the server running?"))
}

/// The system exception of a call that got no reply.
#[cold]
pub(crate) fn failed(failure: CallFailure) -> SystemException {
    let comm_failure = |code| SystemException::new(Kind::CommFailure, code);
    let refused = || {
        comm_failure(minor::PEER_REFUSED_MESSAGE)
            .detail("the server answered that it could not read a message")
    };
    match failure {
        CallFailure::NotStarted => SystemException::new(Kind::Transient, minor::SERVER_CLOSING)
            .detail("the server closes its connections; try again later"),
        CallFailure::Lost(why) => {
            comm_failure(minor::CONNECTION_LOST).completed(Completion::Maybe).detail(why)
        }
        CallFailure::Malformed(why) => {
            comm_failure(minor::PEER_TALKS_NONSENSE).completed(Completion::Maybe).detail(why)
        }
        CallFailure::TooLarge => SystemException::marshal().detail("the arguments take more than a message's 4 GiB"),
        // It does not say which message: this one, or another on the same connection.
        CallFailure::Refused => refused().completed(Completion::Maybe),
        CallFailure::RefusedInPart => refused(),
        CallFailure::TimedOut => SystemException::new(Kind::Timeout, minor::REPLY_TIMEOUT)
            .completed(Completion::Maybe)
            .detail("no reply within the time that the call may take"),
        CallFailure::Full => SystemException::no_resources()
            .detail("too many calls are under way on one connection, or wait for the server to read them; wait for some to finish"),
    }
}

/// A buffer lent by the thread, so that calls in a steady state allocate nothing.
pub(crate) struct Buffer {
    pub(crate) bytes: Vec<u8>,
}

thread_local! {
    static BUFFERS: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

impl Buffer {
    pub(crate) fn take() -> Self {
        let kept = BUFFERS.try_with(|b| b.borrow_mut().pop()).ok().flatten();
        let bytes = kept.unwrap_or_default();
        Self { bytes }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let mut bytes = std::mem::take(&mut self.bytes);
        if bytes.capacity() > 0 && bytes.capacity() <= KEEP_BUFFER {
            bytes.clear();
            // Fails only while the thread is ending, when nothing needs to be kept.
            let _ = BUFFERS.try_with(|b| b.borrow_mut().push(bytes));
        }
    }
}
