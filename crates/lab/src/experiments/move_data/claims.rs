//! From latencies to rows: what was measured, the paper's claims as ratios, and the project's targets.

use super::measure::Measured;
use super::memory::Alone;
use super::row;
use super::ways::{Layer, WAITS};
use crate::Row;

/// A small call over shared memory, polling: at most so many times the time of the bare ring.
const OVER_FLOOR: f64 = 1.5;
/// A call that moves much: at most so many times that of two copies and a small call.
const OVER_COPIES: f64 = 1.5;
/// A small call, blocking: at most so many times the time of the bare ring whose ends sleep.
const OVER_SLEEPING: f64 = 1.2;

/// A small call over UDP, polling: at most so many times the time of the bare datagrams.
const OVER_DATAGRAMS: f64 = 1.15;

const SMALL: u32 = 4;
const LARGE: u32 = 8_192;

/// All rows.
pub(super) fn rows(measured: &Measured, alone: &[Alone]) -> Vec<Row> {
    let mut rows = latencies(measured);
    for wait in WAITS {
        rows.extend(over_floor(measured, wait));
        rows.extend(over_datagrams(measured, wait));
        rows.extend(transports(measured, wait));
        rows.extend(saved(measured, wait));
        rows.extend(beside_local(measured, wait));
        rows.extend(marshaling(measured, alone, wait));
    }
    rows.extend(over_copies(measured, alone));
    rows
}

fn latencies(measured: &Measured) -> Vec<Row> {
    let of = |metric, value, latency: &super::measure::Latency| {
        let way = latency.way;
        let with = row(metric, "us", value).with("transport", way.transport).with("layer", way.layer.name());
        with.with("wait", way.wait).with("bytes", latency.bytes)
    };
    let both = measured.all.iter().flat_map(|latency| {
        [of("latency_one_way", latency.median, latency), of("latency_p99", latency.p99, latency)]
    });
    both.collect()
}

fn with(row: Row, wait: &str, bytes: u32) -> Row {
    row.with("wait", wait).with("bytes", bytes)
}

/// Calls over shared memory beside the bare ring.
fn over_floor(measured: &Measured, wait: &'static str) -> Vec<Row> {
    let of = |bytes: &u32| {
        let call = measured.median("shm", Layer::Object, wait, *bytes)?;
        let floor = measured.median("floor", Layer::Raw, wait, *bytes)?;
        let row = with(row("call_over_floor", "ratio", call / floor), wait, *bytes);
        Some(match (*bytes, wait) {
            (SMALL, "poll") => row.at_most(OVER_FLOOR),
            (SMALL, _) => row.at_most(OVER_SLEEPING),
            _ => row,
        })
    };
    measured.sizes().iter().filter_map(of).collect()
}

/// Calls and bare VIs over UDP beside bare datagrams.
fn over_datagrams(measured: &Measured, wait: &'static str) -> Vec<Row> {
    let of = |bytes: &u32| {
        let raw = measured.median("udp", Layer::Raw, wait, *bytes)?;
        let over = |metric, layer| {
            let median = measured.median("udp", layer, wait, *bytes)?;
            Some(with(row(metric, "ratio", median / raw), wait, *bytes))
        };
        let call = over("call_over_datagrams", Layer::Object);
        let call = call.map(|row| match (*bytes, wait) {
            (SMALL, "poll") => row.at_most(OVER_DATAGRAMS),
            _ => row,
        });
        Some(call.into_iter().chain(over("vi_over_datagrams", Layer::Vi)))
    };
    measured.sizes().iter().filter_map(of).flatten().collect()
}

/// Moving 8 KiB: what a small message takes, and a copy at each side, made in one process with all memory in its cache.
/// Beside the call the bare ring, which makes the same two copies, one of them from the other processor's cache.
fn over_copies(measured: &Measured, alone: &[Alone]) -> Vec<Row> {
    let Some(Alone { copy, .. }) = alone.iter().find(|alone| alone.bytes == LARGE) else { return Vec::new() };
    let ratio = |transport, layer| {
        let of = |bytes| measured.median(transport, layer, "poll", bytes);
        Some(of(LARGE)? / (of(SMALL)? + 2.0 * copy))
    };
    let named = |metric, ratio| with(row(metric, "ratio", ratio), "poll", LARGE);
    let call = ratio("shm", Layer::Object).map(|ratio| named("call_over_copies", ratio).at_most(OVER_COPIES));
    let ring = ratio("floor", Layer::Raw).map(|ratio| named("floor_over_copies", ratio));
    let copy = row("copy", "us", *copy).with("bytes", LARGE);
    call.into_iter().chain(ring).chain([copy]).collect()
}

/// A VI beside UDP; and what part of a call's time its kernel transport takes.
fn transports(measured: &Measured, wait: &'static str) -> Vec<Row> {
    let mut rows = Vec::new();
    for bytes in measured.sizes() {
        let raw = |transport| measured.median(transport, Layer::Raw, wait, *bytes);
        if let (Some(vi), Some(udp)) = (raw("shm"), raw("udp")) {
            rows.push(with(row("vi_over_udp", "ratio", vi / udp), wait, *bytes).claim("VIA-1"));
        }
        for transport in ["iiop", "unix", "udp"] {
            let call = measured.median(transport, Layer::Object, wait, *bytes);
            if let (Some(raw), Some(call)) = (raw(transport), call) {
                let share = row("transport_share", "%", 100.0 * raw / call).with("transport", transport);
                rows.push(with(share, wait, *bytes).claim("VIA-2"));
            }
        }
    }
    rows
}

/// What calls save by going over a VI instead of the kernel's TCP: by size, and the least and the most of it.
fn saved(measured: &Measured, wait: &'static str) -> Vec<Row> {
    let of = |bytes: &u32| {
        let vi = measured.median("shm", Layer::Object, wait, *bytes)?;
        let tcp = measured.median("iiop", Layer::Object, wait, *bytes)?;
        let saved = 100.0 * (1.0 - vi / tcp);
        Some(with(row("saved_by_vi", "%", saved), wait, *bytes).claim("VIA-3"))
    };
    let mut rows: Vec<Row> = measured.sizes().iter().filter_map(of).collect();
    let least = rows.iter().map(Row::value).fold(f64::INFINITY, f64::min);
    let most = rows.iter().map(Row::value).fold(f64::NEG_INFINITY, f64::max);
    if !rows.is_empty() {
        let extreme =
            |metric, value, paper| row(metric, "%", value).with("wait", wait).claim("VIA-3").paper(paper);
        rows.push(extreme("saved_by_vi_least", least, 30.0));
        rows.push(extreme("saved_by_vi_most", most, 60.0));
    }
    rows
}

/// Calls over a VI beside calls within the machine by the kernel: up to what size they are faster.
fn beside_local(measured: &Measured, wait: &'static str) -> Vec<Row> {
    let of = |bytes: &u32| {
        let vi = measured.median("shm", Layer::Object, wait, *bytes)?;
        let local = measured.median("unix", Layer::Object, wait, *bytes)?;
        Some((*bytes, vi / local))
    };
    let ratios: Vec<(u32, f64)> = measured.sizes().iter().filter_map(of).collect();
    let ratio = |(bytes, ratio): &(u32, f64)| {
        with(row("call_over_local", "ratio", *ratio), wait, *bytes).claim("VIA-4")
    };
    let faster_to = ratios.iter().take_while(|(_, ratio)| *ratio < 1.0).last().map_or(0, |(bytes, _)| *bytes);
    let paper = if wait == "poll" { 8_192.0 } else { 5_120.0 };
    let to = row("faster_than_local_up_to", "B", f64::from(faster_to)).with("wait", wait);
    ratios.iter().map(ratio).chain([to.claim("VIA-4").paper(paper)]).collect()
}

/// Marshaling: alone, and what part of a call's latency it is; of what a call takes more than bare bytes, too, unless that
/// is less: bare bytes are copied where arguments are marshaled, so that of a large message nothing is added.
fn marshaling(measured: &Measured, alone: &[Alone], wait: &'static str) -> Vec<Row> {
    let mut rows = Vec::new();
    for Alone { bytes, marshaling, .. } in alone {
        for transport in ["shm", "iiop", "unix", "udp"] {
            let Some(call) = measured.median(transport, Layer::Object, wait, *bytes) else { continue };
            let with = |row: Row| with(row.with("transport", transport), wait, *bytes).claim("VIA-5");
            rows.push(with(row("marshaling_share", "%", 100.0 * marshaling / call)));
            let raw = measured.median(transport, Layer::Raw, wait, *bytes);
            if let Some(rest) = raw.map(|raw| call - raw).filter(|rest| *rest >= *marshaling) {
                rows.push(with(row("marshaling_of_rest", "%", 100.0 * marshaling / rest)));
            }
        }
        if wait == WAITS[0] {
            rows.push(row("marshaling", "us", *marshaling).with("bytes", *bytes).claim("VIA-5"));
        }
    }
    rows
}
