//! A connection between two processes, as far as more than the VI's owner touches it: completion queues look whether
//! something came, and put themselves to sleep on it.

use super::{
    barrier,
    frame::{Head, Kind},
    hello::{self, Control, Terms},
    lines::{LINE, Lines},
    owed::Owed,
    parking,
    remote::{Limits, Remote, RemoteWindow},
    socket,
    waking::{Sleeper, Waker, Woken},
};
use crate::{
    CompletionError, MemoryHandle,
    fabric::Doorbell,
    memory::{FilePart, Mapping, Untrusted, WindowMemory},
    sync::{AtomicU64, Ordering, publish_before_loads, raise_before_loads},
};
use rustix::io::Errno;
use std::{
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    ptr::NonNull,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::fence},
    time::{Duration, Instant},
};

/// What comes before the ring: words, each on a cache line of its own.
const BEFORE_RING: usize = 4096;
/// How far this side has consumed the other's ring.
const PROGRESS: u64 = 0;
/// Whether this side sleeps.
const PARKED: u64 = 64;
/// How many windows this side has shown or withdrawn.
const SHOWN: u64 = 128;
/// Whether this side has taken memory back that messages lay in which the other may not have fetched.
const TAKEN_BACK: u64 = 192;
/// Whether this side has ever found no room in the socket: then the other says when there is some again.
const WANTS_ROOM: u64 = 256;
/// Why this side has stopped, if the socket had no room for that.
const LAST_WORD: u64 = 320;
/// So many control messages are taken at a time, lest a peer keep us busy: all that an honest one may have said meanwhile. The
/// system keeps some hundreds.
const MESSAGES_AT_A_TIME: usize = if cfg!(test) { 64 } else { 1024 };
/// After so many windows were shown or withdrawn a peer that sleeps is woken to take note of them: beyond some hundreds the system
/// refuses more.
const SHOWN_UNHEARD: u64 = 32;
/// So long a peer may take no note of what it is shown while there is memory to be shown to it.
const HEED: Duration = Duration::from_millis(if cfg!(test) { 300 } else { 5000 });
/// How long until what the system had no room for is tried again.
const RETRY: Duration = Duration::from_millis(10);
/// So often what woke us is taken from the pipe at a time.
const WAKES_AT_A_TIME: usize = 64;

/// The memory file of one side. The other side maps it, to read only.
#[derive(Clone)]
pub(crate) struct Side {
    pub(crate) mapping: Arc<Mapping>,
    terms: Terms,
}

impl Side {
    /// Bytes of the file, if so many can be mapped.
    fn len(terms: Terms) -> Option<usize> {
        let bytes = Self::pools_at(terms).checked_add(terms.pools)?;
        isize::try_from(bytes).ok().map(isize::unsigned_abs)
    }

    /// Where the pools begin.
    pub(crate) fn pools_at(terms: Terms) -> u64 {
        (BEFORE_RING + terms.ring_lines as usize * LINE) as u64
    }

    pub(crate) fn create(terms: Terms) -> std::io::Result<(Self, FilePart)> {
        let len = Self::len(terms).ok_or(std::io::ErrorKind::OutOfMemory)?;
        let (mapping, file) = Mapping::create("throughline-vi", len, false)?;
        let side = Self { mapping: Arc::new(mapping), terms };
        // The first message should not wait for the kernel to find memory.
        side.lines().touch();
        let offset = Self::pools_at(terms);
        let part = FilePart { mapping: side.mapping.clone(), file: Arc::new(file), offset, lent: false };
        Ok((side, part))
    }

    pub(crate) fn of_peer(file: &OwnedFd, terms: Terms) -> Result<Self, Untrusted> {
        let len = Self::len(terms).ok_or(Untrusted("memory longer than can be mapped"))?;
        let mapping = Mapping::of_peer(file.as_fd(), len, false)?;
        Ok(Self { mapping: Arc::new(mapping), terms })
    }

    pub(crate) fn lines(&self) -> Lines {
        let count = self.terms.ring_lines as usize;
        let base = self.mapping.range(BEFORE_RING as u64, count * LINE).expect("the file has a ring");
        // SAFETY: a power of two by `Terms`, inside the mapping, which is kept. Nothing else in this process writes there.
        unsafe { Lines::new(base, count, self.mapping.clone()) }
    }

    #[inline(always)]
    pub(crate) fn progress(&self) -> &AtomicU64 {
        self.word(PROGRESS)
    }

    #[inline(always)]
    fn parked(&self) -> &AtomicU64 {
        self.word(PARKED)
    }

    #[inline(always)]
    fn shown(&self) -> &AtomicU64 {
        self.word(SHOWN)
    }

    fn taken_back(&self) -> &AtomicU64 {
        self.word(TAKEN_BACK)
    }

    fn wants_room(&self) -> &AtomicU64 {
        self.word(WANTS_ROOM)
    }

    fn last_word(&self) -> &AtomicU64 {
        self.word(LAST_WORD)
    }

    #[inline(always)]
    fn word(&self, offset: u64) -> &AtomicU64 {
        // SAFETY: the first page is always there, is reached by atomics only, and lives as long as `self`.
        unsafe { self.mapping.start().add(offset as usize).cast().as_ref() }
    }

    /// Bytes of both pools.
    pub(crate) fn pools(&self) -> u64 {
        self.terms.pools
    }

    /// Whether this side trusts the other.
    pub(crate) fn trusts(&self) -> bool {
        self.terms.trusting
    }

    /// A part of the pools, if it is one.
    #[inline]
    pub(crate) fn pool_part(&self, offset: u64, len: usize) -> Option<NonNull<u8>> {
        if offset.checked_add(len as u64)? > self.terms.pools {
            return None;
        }
        self.mapping.range(Self::pools_at(self.terms) + offset, len)
    }
}

/// Why the peer was not shown memory.
pub(crate) enum NotShown {
    /// There was no room.
    Yet,
    /// And will not be.
    Ever(CompletionError),
}

impl From<CompletionError> for NotShown {
    fn from(why: CompletionError) -> Self {
        Self::Ever(why)
    }
}

/// Whether what could not be said for this reason may be said later: the peer has yet to take note of what it was told before, the
/// system has no memory, or the user too many files on their way between processes.
fn may_pass(errno: Errno) -> bool {
    matches!(errno, Errno::AGAIN | Errno::TOOMANYREFS | Errno::NOBUFS | Errno::NOMEM)
}

/// What came over the socket.
#[derive(Default)]
struct Heard {
    end: Option<CompletionError>,
    remote: Remote,
}

/// Of a channel's news: the peer has stopped. The reason is among what was heard.
const STOPPED: u64 = 1;
/// There may be room in the socket for what waits for that.
const ROOM: u64 = 2;

/// See the module.
pub(crate) struct Channel {
    pub(crate) own: Side,
    pub(crate) peer: Side,
    incoming: Lines,
    /// Position of the next frame to be consumed.
    position: AtomicU64,
    /// As far as this the owner has what came, though he may not have consumed the last of it.
    taken: AtomicU64,
    /// One more than the progress of the peer that was seen last, while more is expected; else 0.
    expected: AtomicU64,
    /// The sleep from which the peer was woken last.
    woken: AtomicU64,
    /// See [`parking::must_wake`].
    reached: u64,
    control: Mutex<Heard>,
    /// Who takes something from the socket has it until it is among what was heard.
    listening: Mutex<()>,
    /// [`STOPPED`], [`ROOM`], both or none.
    news: AtomicU64,
    /// Until when a message waits, at most, for the peer to be shown its memory: nanoseconds after `begun`, or 0 if none does.
    waits: AtomicU64,
    /// When that is to be tried again, whether or not anything tells of room.
    again: AtomicU64,
    /// When what is owed is to be said likewise, or 0.
    pays: AtomicU64,
    begun: Instant,
    /// What the peer is to be told before anything else.
    owed: Mutex<Owed>,
    socket: OwnedFd,
    sleeper: Sleeper,
    waker: Waker,
}

impl Channel {
    pub(crate) fn new(own: Side, peer: Side, socket: OwnedFd, (sleeper, waker): (Sleeper, Waker)) -> Self {
        let incoming = peer.lines();
        let reached = if barrier::reaches_us() { parking::LOOKS_AGAIN } else { 0 };
        own.parked().store(0, Ordering::Release);
        Self {
            own,
            peer,
            incoming,
            position: AtomicU64::new(0),
            taken: AtomicU64::new(0),
            expected: AtomicU64::new(0),
            woken: AtomicU64::new(0),
            reached,
            control: Mutex::default(),
            listening: Mutex::default(),
            news: AtomicU64::new(0),
            waits: AtomicU64::new(0),
            again: AtomicU64::new(0),
            pays: AtomicU64::new(0),
            begun: Instant::now(),
            owed: Mutex::default(),
            socket,
            sleeper,
            waker,
        }
    }

    /// The peer may show so much.
    pub(crate) fn limited_to(self, limits: Limits) -> Self {
        self.heard(|heard| heard.remote.limits = limits);
        self
    }

    /// The peer is trusted with memory that both sides write to.
    pub(crate) fn trusting(self) -> Self {
        self.heard(|heard| heard.remote.trusting = true);
        self
    }

    /// Messages mostly find the owner awake, so their sender needs no fence; the owner takes longer to fall asleep.
    pub(crate) fn wakeful(self) -> Self {
        self.own.parked().store(self.reached, Ordering::Release);
        self
    }

    /// After something was published: wakes the peer if it sleeps.
    #[inline(always)]
    pub(crate) fn wake_peer(&self) {
        let woken = || self.woken.load(Ordering::Relaxed);
        if let Some(number) = parking::must_wake(self.peer.parked(), self.reached, woken) {
            self.wake_from(number);
        }
    }

    #[cold]
    fn wake_from(&self, number: u64) {
        self.woken.store(number, Ordering::Relaxed);
        self.waker.wake();
    }

    /// The owner has consumed everything before this position.
    #[inline(always)]
    pub(crate) fn consumed(&self, position: u64) {
        // Release: the copies come before.
        self.position.store(position, Ordering::Release);
    }

    /// The owner has a message before this position that lies with the peer, and has consumed what came before.
    #[inline]
    pub(crate) fn taken(&self, position: u64) {
        self.taken.store(position, Ordering::Relaxed);
    }

    /// Tells the peer how far we are, in case it waits for that.
    #[cold]
    pub(crate) fn publish_progress(&self) {
        // Acquire: a completion queue may say so in the owner's place. And it may be late, so progress is never taken back.
        let position = self.position.load(Ordering::Acquire);
        if self.own.progress().load(Ordering::Relaxed) < position {
            raise_before_loads(self.own.progress(), position);
            self.wake_peer();
        }
    }

    /// What the peer says it has consumed.
    #[inline(always)]
    pub(crate) fn peer_progress(&self) -> u64 {
        self.peer.progress().load(Ordering::Acquire)
    }

    /// Whether the owner waits until the peer's progress exceeds this.
    #[inline]
    pub(crate) fn expect(&self, progress: Option<u64>) {
        self.expected.store(progress.map_or(0, |progress| progress.saturating_add(1)), Ordering::Relaxed);
    }

    /// Why the peer stopped, if it did. Frames it published before can be seen afterwards.
    #[inline(always)]
    pub(crate) fn stopped(&self) -> Option<CompletionError> {
        if self.news.load(Ordering::Acquire) == 0 { None } else { self.why_stopped() }
    }

    #[cold]
    fn why_stopped(&self) -> Option<CompletionError> {
        if self.waits.load(Ordering::Relaxed) == 0 {
            // It was said when nothing waited any more.
            self.news.fetch_and(!ROOM, Ordering::Relaxed);
        }
        self.heard(|heard| heard.end)
    }

    pub(crate) fn stop(&self, why: CompletionError) {
        self.heard(|heard| heard.end = heard.end.or(Some(why)));
        self.news.fetch_or(STOPPED, Ordering::Release);
    }

    /// Behind all that it has said.
    #[cold]
    fn peer_is_gone(&self) {
        let [last_word, ..] = self.peer.last_word().load(Ordering::Acquire).to_le_bytes();
        self.stop(hello::reason_from_byte(last_word));
    }

    /// Listens to what came over the socket, and notices that the peer is gone. Whether that was all.
    pub(crate) fn listen(&self) -> bool {
        // What one thread has taken from the socket another one must not miss, nor hear what came after it before.
        let listening = self.listening.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut any, mut all) = (false, false);
        for _ in 0..MESSAGES_AT_A_TIME {
            match socket::receive(self.socket.as_fd()) {
                Ok(message) => {
                    any = true;
                    self.hear(&message);
                }
                Err(Errno::INTR) => {}
                Err(why) => {
                    if why != Errno::AGAIN {
                        self.peer_is_gone();
                    }
                    all = true;
                    break;
                }
            }
        }
        drop(listening);
        if any {
            self.made_room();
        }
        let _ = self.pay(&mut self.owed());
        all
    }

    /// Words of the peer were taken from the socket.
    fn made_room(&self) {
        // Pairs with `say_or_ask`: who finds no room after this has had his wish seen.
        fence(Ordering::SeqCst);
        if self.peer.wants_room().load(Ordering::Relaxed) != 0 {
            self.waker.send_word();
        }
    }

    /// Under the lock, and for no longer than this.
    fn heard<T>(&self, work: impl FnOnce(&mut Heard) -> T) -> T {
        work(&mut self.control.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Tells the peer that this side stops, and why.
    pub(crate) fn say_bye(&self, why: CompletionError) {
        self.shows_no_more();
        if self.say(Control::Bye(why), None).is_err() {
            self.own.last_word().store(hello::reason_to_byte(why).into(), Ordering::Release);
        }
        let _ = rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Both);
        self.waker.send_word();
    }

    /// Buffers are about to be used for something else that hold messages which the peer may not have fetched.
    pub(crate) fn take_back(&self) {
        // Before whatever is written there.
        publish_before_loads(self.own.taken_back(), 1);
    }

    /// Whether what was fetched until now may be something else than what was sent.
    pub(crate) fn peer_took_back(&self) -> bool {
        // Pairs with `take_back`: who has read what was written there next sees this, too.
        fence(Ordering::Acquire);
        self.peer.taken_back().load(Ordering::Relaxed) != 0
    }

    fn say(&self, what: Control, file: Option<BorrowedFd<'_>>) -> rustix::io::Result<()> {
        socket::send(self.socket.as_fd(), &what.to_bytes(), file.as_slice())
    }

    /// As [`say`](Self::say). Who is told that there is no room will get a word when there is some.
    fn say_or_ask(&self, what: Control, file: Option<BorrowedFd<'_>>) -> rustix::io::Result<()> {
        let said = self.say(what, file);
        if !said.is_err_and(may_pass) {
            return said;
        }
        // Before another look: whoever makes room after that knows that it is waited for. It stays: later words cost little.
        publish_before_loads(self.own.wants_room(), 1);
        let said = self.say(what, file);
        if said.is_err_and(may_pass) {
            // It may sleep.
            self.waker.send_word();
        }
        said
    }

    /// Says that there is memory to fetch messages from, after all else that the peer is to be told. Without room for that the owner
    /// is [told](Doorbell::ready) when it may be there, or it is [time](Doorbell::patience) to try again.
    pub(crate) fn show_memory(&self, what: Control, file: BorrowedFd<'_>) -> Result<(), NotShown> {
        let now = self.begun.elapsed().as_nanos() as u64;
        let until = self.wait_for_room(now);
        self.news.fetch_and(!ROOM, Ordering::Relaxed);
        let mut owed = self.owed();
        let said = self.pay(&mut owed).and_then(|()| self.say_or_ask(what, Some(file)));
        let shown = said.map_err(|errno| match errno {
            _ if !may_pass(errno) => NotShown::Ever(CompletionError::ConnectionLost),
            _ if until <= now => NotShown::Ever(CompletionError::Unheeded),
            _ => {
                // Where it need not be the peer who makes room nobody tells.
                let again =
                    if errno == Errno::AGAIN { until } else { until.min(now + RETRY.as_nanos() as u64) };
                self.again.store(again, Ordering::Relaxed);
                NotShown::Yet
            }
        });
        if !matches!(shown, Err(NotShown::Yet)) {
            self.shows_no_more();
        }
        shown
    }

    /// A message waits from now on, unless it does already; until when, at most.
    fn wait_for_room(&self, now: u64) -> u64 {
        let before = self.waits.load(Ordering::Relaxed);
        if before != 0 {
            // Whoever falls asleep meanwhile sleeps no longer than the owner believes.
            return before;
        }
        let until = now + HEED.as_nanos() as u64;
        self.again.store(until, Ordering::Relaxed);
        self.waits.store(until, Ordering::Relaxed);
        until
    }

    /// The memory that there was no room for need not be shown any more.
    pub(crate) fn shows_no_more(&self) {
        self.waits.store(0, Ordering::Relaxed);
    }

    /// Says that a window is there.
    pub(crate) fn show(&self, window: Arc<WindowMemory>) {
        let mut owed = self.owed();
        owed.show(window);
        self.pay_or_wake(&mut owed);
    }

    /// Says that a window is no more.
    pub(crate) fn withdraw(&self, handle: MemoryHandle) {
        let mut owed = self.owed();
        owed.withdraw(handle);
        self.pay_or_wake(&mut owed);
    }

    /// As [`pay`](Self::pay), by any thread: who sleeps may not sleep as long as he thinks.
    fn pay_or_wake(&self, owed: &mut Owed) {
        let paid = self.pay(owed);
        if paid.is_err_and(|errno| errno != Errno::AGAIN) {
            self.sleeper.wake();
        }
    }

    fn owed(&self) -> MutexGuard<'_, Owed> {
        self.owed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says as much as there is room for of what is owed; why that was not all, if so.
    fn pay(&self, owed: &mut Owed) -> rustix::io::Result<()> {
        let paid = self.say_owed(owed);
        // It need not be the peer who makes room then, and nobody tells.
        let again = paid.is_err_and(|errno| errno != Errno::AGAIN).then(|| self.begun.elapsed() + RETRY);
        self.pays.store(again.map_or(0, |again| again.as_nanos() as u64), Ordering::Relaxed);
        paid
    }

    fn say_owed(&self, owed: &mut Owed) -> rustix::io::Result<()> {
        while let Some((what, file)) = owed.first() {
            match self.say_or_ask(what, file) {
                Ok(()) => {
                    owed.said();
                    self.spoke_of_windows();
                }
                Err(errno) if may_pass(errno) => return Err(errno),
                // The peer is gone.
                Err(_) => owed.forget(),
            }
        }
        Ok(())
    }

    /// The peer looks here before it uses a window, and reads its socket only if this has changed.
    fn spoke_of_windows(&self) {
        let before = self.own.shown().fetch_add(1, Ordering::Release);
        if (before + 1).is_multiple_of(SHOWN_UNHEARD) {
            self.waker.send_word();
        }
    }

    /// How often the peer has spoken of windows.
    #[inline]
    pub(crate) fn peer_shown(&self) -> u64 {
        self.peer.shown().load(Ordering::Acquire)
    }

    /// The windows the peer shows now, and whether they are all that it has spoken of.
    pub(crate) fn windows(&self) -> (Vec<RemoteWindow>, bool) {
        let all = self.listen();
        (self.heard(|heard| heard.remote.windows.clone()), all)
    }

    /// Something of what the peer shows, which is perhaps still to be read from the socket.
    pub(crate) fn look_up<T>(&self, find: impl Fn(&Remote) -> Option<T>) -> Option<T> {
        self.heard(|heard| find(&heard.remote)).or_else(|| {
            self.listen();
            self.heard(|heard| find(&heard.remote))
        })
    }

    #[inline(always)]
    fn frame_at(&self, position: u64) -> Option<Head> {
        Head::from_word(self.incoming.head(position).load(Ordering::SeqCst), position)
    }

    fn hear(&self, message: &socket::Message) {
        match Control::from_message(message) {
            Some(Control::Bye(why)) => self.stop(why),
            Some(shown) => {
                if let Err(why) = self.heard(|heard| heard.remote.hear(shown, message)) {
                    self.stop(why);
                }
            }
            None => self.stop(CompletionError::Protocol),
        }
    }
}

impl Doorbell for Channel {
    #[inline]
    fn ready(&self) -> bool {
        let position = self.position.load(Ordering::Relaxed).max(self.taken.load(Ordering::Relaxed));
        if let Some(head) = self.frame_at(position)
            && (head.kind() != Kind::Pad || self.frame_at(self.incoming.behind_padding(position)).is_some())
        {
            return true;
        }
        self.ready_for_sends()
    }

    #[inline]
    fn ready_for_sends(&self) -> bool {
        let expected = self.expected.load(Ordering::Relaxed);
        if expected != 0 && self.peer.progress().load(Ordering::SeqCst) >= expected {
            return true;
        }
        self.news.load(Ordering::Relaxed) != 0
    }

    fn ask(&self) {
        self.listen();
        if self.waits.load(Ordering::Relaxed) != 0 {
            self.news.fetch_or(ROOM, Ordering::Release);
        }
    }

    fn arm(&self) {
        self.publish_progress();
        if parking::announce(self.own.parked()) {
            barrier::everywhere();
        }
    }

    fn doze(&self) -> bool {
        self.publish_progress();
        parking::doze(self.own.parked())
    }

    fn fence(&self) {
        barrier::everywhere();
    }

    fn patience(&self) -> Option<Instant> {
        let waits = self.waits.load(Ordering::Relaxed) != 0;
        waits.then(|| self.begun + Duration::from_nanos(self.again.load(Ordering::Relaxed)))
    }

    fn wakes_by(&self) -> Option<Instant> {
        let pays = Some(self.pays.load(Ordering::Relaxed)).filter(|pays| *pays != 0);
        let pays = pays.map(|pays| self.begun + Duration::from_nanos(pays));
        pays.into_iter().chain(self.patience()).min()
    }

    fn disarm(&self) {
        parking::awake(self.own.parked());
        if self.pays.load(Ordering::Relaxed) != 0 {
            let _ = self.pay(&mut self.owed());
        }
        if self.waits.load(Ordering::Relaxed) != 0 {
            // Nothing tells that its time is over but that the sleep is.
            self.news.fetch_or(ROOM, Ordering::Release);
        }
    }

    fn drain(&self) {
        // Until nothing is left: completion queues are told of news once only.
        let woken = |_| Some(self.sleeper.take()).filter(|woken| *woken != Woken::No);
        let (mut word, mut gone) = (false, false);
        for woken in (0..WAKES_AT_A_TIME).map_while(woken) {
            (word, gone) = (word || woken == Woken::Word, woken == Woken::Gone);
            if gone {
                break;
            }
        }
        if word || gone {
            // Who is gone may have had last words.
            let all = self.listen();
            if self.waits.load(Ordering::Relaxed) != 0 {
                self.news.fetch_or(ROOM, Ordering::Release);
            }
            if !all && self.sleeper.wake_to_listen() {
                // Nothing else would tell of the rest.
                return;
            }
        }
        if gone {
            self.peer_is_gone();
        }
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.sleeper.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reliability;

    /// Where addresses have 32 bits, too.
    #[test]
    fn a_side_is_as_long_as_it_says_or_is_refused() {
        let edges = [0, isize::MAX as u64, u64::from(u32::MAX), 1 << 33, u64::MAX];
        let all = edges.iter().flat_map(|edge| (0..=9000).step_by(500).map(|less| edge.saturating_sub(less)));
        for pools in all {
            let terms =
                Terms { reliability: Reliability::Unreliable, ring_lines: 16, pools, trusting: false };
            let bytes = u128::from(pools) + BEFORE_RING as u128 + 16 * LINE as u128;
            let mappable = usize::try_from(bytes).ok().filter(|bytes| isize::try_from(*bytes).is_ok());
            assert_eq!(Side::len(terms), mappable, "{pools}");
        }
    }
}
