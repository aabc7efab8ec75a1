//! Data moved to where its user wants it, checked in the same pass or in one of its own: what comes out is the same.

mod hosts;

use hosts::{Pair, SERVER, data};
use throughline_stack::{
    Architecture, Config, Discard, Limits, Message, Participants, PathId, TooLong,
    manipulate::{Crc32c, Stage, Swap, copy},
};

/// Three ways that must agree: a check of its own, always so in the layered architecture, or one in the same pass.
const WAYS: [(Architecture, bool); 3] =
    [(Architecture::Layered, true), (Architecture::Integrated, false), (Architecture::Integrated, true)];

/// A server with room for four messages that has heard from a client once; its path.
fn greeted((architecture, integrates): (Architecture, bool)) -> (Pair, PathId, PathId) {
    let limits = Limits { received: 4, ..Limits::default() };
    let config = Config { architecture, integrates, limits, ..Config::default() };
    let mut pair = Pair::with("udp > ipv4 > eth; arp > eth", config);
    let listener = pair.server.enable("udp", Participants::at(7)).unwrap();
    let client = pair.client.open("udp", Participants::to(SERVER, 7)).unwrap();
    pair.client.send(client, Message::copied(128, b"hello")).unwrap();
    pair.exchange();
    let server = pair.server.accepted(listener).unwrap();
    assert!(pair.server.receive(server).is_some());
    pair.server.ready();
    (pair, client, server)
}

/// Sends a message; `damage` is done to its frame.
fn send(pair: &mut Pair, client: PathId, data: &[u8], damage: impl FnOnce(&mut [u8])) {
    pair.client.send(client, Message::copied(128, data)).unwrap();
    let mut frame = pair.client.transmit().unwrap();
    damage(frame.bytes_mut());
    pair.server.arrive(frame, pair.now);
}

fn damaged(pair: &mut Pair, client: PathId, data: &[u8]) {
    send(pair, client, data, |frame| *frame.last_mut().unwrap() ^= 0x10);
}

fn discarded(pair: &Pair) -> Vec<(String, Discard, u64)> {
    pair.server.discarded().map(|(name, why, count)| (name.to_string(), why, count)).collect()
}

fn moved<S: Stage>(stages: &S, data: &[u8]) -> (Vec<u8>, S) {
    let (mut stages, mut place) = (stages.clone(), vec![0; data.len()]);
    copy(&mut stages, data, &mut place);
    (place, stages)
}

#[test]
fn through_stages_into_a_place() {
    for way in WAYS {
        let (mut pair, client, server) = greeted(way);
        let stages = (Crc32c::default(), Swap::<4>);
        for len in [0, 1, 8, 63, 64, 65, 500, 1000, 1400, 1472] {
            let sent = data(len);
            send(&mut pair, client, &sent, |_| ());
            let mut place = [0; 2000];
            let (came, found) = pair.server.receive_into(server, &stages, &mut place).unwrap().unwrap();
            let (expected, sums) = moved(&stages, &sent);
            assert_eq!((came, found.0.value()), (len, sums.0.value()));
            assert!(place[..len] == expected && place[len..].iter().all(|byte| *byte == 0));
        }
        assert!(pair.server.receive_into(server, &(), &mut []).unwrap().is_none());
    }
}

#[test]
fn damaged_data_is_nobodys() {
    for way in WAYS {
        let (mut pair, client, server) = greeted(way);
        let mut place = [0; 2000];
        for len in [1, 100, 1400] {
            damaged(&mut pair, client, &data(len));
            damaged(&mut pair, client, &data(len));
            send(&mut pair, client, b"whole", |_| ());
            let (came, ()) = pair.server.receive_into(server, &(), &mut place).unwrap().unwrap();
            assert_eq!(&place[..came], b"whole");
            damaged(&mut pair, client, &data(len));
            assert!(pair.server.receive(server).is_none());
        }
        assert_eq!(discarded(&pair), [("udp".to_string(), Discard::Checksum, 9)]);
    }
}

#[test]
fn damaged_data_takes_nobodys_room() {
    for way in WAYS {
        let (mut pair, client, server) = greeted(way);
        let mut came = Vec::new();
        for round in 0..6_u8 {
            damaged(&mut pair, client, &[round; 90]);
            send(&mut pair, client, &[round; 90], |_| ());
        }
        while let Some(message) = pair.server.receive(server) {
            came.push(message.bytes()[0]);
        }
        assert_eq!(came, [0, 1, 2, 3], "{way:?}");
        let udp = |why| discarded(&pair).iter().find(|(_, other, _)| *other == why).map(|(.., count)| *count);
        // A damaged message that finds no room is not looked at.
        let (damaged, refused) = (udp(Discard::Checksum).unwrap(), udp(Discard::QueueFull).unwrap());
        assert_eq!(damaged + refused, 8, "{way:?}");
        assert!(damaged >= 4 && refused >= 2, "{damaged} {refused}");
    }
}

#[test]
fn a_message_longer_than_its_place_stays() {
    for way in WAYS {
        let (mut pair, client, server) = greeted(way);
        send(&mut pair, client, b"longer", |_| ());
        let mut place = [0; 9];
        assert_eq!(pair.server.receive_into(server, &(), &mut place[..5]).err(), Some(TooLong(6)));
        assert!(matches!(pair.server.receive_into(server, &(), &mut place), Ok(Some((6, ())))));
        assert_eq!(&place, b"longer\0\0\0");
    }
}
