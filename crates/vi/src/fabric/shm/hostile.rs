//! Peers that keep no rule. They reach what a real one can: their own memory file, and the socket.

use super::{
    channel::Side,
    frame::{Head, Kind},
    hello::{Control, Terms},
    socket,
    waking::{self, Sleeper, Waker, Woken},
};
use crate::{
    CompletionError, CompletionQueue, ConnectError, Nic, Reliability, Rights, SendDescriptor, State,
    TrustedPeers, Vi, ViAttributes, WaitError, Window, fabric::readable,
};
use rustix::{fs::MemfdFlags, io::Errno, net::SocketFlags};
use std::{
    collections::VecDeque,
    os::fd::{AsFd, OwnedFd},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

const LONG: Option<Duration> = Some(Duration::from_secs(20));
const LINES: u32 = 64;

/// A peer that has connected properly, and now does as it likes.
struct Peer {
    side: Side,
    socket: OwnedFd,
    sleeper: Sleeper,
    waker: Waker,
}

fn terms(reliability: Reliability) -> Terms {
    Terms { reliability, ring_lines: LINES, pools: 4096, trusting: true }
}

/// Sends a request with these files, and lets a VI accept it if it comes through.
fn try_connect(reliability: Reliability, files: &[&OwnedFd]) -> (Option<Vi>, OwnedFd) {
    try_connect_with(&ViAttributes::new(reliability), files)
}

fn try_connect_with(attributes: &ViAttributes, files: &[&OwnedFd]) -> (Option<Vi>, OwnedFd) {
    let nic = Nic::shm().expect("a NIC");
    let mut listener = nic.listen(b"hostile").expect("a listener");
    let socket = socket::new_socket().expect("a socket");
    let name = socket::name(nic.address(), b"hostile").expect("a name");
    rustix::net::connect(&socket, &name).expect("somebody listens");
    let files: Vec<_> = files.iter().map(AsFd::as_fd).collect();
    socket::send(socket.as_fd(), &Control::Hello(terms(attributes.reliability)).to_bytes(), &files)
        .expect("sent");
    let Ok(request) = listener.wait(Some(Duration::from_millis(200))) else { return (None, socket) };
    let mut vi = nic.create_vi(attributes).expect("a VI");
    vi.post_own_receives();
    request.accept(&mut vi).expect("accepted");
    (Some(vi), socket)
}

fn connected(reliability: Reliability) -> (Vi, Peer) {
    connected_with(&ViAttributes::new(reliability))
}

fn connected_with(attributes: &ViAttributes) -> (Vi, Peer) {
    let (side, part) = Side::create(terms(attributes.reliability)).expect("a file");
    let (sleeper, file) = waking::sleeper().expect("a pipe");
    let (vi, socket) = try_connect_with(attributes, &[&part.file, &file]);
    let answer = socket::receive(socket.as_fd()).expect("an answer");
    let waker = Waker::new(&answer.waker.expect("a file")).expect("a pipe");
    (vi.expect("a proper request"), Peer { side, socket, sleeper, waker })
}

struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 ^ self.0 >> 29
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

impl Peer {
    /// Shows memory to the VI, which it lends.
    fn lends(&self) -> crate::memory::Mapping {
        let (mapping, file) = crate::memory::Mapping::create("lent", 4096, true).expect("a file");
        let what = Control::Memory { number: 1, offset: 0, len: 4096, lent: true };
        socket::send(self.socket.as_fd(), &what.to_bytes(), &[file.as_fd()]).expect("sent");
        mapping
    }

    /// Writes something like a frame.
    fn forge(&self, dice: &mut Dice, position: u64) -> Head {
        let kind = [Kind::Message, Kind::Elsewhere, Kind::Elsewhere, Kind::Written, Kind::Pad, Kind::Lent]
            [dice.below(6) as usize];
        let len = [dice.below(64), dice.below(256) / 16 * 16, dice.below(1 << 24)][dice.below(3) as usize];
        let head = Head::new(kind, len as usize)
            .with_immediate(dice.below(2) == 0)
            .with_acknowledge(dice.below(2) == 0)
            .with_progress(dice.below(4) == 0);
        for segment in 0..3 {
            let memory = [0, 0, 1, u32::MAX][dice.below(4) as usize];
            let len = [dice.below(100) as u32, 4096, u32::MAX][dice.below(3) as usize];
            let offset = [dice.below(4096), u64::MAX - dice.below(100), 1 << 40][dice.below(3) as usize];
            let place = head.before_body() + segment * 16;
            if place + 16 <= 64 {
                let word = u64::from(memory) | u64::from(len) << 32;
                self.side.lines().fill(position, place, &word.to_le_bytes());
                self.side.lines().fill(position, place + 8, &offset.to_le_bytes());
            }
        }
        if kind == Kind::Lent {
            let place = [1 << 40, 1 << 40 | 64, 0, 1 << 40 | 4096, u64::MAX][dice.below(5) as usize];
            self.side.lines().fill(position, 8, &place.to_le_bytes());
        }
        if head.progress() && dice.below(2) == 0 {
            self.side.lines().line(position).last().store(dice.below(3), Ordering::Relaxed);
        }
        self.side.lines().head(position).store(head.to_word(position), Ordering::Release);
        head
    }
}

#[test]
fn forged_frames_do_no_harm_but_to_their_own_connection() {
    let (mut outcomes, mut lent) = ([0; 2], 0);
    for seed in 0..600 {
        let mut dice = Dice(seed * 77 + 1);
        let level = Reliability::ALL[seed as usize % 3];
        // SAFETY: this peer forges frames, but leaves the bytes alone that they point to.
        let trusted = (seed % 5 == 0).then(|| unsafe { TrustedPeers::promise() });
        let longer = if seed % 4 < 3 { 1 << 20 } else { 0 };
        let leave = seed % 3 == 0;
        let attributes = ViAttributes { trusted, leave, receive_longer: longer, ..ViAttributes::new(level) };
        let (mut vi, peer) = connected_with(&attributes);
        let _lent = (seed % 5 == 0).then(|| peer.lends());
        let mut position = 0;
        for _ in 0..8 {
            let head = peer.forge(&mut dice, position);
            let mut front = [0; crate::LENT_FRONT];
            if let Some(len) = vi.receive_lent(&mut front) {
                assert!(trusted.is_some() && len <= longer as usize);
                let message = vi.lent_mut().expect("it was lent");
                assert!(message.len() == len && len <= 4096);
                message.fill(7);
                lent += 1;
                let _ = vi.send_and_release(b"answer");
                position += head.lines();
                continue;
            }
            // A frame that is taken is no longer than what was posted.
            match vi.receive_done() {
                Some(completion) => match completion.result {
                    // The peer has no more memory than this.
                    Ok(len) => {
                        let found = vi.in_place().map_or(completion.buffer.len(), <[u8]>::len);
                        let left = vi.left().map(|left| left.len());
                        assert!(len <= 16 << 10 && left.unwrap_or(found) == len);
                        assert!(trusted.is_some() || vi.in_place().is_none());
                        assert!(trusted.is_some() || leave || left.is_none());
                    }
                    Err(_) => break,
                },
                None if vi.state() != State::Connected => break,
                None => {}
            }
            position += if head.kind() == Kind::Pad {
                u64::from(LINES) - position % u64::from(LINES)
            } else {
                head.lines()
            };
        }
        outcomes[usize::from(vi.state() == State::Connected)] += 1;
    }
    assert!(outcomes.iter().all(|count| *count > 10), "all or nothing was refused: {outcomes:?}");
    assert!(lent > 5, "{lent} messages were lent");
}

#[test]
fn memory_that_changes_while_it_is_read_stays_within_bounds() {
    for leave in [false, true] {
        let attributes = ViAttributes { leave, ..ViAttributes::new(Reliability::Unreliable) };
        let (mut vi, peer) = connected_with(&attributes);
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let scribbler = scope.spawn(|| {
                let mut dice = Dice(5);
                while !stop.load(Ordering::Relaxed) {
                    for position in 0..u64::from(LINES) * 4 {
                        peer.forge(&mut dice, position);
                    }
                }
            });
            for _ in 0..100_000 {
                if let Some(mut completion) = vi.receive_done() {
                    if let Ok(len) = completion.result {
                        if let Some(left) = vi.left() {
                            completion.buffer.set_len(left.len());
                            left.copy(0, &mut completion.buffer).expect("all of it");
                        }
                        assert_eq!(completion.buffer.len(), len);
                    }
                    vi.release();
                    let _ = vi.post_receive(completion.buffer);
                }
                if vi.state() != State::Connected {
                    break;
                }
            }
            stop.store(true, Ordering::Relaxed);
            scribbler.join().expect("no panic");
        });
    }
}

#[test]
fn invented_progress_ends_the_connection() {
    for lie in [1 << 40, u64::MAX, 1000] {
        let (mut vi, peer) = connected(Reliability::ReliableReception);
        let buffer = vi.send_buffer().expect("a buffer");
        vi.post_send(SendDescriptor::new(buffer)).expect("posted");
        peer.side.progress().store(lie, Ordering::Release);
        let completion = vi.send_wait(LONG).expect("an end");
        assert_eq!(completion.result, Err(CompletionError::Protocol), "{lie}");
        assert_eq!(vi.state(), State::Stopped(CompletionError::Protocol));
    }
}

#[test]
fn nonsense_on_the_socket_ends_the_connection() {
    let hello = Control::Hello(terms(Reliability::Unreliable)).to_bytes();
    let rights = Rights { remote_write: true, remote_read: true };
    let no_file = Control::Window { handle: crate::MemoryHandle(1), len: 10, rights }.to_bytes();
    for (bytes, len) in [([0xEE; 64], 64), ([0; 64], 2), ([0; 64], 1), (hello, 64), (no_file, 64)] {
        let (mut vi, peer) = connected(Reliability::ReliableDelivery);
        socket::send(peer.socket.as_fd(), &bytes[..len], &[]).expect("sent");
        peer.waker.send_word();
        let completion = vi.receive_wait(LONG).expect("an end");
        assert_eq!(completion.result, Err(CompletionError::Flushed));
        assert_eq!(vi.state(), State::Stopped(CompletionError::Protocol));
    }
}

#[test]
fn memory_is_lent_to_nobody_who_does_not_trust() {
    for trusted in [false, true] {
        // SAFETY: this peer leaves its memory alone.
        let trusted = trusted.then(|| unsafe { TrustedPeers::promise() });
        let attributes = ViAttributes { trusted, ..ViAttributes::new(Reliability::ReliableDelivery) };
        let (mut vi, peer) = connected_with(&attributes);
        let _memory = peer.lends();
        peer.waker.send_word();
        let waited =
            vi.receive_wait(Some(Duration::from_millis(if trusted.is_some() { 20 } else { 20_000 })));
        assert_eq!(matches!(waited, Err(WaitError::Timeout)), trusted.is_some());
        let stopped = State::Stopped(CompletionError::Protocol);
        assert_eq!(vi.state(), if trusted.is_some() { State::Connected } else { stopped });
    }
}

#[test]
fn no_more_is_mapped_than_was_agreed_to() {
    let attributes = ViAttributes {
        peer_memory: 4096 + (1 << 20),
        peer_pieces: 3,
        ..ViAttributes::new(Reliability::ReliableDelivery)
    };
    let (_mapping, file) = crate::memory::Mapping::create("long", 1 << 20, false).expect("a file");
    let rights = Rights { remote_write: false, remote_read: true };
    let window = |number, len| Control::Window { handle: crate::MemoryHandle(number), len, rights };
    let memory = |number, offset, len| Control::Memory { number, offset, len, lent: false };
    let withdraw = Control::Withdraw { handle: crate::MemoryHandle(1) };
    let all = 1 << 20;
    let small = window(1, 10);
    use CompletionError::{Protocol, TooMuchMemory};
    let cases: [(&[Control], Result<(), CompletionError>); 15] = [
        (&[window(1, all)], Ok(())),
        (&[window(1, all), withdraw, memory(1, all - 5, 5), memory(2, 0, 0)], Ok(())),
        (&[window(1, all), window(2, 1)], Err(TooMuchMemory)),
        (&[memory(1, all - 5, 5), window(2, 1)], Err(TooMuchMemory)),
        (&[small, small, small], Ok(())),
        (&[small, small, small, withdraw, small, small, small], Ok(())),
        (&[small, memory(1, 0, 1), memory(2, 0, 1), memory(3, 0, 1)], Err(TooMuchMemory)),
        (&[small, memory(1, 0, 1), memory(2, 0, 1), memory(65, 0, 1), memory(66, 0, 1)], Ok(())),
        (&[memory(1, 0, all), memory(65, 0, all)], Ok(())),
        (&[memory(1, 0, 1), memory(65, 0, all), memory(2, 0, 1)], Err(TooMuchMemory)),
        (&[memory(0, 0, 1)], Err(Protocol)),
        (&[memory(2, 0, 1)], Err(Protocol)),
        (&[memory(1, 0, 1), memory(129, 0, 1)], Err(Protocol)),
        (&[memory(1, all, 1)], Err(TooMuchMemory)),
        (&[small, small, small, small], Err(TooMuchMemory)),
    ];
    for (shown, taken) in cases {
        let (mut vi, peer) = connected_with(&attributes);
        for what in shown {
            let file = if *what == withdraw { &[][..] } else { &[file.as_fd()] };
            socket::send(peer.socket.as_fd(), &what.to_bytes(), file).expect("sent");
        }
        peer.waker.send_word();
        let timeout = if taken.is_ok() { Duration::from_millis(20) } else { Duration::from_secs(20) };
        assert_eq!(
            matches!(vi.receive_wait(Some(timeout)), Err(WaitError::Timeout)),
            taken.is_ok(),
            "{shown:?}"
        );
        assert_eq!(vi.state(), taken.map_or_else(State::Stopped, |()| State::Connected), "{shown:?}");
        if taken.is_ok() {
            continue;
        }
        // And hears why.
        let told = socket::receive(peer.socket.as_fd()).expect("a farewell");
        let told = Control::from_message(&told);
        let reason =
            if taken == Err(TooMuchMemory) { TooMuchMemory } else { CompletionError::ConnectionLost };
        assert_eq!(told, Some(Control::Bye(reason)), "{shown:?}");
    }
}

/// And the one who sent it hears so.
#[test]
fn a_message_in_memory_that_was_refused_fails_for_that_reason() {
    let level = Reliability::ReliableDelivery;
    let attributes = ViAttributes { peer_memory: 4096 + 8192, ..ViAttributes::new(level) };
    let (_mapping, file) = crate::memory::Mapping::create("long", 1 << 20, false).expect("a file");
    for (len, why, told) in [
        (8193, CompletionError::TooMuchMemory, CompletionError::TooMuchMemory),
        (2999, CompletionError::Protocol, CompletionError::ConnectionLost),
    ] {
        let (mut vi, peer) = connected_with(&attributes);
        let what = Control::Memory { number: 1, offset: 0, len, lent: false };
        socket::send(peer.socket.as_fd(), &what.to_bytes(), &[file.as_fd()]).expect("sent");
        publish_in(&peer, 0, 1, 3000);
        assert_eq!(vi.receive_wait(LONG).expect("an end").result, Err(CompletionError::Flushed));
        assert_eq!(vi.state(), State::Stopped(why));
        let farewell = socket::receive(peer.socket.as_fd()).expect("a farewell");
        assert_eq!(Control::from_message(&farewell), Some(Control::Bye(told)));
    }
}

/// Two VIs with their NICs, that take as many windows as there may be.
fn pair(reliability: Reliability) -> ([Nic; 2], [Vi; 2]) {
    let attributes = ViAttributes { peer_pieces: 1000, ..ViAttributes::new(reliability) };
    let nics = [(); 2].map(|()| Nic::shm().expect("a NIC"));
    let mut listener = nics[1].listen(b"memory").expect("a listener");
    let [mut active, mut passive] = [0, 1].map(|at| nics[at].create_vi(&attributes).expect("a VI"));
    std::thread::scope(|scope| {
        let connecting = scope.spawn(|| active.connect(nics[1].address(), b"memory", LONG));
        listener.wait(LONG).expect("a request").accept(&mut passive).expect("accepted");
        connecting.join().expect("no panic").expect("connected");
    });
    (nics, [active, passive])
}

/// So many that a peer which looks at nothing can be told of no more.
fn windows(nic: &Nic, vi: &Vi, many: usize) -> Vec<Window> {
    let rights = Rights { remote_write: false, remote_read: true };
    (0..many).map(|_| nic.register_window(64, vi.tag(), rights).expect("a window")).collect()
}

/// Also the one after.
#[test]
fn a_peer_has_as_long_to_take_note_for_every_message() {
    let (nics, [mut active, _passive]) = pair(Reliability::Unreliable);
    let _windows = windows(&nics[0], &active, 600);
    for _ in 0..2 {
        let begun = Instant::now();
        let region = nics[0].register(1, 3000, active.tag()).expect("memory");
        active.post_send(region.buffer().expect("a buffer")).expect("posted");
        assert_eq!(active.send_wait(LONG).expect("an end").result, Err(CompletionError::Unheeded));
        assert!(begun.elapsed() >= Duration::from_millis(300));
    }
    assert_eq!(active.state(), State::Connected);
}

/// The one before failed otherwise, once the peer had taken note.
#[test]
fn a_peer_has_as_long_to_take_note_after_a_message_that_could_not_be_sent_at_all() {
    let (nics, [mut active, passive]) = pair(Reliability::Unreliable);
    let shown = windows(&nics[0], &active, 600);
    let region = || nics[0].register(1, 3000, active.tag()).expect("memory");
    // SAFETY: nothing is sent from there.
    let trusted = unsafe { TrustedPeers::promise() };
    let lent = nics[0].register_lent(1, 3000, active.tag(), trusted).expect("memory");
    let [one, two] = [region(), region()].map(|region| region.buffer().expect("a buffer"));
    let never = vec![lent.buffer().expect("a buffer")];
    active.post_send(SendDescriptor::new(one).segments(never)).expect("posted");
    let early = active.send_done();
    for _ in 0..4 {
        [&passive, &active].iter().for_each(|vi| vi.bell().expect("it is connected").drain());
    }
    let first = early.unwrap_or_else(|| active.send_wait(LONG).expect("an end"));
    // Where the machine was busy its time may have been over.
    assert!(matches!(first.result, Err(CompletionError::Protection | CompletionError::Unheeded)));
    std::thread::sleep(Duration::from_millis(300));
    drop(shown);
    let begun = Instant::now();
    active.post_send(two).expect("posted");
    assert_eq!(active.send_wait(LONG).expect("an end").result, Err(CompletionError::Unheeded));
    assert!(begun.elapsed() >= Duration::from_millis(300));
}

/// Nothing else would end his sleep, which may have begun before the message was posted.
#[test]
fn who_sleeps_by_a_queue_learns_that_a_peer_takes_no_note() {
    for late in [false, true] {
        let (nics, [mut active, _passive]) = pair(Reliability::ReliableDelivery);
        let _windows = windows(&nics[0], &active, 600);
        let mut queue = CompletionQueue::new(Duration::ZERO).expect("a queue");
        queue.link(&mut active, 7);
        let buffer = nics[0].register(1, 3000, active.tag()).expect("memory").buffer().expect("a buffer");
        let begun = Instant::now();
        std::thread::scope(|scope| {
            let sleeper = scope.spawn(|| late.then(|| queue.wait(LONG).expect("it is woken")));
            std::thread::sleep(Duration::from_millis(if late { 50 } else { 0 }));
            active.post_send(buffer).expect("posted");
            assert_eq!(sleeper.join().expect("no panic"), late.then_some(7));
        });
        assert!(begun.elapsed() < Duration::from_secs(10));
        let sent = loop {
            match active.send_done() {
                Some(sent) => break sent,
                None => assert_eq!(queue.wait(LONG).expect("it is woken"), 7),
            }
        };
        assert_eq!(sent.result, Err(CompletionError::Unheeded));
    }
}

/// Whoever sends from memory that the peer cannot be shown: from too much of it, and to a peer that looks at nothing.
#[test]
fn why_memory_cannot_be_shown_is_told() {
    for (many, why) in [(0, CompletionError::TooMuchMemory), (600, CompletionError::Unheeded)] {
        let (nics, [mut active, _passive]) = pair(Reliability::ReliableDelivery);
        let _windows = windows(&nics[0], &active, many);
        for _ in 0..65 {
            let region = nics[0].register(1, 3000, active.tag()).expect("memory");
            let buffer = region.buffer().expect("a buffer");
            if active.post_send(buffer).is_err() {
                break;
            }
        }
        // Where it only has to take note it is given time for that.
        let failed = std::iter::from_fn(|| active.send_wait(LONG).ok()).find(|sent| sent.result.is_err());
        assert_eq!(failed.map(|sent| sent.result), Some(Err(why)));
        assert_eq!(active.state(), State::Stopped(why));
    }
}

#[test]
fn larger_pools_than_agreed_to_are_refused() {
    let (one, other) = (Nic::shm().expect("a NIC"), Nic::shm().expect("another"));
    let reliability = Reliability::ReliableDelivery;
    let all = ViAttributes::new(reliability);
    let few = ViAttributes { peer_memory: 1 << 20, ..ViAttributes::new(reliability) };
    for attributes in [[&all, &few], [&few, &all]] {
        let mut listener = one.listen(b"pools").expect("a listener");
        let [mut active, mut passive] = [&other, &one]
            .map(|nic| nic.create_vi(attributes[usize::from(std::ptr::eq(nic, &one))]).expect("a VI"));
        let connected = std::thread::scope(|scope| {
            let connecting = scope.spawn(|| active.connect(one.address(), b"pools", LONG));
            let request = listener.wait(LONG).expect("a request");
            let accepted = request.accept(&mut passive);
            let active = connecting.join().expect("no panic");
            accepted.and(active)
        });
        assert!(matches!(connected, Err(ConnectError::Protocol(_))), "{connected:?}");
    }
}

#[test]
fn progress_invented_in_a_frame_ends_the_connection() {
    let (mut vi, peer) = connected(Reliability::ReliableDelivery);
    let head = Head::new(Kind::Message, 5).with_progress(true);
    peer.side.lines().line(0).last().store(9, Ordering::Relaxed);
    peer.side.lines().head(0).store(head.to_word(0), Ordering::Release);
    let mut line = [0; crate::SMALL_MESSAGE];
    assert_eq!(vi.receive_small(&mut line), Some(5));
    assert!(vi.receive_wait(LONG).expect("an end").result.is_err());
    assert_eq!(vi.state(), State::Stopped(CompletionError::Protocol));
}

#[test]
fn wakes_without_a_reason_are_slept_through() {
    let (mut vi, peer) = connected(Reliability::ReliableDelivery);
    for _ in 0..100 {
        peer.waker.wake();
        peer.waker.send_word();
    }
    let waited = vi.receive_wait(Some(Duration::from_millis(20)));
    assert!(matches!(waited, Err(WaitError::Timeout)));
    assert_eq!(vi.state(), State::Connected);
}

#[test]
fn files_that_could_hurt_are_not_mapped() {
    let refused_with = |files: &[&OwnedFd], what: &str| {
        let (vi, socket) = try_connect(Reliability::Unreliable, files);
        assert!(vi.is_none(), "{what} was taken");
        assert!(readable(socket.as_fd(), Some(Instant::now())).expect("polled"), "{what}: not hung up");
    };
    let (sleeper, pipe) = waking::sleeper().expect("a pipe");
    let refused = |file: &OwnedFd, what: &str| refused_with(&[file, &pipe], what);
    refused_with(&[], "no file");
    refused(&socket::new_socket().expect("a socket"), "a socket");
    // It could shrink, and whoever reads it would be killed.
    let loose = rustix::fs::memfd_create("loose", MemfdFlags::ALLOW_SEALING).expect("a file");
    rustix::fs::ftruncate(&loose, 1 << 20).expect("longer");
    refused(&loose, "an unsealed file");
    let (_mapping, short) = crate::memory::Mapping::create("short", 4096, false).expect("a file");
    refused(&short, "a short file");
    let (_side, part) = Side::create(terms(Reliability::Unreliable)).expect("a file");
    refused_with(&[&part.file], "nothing to wake it by");
    refused_with(&[&part.file, &part.file], "no pipe");
    drop(sleeper);
}

#[test]
fn a_peer_that_can_wake_nobody_is_gone() {
    let (mut vi, Peer { side: _side, socket: _socket, sleeper, waker }) =
        connected(Reliability::ReliableDelivery);
    drop(waker);
    let completion = vi.receive_wait(LONG).expect("an end");
    assert_eq!(completion.result, Err(CompletionError::Flushed));
    assert_eq!(vi.state(), State::Stopped(CompletionError::ConnectionLost));
    assert_eq!(sleeper.take(), Woken::Word);
}

#[test]
fn an_end_right_behind_a_wake_is_noticed() {
    let (mut vi, peer) = connected(Reliability::ReliableDelivery);
    let mut queue = CompletionQueue::new(Duration::ZERO).expect("a queue");
    queue.link(&mut vi, 7);
    peer.waker.wake();
    drop(peer);
    assert_eq!(queue.wait(LONG).expect("noticed"), 7);
}

/// Whether or not it can still wake anybody.
#[test]
fn an_end_behind_more_than_is_listened_to_at_a_time_is_noticed_with_its_reason() {
    for (queued, gone) in [(false, false), (false, true), (true, false), (true, true)] {
        let attributes =
            ViAttributes { spin: Duration::ZERO, ..ViAttributes::new(Reliability::ReliableDelivery) };
        let (mut vi, Peer { side: _side, socket, sleeper: _sleeper, waker }) = connected_with(&attributes);
        let mut queue = CompletionQueue::new(Duration::ZERO).expect("a queue");
        if queued {
            queue.link(&mut vi, 7);
        }
        // Who has looked often does not listen with each look.
        (0..600).for_each(|_| assert!(vi.receive_done().is_none() && queue.done().is_none()));
        let words = std::iter::repeat_n(Control::Withdraw { handle: crate::MemoryHandle(1) }, 200);
        for word in words.chain([Control::Bye(CompletionError::Disconnected)]) {
            socket::send(socket.as_fd(), &word.to_bytes(), &[]).expect("sent");
        }
        waker.send_word();
        let kept = (!gone).then_some(waker);
        if queued {
            assert_eq!(queue.wait(LONG).expect("noticed"), 7);
        }
        assert!(vi.receive_wait(LONG).is_ok_and(|end| end.result.is_err()), "{queued} {gone}");
        assert_eq!(vi.state(), State::Stopped(CompletionError::Disconnected), "{queued} {gone}");
        drop(kept);
    }
}

#[test]
fn padding_with_nothing_behind_it_keeps_nobody_awake() {
    let (mut vi, peer) = connected(Reliability::ReliableDelivery);
    let bell = vi.bell().expect("it is connected");
    let publish = |kind, len, position| {
        peer.side.lines().head(position).store(Head::new(kind, len).to_word(position), Ordering::Release);
    };
    publish(Kind::Message, 5, 0);
    publish(Kind::Pad, 0, 1);
    assert_eq!(vi.receive_done().expect("a message").result, Ok(5));
    assert!(vi.receive_done().is_none());
    assert!(!bell.ready(), "there is nothing to do");
    assert!(matches!(vi.receive_wait(Some(Duration::from_millis(20))), Err(WaitError::Timeout)));
    // What comes in the end is received.
    publish(Kind::Message, 6, u64::from(LINES));
    assert!(bell.ready());
    assert_eq!(vi.receive_done().expect("a message").result, Ok(6));
    assert!(!bell.ready());
}

/// Whoever connects again and again and says nothing: a listener gives up when its time is over, as it would without him.
#[test]
fn callers_that_say_nothing_keep_no_listener_beyond_its_time() {
    const WAIT: Duration = Duration::from_millis(100);
    let nic = Nic::shm().expect("a NIC");
    let mut listener = nic.listen(b"silent").expect("a listener");
    let name = socket::name(nic.address(), b"silent").expect("a name");
    let (over, began) = (AtomicBool::new(false), Instant::now());
    let waited = std::thread::scope(|scope| {
        scope.spawn(|| {
            // More than wait for the listener at a time.
            let mut callers = VecDeque::with_capacity(300);
            while !over.load(Ordering::Relaxed) && began.elapsed() < Duration::from_secs(3) {
                let caller = socket::new_socket().expect("a socket");
                if rustix::net::connect(&caller, &name).is_err() {
                    std::thread::sleep(Duration::from_micros(100));
                    continue;
                }
                callers.push_back(caller);
                if callers.len() == 300 {
                    callers.pop_front();
                }
            }
        });
        let waited = (0..3).map(|_| (listener.wait(Some(WAIT)), began.elapsed())).collect::<Vec<_>>();
        over.store(true, Ordering::Relaxed);
        waited
    });
    assert!(waited.iter().all(|(result, _)| matches!(result, Err(ConnectError::Timeout))), "{waited:?}");
    assert!(waited[2].1 < Duration::from_secs(2), "{waited:?}");
}

/// They would be refused whatever they say.
#[test]
fn callers_of_other_users_are_not_waited_for() {
    let nic = Nic::shm().expect("a NIC");
    let mut listener = nic.listen(b"others").expect("a listener");
    let name = socket::name(nic.address(), b"others").expect("a name");
    let call = || {
        let caller = socket::new_socket().expect("a socket");
        rustix::net::connect(&caller, &name).map(|()| caller).expect("somebody listens")
    };
    // Of this thread alone.
    let another = || rustix::thread::set_thread_uid(rustix::fs::Uid::from_raw(4321));
    let others = std::thread::scope(|scope| {
        let calling = scope.spawn(|| another().map(|()| (0..100).map(|_| call()).collect::<Vec<_>>()));
        calling.join().expect("no panic")
    });
    let Ok(others) = others else { return eprintln!("SKIPPED: may not act as another user") };
    let ours = call();
    let waited = listener.wait(Some(Duration::from_millis(20)));
    assert!(matches!(waited, Err(ConnectError::Timeout)), "nobody has said anything");
    let is_open = |caller: &OwnedFd| socket::receive(caller.as_fd()).is_err_and(|why| why == Errno::AGAIN);
    assert!(!others.iter().any(is_open) && is_open(&ours));
}

/// Publishes the frame of a message that stays in the peer's pools.
fn publish_left(peer: &Peer, position: u64, len: u32) {
    publish_in(peer, position, 0, len);
}

/// As that, of one in a memory of this number.
fn publish_in(peer: &Peer, position: u64, memory: u32, len: u32) {
    let head = Head::new(Kind::Elsewhere, 16).with_acknowledge(true);
    let word = u64::from(memory) | u64::from(len) << 32;
    peer.side.lines().fill(position, 8, &word.to_le_bytes());
    peer.side.lines().fill(position, 16, &0_u64.to_le_bytes());
    peer.side.lines().head(position).store(head.to_word(position), Ordering::Release);
}

/// With a receive posted for the next one, with none but padding before it, and with both.
#[test]
fn a_message_that_was_left_is_there_while_sends_are_asked_for() {
    for (receive_buffers, next) in [(2, 1), (1, u64::from(LINES)), (2, u64::from(LINES))] {
        let level = Reliability::ReliableDelivery;
        let attributes = ViAttributes { leave: true, receive_buffers, ..ViAttributes::new(level) };
        let (mut vi, peer) = connected_with(&attributes);
        let mut long = vi.send_buffer().expect("a buffer");
        long.set_len(3000);
        vi.post_send(long).expect("posted");
        publish_left(&peer, 0, 3000);
        let taken = vi.receive_done().expect("a message");
        assert_eq!(vi.left().map(|left| left.len()), Some(3000));
        let publish = |kind, position: u64| {
            let head = Head::new(kind, 0);
            peer.side.lines().head(position).store(head.to_word(position), Ordering::Release);
        };
        publish(Kind::Message, next);
        if next != 1 {
            publish(Kind::Pad, 1);
        }
        assert!(vi.send_done().is_none(), "the peer has not fetched it");
        assert_eq!(vi.left().map(|left| left.len()), Some(3000), "nothing was received since");
        if receive_buffers == 1 {
            vi.release();
        }
        vi.post_receive(taken.buffer).expect("posted");
        assert_eq!(vi.receive_done().expect("the next one").result, Ok(0));
        assert!(vi.left().is_none());
    }
}

/// As who has taken one into his own memory may, which this VI has not.
#[test]
fn memory_that_is_withdrawn_is_there_as_long_as_a_message_in_it_may_be_looked_at() {
    let level = Reliability::ReliableDelivery;
    let attributes = ViAttributes { leave: true, receive_buffers: 4, ..ViAttributes::new(level) };
    let (mut vi, peer) = connected_with(&attributes);
    let show = |number: u32, byte: u8| {
        let (mapping, file) = crate::memory::Mapping::create("withdrawn", 4096, false).expect("a file");
        // SAFETY: the mapping has that many bytes, which nobody else reads yet.
        unsafe { mapping.start().as_ptr().write_bytes(byte, 4096) };
        let what = Control::Memory { number, offset: 0, len: 4096, lent: false };
        socket::send(peer.socket.as_fd(), &what.to_bytes(), &[file.as_fd()]).expect("sent");
    };
    let publish = |position, memory| publish_in(&peer, position, memory, 3000);
    let left = |vi: &Vi| {
        let mut bytes = [0; 3000];
        vi.left().expect("a message").copy(0, &mut bytes).expect("all of it");
        bytes
    };
    show(1, 1);
    publish(0, 1);
    assert_eq!(vi.receive_done().expect("a message").result, Ok(3000));
    assert_eq!(left(&vi), [1; 3000]);
    let mut long = vi.send_buffer().expect("a buffer");
    long.set_len(3000);
    vi.post_send(long).expect("posted");
    for round in 1..3 {
        show(1 + 64 * u32::from(round), 1 + round);
        publish(u64::from(round), 1 + 64 * u32::from(round));
        assert!(vi.send_done().is_none(), "the peer has not fetched it");
        assert_eq!(left(&vi), [1; 3000]);
    }
    // The one that is no more is named once again.
    publish(3, 1);
    assert!(vi.send_done().is_some_and(|sent| sent.result == Err(CompletionError::Protocol)));
    assert_eq!(left(&vi), [1; 3000]);
    for round in 1..3 {
        assert_eq!(*vi.receive_done().expect("kept").buffer, [1 + round; 3000]);
    }
}

#[test]
fn a_message_that_was_left_keeps_nobody_awake() {
    let level = Reliability::ReliableDelivery;
    let (mut vi, peer) = connected_with(&ViAttributes { leave: true, ..ViAttributes::new(level) });
    let bell = vi.bell().expect("it is connected");
    publish_left(&peer, 0, 3000);
    assert!(bell.ready());
    assert_eq!(vi.receive_done().expect("a message").result, Ok(3000));
    assert!(vi.left().is_some() && !bell.ready(), "there is nothing to do");
    assert!(matches!(vi.receive_wait(Some(Duration::from_millis(20))), Err(WaitError::Timeout)));
    assert!(vi.left().is_some() && !bell.ready());
    let next = Head::new(Kind::Message, 5);
    peer.side.lines().head(1).store(next.to_word(1), Ordering::Release);
    assert!(bell.ready());
    assert_eq!(vi.receive_wait(LONG).expect("a message").result, Ok(5));
    assert!(vi.left().is_none() && !bell.ready());
}

/// The one that was asked first keeps what it was sent, and could wake us; it does not hide that another has died.
#[test]
fn a_peer_that_dies_is_noticed_by_who_asked_another_before() {
    let level = Reliability::ReliableDelivery;
    let nics = [(); 3].map(|()| Nic::shm().expect("a NIC"));
    let _silent = nics[0].listen(b"silent").expect("a listener");
    let mut vi = nics[1].create_vi(&ViAttributes::new(level)).expect("a VI");
    vi.post_own_receives();
    let asked = vi.connect(nics[0].address(), b"silent", Some(Duration::from_millis(20)));
    assert!(matches!(asked, Err(ConnectError::Timeout)), "{asked:?}");

    let listener = socket::new_socket().expect("a socket");
    rustix::net::bind(&listener, &socket::name(nics[2].address(), b"mortal").expect("a name"))
        .expect("bound");
    rustix::net::listen(&listener, 1).expect("it listens");
    let (_side, part) = Side::create(terms(level)).expect("a file");
    let (_sleeper, file) = waking::sleeper().expect("a pipe");
    let mortal = std::thread::scope(|scope| {
        let asking = scope.spawn(|| vi.connect(nics[2].address(), b"mortal", LONG));
        let until = Instant::now().checked_add(Duration::from_secs(20));
        assert!(readable(listener.as_fd(), until).expect("polled"));
        let caller = rustix::net::accept_with(&listener, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK);
        let caller = caller.expect("a caller");
        assert!(readable(caller.as_fd(), until).expect("polled"));
        let hello = socket::receive(caller.as_fd()).expect("a request");
        let accept = Control::Accept(terms(level)).to_bytes();
        socket::send(caller.as_fd(), &accept, &[part.file.as_fd(), file.as_fd()]).expect("sent");
        asking.join().expect("no panic").expect("accepted");
        (caller, hello)
    });
    drop(mortal);
    let completion = vi.receive_wait(Some(Duration::from_secs(5))).expect("an end");
    assert_eq!(completion.result, Err(CompletionError::Flushed));
    assert_eq!(vi.state(), State::Stopped(CompletionError::ConnectionLost));
}
