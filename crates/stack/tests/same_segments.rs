//! Whatever segments come, in whatever packets and frames, the three architectures answer the same, and their users read the same.

mod hosts;

use std::collections::HashMap;

use hosts::{CLIENT, SERVER, data, host};
use proptest::prelude::*;
use smoltcp::{
    time::{Duration, Instant},
    wire::{Icmpv4Packet, Ipv4Address, Ipv4Packet, TcpPacket, TcpSeqNumber, UdpPacket},
};
use throughline_stack::{
    Architecture, Config, Graph, ListenerId, Message, Participants, PathId, StreamError, Urgency,
};

/// A graph whose frames name paths, and one whose frames don't.
const GRAPHS: [&str; 2] = [
    "tcp(limit=12, receive=3000, send=3000) > ipv4(limit=12) > ethdaa(limit=12); udp(limit=12) > ipv4; icmp > ipv4; arp > eth",
    "tcp(limit=12, receive=3000, send=3000) > ipv4(limit=12) > eth(limit=12); udp(limit=12) > ipv4; icmp > ipv4; arp > eth",
];
const APPLICATION: u32 = 5;
/// Where the server listens; nobody is at the next.
const PORT: u16 = 80;
/// What the clients' sequence numbers begin with: they come to the end of all numbers soon.
const FIRST: i32 = i32::MAX - 1000;
const CLIENTS: u16 = 3;

/// Who no packet comes from, and some that many are meant by.
const STRANGE: [[u8; 4]; 5] = [[255; 4], [10, 0, 0, 255], [10, 0, 0, 2], [127, 0, 0, 1], [224, 0, 0, 1]];

const FIN: u8 = 1;
const SYN: u8 = 2;
const RST: u8 = 4;
const PSH: u8 = 8;
const ACK: u8 = 16;

/// How a segment is carried.
#[derive(Clone, Copy, Debug)]
enum Carried {
    Plainly,
    /// The header of IP has these options.
    WithOptions(u8),
    /// In pieces of so many bytes; the last comes first, or the second twice, or not at all.
    InPieces(usize, u8),
    /// A byte of the frame, of the headers below, is another.
    Changed(usize, u8),
    /// From somebody who can't be, or to everybody.
    From(u8),
    To(u8),
    /// In a frame to everybody.
    ToMany,
    /// With bytes behind the end.
    Padded(usize),
    /// Cut short.
    Cut(usize),
}

/// What is carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Segment,
    Datagram,
    Echo,
}

/// A segment, or a datagram or an echo request in its place.
#[derive(Clone, Debug)]
struct Segment {
    kind: Kind,
    /// Whether frames that name paths name one of the port where nobody listens for connections.
    elsewhere: bool,
    client: u16,
    port: u16,
    flags: u8,
    /// From the first byte.
    at: i32,
    acknowledges: i32,
    len: usize,
    window: u16,
    options: &'static [u8],
    carried: [Carried; 2],
}

impl Segment {
    fn plain(client: u16, flags: u8, at: i32, acknowledges: i32, len: usize) -> Self {
        let (window, options, carried) = (65_535, OPTIONS[0], [Carried::Plainly; 2]);
        Self {
            kind: Kind::Segment,
            elsewhere: false,
            client,
            port: PORT,
            flags,
            at,
            acknowledges,
            len,
            window,
            options,
            carried,
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    /// A client connects, as is usual.
    Connect(u16),
    /// A client goes on where he was: the next bytes, all acknowledged.
    Next(u16, u8, usize),
    Comes(Segment),
    Passes(u64),
    Reads(usize),
    Writes(usize),
    Shuts(usize),
    Closes(usize),
}

const OPTIONS: [&[u8]; 7] = [
    &[],
    &[2, 4, 5, 180, 4, 2, 1, 1],
    &[2, 4, 0, 1],
    &[2, 4, 0, 0],
    &[2, 0, 1, 1],
    &[3, 3, 15, 0],
    &[8, 10, 0, 0, 0, 1, 0, 0, 0, 0, 254, 2],
];

fn carried() -> impl Strategy<Value = Carried> {
    prop_oneof![
        8 => Just(Carried::Plainly),
        1 => (0..11_u8).prop_map(Carried::WithOptions),
        2 => (1..6_usize, 0..4_u8).prop_map(|(words, order)| Carried::InPieces(8 * words, order)),
        3 => (0..60_usize, any::<u8>()).prop_map(|(at, byte)| Carried::Changed(at, byte)),
        1 => (0..5_u8).prop_map(Carried::From),
        1 => (0..5_u8).prop_map(Carried::To),
        1 => Just(Carried::ToMany),
        1 => (1..30_usize).prop_map(Carried::Padded),
        1 => (1..40_usize).prop_map(Carried::Cut),
    ]
}

fn offset() -> impl Strategy<Value = i32> {
    prop_oneof![4 => -2..40_i32, 1 => prop::sample::select(&[1000, 2999, 3000, 3001, -3000, i32::MIN, i32::MAX][..])]
}

fn segment() -> impl Strategy<Value = Segment> {
    let flags = prop_oneof![
        3 => prop::sample::select(&[SYN, ACK, ACK | FIN, RST, RST | ACK, SYN | ACK, ACK | PSH][..]),
        1 => 0..64_u8,
    ];
    let kind = prop_oneof![6 => Just(Kind::Segment), 1 => Just(Kind::Datagram), 1 => Just(Kind::Echo)];
    let lengths = prop_oneof![Just(0_usize), 1..30_usize, 500..1400_usize];
    (
        (kind, prop::bool::weighted(0.1), 0..CLIENTS, prop::bool::weighted(0.9), flags, offset(), offset()),
        (
            lengths,
            prop::sample::select(&[0, 1, 500, 65_535][..]),
            prop::sample::select(&OPTIONS[..]),
            (carried(), prop_oneof![3 => Just(Carried::Plainly), 1 => carried()]),
        ),
    )
        .prop_map(
            |((kind, elsewhere, client, open, flags, at, acknowledges), (len, window, options, carried))| {
                let port = if open { PORT } else { PORT + 1 };
                let plain = Segment::plain(client, flags, at, acknowledges, len);
                Segment { kind, elsewhere, port, window, options, carried: carried.into(), ..plain }
            },
        )
}

fn step() -> impl Strategy<Value = Step> {
    let which = 0..8_usize;
    prop_oneof![
        3 => (0..CLIENTS).prop_map(Step::Connect),
        4 => (0..CLIENTS, prop::sample::select(&[ACK, ACK, ACK | FIN][..]), prop_oneof![Just(0_usize), 1..1400_usize])
            .prop_map(|(client, flags, len)| Step::Next(client, flags, len)),
        8 => segment().prop_map(Step::Comes),
        2 => prop::sample::select(&[1, 6, 300, 1100, 11_000, 61_000, 301_000][..]).prop_map(Step::Passes),
        2 => which.clone().prop_map(Step::Reads),
        2 => which.clone().prop_map(Step::Writes),
        1 => which.clone().prop_map(Step::Shuts),
        1 => which.prop_map(Step::Closes),
    ]
}

/// A client's hardware address: frames that name paths tell clients apart by it.
fn hardware(client: u16) -> [u8; 6] {
    [2, 0, 0, 0, 1, client as u8]
}

/// The application that frames name.
fn application(elsewhere: bool) -> u8 {
    APPLICATION as u8 + u8::from(elsewhere)
}

/// The hardware address, the application that frames name, the address and the port of a client.
type End = (Vec<u8>, Option<u8>, Ipv4Address, u16);

/// What a client knows of his connection.
#[derive(Clone, Copy, Default)]
struct Client {
    /// What the server's numbers began with.
    theirs: i32,
    /// Bytes sent, the SYN among them, and what has come.
    sent: i32,
    came: i32,
}

struct Run {
    graph: Graph,
    names_paths: bool,
    listener: ListenerId,
    now: Instant,
    clients: HashMap<End, Client>,
    /// What the numbers began with that the last segment acknowledges.
    theirs: i32,
    paths: Vec<PathId>,
    /// What was sent and said, step by step.
    said: Vec<String>,
}

impl Run {
    fn new(description: &str, architecture: Architecture, scheduling: Option<Urgency>) -> Self {
        let config = Config { architecture, scheduling, ..Config::default() };
        let mut graph = Graph::compose(description, host(SERVER), config).unwrap();
        let names_paths = description.contains("ethdaa");
        let at =
            |id| if names_paths { Participants::at(PORT).application(id) } else { Participants::at(PORT) };
        let listener = graph.enable("tcp", at(APPLICATION)).unwrap();
        graph.enable("udp", at(APPLICATION + 1)).unwrap();
        let mut run = Self {
            graph,
            names_paths,
            listener,
            now: Instant::ZERO,
            clients: HashMap::new(),
            theirs: 0,
            paths: Vec::new(),
            said: Vec::new(),
        };
        run.ask();
        run
    }

    /// A client asks where the server is, which learns where he is.
    fn ask(&mut self) {
        let header = [8, 6, 0, 1, 8, 0, 6, 4, 0, 1];
        let question = [
            &[0xff; 6][..],
            &hardware(0),
            &header,
            &hardware(0),
            &CLIENT.octets(),
            &[0; 6],
            &SERVER.octets(),
        ];
        self.arrive(&question.concat());
    }

    fn end(&self, client: u16, elsewhere: bool) -> End {
        let hardware = hardware(if self.names_paths { client } else { 0 });
        let application = self.names_paths.then_some(application(elsewhere));
        (hardware.to_vec(), application, CLIENT, 5000 + client)
    }

    /// What a packet carries between these addresses, and the number of its protocol.
    fn carry(&self, segment: &Segment, from: Ipv4Address, to: Ipv4Address) -> (u8, Vec<u8>) {
        let Segment { client, port, options, len, .. } = *segment;
        match segment.kind {
            Kind::Echo => {
                let mut echo = [&[8, 0, 0, 0, 0, 0, 0, client as u8], &data(len)[..]].concat();
                Icmpv4Packet::new_unchecked(&mut echo[..]).fill_checksum();
                (1, echo)
            }
            Kind::Datagram => {
                let mut datagram = [&[0; 8], &data(len)[..]].concat();
                let mut packet = UdpPacket::new_unchecked(&mut datagram[..]);
                packet.set_src_port(5000 + client);
                packet.set_dst_port(port);
                packet.set_len(8 + len as u16);
                packet.fill_checksum(&from.into(), &to.into());
                (17, datagram)
            }
            Kind::Segment => {
                let theirs =
                    self.clients.get(&self.end(client, segment.elsewhere)).map_or(0, |client| client.theirs);
                let mut tcp = [&[0; 20], options, &data(len)].concat();
                let mut packet = TcpPacket::new_unchecked(&mut tcp[..]);
                packet.set_src_port(5000 + client);
                packet.set_dst_port(port);
                packet.set_header_len(20 + options.len() as u8);
                packet.set_seq_number(TcpSeqNumber(FIRST.wrapping_add(segment.at)));
                packet.set_ack_number(TcpSeqNumber(theirs.wrapping_add(segment.acknowledges)));
                packet.set_window_len(segment.window);
                tcp[13] = segment.flags;
                TcpPacket::new_unchecked(&mut tcp[..]).fill_checksum(&from.into(), &to.into());
                (6, tcp)
            }
        }
    }

    fn frames(&self, segment: &Segment) -> Vec<Vec<u8>> {
        let (mut from, mut to) = (CLIENT, SERVER);
        let (mut options, mut to_many, mut pieces) = (0, false, None);
        for carried in segment.carried {
            match carried {
                Carried::From(who) => from = STRANGE[usize::from(who)].into(),
                Carried::To(who) => to = STRANGE[usize::from(who)].into(),
                Carried::WithOptions(words) => options = 4 * usize::from(words),
                Carried::ToMany => to_many = true,
                Carried::InPieces(step, order) => pieces = Some((step, order)),
                _ => {}
            }
        }
        let (protocol, whole) = self.carry(segment, from, to);
        let hardware = hardware(if self.names_paths { segment.client } else { 0 });
        let frame = |at: usize, data: &[u8]| {
            let server = if to_many { [0xff; 6] } else { host(SERVER).hardware.0 };
            let id = application(segment.elsewhere);
            let kind: &[u8] = if self.names_paths { &[0x88, 0xb5, 0, 0, 0, id, 0, 0, 0, 0] } else { &[8, 0] };
            let mut frame = [&server, &hardware, kind].concat();
            let start = frame.len();
            // One byte each, which are skipped.
            frame.resize(start + 20, 0);
            frame.resize(start + 20 + options, 1);
            let mut packet = Ipv4Packet::new_unchecked(&mut frame[start..]);
            packet.set_version(4);
            packet.set_header_len((20 + options) as u8);
            packet.set_ident(7);
            packet.set_total_len((20 + options + data.len()) as u16);
            packet.set_more_frags(at + data.len() < whole.len());
            packet.set_frag_offset(at as u16);
            packet.set_hop_limit(1);
            packet.set_next_header(protocol.into());
            packet.set_src_addr(from);
            packet.set_dst_addr(to);
            packet.fill_checksum();
            frame.extend(data);
            frame
        };
        let (step, order) = pieces.unwrap_or((whole.len(), 0));
        let mut frames: Vec<_> =
            whole.chunks(step).enumerate().map(|(number, part)| frame(number * step, part)).collect();
        let middle = frames.len() / 2;
        match order {
            1 => frames.reverse(),
            2 => frames.insert(0, frames[middle].clone()),
            3 => drop(frames.remove(middle)),
            _ => {}
        }
        let first = if let Some(first) = frames.first_mut() { first } else { return frames };
        let ip = if self.names_paths { 22 } else { 14 };
        for carried in segment.carried {
            match carried {
                // The number acknowledged, and so the check sum, is another for each graph.
                Carried::Changed(at, byte) if at < first.len() && at < ip + 20 + options => first[at] = byte,
                Carried::Padded(len) => first.extend(data(len)),
                Carried::Cut(len) => first.truncate(first.len().saturating_sub(len)),
                _ => {}
            }
        }
        frames
    }

    fn arrive(&mut self, frame: &[u8]) {
        self.graph.arrive(Message::copied(0, frame), self.now);
        while self.graph.run(self.now) {}
        self.look();
    }

    /// What the server has sent, with its sequence numbers as from their first, and the news of its users.
    fn look(&mut self) {
        while let Some(path) = self.graph.accepted(self.listener) {
            self.paths.push(path);
            self.said.push("accepted".into());
        }
        while let Some(path) = self.graph.ready() {
            let number = self.paths.iter().position(|other| *other == path);
            self.said.push(format!("news of {number:?}, {:?}", self.graph.trouble(path)));
            while let Some(message) = self.graph.receive(path) {
                self.said.push(format!("came {:?}", message.bytes()));
                let answer = Message::copied(128, &message.bytes()[..message.len().min(9)]);
                self.said.push(format!("{:?}", self.graph.send(path, answer)));
            }
        }
        while let Some(frame) = self.graph.transmit() {
            let mut bytes = frame.bytes().to_vec();
            self.graph.release(frame);
            let start = match bytes[12..14] {
                [8, 0] => 14,
                [0x88, 0xb5] => 22,
                _ => {
                    self.said.push(format!("sent {bytes:02x?}"));
                    if bytes[21] == 1 && bytes[38..42] == CLIENT.octets() {
                        self.ask();
                    }
                    continue;
                }
            };
            if bytes[start + 9] != 6 {
                // What is quoted, and so the check sum, differs by the number acknowledged.
                self.said.push(format!("sent {} {:02x?}", bytes.len(), &bytes[..start + 22]));
                continue;
            }
            let to = Ipv4Packet::new_unchecked(&bytes[start..]).dst_addr();
            let (hardware, application) = (bytes[..6].to_vec(), self.names_paths.then_some(bytes[17]));
            let mut tcp = TcpPacket::new_unchecked(&mut bytes[start + 20..]);
            assert!(tcp.verify_checksum(&SERVER.into(), &to.into()));
            // Whoever seems to be somewhere else acknowledges what he would where he is.
            let elsewhere = Client { theirs: self.theirs, ..Client::default() };
            let client = self.clients.entry((hardware, application, to, tcp.dst_port())).or_insert(elsewhere);
            let sequence = tcp.seq_number();
            if tcp.syn() {
                *client = Client { theirs: sequence.0, sent: 1, came: 1 };
            } else {
                let at = sequence.0.wrapping_sub(client.theirs)
                    + tcp.payload_mut().len() as i32
                    + i32::from(tcp.fin());
                client.came = if (0..100_000).contains(&at) { client.came.max(at) } else { client.came };
            }
            // That of a reset of what acknowledges nothing is 0.
            if sequence.0 != 0 {
                tcp.set_seq_number(TcpSeqNumber(sequence.0.wrapping_sub(client.theirs)));
            }
            tcp.set_checksum(0);
            self.said.push(format!("sent {} {bytes:02x?}", bytes.len()));
        }
    }

    fn step(&mut self, step: &Step) {
        self.said.push(format!("{step:?}"));
        let mut segments = Vec::new();
        match step {
            Step::Connect(client) => segments
                .extend([Segment::plain(*client, SYN, 0, 0, 0), Segment::plain(*client, ACK, 1, 1, 0)]),
            Step::Next(number, flags, len) => {
                let client = self.clients.entry(self.end(*number, false)).or_default();
                let (at, came) = (client.sent, client.came);
                client.sent += *len as i32 + i32::from(flags & FIN);
                segments.push(Segment::plain(*number, *flags, at, came, *len));
            }
            Step::Comes(segment) => segments.push(segment.clone()),
            Step::Passes(milliseconds) => {
                for _ in 0..4 {
                    self.now += Duration::from_millis(milliseconds / 4 + 1);
                    self.graph.tick(self.now);
                    let before = self.said.len();
                    self.look();
                    // What is given up at the same time has no order.
                    self.said[before..].sort();
                }
            }
            Step::Reads(which) => {
                if let Some(path) = self.paths.get(*which) {
                    let mut place = [0; 4000];
                    let read = self.graph.read(*path, &mut place);
                    self.said
                        .push(format!("{read:?} {:?}", read.map_or(vec![], |len| place[..len].to_vec())));
                }
            }
            Step::Writes(which) => {
                if let Some(path) = self.paths.get(*which) {
                    let written: Result<usize, StreamError> = self.graph.write(*path, &data(700));
                    self.said.push(format!("{written:?}"));
                }
            }
            Step::Shuts(which) => {
                if let Some(path) = self.paths.get(*which) {
                    let shut = self.graph.shutdown(*path);
                    self.said.push(format!("{shut:?}"));
                }
            }
            Step::Closes(which) => {
                if let Some(path) = self.paths.get(*which) {
                    self.graph.close(*path);
                }
            }
        }
        for segment in segments {
            self.theirs = self
                .clients
                .get(&self.end(segment.client, segment.elsewhere))
                .map_or(0, |client| client.theirs);
            for frame in self.frames(&segment) {
                self.arrive(&frame);
            }
        }
        self.graph.tick(self.now);
        self.look();
    }
}

/// What was said by one graph.
fn said(
    description: &str,
    architecture: Architecture,
    scheduling: Option<Urgency>,
    steps: &[Step],
) -> Vec<String> {
    let mut run = Run::new(description, architecture, scheduling);
    for step in steps {
        run.step(step);
    }
    let discarded: u64 = run.graph.discarded().map(|(_, _, count)| count).sum();
    run.said.push(format!("{discarded} discarded"));
    run.said
}

/// As `said`, if all agree.
fn all_agree(description: &str, steps: &[Step]) -> Result<Vec<String>, TestCaseError> {
    let mut first: Option<Vec<String>> = None;
    for architecture in Architecture::ALL {
        if architecture == Architecture::Direct && !description.contains("ethdaa") {
            continue;
        }
        for scheduling in [None, Some(Urgency::Arrival)] {
            let said = said(description, architecture, scheduling, steps);
            let first = first.get_or_insert_with(|| said.clone());
            let differs = first.iter().zip(&said).take_while(|(one, other)| one == other).count();
            let around = |all: &[String]| {
                all.iter().skip(differs.saturating_sub(3)).take(6).cloned().collect::<Vec<_>>()
            };
            prop_assert_eq!(around(first), around(&said), "{:?} {:?}", architecture, scheduling);
        }
    }
    Ok(first.unwrap_or_default())
}

/// A stranger's connection that was given up leaves nothing behind by which his next one is taken for somebody else's.
#[test]
fn who_did_not_answer_may_come_again() {
    let to_all = Segment { carried: [Carried::To(1), Carried::Plainly], ..Segment::plain(1, SYN, 0, 0, 0) };
    let steps = [
        Step::Comes(to_all),
        Step::Comes(Segment::plain(1, SYN, 0, 0, 0)),
        Step::Passes(61_000),
        Step::Connect(0),
        Step::Connect(1),
    ];
    for description in GRAPHS {
        let said = all_agree(description, &steps).unwrap();
        assert_eq!(said.iter().filter(|said| *said == "accepted").count(), 2, "{said:#?}");
    }
}

/// Though frames may name the path that the one before had, and has until its user closes it.
#[test]
fn who_has_ended_may_ask_again() {
    let last = [Step::Next(0, FIN | ACK, 0), Step::Shuts(0), Step::Next(0, ACK, 0), Step::Connect(0)];
    let steps: Vec<_> = [Step::Connect(0)].into_iter().chain(last).collect();
    for (description, accepted) in GRAPHS.into_iter().zip([1, 2]) {
        let said = all_agree(description, &steps).unwrap();
        assert_eq!(said.iter().filter(|said| *said == "accepted").count(), accepted, "{said:#?}");
    }
}

/// The parts of an echo request that comes where frames name the path of datagrams are not kept, in none of them.
#[test]
fn parts_that_come_by_the_path_of_others_are_refused_one_by_one() {
    let of = |kind, len| Segment { kind, ..Segment::plain(1, SYN, 0, 0, len) };
    let in_parts = Segment { carried: [Carried::InPieces(8, 0), Carried::Plainly], ..of(Kind::Echo, 1) };
    let steps = [of(Kind::Echo, 0), of(Kind::Datagram, 0), in_parts].map(Step::Comes);
    let said = all_agree(GRAPHS[0], &steps).unwrap();
    assert_eq!(said.last().unwrap(), "2 discarded", "{said:#?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(std::env::var("PROPTEST_CASES").map_or(48, |cases| cases.parse().unwrap_or(48))))]

    #[test]
    fn segments_have_the_same_fate(steps in prop::collection::vec(step(), 1..60), graph in 0..GRAPHS.len()) {
        all_agree(GRAPHS[graph], &steps)?;
    }
}
