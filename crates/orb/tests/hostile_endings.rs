//! Servers that end a connection at odd moments: while they answer, before they have read, while nobody has connected yet.
#![allow(missing_docs)]

#[path = "common/raw.rs"]
mod raw;

use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use raw::{BadServer, GRACE, LONG, ProbeRef, Wire, block_on, client, reply_of, within};
use throughline::exception::minor;
use throughline::rt::Encode;
use throughline::{Completion, Kind, Orb};
use throughline_cdr::ByteOrder;
use throughline_giop::reply::ReplyStatus;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_call_whose_reply_has_begun_is_not_made_anew() {
    for future in [false, true] {
        let (client, requests) = (client(), Arc::new(AtomicUsize::new(0)));
        let count = Arc::clone(&requests);
        let server = BadServer::new(move |_, mut wire| {
            let Some(heard) = wire.request() else { return };
            count.fetch_add(1, Ordering::SeqCst);
            let start = [heard.id.to_ne_bytes(), [0; 4], [0; 4]].concat();
            wire.send(&raw::message((1, 2), ByteOrder::NATIVE.flag() | 2, 1, 12, &start));
            wire.send(&raw::close_connection());
        });
        let probe = server.reference(&client).within(LONG);
        let e = if future { block_on(probe.ping_async()) } else { probe.ping() }.unwrap_err();
        assert_eq!((e.kind, e.completed), (Kind::CommFailure, Completion::Maybe), "{e}");
        assert_eq!(requests.load(Ordering::SeqCst), 1);
        client.shutdown(GRACE);
    }
}

/// A server that refuses a request as soon as it has seen its head.
fn refuses_early(then: fn(&mut TcpStream)) -> BadServer {
    BadServer::new(move |_, mut wire| {
        let mut head = [0; 16];
        if wire.0.read_exact(&mut head).is_err() {
            return;
        }
        let id = u32::from_ne_bytes(*head.last_chunk().unwrap());
        wire.send(&reply_of(id, ReplyStatus::SystemException, |w| {
            let (kind, completed) = (Kind::NoPermission, Completion::No);
            throughline_giop::SystemException { kind, minor: 7, completed }.encode(w).unwrap();
        }));
        then(&mut wire.0);
    })
}

#[test]
fn an_answer_that_comes_before_the_request_is_sent_whole_is_the_answer() {
    let leaves: fn(&mut TcpStream) = |_| std::thread::sleep(Duration::from_millis(100));
    let stays: fn(&mut TcpStream) = |_| std::thread::sleep(2 * SECOND);
    for then in [leaves, stays] {
        let client = client();
        let server = refuses_early(then);
        let probe = server.reference(&client).within(LONG);
        let started = Instant::now();
        let e = probe.take(&vec![0; 32 << 20]).unwrap_err();
        assert_eq!((e.kind, e.minor, e.completed), (Kind::NoPermission, 7, Completion::No), "{e}");
        assert!(started.elapsed() < SECOND, "{:?}", started.elapsed());
        assert_eq!(server.connections(), 1);
        client.shutdown(GRACE);
    }
}

#[test]
fn what_is_left_of_a_request_that_is_answered_early_leaves_before_the_next_one() {
    for future in [false, true] {
        let client = client();
        let server = BadServer::new(|_, mut wire| {
            let mut head = [0; 16];
            if wire.0.read_exact(&mut head).is_err() {
                return;
            }
            let [.., size, id] = *head.as_chunks().0 else { return };
            wire.send(&reply_of(u32::from_ne_bytes(id), ReplyStatus::NoException, |w| {
                7_u32.encode(w).unwrap()
            }));
            // It reads on, though not at once.
            std::thread::sleep(SECOND / 5);
            let rest = u64::from(u32::from_ne_bytes(size)) - 4;
            std::io::copy(&mut (&wire.0).take(rest), &mut std::io::sink()).unwrap();
            while let Some(heard) = wire.request() {
                wire.send(&heard.answer());
            }
        });
        let probe = server.reference(&client).within(LONG);
        assert_eq!(probe.take(&vec![0; 32 << 20]), Ok(7));
        let called = if future { block_on(probe.ping_async()) } else { probe.ping() };
        assert_eq!((called, server.connections()), (Ok(()), 1), "future: {future}");
        client.shutdown(GRACE);
    }
}

#[test]
fn calls_behind_a_request_that_is_answered_early_and_never_read_end_in_time() {
    for (future, length) in [(false, 10), (true, 10), (false, 300_000)] {
        let client = client();
        let server = refuses_early(|_| std::thread::sleep(2 * SECOND));
        let probe = server.reference(&client).within(LONG);
        let e = probe.take(&vec![0; 32 << 20]).unwrap_err();
        assert_eq!(e.kind, Kind::NoPermission, "{e}");
        let (hasty, text, started) = (probe.within(SECOND / 5), "x".repeat(length), Instant::now());
        let e = if future { block_on(hasty.text_async(&text)) } else { hasty.text(&text) }.unwrap_err();
        assert_eq!(e.kind, Kind::Timeout, "{e}");
        assert!(started.elapsed() < SECOND / 2, "future: {future}, {length}: {:?}", started.elapsed());
        client.shutdown(GRACE);
    }
}

#[test]
fn a_request_longer_than_the_server_takes_is_sent_once() {
    let server = raw::server_with(|c| c.max_message = 1 << 20);
    let client = client();
    let probe = raw::seen_by(&client, &server.root().activate(raw::Probe::default()).unwrap());
    for length in [2 << 20, 32 << 20] {
        let e = probe.take(&vec![0; length]).unwrap_err();
        assert_eq!((e.kind, e.minor), (Kind::CommFailure, minor::PEER_REFUSED_MESSAGE), "{e}");
    }
    probe.ping().unwrap();
    client.shutdown(GRACE);
    server.shutdown(GRACE);
}

/// A port whose queue of connections is full: who connects waits until there is room in it.
struct Crowded {
    listener: TcpListener,
    _crowd: Vec<TcpStream>,
}

impl Crowded {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        rustix::net::listen(&listener, 0).unwrap();
        let address = listener.local_addr().unwrap();
        let connect = || TcpStream::connect_timeout(&address, Duration::from_millis(50));
        let crowd: Vec<_> = std::iter::from_fn(|| connect().ok()).take(4).collect();
        assert!(crowd.len() < 4, "the queue has no end");
        Self { listener, _crowd: crowd }
    }

    /// Where it is, and perhaps at another port, too.
    fn reference(&self, client: &Orb, other: Option<u16>) -> ProbeRef {
        let port = self.listener.local_addr().unwrap().port();
        let other = other.map(|port| format!(",iiop:1.2@127.0.0.1:{port}")).unwrap_or_default();
        let text = format!("corbaloc:iiop:1.2@127.0.0.1:{port}{other}/x");
        ProbeRef(client.string_to_object(&text).unwrap())
    }

    /// From now on there is room. Nobody says anything, though.
    fn let_in(&self) {
        rustix::net::listen(&self.listener, 128).unwrap();
    }
}

/// Answers whatever is asked.
fn answers() -> BadServer {
    BadServer::new(|_, mut wire| {
        while let Some(heard) = wire.request() {
            wire.send(&heard.answer());
        }
    })
}

#[test]
fn an_address_that_does_not_answer_leaves_time_for_the_next_one() {
    let crowded = Crowded::new();
    for future in [false, true] {
        let (client, server) = (client(), answers());
        let probe = crowded.reference(&client, Some(server.port)).within(SECOND);
        let called = if future { block_on(probe.ping_async()) } else { probe.ping() };
        assert_eq!(called, Ok(()), "future: {future}");
        client.shutdown(GRACE);
    }
}

#[test]
fn an_address_that_does_not_answer_costs_one_of_many_futures_its_time() {
    let (crowded, server, client) = (Crowded::new(), answers(), client());
    let mut cx = Context::from_waker(Waker::noop());
    // Each to be an object of its own.
    let probes = (0..16).map(|_| crowded.reference(&client, Some(server.port)).within(SECOND));
    let mut calls: Vec<_> = probes.map(|probe| Box::pin(probe.ping_async())).collect();
    assert!(calls.iter_mut().all(|call| call.as_mut().poll(&mut cx).is_pending()));
    for call in calls {
        assert_eq!(block_on(call), Ok(()));
    }
    client.shutdown(GRACE);
}

#[test]
fn a_future_does_not_wait_for_the_connections_of_others_until_its_time_is_over() {
    let (crowded, server, client) = (Crowded::new(), answers(), client());
    let mut cx = Context::from_waker(Waker::noop());
    // It tries for half a minute.
    let mut patient = Box::pin(crowded.reference(&client, None).ping_async());
    assert!(patient.as_mut().poll(&mut cx).is_pending());
    let probe = crowded.reference(&client, Some(server.port)).within(SECOND);
    assert_eq!(block_on(probe.ping_async()), Ok(()));
    client.shutdown(GRACE);
}

#[test]
fn an_orb_that_shuts_down_while_callers_connect_keeps_none_of_them() {
    for future in [false, true] {
        let (crowded, client) = (Crowded::new(), client());
        let probe = crowded.reference(&client, None);
        let call =
            std::thread::spawn(move || if future { block_on(probe.ping_async()) } else { probe.ping() });
        std::thread::sleep(Duration::from_millis(100));
        client.shutdown(Duration::ZERO);
        // Now it gets its connection.
        crowded.let_in();
        let e = within(LONG, move || call.join().unwrap()).unwrap_err();
        assert_eq!((e.kind, e.completed), (Kind::BadInvOrder, Completion::No), "{e}");
    }
}

#[test]
fn workers_are_not_all_kept_by_a_server_that_lets_nobody_in() {
    let (crowded, server) = (Crowded::new(), answers());
    let client = raw::client_with(|c| c.max_threads = 4);
    let probe = crowded.reference(&client, None);
    let mut cx = Context::from_waker(Waker::noop());
    let mut many: Vec<_> = (0..8).map(|_| Box::pin(probe.ping_async())).collect();
    assert!(many.iter_mut().all(|call| call.as_mut().poll(&mut cx).is_pending()));
    let started = Instant::now();
    let e = block_on(probe.within(SECOND / 5).ping_async()).unwrap_err();
    assert_eq!((e.kind, e.completed), (Kind::Transient, Completion::No), "{e}");
    block_on(server.reference(&client).within(LONG).ping_async()).unwrap();
    assert!(started.elapsed() < 2 * SECOND, "{:?}", started.elapsed());
    client.shutdown(GRACE);
}

#[test]
fn workers_are_not_all_kept_by_many_servers_that_let_nobody_in() {
    let (crowded, server) = ([(); 4].map(|()| Crowded::new()), answers());
    let client = raw::client_with(|c| c.max_threads = 2);
    let mut cx = Context::from_waker(Waker::noop());
    let mut many = crowded.each_ref().map(|crowded| Box::pin(crowded.reference(&client, None).ping_async()));
    assert!(many.iter_mut().all(|call| call.as_mut().poll(&mut cx).is_pending()));
    let started = Instant::now();
    block_on(server.reference(&client).within(LONG).ping_async()).unwrap();
    assert!(started.elapsed() < 2 * SECOND, "{:?}", started.elapsed());
    client.shutdown(GRACE);
}

/// How many threads this process has started so far, and one.
fn threads_started() -> u64 {
    let id = format!("{:?}", std::thread::spawn(|| std::thread::current().id()).join().unwrap());
    id.chars().filter(char::is_ascii_digit).collect::<String>().parse().unwrap()
}

#[test]
fn futures_that_wait_for_a_connection_need_no_threads_of_their_own() {
    let (crowded, client, before) = (Crowded::new(), client(), threads_started());
    let probe = crowded.reference(&client, None).within(SECOND);
    let mut calls: Vec<_> = (0..2_000).map(|_| Box::pin(probe.ping_async())).collect();
    let mut cx = Context::from_waker(Waker::noop());
    assert!(calls.iter_mut().all(|call| call.as_mut().poll(&mut cx).is_pending()));
    for call in calls {
        let e = block_on(call).unwrap_err();
        assert_eq!(e.completed, Completion::No, "{e}");
    }
    // What was not done when the last one's time was over is done soon. Other tests start threads, too.
    std::thread::sleep(SECOND);
    let started = threads_started() - before;
    assert!(started < 1_000, "{started}");
    client.shutdown(GRACE);
}

#[test]
fn requests_that_were_given_up_do_not_pile_up_before_a_server_that_does_not_read() {
    // Nobody accepts, but the kernel does.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = raw::client_with(|c| c.max_message = 1 << 20);
    let port = listener.local_addr().unwrap().port();
    let text = format!("corbaloc:iiop:1.2@127.0.0.1:{port}/x");
    let probe = ProbeRef(client.string_to_object(&text).unwrap());
    // Connects, which may take its time.
    probe.post(0, 0).unwrap();
    let probe = probe.within(Duration::from_millis(50));
    let (text, started) = ("x".repeat(900_000), Instant::now());
    loop {
        let e = block_on(probe.text_async(&text)).unwrap_err();
        match e.kind {
            Kind::NoResources => break,
            _ => assert_eq!((e.kind, e.completed), (Kind::Timeout, Completion::Maybe), "{e}"),
        }
        assert!(started.elapsed() < 5 * SECOND, "they do");
    }
    client.shutdown(GRACE);
}

/// What a call ends with within a moment.
fn soon<F: Future>(call: F) -> Option<F::Output> {
    let mut call = std::pin::pin!(call);
    let mut poll = || call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    let first = poll();
    std::thread::sleep(SECOND / 20);
    match if first.is_pending() { poll() } else { first } {
        Poll::Ready(outcome) => Some(outcome),
        Poll::Pending => None,
    }
}

#[test]
fn a_server_that_reads_again_is_called_again() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = raw::client_with(|c| c.max_message = 1 << 20);
    let port = listener.local_addr().unwrap().port();
    let text = format!("corbaloc:iiop:1.2@127.0.0.1:{port}/x");
    let probe = ProbeRef(client.string_to_object(&text).unwrap()).within(LONG);
    let (text, started) = ("x".repeat(900_000), Instant::now());
    let mut wire = None;
    // As long as requests are taken, each is given up soon, and its time is not over.
    let refused = loop {
        if let Some(outcome) = soon(probe.text_async(&text)) {
            break outcome.unwrap_err();
        }
        wire = wire.or_else(|| Some(Wire::of(listener.accept().unwrap().0)));
        assert!(started.elapsed() < 5 * SECOND, "they pile up");
    };
    assert_eq!((refused.kind, refused.completed), (Kind::NoResources, Completion::No), "{refused}");
    let mut wire = wire.unwrap();
    // An answer that nobody waits for any more.
    wire.send(&raw::reply(0, |_| {}));
    std::thread::sleep(SECOND / 10);
    let server = std::thread::spawn(move || {
        while let Some(heard) = wire.request() {
            wire.send(&heard.answer());
        }
    });
    raw::eventually("it is called", || block_on(probe.ping_async()).is_ok());
    client.shutdown(GRACE);
    server.join().unwrap();
}
