//! Clients of the native protocol that ask, and take no answers, or show what nobody asked for.

mod common;

use std::time::{Duration, Instant};

use common::{Echo, EchoRef, client, seen_by, server_with};
use throughline::{LaneConfig, Priority};
use throughline_giop::NativeProfile;
use throughline_vi::{Nic, Reliability, Rights, SMALL_MESSAGE, SendDescriptor, State, Vi, ViAttributes};
use throughline_wire::{Flags, Header, Kind, PLAIN_BYTES};

/// Sooner than the server gives a deaf client up.
const SOON: Duration = Duration::from_secs(5);

/// A link without anybody who looks at what comes.
fn deaf(name: &str) -> (Nic, Vi) {
    let nic = Nic::shm().unwrap();
    let mut vi = nic.create_vi(&ViAttributes::new(Reliability::ReliableDelivery)).unwrap();
    vi.connect(name, b"throughline 1", Some(SOON)).unwrap();
    (nic, vi)
}

/// A message that is answered whatever objects there are, as one of several outstanding.
fn ping(len: usize) -> Vec<u8> {
    let mut message = vec![0; len];
    Header { flags: Flags::NONE.with(Flags::CONCURRENT), ..Header::new(Kind::Ping) }
        .write(&mut message)
        .unwrap();
    message
}

/// Asks for as long as there is room, and for a while longer.
fn flood(vi: &mut Vi, mut ask: impl FnMut(&mut Vi) -> bool) -> u32 {
    let (mut asked, mut last) = (0, Instant::now());
    while last.elapsed() < Duration::from_millis(500) {
        if ask(vi) {
            (asked, last) = (asked + 1, Instant::now());
        }
    }
    asked
}

/// Nobody waits for those who take no answers.
fn assert_served(echo: &EchoRef) {
    for _ in 0..20 {
        let begin = Instant::now();
        echo.ping().unwrap();
        assert!(begin.elapsed() < SOON, "who takes no answers keeps others waiting: {:?}", begin.elapsed());
    }
}

fn others_are_served_beside(name: &str, mut ask: impl FnMut(&mut Vi) -> bool) {
    let name = format!("throughline-test-{name}-{}", std::process::id());
    let server = server_with(|c| c.listen = vec![format!("shm:{name}").parse().unwrap()]);
    let client = client();
    let echo = seen_by(&client, &server.root().activate(Echo::default()).unwrap());
    echo.ping().unwrap();
    let (_nic, mut vi) = deaf(&name);
    // Its memory for answers is full: the ring, and the buffers that the server has for what the ring has no room for.
    assert!(flood(&mut vi, &mut ask) > 256);
    assert_served(&echo);
    server.shutdown(Duration::from_millis(100));
}

#[test]
fn others_are_served_beside_one_who_sends_small_messages() {
    let message = ping(PLAIN_BYTES);
    others_are_served_beside("small", |vi| vi.send_small(&message));
}

#[test]
fn others_are_served_beside_one_who_sends_longer_messages() {
    let message = ping(SMALL_MESSAGE + 100);
    others_are_served_beside("longer", |vi| {
        let Some(mut buffer) = vi.send_buffer() else { return false };
        buffer.set_len(message.len());
        buffer.copy_from_slice(&message);
        vi.post_send(SendDescriptor::new(buffer).unsignaled()).is_ok()
    });
}

#[test]
fn windows_without_end_are_not_mapped() {
    let name = format!("throughline-test-windows-{}", std::process::id());
    let server = server_with(|c| c.listen = vec![format!("shm:{name}").parse().unwrap()]);
    let (nic, attributes) = (Nic::shm().unwrap(), ViAttributes::new(Reliability::ReliableDelivery));
    let rights = Rights { remote_write: false, remote_read: true };
    let _windows = [(); 3].map(|()| nic.register_window(1 << 30, attributes.tag, rights).unwrap());
    let mut vi = nic.create_vi(&attributes).unwrap();
    vi.connect(&name, b"throughline 1", Some(SOON)).unwrap();
    // What was shown is noticed when a message lies there.
    let region = nic.register(1, 16 << 10, attributes.tag).unwrap();
    vi.post_send(SendDescriptor::new(region.buffer().unwrap())).unwrap();
    let buffer = vi.receive_buffer().unwrap();
    vi.post_receive(buffer).unwrap();
    assert!(vi.receive_wait(Some(SOON)).unwrap().result.is_err());
    assert!(matches!(vi.state(), State::Stopped(_)));
    server.shutdown(Duration::from_millis(100));
}

/// Asks for more answers than there is room for.
fn overfill(vi: &mut Vi, message: &[u8]) {
    let (mut asked, begin) = (0, Instant::now());
    while asked < 600 && begin.elapsed() < Duration::from_millis(200) {
        asked += u32::from(vi.send_small(message));
    }
}

#[test]
fn others_are_served_beside_more_deaf_ones_than_there_are_workers() {
    let name = format!("throughline-test-crowd-{}", std::process::id());
    let server = server_with(|c| {
        (c.listen, c.max_threads) = (vec![format!("shm:{name}").parse().unwrap()], 4);
    });
    let client = client();
    let echo = seen_by(&client, &server.root().activate(Echo::default()).unwrap());
    echo.ping().unwrap();
    let mut crowd: Vec<_> = (0..8).map(|_| deaf(&name)).collect();
    crowd.iter_mut().for_each(|(_, vi)| overfill(vi, &ping(PLAIN_BYTES)));
    assert_served(&echo);
    server.shutdown(Duration::from_millis(100));
}

#[test]
fn others_are_served_beside_one_in_the_same_lane() {
    let name = format!("throughline-test-lane-{}", std::process::id());
    let server = server_with(|c| c.listen = vec![format!("shm:{name}").parse().unwrap()]);
    let lanes = server.create_lanes(&[LaneConfig::new(Priority::LOWEST, 1)]).unwrap();
    server.root().serve_in(&lanes).unwrap();
    let own = server.root().activate(Echo::default()).unwrap();
    let client = client();
    let echo = seen_by(&client, &own);
    echo.ping().unwrap();
    // Answered by the object's lane: an exception, since there is no such operation.
    let ior: throughline_giop::Ior = own.0.to_string().parse().unwrap();
    let profile = ior.profiles.iter().find_map(NativeProfile::from_tagged).unwrap().unwrap();
    let mut message = vec![0; throughline_wire::ADDRESSED_BYTES];
    let header = Header { slot: profile.slot, nonce: profile.nonce, ..Header::new(Kind::Request) };
    header.write(&mut message).unwrap();
    let (_nic, mut vi) = deaf(&name);
    overfill(&mut vi, &message);
    assert_served(&echo);
    server.shutdown(Duration::from_millis(100));
}
