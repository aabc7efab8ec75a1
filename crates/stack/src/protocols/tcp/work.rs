//! What a connection does after something has happened to it: it sends, sets its timer, and tells its user.

use smoltcp::{
    iface::Interface,
    time::{Duration, Instant},
    wire::TcpPacket,
};
use throughline_demux::Slot;

use super::{ACK_DELAY, Tcp, link::Link, session::Session};
use crate::{Layer, Lower, Message, Pool, Upper};

/// Segments that one event sends at most before others have their turn.
const BURST: usize = 64;
/// No timer that smoltcp starts ends sooner: neither those of acknowledgements nor those after which it repeats, 10 ms.
const SHORTEST: Duration = ACK_DELAY;

/// Whether there is something to send.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sends {
    /// Most likely.
    First,
    /// To be found out.
    IfDue,
}

impl Tcp {
    /// Sends what a connection has to send, sets its timer, and tells its user what has changed.
    pub(super) fn work(&mut self, slot: Slot, sends: Sends, lower: &mut Lower<'_>) {
        self.face(slot);
        let now = lower.now();
        if self.sessions.get(slot).is_some_and(|session| session.has_waited(now)) {
            self.conclude(slot, lower);
        }
        let Some(session) = self.sessions.get(slot) else { return };
        session.refuse_late_data();
        session.mind_silence();
        let mut due = Some(now);
        if sends == Sends::IfDue {
            due = self.interface.poll_at(now, &session.sockets);
        }
        let mut stuck = false;
        if due.is_none_or(|due| due > now) {
            stuck = session.is_stuck(due, now);
        } else {
            let all = send(&mut self.interface, session, &mut self.made, self.room, now, &mut lower.cx.pool);
            // Who is woken before any timer ends that has begun now need not know which that is.
            due = None;
            if !(all && session.is_woken_by(now + SHORTEST)) {
                due = self.interface.poll_at(now, &session.sockets);
                stuck = session.is_stuck(due, now);
            }
        }
        if stuck {
            self.go_on(slot, lower);
            // Not at once: whatever stopped it again must not keep us busy.
            due = Some(now + SHORTEST);
        }
        let Some(session) = self.sessions.get(slot) else { return };
        if let Some(due) = session.arm(due, now) {
            self.wheel.add(due, slot.0);
        }
        session.tell(lower);
        let (below, ended, over) = (session.below, session.has_ended(), session.is_over());
        if !self.made.is_empty() {
            push_all(&mut self.made, below, lower);
        }
        if ended {
            self.remove(slot, lower);
        } else if over {
            self.make_way(slot, lower);
        }
    }

    /// A connection is over that its user has yet to close. The other end may ask for a new one meanwhile, unless its frames name this
    /// one.
    #[cold]
    fn make_way(&mut self, slot: Slot, lower: &mut Lower<'_>) {
        if let Some(session) = self.sessions.get(slot)
            && let Upper::User(path) = session.upper
            && !lower.is_named(path)
        {
            self.sessions.hide(slot);
        }
    }
}

/// Has smoltcp make the segments that are due, and says whether it made all.
fn send(
    interface: &mut Interface,
    session: &mut Session,
    made: &mut Vec<Message>,
    room: usize,
    now: Instant,
    pool: &mut Pool,
) -> bool {
    for _ in 0..BURST {
        let before = made.len();
        interface.poll_egress(now, &mut Link::new(None, made, pool), &mut session.sockets);
        if made.len() == before || made.last().is_none_or(|segment| is_last(segment, room)) {
            return true;
        }
    }
    false
}

/// Whether there is nothing to send after a segment: it is not full, and not one of many to somebody who takes short ones only,
/// of which the last alone is to be pushed on.
#[inline]
fn is_last(segment: &Message, room: usize) -> bool {
    if segment.len() >= room / 2 {
        return false;
    }
    let packet = TcpPacket::new_unchecked(segment.bytes());
    packet.psh() || packet.fin() || segment.len() == usize::from(packet.header_len())
}

/// Sends the packets that smoltcp made by the session below, which has a header of its own for them.
pub(super) fn push_all(made: &mut Vec<Message>, below: Option<Layer>, lower: &mut Lower<'_>) {
    for packet in made.drain(..) {
        let Some(below) = below else { continue };
        // What does not leave is lost, as on the wire: TCP sends it again.
        let _ = lower.push(below, packet);
    }
}
