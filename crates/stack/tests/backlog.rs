//! Paths that were made for a listener, and that its user has not asked for.

mod hosts;

use hosts::{Pair, SERVER};
use throughline_stack::{Architecture, Message, Participants};

/// As many as may wait.
const BACKLOG: usize = 4096;

/// Nobody else would ever close it.
#[test]
fn no_connection_is_lost_before_its_user_has_asked_for_it() {
    let tcp = "tcp(receive=1024, send=1024) > ipv4 > eth; arp > eth";
    let mut pair = Pair::new(tcp, Architecture::Layered);
    let listener = pair.server.enable("tcp", Participants::at(80)).unwrap();
    let mut opened = 0;
    // What is half open is not counted, so that more are connected in the end.
    for batch in [1, 900, 900, 900, 900, 900] {
        for _ in 0..batch {
            pair.client.open("tcp", Participants::to(SERVER, 80)).unwrap();
        }
        opened += batch;
        pair.exchange();
    }
    assert!(opened > BACKLOG);
    assert_eq!(std::iter::from_fn(|| pair.server.accepted(listener)).count(), opened);
}

/// Who learns of paths by what they bring need not ask for them.
#[test]
fn channels_that_are_over_keep_nobody_out() {
    let mut pair = Pair::new("rpc > ipv4 > eth; arp > eth", Architecture::Layered);
    pair.server.enable("rpc", Participants::at(99)).unwrap();
    for number in 0..BACKLOG + 100 {
        let to = Participants::to(SERVER, 99).from_port(1000 + number as u16);
        let path = pair.client.open("rpc", to).unwrap();
        pair.client.send(path, Message::copied(128, b"?")).unwrap();
        pair.exchange();
        let server = pair.server.ready().unwrap_or_else(|| panic!("channel {number} was refused"));
        let request = pair.server.receive(server).unwrap();
        pair.server.send(server, Message::copied(128, request.bytes())).unwrap();
        pair.exchange();
        pair.client.close(path);
        if number % 1000 == 0 {
            pair.pass(61_000);
        }
    }
}
