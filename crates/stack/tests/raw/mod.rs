//! A graph, and somebody who sends it segments of TCP that no honest peer would.
#![allow(dead_code, reason = "each test uses what it needs")]

use smoltcp::{
    time::{Duration, Instant},
    wire::{IpProtocol, Ipv4Packet, TcpPacket, TcpSeqNumber},
};
use throughline_stack::{Config, Graph, ListenerId, Message, Participants, PathId};

use crate::hosts::{CLIENT, SERVER, host};

pub const PORT: u16 = 80;

/// What a segment says. Sequence numbers are counted from where the raw end's began, acknowledgements are as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    pub flags: u8,
    /// Bytes behind the raw end's first, which its SYN is one before.
    pub at: i32,
    pub data: Vec<u8>,
    pub options: Vec<u8>,
    /// What the graph's end sends: its sequence number, what it has got of the raw end's, its window.
    pub sequence: i32,
    pub acknowledged: i32,
    pub window: u16,
}

pub const FIN: u8 = 1;
pub const SYN: u8 = 2;
pub const RST: u8 = 4;
pub const PSH: u8 = 8;
pub const ACK: u8 = 16;

impl Segment {
    pub fn of(flags: u8, at: i32) -> Self {
        Self { flags, at, ..Self::default() }
    }

    pub fn with(self, data: &[u8]) -> Self {
        Self { data: data.to_vec(), ..self }
    }

    /// The sequence number behind its data.
    pub fn end(&self) -> i32 {
        self.sequence.wrapping_add(self.data.len() as i32)
    }
}

/// The raw end, at the client's address.
pub struct Raw {
    pub graph: Graph,
    pub now: Instant,
    pub listener: ListenerId,
    /// The number of the raw end's first byte.
    pub first: i32,
    /// What the raw end acknowledges.
    pub acknowledged: i32,
    pub port: u16,
    pub window: u16,
}

impl Raw {
    pub fn new(description: &str) -> Self {
        let mut graph = Graph::compose(description, host(SERVER), Config::default()).unwrap();
        let listener = graph.enable("tcp", Participants::at(PORT)).unwrap();
        let (now, first) = (Instant::ZERO, i32::MAX - 1000);
        Self { graph, now, listener, first, acknowledged: 0, port: 5555, window: 65_535 }
    }

    /// A connection; the SYN has these options.
    pub fn connect(&mut self, options: &[u8]) -> PathId {
        let mut syn = Segment::of(SYN, -1);
        syn.options = options.to_vec();
        let answer = self.send(syn);
        assert!(answer.len() == 1 && answer[0].flags == SYN | ACK, "{answer:?}");
        assert_eq!(answer[0].acknowledged, 0);
        self.acknowledged = answer[0].sequence.wrapping_add(1);
        assert_eq!(self.send(Segment::default()), []);
        self.graph.accepted(self.listener).expect("a connection")
    }

    /// What the graph's end says to a segment. One without flags is an acknowledgement.
    pub fn send(&mut self, segment: Segment) -> Vec<Segment> {
        let frame = self.frame(&segment);
        self.graph.arrive(Message::copied(0, &frame), self.now);
        self.sent()
    }

    /// Lets so many milliseconds pass; what the graph's end says meanwhile.
    pub fn pass(&mut self, milliseconds: u64) -> Vec<Segment> {
        self.now += Duration::from_millis(milliseconds);
        self.graph.tick(self.now);
        self.sent()
    }

    fn frame(&self, segment: &Segment) -> Vec<u8> {
        let options = segment.options.len().next_multiple_of(4);
        let len = 40 + options + segment.data.len();
        let mut frame = [&host(SERVER).hardware.0[..], &host(CLIENT).hardware.0, &[8, 0]].concat();
        frame.resize(14 + len, 0);
        let mut ip = Ipv4Packet::new_unchecked(&mut frame[14..]);
        ip.set_version(4);
        ip.set_header_len(20);
        ip.set_total_len(len as u16);
        ip.set_hop_limit(64);
        ip.set_next_header(IpProtocol::Tcp);
        ip.set_src_addr(CLIENT);
        ip.set_dst_addr(SERVER);
        ip.fill_checksum();
        frame[54..][..segment.options.len()].copy_from_slice(&segment.options);
        frame[54 + options..].copy_from_slice(&segment.data);
        let mut tcp = TcpPacket::new_unchecked(&mut frame[34..]);
        tcp.set_src_port(self.port);
        tcp.set_dst_port(PORT);
        tcp.set_header_len(20 + options as u8);
        tcp.set_seq_number(TcpSeqNumber(self.first.wrapping_add(segment.at)));
        let flags = if segment.flags == 0 { ACK } else { segment.flags };
        if flags & ACK != 0 {
            tcp.set_ack_number(TcpSeqNumber(self.acknowledged));
        }
        tcp.set_fin(flags & FIN != 0);
        tcp.set_syn(flags & SYN != 0);
        tcp.set_rst(flags & RST != 0);
        tcp.set_psh(flags & PSH != 0);
        tcp.set_ack(flags & ACK != 0);
        tcp.set_window_len(self.window);
        tcp.fill_checksum(&CLIENT.into(), &SERVER.into());
        frame
    }

    /// What the graph's end has sent. Questions for our hardware address are answered.
    pub fn sent(&mut self) -> Vec<Segment> {
        let mut segments = Vec::new();
        while let Some(frame) = self.graph.transmit() {
            let bytes = frame.bytes().to_vec();
            self.graph.release(frame);
            match bytes[12..14] {
                [8, 6] => self.graph.arrive(Message::copied(0, &answer(&bytes)), self.now),
                _ => segments.push(self.read(&bytes)),
            }
        }
        segments
    }

    fn read(&self, frame: &[u8]) -> Segment {
        let ip = Ipv4Packet::new_checked(&frame[14..]).unwrap();
        let tcp = TcpPacket::new_checked(ip.payload()).unwrap();
        assert!(tcp.verify_checksum(&SERVER.into(), &CLIENT.into()));
        assert_eq!((tcp.src_port(), tcp.dst_port()), (PORT, self.port));
        Segment {
            flags: ip.payload()[13],
            data: tcp.payload().to_vec(),
            sequence: tcp.seq_number().0,
            acknowledged: tcp.ack_number().0.wrapping_sub(self.first),
            window: tcp.window_len(),
            ..Segment::default()
        }
    }
}

/// The answer to a question of ARP.
fn answer(question: &[u8]) -> Vec<u8> {
    let (asks, ours) = (&question[22..32], host(CLIENT).hardware.0);
    let mut frame = [&question[6..12], &ours, &[8, 6, 0, 1, 8, 0, 6, 4, 0, 2], &ours].concat();
    frame.extend(&question[38..42]);
    frame.extend(asks);
    frame
}
