//! Rates of paths and listeners, in virtual time.

mod hosts;

use hosts::{Pair, SERVER, data};
use smoltcp::wire::Ipv4Packet;
use throughline_stack::{
    Architecture, Config, Discard, ListenerId, Message, Participants, PathId, Rate, Urgency,
};

/// Clients of one listener: over the plain Ethernet three, over the one whose frames name their path one.
struct Talk {
    pair: Pair,
    listener: ListenerId,
    clients: Vec<PathId>,
}

/// Every architecture over what suits it, messages processed at once and in a queue.
fn talks() -> Vec<Talk> {
    let ways = [
        (Architecture::Layered, "eth"),
        (Architecture::Integrated, "eth"),
        (Architecture::Layered, "ethdaa"),
        (Architecture::Integrated, "ethdaa"),
        (Architecture::Direct, "ethdaa"),
    ];
    let queues = [None, Some(Urgency::Priority)];
    ways.iter().flat_map(|(way, lowest)| queues.map(|scheduling| talk(*way, lowest, scheduling))).collect()
}

fn talk(architecture: Architecture, lowest: &str, scheduling: Option<Urgency>) -> Talk {
    let config = Config { architecture, scheduling, ..Config::default() };
    let mut pair = Pair::with(&format!("udp > ipv4 > {lowest}; arp > eth"), config);
    let listener = pair.server.enable("udp", Participants::at(7).application(7)).unwrap();
    let to = |from| Participants::to(SERVER, 7).from_port(from).application(7);
    let ports = if lowest == "eth" { 1000..1003 } else { 1000..1001 };
    let clients = ports.map(|from| pair.client.open("udp", to(from)).unwrap()).collect();
    Talk { pair, listener, clients }
}

impl Talk {
    /// Sends so many messages, and says how many were delivered.
    fn send(&mut self, client: usize, count: usize, len: usize) -> usize {
        for _ in 0..count {
            self.pair.client.send(self.clients[client], Message::copied(128, &data(len))).unwrap();
        }
        self.pair.exchange();
        self.delivered()
    }

    fn delivered(&mut self) -> usize {
        while self.pair.server.run(self.pair.now) {}
        let mut delivered = 0;
        while let Some(path) = self.pair.server.ready() {
            while let Some(message) = self.pair.server.receive(path) {
                self.pair.server.release(message);
                delivered += 1;
            }
        }
        delivered
    }

    /// The server's path of a client who has not sent yet.
    fn connect(&mut self, client: usize) -> PathId {
        assert_eq!(self.send(client, 1, 5), 1);
        self.pair.server.accepted(self.listener).unwrap()
    }

    /// A frame as the first client sends it, changed.
    fn forge(&mut self, change: impl FnOnce(&mut [u8], usize)) {
        self.pair.client.send(self.clients[0], Message::copied(128, b"hello")).unwrap();
        let mut frame = self.pair.client.transmit().unwrap();
        let ip = if frame.bytes()[12..14] == [0x88, 0xb5] { 22 } else { 14 };
        change(frame.bytes_mut(), ip);
        self.pair.server.arrive(frame, self.pair.now);
        while self.pair.server.run(self.pair.now) {}
    }

    fn above_rate(&self) -> u64 {
        let rate = self.pair.server.discarded().filter(|(_, why, _)| *why == Discard::Rate);
        rate.map(|(_, _, count)| count).sum()
    }
}

#[test]
fn a_path_gets_its_burst_and_then_its_rate() {
    for mut talk in talks() {
        let path = talk.connect(0);
        talk.pair.server.set_rate(path, Some(Rate { per_second: 10, burst: 4 }));
        assert_eq!((talk.send(0, 30, 5), talk.above_rate()), (4, 26));
        talk.pair.pass(99);
        assert_eq!(talk.send(0, 1, 5), 0);
        talk.pair.pass(1);
        assert_eq!((talk.send(0, 3, 5), talk.above_rate()), (1, 29));
        talk.pair.pass(250);
        assert_eq!(talk.send(0, 9, 5), 2);
        talk.pair.pass(100_000);
        assert_eq!(talk.send(0, 9, 5), 4);
        talk.pair.server.set_rate(path, None);
        assert_eq!(talk.send(0, 30, 5), 30);
    }
}

#[test]
fn paths_share_their_listeners_rate() {
    for mut talk in talks().into_iter().filter(|talk| talk.clients.len() > 1) {
        let first = talk.connect(0);
        talk.pair.server.set_listener_rate(talk.listener, Some(Rate { per_second: 10, burst: 6 }));
        talk.pair.server.set_rate(first, Some(Rate { per_second: 1000, burst: 2 }));
        assert_eq!(talk.send(0, 9, 5), 2, "both rates count, and what one refuses costs the other nothing");
        assert_eq!(talk.send(1, 9, 5), 4);
        let before = talk.pair.server.accepted(talk.listener);
        assert!(before.is_some());
        assert_eq!(talk.send(2, 9, 5), 0);
        assert_eq!(
            talk.pair.server.accepted(talk.listener),
            None,
            "no path is made for what is beyond the rate"
        );
        talk.pair.pass(200);
        assert_eq!((talk.send(2, 9, 5), talk.above_rate()), (2, 7 + 5 + 9 + 7));
        assert!(talk.pair.server.accepted(talk.listener).is_some());
        talk.pair.server.set_listener_rate(talk.listener, None);
        assert_eq!((talk.send(1, 9, 5), talk.send(2, 9, 5)), (9, 9));
    }
}

#[test]
fn a_message_in_pieces_counts_once() {
    for mut talk in talks() {
        let path = talk.connect(0);
        talk.pair.server.set_rate(path, Some(Rate { per_second: 1, burst: 2 }));
        assert_eq!((talk.send(0, 5, 9000), talk.above_rate()), (2, 3));
        assert_eq!((talk.send(0, 1, 5), talk.above_rate()), (0, 4));
        talk.pair.pass(1000);
        assert_eq!((talk.send(0, 1, 9000), talk.send(0, 1, 9000)), (1, 0));
    }
}

#[test]
fn what_is_not_of_the_path_costs_it_nothing() {
    for mut talk in talks() {
        let path = talk.connect(0);
        talk.pair.server.set_rate(path, Some(Rate { per_second: 0, burst: 3 }));
        for _ in 0..10 {
            // A damaged header, another port, an end before the header's.
            talk.forge(|frame, ip| frame[ip + 10] ^= 1);
            talk.forge(|frame, ip| frame[ip + 21] ^= 1);
            talk.forge(|frame, ip| {
                frame[ip + 3] = 27;
                Ipv4Packet::new_unchecked(&mut frame[ip..ip + 20]).fill_checksum();
            });
        }
        assert_eq!(talk.delivered(), 0);
        // What its own protocol has to look at as a whole does: damaged data.
        talk.forge(|frame, ip| frame[ip + 30] ^= 1);
        assert_eq!((talk.send(0, 5, 5), talk.above_rate()), (2, 3));
    }
}
