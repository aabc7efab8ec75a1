//! Real traffic: the packets of a capture in their order, and filters of the hosts and ports in it.

use std::{collections::HashMap, fmt::Display, path::Path};

use throughline_capture::{Capture, Flow, Fragments, Payload, Seen, Source, Tuple, look, payload};
use throughline_forward::filter::{Libpcap, Program};

use super::{
    Case, failed,
    traffic::{Traffic, flow},
};
use crate::{LabError, Sink, random::Random};

/// Packets that are taken, from the beginning.
const PACKETS: usize = 1 << 16;

/// A capture's packets, and who talks to whom in it.
pub(super) struct Captured {
    pub(super) traffic: Traffic,
    /// In the order in which they begin.
    flows: Vec<Flow>,
}

impl Captured {
    /// The packets of TCP and UDP, as frames of Ethernet whatever they were captured on.
    pub(super) fn read(path: &Path, seed: u64, sink: &mut dyn Sink) -> Result<Self, LabError> {
        let useless =
            |cause: &dyn Display| LabError::Capture { path: path.to_owned(), cause: cause.to_string() };
        let source = Source::open(path).map_err(|error| useless(&error))?;
        let capture = Capture::open(source).map_err(|fault| useless(&fault))?;
        let (mut random, mut fragments) = (Random::new(seed), Fragments::default());
        let (mut packets, mut flows, mut labels) = (Vec::new(), Vec::new(), HashMap::new());
        let read = capture.read(|frame| {
            let Payload::Ip(packet) = payload(&frame) else { return };
            let Seen::Flow(seen, _) = look(packet, &mut fragments) else { return };
            if packets.len() < PACKETS {
                let label = *labels.entry(name(&seen)).or_insert_with(|| {
                    flows.push(seen);
                    flow(&mut random)
                });
                packets.push((ethernet(packet), label));
            }
        });
        if packets.is_empty() {
            return Err(
                read.map_or_else(|fault| useless(&fault), |()| useless(&"it has no packets of TCP or UDP"))
            );
        }
        if let Err(fault) = read {
            sink.note(&format!("of {} there is only what comes before its fault: {fault}", path.display()));
        }
        Ok(Self { traffic: Traffic::captured(packets), flows })
    }

    /// So many filters of what is in it.
    pub(super) fn case(&self, filters: usize) -> Case {
        Case { filters, per_packet: 0, flows: self.flows.len(), captured: true }
    }

    /// The programs of that case.
    pub(super) fn programs(&self, libpcap: &Libpcap, case: Case) -> Result<Vec<Program>, LabError> {
        let compiled = |n| libpcap.compile(&self.expression(n)).map_err(|error| failed(&error));
        (0..case.filters).map(compiled).collect()
    }

    fn expression(&self, n: usize) -> String {
        match &self.flows[n % self.flows.len()] {
            Flow::V4(tuple) => expression(n, tuple, std::net::Ipv4Addr::from),
            Flow::V6(tuple) => expression(n, tuple, std::net::Ipv6Addr::from),
        }
    }
}

/// As of made traffic: half are of a connection, the others of a service, a host, a pair of hosts.
fn expression<A: Copy, D: Display>(n: usize, flow: &Tuple<A>, address: impl Fn(A) -> D) -> String {
    let (source, from) = (address(flow.from.0), flow.from.1);
    let (destination, to) = (address(flow.to.0), flow.to.1);
    let protocol = if flow.protocol == 6 { "tcp" } else { "udp" };
    match n % 8 {
        0 | 4 => format!("{protocol} dst port {to} and dst host {destination} and src host {source}"),
        2 | 6 => format!(
            "{protocol} dst port {to} and dst host {destination} and src host {source} and src port {from}"
        ),
        1 => format!("{protocol} port {to}"),
        3 => format!("host {source}"),
        5 => format!("host {source} and host {destination}"),
        _ => format!("src host {source} and dst port {to}"),
    }
}

/// A flow as a key of a map.
fn name(flow: &Flow) -> (u128, u16, u128, u16, u8) {
    match *flow {
        Flow::V4(Tuple { from, to, protocol }) => (from.0.into(), from.1, to.0.into(), to.1, protocol),
        Flow::V6(Tuple { from, to, protocol }) => (from.0, from.1, to.0, to.1, protocol),
    }
}

fn ethernet(packet: &[u8]) -> Vec<u8> {
    let kind = if packet[0] >> 4 == 6 { [0x86, 0xdd] } else { [8, 0] };
    [&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2][..], &kind, packet].concat()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use throughline_capture::{Frame, PcapWriter};

    use super::*;
    use crate::Collected;

    #[test]
    fn a_capture_that_is_cut_off_is_used_up_to_there_and_says_so() {
        let made = Traffic::new(Case { filters: 8, per_packet: 1, flows: 5, captured: false }, 1);
        let mut file = PcapWriter::new(Vec::new(), 1).unwrap();
        for data in &made.plain {
            file.write(&Frame { time: 0, timed: true, link: 1, length: data.len() as u32, data }).unwrap();
        }
        let mut octets = file.finish().unwrap();
        let path = std::env::temp_dir().join(format!("throughline-lab-cut-{}.pcap", std::process::id()));
        let read = |octets: &[u8]| {
            let mut sink = Collected::default();
            fs::write(&path, octets).unwrap();
            let captured = Captured::read(&path, 1, &mut sink);
            fs::remove_file(&path).unwrap();
            (captured.unwrap().traffic.plain.len(), sink.notes)
        };
        assert_eq!(read(&octets), (5, Vec::new()));
        octets.pop();
        let (packets, notes) = read(&octets);
        assert_eq!((packets, notes.len()), (4, 1), "{notes:?}");
        let told = format!("of {} there is only what comes before its fault: ", path.display());
        assert!(notes[0].starts_with(&told) && notes[0].contains("after 4 frames"), "{notes:?}");
    }
}
