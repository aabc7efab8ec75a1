//! What is done for calls: asked, answered, repeated, forgotten.

use smoltcp::time::Instant;
use throughline_demux::Slot;

use super::{
    KEPT, Rpc,
    header::{Call, Header, Kind},
    session::{Asks, Role, Server, Session, State},
};
use crate::{Discard, Lower, Message, SendError, Trouble, Upper};

impl Rpc {
    /// Sends a header alone or in front of a message.
    fn send(
        session: &Session,
        kind: Kind,
        call: Call,
        mut message: Message,
        lower: &mut Lower<'_>,
    ) -> Result<(), SendError> {
        let header = Header { kind, from: session.local.1, to: session.remote.1, call };
        header.write(&mut message).map_err(|_| SendError::TooLong)?;
        lower.push(session.below.ok_or(SendError::NoPath)?, message)
    }

    /// Says to whoever asks again what there is to say. If that is lost, he asks once more.
    fn answer(&mut self, slot: Slot, call: Call, lower: &mut Lower<'_>) {
        let Some(session) = self.sessions.get(slot) else { return };
        let Role::Server(server) = &session.role else { return };
        let _ = match &server.state {
            State::Answered(Some(reply)) => {
                let copy = copied(reply, lower);
                Self::send(session, Kind::Reply, call, copy, lower)
            }
            State::Answered(None) => Ok(()),
            State::Working => {
                let empty = lower.message();
                Self::send(session, Kind::Working, call, empty, lower)
            }
        };
    }

    /// A request has come to a channel that there is. Whether it is a new call.
    pub(super) fn request(&mut self, slot: Slot, call: Call, lower: &mut Lower<'_>) -> Result<(), Discard> {
        let Some(session) = self.sessions.get(slot) else { return Err(Discard::NoPort) };
        let Role::Server(server) = &mut session.role else { return Err(Discard::Malformed) };
        match server.asks(call) {
            Asks::New => {
                if let Some(kept) = server.begin(call, lower.now()) {
                    self.kept -= kept.len();
                    lower.give(kept);
                }
                return Ok(());
            }
            Asks::Early | Asks::Again => self.answer(slot, call, lower),
            Asks::Old => {}
        }
        Err(Discard::Duplicate)
    }

    /// Sends a new call of a channel that has none under way.
    pub(super) fn call(
        &mut self,
        slot: Slot,
        mut message: Message,
        lower: &mut Lower<'_>,
    ) -> Result<(), SendError> {
        let next = Call { sequence: self.last.sequence.wrapping_add(1), ..self.last };
        let Some(session) = self.sessions.get(slot) else { return Err(SendError::NoPath) };
        let below = session.below.ok_or(SendError::NoPath)?;
        let Role::Caller(caller) = &mut session.role else { return Err(SendError::NoPath) };
        if caller.pending.is_some() {
            lower.give(message);
            return Err(SendError::Busy);
        }
        let header = Header { kind: Kind::Request, from: session.local.1, to: session.remote.1, call: next };
        header.write(&mut message).map_err(|_| SendError::TooLong)?;
        caller.ask(next, copied(&message, lower), lower.now());
        self.last = next;
        let sent = lower.push(below, message);
        if let (Err(error), Some(session)) = (sent, self.sessions.get(slot)) {
            // What waits for room is sent again in time; what can't leave ever is no call.
            if error != SendError::QueueFull
                && let Role::Caller(caller) = &mut session.role
            {
                caller.pending.take().into_iter().for_each(|asked| lower.give(asked.request));
                return Err(error);
            }
        }
        self.arm(slot);
        Ok(())
    }

    /// Answers the call that the channel's user has been given.
    pub(super) fn reply(
        &mut self,
        slot: Slot,
        message: Message,
        lower: &mut Lower<'_>,
    ) -> Result<(), SendError> {
        let Some(session) = self.sessions.get(slot) else { return Err(SendError::NoPath) };
        let Role::Server(server) = &mut session.role else { return Err(SendError::NoPath) };
        let Some(call) = server.working_on() else {
            lower.give(message);
            return Err(SendError::NoCall);
        };
        let kept = (self.kept + message.len() <= KEPT).then(|| copied(&message, lower));
        self.kept += kept.as_ref().map_or(0, Message::len);
        server.end(kept, lower.now());
        let sent = Self::send(session, Kind::Reply, call, message, lower);
        self.arm(slot);
        // The caller asks for what found no room.
        sent.or_else(|error| if error == SendError::QueueFull { Ok(()) } else { Err(error) })
    }

    /// A request for a channel that its user has closed: a new call opens it again.
    pub(super) fn reopen(
        &mut self,
        slot: Slot,
        listener: Slot,
        call: Call,
        lower: &mut Lower<'_>,
    ) -> Result<(), Discard> {
        let Some(session) = self.sessions.get(slot) else { return Err(Discard::NoPort) };
        let Role::Server(server) = &session.role else { return Err(Discard::NoPort) };
        match server.asks(call) {
            Asks::New => {
                let path = lower.passive_path(listener)?;
                lower.pin_path(path);
                session.upper = Upper::User(path);
                Ok(())
            }
            Asks::Again | Asks::Early => {
                self.answer(slot, call, lower);
                Err(Discard::Duplicate)
            }
            Asks::Old => Err(Discard::Duplicate),
        }
    }

    pub(super) fn arm(&mut self, slot: Slot) {
        if let Some(due) = self.sessions.get(slot).and_then(Session::arm) {
            self.wheel.add(due, slot.0);
        }
    }

    pub(super) fn remove(&mut self, slot: Slot, lower: &mut Lower<'_>) {
        let Some(session) = self.sessions.remove(slot) else { return };
        let mut opened_at = None;
        match session.role {
            Role::Caller(caller) => {
                opened_at = Some(session.local.1);
                caller.pending.into_iter().for_each(|asked| lower.give(asked.request));
            }
            Role::Server(Server { state: State::Answered(Some(kept)), .. }) => {
                self.kept -= kept.len();
                lower.give(kept);
            }
            Role::Server(_) | Role::None => {}
        }
        self.transport.close(session.below, opened_at, lower);
    }

    /// Does what is due in a session.
    pub(super) fn wake(&mut self, slot: Slot, now: Instant, lower: &mut Lower<'_>) {
        let Some(session) = self.sessions.get(slot) else { return };
        session.wake(now);
        let (upper, below) = (session.upper, session.below);
        match &mut session.role {
            Role::Caller(caller) => match caller.again(now) {
                Some(false) => {}
                Some(true) => {
                    if let (Some(asked), Some(below)) = (&caller.pending, below) {
                        let copy = copied(&asked.request, lower);
                        // What does not leave is as lost on the wire.
                        let _ = lower.push(below, copy);
                    }
                }
                None => {
                    caller.pending.take().into_iter().for_each(|asked| lower.give(asked.request));
                    lower.trouble(upper, Trouble::Unanswered);
                }
            },
            Role::Server(server) => {
                if server.forgotten().is_some_and(|forgotten| forgotten <= now) {
                    lower.forget_path(upper);
                    return self.remove(slot, lower);
                }
            }
            Role::None => {}
        }
        self.arm(slot);
    }
}

/// A copy of a message whose headers are in front, with room for those below.
fn copied(message: &Message, lower: &mut Lower<'_>) -> Message {
    let mut copy = lower.message();
    if copy.append(message.bytes()).is_err() {
        lower.give(copy);
        copy = Message::copied(lower.cx.pool.headroom(), message.bytes());
    }
    copy.priority = message.priority;
    copy
}
