//! What is behind the lock of a port: the wire, and the connections over it.

use super::{
    Reception, Wire,
    connect::{Listeners, Offered},
    keeper::Berth,
    message::{Outgoing, Place},
    remote::{self, Windows},
    roles::Role,
    watch::Sleepers,
};
use crate::{
    ProtectionTag,
    reliable::{
        Connection, Ecn, Endpoint, EndpointConfig, Event, Handled, Incoming, Level, Reason, batch::Batch,
    },
};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::time::{Itimerspec, TimerfdFlags, TimerfdTimerFlags, Timespec};
use std::{
    hash::Hash,
    os::fd::OwnedFd,
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};
use throughline_demux::{OsNonces, Slot};

/// Looks, in vain or not, until what is due is done: some microseconds.
const LOOKS: u32 = 32;
/// So many looks follow one another at once, and what comes is found that much sooner,
const IN_ROW: u32 = 4;
/// for so many times since something came: then the next one is likely to follow.
const SOON: u32 = 32;
/// Receptions without a pause until acknowledgements leave.
pub(super) const MOST_UNANSWERED: u32 = 8;
/// Receptions by polling without a sleep in between, until the wire wakes nobody any more.
const MOST_ATTACHED: u32 = 64;
/// A wire without room is tried again after this.
const RETRY: Duration = Duration::from_millis(1);
/// A connection for remote DMA that was silent for so long gives way to another one of its VI.
const LONE: Duration = Duration::from_secs(1);
/// The most octets of a reception, and of a datagram.
const MOST: usize = 1 << 16;

/// On the clock of all ports.
pub(super) fn now() -> Duration {
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    ORIGIN.get_or_init(Instant::now).elapsed()
}

pub(crate) struct State<W: Wire> {
    pub(super) wire: W,
    pub(super) endpoint: Endpoint<W::Address, Outgoing, Place>,
    /// By the slots of the endpoint.
    pub(super) roles: Vec<Role<W::Address>>,
    windows: Arc<Windows>,
    pub(super) listeners: Listeners<W::Address>,
    pub(super) now: Duration,
    /// Looks since what is due was done. Whatever else is done with a port must not put that off: it may be another VI's.
    since_due: u32,
    /// Receptions since something was sent.
    pub(super) unanswered: u32,
    /// Receptions since there was nothing to receive.
    pub(super) in_row: u32,
    /// How often in a row nothing was found.
    vain: u32,
    /// Something was sent by the short way, and what comes after sending is still to be done.
    pub(super) put_off: bool,
    /// How often nothing was found.
    pub(super) looks: u64,
    pub(super) incoming: Box<[u8]>,
    /// Datagrams to leave next; if there are any, the wire had no room for them.
    pub(super) outgoing: Batch<W::Address>,
    /// Who sleeps is woken by the wire, and receptions since that was of use.
    attached: bool,
    polled: u32,
    timer: OwnedFd,
    timer_at: Option<Duration>,
    /// Counts what the VIs do.
    pub(super) activity: u64,
    /// The keeper relies on being told when anything is done.
    pub(super) kept: bool,
    /// Where it has the port.
    pub(super) berth: Option<Berth>,
}

impl<W: Wire> State<W> {
    pub(super) fn new(wire: W, windows: Arc<Windows>) -> std::io::Result<Self> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        Ok(Self {
            wire,
            endpoint: Endpoint::new(EndpointConfig::default(), OsNonces::default()),
            roles: Vec::new(),
            windows,
            listeners: Listeners::default(),
            now: now(),
            since_due: 0,
            unanswered: 0,
            in_row: 0,
            vain: 0,
            put_off: false,
            looks: 0,
            incoming: vec![0; MOST].into(),
            outgoing: Batch::new(),
            attached: false,
            polled: 0,
            timer: rustix::time::timerfd_create(rustix::time::TimerfdClockId::Monotonic, flags)?,
            timer_at: None,
            activity: 0,
            kept: false,
            berth: None,
        })
    }

    pub(super) fn timer(&self) -> &OwnedFd {
        &self.timer
    }

    pub(super) fn look_at_clock(&mut self) -> Duration {
        self.now = now();
        self.now
    }

    /// A VI takes part.
    #[inline]
    pub(super) fn touch(&mut self) {
        self.activity += 1;
        if self.kept {
            self.kept = false;
            super::keeper::nudge(self.berth);
        }
    }

    /// A VI has made room for messages. If its peer may have to wait for that, it is told, even if nobody polls next.
    #[inline]
    pub(super) fn made_room(&mut self, slot: Slot) {
        if self.kept && self.endpoint.peek(slot).is_some_and(Connection::has_news_of_room) {
            self.touch();
        }
    }

    /// Takes in what has arrived, at least one datagram; `false` if nothing has. `own` is the VI that looks itself.
    #[inline]
    pub(super) fn take_in(&mut self, sleepers: &Sleepers, own: Option<Slot>) -> bool {
        let Self { wire, incoming, attached, .. } = self;
        // What was put off is done while the answer cannot be there; who sleeps does not look for long before.
        let soon = self.vain < SOON && !self.put_off && !*attached;
        let mut looks = 0..if soon { IN_ROW } else { 1 };
        let found = looks.find_map(|_| wire.receive(incoming, *attached));
        match &found {
            Some(reception) => self.take(reception, sleepers, own),
            None => self.found_nothing(sleepers),
        }
        found.is_some()
    }

    fn found_nothing(&mut self, sleepers: &Sleepers) {
        self.looks += 1;
        self.vain = self.vain.saturating_add(1);
        self.in_row = 0;
        if self.wire.is_refused() {
            self.refused();
            self.tell(sleepers, None);
        }
    }

    fn take(&mut self, reception: &Reception<W::Address>, sleepers: &Sleepers, own: Option<Slot>) {
        self.look_at_clock();
        self.since_due += 1;
        if !self.handle_short(reception, sleepers, own) {
            self.handle(reception);
            self.tell(sleepers, own);
        }
        self.unanswered += 1;
        self.vain = 0;
        self.in_row = self.in_row.saturating_add(1);
        if self.attached && !self.kept && !sleepers.any() {
            self.polled(sleepers);
        }
        if self.unanswered >= MOST_UNANSWERED {
            self.flush(sleepers, own);
        }
        if self.since_due >= LOOKS {
            self.do_what_is_due(sleepers);
        }
    }

    /// From now on the wire wakes sleepers.
    pub(super) fn attach(&mut self, sleepers: &Sleepers) {
        self.polled = 0;
        if !self.attached {
            let added = self.wire.fds().try_for_each(|fd| {
                match epoll::add(sleepers.wire(), fd, EventData::new_u64(0), EventFlags::IN) {
                    // It could not be taken out before.
                    Ok(()) | Err(Errno::EXIST) => Ok(()),
                    error => error,
                }
            });
            if let Err(error) = added {
                tracing::error!(%error, "nobody can wait for a wire");
            }
            self.attached = added.is_ok();
        }
    }

    /// Something was received by polling. Where that happens time and again, the system need not tell anybody else of what
    /// comes, which takes it time with every datagram.
    fn polled(&mut self, sleepers: &Sleepers) {
        self.polled += 1;
        if self.polled >= MOST_ATTACHED {
            self.wire.fds().for_each(|fd| {
                let _ = epoll::delete(sleepers.wire(), fd);
            });
            self.attached = false;
        }
    }

    fn handle(&mut self, reception: &Reception<W::Address>) {
        let Self { incoming, endpoint, listeners, roles, now, .. } = self;
        for datagram in incoming[..reception.len].chunks(reception.each.max(1)) {
            let handled = endpoint.handle(*now, reception.from, reception.ecn, datagram);
            let Handled::Incoming(incoming) = handled else { continue };
            if incoming.level == Level::Remote {
                accept_remote(endpoint, roles, &incoming, *now, datagram);
                continue;
            }
            match listeners.offer(&incoming, datagram) {
                Offered::Kept => {}
                Offered::NobodyListens => endpoint.refuse(&incoming, Reason::NobodyListens),
                // Who has shown that he is there asks again.
                Offered::NoRoom => drop(endpoint.ask_for_proof(*now, &incoming)),
            }
        }
    }

    /// Of a wire to one peer only.
    fn refused(&mut self) {
        for at in 0..self.roles.len() {
            self.endpoint.unreachable(Slot(at as u32));
        }
    }

    /// Tells the VIs that something happened to.
    pub(super) fn tell(&mut self, sleepers: &Sleepers, own: Option<Slot>) {
        while let Some(slot) = self.endpoint.next_eventful(self.now) {
            match self.roles.get(slot.0 as usize) {
                Some(Role::Vi(member)) => {
                    if own == Some(slot) {
                        member.watch.is_looked_at();
                    } else {
                        sleepers.ring(&member.watch);
                    }
                    if member.holds_any() {
                        self.advance(slot);
                    }
                }
                Some(&Role::Remote(vi)) => self.hear_remote(slot, vi, sleepers),
                Some(&Role::Servant(tag)) => self.serve(slot, tag),
                Some(Role::Gone) | None => while self.endpoint.event_of(slot, self.now, true).is_some() {},
            }
        }
    }

    /// Carries out what the peer of a VI of this tag wants of our memory.
    fn serve(&mut self, slot: Slot, tag: ProtectionTag) {
        while let Some(event) = self.endpoint.event_of(slot, self.now, true) {
            let Some(connection) = self.endpoint.connection(slot) else { return };
            match event {
                Event::Received(place, Ok(arrived)) => {
                    let Some(mut message) = place.own(arrived) else { continue };
                    remote::serve(&mut message, &self.windows, tag);
                    if connection.post_send(Outgoing::Own(message), None).is_err() {
                        // More requests than it takes answers.
                        connection.reset(Reason::Violation);
                    }
                }
                // As many requests may come as answers have arrived.
                Event::Sent(message, Ok(())) => {
                    let again = message.own().map(Place::again);
                    again.into_iter().for_each(|place| drop(connection.post_receive(place)));
                }
                Event::Connected | Event::Sent(..) | Event::Received(..) | Event::Broken(_) => {}
            }
        }
        self.send();
    }

    /// Nothing has arrived: does what is due, if it is time to look.
    #[inline]
    pub(super) fn pause(&mut self, sleepers: &Sleepers) {
        self.since_due += 1;
        if self.since_due >= LOOKS {
            self.do_what_is_due(sleepers);
        } else if self.put_off {
            self.flush(sleepers, None);
        }
    }

    pub(super) fn do_what_is_due(&mut self, sleepers: &Sleepers) {
        let now = self.look_at_clock();
        self.since_due = 0;
        if self.timer_at.is_some_and(|at| at <= now) {
            self.timer_at = None;
            let _ = rustix::io::read(&self.timer, &mut [0; 8]);
        }
        if self.endpoint.timeout().is_some_and(|at| at <= now) {
            self.endpoint.handle_timeout(now);
            self.tell(sleepers, None);
        }
        self.flush(sleepers, None);
        if sleepers.any() {
            self.set_timer();
        }
    }

    /// When something is due.
    pub(super) fn due(&self) -> Option<Duration> {
        let retry = (!self.outgoing.is_empty()).then(|| self.now + RETRY);
        [self.endpoint.timeout(), retry].into_iter().flatten().min()
    }

    /// Those who sleep are woken when something is due; perhaps earlier.
    pub(super) fn set_timer(&mut self) {
        let Some(due) = self.due().filter(|due| self.timer_at.is_none_or(|at| *due < at)) else { return };
        // Zero would be never.
        let after = due.saturating_sub(self.now).max(Duration::from_nanos(1));
        let Ok(it_value) = Timespec::try_from(after) else { return };
        let value = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value };
        if rustix::time::timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &value).is_ok() {
            self.timer_at = Some(due);
        }
    }

    /// Sends what is to be sent now, and tells the VIs what turned out meanwhile. `own` is the VI that does it.
    #[inline]
    pub(super) fn flush(&mut self, sleepers: &Sleepers, own: Option<Slot>) {
        self.send();
        if self.endpoint.may_have_events() {
            self.tell(sleepers, own);
        }
    }

    /// Sends what is to be sent now.
    pub(super) fn send(&mut self) {
        (self.unanswered, self.put_off) = (0, false);
        if self.outgoing.is_empty() && !self.endpoint.may_transmit() {
            return;
        }
        let now = self.look_at_clock();
        while self.send_batch() && self.outgoing.fill(now, &mut self.endpoint, self.wire.most_together()) {}
    }

    /// Whether nothing is left that the wire has no room for.
    fn send_batch(&mut self) -> bool {
        let Some((run, octets)) = self.outgoing.run() else { return true };
        let has_room = self.wire.send(&run, octets);
        if has_room {
            self.outgoing.left();
        }
        has_room
    }
}

/// Somebody wants to reach the memory of a VI's peer: only the peer of the VI itself may, who knows the id of their
/// connection.
fn accept_remote<A: Copy + Eq + Hash>(
    endpoint: &mut Endpoint<A, Outgoing, Place>,
    roles: &mut Vec<Role<A>>,
    incoming: &Incoming<A>,
    now: Duration,
    datagram: &[u8],
) {
    let id = incoming.name().try_into().map(u64::from_le_bytes);
    let vi = id.ok().and_then(|id| endpoint.find(id, incoming.from));
    let Some(Role::Vi(member)) = vi.and_then(|vi| roles.get_mut(vi.0 as usize)) else {
        return endpoint.refuse(incoming, Reason::Unknown);
    };
    let tag = member.tag;
    let lives =
        |connection: &Connection<_, _>| connection.broken().is_none() && now < connection.last_heard() + LONE;
    if member.servant.and_then(|before| endpoint.peek(before)).is_some_and(lives) {
        // It is asked for again, if that one is dead for the peer.
        return;
    }
    let Ok(slot) = endpoint.accept(&super::link::provider_config(), incoming, now) else { return };
    let before = member.servant.replace(slot);
    if let Some(before) = before {
        if let Some(connection) = endpoint.connection(before) {
            connection.close();
        }
        endpoint.let_go(before, now);
        roles[before.0 as usize] = Role::Gone;
    }
    endpoint.hold(slot);
    let at = slot.0 as usize;
    if roles.len() <= at {
        roles.resize_with(at + 1, Role::default);
    }
    roles[at] = Role::Servant(tag);
    if let Some(connection) = endpoint.connection(slot) {
        (0..remote::PARTS).for_each(|_| drop(connection.post_receive(Place::for_provider())));
    }
    endpoint.handle(now, incoming.from, Ecn::NotCapable, datagram);
}

#[cfg(all(test, not(loom), not(miri)))]
mod tests;
