//! One call by the native protocol: a request over the thread's link, and the answer where it was received.
//!
//! Writing arguments and reading results depends on the operation, and is compiled for each. All else is compiled once, and
//! what it hands on fits into registers: a call takes less time than copying a few errors that did not happen.

use std::time::{Duration, Instant};

use throughline_cdr::{EncodeError, Output, Reader, Writer};
use throughline_wire::{Flags, Header, Kind, Message, TimeLeft};

use super::answers::PipeReply;
use super::client::{NativeRoute, NativeServer, Own, keep, set_aside};
use super::link::{Link, LinkError, SETTLE};
use super::oneways;
use crate::exception::{Completion, Kind as Exception, SystemException, minor};
use crate::interface::Operation;
use crate::native::{Body, body_writer, is_of_unknown_object};
use crate::priority::Priority;

/// So often it is looked whether the server has what it was sent.
const LOOK_UP: Duration = Duration::from_micros(50);

/// An answer, in the memory where it was received.
pub(crate) struct NativeReply(Option<Box<Own>>);

impl NativeReply {
    /// What kind of answer it is: one that `Kind::is_reply`.
    #[inline]
    pub(crate) fn kind(&self) -> Kind {
        self.0.as_ref().map_or(Kind::Reply, |own| own.kind)
    }

    /// Whether it came from this server.
    pub(crate) fn is_from(&self, server: &NativeServer) -> bool {
        self.0.as_ref().is_some_and(|own| std::ptr::eq(&*own.server, server))
    }

    /// Whether the server [does not know the object](is_of_unknown_object).
    pub(crate) fn is_of_unknown_object(&self) -> bool {
        self.0.as_ref().is_some_and(|own| is_of_unknown_object(own.link.at_hand(), own.link.received_len()))
    }

    /// A copy that needs no link.
    pub(crate) fn detach(&mut self) -> PipeReply {
        match &mut self.0 {
            Some(own) => PipeReply::new(own.kind, own.body, own.link.received()),
            None => PipeReply::new(Kind::Reply, Body::NONE, &[]),
        }
    }

    /// Has the body read.
    #[inline]
    pub(crate) fn read<T>(&mut self, read: impl FnOnce(Reader<'_>) -> T) -> T {
        let Some(own) = &mut self.0 else { return read(Body::NONE.reader(&[])) };
        let body = own.body;
        own.link.open(|octets| read(body.reader_of(octets)))
    }
}

impl Drop for NativeReply {
    #[inline]
    fn drop(&mut self) {
        if let Some(mut own) = self.0.take() {
            // The buffer with the answer is released while the next answer is waited for, unless the server's is used as long.
            own.link.release_in_place();
            keep(own);
        }
    }
}

/// How an attempt ended.
pub(crate) enum Attempt {
    /// The call has an answer.
    Answered(NativeReply),
    /// A oneway is on its way.
    Sent,
    /// Nothing was sent: another way must be taken.
    NotPossible,
}

/// Writes the header of a request into memory that the fabric sends from. None if there is no way at present.
///
/// # Errors
/// If the server takes nothing, and the time is over. `OBJECT_NOT_EXIST` if it was found not to know the object when it had an
/// earlier oneway.
pub(crate) fn begin(
    route: &NativeRoute,
    operation: Operation,
    (deadline, priority): (Option<Instant>, Option<Priority>),
    wants_reply: bool,
) -> Result<Option<Box<Own>>, Box<SystemException>> {
    let Some(mut own) = route.server.link(route.alone, deadline)? else { return Ok(None) };
    own.link.give_up_at(deadline);
    own.sequence = own.sequence.wrapping_add(1);
    let kind = if wants_reply { Kind::Request } else { Kind::Oneway };
    let mut asks = false;
    if !wants_reply {
        match own.begin_oneway(route) {
            Ok(Some(turn)) => asks = turn,
            Ok(None) => {
                keep(own);
                return Err(SystemException::object_not_exist().into());
            }
            Err(error) => {
                route.server.suspend(&error);
                return Ok(None);
            }
        }
    }
    let plain = request(route, operation, (deadline, priority), kind);
    let flags = plain.flags.with(if asks { Flags::ACKNOWLEDGE } else { Flags::NONE });
    let header = Header { flow: own.flow, sequence: own.sequence, flags, ..plain };
    match own.link.room() {
        Ok(room) => {
            let written = header.write(room);
            debug_assert!(written.is_ok(), "registered buffers are larger than headers");
            (own.used, own.time_left) = (header.size(), header.time_left);
            Ok(Some(own))
        }
        Err(error) if error.is_timeout() => {
            // What was sent before may still be taken.
            own.asked.forget(own.sequence);
            keep(own);
            Err(untaken())
        }
        Err(error) => {
            route.server.suspend(&error);
            Ok(None)
        }
    }
}

/// The header of a request on a link yet unknown.
#[inline(always)]
pub(crate) fn request(
    route: &NativeRoute,
    operation: Operation,
    (deadline, priority): (Option<Instant>, Option<Priority>),
    kind: Kind,
) -> Header {
    Header {
        slot: route.slot,
        nonce: route.nonce,
        operation: u16::try_from(operation.index).unwrap_or(u16::MAX),
        check: operation.check(),
        time_left: deadline.map_or(TimeLeft::FOREVER, time_left),
        priority: priority.map_or(0, code),
        ..Header::new(kind)
    }
}

/// Most calls have none: it is not to be in their way.
#[inline(never)]
fn time_left(deadline: Instant) -> TimeLeft {
    TimeLeft::new(deadline.saturating_duration_since(Instant::now()))
}

/// As [`time_left`].
#[inline(never)]
fn code(priority: Priority) -> u8 {
    priority.code()
}

/// Marshals the arguments straight into that memory, behind the header. Gives the link back if they can't be written.
#[inline]
pub(crate) fn marshal(
    mut own: Box<Own>,
    encode: impl FnOnce(&mut Writer<'_>) -> Result<(), EncodeError>,
) -> Result<Box<Own>, Box<SystemException>> {
    let Own { link, used, overflow, .. } = &mut *own;
    match encode(&mut body_writer(Output::memory(link.begun(), used, overflow))) {
        Ok(()) => Ok(own),
        Err(error) => Err(unwritable(own, error)),
    }
}

#[cold]
fn unwritable(mut own: Box<Own>, error: EncodeError) -> Box<SystemException> {
    own.forget_overflow();
    own.asked.forget(own.sequence);
    keep(own);
    Box::new(error.into())
}

impl Own {
    #[inline]
    fn send(&mut self, wants_reply: bool) -> Result<bool, Box<SystemException>> {
        let sent = match (self.overflow.is_empty(), wants_reply) {
            (true, true) => self.link.send_request(self.used),
            (true, false) => self.link.send(self.used),
            (false, _) => self.send_overflow(),
        };
        match sent {
            Ok(()) => Ok(true),
            Err(error) if error.is_timeout() => Err(untaken()),
            Err(error) => {
                self.server.suspend(&error);
                Ok(false)
            }
        }
    }

    #[cold]
    fn send_overflow(&mut self) -> Result<(), LinkError> {
        let sent = self.link.send_large(&self.overflow);
        self.forget_overflow();
        sent
    }

    fn forget_overflow(&mut self) {
        self.overflow.clear();
        self.overflow.shrink_to(super::KEEP_OVERFLOW);
    }

    /// Whether this oneway is to be acknowledged; none if the server does not know the object, as far as is known.
    #[inline]
    fn begin_oneway(&mut self, route: &NativeRoute) -> Result<Option<bool>, LinkError> {
        if !self.asked.is_empty() {
            self.hear_earlier()?;
        }
        if route.fate.is_lost() {
            return Ok(None);
        }
        let asks = self.asked.has_room(self.sequence) && route.fate.asks();
        if asks {
            self.ask(route)?;
        }
        Ok(Some(asks))
    }

    /// This one is to be acknowledged.
    #[cold]
    fn ask(&mut self, route: &NativeRoute) -> Result<(), LinkError> {
        if !self.asked.is_empty() {
            // Perhaps nobody is there.
            self.link.look_for_peer();
            self.hear_earlier()?;
        }
        self.asked.add(self.sequence, &route.fate);
        Ok(())
    }

    /// Hears how earlier oneways ended, if that is known already.
    #[inline(never)]
    fn hear_earlier(&mut self) -> Result<(), LinkError> {
        // A server that sends without end keeps nobody here.
        for _ in 0..oneways::MOST {
            self.link.release();
            if self.asked.is_empty() || !self.link.try_receive()? {
                break;
            }
            self.hear();
        }
        Ok(())
    }

    /// A message has come that no call waits for.
    #[cold]
    fn hear(&mut self) {
        let (bytes, len) = (self.link.at_hand(), self.link.received_len());
        let Ok(message) = Message::read_front(bytes, len) else { return };
        let Some(fate) = self.asked.acknowledged(message.header.sequence) else { return };
        if is_of_unknown_object(bytes, len) {
            fate.lose();
        }
    }
}

/// Sends the request and waits for its answer, if there is to be one.
///
/// # Errors
/// System exceptions of this side: time that is over, a server that is gone.
pub(crate) fn finish(
    own: Box<Own>,
    deadline: Option<Instant>,
    wants_reply: bool,
) -> Result<Attempt, Box<SystemException>> {
    finish_by(own, wants_reply, |link| link.receive_answer(deadline), || is_over(deadline))
}

/// As [`finish`], of a request whose answer is waited for as long as it is `wanted`: as if its time were over then.
///
/// # Errors
/// As [`finish`].
pub(crate) fn finish_while(
    own: Box<Own>,
    deadline: Option<Instant>,
    wanted: &dyn Fn() -> bool,
) -> Result<Attempt, Box<SystemException>> {
    let is_over = || !wanted() || is_over(deadline);
    finish_by(own, true, |link| link.receive_while(deadline, wanted), is_over)
}

#[cold]
fn is_over(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() >= deadline)
}

#[inline(always)]
fn finish_by(
    mut own: Box<Own>,
    wants_reply: bool,
    receive: impl Fn(&mut Link) -> Result<(), LinkError>,
    is_over: impl Fn() -> bool,
) -> Result<Attempt, Box<SystemException>> {
    match own.send(wants_reply) {
        Ok(true) => {}
        Ok(false) => return Ok(Attempt::NotPossible),
        // A part of it was, perhaps: nothing can follow.
        Err(error) => {
            own.link.forsake();
            return Err(error);
        }
    }
    if !wants_reply {
        keep(own);
        return Ok(Attempt::Sent);
    }
    crate::transport::server::before_waiting();
    let mut heard = 0_usize;
    loop {
        if let Err(error) = receive(&mut own.link) {
            return no_answer(own, &error);
        }
        let bytes = own.link.at_hand();
        match Message::read_front(bytes, own.link.received_len()) {
            Ok(message) if message.header.sequence == own.sequence && message.header.kind.is_reply() => {
                (own.kind, own.body) = (message.header.kind, Body::of(bytes, &message));
                if !own.proven {
                    // It was connected without waiting for an answer, perhaps.
                    own.proven = true;
                    own.server.proven();
                }
                return Ok(Attempt::Answered(NativeReply(Some(own))));
            }
            Ok(message)
                if message.header.sequence == own.sequence && message.header.kind == Kind::Returned =>
            {
                (own.kind, own.body) = (Kind::Reply, Body::of(bytes, &message));
                if own.link.goes_on_in_request(message.header.detail as usize) {
                    return Ok(Attempt::Answered(NativeReply(Some(own))));
                }
                return Err(nonsense("an answer that goes on in a request that was not lent"));
            }
            Ok(_) => {
                own.hear();
                heard += 1;
                // A server that sends without end keeps nobody here either.
                if heard.is_multiple_of(oneways::MOST) && is_over() {
                    return no_answer(own, &LinkError::Timeout);
                }
            }
            Err(error) => return Err(nonsense(&error.to_string())),
        }
    }
}

/// Not all of an answer came.
#[cold]
fn no_answer(own: Box<Own>, error: &LinkError) -> Result<Attempt, Box<SystemException>> {
    let lost = own.server.lost(error, own.link.has_part()).map_err(Box::new);
    if error.is_timeout() {
        own.let_go();
    }
    lost
}

impl Own {
    /// The time of the call is over: no more is spent on waiting until the server has what was sent before, as who closes a link
    /// does. Either the call has waited for as long, or the next one does.
    fn let_go(mut self: Box<Self>) {
        if !self.link.is_unsettled() {
            return;
        }
        let has_waited = self.time_left.duration().unwrap_or_default();
        let rest = SETTLE.saturating_sub(has_waited);
        if rest.is_zero() || self.link.has_part() {
            return self.link.forsake();
        }
        self.owed_until = Some(Instant::now() + rest);
        set_aside(self);
    }

    /// The link of a call whose time was over, if its answer has come since. Otherwise whoever used it would wait for that servant:
    /// it is closed as soon as the server has everything, or has had the time.
    ///
    /// # Errors
    /// If the time is over before.
    #[cold]
    pub(super) fn settled(
        mut self: Box<Self>,
        deadline: Option<Instant>,
    ) -> Result<Option<Box<Self>>, Box<SystemException>> {
        loop {
            match self.is_answered() {
                Ok(true) => {
                    self.owed_until = None;
                    return Ok(Some(self));
                }
                Ok(false) if !self.link.is_unsettled() => return Ok(None),
                Ok(false) if !is_over(self.owed_until) => {}
                Ok(false) | Err(_) => {
                    self.link.forsake();
                    return Ok(None);
                }
            }
            if is_over(deadline) {
                set_aside(self);
                return Err(untaken());
            }
            std::thread::sleep(LOOK_UP);
        }
    }

    /// Whether the answer to the last request has come. Others are heard.
    fn is_answered(&mut self) -> Result<bool, LinkError> {
        // A server that sends without end keeps nobody here.
        for _ in 0..oneways::MOST {
            self.link.release();
            if !self.link.try_receive()? {
                break;
            }
            let message = Message::read_front(self.link.at_hand(), self.link.received_len());
            if message.is_ok_and(|message| message.header.sequence == self.sequence) {
                return Ok(true);
            }
            self.hear();
        }
        Ok(false)
    }
}

/// The server has not got the whole request.
#[cold]
fn untaken() -> Box<SystemException> {
    let exception = SystemException::new(Exception::Timeout, minor::REPLY_TIMEOUT);
    Box::new(
        exception.detail("the server does not take what it is sent within the time that the call may take"),
    )
}

#[cold]
fn nonsense(why: &str) -> Box<SystemException> {
    let exception = SystemException::new(Exception::CommFailure, minor::PEER_TALKS_NONSENSE);
    Box::new(exception.completed(Completion::Maybe).detail(why.to_owned()))
}
