//! Who is served after whom, with the threads of a connection played one by one.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::mpsc;

use throughline_cdr::ByteOrder;
use throughline_giop::header::{HEADER_LEN, MessageType, Version};
use throughline_giop::{NewTarget, locate};

use super::*;
use crate::priority::Priority;
use crate::transport::reactor::ReactorLimits;
use crate::{Orb, OrbConfig};

/// A connection of which the reactor's only worker hears nothing until the sender is dropped.
fn connect(orb: &Orb) -> (Arc<Reactor>, Arc<ServerConnection>, UnixStream, mpsc::Sender<()>) {
    let (ours, client) = UnixStream::pair().unwrap();
    let reactor = Reactor::new(ReactorLimits { threads: 1, lingering: 1, sources: 8 }).unwrap();
    let (release, released) = mpsc::channel::<()>();
    let (begin, begun) = mpsc::channel();
    reactor.spawn(Box::new(move |_| {
        begin.send(()).unwrap();
        released.recv().unwrap_or_default();
    }));
    begun.recv().unwrap();
    let limits = ServerLimits {
        max_message: 1 << 16,
        max_connections: 1,
        max_unfinished: 1 << 16,
        wait: Wait::Block,
        linger: Duration::from_millis(1),
        idle_timeout: None,
        keep_alive: None,
        stall_timeout: Duration::from_secs(60),
    };
    let connection = ServerConnection::start(
        (Socket::new(ours.into()).unwrap(), Session::new(Priority::HIGHEST)),
        &reactor,
        Arc::clone(orb.dispatcher()),
        Arc::new(limits),
        Arc::default(),
    );
    client.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    (reactor, connection.unwrap(), client, release)
}

/// Has a client's request received, and not handled.
fn receive_request<'c>(connection: &'c ServerConnection, client: &mut UnixStream) -> Reading<'c> {
    let mut request = Vec::new();
    let target = NewTarget::Key(b"nothing");
    locate::write_locate_request(&mut request, Version::V1_2, ByteOrder::NATIVE, 7, &target).unwrap();
    client.write_all(&request).unwrap();
    let mut read = lock(&connection.read);
    while !read.has_message() {
        connection.receive(&mut read, false).unwrap();
    }
    read
}

fn kind_of_answer(client: &mut UnixStream) -> MessageType {
    let mut header = [0; HEADER_LEN];
    client.read_exact(&mut header).unwrap();
    MessageHeader::parse(&header, usize::MAX).unwrap().kind
}

#[test]
fn a_request_is_served_though_its_client_says_that_it_was_the_last_before_a_worker_comes() {
    let orb = Orb::start(OrbConfig::default()).unwrap();
    let (reactor, connection, mut client, release) = connect(&orb);
    let mut read = receive_request(&connection, &mut client);
    client.shutdown(std::net::Shutdown::Write).unwrap();
    // A worker that had to rest just before, and need not any more.
    assert_eq!(connection.receive(&mut read, false).unwrap(), 0);
    connection.hush(read, &reactor);
    drop(release);
    assert_eq!(kind_of_answer(&mut client), MessageType::LocateReply);
    // To the end of the stream.
    client.read_to_end(&mut Vec::new()).unwrap();
    reactor.stop(Duration::from_secs(1));
}

#[test]
fn a_request_behind_replies_that_wait_is_served_though_a_late_reply_leaves_first() {
    const REPLIES: usize = 1 << 20;
    let orb = Orb::start(OrbConfig::default()).unwrap();
    let (reactor, connection, mut client, release) = connect(&orb);
    // A request has been received, and is not handled while more replies wait than the client reads.
    let read = receive_request(&connection, &mut client);
    let sent = connection.outbox.send(&connection.socket, &vec![0; REPLIES]);
    assert!(matches!(sent, Ok(Sent::Waiting(_))));
    connection.park(read, &reactor);
    // The client reads, and whoever was about to wait for that finds that everything can leave at once.
    let mut missing = REPLIES;
    while connection.outbox.waiting() > 0 {
        missing -= client.read(&mut vec![0; missing]).unwrap();
        connection.send_later(&reactor).unwrap();
    }
    drop(release);
    client.read_exact(&mut vec![0; missing]).unwrap();
    assert_eq!(kind_of_answer(&mut client), MessageType::LocateReply);
    reactor.stop(Duration::from_secs(1));
}
