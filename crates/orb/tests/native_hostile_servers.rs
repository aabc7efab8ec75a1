//! Servers of the native protocol that are not there, say nothing, or take nothing.
#![allow(missing_docs)]

#[path = "common/raw.rs"]
mod raw;

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use raw::{BadServer, GRACE, LONG, ProbeRef, block_on, client};
use throughline::rt::Operation;
use throughline::{AsyncCall, Completion, Ior, Kind, Orb, OrbConfig, SystemException};
use throughline_giop::{NativeAddress, NativeProfile};
use throughline_vi::{Listener, Nic, Reliability, SendDescriptor, Vi, ViAttributes};
use throughline_wire::{Header, Message};

/// Less than it takes to give a native way up for lack of an answer.
const LIMIT: Duration = Duration::from_millis(500);

/// A server by IIOP that is said to be reached by datagrams, too, which nobody reads.
struct HalfSilent {
    silent: UdpSocket,
    server: BadServer,
}

impl HalfSilent {
    fn new() -> Self {
        let server = BadServer::new(|_, mut wire| {
            while let Some(heard) = wire.request() {
                wire.send(&heard.answer());
            }
        });
        Self { silent: UdpSocket::bind("127.0.0.1:0").unwrap(), server }
    }

    fn reference(&self, client: &Orb) -> ProbeRef {
        let mut ior = self.server.reference(client).0.ior().clone();
        let port = self.silent.local_addr().unwrap().port();
        let address = NativeAddress::Udp { host: "127.0.0.1".into(), port };
        ior.profiles.push(NativeProfile { address, slot: 0, nonce: 1 }.to_tagged().unwrap());
        ProbeRef(client.reference(ior)).within(LIMIT)
    }
}

#[test]
fn a_way_that_does_not_answer_leaves_time_for_another() {
    for future in [false, true] {
        let (client, server) = (client(), HalfSilent::new());
        let probe = server.reference(&client);
        let started = Instant::now();
        let called = if future { block_on(probe.ping_async()) } else { probe.ping() };
        assert_eq!(called, Ok(()), "future: {future}, after {:?}", started.elapsed());
        assert!(started.elapsed() < LIMIT, "future: {future}: {:?}", started.elapsed());
        client.shutdown(GRACE);
    }
}

#[test]
fn calls_with_little_time_do_not_try_for_ever_what_does_not_answer() {
    let (client, server) = (client(), HalfSilent::new());
    let probe = server.reference(&client);
    let is_quick = |n: usize| {
        let started = Instant::now();
        if n.is_multiple_of(2) { block_on(probe.ping_async()) } else { probe.ping() }.unwrap();
        started.elapsed() < LIMIT / 2
    };
    assert!((0..8).any(is_quick));
    client.shutdown(GRACE);
}

#[test]
fn workers_are_not_all_kept_by_many_servers_that_do_not_answer() {
    let client = raw::client_with(|c| c.max_threads = 2);
    let (silent, good) = ([(); 8].map(|()| HalfSilent::new()), HalfSilent::new());
    let mut cx = Context::from_waker(Waker::noop());
    let patient = |server: &HalfSilent| server.reference(&client).within(LONG).ping_async();
    let mut many = silent.each_ref().map(|server| Box::pin(patient(server)));
    assert!(many.iter_mut().all(|call| call.as_mut().poll(&mut cx).is_pending()));
    let started = Instant::now();
    assert_eq!(block_on(good.server.reference(&client).within(LONG).ping_async()), Ok(()));
    assert!(started.elapsed() < 2 * LIMIT, "{:?}", started.elapsed());
    for call in many {
        assert_eq!(block_on(call), Ok(()));
    }
    client.shutdown(GRACE);
}

/// A way for datagrams to a server, and back, until it is cut.
struct Relay {
    port: u16,
    cut: Arc<AtomicBool>,
}

impl Relay {
    fn to(server: u16) -> Self {
        let front = UdpSocket::bind("127.0.0.1:0").unwrap();
        front.set_nonblocking(true).unwrap();
        let (port, cut) = (front.local_addr().unwrap().port(), Arc::new(AtomicBool::new(false)));
        let is_cut = Arc::clone(&cut);
        std::thread::spawn(move || carry(&front, server, &is_cut));
        Self { port, cut }
    }
}

fn carry(front: &UdpSocket, server: u16, is_cut: &Arc<AtomicBool>) {
    let mut datagram = vec![0; 1 << 16];
    // Each socket of a client has one to the server.
    let mut clients: Vec<(SocketAddr, UdpSocket)> = Vec::new();
    while Arc::strong_count(is_cut) > 1 {
        let goes_on = !is_cut.load(Ordering::Relaxed);
        while let Ok((length, from)) = front.recv_from(&mut datagram) {
            let known = clients.iter().position(|(client, _)| *client == from).unwrap_or_else(|| {
                let back = UdpSocket::bind("127.0.0.1:0").unwrap();
                back.connect(("127.0.0.1", server)).unwrap();
                back.set_nonblocking(true).unwrap();
                clients.push((from, back));
                clients.len() - 1
            });
            let _ = goes_on.then(|| clients[known].1.send(&datagram[..length]));
        }
        for (client, back) in &clients {
            while let Ok(length) = back.recv(&mut datagram) {
                let _ = goes_on.then(|| front.send_to(&datagram[..length], client));
            }
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// An object that is reached by datagrams to this port alone.
fn by_datagrams(client: &Orb, port: u16, mut profile: NativeProfile) -> ProbeRef {
    profile.address = NativeAddress::Udp { host: "127.0.0.1".into(), port };
    let profiles = vec![profile.to_tagged().unwrap()];
    ProbeRef(client.reference(Ior { type_id: raw::ID.into(), profiles }))
}

/// Answers at a port that was another's until a moment ago, perhaps.
fn answers_at(port: u16) -> (Orb, NativeProfile) {
    let listen = format!("udp://127.0.0.1:{port}");
    let (started, config) =
        (Instant::now(), || OrbConfig { listen: vec![listen.parse().unwrap()], ..OrbConfig::default() });
    let server = loop {
        match Orb::start(config()) {
            Ok(server) => break server,
            Err(e) => assert!(started.elapsed() < LONG, "{e}"),
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let own = server.root().activate(raw::Probe::default()).unwrap();
    let profile = own.0.ior().profiles.iter().find_map(NativeProfile::from_tagged).unwrap().unwrap();
    (server, profile)
}

#[test]
fn a_server_that_was_gone_several_times_is_found_again_as_soon_as_after_the_first() {
    let port = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let client = client();
    for round in 0..3 {
        let (server, profile) = answers_at(port);
        let probe = by_datagrams(&client, port, profile).within(LONG);
        let started = Instant::now();
        raw::eventually("it is found", || probe.ping().is_ok());
        // It was looked for a second after it was missed.
        assert!(started.elapsed() < Duration::from_millis(1500), "{round}: {:?}", started.elapsed());
        server.shutdown(GRACE);
        drop(server);
        probe.ping().unwrap_err();
    }
    client.shutdown(GRACE);
}

#[test]
fn a_server_that_was_gone_for_long_is_found_again_soon_where_there_is_no_other_way_to_it() {
    let port = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let client = client();
    let address = NativeAddress::Udp { host: String::new(), port: 0 };
    let probe = by_datagrams(&client, port, NativeProfile { address, slot: 0, nonce: 1 }).within(LONG);
    let (started, gone) = (Instant::now(), Duration::from_secs(4));
    while started.elapsed() < gone {
        assert_eq!(probe.ping().unwrap_err().kind, Kind::Transient);
        std::thread::sleep(Duration::from_millis(50));
    }
    let (server, profile) = answers_at(port);
    let (started, probe) = (Instant::now(), by_datagrams(&client, port, profile).within(LONG));
    raw::eventually("it is found", || probe.ping().is_ok());
    assert!(started.elapsed() < Duration::from_millis(1500), "{:?}", started.elapsed());
    client.shutdown(GRACE);
    server.shutdown(GRACE);
}

#[test]
fn a_server_that_is_gone_after_it_was_asked_may_have_carried_it_out() {
    let (client, server) = (client(), UdpSocket::bind("127.0.0.1:0").unwrap());
    let address = NativeAddress::Udp { host: String::new(), port: 0 };
    let profile = NativeProfile { address, slot: 0, nonce: 1 };
    let probe = by_datagrams(&client, server.local_addr().unwrap().port(), profile).within(LONG);
    let asked = std::thread::spawn(move || server.recv(&mut [0; 1 << 16]).unwrap());
    let e = probe.text("once").unwrap_err();
    assert!(asked.join().unwrap() > 0);
    assert_eq!((e.kind, e.completed), (Kind::CommFailure, Completion::Maybe), "{e}");
    client.shutdown(GRACE);
}

#[test]
fn a_server_that_is_gone_when_the_next_future_calls_may_have_carried_out_the_first() {
    let port = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let client = client();
    let (server, profile) = answers_at(port);
    let probe = by_datagrams(&client, port, profile).within(LONG);
    // It is known to answer: futures need not wait for that.
    assert_eq!(probe.ping(), Ok(()));
    server.shutdown(GRACE);
    drop(server);
    let bound = || UdpSocket::bind(("127.0.0.1", port));
    raw::eventually("the port is free", || bound().is_ok());
    let crashes = bound().unwrap();
    crashes.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
    let mut cx = Context::from_waker(Waker::noop());
    let (mut first, mut datagram, mut heard) = (Box::pin(probe.text_async("first")), [0; 1 << 16], 0);
    while !datagram[..heard].windows(5).any(|text| text == b"first") {
        assert!(first.as_mut().poll(&mut cx).is_pending());
        heard = crashes.recv(&mut datagram).unwrap_or(0);
    }
    drop(crashes);
    block_on(probe.text_async("next")).unwrap_err();
    let e = block_on(first).unwrap_err();
    assert_eq!((e.kind, e.completed), (Kind::CommFailure, Completion::Maybe), "{e}");
    client.shutdown(GRACE);
}

#[test]
fn an_orb_that_shuts_down_does_not_wait_for_servers_that_acknowledge_nothing() {
    let server = raw::server_with(|c| c.listen = vec!["udp://127.0.0.1:0".parse().unwrap()]);
    let own = server.root().activate(raw::Probe::default()).unwrap();
    let profile = own.0.ior().profiles.iter().find_map(NativeProfile::from_tagged).unwrap().unwrap();
    let NativeAddress::Udp { port, .. } = profile.address else { panic!("{:?}", profile.address) };
    let (client, relays) = (client(), [(); 4].map(|()| Relay::to(port)));
    let probes = relays.each_ref().map(|relay| by_datagrams(&client, relay.port, profile.clone()));
    for probe in &probes {
        assert_eq!(block_on(probe.within(LONG).ping_async()), Ok(()));
    }
    relays.iter().for_each(|relay| relay.cut.store(true, Ordering::Relaxed));
    let mut cx = Context::from_waker(Waker::noop());
    let mut calls = probes.each_ref().map(|probe| Box::pin(probe.ping_async()));
    assert!(calls.iter_mut().all(|call| call.as_mut().poll(&mut cx).is_pending()));
    let started = Instant::now();
    client.shutdown(Duration::ZERO);
    assert!(started.elapsed() < LIMIT, "{:?}", started.elapsed());
    for call in calls {
        let e = block_on(call).unwrap_err();
        assert_eq!((e.kind, e.completed), (Kind::CommFailure, Completion::Maybe), "{e}");
    }
    server.shutdown(GRACE);
}

#[test]
fn an_orb_that_shuts_down_while_futures_wait_for_a_link_sends_none_of_their_calls() {
    let server = raw::server_with(|c| c.listen = vec!["udp://127.0.0.1:0".parse().unwrap()]);
    let own = server.root().activate(raw::Probe::default()).unwrap();
    let profile = own.0.ior().profiles.iter().find_map(NativeProfile::from_tagged).unwrap().unwrap();
    let NativeAddress::Udp { port, .. } = profile.address else { panic!("{:?}", profile.address) };
    let (client, relay) = (client(), Relay::to(port));
    relay.cut.store(true, Ordering::Relaxed);
    let probe = by_datagrams(&client, relay.port, profile);
    let mut cx = Context::from_waker(Waker::noop());
    let mut calls = [(); 3].map(|()| Box::pin(probe.ping_async()));
    assert!(calls.iter_mut().all(|call| call.as_mut().poll(&mut cx).is_pending()));
    let calls = calls.map(|call| std::thread::spawn(move || block_on(call)));
    std::thread::sleep(Duration::from_millis(50));
    client.shutdown(Duration::ZERO);
    // Now they get their link.
    relay.cut.store(false, Ordering::Relaxed);
    for call in calls {
        let e = call.join().unwrap().unwrap_err();
        assert_eq!((e.kind, e.completed), (Kind::BadInvOrder, Completion::No), "{e}");
    }
    server.shutdown(GRACE);
}

/// What a call gets that may take so long.
#[track_caller]
fn ends_in_time(probe: &ProbeRef, limit: Duration, length: usize) {
    let (started, text) = (Instant::now(), "x".repeat(length));
    let e = probe.within(limit).text(&text).unwrap_err();
    assert_eq!(e.kind, Kind::Timeout, "{e}");
    assert!(started.elapsed() < limit + Duration::from_millis(150), "{limit:?}: {:?}", started.elapsed());
}

#[test]
fn a_call_by_datagrams_that_nobody_acknowledges_ends_in_time() {
    let (client, silent) = (client(), UdpSocket::bind("127.0.0.1:0").unwrap());
    let address = NativeAddress::Udp { host: String::new(), port: 0 };
    let profile = NativeProfile { address, slot: 0, nonce: 1 };
    let probe = by_datagrams(&client, silent.local_addr().unwrap().port(), profile);
    for limit in [50, 100, 200] {
        ends_in_time(&probe, Duration::from_millis(limit), 10);
    }
    client.shutdown(GRACE);
}

#[test]
fn calls_by_datagrams_end_in_time_while_the_network_is_cut_and_go_on_afterwards() {
    let server = raw::server_with(|c| c.listen = vec!["udp://127.0.0.1:0".parse().unwrap()]);
    let own = server.root().activate(raw::Probe::default()).unwrap();
    let profile = own.0.ior().profiles.iter().find_map(NativeProfile::from_tagged).unwrap().unwrap();
    let NativeAddress::Udp { port, .. } = profile.address else { panic!("{:?}", profile.address) };
    for length in [10, 2_000, 4 << 20] {
        let (client, relay) = (client(), Relay::to(port));
        let probe = by_datagrams(&client, relay.port, profile.clone()).within(LONG);
        assert_eq!(probe.ping(), Ok(()));
        relay.cut.store(true, Ordering::Relaxed);
        for limit in [50, 100, 200] {
            ends_in_time(&probe, Duration::from_millis(limit), length);
        }
        relay.cut.store(false, Ordering::Relaxed);
        assert_eq!(probe.ping(), Ok(()), "after calls of {length} octets");
        client.shutdown(GRACE);
    }
    server.shutdown(GRACE);
}

struct Nobody;

impl Wake for Nobody {
    fn wake(self: Arc<Self>) {}
}

/// A server that lets clients in, and takes nothing of what they send.
struct Deaf {
    address: NativeAddress,
    /// Ends when so many are in.
    clients: JoinHandle<(Listener, Vec<Vi>)>,
}

impl Deaf {
    fn lets_in(count: usize) -> Self {
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
        let nic = Nic::shm().unwrap();
        let (machine, name) = (boot.trim().to_owned(), nic.address().to_owned());
        let mut listener = nic.listen(b"throughline 1").unwrap();
        let accept = move |listener: &mut Listener| {
            let mut vi = nic.create_vi(&ViAttributes::new(Reliability::ReliableDelivery)).unwrap();
            listener.wait(Some(LONG)).unwrap().accept(&mut vi).unwrap();
            vi
        };
        let clients = std::thread::spawn(move || {
            let clients = (0..count).map(|_| accept(&mut listener)).collect();
            (listener, clients)
        });
        Self { address: NativeAddress::Shm { machine, name }, clients }
    }

    fn reference(&self, client: &Orb) -> ProbeRef {
        let profile = NativeProfile { address: self.address.clone(), slot: 0, nonce: 1 };
        let profiles = vec![profile.to_tagged().unwrap()];
        ProbeRef(client.reference(Ior { type_id: raw::ID.into(), profiles }))
    }
}

#[test]
fn who_waits_for_a_server_that_takes_nothing_is_noted_once_however_often_it_is_polled() {
    let (client, deaf) = (client(), Deaf::lets_in(1));
    let probe = deaf.reference(&client);
    let task = Arc::new(Nobody);
    let waker = Waker::from(Arc::clone(&task));
    let mut cx = Context::from_waker(&waker);
    // More than there is room for.
    let mut calls: Vec<_> = (0..1000).map(|_| Box::pin(probe.ping_async())).collect();
    assert!(calls[0].as_mut().poll(&mut cx).is_pending());
    let vis = deaf.clients.join().unwrap();
    for _ in 0..100 {
        assert!(calls.iter_mut().all(|call| call.as_mut().poll(&mut cx).is_pending()));
    }
    assert!(Arc::strong_count(&task) < 5 * calls.len(), "{}", Arc::strong_count(&task));
    drop(calls);
    raw::eventually("nobody is noted", || Arc::strong_count(&task) == 2);
    drop(vis);
    client.shutdown(GRACE);
}

#[test]
fn a_call_that_waits_for_a_worker_to_send_it_ends_in_time() {
    let deaf = Deaf::lets_in(3);
    let client = raw::client_with(|c| c.max_threads = 2);
    let probe = deaf.reference(&client);
    // Too long for one message: a worker each sends it, and waits for the answer.
    let text = "x".repeat(1 << 20);
    let mut cx = Context::from_waker(Waker::noop());
    let mut kept: Vec<_> = (0..2).map(|_| Box::pin(probe.text_async(&text))).collect();
    while !deaf.clients.is_finished() {
        assert!(kept.iter_mut().all(|call| call.as_mut().poll(&mut cx).is_pending()));
        std::thread::sleep(Duration::from_millis(1));
    }
    let e = block_on(probe.within(LIMIT).text_async(&text)).unwrap_err();
    assert_eq!((e.kind, e.completed), (Kind::Timeout, Completion::No), "{e}");
    // The workers are free when the server is gone.
    drop(deaf);
    for call in kept {
        block_on(call).unwrap_err();
    }
    client.shutdown(GRACE);
}

#[test]
fn a_begun_call_ends_in_time_where_shared_memory_does_not_connect() {
    let (client, silent) = (client(), Deaf::lets_in(0));
    // It is there, and lets nobody in.
    let _listener = silent.clients.join().unwrap();
    let profile = NativeProfile { address: silent.address, slot: 0, nonce: 1 };
    let profiles = vec![profile.to_tagged().unwrap()];
    let probe = ProbeRef(client.reference(Ior { type_id: raw::ID.into(), profiles })).within(LIMIT);
    let started = Instant::now();
    let begun = probe.0.begin::<(), SystemException>(Operation::new("ping", 0), |_| Ok(()), |_| Ok(()), None);
    let e = begun.wait().unwrap_err();
    assert_eq!(e.completed, Completion::No, "{e}");
    assert!(started.elapsed() < LIMIT + LIMIT / 5, "{:?}: {e}", started.elapsed());
    client.shutdown(GRACE);
}

#[test]
fn a_call_with_hardly_any_time_keeps_nobody_else_from_a_good_server() {
    let server = raw::server_with(|c| c.listen = vec!["shm:".parse().unwrap()]);
    let client = client();
    let probe = raw::seen_by(&client, &server.root().activate(raw::Probe::default()).unwrap());
    for future in [false, true] {
        for n in 0..4 {
            let hasty = probe.within(Duration::from_nanos(1 << n));
            // Each thread has links of its own.
            let call = move || if future { block_on(hasty.ping_async()) } else { hasty.ping() };
            let _in_vain = raw::within(LONG, call);
            assert_eq!(probe.within(LONG).ping(), Ok(()), "future: {future}");
            assert_eq!(block_on(probe.within(LONG).ping_async()), Ok(()), "future: {future}");
        }
    }
    client.shutdown(GRACE);
    server.shutdown(GRACE);
}

/// The next message, which is an answer or a part of one.
fn send(vi: &mut Vi, octets: &[u8], missing: Option<u32>) {
    let mut buffer = vi.send_buffer().unwrap();
    buffer.set_len(octets.len());
    buffer.copy_from_slice(octets);
    let descriptor = SendDescriptor::new(buffer);
    let descriptor = missing.into_iter().fold(descriptor, SendDescriptor::immediate);
    vi.post_send(descriptor.unsignaled()).unwrap();
}

/// The header of the next request, once it is there.
fn next(vi: &mut Vi) -> Header {
    let completion = vi.receive_wait(Some(LONG)).unwrap();
    let header = Message::read(&completion.buffer).unwrap().header;
    vi.post_receive(completion.buffer).unwrap();
    header
}

/// An answer of so many octets.
fn answer(request: &Header, length: usize) -> Vec<u8> {
    let mut octets = vec![0; length];
    request.answer(throughline_wire::Kind::Reply).write(&mut octets).unwrap();
    octets
}

#[test]
fn an_acknowledgement_in_parts_among_those_that_nobody_asked_for_is_not_taken_for_an_answer() {
    let (client, trickling) = (client(), Deaf::lets_in(1));
    let probe = trickling.reference(&client).within(LONG);
    probe.post(1, 0).unwrap();
    let (listener, mut vis) = trickling.clients.join().unwrap();
    let vi = &mut vis[0];
    for _ in 0..4 {
        let buffer = vi.receive_buffer().unwrap();
        vi.post_receive(buffer).unwrap();
    }
    let asked = next(vi);
    let long = answer(&asked, 100);
    assert!(asked.wants_reply());
    send(vi, &answer(&Header { sequence: 1000, ..asked }, 24), None);
    send(vi, &long[..60], Some(40));
    // Meanwhile others are sent.
    (0..3).for_each(|_| probe.post(2, 0).unwrap());
    assert!((0..3).all(|_| next(vi).sequence > asked.sequence));
    send(vi, &long[60..], Some(0));
    let called = std::thread::scope(|scope| {
        scope.spawn(|| {
            let request = next(vi);
            send(vi, &answer(&asked, 24), None);
            send(vi, &answer(&request, 24), None);
        });
        probe.ping()
    });
    assert_eq!(called, Ok(()));
    drop((listener, vis));
    client.shutdown(GRACE);
}

/// How a call is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Blocking,
    Begun,
    Future,
}

fn ping(probe: &ProbeRef, form: Form) -> Result<(), SystemException> {
    let begin = || probe.0.begin(Operation::new("ping", 0), |_| Ok(()), |_| Ok(()), None);
    match form {
        Form::Blocking => probe.ping(),
        Form::Begun => begin().wait(),
        Form::Future => block_on(probe.ping_async()),
    }
}

#[test]
fn calls_end_in_time_though_a_server_sends_more_and_more_that_nobody_asked_for() {
    for form in [Form::Blocking, Form::Begun] {
        let (client, babbling) = (client(), Deaf::lets_in(1));
        let probe = babbling.reference(&client);
        let (connected, clients) = (probe.clone(), babbling.clients);
        let first = std::thread::spawn(move || {
            let (listener, mut vis) = clients.join().unwrap();
            for _ in 0..4 {
                let buffer = vis[0].receive_buffer().unwrap();
                vis[0].post_receive(buffer).unwrap();
            }
            let asked = next(&mut vis[0]);
            send(&mut vis[0], &answer(&asked, 24), None);
            // The next call's number is known before it is made.
            let sequence = asked.sequence + if form == Form::Begun { 1 << 20 } else { 1 };
            let mut say = |sequence| vis[0].send_small(&answer(&Header { sequence, ..asked }, 24));
            assert!((0..150).all(|_| say(u32::MAX)) && say(sequence));
            (listener, vis)
        });
        // Links are of one thread alone.
        assert_eq!(ping(&connected, form), Ok(()));
        let peer = first.join().unwrap();
        let e = ping(&probe.within(Duration::from_nanos(1)), form).unwrap_err();
        assert_eq!((e.kind, e.completed), (Kind::Timeout, Completion::Maybe), "{form:?}: {e}");
        drop(peer);
        client.shutdown(GRACE);
    }
}

#[test]
fn a_server_that_says_farewell_within_its_answer_has_carried_the_call_out() {
    for (form, has_answered) in
        [Form::Blocking, Form::Begun, Form::Future].into_iter().flat_map(|form| [(form, false), (form, true)])
    {
        let (client, leaving) = (client(), Deaf::lets_in(1));
        let probe = leaving.reference(&client).within(LONG);
        let leaves = std::thread::spawn(move || {
            let (_listener, mut vis) = leaving.clients.join().unwrap();
            let buffer = vis[0].receive_buffer().unwrap();
            vis[0].post_receive(buffer).unwrap();
            let asked = next(&mut vis[0]);
            if has_answered {
                send(&mut vis[0], &answer(&asked, 60), Some(40));
            }
        });
        let e = ping(&probe, form).unwrap_err();
        let completed = if has_answered { Completion::Maybe } else { Completion::No };
        assert_eq!(e.completed, completed, "{form:?}, has answered: {has_answered}: {e}");
        leaves.join().unwrap();
        client.shutdown(GRACE);
    }
}

#[test]
fn a_future_that_is_told_late_that_its_link_broke_leaves_no_way_out() {
    let (client, breaks) = (client(), Deaf::lets_in(1));
    let probe = breaks.reference(&client).within(LONG);
    let peer = std::thread::spawn(move || {
        let (_listener, mut vis) = breaks.clients.join().unwrap();
        for _ in 0..4 {
            let buffer = vis[0].receive_buffer().unwrap();
            vis[0].post_receive(buffer).unwrap();
        }
        let asked = next(&mut vis[0]);
        send(&mut vis[0], &answer(&asked, 24), None);
        let asked = [(); 2].map(|()| next(&mut vis[0]));
        send(&mut vis[0], &answer(&asked[0], 60), Some(40));
    });
    assert_eq!(block_on(probe.ping_async()), Ok(()));
    let begin = || probe.0.call_async(Operation::new("ping", 0), |_| Ok(()), |_| Ok(())).begin();
    let [first, late] = [(); 2].map(|()| begin());
    peer.join().unwrap();
    let failed = |ended: Result<(), SystemException>| ended.unwrap_err().kind;
    assert_eq!(failed(block_on(first)), Kind::CommFailure);
    assert_eq!(probe.0.way(), None);
    raw::eventually("it is tried again", || probe.0.way().is_some());
    assert_eq!(failed(block_on(late)), Kind::CommFailure);
    assert!(probe.0.way().is_some());
    client.shutdown(GRACE);
}

#[test]
fn calls_end_in_time_though_an_answer_comes_in_more_and_more_parts() {
    for form in [Form::Blocking, Form::Begun].repeat(3) {
        let (client, endless) = (client(), Deaf::lets_in(1));
        let probe = endless.reference(&client).within(LIMIT / 5);
        let is_over = Arc::new(AtomicBool::new(false));
        let (goes_on, mut missing) = (Arc::clone(&is_over), 1 << 25);
        let sends = std::thread::spawn(move || {
            let (listener, mut vis) = endless.clients.join().unwrap();
            let buffer = vis[0].receive_buffer().unwrap();
            vis[0].post_receive(buffer).unwrap();
            next(&mut vis[0]);
            let started = Instant::now();
            while !goes_on.load(Ordering::Relaxed) && started.elapsed() < 4 * LIMIT {
                // All are under way.
                let Some(mut buffer) = vis[0].send_buffer() else { continue };
                buffer.set_len(1);
                let part = SendDescriptor::new(buffer).immediate(missing);
                if vis[0].post_send(part.unsignaled()).is_err() {
                    break;
                }
                missing -= 1;
            }
            drop(listener);
        });
        let started = Instant::now();
        let e = ping(&probe, form).unwrap_err();
        assert_eq!((e.kind, e.completed), (Kind::Timeout, Completion::Maybe), "{form:?}: {e}");
        assert!(started.elapsed() < LIMIT, "{form:?}: {:?}", started.elapsed());
        is_over.store(true, Ordering::Relaxed);
        sends.join().unwrap();
        client.shutdown(GRACE);
    }
}

#[test]
fn a_server_that_sends_parts_of_nothing_is_heard_no_longer() {
    for form in [Form::Blocking, Form::Begun, Form::Future] {
        let (client, endless) = (client(), Deaf::lets_in(1));
        let probe = endless.reference(&client).within(LONG);
        let sends = std::thread::spawn(move || {
            let (listener, mut vis) = endless.clients.join().unwrap();
            let buffer = vis[0].receive_buffer().unwrap();
            vis[0].post_receive(buffer).unwrap();
            let asked = next(&mut vis[0]);
            send(&mut vis[0], &answer(&asked, 60), Some(40));
            send(&mut vis[0], &[], Some(40));
            (listener, vis)
        });
        let started = Instant::now();
        let e = ping(&probe, form).unwrap_err();
        assert_eq!((e.kind, e.completed), (Kind::CommFailure, Completion::Maybe), "{form:?}: {e}");
        assert!(started.elapsed() < LONG / 2, "{form:?}: {:?}", started.elapsed());
        drop(sends.join().unwrap());
        client.shutdown(GRACE);
    }
}
