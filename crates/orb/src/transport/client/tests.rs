//! Who receives and who sends, with the threads of a connection played one by one.

use std::io::{Read, Write};

use super::*;
use crate::transport::reactor::ReactorLimits;

fn pair() -> (Arc<Reactor>, Arc<ClientConnection>, std::os::unix::net::UnixStream) {
    pair_that_lingers(Duration::from_millis(1))
}

fn pair_that_lingers(
    linger: Duration,
) -> (Arc<Reactor>, Arc<ClientConnection>, std::os::unix::net::UnixStream) {
    let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let reactor = Reactor::new(ReactorLimits { threads: 2, lingering: 1, sources: 8 }).unwrap();
    let limits = ClientLimits {
        max_message: 1 << 16,
        max_calls: 8,
        wait: Wait::Block,
        idle_timeout: None,
        keep_alive: None,
        linger,
        cancel_requests: true,
    };
    let socket = Socket::new(ours.into()).unwrap();
    let connection = ClientConnection::new(socket, &reactor, Arc::new(limits), CodeSets::DEFAULT);
    (reactor, connection, theirs)
}

fn reply(id: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let new = throughline_giop::reply::NewReply {
        request_id: id,
        status: throughline_giop::reply::ReplyStatus::NoException,
        service_contexts: &[],
    };
    let open =
        throughline_giop::reply::begin_reply(&mut bytes, Version::V1_2, ByteOrder::NATIVE, &new).unwrap();
    throughline_giop::finish(&mut bytes, open).unwrap();
    bytes
}

#[test]
fn an_heir_that_gives_up_passes_the_reading_on() {
    let (_reactor, connection, mut server) = pair();
    let [hasty, patient] = [(); 2].map(|()| connection.reserve(Version::V1_2).unwrap());
    // Somebody receives; the hasty caller is parked before the patient one, and is the heir.
    lock(&connection.calls).has_reader = true;
    lock(&connection.calls).park(hasty, std::thread::current());
    let waits = {
        let connection = Arc::clone(&connection);
        std::thread::spawn(move || connection.wait(patient, None).map(|_| ()))
    };
    while !matches!(lock(&connection.calls).is_parked(patient), Some(true)) {
        std::thread::yield_now();
    }
    connection.stop_reading();
    // Before it takes over, its time is over.
    assert!(matches!(connection.give_up(hasty), Err(CallFailure::TimedOut)));
    server.write_all(&reply(patient)).unwrap();
    let started = Instant::now();
    while !waits.is_finished() {
        assert!(started.elapsed() < Duration::from_secs(10), "nobody receives");
        std::thread::sleep(Duration::from_millis(1));
    }
    waits.join().unwrap().unwrap();
}

#[test]
fn a_reply_in_drops_keeps_no_worker() {
    let (_reactor, connection, mut server) = pair();
    connection.reserve_task(Version::V1_2, None).unwrap();
    lock(&connection.calls).has_reader = true;
    server.write_all(b"GIOP\x01\x02\x01\x01\0\x80\0\0").unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let dripping = {
        let over = Arc::clone(&over);
        std::thread::spawn(move || {
            for _ in 0..20_000 {
                if over.load(Ordering::Relaxed) {
                    return true;
                }
                server.write_all(&[0]).unwrap();
                std::thread::sleep(Duration::from_micros(300));
            }
            false
        })
    };
    connection.read_for_tasks(lock(&connection.read), true);
    over.store(true, Ordering::Relaxed);
    assert!(dripping.join().unwrap(), "the worker stayed until the last drop");
}

#[test]
fn a_worker_that_is_not_to_linger_does_not_wait_for_the_next_reply() {
    let (_reactor, connection, mut server) = pair_that_lingers(Duration::ZERO);
    let id = connection.reserve_task(Version::V1_2, None).unwrap();
    lock(&connection.calls).has_reader = true;
    let worker = {
        let connection = Arc::clone(&connection);
        std::thread::spawn(move || connection.read_for_tasks(lock(&connection.read), true))
    };
    let started = Instant::now();
    while !worker.is_finished() && started.elapsed() < Duration::from_secs(3) {
        std::thread::sleep(Duration::from_millis(1));
    }
    let left = worker.is_finished();
    server.write_all(&reply(id)).unwrap();
    worker.join().unwrap();
    assert!(left, "the worker stayed");
}

#[test]
fn a_future_is_not_left_to_a_reader_who_leaves() {
    let (_reactor, connection, server) = pair();
    let reads = connection.reserve(Version::V1_2).unwrap();
    lock(&connection.calls).has_reader = true;
    drop(server);
    // Another cannot send, and leaves it to the reader to find out why.
    let other = connection.reserve(Version::V1_2).unwrap();
    assert_eq!(connection.send(other, b"request", None), Err(CallFailure::NotStarted));
    connection.forget(other);
    assert_eq!(lock(&connection.calls).ended, None);
    // Nobody has registered the connection, and now nobody can.
    connection.register().unwrap();
    let future = connection.reserve_task(Version::V1_2, None);
    // The reader had his reply already, and does not look for the end.
    connection.forget(reads);
    connection.stop_reading();
    assert_eq!(future, Err(CallFailure::NotStarted));
    assert_eq!(lock(&connection.calls).active(), 0);
}

#[test]
fn what_waits_to_be_sent_is_not_forgotten_where_somebody_else_receives() {
    let (_reactor, connection, mut server) = pair();
    connection.register().unwrap();
    connection.reserve_task(Version::V1_2, None).unwrap();
    // More than the kernel takes. A worker is to receive, and to send the rest.
    let message = vec![7; 8 << 20];
    connection.push(&message);
    connection.flush();
    assert!(connection.outbox.waiting() > 0);
    // Before there is anything to do, a blocking caller receives, and is not done with that for long.
    lock(&connection.calls).has_reader = true;
    server.write_all(&reply(1 << 25)).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    server.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let mut received = vec![0; message.len()];
    server.read_exact(&mut received).expect("the rest is not sent");
}

#[test]
fn what_waits_to_be_sent_is_not_forgotten_where_a_worker_passes_the_reading_on() {
    let (_reactor, connection, mut server) = pair();
    connection.register().unwrap();
    let blocking = connection.reserve(Version::V1_2).unwrap();
    connection.reserve_task(Version::V1_2, None).unwrap();
    let message = vec![7; 8 << 20];
    connection.push(&message);
    connection.flush();
    assert!(connection.outbox.waiting() > 0);
    // A worker is called to receive, and gets no further than that before a blocking caller is parked.
    let read = lock(&connection.read);
    server.write_all(&reply(1 << 25)).unwrap();
    while !lock(&connection.calls).has_reader {
        std::thread::yield_now();
    }
    let waits = {
        let connection = Arc::clone(&connection);
        std::thread::spawn(move || connection.wait(blocking, None).map(|_| ()))
    };
    while !matches!(lock(&connection.calls).is_parked(blocking), Some(true)) {
        std::thread::yield_now();
    }
    drop(read);
    // The worker leaves, and that one receives.
    std::thread::sleep(Duration::from_millis(100));
    server.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let mut received = vec![0; message.len()];
    server.read_exact(&mut received).expect("the rest is not sent");
    server.write_all(&reply(blocking)).unwrap();
    waits.join().unwrap().unwrap();
}

#[test]
fn a_connection_that_died_is_not_registered() {
    let (reactor, connection, _server) = pair();
    connection.end(&CallFailure::NotStarted);
    connection.register().unwrap();
    assert!(connection.handle.get().is_none());
    assert!(reactor.sources().is_empty());
}
