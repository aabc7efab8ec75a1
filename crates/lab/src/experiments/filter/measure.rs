//! Time per packet.

use std::hint::black_box;
use std::time::Duration;

use throughline_forward::filter::{Libpcap, Program, Reference};
use throughline_forward::{FilterBank, Packet};
use throughline_stack::smoltcp::time::Instant;

use super::captured::Captured;
use super::traffic::{Traffic, bank, programs};
use super::{Case, FLOWS, PAPER, PAPER_SPEEDUP, Scheme, TARGETS};
use crate::timing::{Work, in_turns};
use crate::{LabError, Options, Row};

/// The time of each scheme, all in turns, and how much of that of running all programs it is.
pub(super) fn rows(
    libpcap: &Libpcap,
    case: Case,
    captured: Option<&Captured>,
    options: &Options,
) -> Result<Vec<Row>, LabError> {
    let programs = match captured {
        Some(captured) => captured.programs(libpcap, case)?,
        None => programs(libpcap, case)?,
    };
    let made = captured.is_none().then(|| Traffic::new(case, options.seed));
    let Some(traffic) = captured.map(|captured| &captured.traffic).or(made.as_ref()) else {
        return Ok(Vec::new());
    };
    let mut works = Scheme::ALL
        .iter()
        .map(|scheme| work(libpcap, *scheme, &programs, traffic))
        .collect::<Result<Vec<_>, LabError>>()?;
    let (rounds, batch) = if options.quick { (5, 20) } else { (15, 60) };
    let times = in_turns(&mut works, rounds, Duration::from_millis(batch));
    let time =
        |scheme: Scheme| times[Scheme::ALL.iter().position(|other| *other == scheme).unwrap_or(0)].median;
    let mut rows = Vec::new();
    for scheme in Scheme::ALL {
        rows.push(row("time", "ns", time(scheme), case, scheme));
    }
    for scheme in [Scheme::ComputedHash, Scheme::SourceHash] {
        let speedup = time(Scheme::None) / time(scheme);
        rows.push(with_target(row("speedup", "ratio", speedup, case, scheme), case, scheme));
    }
    for scheme in [Scheme::ComputedHash, Scheme::SourceHash] {
        rows.push(row("hits", "ratio", hits(&programs, traffic, scheme)?, case, scheme));
    }
    Ok(rows)
}

/// A row of this case, its figure rounded to what can be told apart.
pub(super) fn row(metric: &'static str, unit: &'static str, value: f64, case: Case, scheme: Scheme) -> Row {
    Row::new("filter", metric, unit, (value * 1000.0).round() / 1000.0)
        .claim("HDR-1")
        .with("filters", case.filters)
        .with("per_packet", case.per_packet)
        .with("flows", case.flows)
        .with("traffic", if case.captured { "captured" } else { "made" })
        .with("scheme", scheme.name())
}

fn with_target(row: Row, case: Case, scheme: Scheme) -> Row {
    if case.captured || case.flows != FLOWS || case.per_packet != 0 || scheme != Scheme::SourceHash {
        return row;
    }
    let row = if case.filters == PAPER { row.paper(PAPER_SPEEDUP) } else { row };
    match TARGETS.iter().find(|(filters, _)| *filters == case.filters) {
        Some((_, target)) => row.at_least(*target),
        None => row,
    }
}

/// A repetition is a packet: its label is read if it has one, and its consumers are found.
fn work<'a>(
    libpcap: &'a Libpcap,
    scheme: Scheme,
    programs: &[Program],
    traffic: &'a Traffic,
) -> Result<Work<'a>, LabError> {
    let Some(index) = scheme.index() else {
        let references: Vec<Reference<'a>> =
            programs.iter().map(|program| libpcap.reference(program)).collect();
        let mut packets = traffic.packets(&traffic.plain);
        return Ok(Box::new(move |count| {
            for frame in packets.by_ref().take(count as usize) {
                references.iter().for_each(|reference| _ = black_box(reference.run(frame)));
            }
        }));
    };
    let mut bank = bank(programs, index)?;
    // What a flow's first packet costs is that of running all filters.
    frames(traffic, scheme).iter().for_each(|frame| _ = find(&mut bank, frame));
    let mut packets = traffic.packets(frames(traffic, scheme));
    Ok(Box::new(move |count| {
        for frame in packets.by_ref().take(count as usize) {
            black_box(find(&mut bank, frame));
        }
    }))
}

/// The packets that a scheme gets: who needs no label gets none.
pub(super) fn frames(traffic: &Traffic, scheme: Scheme) -> &[Vec<u8>] {
    if scheme == Scheme::SourceHash { &traffic.labelled } else { &traffic.plain }
}

/// Whether anybody wants the packet.
#[inline]
pub(super) fn find(bank: &mut FilterBank, frame: &[u8]) -> bool {
    let packet = Packet::of(black_box(frame)).expect("a frame of Ethernet");
    !bank.consumers(&packet, Instant::ZERO).is_empty()
}

/// Which part of the packets found their flow, once all flows have been seen.
fn hits(programs: &[Program], traffic: &Traffic, scheme: Scheme) -> Result<f64, LabError> {
    let mut bank = bank(programs, scheme.index().unwrap_or_default())?;
    let mut packets = traffic.packets(frames(traffic, scheme));
    let mut seen = |packets: &mut dyn Iterator<Item = &[u8]>| {
        let before = bank.counts().flows;
        packets.for_each(|frame| _ = find(&mut bank, frame));
        let after = bank.counts().flows;
        let (hits, misses) = (after.hits - before.hits, after.misses - before.misses);
        hits as f64 / (hits + misses) as f64
    };
    let flows = traffic.plain.len();
    seen(&mut packets.by_ref().take(5 * flows));
    Ok(seen(&mut packets.by_ref().take(flows)))
}
