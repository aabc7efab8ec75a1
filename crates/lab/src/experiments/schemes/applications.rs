//! Table 3: what source hashes are used for, and how many lookups they spare there.

use std::time::Duration;

use throughline_forward::filter::{Consumer, Program};
use throughline_forward::{
    AddressIndices, Bridge, BridgeConfig, BridgePort, FilterBank, FilterBankConfig, FlowIndex, Label,
    Outgoing, Packet, PortId, PortLabels, insert_label,
};
use throughline_stack::Message;
use throughline_stack::smoltcp::time::Instant;
use throughline_stack::smoltcp::wire::EthernetAddress;
use throughline_vi::at_most_once::{CallId, CallTable, CallerId, Limits, Times, Verdict};
use throughline_wire::{Flow, RegionList};

use super::{Test, cell, measured, shown};
use crate::experiments::paths::failed;
use crate::experiments::setup_cost::{Scheme, flows_of};
use crate::{LabError, Row};

const BRIDGE: Test = Test("crates/forward/tests/bridge.rs", "an_index_on_addresses_spares_both_lookups");
const ROUTER: Test = Test("crates/forward/tests/router.rs", "datagrams_and_answers_pass_between_networks");
const EDGE: Test = Test("crates/forward/tests/edge.rs", "hosts_get_the_same_with_and_without_labels");
const RPC: Test =
    Test("crates/vi/tests/at_most_once/simulated.rs", "a_million_calls_are_each_carried_out_once");
const CALLERS: Test = Test(
    "crates/vi/tests/at_most_once/floods.rs",
    "a_caller_is_forgotten_when_no_copy_can_come_and_not_before",
);
const FILTER: Test = Test("crates/forward/tests/filter/bank.rs", "what_a_flow_decides_is_run_once_for_it");

/// Packets of one flow.
const PACKETS: u32 = 100;
/// IPv4, as tcpdump prints the program.
const IPV4: &str = "4\n40 0 0 12\n21 0 1 2048\n6 0 0 262144\n6 0 0 0\n";
/// Before frames, for labels.
const HEADROOM: usize = 128;
const ETHERNET: usize = 14;

pub(super) fn rows() -> Result<Vec<Row>, LabError> {
    let row = |line, id, what, found: u64, of: u32, test| {
        let share = (found as f64 / f64::from(of) * 1000.0).round() / 1000.0;
        [
            measured(cell(3, line, "found by index", what, "of all", share), "a flow of 100 packets"),
            shown(cell(3, line, "flow id", id, "shown", 1.0), test),
        ]
    };
    let calls = [
        measured(
            cell(3, "timer-based RPC", "copies refused", "of calls that came twice", "of all", refused()?),
            "100 calls, each twice",
        ),
        shown(cell(3, "timer-based RPC", "flow id", "caller's id", "shown", 1.0), RPC),
        shown(cell(3, "timer-based RPC", "state", "ends with the last copy", "shown", 1.0), CALLERS),
    ];
    let of_two = "lookups of destination and source";
    Ok([
        &row("bridging", "link address", of_two, bridged()?, 2 * PACKETS, BRIDGE)[..],
        &row("routing", "destination, or the flow label of IPv6", "packets", routed()?, PACKETS, ROUTER),
        &[shown(cell(3, "routing", "unchanged hosts", "labelled where they enter", "shown", 1.0), EDGE)],
        &calls,
        &row("packet filter", "headers of the flow", "packets", filtered()?, PACKETS, FILTER),
    ]
    .concat())
}

/// Lookups of a bridge that an index on addresses spared.
fn bridged() -> Result<u64, LabError> {
    let mut bridge =
        Bridge::new(&[BridgePort { labels: PortLabels::KNOWN, mtu: 1500 }; 2], BridgeConfig::default())?;
    let mut out = Outgoing::new(1500, 64);
    let stations = [EthernetAddress([2, 0, 0, 0, 0, 1]), EthernetAddress([2, 0, 0, 0, 0, 2])];
    let mut carry = |port: u16, [to, from]: [EthernetAddress; 2], indices: AddressIndices| {
        let bytes = [&to.0[..], &from.0, &[8, 0], &[0; 46]].concat();
        let frame = labelled(&bytes, indices.word())?;
        bridge.arrive(PortId(port), frame, Instant::ZERO, &mut out);
        out.frames.drain(..).for_each(|(_, frame)| out.pool.give(frame));
        Ok::<_, LabError>(())
    };
    let [one, other] = stations;
    carry(1, [one, other], AddressIndices { destination: 1, source: 2 })?;
    for _ in 0..PACKETS {
        carry(0, [other, one], AddressIndices { destination: 2, source: 1 })?;
    }
    Ok(bridge.flow_counts(PortId(0)).hits)
}

/// Packets that a router found by their source hash.
fn routed() -> Result<u64, LabError> {
    let outcomes = flows_of(PACKETS)?;
    let outcome = outcomes.iter().find(|(scheme, _)| *scheme == Scheme::SourceHash);
    Ok(outcome.map_or(0, |(_, outcome)| outcome.short.into()))
}

/// Which part of the copies of calls was refused, when each call came twice.
fn refused() -> Result<f64, LabError> {
    let mut table = CallTable::new(&Times::default(), Limits::default(), 1);
    let mut refused = 0;
    for number in 0..u64::from(PACKETS) {
        let caller = CallerId { index: 77, key: 7 };
        let id = CallId { caller, number, settled: number };
        let Verdict::CarryOut(ticket) = table.receive(Duration::from_secs(1), &id) else {
            return Err(failed("a call is not carried out"));
        };
        table.reply(ticket, b"done");
        refused += u32::from(!matches!(table.receive(Duration::from_secs(1), &id), Verdict::CarryOut(_)));
    }
    Ok(f64::from(refused) / f64::from(PACKETS))
}

/// Packets whose consumers a bank of filters found by their source hash.
fn filtered() -> Result<u64, LabError> {
    let config = FilterBankConfig { index: FlowIndex::Carried, ..FilterBankConfig::default() };
    let mut bank = FilterBank::new(config)?;
    for n in 0..16 {
        bank.add(IPV4.parse::<Program>().map_err(failed)?, Consumer(n));
    }
    let frame = labelled(&datagram(), 7)?;
    for _ in 0..PACKETS {
        let packet = Packet::of(frame.bytes()).map_err(failed)?;
        if bank.consumers(&packet, Instant::ZERO).len() != 16 {
            return Err(failed("a filter missed a packet"));
        }
    }
    Ok(bank.counts().flows.hits)
}

fn labelled(frame: &[u8], word: u32) -> Result<Message, LabError> {
    let mut message = Message::copied(HEADROOM, frame);
    let label = Label { flow: Flow { id: 1, source_hash: word }, threaded: false };
    insert_label(&mut message, label, &RegionList::new()).map_err(failed)?;
    Ok(message)
}

/// Of UDP over IPv4.
fn datagram() -> Vec<u8> {
    let mut frame = vec![2; ETHERNET - 2];
    frame.extend([8, 0]);
    frame.extend([0x45, 0, 0, 28, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 1, 3]);
    frame.extend([0x13, 0x88, 0, 53, 0, 8, 0, 0]);
    frame
}
