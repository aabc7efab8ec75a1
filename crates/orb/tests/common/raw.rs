//! GIOP by hand over plain sockets, and a servant that does whatever a test of bad manners needs.
#![allow(dead_code, missing_docs, clippy::redundant_closure)]

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, LazyLock, Mutex};
use std::task::{Context, Poll};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use throughline::rt::{
    Decode, DecodeError, Dispatched, Encode, EncodeError, IMPLICIT_OPERATIONS, Interface, NameTable,
    ObjectRef, Operation, OperationTable, Reader, ServerCall, Skeleton, SystemException, TypedReference,
    TypedSkeleton, Writer, rewrite,
};
use throughline::{Address, Completion, Kind, Orb, OrbConfig, Version, WString};
use throughline_cdr::ByteOrder;
use throughline_giop::control::{write_cancel_request, write_close_connection, write_message_error};
use throughline_giop::header::{HEADER_LEN, MessageHeader, MessageType};
use throughline_giop::reply::{NewReply, ReplyHeader, ReplyStatus, begin_reply};
use throughline_giop::request::{NewRequest, RequestHeader, Response, begin_request};
use throughline_giop::{NewTarget, ServiceContext, finish};

pub const VERSIONS: [Version; 3] = [Version::V1_0, Version::V1_1, Version::V1_2];
pub const ORDERS: [ByteOrder; 2] = [ByteOrder::Big, ByteOrder::Little];
/// Nothing in these tests may take longer than this, on however busy a machine.
pub const LONG: Duration = Duration::from_secs(20);
pub const GRACE: Duration = Duration::from_secs(2);

// ---------------------------------------------------------------------------------------------- the servant

pub const ID: &str = "IDL:Test/Probe:1.0";

/// interface Probe {
///   void ping(); string text(in string s); wstring wide(in wstring s); sequence<octet> blob(in unsigned long n);
///   unsigned long nest(in Tree t); void sleep(in unsigned long ms); oneway void post(in unsigned long n,
///   in unsigned long ms); sequence<unsigned long> posted(); void panic(); oneway void panic_oneway(); void run();
///   unsigned long runs(); unsigned long take(in sequence<octet> data);
/// };
pub static PROBE: LazyLock<&'static Interface> = LazyLock::new(|| {
    let own = [
        "ping",
        "text",
        "wide",
        "blob",
        "nest",
        "sleep",
        "post",
        "posted",
        "panic",
        "panic_oneway",
        "run",
        "runs",
        "take",
    ];
    let names: Vec<&'static str> = own.into_iter().chain(IMPLICIT_OPERATIONS).collect();
    let built = throughline_demux::build_names(&names).unwrap();
    let names = Box::leak(names.into_boxed_slice());
    let (displacements, slots) = (Box::leak(built.displacements.into()), Box::leak(built.slots.into()));
    let table = OperationTable::new(NameTable::new(names, built.seed, displacements, slots));
    Box::leak(Box::new(Interface { repository_id: ID, ancestors: &[ID], operations: table }))
});

type Hook = Box<dyn Fn() + Send + Sync>;

#[derive(Default)]
pub struct Inside {
    pub posted: Mutex<Vec<u32>>,
    /// How many calls of `blob`, `sleep` and `run` have started.
    pub runs: AtomicUsize,
    /// What `run` does.
    pub hook: Mutex<Option<Arc<dyn Fn() + Send + Sync>>>,
    /// What happens when the servant is dropped.
    pub on_drop: Mutex<Option<Hook>>,
}

impl Drop for Inside {
    fn drop(&mut self) {
        let hook = self.on_drop.lock().unwrap().take();
        if let Some(hook) = hook {
            hook();
        }
    }
}

#[derive(Clone, Default)]
pub struct Probe(pub Arc<Inside>);

impl Probe {
    pub fn running(hook: impl Fn() + Send + Sync + 'static) -> Self {
        let probe = Self::default();
        *probe.0.hook.lock().unwrap() = Some(Arc::new(hook));
        probe
    }

    pub fn runs(&self) -> usize {
        self.0.runs.load(Ordering::SeqCst)
    }
}

/// A recursive value: a sequence of itself. Yields how deep it is.
fn read_tree(r: &mut Reader<'_>) -> Result<u32, DecodeError> {
    r.nested(|r| {
        let mut deepest = 0;
        for _ in 0..r.read_length(4)? {
            deepest = deepest.max(read_tree(r)?);
        }
        Ok(deepest + 1)
    })
}

impl Skeleton for Probe {
    fn interface(&self) -> &'static Interface {
        &PROBE
    }

    fn invoke(&self, operation: u32, call: &mut ServerCall<'_>) -> Dispatched {
        let inside = &self.0;
        match operation {
            0 => call.reply(|_| Ok(())),
            1 => {
                let text = call.arguments().read_string()?.into_owned();
                call.reply(|w| text.encode(w))
            }
            2 => {
                let text: WString = Decode::decode(call.arguments())?;
                call.reply(|w| text.encode(w))
            }
            3 => {
                let n = call.arguments().read_u32()?;
                // Clients by hand may ask for a delay too.
                let ms = call.arguments().read_u32().unwrap_or(0);
                inside.runs.fetch_add(1, Ordering::SeqCst);
                std::thread::sleep(Duration::from_millis(ms.into()));
                call.reply(|w| vec![7_u8; n as usize].encode(w))
            }
            4 => {
                let depth = read_tree(call.arguments())?;
                call.reply(|w| depth.encode(w))
            }
            5 => {
                let ms = call.arguments().read_u32()?;
                inside.runs.fetch_add(1, Ordering::SeqCst);
                std::thread::sleep(Duration::from_millis(ms.into()));
                call.reply(|_| Ok(()))
            }
            6 => {
                let (n, ms) = (call.arguments().read_u32()?, call.arguments().read_u32()?);
                std::thread::sleep(Duration::from_millis(ms.into()));
                inside.posted.lock().unwrap().push(n);
                Ok(())
            }
            7 => {
                let posted = inside.posted.lock().unwrap().clone();
                call.reply(|w| posted.encode(w))
            }
            8 | 9 => std::panic::resume_unwind(Box::new("as asked")),
            10 => {
                inside.runs.fetch_add(1, Ordering::SeqCst);
                let hook = inside.hook.lock().unwrap().clone();
                if let Some(hook) = hook {
                    hook();
                }
                call.reply(|_| Ok(()))
            }
            11 => {
                let runs = inside.runs.load(Ordering::SeqCst) as u32;
                call.reply(|w| runs.encode(w))
            }
            12 => {
                let data: Vec<u8> = Decode::decode(call.arguments())?;
                call.reply(|w| (data.len() as u32).encode(w))
            }
            _ => call.implicit(&PROBE, operation),
        }
    }
}

impl TypedSkeleton for Probe {
    type Reference = ProbeRef;
}

#[derive(Clone, Debug, PartialEq)]
pub struct ProbeRef(pub ObjectRef);

impl TypedReference for ProbeRef {
    const REPOSITORY_ID: &'static str = ID;
    fn interface() -> &'static Interface {
        &PROBE
    }
    fn from_object(object: ObjectRef) -> Self {
        Self(object)
    }
    fn as_object(&self) -> &ObjectRef {
        &self.0
    }
}

type Called<T> = Result<T, SystemException>;

fn nothing(_: &mut Writer<'_>) -> Result<(), EncodeError> {
    Ok(())
}

impl ProbeRef {
    pub fn ping(&self) -> Called<()> {
        self.0.call(Operation::new("ping", 0), nothing, |_| Ok(()))
    }
    pub fn ping_async(&self) -> impl Future<Output = Called<()>> + Send + Unpin + use<> {
        self.0.call_async(Operation::new("ping", 0), nothing, |_| Ok(()))
    }
    pub fn text(&self, text: &str) -> Called<String> {
        self.0.call(Operation::new("text", 1), |w| text.encode(w), |r| Decode::decode(r))
    }
    pub fn text_async(&self, text: &str) -> impl Future<Output = Called<String>> + Send + Unpin + use<> {
        let operation = Operation::new("text", 1);
        let call = self.0.call_async(operation, |w| text.encode(w), |r| Decode::decode(r));
        call.rewriting(rewrite::<String>)
    }
    pub fn blob(&self, n: u32) -> Called<Vec<u8>> {
        self.0.call(Operation::new("blob", 3), |w| n.encode(w), |r| Decode::decode(r))
    }
    pub fn blob_async(&self, n: u32) -> impl Future<Output = Called<Vec<u8>>> + Send + Unpin + use<> {
        self.0.call_async(Operation::new("blob", 3), |w| n.encode(w), |r| Decode::decode(r))
    }
    pub fn sleep(&self, ms: u32) -> Called<()> {
        self.0.call(Operation::new("sleep", 5), |w| ms.encode(w), |_| Ok(()))
    }
    pub fn sleep_async(&self, ms: u32) -> impl Future<Output = Called<()>> + Send + Unpin + use<> {
        self.0.call_async(Operation::new("sleep", 5), |w| ms.encode(w), |_| Ok(()))
    }
    pub fn post(&self, n: u32, ms: u32) -> Called<()> {
        self.0.send_oneway(Operation::new("post", 6), |w| {
            n.encode(w)?;
            ms.encode(w)
        })
    }
    pub fn posted(&self) -> Called<Vec<u32>> {
        self.0.call(Operation::new("posted", 7), nothing, |r| Decode::decode(r))
    }
    pub fn panic(&self) -> Called<()> {
        self.0.call(Operation::new("panic", 8), nothing, |_| Ok(()))
    }
    pub fn panic_oneway(&self) -> Called<()> {
        self.0.send_oneway(Operation::new("panic_oneway", 9), nothing)
    }
    pub fn run(&self) -> Called<()> {
        self.0.call(Operation::new("run", 10), nothing, |_| Ok(()))
    }
    pub fn run_async(&self) -> impl Future<Output = Called<()>> + Send + Unpin + use<> {
        self.0.call_async(Operation::new("run", 10), nothing, |_| Ok(()))
    }
    pub fn take(&self, data: &[u8]) -> Called<u32> {
        self.0.call(Operation::new("take", 12), |w| data.encode(w), |r| Decode::decode(r))
    }
    pub fn within(&self, limit: Duration) -> Self {
        Self(self.0.with_timeout(limit))
    }
}

// ------------------------------------------------------------------------------------------- ORBs and clocks

pub fn server_with(change: impl FnOnce(&mut OrbConfig)) -> Orb {
    let mut config = OrbConfig { listen: vec![Address::tcp("127.0.0.1", 0)], ..OrbConfig::default() };
    change(&mut config);
    Orb::start(config).unwrap()
}

pub fn server() -> Orb {
    server_with(|_| {})
}

pub fn client_with(change: impl FnOnce(&mut OrbConfig)) -> Orb {
    let mut config = OrbConfig::default();
    change(&mut config);
    Orb::start(config).unwrap()
}

pub fn client() -> Orb {
    client_with(|_| {})
}

/// The reference as another process would get it.
pub fn seen_by(client: &Orb, reference: &ProbeRef) -> ProbeRef {
    ProbeRef(client.string_to_object(&reference.0.to_string()).unwrap())
}

/// A server with one object, its key, and a client's reference to the object.
pub struct Scene {
    pub server: Orb,
    pub client: Orb,
    pub servant: Probe,
    pub own: ProbeRef,
    pub probe: ProbeRef,
    pub key: Vec<u8>,
}

impl Scene {
    pub fn new() -> Self {
        Self::with(|_| {})
    }

    pub fn with(change: impl FnOnce(&mut OrbConfig)) -> Self {
        Self::of(Probe::default(), change)
    }

    pub fn of(servant: Probe, change: impl FnOnce(&mut OrbConfig)) -> Self {
        let (server, client) = (server_with(change), client());
        let own = server.root().activate(servant.clone()).unwrap();
        let (probe, key) = (seen_by(&client, &own), own.0.object_key());
        Self { server, client, servant, own, probe, key }
    }

    pub fn wire(&self) -> Wire {
        Wire::to(&self.server)
    }

    /// The server still serves: an existing connection and a new one.
    pub fn assert_alive(&self) {
        let started = Instant::now();
        self.probe.within(LONG).ping().unwrap();
        let mut wire = self.wire();
        wire.send(&ping(&self.key, 1));
        assert_eq!(wire.reply().unwrap().status, ReplyStatus::NoException);
        assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        self.client.shutdown(GRACE);
        self.server.shutdown(GRACE);
    }
}

/// Runs `work` on a thread of its own, and fails when it takes longer than `limit`.
#[track_caller]
pub fn within<T: Send + 'static>(limit: Duration, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        let _ = done.send(work());
    });
    match result.recv_timeout(limit) {
        Ok(value) => {
            thread.join().unwrap();
            value
        }
        Err(RecvTimeoutError::Disconnected) => {
            std::panic::resume_unwind(thread.join().expect_err("the thread sent nothing"))
        }
        Err(RecvTimeoutError::Timeout) => panic!("still not done after {limit:?}"),
    }
}

/// Waits until `condition` holds.
#[track_caller]
pub fn eventually(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + LONG;
    while !condition() {
        assert!(Instant::now() < deadline, "never came about: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A runtime of one future, which fails when the future takes too long.
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut cx = Context::from_waker(&waker);
    let mut future = std::pin::pin!(future);
    let deadline = Instant::now() + LONG;
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        let left = deadline.saturating_duration_since(Instant::now());
        assert!(!left.is_zero(), "a future hangs");
        std::thread::park_timeout(left);
    }
}

/// xorshift64*: the same numbers every time.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 16) as usize % bound
    }
}

// --------------------------------------------------------------------------------------------------- messages

pub fn port_of(orb: &Orb) -> u16 {
    orb.addresses()
        .iter()
        .find_map(|a| match a {
            Address::Tcp { port, .. } => Some(*port),
            _ => None,
        })
        .unwrap()
}

/// A whole request.
pub struct Asked<'a> {
    pub version: Version,
    pub order: ByteOrder,
    pub id: u32,
    pub response: Response,
    pub target: NewTarget<'a>,
    pub operation: &'a str,
    pub contexts: &'a [ServiceContext<'a>],
}

impl<'a> Asked<'a> {
    pub fn new(key: &'a [u8], operation: &'a str, id: u32) -> Self {
        Self {
            version: Version::V1_2,
            order: ByteOrder::NATIVE,
            id,
            response: Response::Target,
            target: NewTarget::Key(key),
            operation,
            contexts: &[],
        }
    }

    pub fn bytes(&self, write: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
        let mut buffer = Vec::new();
        let request = NewRequest {
            request_id: self.id,
            response: self.response,
            target: self.target,
            operation: self.operation,
            service_contexts: self.contexts,
        };
        let open = begin_request(&mut buffer, self.version, self.order, &request).unwrap();
        write(&mut open.writer(&mut buffer));
        finish(&mut buffer, open).unwrap();
        buffer
    }
}

pub fn ping(key: &[u8], id: u32) -> Vec<u8> {
    Asked::new(key, "ping", id).bytes(|_| {})
}

/// A request with one number as its argument.
pub fn number(key: &[u8], operation: &str, id: u32, n: u32) -> Vec<u8> {
    Asked::new(key, operation, id).bytes(|w| w.write_u32(n))
}

pub fn cancel(id: u32) -> Vec<u8> {
    let mut buffer = Vec::new();
    write_cancel_request(&mut buffer, Version::V1_2, ByteOrder::NATIVE, id);
    buffer
}

pub fn close_connection() -> Vec<u8> {
    let mut buffer = Vec::new();
    write_close_connection(&mut buffer, Version::V1_2, ByteOrder::NATIVE);
    buffer
}

pub fn message_error() -> Vec<u8> {
    let mut buffer = Vec::new();
    write_message_error(&mut buffer, Version::V1_2, ByteOrder::NATIVE);
    buffer
}

/// A message of any kind with any body, right or wrong.
pub fn message(version: (u8, u8), flags: u8, kind: u8, announced: u32, body: &[u8]) -> Vec<u8> {
    let size = if flags & 1 == 0 { announced.to_be_bytes() } else { announced.to_le_bytes() };
    [&b"GIOP"[..], &[version.0, version.1, flags, kind], &size, body].concat()
}

pub struct Answer {
    pub id: u32,
    pub status: ReplyStatus,
    pub message: Vec<u8>,
    pub header: MessageHeader,
    body: usize,
}

impl Answer {
    pub fn reader(&self) -> Reader<'_> {
        Reader::starting_at(&self.message, self.header.order, self.body)
    }

    /// The system exception that the reply must be.
    #[track_caller]
    pub fn exception(&self) -> (Kind, u32, Completion) {
        assert_eq!(self.status, ReplyStatus::SystemException);
        let e = <throughline_giop::SystemException as Decode>::decode(&mut self.reader()).unwrap();
        (e.kind, e.minor, e.completed)
    }
}

/// What a peer said next.
pub enum Said {
    Reply(Answer),
    Other(MessageHeader, Vec<u8>),
    /// The connection is closed, in order or by a reset.
    Closed,
}

/// One end of a connection, moved by hand.
pub struct Wire(pub TcpStream);

impl Wire {
    pub fn to(orb: &Orb) -> Self {
        Self::of(TcpStream::connect(("127.0.0.1", port_of(orb))).unwrap())
    }

    pub fn of(stream: TcpStream) -> Self {
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream.set_write_timeout(Some(LONG)).unwrap();
        Self(stream)
    }

    /// Sends; what the peer no longer takes is its own business.
    pub fn send(&mut self, bytes: &[u8]) {
        let _ = self.0.write_all(bytes);
    }

    /// Half-closes: nothing more will be sent.
    pub fn hush(&mut self) {
        let _ = self.0.shutdown(std::net::Shutdown::Write);
    }

    fn fill(&mut self, buffer: &mut [u8]) -> bool {
        match self.0.read_exact(buffer) {
            Ok(()) => true,
            Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                panic!("the peer neither answers nor closes")
            }
            Err(_) => false,
        }
    }

    #[track_caller]
    pub fn next(&mut self) -> Said {
        let mut message = vec![0; HEADER_LEN];
        if !self.fill(&mut message) {
            return Said::Closed;
        }
        let header = MessageHeader::parse(message.first_chunk().unwrap(), usize::MAX).unwrap();
        message.resize(header.message_len(), 0);
        if !self.fill(&mut message[HEADER_LEN..]) {
            return Said::Closed;
        }
        if header.kind != MessageType::Reply {
            return Said::Other(header, message);
        }
        let reply = ReplyHeader::read(&header, &message).unwrap();
        let (id, status, body) = (reply.request_id, reply.status, message.len() - reply.body.remaining());
        Said::Reply(Answer { id, status, message, header, body })
    }

    /// The next message, if it is a reply.
    #[track_caller]
    pub fn reply(&mut self) -> Option<Answer> {
        match self.next() {
            Said::Reply(answer) => Some(answer),
            Said::Other(header, _) => panic!("a {:?} instead of a reply", header.kind),
            Said::Closed => None,
        }
    }

    /// The kind of the next message that is no reply.
    #[track_caller]
    pub fn other(&mut self) -> Option<(MessageHeader, Vec<u8>)> {
        match self.next() {
            Said::Other(header, message) => Some((header, message)),
            Said::Reply(answer) => panic!("a reply ({:?}) to {}", answer.status, answer.id),
            Said::Closed => None,
        }
    }

    #[track_caller]
    pub fn expect_message_error(&mut self) {
        let (header, _) = self.other().expect("closed without a MessageError");
        assert_eq!(header.kind, MessageType::MessageError);
        self.expect_closed();
    }

    #[track_caller]
    pub fn expect_closed(&mut self) {
        match self.next() {
            Said::Closed => {}
            Said::Reply(answer) => panic!("open, and a reply ({:?}) to {}", answer.status, answer.id),
            Said::Other(header, _) => panic!("open, and a {:?}", header.kind),
        }
    }

    /// The next request, as a server reads it.
    #[track_caller]
    pub fn request(&mut self) -> Option<Heard> {
        match self.next() {
            Said::Other(header, message) if header.kind == MessageType::Request => {
                let request = RequestHeader::read(&header, &message).unwrap();
                let operation = String::from_utf8(request.operation.to_vec()).unwrap();
                let (id, expected) = (request.request_id, request.response.is_expected());
                Some(Heard { id, operation, expected, header })
            }
            Said::Other(header, _) if header.kind == MessageType::CancelRequest => self.request(),
            Said::Other(header, _) => panic!("a {:?} instead of a request", header.kind),
            Said::Reply(_) => panic!("a reply from a client"),
            Said::Closed => None,
        }
    }
}

/// A request as a server by hand reads it.
#[derive(Debug)]
pub struct Heard {
    pub id: u32,
    pub operation: String,
    pub expected: bool,
    pub header: MessageHeader,
}

impl Heard {
    /// A reply with nothing in it.
    pub fn answer(&self) -> Vec<u8> {
        reply(self.id, |_| {})
    }
}

/// A successful reply.
pub fn reply(id: u32, write: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
    reply_of(id, ReplyStatus::NoException, write)
}

pub fn reply_of(id: u32, status: ReplyStatus, write: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
    let mut buffer = Vec::new();
    let new = NewReply { request_id: id, status, service_contexts: &[] };
    let open = begin_reply(&mut buffer, Version::V1_2, ByteOrder::NATIVE, &new).unwrap();
    write(&mut open.writer(&mut buffer));
    finish(&mut buffer, open).unwrap();
    buffer
}

// ---------------------------------------------------------------------------------------- servers by hand

/// A server by hand: runs `serve` for each connection, with its number, one after another.
pub struct BadServer {
    pub port: u16,
    pub accepted: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
}

impl BadServer {
    pub fn new(mut serve: impl FnMut(usize, Wire) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let accepted = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&accepted);
        let thread = std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                let n = count.fetch_add(1, Ordering::SeqCst);
                if n >= STOP {
                    return;
                }
                serve(n, Wire::of(stream));
            }
        });
        Self { port, accepted, thread: Some(thread) }
    }

    pub fn reference(&self, client: &Orb) -> ProbeRef {
        let text = format!("corbaloc:iiop:1.2@127.0.0.1:{}/bad", self.port);
        ProbeRef(client.string_to_object(&text).unwrap())
    }

    pub fn connections(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }
}

const STOP: usize = usize::MAX / 2;

impl Drop for BadServer {
    fn drop(&mut self) {
        self.accepted.store(STOP, Ordering::SeqCst);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        if !std::thread::panicking() {
            let _ = self.thread.take().unwrap().join();
        }
    }
}

// -------------------------------------------------------------------------------------------- the process

/// Threads of this process whose names begin with `prefix`; all with an empty one.
pub fn threads(prefix: &str) -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    tasks
        .filter(|t| {
            std::fs::read_to_string(t.path().join("comm")).is_ok_and(|name| name.trim().starts_with(prefix))
        })
        .count()
}

/// Open descriptors of this process.
pub fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}
