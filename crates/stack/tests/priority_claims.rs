//! How urgent a message is: as its frame says, unless its path's user knows better.

mod hosts;

use hosts::{Pair, SERVER};
use throughline_stack::{Architecture, Config, Message, Participants, PathId, Urgency};

/// A stranger's path, whose frames claim much, and another that claims little.
fn paths(pair: &mut Pair, strangers: u32) -> (PathId, PathId) {
    let mut paths = [(7, strangers), (8, 0)].map(|(port, priority)| {
        let at = Participants::at(port).application(port.into());
        let listener = pair.server.enable("udp", at).unwrap();
        pair.server.set_listener_priority(listener, priority);
        let to = Participants::to(SERVER, port).application(port.into());
        pair.client.open("udp", to).unwrap()
    });
    for path in &mut paths {
        pair.client.send(*path, Message::copied(128, b"hello")).unwrap();
        pair.exchange();
    }
    while let Some(path) = pair.server.ready() {
        while pair.server.receive(path).is_some() {}
    }
    (paths[0], paths[1])
}

/// Whose message is processed first of two that have both arrived.
fn first(architecture: Architecture, strangers: u32) -> Vec<u8> {
    let config = Config { architecture, scheduling: Some(Urgency::Priority), ..Config::default() };
    let mut pair = Pair::with("udp > ipv4 > ethdaa; arp > eth", config);
    let (stranger, friend) = paths(&mut pair, strangers);
    for (path, priority, data) in [(friend, 5, b"friend"), (stranger, u32::MAX, b"claims")] {
        let mut message = Message::copied(128, data);
        message.priority = priority;
        pair.client.send(path, message).unwrap();
        let frame = pair.client.transmit().unwrap();
        pair.server.arrive(frame, pair.now);
    }
    assert!(pair.server.run(pair.now));
    let path = pair.server.ready().unwrap();
    pair.server.receive(path).unwrap().bytes().to_vec()
}

#[test]
fn a_listener_need_not_believe_strangers() {
    for architecture in [Architecture::Direct, Architecture::Integrated] {
        assert_eq!(first(architecture, 0), b"claims");
        assert_eq!(first(architecture, 1), b"friend");
    }
}
