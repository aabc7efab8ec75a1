//! Waiting by spinning, beside a floor that spins too; and many calls outstanding.

use super::omniorb::{How, Programs, Side};
use super::row;
use crate::peers::{Cores, Peer, Round, available};
use crate::timing::median;
use crate::{LabError, Options, Row, Sink, children};

/// A spinning call takes at most so much of the floor's time.
const OVER_FLOOR: f64 = 1.25;
/// 32 calls outstanding: at least so many a second, and twice omniORB's with 8 threads.
const RATE: f64 = 150_000.0;
const OUTSTANDING: u32 = 32;

/// `ping` with both sides spinning, on a core each, in turns with a bare exchange of messages as long.
pub(super) fn measure_spinning(options: &Options, sink: &mut dyn Sink) -> Result<(), LabError> {
    let cores = available()?;
    let [first, second, ..] = cores[..] else {
        sink.note("spinning was not measured: it needs two cores");
        return Ok(());
    };
    let (server_core, client_core) = (Cores::Only(first), Cores::Only(second));
    sink.ahead(1);
    sink.step("spinning");
    let how = How { theirs: None, wait: "spin", prefix: &[] };
    let (rounds, count) = if options.quick { (5, 2_000) } else { (11, 10_000) };
    let (mut ours, mut floors) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        // Anew each time: a server that spins beside the one that is measured would take its core.
        let (server, reference) = how.server(Side::Ours, server_core)?;
        let mut client = how.client(Side::Ours, &reference, 1, client_core)?;
        let round = Round { op: "ping", bytes: 0, count, warmup: count / 4, threads: 1 };
        ours.push(client.round(&round)?.median_ns / 1_000.0);
        drop((client, server));
        let mut server = Peer::start("floor-server", children::command("floor-server", &[])?, server_core)?;
        let mut command = children::command("floor-client", &[])?;
        command.arg(server.line()?);
        let mut client = Peer::start("floor-client", command, client_core)?;
        floors.push(client.round(&Round { op: "floor", ..round })?.median_ns / 1_000.0);
    }
    let with = |row: Row| row.with("op", "ping").with("cores", 2).with("wait", "spin");
    let (ours, floor) = (median(&mut ours), median(&mut floors));
    sink.row(with(row("latency_median", "us", ours)).with("client", "ours").with("server", "ours"))?;
    sink.row(with(row("latency_median", "us", floor)).with("client", "floor").with("server", "floor"))?;
    sink.row(with(row("ours_over_floor", "ratio", ours / floor)).at_most(OVER_FLOOR))
}

/// One way of having many calls outstanding.
struct Load {
    side: Side,
    op: &'static str,
    threads: u32,
    connections: u32,
}

const LOADS: [Load; 6] = [
    Load { side: Side::Ours, op: "ping-async", threads: OUTSTANDING, connections: 1 },
    Load { side: Side::Ours, op: "ping", threads: OUTSTANDING, connections: 1 },
    Load { side: Side::Ours, op: "ping", threads: OUTSTANDING, connections: 8 },
    Load { side: Side::Omniorb, op: "ping", threads: 8, connections: 5 },
    Load { side: Side::Omniorb, op: "ping", threads: 8, connections: 32 },
    Load { side: Side::Omniorb, op: "ping", threads: OUTSTANDING, connections: 32 },
];

/// Our client with our server, omniORB's with omniORB's, on all cores that there are.
pub(super) fn measure_outstanding(
    options: &Options,
    theirs: Option<&Programs>,
    sink: &mut dyn Sink,
) -> Result<(), LabError> {
    let how = How { theirs, wait: "block", prefix: &[] };
    let loads: Vec<&Load> = LOADS.iter().filter(|load| load.side == Side::Ours || theirs.is_some()).collect();
    let mut pairs = Vec::new();
    for load in &loads {
        let (server, reference) = how.server(load.side, Cores::Any)?;
        pairs.push((how.client(load.side, &reference, load.connections, Cores::Any)?, server));
    }
    let (rounds, count) = if options.quick { (3, 10_000) } else { (9, 40_000) };
    let mut rates = vec![Vec::new(); loads.len()];
    sink.ahead(rounds);
    for round in 1..=rounds {
        sink.step(&format!("many outstanding, round {round} of {rounds}"));
        for ((load, (client, _)), rates) in loads.iter().zip(&mut pairs).zip(&mut rates) {
            let round = Round { op: load.op, bytes: 0, count, warmup: 500, threads: load.threads };
            rates.push(client.round(&round)?.rate_per_s);
        }
    }
    let rates: Vec<f64> = rates.iter_mut().map(|rates| median(rates)).collect();
    let best = |wanted: &dyn Fn(&Load) -> bool| {
        let all = loads.iter().zip(&rates).filter(|(load, _)| wanted(load)).map(|(_, rate)| *rate);
        all.fold(0.0, f64::max)
    };
    for (load, rate) in loads.iter().zip(&rates) {
        sink.row(
            row("rate", "calls/s", rate.round())
                .with("client", load.side.name())
                .with("server", load.side.name())
                .with("op", load.op)
                .with("threads", load.threads)
                .with("connections", load.connections)
                .with("cores", available()?.len())
                .with("wait", "block"),
        )?;
    }
    let target = RATE.max(2.0 * best(&|load| load.side == Side::Omniorb && load.threads == 8));
    let ours = best(&|load| load.side == Side::Ours);
    sink.row(
        row("rate_outstanding", "calls/s", ours.round())
            .with("threads", OUTSTANDING)
            .at_least(target.round()),
    )
}
