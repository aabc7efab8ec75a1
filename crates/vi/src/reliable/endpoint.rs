//! Many connections behind one address.

mod cookies;
mod entry;

use std::{collections::VecDeque, hash::Hash, time::Duration};

use throughline_demux::{Carried, NonceSource, Slot};

use self::{
    cookies::Cookies,
    entry::{Entry, Place},
};
use super::{
    Config, Connection, Ecn, Event, Level, MAX_SHORT, Reason, Sink, Source, Transmit,
    frame::{Datagram, Frame, Lone, MAX_NAME, RESET, Reset, Retry, Route},
    lookup::SourceTable,
};
use crate::deadlines::Deadlines;

/// Resets waiting to be sent. Those in excess are not sent: whoever caused them asks again.
const MAX_RESETS: usize = 64;

/// Datagrams that one connection sends in a row while others have something to send.
const MOST_IN_ROW: u32 = 16;

/// An answer that is kept of nobody.
enum Short {
    Reset(Reset),
    Retry(Retry),
}

/// The limits of an endpoint.
#[derive(Clone, Debug)]
pub struct EndpointConfig {
    /// Connections at a time, those included that ended less than [`linger`](Self::linger) ago.
    pub max_connections: usize,
    /// Connections at a time whose openers have not shown that they are where they say, those included that ended so less than
    /// [`linger`](Self::linger) ago. When there are so many, others must show it first, by a cookie that they are sent; nothing is
    /// kept of them until then.
    pub max_half_open: usize,
    /// How long the id of a connection that ended is remembered: the longest that a packet can live in the network. An
    /// opening that comes late then opens nothing.
    pub linger: Duration,
}

impl Default for EndpointConfig {
    /// 16,384 connections, 256 half open, 30 s.
    fn default() -> Self {
        Self { max_connections: 16_384, max_half_open: 256, linger: Duration::from_secs(30) }
    }
}

/// Why there is no connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the limit of connections is reached")]
pub struct TooMany;

/// Somebody wants a connection. Nothing is kept of it, and its opener asks again and again until it is accepted or
/// refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incoming<A> {
    /// Where it comes from.
    pub from: A,
    /// The level that the opener wants.
    pub level: Level,
    route: Route,
    name: [u8; MAX_NAME],
    length: u8,
    /// Whether its opener has shown that it is there.
    proved: bool,
}

impl<A: Eq> Incoming<A> {
    /// Whether it is the same connection that is wanted.
    pub fn is_same_connection(&self, other: &Self) -> bool {
        self.from == other.from && self.route == other.route
    }
}

impl<A> Incoming<A> {
    /// Whether the opener has shown that it is where it says.
    pub fn is_proved(&self) -> bool {
        self.proved
    }

    /// Whom the opener wants to reach.
    pub fn name(&self) -> &[u8] {
        &self.name[..self.length.into()]
    }
}

/// What came of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handled<A> {
    /// It was for this connection.
    Connection(Slot),
    /// It opens a connection. Once that was [accepted](Endpoint::accept), hand the same datagram in again: there may be
    /// messages in it.
    Incoming(Incoming<A>),
    /// It was for nobody, or damaged.
    Nobody,
}

/// Connections behind one address, found by the ids in frames. `A` is the type of addresses.
///
/// A connection belongs to the address that it was opened with; what comes from others is not believed.
pub struct Endpoint<A, S, R> {
    config: EndpointConfig,
    places: Vec<Place<A, S, R>>,
    vacant: Vec<Slot>,
    /// Connections accepted from addresses not yet verified, those included that ended so and are remembered.
    half_open: usize,
    table: SourceTable<(u64, u8)>,
    random: Box<dyn NonceSource>,
    cookies: Cookies,
    resets: VecDeque<(A, Short)>,
    /// Connections that may have something to send.
    sending: VecDeque<Slot>,
    /// Datagrams of the first of them since it has its turn.
    in_row: u32,
    /// Connections that may have events.
    eventful: VecDeque<Slot>,
    /// Timeouts by slots: the connection's own may be later meanwhile.
    timers: Deadlines,
    /// Connections that ended, until when their ids are remembered, and whether they were half open: whoever opens and ends them
    /// in the names of others would otherwise have all places.
    ended: VecDeque<(Duration, Slot, bool)>,
}

impl<A: Copy + Eq + Hash, S: Source, R: Sink> Endpoint<A, S, R> {
    /// No connections. `random` must be unguessable.
    pub fn new(config: EndpointConfig, mut random: impl NonceSource + 'static) -> Self {
        Self {
            table: SourceTable::new(config.max_connections, random.next_nonce()),
            config,
            places: Vec::new(),
            half_open: 0,
            vacant: Vec::new(),
            random: Box::new(random),
            cookies: Cookies::default(),
            resets: VecDeque::with_capacity(MAX_RESETS),
            sending: VecDeque::new(),
            in_row: 0,
            eventful: VecDeque::new(),
            timers: Deadlines::default(),
            ended: VecDeque::new(),
        }
    }

    /// Opens a connection to an address; see [`Connection::open`].
    ///
    /// # Errors
    /// [`TooMany`].
    pub fn open(
        &mut self,
        config: &Config,
        to: A,
        level: Level,
        name: &[u8],
        now: Duration,
    ) -> Result<Slot, TooMany> {
        let random = [self.random.next_nonce(), self.random.next_nonce()];
        self.insert(to, Connection::open(config, level, name, random, now), now)
    }

    /// Accepts a connection. Buffers should be posted before its datagram is handed in again.
    ///
    /// # Errors
    /// [`TooMany`], or the connection exists already.
    pub fn accept(
        &mut self,
        config: &Config,
        incoming: &Incoming<A>,
        now: Duration,
    ) -> Result<Slot, TooMany> {
        if !incoming.proved && !self.has_room_for_opening() {
            return Err(TooMany);
        }
        let opening = super::frame::Opening { level: incoming.level, name: incoming.name() };
        let random = self.random.next_nonce();
        let mut connection = Connection::accept(config, incoming.route, &opening, random, now);
        if incoming.proved {
            connection.is_proved();
        }
        let slot = self.insert(incoming.from, connection, now)?;
        self.half_open += usize::from(!incoming.proved);
        Ok(slot)
    }

    /// Whether one more connection could be accepted that is half open.
    pub fn has_room_for_opening(&self) -> bool {
        self.half_open < self.config.max_half_open
    }

    /// Refuses a connection.
    pub fn refuse(&mut self, incoming: &Incoming<A>, reason: Reason) {
        self.reset(incoming.from, incoming.route, reason);
    }

    fn insert(&mut self, address: A, connection: Connection<S, R>, now: Duration) -> Result<Slot, TooMany> {
        self.forget_ended(now);
        let slot = self.vacant.last().copied().unwrap_or(Slot(self.places.len() as u32));
        let key = key(connection.route());
        if !self.table.insert(&key, slot) {
            return Err(TooMany);
        }
        let place = Place { key, entry: Some(Entry::new(address, connection)) };
        match self.vacant.pop() {
            Some(slot) => self.places[slot.0 as usize] = place,
            None => self.places.push(place),
        }
        self.timers.make_room(slot.0);
        self.touch(slot);
        Ok(slot)
    }

    fn forget_ended(&mut self, now: Duration) {
        while let Some((_, slot, half_open)) = self.ended.front().copied().filter(|(until, ..)| *until <= now)
        {
            self.ended.pop_front();
            self.half_open -= usize::from(half_open);
            self.table.remove(&self.places[slot.0 as usize].key);
            self.vacant.push(slot);
        }
    }

    /// The connection of this id with this peer.
    pub fn find(&mut self, id: u64, peer: A) -> Option<Slot> {
        [true, false].into_iter().find_map(|from_opener| {
            let slot = self.table.find(&key(Route { connection: id, from_opener }))?;
            let is_it = |entry: &Entry<_, _, _>| entry.address == peer && !entry.connection.is_finished();
            self.entry(slot).is_some_and(|entry| is_it(entry)).then_some(slot)
        })
    }

    /// A connection, until the event that says it is [broken](Event::Broken) was taken.
    pub fn connection(&mut self, slot: Slot) -> Option<&mut Connection<S, R>> {
        self.touch(slot);
        self.entry(slot).map(|entry| &mut entry.connection)
    }

    /// Has a connection keep its slot, though it be over, until it is [let go](Self::let_go): who has the slot would find that of
    /// somebody else there.
    pub(crate) fn hold(&mut self, slot: Slot) {
        if let Some(entry) = self.entry(slot) {
            entry.is_held = true;
        }
    }

    /// Nobody has the slot any more.
    pub(crate) fn let_go(&mut self, slot: Slot, now: Duration) {
        if let Some(entry) = self.entry(slot) {
            entry.is_held = false;
            self.end(slot, now);
        }
    }

    /// As [`connection`](Self::connection), to post something and nothing else.
    pub fn posting(&mut self, slot: Slot) -> Option<&mut Connection<S, R>> {
        let Self { places, sending, .. } = self;
        let entry = places.get_mut(slot.0 as usize)?.entry.as_mut()?;
        if !std::mem::replace(&mut entry.is_sending, true) {
            sending.push_back(slot);
        }
        Some(&mut entry.connection)
    }

    /// A connection to be looked at only.
    pub fn peek(&self, slot: Slot) -> Option<&Connection<S, R>> {
        self.places.get(slot.0 as usize)?.entry.as_ref().map(|entry| &entry.connection)
    }

    fn entry(&mut self, slot: Slot) -> Option<&mut Entry<A, S, R>> {
        self.places.get_mut(slot.0 as usize)?.entry.as_mut()
    }

    /// Something may have changed: it is looked at when datagrams and events are asked for.
    pub(crate) fn touch(&mut self, slot: Slot) {
        let Some(entry) = self.places.get_mut(slot.0 as usize).and_then(|place| place.entry.as_mut()) else {
            return;
        };
        if !std::mem::replace(&mut entry.is_sending, true) {
            self.sending.push_back(slot);
        }
        if !std::mem::replace(&mut entry.is_eventful, true) {
            self.eventful.push_back(slot);
        }
    }

    /// Takes a datagram in.
    pub fn handle(&mut self, now: Duration, from: A, ecn: Ecn, octets: &[u8]) -> Handled<A> {
        if let Some(slot) = self.handle_short(now, from, ecn, octets) {
            self.touch(slot);
            return Handled::Connection(slot);
        }
        let Ok(datagram) = Datagram::parse(octets) else { return Handled::Nobody };
        let route = datagram.route();
        let ours = key(Route { from_opener: !route.from_opener, ..route });
        match self.table.find(&ours) {
            Some(slot) => self.handle_known(now, from, ecn, &datagram, octets.len(), slot),
            None => self.handle_unknown(now, from, &datagram),
        }
    }

    /// Takes a datagram in if it brings one short message to a connection and nothing is to be thought of: to which. It is
    /// not among those that have events, which is left to the caller; any other datagram is to be [handled](Self::handle).
    #[inline]
    pub(crate) fn handle_short(&mut self, now: Duration, from: A, ecn: Ecn, octets: &[u8]) -> Option<Slot> {
        let frame = Lone::parse(octets)?;
        let route = frame.header.route;
        let slot = self.table.find(&key(Route { from_opener: !route.from_opener, ..route }))?;
        let Self { places, sending, .. } = self;
        let entry = places.get_mut(slot.0 as usize)?.entry.as_mut()?;
        let handled = entry.address == from
            && !entry.is_half_open
            && entry.connection.handle_lone(now, ecn, &frame, octets.len());
        if handled && !std::mem::replace(&mut entry.is_sending, true) {
            sending.push_back(slot);
        }
        handled.then_some(slot)
    }

    /// Writes the frame that brings a short message by a connection, to leave at once and before anything else; none if
    /// anything is in the way. Afterwards [`short_left`](Self::short_left) is to be called.
    #[inline]
    pub(crate) fn write_short(
        &self,
        slot: Slot,
        now: Duration,
        octets: &[u8],
        buffer: &mut [u8],
    ) -> Option<(A, Transmit)> {
        let entry = self.places.get(slot.0 as usize)?.entry.as_ref().filter(|_| self.resets.is_empty())?;
        Some((entry.address, entry.connection.write_lone(now, octets, buffer)?))
    }

    /// The frame that was [written](Self::write_short) at this time, so long, has left or is about to: posts its message.
    /// [`transmit`](Self::transmit) is to be called soon afterwards.
    #[inline]
    pub(crate) fn short_left(&mut self, slot: Slot, now: Duration, message: S, length: usize) {
        let Self { places, sending, .. } = self;
        let Some(entry) = places.get_mut(slot.0 as usize).and_then(|place| place.entry.as_mut()) else {
            return;
        };
        entry.connection.lone_left(now, message, length);
        if !std::mem::replace(&mut entry.is_sending, true) {
            sending.push_back(slot);
        }
    }

    /// Takes the oldest message of a connection if it is a short one that needed no buffer: its length. The peer is told of the
    /// room it leaves, if he may have to wait for that.
    #[inline]
    pub(crate) fn take_short(&mut self, slot: Slot, into: &mut [u8; MAX_SHORT]) -> Option<usize> {
        let Self { places, sending, .. } = self;
        let entry = places.get_mut(slot.0 as usize)?.entry.as_mut()?;
        let length = entry.connection.take_short(into)?;
        if !entry.is_sending && entry.connection.has_news_of_room() {
            entry.is_sending = true;
            sending.push_back(slot);
        }
        Some(length)
    }

    fn handle_known(
        &mut self,
        now: Duration,
        from: A,
        ecn: Ecn,
        datagram: &Datagram<'_>,
        octets: usize,
        slot: Slot,
    ) -> Handled<A> {
        let is_frame = matches!(datagram, Datagram::Frame(_));
        // What is over and held is known to nobody but its holder.
        match self.entry(slot).filter(|entry| !entry.is_held || !entry.connection.is_finished()) {
            Some(entry) if entry.address == from => {
                entry.connection.handle(now, ecn, datagram, octets);
                if entry.is_half_open && entry.connection.is_verified() {
                    entry.is_half_open = false;
                    self.half_open -= 1;
                }
            }
            Some(_) => return Handled::Nobody,
            None if is_frame => {
                self.reset(from, datagram.route(), Reason::Unknown);
                return Handled::Nobody;
            }
            None => return Handled::Nobody,
        }
        self.touch(slot);
        Handled::Connection(slot)
    }

    /// The address of the connection's peer is nobody's, as the system says.
    pub fn unreachable(&mut self, slot: Slot) {
        if let Some(entry) = self.entry(slot) {
            entry.connection.unreachable();
            self.touch(slot);
        }
    }

    fn handle_unknown(&mut self, now: Duration, from: A, datagram: &Datagram<'_>) -> Handled<A> {
        let Datagram::Frame(frame) = datagram else { return Handled::Nobody };
        let Some(mut incoming) = incoming(from, frame) else {
            self.reset(from, frame.header.route, Reason::Unknown);
            return Handled::Nobody;
        };
        incoming.proved = frame.cookie.is_some_and(|cookie| {
            self.cookies.recent(now, &from, incoming.route.connection).contains(&cookie)
        });
        self.forget_ended(now);
        if !incoming.proved && !self.has_room_for_opening() {
            self.ask_for_proof(now, &incoming);
            return Handled::Nobody;
        }
        Handled::Incoming(incoming)
    }

    /// Has the opener show that it is where it says, unless it has. Nothing is kept of it. Whether it is asked.
    pub fn ask_for_proof(&mut self, now: Duration, incoming: &Incoming<A>) -> bool {
        if incoming.proved {
            return false;
        }
        let [cookie, _] = self.cookies.recent(now, &incoming.from, incoming.route.connection);
        let route = Route { from_opener: false, ..incoming.route };
        self.answer(incoming.from, Short::Retry(Retry { route, cookie }));
        true
    }

    /// Answers a frame of this route with a reset, which is shorter than any frame.
    fn reset(&mut self, to: A, theirs: Route, reason: Reason) {
        let route = Route { from_opener: !theirs.from_opener, ..theirs };
        self.answer(to, Short::Reset(Reset { route, reason, messages: 0 }));
    }

    fn answer(&mut self, to: A, short: Short) {
        if self.resets.len() < MAX_RESETS {
            self.resets.push_back((to, short));
        }
    }

    /// Whether [`transmit`](Self::transmit) may have something to say.
    pub fn may_transmit(&self) -> bool {
        !self.sending.is_empty() || !self.resets.is_empty()
    }

    /// Writes the next datagram into `buffer`, and says where to send it. To be called until there is none.
    pub fn transmit(&mut self, now: Duration, buffer: &mut [u8]) -> Option<(A, Transmit)> {
        if buffer.len() >= RESET
            && let Some((to, reset)) = self.resets.pop_front()
        {
            let length = match reset {
                Short::Reset(reset) => reset.write(buffer),
                Short::Retry(retry) => retry.write(buffer),
            };
            return Some((to, Transmit { length, ect: false }));
        }
        while let Some(slot) = self.sending.front().copied() {
            let entry = self.entry(slot).expect("entries leave the queue before they end");
            let connection = &mut entry.connection;
            if connection.may_transmit()
                && let Some(transmit) = connection.transmit(now, buffer)
            {
                let to = entry.address;
                self.in_row += 1;
                if self.in_row >= MOST_IN_ROW {
                    self.next_sends();
                }
                return Some((to, transmit));
            }
            if connection.settle() && connection.may_transmit() {
                continue;
            }
            entry.is_sending = false;
            self.sending.pop_front();
            self.in_row = 0;
            self.after_transmit(slot, now);
        }
        None
    }

    /// The next connection has its turn, if there are others: who has much to say does not keep those waiting who have little.
    #[cold]
    fn next_sends(&mut self) {
        self.in_row = 0;
        self.sending.rotate_left(1);
    }

    /// Acknowledgements may have been taken in.
    fn after_transmit(&mut self, slot: Slot, now: Duration) {
        let Self { places, eventful, .. } = self;
        if let Some(entry) = &mut places[slot.0 as usize].entry
            && entry.has_news()
            && !std::mem::replace(&mut entry.is_eventful, true)
        {
            eventful.push_back(slot);
        }
        self.set_timer(slot);
        self.end(slot, now);
    }

    /// Whether [`next_eventful`](Self::next_eventful) may find one.
    pub fn may_have_events(&self) -> bool {
        !self.eventful.is_empty()
    }

    /// The next event of any connection. To be called until there is none.
    pub fn event(&mut self, now: Duration) -> Option<(Slot, Event<S, R>)> {
        while let Some(slot) = self.eventful.front().copied() {
            let Self { places, sending, eventful, .. } = self;
            let entry = places[slot.0 as usize].entry.as_mut();
            let entry = entry.expect("entries leave the queue before they end");
            let event = entry.connection.event();
            entry.announce_room(slot, sending);
            if let Some(event) = event {
                return Some((slot, event));
            }
            entry.is_eventful = false;
            eventful.pop_front();
            self.end(slot, now);
        }
        None
    }

    /// The connection is among the [eventful](Self::next_eventful) once everything posted there is complete, even if nobody wants
    /// any of it back.
    pub(crate) fn await_sent(&mut self, slot: Slot) {
        if let Some(entry) = self.entry(slot) {
            entry.awaits_sent = true;
        }
    }

    /// The next connection that has events, to be taken by [`event_of`](Self::event_of).
    pub fn next_eventful(&mut self, now: Duration) -> Option<Slot> {
        while let Some(slot) = self.eventful.pop_front() {
            let entry = self.entry(slot).expect("entries leave the queue before they end");
            entry.is_eventful = false;
            if entry.has_news() {
                entry.awaits_sent = false;
                return Some(slot);
            }
            self.end(slot, now);
        }
        None
    }

    /// The next event of this connection that is at hand; those of acknowledgements that came with messages come after
    /// [`transmit`](Self::transmit). Unless `takes`, messages received stay where they are, as long as the connection lasts.
    pub fn event_of(&mut self, slot: Slot, now: Duration, takes: bool) -> Option<Event<S, R>> {
        let Self { places, sending, .. } = self;
        let entry = places.get_mut(slot.0 as usize)?.entry.as_mut()?;
        let event = entry.connection.event_at_hand(takes);
        entry.announce_room(slot, sending);
        if event.is_none() && entry.connection.broken().is_some() {
            self.end(slot, now);
        }
        event
    }

    /// Removes a connection of which nothing more will come. Its id is remembered for a while.
    fn end(&mut self, slot: Slot, now: Duration) {
        let place = &mut self.places[slot.0 as usize];
        if let Some(entry) = place.entry.take_if(|entry| entry.is_over()) {
            self.ended.push_back((now + self.config.linger, slot, entry.is_half_open));
            self.timers.remove(slot.0);
        }
    }

    fn set_timer(&mut self, slot: Slot) {
        let Some(entry) = &self.places[slot.0 as usize].entry else { return };
        if let Some(at) = entry.connection.timeout() {
            self.timers.bring_forward(slot.0, at);
        }
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) at the latest.
    pub fn timeout(&self) -> Option<Duration> {
        self.timers.next()
    }

    /// Time has passed. Ask for events and datagrams afterwards.
    pub fn handle_timeout(&mut self, now: Duration) {
        self.forget_ended(now);
        while let Some(slot) = self.timers.pop_due(now) {
            let Some(entry) = self.entry(Slot(slot)) else { continue };
            entry.connection.handle_timeout(now);
            self.touch(Slot(slot));
        }
    }

    /// How many connections there are.
    pub fn len(&self) -> usize {
        self.places.len() - self.vacant.len() - self.ended.len()
    }

    /// Whether there is no connection.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

fn incoming<A: Copy>(from: A, frame: &Frame<'_>) -> Option<Incoming<A>> {
    let opening = frame.opening?;
    let mut name = [0; MAX_NAME];
    name[..opening.name.len()].copy_from_slice(opening.name);
    let length = opening.name.len() as u8;
    let (level, route) = (opening.level, frame.header.route);
    Some(Incoming { from, level, route, name, length, proved: false })
}

/// The key of the connection whose frames have this route. Both ends may be here, with the same id.
fn key(route: Route) -> Carried<(u64, u8)> {
    Carried { index: route.connection as u32, key: (route.connection, route.from_opener.into()) }
}
