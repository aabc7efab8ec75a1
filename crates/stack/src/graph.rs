//! The graph of protocols, and what its users do with it.

use smoltcp::{time::Instant, wire::EthernetAddress};
use throughline_demux::Slot;

use crate::{
    Answer, ComposeError, Control, Discard, Enabled, GraphCounts, Host, Layer, Limits, ListenerId, Lower,
    Message, OpenError, Participants, PathId, Protocol, ProtocolId, Rate, SendError, StreamError, TooLong,
    Trouble, Upper, Urgency,
    compose::{bottoms, protocols},
    context::Context,
    description::Description,
    manipulate::Stage,
    path::{Listener, MAX_LAYERS, Path},
    patience::Patience,
    run_queue::RunQueue,
    shepherd::{self, Parked, Pending},
};

/// How a message that arrives is taken through the layers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Architecture {
    /// Demultiplexing and state change by turns, layer by layer (the paper's LLM).
    #[default]
    Layered,
    /// One lookup, at the lowest layer, yields the path; every layer above confirms that the message is its session's (DAA).
    Direct,
    /// First all demultiplexing, then all changes of state (ILLM).
    Integrated,
}

impl Architecture {
    /// All three.
    pub const ALL: [Self; 3] = [Self::Layered, Self::Direct, Self::Integrated];

    /// The name used in configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Layered => "layered",
            Self::Direct => "direct",
            Self::Integrated => "integrated",
        }
    }
}

/// How a graph runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// How messages are taken through the layers.
    pub architecture: Architecture,
    /// Whether messages wait in a queue once their path is known, and which leaves it first. `None`: they are processed as
    /// they come. Messages whose path is known only at the top (the layered architecture's) never wait.
    pub scheduling: Option<Urgency>,
    /// With [`Urgency::Priority`]: for how long, after an urgent message came or went, another one is expected, so that of those
    /// with a smaller number no more than one is begun. Zero: everything is begun at once.
    pub patience: std::time::Duration,
    /// Which frame leaves first for the device.
    pub sending: Urgency,
    /// Whether the check sum of a user's data is verified in the pass that moves the data to where it belongs
    /// ([`Graph::receive_into`]) instead of a pass of its own. Only where the boundary between headers and data is known
    /// beforehand: not in the layered architecture.
    pub integrates: bool,
    /// Limits.
    pub limits: Limits,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            architecture: Architecture::default(),
            scheduling: None,
            patience: std::time::Duration::ZERO,
            sending: Urgency::default(),
            integrates: true,
            limits: Limits::default(),
        }
    }
}

/// A graph of protocols with a device below and users above. It does no input or output, and does not know the time: frames
/// and the time are handed in ([`arrive`](Self::arrive), [`tick`](Self::tick)), and frames are taken out
/// ([`transmit`](Self::transmit)).
pub struct Graph {
    pub(crate) protocols: Vec<Box<dyn Protocol>>,
    pub(crate) cx: Context,
    pub(crate) queue: Option<RunQueue<Pending>>,
    pub(crate) parked: Parked,
    patience: Patience,
    /// Whether anything was done since the last [`tick`](Self::tick) that may be due sooner than it said.
    stirred: bool,
    names: Vec<String>,
    architecture: Architecture,
    /// The lowest protocol of frames that name paths, and that of all others.
    naming: Option<ProtocolId>,
    plain: Option<ProtocolId>,
    /// A bit for each protocol whose `pop` has nothing to do.
    stateless: u64,
}

/// The bytes of a frame that tell which of two lowest protocols it is for.
const NAMING_TYPE: [u8; 2] = crate::protocols::ethdaa::ETHERTYPE.to_be_bytes();

impl Graph {
    /// The graph of a description such as `udp(lookup=sequent, chains=19) > ipv4 > eth; arp > eth; icmp > ipv4`.
    ///
    /// # Errors
    /// See [`ComposeError`].
    pub fn compose(description: &str, host: Host, config: Config) -> Result<Self, ComposeError> {
        let description = Description::parse(description)?;
        let has_v6 = description.nodes.iter().any(|node| node.name == "ipv6");
        let host = if has_v6 { host.with_link_local() } else { host };
        let protocols = protocols(&description, &host)?;
        let (naming, plain) = bottoms(&protocols, &description)?;
        if config.architecture == Architecture::Direct && naming.is_none() {
            return Err(ComposeError::NotDirect);
        }
        let stateless = protocols
            .iter()
            .enumerate()
            .filter(|(_, protocol)| protocol.stateless())
            .map(|(bit, _)| 1 << bit)
            .sum();
        let mut cx = Context::new(host, protocols.len(), HEADROOM, config.limits, config.sending);
        cx.integrates = config.integrates && config.architecture != Architecture::Layered;
        let names = description.nodes.into_iter().map(|node| node.name).collect();
        let is_patient = config.scheduling == Some(Urgency::Priority);
        let patience = if is_patient { config.patience.as_micros() as u64 } else { 0 };
        let queue = config.scheduling.map(|urgency| RunQueue::new(urgency, config.limits.run_queue));
        let mut graph = Self {
            protocols,
            cx,
            queue,
            patience: Patience::new(patience),
            parked: Parked::default(),
            stirred: false,
            names,
            architecture: config.architecture,
            naming,
            plain,
            stateless,
        };
        graph.start()?;
        Ok(graph)
    }

    fn start(&mut self) -> Result<(), ComposeError> {
        for index in 0..self.protocols.len() {
            let started = self.with(ProtocolId(index as u8), |protocol, lower| protocol.start(lower));
            started.map_err(|source| ComposeError::Start { protocol: self.names[index].clone(), source })?;
        }
        Ok(())
    }

    /// What the host is called.
    pub fn host(&self) -> &Host {
        &self.cx.host
    }

    /// A protocol by name.
    fn protocol(&self, name: &str) -> Result<ProtocolId, OpenError> {
        let index = self.names.iter().position(|other| other == name).ok_or(OpenError::NoProtocol)?;
        Ok(ProtocolId(index as u8))
    }

    /// Opens a path from a user above the protocol `top` to the participants.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open(&mut self, top: &str, participants: Participants) -> Result<PathId, OpenError> {
        let protocol = self.protocol(top)?;
        let path = Path::new(self.cx.received_room(), None);
        let id = self.cx.new_path(path).ok_or(OpenError::TooMany)?;
        let mut participants = participants;
        let opened =
            self.with(protocol, |top, lower| top.open(Upper::User(id.0.slot), &mut participants, lower));
        let session = opened.inspect_err(|_| {
            self.cx.paths.remove(id.0);
        })?;
        self.complete(id.0.slot, Layer { protocol, session });
        self.settle();
        Ok(id)
    }

    /// Sets the sessions of a path that was opened: those below the top one that are known.
    fn complete(&mut self, slot: Slot, top: Layer) {
        let mut layers = [top; MAX_LAYERS];
        let mut count = 1;
        while let Some(below) = {
            let above = layers[count - 1];
            self.protocols[above.protocol.index()].below(above.session)
        } {
            layers[count] = below;
            count += 1;
        }
        self.set_layers(slot, layers[..count].iter().rev().copied());
    }

    /// Sets the sessions of a path, bottom to top, and tells the lowest whose it is.
    pub(crate) fn set_layers(&mut self, slot: Slot, layers: impl Iterator<Item = Layer>) {
        let Some(path) = self.cx.path(slot) else { return };
        path.set_layers(layers);
        let top = path.layers().last();
        path.top = top;
        if let Some(lowest) = path.lowest() {
            self.protocols[lowest.protocol.index()].control(lowest.session, Control::Path(Some(slot)));
        }
    }

    /// Has paths made for everyone who sends to the participants' port, application id, protocol number or type of frame.
    /// Of those paths, the ones that are silent make room for others when there are too many.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn enable(&mut self, top: &str, participants: Participants) -> Result<ListenerId, OpenError> {
        let protocol = self.protocol(top)?;
        let room = self.cx.received_room();
        let listener = Listener { protocol: protocol.0, participants, room, ..Listener::default() };
        let id = self.cx.listeners.insert(0, listener).map(ListenerId).map_err(|_| OpenError::TooMany)?;
        let user = Enabled::Listener(id.0.slot);
        let enabled = self.with(protocol, |top, lower| top.enable(user, &participants, lower));
        enabled.inspect_err(|_| {
            self.cx.listeners.remove(id.0);
        })?;
        Ok(id)
    }

    /// Ends what [`enable`](Self::enable) began. Paths that were made stay open; those that [`accepted`](Self::accepted) has not
    /// given are given now.
    pub fn disable(&mut self, id: ListenerId) -> Vec<PathId> {
        let Some(listener) = self.cx.listeners.exclusive().into_record(id.0) else { return Vec::new() };
        let (protocol, participants) = (ProtocolId(listener.protocol), listener.participants);
        let accepted = std::mem::take(&mut listener.accepted);
        let user = Enabled::Listener(id.0.slot);
        self.with(protocol, |top, lower| top.disable(user, &participants, lower));
        self.cx.listeners.remove(id.0);
        accepted.into()
    }

    /// The next path made for a listener.
    pub fn accepted(&mut self, id: ListenerId) -> Option<PathId> {
        self.cx.listeners.exclusive().into_record(id.0)?.accepted.pop_front()
    }

    /// Closes a path. Messages that arrived for it are lost.
    pub fn close(&mut self, id: PathId) {
        let Some(path) = self.cx.path_of(id) else { return };
        let (top, lowest, received) = (path.top, path.lowest(), std::mem::take(&mut path.received));
        let held = std::mem::take(&mut path.held).into_iter().map(|entry| entry.item.into_message());
        for message in received.into_iter().chain(held) {
            self.cx.pool.give(message);
        }
        self.cx.paths.remove(id.0);
        if let Some(lowest) = lowest {
            self.protocols[lowest.protocol.index()].control(lowest.session, Control::Path(None));
        }
        if let Some(top) = top {
            self.with(top.protocol, |protocol, lower| protocol.close(top.session, lower));
        }
        self.settle();
    }

    /// How urgent the messages of a path are: a priority or the microseconds left to a deadline. Those sent bear it unless they
    /// have one of their own; of those that come it counts instead of what their frames say. With 0 the frames have their way.
    pub fn set_priority(&mut self, id: PathId, priority: u32) {
        if let Some(path) = self.cx.path_of(id) {
            path.priority = priority;
        }
    }

    /// As [`set_priority`](Self::set_priority), for all paths that will be made for a listener: what strangers claim to be
    /// does not count.
    pub fn set_listener_priority(&mut self, id: ListenerId, priority: u32) {
        if let Some(listener) = self.cx.listeners.exclusive().into_record(id.0) {
            listener.priority = priority;
        }
    }

    /// Limits the messages that come for a path, or no longer does. Its bucket is full at first.
    ///
    /// What counts is messages whose path is known and which the protocols below the highest have agreed to; fragments count
    /// as the one message that they complete, segments of a stream each for itself.
    pub fn set_rate(&mut self, id: PathId, rate: Option<Rate>) {
        self.cx.set_rate(id, rate);
    }

    /// As [`set_rate`](Self::set_rate), for all paths together that are made for a listener. Those with rates of their own
    /// are within both.
    pub fn set_listener_rate(&mut self, id: ListenerId, rate: Option<Rate>) {
        self.cx.set_listener_rate(id, rate);
    }

    /// An empty message with room for all headers in front.
    pub fn message(&mut self) -> Message {
        self.cx.pool.take()
    }

    /// Takes back the memory of a message that its user has done with.
    pub fn release(&mut self, message: Message) {
        self.cx.pool.give(message);
    }

    /// Sends a message to the other end of a path.
    ///
    /// # Errors
    /// See [`SendError`]. The message is lost then.
    pub fn send(&mut self, id: PathId, mut message: Message) -> Result<(), SendError> {
        let Some(path) = self.cx.path_of(id) else { return Err(SendError::NoPath) };
        if message.priority == 0 {
            message.priority = path.priority;
        }
        let top = path.top.ok_or(SendError::NoPath)?;
        self.patience.expect(message.priority.into(), self.cx.micros());
        let sent = self.with(top.protocol, |protocol, lower| protocol.push(top.session, message, lower));
        self.settle();
        sent
    }

    /// The next path that has messages for its user; [`receive`](Self::receive) them all.
    pub fn ready(&mut self) -> Option<PathId> {
        loop {
            let slot = self.cx.ready.pop_front()?;
            if let Some(path) = self.cx.path(slot) {
                path.listed = false;
                return self.cx.id_of(slot);
            }
        }
    }

    /// The next message of a path. A path that was [ready](Self::ready) may have none after all.
    #[inline]
    pub fn receive(&mut self, id: PathId) -> Option<Message> {
        self.cx.received(id)
    }

    /// Moves the data of the next message of a path to where it belongs, through `stages`, and says how long it is and what
    /// the stages have become. If nobody has verified its check sum yet, that is done in the same pass (integrated layer
    /// processing): of what turns out to be damaged `into` has been overwritten, but the next message's data is there then. What
    /// is still sealed is decrypted in `into`; if it turns out to be forged, zeros are there.
    ///
    /// # Errors
    /// When the message is longer than `into`, with its length; it stays, and it is what was sent.
    #[inline]
    pub fn receive_into<S: Stage>(
        &mut self,
        id: PathId,
        stages: &S,
        into: &mut [u8],
    ) -> Result<Option<(usize, S)>, TooLong> {
        loop {
            let Some(path) = self.cx.path_of(id) else { return Ok(None) };
            let Some(mut message) = path.received.pop_front() else { return Ok(None) };
            let (len, association) = (message.len(), path.association);
            let moved = match into.get_mut(..len) {
                Some(into) => self.cx.copy_to(association, &mut message, stages, into).map(Some),
                None => self.cx.settle(association, &mut message).map(|()| None),
            };
            match moved {
                Ok(Some(stages)) => {
                    self.cx.delivered += 1;
                    self.cx.pool.give(message);
                    return Ok(Some((len, stages)));
                }
                Ok(None) => {
                    if let Some(path) = self.cx.path_of(id) {
                        path.received.push_front(message);
                    }
                    return Err(TooLong(len));
                }
                Err(why) => self.cx.bad(id, why, message),
            }
        }
    }

    /// What went wrong on a path since this was asked last; it was [ready](Self::ready) for that too. A connection goes on
    /// regardless (RFC 1122, 4.2.3.9).
    pub fn trouble(&mut self, id: PathId) -> Option<Trouble> {
        self.cx.path_of(id)?.trouble.take()
    }

    /// The next path that has something for its user and whose news nobody [handles](Self::handled), and its first message.
    pub(crate) fn claim(&mut self) -> Option<(PathId, Option<Message>)> {
        loop {
            let slot = self.cx.ready.pop_front()?;
            let Some(path) = self.cx.path(slot) else { continue };
            path.listed = false;
            if path.handled {
                path.again = true;
                continue;
            }
            path.handled = true;
            let id = self.cx.id_of(slot)?;
            return Some((id, self.cx.received(id)));
        }
    }

    /// What was claimed of a path was handled: the next may be.
    pub(crate) fn handled(&mut self, id: PathId) {
        let Some(path) = self.cx.path_of(id) else { return };
        path.handled = false;
        let more = std::mem::take(&mut path.again) || !path.received.is_empty();
        if let Some(queue) = &mut self.queue {
            path.held.drain(..).for_each(|entry| queue.put_back(entry));
        }
        if more {
            self.cx.list(id.0.slot);
        }
    }

    /// Whether any path may have something for its user, now or after [`run`](Self::run).
    pub(crate) fn is_ready(&self) -> bool {
        !self.cx.ready.is_empty() || self.queue.as_ref().is_some_and(|queue| !queue.is_empty())
    }

    /// Whether timers may have been set since the last [`tick`](Self::tick).
    pub(crate) fn is_stirred(&self) -> bool {
        self.stirred
    }

    /// Whether there are messages to process, frames to send, or timers to look at that were set since the last
    /// [`tick`](Self::tick).
    pub(crate) fn is_busy(&self) -> bool {
        self.stirred || !self.cx.out.is_empty() || self.queue.as_ref().is_some_and(|queue| !queue.is_empty())
    }

    /// Sends what there is room for of a stream's data, and says how much that was. After less than all, the path becomes
    /// [ready](Self::ready) when there is room.
    ///
    /// # Errors
    /// See [`StreamError`].
    pub fn write(&mut self, id: PathId, data: &[u8]) -> Result<usize, StreamError> {
        let top = self.top(id)?;
        let written = self.with(top.protocol, |protocol, lower| protocol.write(top.session, data, lower));
        self.settle();
        written
    }

    /// Takes what has arrived of a stream's data, and says how much that was; 0 when there is nothing now.
    ///
    /// # Errors
    /// See [`StreamError`].
    pub fn read(&mut self, id: PathId, into: &mut [u8]) -> Result<usize, StreamError> {
        let top = self.top(id)?;
        let read = self.with(top.protocol, |protocol, lower| protocol.read(top.session, into, lower));
        self.settle();
        read
    }

    /// Whether there is the connection that a path was opened for; what is heard of a path before need not be that.
    pub(crate) fn is_connected(&mut self, id: PathId) -> bool {
        self.cx.path_of(id).is_some_and(|path| path.announced)
    }

    /// Tells the other end of a stream that nothing more will be sent.
    ///
    /// # Errors
    /// When there is no such path.
    pub fn shutdown(&mut self, id: PathId) -> Result<(), StreamError> {
        let top = self.top(id)?;
        self.with(top.protocol, |protocol, lower| protocol.shutdown(top.session, lower));
        self.settle();
        Ok(())
    }

    fn top(&mut self, id: PathId) -> Result<Layer, StreamError> {
        self.cx.path_of(id).and_then(|path| path.top).ok_or(StreamError::NoPath)
    }

    /// The addresses of both ends of a path, where it has such: ours, and the other's.
    pub fn addresses(&mut self, id: PathId) -> Option<(smoltcp::wire::IpAddress, smoltcp::wire::IpAddress)> {
        let top = self.cx.path_of(id)?.top?;
        match self.protocols[top.protocol.index()].control(top.session, Control::Addresses) {
            Answer::Addresses { local, remote, .. } => Some((local, remote)),
            _ => None,
        }
    }

    /// Takes a frame that a device received. With a [scheduling](Config::scheduling) it may wait for
    /// [`run`](Self::run) then.
    pub fn arrive(&mut self, frame: Message, now: Instant) {
        self.take::<false>(frame, now);
    }

    /// Takes a frame that came between [`gather`](Self::gather) and [`gathered`](Self::gathered).
    #[inline]
    pub(crate) fn arrive_gathered(&mut self, frame: Message, now: Instant) {
        if self.parked.is_any() { self.take::<true>(frame, now) } else { self.take::<false>(frame, now) }
    }

    fn take<const WAITS: bool>(&mut self, frame: Message, now: Instant) {
        self.cx.now = now;
        self.cx.frames += 1;
        let names_path = frame.bytes().get(12..14) == Some(&NAMING_TYPE[..]);
        match (self.naming, self.plain) {
            (Some(naming), _) if names_path => match self.architecture {
                Architecture::Layered => shepherd::layered::<WAITS>(self, naming, frame),
                Architecture::Direct => shepherd::direct::<WAITS>(self, naming, frame),
                Architecture::Integrated => shepherd::integrated::<WAITS>(self, naming, frame),
            },
            (_, Some(plain)) => match self.architecture {
                // Frames that name no path find it as ever.
                Architecture::Layered | Architecture::Direct => {
                    shepherd::layered::<WAITS>(self, plain, frame);
                }
                Architecture::Integrated => shepherd::integrated::<WAITS>(self, plain, frame),
            },
            (naming, None) => {
                self.cx.discard(naming.unwrap_or(ProtocolId(0)), Discard::UnknownProtocol, frame)
            }
        }
        self.settle();
    }

    /// Takes frames that arrived together, in order, and leaves none. Where protocols have very many sessions, what the later
    /// ones need is fetched into the caches while the earlier ones are processed.
    pub fn arrive_all(&mut self, frames: &mut Vec<Message>, now: Instant) {
        self.gather();
        for frame in frames.drain(..) {
            self.arrive_gathered(frame, now);
        }
        self.gathered();
    }

    /// More than one frame arrives, until [`gathered`](Self::gathered) is called.
    pub(crate) fn gather(&mut self) {
        // What waits in the queue would be gone from the caches when its turn has come.
        if self.queue.is_some() && self.architecture != Architecture::Layered {
            return;
        }
        let bits = self.protocols.iter().enumerate();
        let bits = bits.map(|(index, protocol)| u64::from(protocol.foresees()) << index).sum();
        self.parked.begin(bits);
    }

    /// No more frames have arrived.
    pub(crate) fn gathered(&mut self) {
        shepherd::resume(self);
        self.parked.begin(0);
        self.settle();
    }

    /// Processes the most urgent message that waits. Whether there was one.
    pub fn run(&mut self, now: Instant) -> bool {
        self.cx.now = now;
        let Some(queue) = &mut self.queue else { return false };
        let Some(rank) = queue.first() else { return false };
        if !self.patience.allows(rank, self.cx.now.total_micros() as u64) {
            return false;
        }
        let Some(entry) = queue.take() else { return false };
        shepherd::run(self, entry);
        self.settle();
        true
    }

    /// The next frame for the device.
    pub fn transmit(&mut self) -> Option<Message> {
        let frame = self.cx.out.pop()?;
        self.cx.frames_sent += 1;
        Some(frame)
    }

    /// Does what is due, and says when something will be. To be called by then, or whenever convenient.
    pub fn tick(&mut self, now: Instant) -> Option<Instant> {
        self.cx.now = now;
        let ids = (0..self.protocols.len()).map(|index| ProtocolId(index as u8));
        let next = ids.filter_map(|id| self.with(id, |protocol, lower| protocol.tick(now, lower))).min();
        self.settle();
        self.stirred = false;
        next
    }

    /// The hardware address of a neighbour, for those who send frames past the graph (routers); `None` if it is not known, and
    /// then it is asked for, if there is room for one question more and we have an address of that version of IP to ask from.
    pub fn neighbor(&mut self, address: smoltcp::wire::IpAddress, now: Instant) -> Option<EthernetAddress> {
        self.known_or_asked(address, now, false)
    }

    /// As [`neighbor`](Self::neighbor), of an address that a stranger has chosen, such as the destination of a packet. Half of the
    /// questions at a time are for others: who sends to all addresses of a network, most of which nobody has, keeps nobody from
    /// the routers there.
    pub fn neighbor_for_stranger(
        &mut self,
        address: smoltcp::wire::IpAddress,
        now: Instant,
    ) -> Option<EthernetAddress> {
        self.known_or_asked(address, now, true)
    }

    fn known_or_asked(
        &mut self,
        address: smoltcp::wire::IpAddress,
        now: Instant,
        for_stranger: bool,
    ) -> Option<EthernetAddress> {
        self.cx.now = now;
        let known = self.known_neighbor(address, now);
        if known.is_none()
            && self.host().speaks(address.version())
            && self.cx.neighbors.want(address, now, for_stranger) == Ok(true)
        {
            self.cx.asking.push(address);
            self.settle();
        }
        known
    }

    /// The hardware address of a neighbour, if it is known; nobody is asked.
    pub fn known_neighbor(&self, address: smoltcp::wire::IpAddress, now: Instant) -> Option<EthernetAddress> {
        self.cx.neighbors.find(address, now)
    }

    /// Has neighbours told that this is a router (RFC 4861, 4.4): its packets to others pass by the graph.
    pub fn route_for_others(&mut self) {
        self.cx.routes = true;
    }

    /// Has neighbours asked whether they are still there before their addresses are forgotten, so that a stream of packets to one
    /// does not wait for its address time and again: for routers, whose packets pass by the graph.
    pub fn keep_neighbors(&mut self) {
        self.cx.neighbors.keep();
    }

    /// Forgets the hardware addresses of all neighbours: the link has failed, and others may be there when it works again.
    pub fn forget_neighbors(&mut self) {
        self.cx.neighbors.forget();
    }

    /// Whether a neighbour's address is being asked for: if not, and it is not known, the neighbour does not answer.
    pub fn awaits_neighbor(&self, address: smoltcp::wire::IpAddress) -> bool {
        self.cx.neighbors.is_asked(address)
    }

    /// Another whenever an address told by [`neighbor`](Self::neighbor) earlier may be wrong by now.
    pub fn neighbors_generation(&self) -> u32 {
        self.cx.neighbors.generation()
    }

    /// How many messages each protocol discarded, and why: only what is not zero.
    pub fn discarded(&self) -> impl Iterator<Item = (&str, Discard, u64)> {
        self.names.iter().enumerate().flat_map(|(index, name)| {
            let counts = self.cx.counts(ProtocolId(index as u8));
            Discard::ALL
                .into_iter()
                .zip(counts)
                .filter(|(_, count)| **count > 0)
                .map(|(why, count)| (&name[..], why, *count))
        })
    }

    /// What passed and what there is; for those who watch from outside there is [`Metrics`](crate::Metrics).
    pub fn counts(&self) -> GraphCounts {
        let Context { frames, frames_sent, delivered, paths, .. } = &self.cx;
        GraphCounts {
            received: *frames,
            sent: *frames_sent,
            delivered: *delivered,
            paths: paths.len() as u64,
        }
    }

    /// Asks for the neighbours that messages wait for, sends what waited for those that answered, and passes on what is said
    /// of packets.
    fn settle(&mut self) {
        self.stirred = true;
        let cx = &self.cx;
        if cx.refused.is_empty() && cx.reports.is_empty() && cx.asking.is_empty() && cx.released.is_empty() {
            return;
        }
        self.complain();
        self.resolve();
    }

    #[cold]
    fn complain(&mut self) {
        while let Some(refused) = self.cx.refused.pop() {
            let ip = Some(refused.ip);
            match self.protocols.iter().position(|protocol| protocol.explains() == ip) {
                Some(index) => {
                    self.with(ProtocolId(index as u8), |protocol, lower| protocol.explain(refused, lower));
                }
                None => self.cx.pool.give(refused.quote),
            }
        }
        while let Some(report) = self.cx.reports.pop() {
            let Some((session, upper)) = self.protocols[report.ip.index()].between(&report) else { continue };
            let below = Layer { protocol: report.ip, session };
            match upper {
                Upper::Protocol(above) => {
                    self.with(above, |protocol, lower| protocol.trouble(below, &report, lower));
                }
                upper => self.with(report.ip, |_, lower| lower.trouble(upper, report.trouble)),
            }
        }
    }

    #[cold]
    fn resolve(&mut self) {
        while let Some(neighbor) = self.cx.asking.pop() {
            for index in 0..self.protocols.len() {
                self.with(ProtocolId(index as u8), |protocol, lower| protocol.ask(neighbor, lower));
            }
        }
        while let Some((layer, message)) = self.cx.released.pop_front() {
            self.with(layer.protocol, |protocol, lower| protocol.resume(layer.session, message, lower));
        }
    }

    #[inline]
    pub(crate) fn is_stateless(&self, protocol: ProtocolId) -> bool {
        self.stateless >> protocol.0 & 1 == 1
    }

    /// Calls a protocol with those below it.
    #[inline]
    pub(crate) fn with<R>(
        &mut self,
        protocol: ProtocolId,
        call: impl FnOnce(&mut dyn Protocol, &mut Lower<'_>) -> R,
    ) -> R {
        let (below, rest) = self.protocols.split_at_mut(protocol.index());
        call(&mut *rest[0], &mut Lower { protocols: below, cx: &mut self.cx })
    }
}

/// Room for the headers of the highest graph: extended Ethernet, IPv6, TCP with options.
const HEADROOM: usize = 128;
