//! What all protocols of a graph share, and how one calls those below it.

use std::collections::VecDeque;

#[cfg(feature = "ciphers")]
use crate::associations::Associations;
use smoltcp::{
    time::Instant,
    wire::{IpAddress, IpVersion},
};
use throughline_demux::{Arena, Slot};

use crate::{
    Answer, Control, Discard, Enabled, Host, Layer, Message, OpenError, Participants, PathId, Pool, Protocol,
    ProtocolId, Refusal, Refused, Report, SendError, Trouble, Upper,
    neighbors::Neighbors,
    path::{Listener, Path},
    run_queue::{RunQueue, Urgency},
    sessions::LOOKED_AT,
    trouble::Allowance,
};

/// Paths that a listener's user has not taken yet.
const BACKLOG: usize = 4096;

/// Limits of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Paths, opened and accepted; and listeners, but of those no more than 65,536.
    pub paths: u32,
    /// Messages for the user of one path, those included that are still to be processed.
    pub received: usize,
    /// Frames that wait for the device.
    pub sent: usize,
    /// Messages that wait to be processed, of all paths.
    pub run_queue: usize,
    /// Buffers kept while nobody uses them.
    pub spare_buffers: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { paths: 1 << 17, received: 64, sent: 1024, run_queue: 4096, spare_buffers: 4096 }
    }
}

/// What all protocols of a graph share.
pub(crate) struct Context {
    pub now: Instant,
    pub host: Host,
    pub pool: Pool,
    pub neighbors: Neighbors,
    /// Whether the host is a router, which neighbours are told.
    pub routes: bool,
    pub paths: Arena<Path>,
    pub listeners: Arena<Listener>,
    /// Paths that have something for their users.
    pub ready: VecDeque<Slot>,
    /// Frames for the device.
    pub out: RunQueue<Message>,
    /// Neighbours whose hardware addresses are to be asked for.
    pub asking: Vec<IpAddress>,
    /// Messages whose next hop has become known, and the sessions that are to send them.
    pub released: VecDeque<(Layer, Message)>,
    /// Packets whose senders are to be told that they went no further.
    pub refused: Vec<Refused>,
    /// What was said of packets of ours.
    pub reports: Vec<Report>,
    pub allowance: Allowance,
    #[cfg(feature = "ciphers")]
    pub associations: Associations,
    counts: Vec<[u64; Discard::ALL.len()]>,
    /// Frames that arrived, frames handed to the device, messages taken by users.
    pub frames: u64,
    pub frames_sent: u64,
    pub delivered: u64,
    /// Whether users' data is checked while it moves to where it belongs.
    pub integrates: bool,
    limits: Limits,
    hand: u32,
}

impl Context {
    pub fn new(host: Host, protocols: usize, headroom: usize, limits: Limits, urgency: Urgency) -> Self {
        Self {
            now: Instant::ZERO,
            pool: Pool::new(headroom + host.mtu + 64, headroom, limits.spare_buffers),
            host,
            neighbors: Neighbors::default(),
            routes: false,
            paths: Arena::new(limits.paths),
            listeners: Arena::new(limits.paths.min(1 << 16)),
            ready: VecDeque::new(),
            out: RunQueue::new(urgency, limits.sent),
            asking: Vec::new(),
            released: VecDeque::new(),
            refused: Vec::new(),
            reports: Vec::new(),
            allowance: Allowance::default(),
            #[cfg(feature = "ciphers")]
            associations: Associations::default(),
            frames: 0,
            frames_sent: 0,
            delivered: 0,
            counts: vec![[0; Discard::ALL.len()]; protocols],
            integrates: false,
            limits,
            hand: 0,
        }
    }

    /// Room for messages of one path.
    pub fn received_room(&self) -> u32 {
        self.limits.received.min(u32::MAX as usize) as u32
    }

    /// Counts a message that goes no further, and takes its memory.
    #[cold]
    pub fn discard(&mut self, protocol: ProtocolId, why: Discard, message: Message) {
        self.count(protocol, why);
        self.pool.give(message);
    }

    #[cold]
    pub fn count(&mut self, protocol: ProtocolId, why: Discard) {
        self.counts[protocol.index()][why as usize] += 1;
    }

    pub fn counts(&self, protocol: ProtocolId) -> &[u64; Discard::ALL.len()] {
        &self.counts[protocol.index()]
    }

    #[inline]
    pub fn path(&mut self, slot: Slot) -> Option<&mut Path> {
        self.paths.exclusive().into_slot(slot)
    }

    pub fn path_of(&mut self, id: PathId) -> Option<&mut Path> {
        self.paths.exclusive().into_record(id.0)
    }

    /// A path whose sessions are to be set. Where there are as many as may be, none.
    pub fn new_path(&mut self, path: Path) -> Option<PathId> {
        self.paths.insert(0, path).ok().map(PathId)
    }

    /// A path for someone who sent first. His message is to be [admitted](Self::admit) yet; when it is not going to be, there is
    /// no path either.
    pub fn passive_path(&mut self, listener: Slot) -> Result<Slot, Discard> {
        let (handle, now) = (self.listeners.handle_at(listener).ok_or(Discard::NoPort)?, self.micros());
        let listener = self.listeners.exclusive().into_slot(listener).ok_or(Discard::NoPort)?;
        if listener.bucket.as_mut().is_some_and(|bucket| !bucket.has(now)) {
            return Err(Discard::Rate);
        }
        let mut path = Path::new(listener.room, Some(handle));
        path.priority = listener.priority;
        let id = self.new_path(path).ok_or(Discard::Sessions)?;
        self.mark_rated(id);
        Ok(id.0.slot)
    }

    /// An accepted path that nothing came for lately and that nobody has messages of. It has a session of the protocol that
    /// lacks one; any will do where it is places for paths that are lacking.
    pub fn unused_path(&mut self, lacking: ProtocolId) -> Option<PathId> {
        let helps = |path: &Path| !path.is_complete() || path.layers().any(|layer| layer.protocol == lacking);
        let found = self.search_unused(helps);
        let is_full = self.paths.len() >= self.limits.paths.min(self.paths.capacity() as u32) as usize;
        if found.is_some() || !is_full { found } else { self.search_unused(|_| true) }
    }

    fn search_unused(&mut self, helps: impl Fn(&Path) -> bool) -> Option<PathId> {
        // There is nobody beyond the places that have been in use.
        let places = (self.paths.bytes_used() / Arena::<Path>::bytes_per_record()).max(1);
        for _ in 0..LOOKED_AT {
            self.hand = (self.hand + 1) % places as u32;
            let slot = Slot(self.hand);
            let Some(path) = self.path(slot).filter(|path| helps(path)) else { continue };
            let used = std::mem::take(&mut path.touched) || path.pending > 0 || path.listed || path.handled;
            if path.listener.is_some() && !path.pinned && !used {
                return self.paths.handle_at(slot).map(PathId);
            }
        }
        None
    }

    /// What a user holds of the path that is at a slot now.
    #[inline]
    pub fn id_of(&mut self, slot: Slot) -> Option<PathId> {
        self.paths.exclusive().handle_at(slot).map(PathId)
    }

    /// Puts a path into the list of those that have something for their users.
    #[inline]
    pub fn list(&mut self, slot: Slot) {
        let Some(path) = self.paths.exclusive().into_slot(slot) else { return };
        if !path.listed {
            path.listed = true;
            self.ready.push_back(slot);
        }
    }

    /// Tells the listener of a path, if it has one, that there is one.
    #[cold]
    pub fn announce(&mut self, slot: Slot) {
        let id = self.paths.handle_at(slot).map(PathId);
        let Some(path) = self.paths.exclusive().into_slot(slot) else { return };
        if std::mem::replace(&mut path.announced, true) {
            return;
        }
        let is_pinned = path.pinned;
        if let Some(listener) = path.listener.and_then(|id| self.listeners.exclusive().into_record(id)) {
            // Who does not ask for them still learns of them by what they bring. Connections nobody else would close: of these
            // as many more may wait as were half open when the listener [had room](Lower::has_backlog).
            if listener.accepted.len() >= BACKLOG && !is_pinned {
                listener.accepted.pop_front();
            }
            listener.accepted.extend(id);
        }
    }

    /// Hands a message that was [admitted](Self::admit) to the user of a path.
    #[inline]
    pub fn deliver(&mut self, slot: Slot, message: Message) -> Result<(), Message> {
        let Some(path) = self.paths.exclusive().into_slot(slot) else { return Err(message) };
        path.received.push_back(message);
        path.touched = true;
        if !path.listed {
            path.listed = true;
            self.ready.push_back(slot);
        }
        if !path.announced {
            self.announce(slot);
        }
        Ok(())
    }

    /// Checks and opens what waits for a user who has no room for more. Whether there is room now.
    #[cold]
    pub fn weed(&mut self, slot: Slot) -> bool {
        let Some(path) = self.paths.exclusive().into_slot(slot) else { return false };
        let before = path.received.len();
        for message in std::mem::take(&mut path.received) {
            self.keep_good(slot, message);
        }
        self.path(slot).is_some_and(|path| path.received.len() < before && path.has_room())
    }

    fn keep_good(&mut self, slot: Slot, mut message: Message) {
        let Some(path) = self.path(slot) else { return self.pool.give(message) };
        let (association, top) = (path.association, path.top_protocol());
        match (self.settle(association, &mut message), self.path(slot)) {
            (Ok(()), Some(path)) => path.received.push_back(message),
            (Ok(()), None) => self.pool.give(message),
            (Err(why), _) => self.discard(top, why, message),
        }
    }

    /// The next message for a path's user; what turns out not to be what was sent goes no further.
    #[inline]
    pub fn received(&mut self, id: PathId) -> Option<Message> {
        loop {
            let path = self.path_of(id)?;
            let (mut message, association) = (path.received.pop_front()?, path.association);
            let settled =
                if message.is_unsettled() { self.settle(association, &mut message) } else { Ok(()) };
            match settled {
                Ok(()) => {
                    self.delivered += 1;
                    return Some(message);
                }
                Err(why) => self.bad(id, why, message),
            }
        }
    }

    /// Discards a message whose data turned out to be damaged or forged.
    #[cold]
    pub fn bad(&mut self, id: PathId, why: Discard, message: Message) {
        let top = self.path_of(id).map_or(ProtocolId(0), |path| path.top_protocol());
        self.discard(top, why, message);
    }

    /// Puts a whole frame into the queue of the device.
    #[inline]
    pub fn transmit(&mut self, frame: Message) -> Result<(), SendError> {
        let now = self.micros();
        self.out.push(frame.priority, now, frame).map_err(|frame| {
            self.pool.give(frame);
            SendError::QueueFull
        })
    }

    /// Lets a message wait for a neighbour's address, which is asked for; if that is `for_stranger`, not in all places.
    pub fn wait_for_neighbor(
        &mut self,
        address: IpAddress,
        layer: Layer,
        message: Message,
        for_stranger: bool,
    ) -> Result<(), SendError> {
        match self.neighbors.wait(address, self.now, layer, message, for_stranger) {
            Ok(true) => self.asking.push(address),
            Ok(false) => {}
            Err(message) => {
                self.pool.give(message);
                return Err(SendError::QueueFull);
            }
        }
        Ok(())
    }
}

/// Bytes of a packet that errors quote: with their headers they are no longer than every host must take (RFC 1812, 4.3.2.3;
/// RFC 4443, 3.1), or than a frame.
fn quoted(version: IpVersion, mtu: usize) -> usize {
    let (most, headers) = match version {
        IpVersion::Ipv4 => (576, 28),
        IpVersion::Ipv6 => (1280, 48),
    };
    most.min(mtu) - headers
}

/// The protocols below one, and what all share.
pub struct Lower<'a> {
    pub(crate) protocols: &'a mut [Box<dyn Protocol>],
    pub(crate) cx: &'a mut Context,
}

impl Lower<'_> {
    /// The time.
    pub fn now(&self) -> Instant {
        self.cx.now
    }

    /// The host's addresses.
    pub fn host(&self) -> &Host {
        &self.cx.host
    }

    /// An empty message with headroom for all headers.
    pub fn message(&mut self) -> Message {
        self.cx.pool.take()
    }

    /// Takes back the memory of a message.
    pub fn give(&mut self, message: Message) {
        self.cx.pool.give(message);
    }

    /// Whether sessions of a protocol below are of one path alone.
    pub fn identifies(&self, protocol: ProtocolId) -> bool {
        self.protocols[protocol.index()].identifies()
    }

    /// Sends by a session below.
    ///
    /// # Errors
    /// See [`SendError`].
    #[inline]
    pub fn push(&mut self, layer: Layer, message: Message) -> Result<(), SendError> {
        self.with(layer.protocol, |protocol, lower| protocol.push(layer.session, message, lower))
    }

    /// Opens a session below.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open(
        &mut self,
        protocol: ProtocolId,
        upper: Upper,
        participants: &mut Participants,
    ) -> Result<Layer, OpenError> {
        let session = self.with(protocol, |below, lower| below.open(upper, participants, lower))?;
        Ok(Layer { protocol, session })
    }

    /// Has sessions made below for those who send first.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn enable(
        &mut self,
        protocol: ProtocolId,
        user: Enabled,
        participants: &Participants,
    ) -> Result<(), OpenError> {
        self.with(protocol, |below, lower| below.enable(user, participants, lower))
    }

    /// Ends what [`enable`](Self::enable) began.
    pub fn disable(&mut self, protocol: ProtocolId, user: Enabled, participants: &Participants) {
        self.with(protocol, |below, lower| below.disable(user, participants, lower));
    }

    /// The version of IP that a protocol below is.
    pub fn version(&self, protocol: ProtocolId) -> Option<IpVersion> {
        self.protocols[protocol.index()].version()
    }

    /// Gives a session below back.
    pub fn close(&mut self, layer: Layer) {
        self.with(layer.protocol, |below, lower| below.close(layer.session, lower));
    }

    /// One more user of a session below.
    pub fn hold(&mut self, layer: Layer) {
        self.protocols[layer.protocol.index()].hold(layer.session);
    }

    /// Asks or tells a session below.
    pub fn control(&mut self, layer: Layer, control: Control) -> Answer {
        self.protocols[layer.protocol.index()].control(layer.session, control)
    }

    /// A path for a listener whose first message has come; its slot is what the new session's [`Upper::User`] names.
    ///
    /// # Errors
    /// When there are as many paths as may be.
    pub fn passive_path(&mut self, listener: Slot) -> Result<Slot, Discard> {
        self.cx.passive_path(listener)
    }

    /// Has the sender of a packet told why it went no further, unless that may not be or ICMP is not in the graph. The
    /// packet must be whole, to us alone, and nothing but the first piece of a datagram (RFC 1122, 3.2.2; RFC 4443, 2.4 e).
    pub fn refuse(
        &mut self,
        ip: ProtocolId,
        (local, remote): (IpAddress, IpAddress),
        why: Refusal,
        packet: &[u8],
    ) {
        let cx = &mut *self.cx;
        if !cx.neighbors.has_places_for_strangers() || !cx.allowance.take(cx.now) {
            return;
        }
        let most = quoted(remote.version(), cx.host.mtu);
        let mut quote = cx.pool.take();
        match quote.append(&packet[..packet.len().min(most)]) {
            Ok(()) => cx.refused.push(Refused { ip, local, remote, why, quote }),
            Err(_) => cx.pool.give(quote),
        }
    }

    /// Whether a listener's user keeps up with the paths made for it.
    pub fn has_backlog(&mut self, listener: Slot) -> bool {
        let Some(listener) = self.cx.listeners.exclusive().into_slot(listener) else { return false };
        if listener.accepted.len() >= BACKLOG {
            let mut paths = self.cx.paths.exclusive();
            listener.forget_over(|id| paths.get(id.0).is_none());
        }
        listener.accepted.len() < BACKLOG
    }

    /// Whether a listener will be told of the path above, if there is one.
    pub fn is_for(&mut self, upper: Upper, listener: Slot) -> bool {
        let Upper::User(path) = upper else { return false };
        let handle = self.cx.listeners.handle_at(listener);
        handle.is_some() && self.cx.path(path).is_some_and(|path| path.listener == handle)
    }

    /// Whether frames name a path, and so take no other.
    pub fn is_named(&mut self, path: Slot) -> bool {
        let lowest = self.cx.path(path).and_then(|path| path.lowest());
        lowest.is_some_and(|layer| self.identifies(layer.protocol))
    }

    /// Has a path stay until it is closed, however silent: for connections.
    pub fn pin_path(&mut self, path: Slot) {
        if let Some(path) = self.cx.path(path) {
            path.pinned = true;
        }
    }

    /// Tells the listener of a path, if it has one, that there is one.
    pub fn announce_path(&mut self, path: Slot) {
        self.cx.announce(path);
    }

    /// Tells the user of a path that there is something.
    pub fn list_path(&mut self, path: Slot) {
        self.cx.list(path);
    }

    /// Whether the user above has room for one more message.
    pub fn has_room(&mut self, upper: Upper) -> bool {
        let Upper::User(slot) = upper else { return true };
        self.cx.path(slot).is_some_and(|path| path.has_room()) || self.cx.weed(slot)
    }

    /// Tells the user above what went wrong, if there is one.
    pub fn trouble(&mut self, upper: Upper, trouble: Trouble) {
        let Upper::User(slot) = upper else { return };
        if let Some(path) = self.cx.path(slot) {
            path.trouble = Some(trouble);
        }
        self.cx.list(slot);
    }

    /// Takes back the path, if there is one, of a session that could not be made or ended before its user knew of it.
    pub fn forget_path(&mut self, upper: Upper) {
        let Upper::User(path) = upper else { return };
        // Frames that named it must not lead to whoever has its place next.
        if let Some(lowest) = self.cx.path(path).and_then(|path| path.lowest()) {
            self.control(lowest, Control::Path(None));
        }
        if let Some(handle) = self.cx.paths.handle_at(path) {
            self.cx.paths.remove(handle);
        }
    }

    #[inline]
    fn with<R>(
        &mut self,
        protocol: ProtocolId,
        call: impl FnOnce(&mut dyn Protocol, &mut Lower<'_>) -> R,
    ) -> R {
        let (below, rest) = self.protocols.split_at_mut(protocol.index());
        call(&mut *rest[0], &mut Lower { protocols: below, cx: &mut *self.cx })
    }
}
