//! Filters as user-level protocols attach them, and packets for them.

use throughline_forward::filter::{Consumer, Libpcap, Program};
use throughline_forward::{FilterBank, FilterBankConfig, FlowIndex, Label, insert_label};
use throughline_stack::Message;
use throughline_wire::{Flow, RegionList};

use super::{Case, failed};
use crate::LabError;
use crate::random::Random;

/// Bytes of a frame without label: the shortest of Ethernet.
const FRAME: usize = 60;

/// The expression of the `n`th filter. Half are of a connection; the others of a service, a host, a network.
fn expression(n: usize) -> String {
    let (host, port) = (n % 200 + 1, 1024 + n);
    match n % 8 {
        0 | 4 => format!("udp dst port {port} and dst host 10.1.0.{host} and src host 10.0.0.{host}"),
        2 | 6 => format!(
            "tcp dst port {port} and dst host 10.1.0.{host} and src host 10.0.0.{host} and src port 5{:03}",
            n % 1000
        ),
        1 => format!("udp port {port}"),
        3 => format!("tcp port {port}"),
        5 => format!("host 10.1.0.{host} and host 10.0.0.{host}"),
        _ => format!("src net 10.0.{}.0/24 and dst port {port}", n / 8),
    }
}

/// As [`expression`], and what is asked differs between packets of a flow.
fn expression_per_packet(n: usize) -> String {
    format!("{} and greater {}", expression(n), 20 + n % 20)
}

/// The programs of a case.
pub(super) fn programs(libpcap: &Libpcap, case: Case) -> Result<Vec<Program>, LabError> {
    let text = |n: usize| if n < case.per_packet { expression_per_packet(n) } else { expression(n) };
    let compiled = |n| libpcap.compile(&text(n)).map_err(|error| failed(&error));
    (0..case.filters).map(compiled).collect()
}

/// A bank of them, each with a consumer of its own. The cache has the paper's 65,536 entries.
pub(super) fn bank(programs: &[Program], index: FlowIndex) -> Result<FilterBank, LabError> {
    let mut bank = FilterBank::new(FilterBankConfig { index, ..FilterBankConfig::default() })?;
    for (program, n) in programs.iter().zip(0..) {
        bank.add(program.clone(), Consumer(n));
    }
    Ok(bank)
}

/// A packet of each flow, as it comes in: unlabelled, and labelled by its sender with a flow id and a random source hash.
pub(super) struct Traffic {
    pub(super) plain: Vec<Vec<u8>>,
    pub(super) labelled: Vec<Vec<u8>>,
    /// Whose packet comes next: any flow's, whoever was before; or, of a capture, which packet.
    order: Vec<u32>,
}

/// Packets before the order repeats.
const PACKETS: usize = 1 << 16;

impl Traffic {
    pub(super) fn new(case: Case, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let plain: Vec<Vec<u8>> = (0..case.flows).map(|_| frame(&mut random, case.filters)).collect();
        let labelled = plain.iter().map(|frame| labelled(frame, flow(&mut random))).collect();
        let order = (0..PACKETS).map(|_| random.below(case.flows as u32)).collect();
        Self { plain, labelled, order }
    }

    /// Packets as they were captured, each with the flow that its sender would have labelled it with.
    pub(super) fn captured(packets: Vec<(Vec<u8>, Flow)>) -> Self {
        let labelled = packets.iter().map(|(frame, flow)| labelled(frame, *flow)).collect();
        let order = (0..packets.len() as u32).collect();
        Self { plain: packets.into_iter().map(|(frame, _)| frame).collect(), labelled, order }
    }

    /// All packets in their order, again and again: of these, which are those of one flow each, or those of a capture.
    pub(super) fn packets<'a>(&'a self, frames: &'a [Vec<u8>]) -> impl Iterator<Item = &'a [u8]> {
        self.order.iter().cycle().map(|flow| &*frames[*flow as usize])
    }
}

/// From a host of one network to one of another. Half of the flows go to the port of a filter, most of which want more than that:
/// of 16 filters and more some want a fifth of the flows.
fn frame(random: &mut Random, filters: usize) -> Vec<u8> {
    let n = random.below(2 * filters as u32);
    let host = (n % 200 + 1) as u8;
    let protocol = if n % 4 < 2 { 17 } else { 6 };
    let ports = [5000 + random.below(1000) as u16, 1024 + n as u16];
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
    frame.extend_from_slice(&[0x45, 0, 0, 46, 0, 0, 0x40, 0, 64, protocol, 0, 0]);
    frame.extend_from_slice(&[10, 0, random.below(4) as u8, host, 10, 1, 0, host]);
    ports.iter().for_each(|port| frame.extend_from_slice(&port.to_be_bytes()));
    frame.resize(FRAME, 0);
    frame
}

/// Any flow.
pub(super) fn flow(random: &mut Random) -> Flow {
    Flow { id: random.next(), source_hash: random.next() as u32 }
}

fn labelled(frame: &[u8], flow: Flow) -> Vec<u8> {
    let mut message = Message::copied(64, frame);
    insert_label(&mut message, Label { flow, threaded: false }, &RegionList::new()).expect("there is room");
    message.bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::super::measure::find;
    use super::*;

    #[test]
    fn a_fifth_of_the_flows_is_wanted() {
        let libpcap = match Libpcap::open() {
            Ok(libpcap) => libpcap,
            Err(error) => return drop(writeln!(std::io::stderr(), "SKIPPED: {error}")),
        };
        for (filters, flows) in [(16, 4000), (256, 1000)] {
            let case = Case { filters, per_packet: 0, flows, captured: false };
            let mut bank = bank(&programs(&libpcap, case).unwrap(), FlowIndex::Never).unwrap();
            let frames = Traffic::new(case, 1).plain;
            let wanted = frames.iter().filter(|frame| find(&mut bank, frame)).count() as f64 / flows as f64;
            assert!((0.15..0.25).contains(&wanted), "{filters} filters want {wanted} of the flows");
        }
    }
}
