//! One call at a time, blocking: client and server, ours and omniORB's, in all combinations.

use super::omniorb::{How, Programs, Side};
use super::row;
use crate::peers::{Cores, Peer, Round, available};
use crate::timing::median;
use crate::{LabError, Options, Row, Sink};

/// Client and server.
const ALL: [(Side, Side); 4] = [
    (Side::Ours, Side::Ours),
    (Side::Omniorb, Side::Omniorb),
    (Side::Ours, Side::Omniorb),
    (Side::Omniorb, Side::Ours),
];

/// Ours is no slower than omniORB's at the median.
const RATIO: f64 = 1.0;

/// Octets that `MoveData` carries each way.
const SIZES: [u32; 8] = [4, 64, 256, 1_024, 4_096, 16_384, 32_768, 65_536];

/// What one combination needed for one operation, by round.
#[derive(Default)]
struct Series {
    medians: Vec<f64>,
    p99s: Vec<f64>,
    rates: Vec<f64>,
}

/// On one core and, where there are two, on two.
pub(super) fn measure(
    options: &Options,
    theirs: Option<&Programs>,
    sink: &mut dyn Sink,
) -> Result<(), LabError> {
    let cores = available()?;
    for number in 1..=cores.len().min(2) {
        let pinned = (Cores::Only(cores[0]), Cores::Only(cores[number - 1]));
        measure_on(options, theirs, (number, pinned), sink)?;
    }
    if cores.len() < 2 {
        sink.note("nothing was measured on two cores: this process may use one only");
    }
    Ok(())
}

fn measure_on(
    options: &Options,
    theirs: Option<&Programs>,
    (number, (server_core, client_core)): (usize, (Cores, Cores)),
    sink: &mut dyn Sink,
) -> Result<(), LabError> {
    let how = How { theirs, wait: "block", prefix: &[] };
    let sides: &[Side] = if theirs.is_some() { &[Side::Ours, Side::Omniorb] } else { &[Side::Ours] };
    let servers: Vec<(Peer, String)> =
        sides.iter().map(|side| how.server(*side, server_core)).collect::<Result<_, _>>()?;
    let mut clients = Vec::new();
    for (client, server) in ALL {
        let Some(at) = sides.iter().position(|side| *side == server) else { continue };
        if sides.contains(&client) {
            clients.push(((client, server), how.client(client, &servers[at].1, 5, client_core)?));
        }
    }
    for op in operations(options.quick) {
        sink.ahead(1);
        sink.step(&format!("{} {} B, {number} core(s)", op.op, op.bytes));
        for row in measure_operation(options, &mut clients, &op, number)? {
            sink.row(row)?;
        }
    }
    Ok(())
}

fn operations(quick: bool) -> Vec<Round> {
    let sizes: &[u32] = if quick { &[4, 4_096, 65_536] } else { &SIZES };
    let round = |op, bytes: u32| {
        // About as long for all sizes.
        let count = if quick { 400 } else { 3_000 } * 16 / (16 + bytes / 1_024);
        Round { op, bytes, count, warmup: count / 8 + 8, threads: 1 }
    };
    std::iter::once(round("ping", 0)).chain(sizes.iter().map(|bytes| round("move", *bytes))).collect()
}

fn measure_operation(
    options: &Options,
    clients: &mut [((Side, Side), Peer)],
    op: &Round,
    cores: usize,
) -> Result<Vec<Row>, LabError> {
    let rounds = if options.quick { 5 } else { 11 };
    let mut series: Vec<Series> = clients.iter().map(|_| Series::default()).collect();
    for _ in 0..rounds {
        for ((_, client), series) in clients.iter_mut().zip(&mut series) {
            let times = client.round(op)?;
            series.medians.push(times.median_ns / 1_000.0);
            series.p99s.push(times.p99_ns / 1_000.0);
            series.rates.push(times.rate_per_s);
        }
    }
    let mut rows = Vec::new();
    let with =
        |row: Row| row.with("op", op.op).with("bytes", op.bytes).with("cores", cores).with("wait", "block");
    let mut medians = Vec::new();
    for (((client, server), _), series) in clients.iter().zip(&mut series) {
        let own = [
            ("latency_median", "us", median(&mut series.medians)),
            ("latency_p99", "us", median(&mut series.p99s)),
            ("rate", "calls/s", median(&mut series.rates).round()),
        ];
        medians.push(((*client, *server), own[0].2));
        rows.extend(own.map(|(metric, unit, value)| {
            with(row(metric, unit, value)).with("client", client.name()).with("server", server.name())
        }));
    }
    let of = |wanted| medians.iter().find(|(who, _)| *who == wanted).map(|(_, median)| *median);
    if let (Some(ours), Some(theirs)) = (of(ALL[0]), of(ALL[1])) {
        rows.push(with(row("ours_over_omniorb", "ratio", ours / theirs)).at_most(RATIO));
    }
    Ok(rows)
}
