//! Ten routers that tell each other their indices: how soon they know all ways, what becomes of packets when a link fails.

mod network;

use std::{
    collections::BTreeSet,
    thread,
    time::{Duration, Instant},
};

use rustix::thread::{UnshareFlags, unshare_unsafe};

use self::network::{Arrived, CHORD, Network, ROUTERS, Way, with_network};
use crate::table::{figure, targets};
use crate::{Experiment, LabError, Options, Row, Sink, Table};

/// See the module.
pub(crate) struct Threaded;

/// A routing protocol, by the name in rows, as configured, and seconds after which a link that is silent has failed.
struct Protocol {
    name: &'static str,
    config: &'static str,
    timeout: f64,
}

/// All periods are the usual ones divided: by 30 with distance vectors, by 10 with link states.
const PROTOCOLS: [Protocol; 2] = [
    Protocol {
        name: "distance-vector",
        config: "protocol = \"rip\"\nperiods = { update_s = 1.0, timeout_s = 6.0, garbage_s = 4.0, triggered_s = 0.17 }",
        timeout: 6.0,
    },
    Protocol {
        name: "link-state",
        config: "protocol = \"link-state\"\nperiods = { update_s = 1.0, timeout_s = 4.0 }",
        timeout: 4.0,
    },
];

/// Between packets while a link is broken.
const EVERY: Duration = Duration::from_millis(5);
/// Routers on the way from router 0's host to router 5's: over the chord, and around it.
const DIRECT: u8 = 2;
const AROUND: u8 = 6;
/// How long what is under way may take.
const REST: Duration = Duration::from_secs(2);

impl Experiment for Threaded {
    fn name(&self) -> &'static str {
        "threaded"
    }

    fn purpose(&self) -> &'static str {
        "ten routers with threaded indices: how soon they know all ways, and what a failing link does to packets"
    }

    fn claims(&self) -> &'static [&'static str] {
        &["HDR-3"]
    }

    fn run(&self, options: &Options, sink: &mut dyn Sink) -> Result<(), LabError> {
        sink.ahead(PROTOCOLS.len() as u64);
        thread::scope(|scope| {
            let thread = scope.spawn(|| {
                // SAFETY: the namespace of this thread alone is changed, and it has no descriptor of the former one.
                if let Err(error) = unsafe { unshare_unsafe(UnshareFlags::NEWNET) } {
                    return Ok(Err(format!("no network namespace ({error}); root has them")));
                }
                if std::process::Command::new("ip").arg("-V").output().is_err() {
                    return Ok(Err("no command `ip` (Debian package `iproute2`)".to_owned()));
                }
                let mut rows = Vec::new();
                for protocol in &PROTOCOLS[..if options.quick { 1 } else { 2 }] {
                    rows.extend(with_network(protocol.config, |network| measure(protocol, network))?);
                }
                Ok(Ok(rows))
            });
            sink.step("ten routers, a link that fails and comes back");
            match thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)) {
                Ok(Ok(rows)) => rows.into_iter().try_for_each(|row| sink.row(row)),
                Ok(Err(missing)) => {
                    sink.note(&missing);
                    Ok(())
                }
                Err(error) => Err(error),
            }
        })
    }

    fn tables(&self, rows: &[Row]) -> Vec<Table> {
        let mut table = Table::new(
            "Ten routers over veth pairs",
            ["what", "protocol", "packets by", "", "unit"],
        )
        .remark(
            "Periods: update 1 s, timeout 6 s (distance vectors); hello 1 s, dead after 4 s (link states).",
        );
        for row in rows {
            table.line([
                row.text("metric").replace('_', " "),
                row.text("protocol").to_owned(),
                row.text("scheme").to_owned(),
                figure(row.value()),
                row.text("unit").to_owned(),
            ]);
        }
        vec![
            table,
            targets(rows, |row| {
                format!("{}, {}", row.text("metric").replace('_', " "), row.text("protocol"))
            }),
        ]
    }
}

fn row(protocol: &Protocol, metric: &str, unit: &str, value: f64) -> Row {
    Row::new("threaded", metric, unit, value).with("protocol", protocol.name)
}

/// What was seen of packets.
#[derive(Default)]
struct Seen {
    misdelivered: u64,
    most_hops: u8,
}

impl Seen {
    fn see(&mut self, arrived: Arrived) {
        self.misdelivered += u64::from(!arrived.right);
        self.most_hops = self.most_hops.max(arrived.hops);
    }
}

fn measure(protocol: &Protocol, network: &mut Network<'_>) -> Result<Vec<Row>, LabError> {
    let mut rows = Vec::new();
    let mut seen = Seen::default();
    let converged = network.converge()?.as_secs_f64();
    rows.push(row(protocol, "converged", "s", converged));
    // The indices of all ways follow the ways.
    thread::sleep(REST);
    for way in Way::ALL {
        let (before, _) = network.led();
        let (mut sent, mut hops) = (BTreeSet::new(), 0_u64);
        for from in 0..ROUTERS {
            for to in (0..ROUTERS).filter(|to| *to != from) {
                sent.insert(network.probe(from, to, way)?);
            }
        }
        let count = sent.len();
        let lost = network.await_all(sent, REST, |arrived| {
            hops += u64::from(arrived.hops);
            seen.see(arrived);
        })?;
        let (after, _) = network.led();
        let arrived = (count - lost.len()) as f64;
        rows.push(
            row(protocol, "arrived", "packets", arrived).with("scheme", way.name()).at_least(count as f64),
        );
        let led = (after - before) as f64 / hops.max(1) as f64;
        rows.push(row(protocol, "hops_by_index", "share", led).with("scheme", way.name()));
    }
    network.cut(CHORD, true);
    let (outage, lost) = until(network, AROUND, &mut seen, protocol)?;
    rows.push(row(protocol, "outage", "s", outage).at_most(2.0 * protocol.timeout + 1.0));
    rows.push(row(protocol, "lost_in_outage", "packets", lost));
    network.cut(CHORD, false);
    let (back, lost) = until(network, DIRECT, &mut seen, protocol)?;
    rows.push(row(protocol, "shortest_again", "s", back));
    rows.push(row(protocol, "lost_meanwhile", "packets", lost));
    let (_, useless) = network.led();
    rows.push(row(protocol, "useless_indices", "packets", useless as f64));
    rows.push(row(protocol, "misdelivered", "packets", seen.misdelivered as f64).at_most(0.0));
    rows.push(row(protocol, "most_hops", "routers", seen.most_hops.into()));
    Ok(rows)
}

/// Sends packets from router 0's host to router 5's, by all ways in turn, until they pass so many routers again. How long
/// that took, and how many got lost.
fn until(
    network: &mut Network<'_>,
    hops: u8,
    seen: &mut Seen,
    protocol: &Protocol,
) -> Result<(f64, f64), LabError> {
    let begun = Instant::now();
    let mut missing = BTreeSet::new();
    let mut found = None;
    let mut ways = Way::ALL.into_iter().cycle();
    while found.is_none() {
        if begun.elapsed().as_secs_f64() > 10.0 * protocol.timeout {
            return Err(super::forwarding::failed("no other way was found"));
        }
        missing.extend(ways.next().map(|way| network.probe(0, 5, way)).transpose()?);
        thread::sleep(EVERY);
        for arrived in network.arrived()? {
            missing.remove(&arrived.number);
            seen.see(arrived);
            if arrived.hops == hops && found.is_none() {
                found = Some(begun.elapsed().as_secs_f64());
            }
        }
    }
    let lost = network.await_all(missing, REST, |arrived| seen.see(arrived))?;
    Ok((found.unwrap_or(f64::NAN), lost.len() as f64))
}
