//! Where threads meet on a client's connection: no reply is lost and no caller sleeps for ever when the one who receives
//! passes the role on, gives up, or the connection ends.
//!
//! Blocking callers, hasty and patient, and futures, awaited and dropped, share one end of a pair of sockets; at the other
//! end sits a server that answers in any order, in any pieces, late, or not at all, and ends the connection in every way.
//! Threads are disturbed at each lock, from a seed. A wake-up that is lost leaves a caller asleep, and the test says with
//! which seed; `THROUGHLINE_STRESS_SEED` begins with it, `THROUGHLINE_STRESS_SECONDS` goes on for longer. An heir that gives
//! up in the moment in which it inherits is too rare for this, and has a test of its own in [`client`](super::client).

use std::cell::Cell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{JoinHandle, Thread};
use std::time::{Duration, Instant};

use throughline_cdr::{ByteOrder, CodeSets};
use throughline_giop::connection::Frame;
use throughline_giop::control::{write_close_connection, write_message_error};
use throughline_giop::header::{HEADER_LEN, MessageHeader, MessageType, Version};
use throughline_giop::reply::{NewReply, ReplyHeader, ReplyStatus, begin_reply};
use throughline_giop::request::{NewRequest, RequestHeader, Response, begin_request};
use throughline_giop::{NewTarget, finish};

use crate::transport::calls::CallFailure;
use crate::transport::client::{ClientConnection, ClientLimits};
use crate::transport::reactor::{Reactor, ReactorLimits};
use crate::transport::socket::{Socket, Wait};

/// Nobody may sleep for as long as this, on however busy a machine.
const FOR_EVER: Duration = Duration::from_secs(20);
const CALLERS: u64 = 6;

// ------------------------------------------------------------------------------------------ chance and disturbance

/// Of the disturbance: 0 for none.
static SEED: AtomicU64 = AtomicU64::new(0);
static THREADS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static CHANCE: Cell<u64> = const { Cell::new(0) };
}

/// Splitmix: every seed is as good as any other.
fn next(state: u64) -> u64 {
    state.wrapping_add(0x9e37_79b9_7f4a_7c15)
}

fn mixed(state: u64) -> u64 {
    let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Called before a lock is taken: sometimes lets others go first.
pub(crate) fn disturb() {
    let seed = SEED.load(Ordering::Relaxed);
    if seed == 0 {
        return;
    }
    // Fails only while a thread ends.
    let _ = CHANCE.try_with(|chance| {
        let state = match chance.get() {
            0 => mixed(seed ^ mixed(THREADS.fetch_add(1, Ordering::Relaxed))) | 1,
            state => next(state),
        };
        chance.set(state);
        let state = mixed(state);
        match (state >> 20) % 64 {
            0..8 => std::thread::yield_now(),
            8..12 => std::thread::sleep(Duration::from_micros((state >> 32) % 300)),
            _ => {}
        }
    });
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = next(self.0);
        (mixed(self.0) >> 16) % bound
    }

    fn micros(&mut self, bound: u64) -> Duration {
        Duration::from_micros(self.below(bound))
    }
}

// ------------------------------------------------------------------------------------------------------ the server

/// How a server ends a connection.
#[derive(Clone, Copy, Debug)]
enum End {
    /// When the client does.
    Never,
    Closes,
    /// By `CloseConnection`.
    SaysFarewell,
    Refuses,
    /// In the middle of a reply.
    CutsShort,
    TalksNonsense,
}

const ENDS: [End; 6] =
    [End::Never, End::Closes, End::SaysFarewell, End::Refuses, End::CutsShort, End::TalksNonsense];

fn serve(mut socket: UnixStream, seed: u64, end: End, plan: Plan) {
    let (mut random, mut waiting) = (Random(seed), VecDeque::new());
    let requests = 1 + random.below(plan.calls * CALLERS);
    let mut heard = 0;
    while heard < requests || matches!(end, End::Never) {
        // Patient callers wait until they are answered: what is held back leaves when nothing more comes.
        let hurry = (!waiting.is_empty())
            .then(|| Duration::from_millis(if plan.hasty { 10 } else { 1 + random.below(3) }));
        let Some(request) = receive(&mut socket, hurry) else {
            if answer(&mut socket, &mut waiting, &mut random, true) { continue } else { return }
        };
        let Some((id, needed)) = request else { return };
        heard += 1;
        if needed || random.below(3) > 0 {
            waiting.push_back(id);
        }
        if !plan.hasty && random.below(3) == 0 && !answer(&mut socket, &mut waiting, &mut random, false) {
            return;
        }
    }
    let mut last = Vec::new();
    match end {
        End::Never | End::Closes => {}
        End::SaysFarewell => write_close_connection(&mut last, Version::V1_2, ByteOrder::NATIVE),
        End::Refuses => write_message_error(&mut last, Version::V1_2, ByteOrder::NATIVE),
        End::CutsShort => last.extend_from_slice(&reply(0)[..random.below(20) as usize]),
        End::TalksNonsense => last.extend_from_slice(b"GET / HTTP/1.1\r\n\r\n"),
    }
    let _ = socket.write_all(&last);
}

/// The id of the next request, and whether its caller waits for as long as it takes. The outer none: nothing comes for a
/// moment; the inner: nothing comes any more.
fn receive(socket: &mut UnixStream, hurry: Option<Duration>) -> Option<Option<(u32, bool)>> {
    socket.set_read_timeout(hurry).ok()?;
    let mut message = vec![0; HEADER_LEN];
    match socket.read(&mut message[..1]) {
        Ok(1) => {}
        Err(e) if matches!(e.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {
            return None;
        }
        _ => return Some(None),
    }
    Some(receive_rest(socket, message))
}

fn receive_rest(socket: &mut UnixStream, mut message: Vec<u8>) -> Option<(u32, bool)> {
    socket.set_read_timeout(None).ok()?;
    socket.read_exact(&mut message[1..]).ok()?;
    let header = MessageHeader::parse(message.first_chunk()?, 1 << 16).ok()?;
    message.resize(header.message_len(), 0);
    socket.read_exact(&mut message[HEADER_LEN..]).ok()?;
    if header.kind != MessageType::Request {
        // A request that was cancelled need not be answered, and has been if it was.
        return Some((u32::MAX, false));
    }
    let request = RequestHeader::read(&header, &message).ok()?;
    Some((request.request_id, request.operation == b"needed"))
}

/// Sends some of the replies, in any order and in any pieces; false when nobody takes them.
fn answer(socket: &mut UnixStream, waiting: &mut VecDeque<u32>, random: &mut Random, all: bool) -> bool {
    let count = if all { waiting.len() as u64 } else { random.below(waiting.len() as u64 + 1) };
    let mut bytes = Vec::new();
    for _ in 0..count {
        let place = random.below(waiting.len() as u64) as usize;
        bytes.extend(waiting.remove(place).map(reply).unwrap_or_default());
    }
    let mut rest = &bytes[..];
    while !rest.is_empty() {
        let whole = random.below(2) == 0;
        let (piece, later) =
            rest.split_at(if whole { rest.len() } else { 1 + random.below(rest.len() as u64) as usize });
        if socket.write_all(piece).is_err() {
            return false;
        }
        rest = later;
        std::thread::yield_now();
    }
    true
}

fn reply(id: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let new = NewReply { request_id: id, status: ReplyStatus::NoException, service_contexts: &[] };
    let open = begin_reply(&mut bytes, Version::V1_2, ByteOrder::NATIVE, &new).unwrap();
    finish(&mut bytes, open).unwrap();
    bytes
}

// ----------------------------------------------------------------------------------------------------- the callers

fn request(id: u32, needed: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    let new = NewRequest {
        request_id: id,
        response: Response::Target,
        target: NewTarget::Key(b"k"),
        operation: if needed { "needed" } else { "perhaps" },
        service_contexts: &[],
    };
    let open = begin_request(&mut bytes, Version::V1_2, ByteOrder::NATIVE, &new).unwrap();
    finish(&mut bytes, open).unwrap();
    bytes
}

type Outcome = Result<Frame, CallFailure>;

/// What the callers of one connection do.
#[derive(Clone, Copy, Debug)]
struct Plan {
    /// Each caller's. Who comes later often helps who sleeps: most connections have few.
    calls: u64,
    /// Only blocking calls, most of which give up before the server answers any: an heir may do so when it inherits.
    hasty: bool,
}

impl Plan {
    fn new(random: &mut Random) -> Self {
        let hasty = random.below(2) == 0;
        let calls = if !hasty && random.below(4) == 0 { 40 } else { 1 + random.below(3) };
        Self { calls: if hasty { 1 } else { calls }, hasty }
    }

    fn limit(self, random: &mut Random) -> Option<Duration> {
        let limit = random.micros(if self.hasty { 8000 } else { 2000 });
        (random.below(if self.hasty { 6 } else { 2 }) > 0).then_some(limit)
    }
}

/// Every call ends with its own reply, in time, or with the connection.
fn call_on(connection: &Arc<ClientConnection>, seed: u64, plan: Plan, done: &AtomicUsize) {
    let mut random = Random(seed);
    for _ in 0..plan.calls {
        let limit = plan.limit(&mut random);
        let deadline = limit.map(|limit| Instant::now() + limit);
        let called = match random.below(5) {
            _ if plan.hasty => block(connection, deadline),
            0..3 => block(connection, deadline),
            3 => future(connection, deadline, u64::MAX),
            _ => future(connection, deadline, random.below(3)),
        };
        match called {
            Ok(()) => {}
            Err(CallFailure::TimedOut) => assert!(limit.is_some(), "a patient call has timed out"),
            Err(_) => break,
        }
        done.fetch_add(1, Ordering::Relaxed);
    }
}

fn is_mine(outcome: Outcome, id: u32) -> Result<(), CallFailure> {
    let frame = outcome?;
    assert_eq!(ReplyHeader::read(&frame.header, &frame).unwrap().request_id, id);
    Ok(())
}

fn block(connection: &Arc<ClientConnection>, deadline: Option<Instant>) -> Result<(), CallFailure> {
    let id = connection.reserve(Version::V1_2)?;
    if let Err(failure) = connection.send(id, &request(id, deadline.is_none()), deadline) {
        connection.forget(id);
        return Err(failure);
    }
    is_mine(connection.wait(id, deadline), id)
}

/// A future that is dropped after `patience` polls.
fn future(
    connection: &Arc<ClientConnection>,
    deadline: Option<Instant>,
    patience: u64,
) -> Result<(), CallFailure> {
    connection.register().map_err(|_| CallFailure::NotStarted)?;
    let id = connection.reserve_task(Version::V1_2, deadline)?;
    connection.push(&request(id, deadline.is_none()));
    let mut polls = 0;
    let outcome = block_on(|cx| {
        if polls >= patience {
            return Poll::Ready(None);
        }
        polls += 1;
        let polled = connection.poll(id, polls == 1, cx).map(Some);
        if polls >= patience && polled.is_pending() { Poll::Ready(None) } else { polled }
    });
    match outcome {
        Some(outcome) => is_mine(outcome, id),
        None => {
            connection.cancel(id);
            Ok(())
        }
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<T>(poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> T {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut future = std::pin::pin!(poll_fn(poll));
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => std::thread::park(),
        }
    }
}

// -------------------------------------------------------------------------------------------------------- the test

/// One connection from its beginning to its end; the number of calls that ended before it.
fn round(seed: u64) -> usize {
    let mut random = Random(seed);
    let (ours, theirs) = UnixStream::pair().unwrap();
    let reactor = Reactor::new(ReactorLimits { threads: 3, lingering: 2, sources: 8 }).unwrap();
    let limits = ClientLimits {
        max_message: 1 << 16,
        max_calls: 64,
        wait: if random.below(3) == 0 { Wait::Spin(Duration::from_micros(20)) } else { Wait::Block },
        idle_timeout: None,
        keep_alive: None,
        linger: Duration::from_millis(random.below(3)).max(Duration::from_micros(100)),
        cancel_requests: random.below(2) == 0,
    };
    let socket = Socket::new(ours.into()).unwrap();
    let connection = ClientConnection::new(socket, &reactor, Arc::new(limits), CodeSets::DEFAULT);
    let plan = Plan::new(&mut random);
    let end = if plan.hasty { End::Never } else { ENDS[random.below(ENDS.len() as u64) as usize] };
    let (serves, done) = (mixed(seed ^ 1), Arc::new(AtomicUsize::new(0)));
    let server = std::thread::spawn(move || serve(theirs, serves, end, plan));
    let callers: Vec<_> = (0..CALLERS)
        .map(|n| {
            let (connection, done) = (Arc::clone(&connection), Arc::clone(&done));
            std::thread::spawn(move || call_on(&connection, mixed(seed ^ mixed(n + 2)), plan, &done))
        })
        .collect();
    join(callers, || format!("a caller sleeps for ever: seed {seed}, {end:?}, {connection:?}"));
    connection.end(&CallFailure::NotStarted);
    join(vec![server], || "the server does not end".to_owned());
    reactor.stop(Duration::from_secs(1));
    done.load(Ordering::Relaxed)
}

#[track_caller]
fn join(threads: Vec<JoinHandle<()>>, otherwise: impl Fn() -> String) {
    let started = Instant::now();
    while threads.iter().any(|thread| !thread.is_finished()) {
        assert!(started.elapsed() < FOR_EVER, "{}", otherwise());
        std::thread::sleep(Duration::from_micros(200));
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn nobody_sleeps_for_ever() {
    let seconds = std::env::var("THROUGHLINE_STRESS_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(3);
    let first = std::env::var("THROUGHLINE_STRESS_SEED").ok().and_then(|s| s.parse().ok());
    let until = Instant::now() + Duration::from_secs(seconds);
    let (mut seed, mut rounds, mut calls) = (first.unwrap_or(0x5eed), 0_u32, 0);
    while Instant::now() < until {
        SEED.store(seed, Ordering::Relaxed);
        calls += round(seed);
        (seed, rounds) = (next(seed), rounds + 1);
    }
    SEED.store(0, Ordering::Relaxed);
    println!("{rounds} connections, {calls} calls");
    assert!(rounds > 3 && calls > 5 * rounds as usize, "{rounds} connections, {calls} calls");
}
