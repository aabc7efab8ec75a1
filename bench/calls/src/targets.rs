//! What is to be reached, judged by one run.

use crate::{
    report::{Row, Target, copy, find},
    ways::{BARE_UDP, EXCHANGE, ICEORYX, LINE, MANY, OMNI_TCP, RING, SHM, SHM_FUTURES, SHM_TRUSTING, UDP},
};

/// All targets that can be judged by these rows.
pub fn judge(rows: &[Row]) -> Vec<Target> {
    let ns = |way, wait, bytes| find(rows, way, wait, 1, bytes).map(|row| row.median_ns);
    let rate = |way| find(rows, way, "poll", MANY, 4).map(|row| row.rate_per_s);
    let (small, ring) = (ns(SHM, "poll", 4), ns(RING, "poll", 4));
    let copies = |bytes| Some(small? + 2.0 * copy(rows, bytes)?);
    // What the octets take, from processor to processor and back.
    let crossing = |bytes| Some(ns(EXCHANGE, "poll", bytes)? - ns(EXCHANGE, "poll", 4)?);
    let across = |bytes| Some(small? + crossing(bytes)?);
    let block = ns(SHM, "block", 4);
    let judged = [
        at_most("echo of 4 B on shm, polling / bare ring", small, ring, 1.5),
        at_most("echo of 4 B on shm, polling / one cache line", small, ns(LINE, "poll", 4), 1.0),
        at_least(
            "iceoryx2's request-response / echo of 4 B on shm, polling",
            ns(ICEORYX, "poll", 4),
            small,
            3.0,
        ),
        at_least(
            "omniORB over TCP, blocking / echo of 4 B on shm, polling",
            ns(OMNI_TCP, "block", 4),
            small,
            50.0,
        ),
        at_most(
            "MoveData of 8 KiB on shm, trusting / small call, two copies in one cache",
            ns(SHM_TRUSTING, "poll", 8_192),
            copies(8_192),
            1.5,
        ),
        at_most(
            "MoveData of 8 KiB on shm / small call, two copies in one cache",
            ns(SHM, "poll", 8_192),
            copies(8_192),
            1.5,
        ),
        at_most(
            "no target: MoveData of 8 KiB / small call, plain copies and back",
            ns(SHM, "poll", 8_192),
            across(8_192),
            1.5,
        ),
        at_least("calls a second on shm, 64 outstanding, millions", rate(SHM_FUTURES), Some(1e6), 5.0),
        at_least("calls on shm, 64 outstanding / bare ring", rate(SHM_FUTURES), rate(RING), 0.5),
        at_most(
            "echo of 4 B on shm, blocking / ring whose ends sleep on a futex",
            block,
            ns(RING, "block", 4),
            1.2,
        ),
        at_most(
            "echo of 4 B over loopback UDP, polling / bare UDP",
            ns(UDP, "poll", 4),
            ns(BARE_UDP, "poll", 4),
            1.15,
        ),
    ];
    judged.into_iter().flatten().collect()
}

fn at_most(what: &str, value: Option<f64>, beside: Option<f64>, bound: f64) -> Option<Target> {
    let value = value? / beside?;
    Some(Target { what: what.into(), value, kind: "at most".into(), bound, met: value <= bound })
}

fn at_least(what: &str, value: Option<f64>, beside: Option<f64>, bound: f64) -> Option<Target> {
    let value = value? / beside?;
    Some(Target { what: what.into(), value, kind: "at least".into(), bound, met: value >= bound })
}
