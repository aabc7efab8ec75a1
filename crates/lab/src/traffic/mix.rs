//! Several kinds of traffic on one wire, and as a capture.

use std::io::{self, Write};
use std::iter;

use etherparse::PacketBuilder;
use throughline_capture::{Frame, PcapWriter};
use throughline_demux::Ipv4Connection;

use super::event::{Event, Kind, Stream, together};
use super::keys;
use super::spec::{MOST_FLOWS, Traffic};
use crate::random::Random;

/// `LINKTYPE_RAW`: packets begin with the header of IP.
const RAW: u32 = 101;

/// Kinds of traffic at once, each of which has keys and a seed of its own.
#[derive(Clone, Debug)]
pub struct Mix(Vec<Traffic>);

/// More kinds of traffic at once than there are keys for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at most {} kinds of traffic at once", Mix::MOST)]
pub struct TooMany;

impl Mix {
    /// The most kinds.
    pub const MOST: usize = 100;

    /// All of these.
    ///
    /// # Errors
    /// If there are more than [`MOST`](Self::MOST).
    pub fn new(traffic: Vec<Traffic>) -> Result<Self, TooMany> {
        if traffic.len() > Self::MOST { Err(TooMany) } else { Ok(Self(traffic)) }
    }

    /// The packets of all, endlessly, in the order of time; flows have numbers of their own.
    ///
    /// The first kind has the seed given, as it has alone. Those of the others are drawn, so that runs with neighbouring seeds
    /// have none in common.
    pub fn events(&self, seed: u64) -> impl Iterator<Item = Event> + use<> {
        let mut random = Random::new(seed);
        let seeds = iter::once(seed).chain(iter::repeat_with(|| random.next()));
        let streams = self.0.iter().zip(0..).zip(seeds).map(|((traffic, n), seed)| {
            let numbered =
                move |event: Event| Event { flow: n * MOST_FLOWS + event.flow % MOST_FLOWS, ..event };
            Box::new(traffic.events(seed).map(numbered)) as Stream
        });
        together(streams.collect::<Vec<_>>())
    }

    /// Who a flow is.
    pub fn key(&self, flow: u32) -> Ipv4Connection {
        match self.0.get((flow / MOST_FLOWS) as usize) {
            Some(Traffic::Flood(_)) => keys::colliding(flow),
            _ => keys::terminal(flow),
        }
    }

    /// Writes packets as a capture in pcap's format: IPv4 and TCP without data, `SYN` when a connection opens or is not there,
    /// `FIN` when it closes. `written` is told how many there are so far.
    ///
    /// # Errors
    /// Those of the writer; [`InvalidInput`](io::ErrorKind::InvalidInput) for packets after the year 2106.
    pub fn write(
        &self,
        packets: impl IntoIterator<Item = Event>,
        out: impl Write,
        mut written: impl FnMut(u64),
    ) -> io::Result<()> {
        let mut capture = PcapWriter::new(out, RAW)?;
        let mut packet = Vec::new();
        for (event, n) in packets.into_iter().zip(1..) {
            packet.clear();
            self.packet(&event, &mut packet)?;
            let length = packet.len() as u32;
            capture.write(&Frame { time: event.time, timed: true, link: RAW, length, data: &packet })?;
            written(n);
        }
        capture.finish().map(drop)
    }

    fn packet(&self, event: &Event, packet: &mut Vec<u8>) -> io::Result<()> {
        let key = self.key(event.flow);
        let ip = PacketBuilder::ipv4(key.source().octets(), key.destination().octets(), 64);
        let tcp = ip.tcp(key.source_port(), key.destination_port(), 0, u16::MAX);
        let tcp = match event.kind {
            Kind::Open | Kind::Stray => tcp.syn(),
            Kind::Close => tcp.fin().ack(0),
            _ => tcp.ack(0),
        };
        tcp.write(packet, &[]).map_err(io::Error::other)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use throughline_capture::{Capture, Fragments, Payload, Seen, Source, look, payload};

    use super::*;

    fn mix(traffic: &[&str]) -> Mix {
        Mix::new(traffic.iter().map(|text| text.parse().unwrap()).collect()).unwrap()
    }

    #[test]
    fn a_capture_has_the_packets_and_flows_that_came() {
        let mix =
            mix(&["tpc-a:users=300", "trains", "churn:connections=50", "scan", "flood:flows=70", "flood"]);
        let packets: Vec<Event> = mix.events(5).take(20_000).collect();
        let (mut octets, mut told) = (Vec::new(), 0);
        mix.write(packets.iter().copied(), &mut octets, |n| told = n).unwrap();
        assert_eq!(told, 20_000);
        let mut read = packets.iter();
        let (mut seen, mut fragments) = (HashSet::new(), Fragments::default());
        let source = Source::new(io::Cursor::new(octets)).unwrap();
        let frames = |frame: Frame<'_>| {
            let event = read.next().expect("as many as were written");
            assert_eq!(frame.time, event.time);
            let Payload::Ip(packet) = payload(&frame) else { panic!("{event:?}") };
            let Seen::Flow(flow, _) = look(packet, &mut fragments) else { panic!("{event:?}") };
            seen.insert(format!("{flow:?}"));
        };
        Capture::open(source).unwrap().read(frames).unwrap();
        assert!(read.next().is_none());
        assert_eq!(seen.len(), packets.iter().map(|packet| packet.flow).collect::<HashSet<_>>().len());
    }

    #[test]
    fn the_same_seed_gives_the_same_packets_and_each_kind_another() {
        let mix = mix(&["tpc-a", "tpc-a"]);
        let packets = |seed| mix.events(seed).take(1000).collect::<Vec<_>>();
        assert_eq!(packets(1), packets(1));
        assert_ne!(packets(1), packets(2));
        let times = |seed, n| {
            let of_kind = packets(seed).into_iter().filter(move |event| event.flow / MOST_FLOWS == n);
            of_kind.map(|event| event.time).take(100).collect::<Vec<_>>()
        };
        assert_ne!(times(1, 0), times(1, 1));
        assert_ne!(times(1, 1), times(2, 0), "runs with neighbouring seeds are runs apart");
    }

    #[test]
    fn only_so_many_kinds() {
        let scan: Traffic = "scan".parse().unwrap();
        assert!(Mix::new(vec![scan; Mix::MOST]).is_ok());
        assert_eq!(Mix::new(vec![scan; Mix::MOST + 1]).unwrap_err(), TooMany);
    }
}
