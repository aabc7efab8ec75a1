//! An urgent exchange beside many others: figure 4 of Jain, Hutchinson and Chanson.
//!
//! One flow exchanges a byte with a server, one message at a time, as fast as it can. Beside it so many others exchange
//! messages of 1 or of 1,000 bytes, each with one under way. Both hosts poll, each on a processor of its own. Percentiles are
//! those of a round of 1,000 exchanges, and what is told is their median over the rounds. With priorities there are two ways:
//! beginning other work whenever nothing urgent is there, and expecting another urgent message for a while ("patience").

mod hosts;
mod order;
pub(crate) mod wire;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use throughline_stack::{Architecture, Device, PairConfig, pair};

use self::hosts::{Client, Discarded, Exchanged, Server, Way, pause};
use crate::peers::{Cores, available, on};
use crate::plot::{Plot, Series};
use crate::table::{figure, targets};
use crate::timing::median;
use crate::{Experiment, LabError, Options, Row, Sink, Table};

/// Flows beside the urgent one.
const FLOWS: [u16; 8] = [0, 1, 2, 4, 8, 16, 32, 64];
/// Bytes of their messages, the paper's.
const SIZES: [usize; 2] = [1, 1000];
/// The 99th percentile of the urgent exchange among all flows, relative to that of an idle system.
const TARGET: f64 = 1.5;

/// As many over veth as in memory: two minutes, of which closing the devices takes most.
const ROUNDS: usize = 10;

/// See the module.
pub(crate) struct Priority;

/// What is between the hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wire {
    Memory,
    Veth,
}

impl Wire {
    const ALL: [Self; 2] = [Self::Memory, Self::Veth];

    fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Veth => "veth",
        }
    }
}

/// One point of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Setting {
    way: Way,
    flows: u16,
    bytes: usize,
}

/// All points: an idle system and the same one beside others close together in time.
fn settings(options: &Options) -> Vec<Setting> {
    let flows = if options.quick { &[0, 8, 64][..] } else { &FLOWS[..] };
    let mut settings = Vec::new();
    for bytes in SIZES {
        for way in Way::ALL {
            settings.extend(flows.iter().map(|flows| Setting { way, flows: *flows, bytes }));
        }
    }
    settings
}

impl Experiment for Priority {
    fn name(&self) -> &'static str {
        "priority"
    }

    fn purpose(&self) -> &'static str {
        "an urgent exchange beside up to 64 others, with and without priorities"
    }

    fn claims(&self) -> &'static [&'static str] {
        &["PATHS-5"]
    }

    fn uses(&self) -> &'static [&'static str] {
        &["--plots"]
    }

    fn run(&self, options: &Options, sink: &mut dyn Sink) -> Result<(), LabError> {
        sink.ahead(3);
        sink.step("counting who is served first");
        let settings = settings(options);
        for setting in settings.iter().filter(|setting| setting.flows > 0) {
            let before = order::served_before(setting.way, setting.flows, setting.bytes)?;
            sink.row(row("served_before", "messages", setting, before as f64))?;
        }
        sink.step("timing exchanges within one process");
        let measured = rounds(&settings, options, || Ok(pair(&PairConfig::default()).into()))?;
        report(Wire::Memory, &settings, &measured, options, sink)?;
        sink.step("timing exchanges over veth");
        match wire::in_namespace(|| rounds(&settings, options, wire::veth)) {
            Ok(measured) => report(Wire::Veth, &settings, &measured?, options, sink)?,
            Err(missing) => sink.note(&format!("not over veth: {missing}")),
        }
        Ok(())
    }

    fn tables(&self, rows: &[Row]) -> Vec<Table> {
        let mut tables = Vec::new();
        for wire in Wire::ALL {
            for (metric, title, unit, scale) in [
                ("round_trip_p99", "99th percentile of the urgent exchange", "us", 1e-3),
                ("round_trip_median", "Median of the urgent exchange", "us", 1e-3),
                ("background_rate", "Exchanges of all other flows", "thousands per second", 1e-3),
            ] {
                let title = format!("{title}, {unit}, {}", wire.name());
                tables.push(table(rows, metric, Some(wire), &title, scale));
            }
        }
        let title = "Messages served before an urgent one that came after one of each other flow";
        tables.push(table(rows, "served_before", None, title, 1.0));
        let mut discarded =
            Table::new("Messages discarded, both hosts", ["device", "protocol", "reason", ""]);
        for row in rows.iter().filter(|row| row.text("metric") == "discarded") {
            let cells = ["device", "protocol", "reason"].map(|key| row.text(key).to_owned());
            discarded.line(cells.into_iter().chain([figure(row.value())]));
        }
        tables.push(discarded);
        tables.retain(|table| !table.is_empty());
        tables.push(targets(rows, |row| {
            format!(
                "p99 beside {} flows of {} B over idle: {}, patience {} us, {}",
                row.number("background_flows").unwrap_or(0.0),
                row.number("background_bytes").unwrap_or(0.0),
                row.text("architecture"),
                row.number("patience").unwrap_or(0.0),
                row.text("device")
            )
        }));
        tables
    }
}

fn row(metric: &str, unit: &str, setting: &Setting, value: f64) -> Row {
    Row::new("priority", metric, unit, value)
        .claim("PATHS-5")
        .with("architecture", setting.way.architecture.name())
        .with("priorities", setting.way.priorities)
        .with("patience", setting.way.patience().as_micros() as u64)
        .with("background_flows", setting.flows)
        .with("background_bytes", setting.bytes as u64)
}

/// What was measured over one wire.
struct Measured {
    /// Of every setting in each round: median and 99th percentile of the urgent exchanges, and exchanges of others per second.
    rounds: Vec<[Vec<f64>; 3]>,
    discarded: Discarded,
}

/// Urgent exchanges in every setting, over all rounds; the settings take turns.
fn rounds<D: Device + Send>(
    settings: &[Setting],
    options: &Options,
    wire: impl Fn() -> Result<[D; 2], LabError>,
) -> Result<Measured, LabError> {
    let (rounds, exchanges) = if options.quick { (2, 200) } else { (ROUNDS, 1000) };
    let mut measured = vec![const { [Vec::new(), Vec::new(), Vec::new()] }; settings.len()];
    let mut discarded = Discarded::new();
    // It asks how many processors there are; a thread that is bound to one would learn of that one alone.
    pause();
    for _ in 0..rounds {
        for (setting, measured) in settings.iter().zip(&mut measured) {
            let Exchanged { mut times, others } = exchange(setting, wire()?, exchanges, &mut discarded)?;
            times.sort_unstable();
            measured[0].push(percentile(&times, 50));
            measured[1].push(percentile(&times, 99));
            let seconds = times.iter().map(|time| f64::from(*time)).sum::<f64>() * 1e-9;
            measured[2].push(others as f64 / seconds);
        }
    }
    Ok(Measured { rounds: measured, discarded })
}

/// Times so many urgent exchanges, after a tenth of them that is not counted.
fn exchange<D: Device + Send>(
    setting: &Setting,
    wire: [D; 2],
    count: usize,
    discarded: &mut Discarded,
) -> Result<Exchanged, LabError> {
    let [here, there] = wire;
    let mut server = Server::new(setting.way, there, setting.flows)?;
    let mut client = Client::new(setting.way, here, setting.flows)?;
    let ended = AtomicBool::new(false);
    let processors = match available()?[..] {
        [first, .., last] => [Cores::Only(first), Cores::Only(last)],
        _ => [Cores::Any; 2],
    };
    let exchanged = thread::scope(|scope| {
        let serving = scope.spawn(|| {
            on(processors[1], || {
                while !ended.load(Ordering::Relaxed) {
                    if !server.step()? {
                        pause();
                    }
                }
                Ok::<_, LabError>(())
            })?
        });
        let asking = || {
            client.connect(|| Ok(()))?;
            client.send_others(setting.bytes)?;
            client.exchanges(count / 10)?;
            client.exchanges(count)
        };
        let exchanged = on(processors[0], asking).and_then(|exchanged| exchanged);
        ended.store(true, Ordering::Relaxed);
        serving.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        exchanged
    })?;
    for (what, count) in client.discarded().into_iter().chain(server.discarded()) {
        *discarded.entry(what).or_default() += count;
    }
    Ok(exchanged)
}

/// The median of all rounds.
fn middle(rounds: &[f64]) -> f64 {
    median(&mut rounds.to_vec())
}

/// Of sorted times.
fn percentile(times: &[u32], percent: usize) -> f64 {
    let place = (times.len() * percent).div_ceil(100).max(1);
    times.get(place - 1).map_or(f64::NAN, |time| f64::from(*time))
}

fn report(
    wire: Wire,
    settings: &[Setting],
    measured: &Measured,
    options: &Options,
    sink: &mut dyn Sink,
) -> Result<(), LabError> {
    let Measured { rounds, discarded } = measured;
    let idle = |setting: &Setting| {
        let idle = Setting { flows: 0, ..*setting };
        settings.iter().position(|other| *other == idle).map_or(f64::NAN, |at| middle(&rounds[at][1]))
    };
    for (setting, rounds) in settings.iter().zip(rounds) {
        let row = |metric, unit, value| row(metric, unit, setting, value).with("device", wire.name());
        sink.row(row("round_trip_median", "ns", middle(&rounds[0])))?;
        sink.row(row("round_trip_p99", "ns", middle(&rounds[1])))?;
        if setting.flows > 0 {
            sink.row(row("background_rate", "1/s", middle(&rounds[2])))?;
        }
        if setting.flows == FLOWS[FLOWS.len() - 1] {
            let ratio = row("p99_of_idle", "ratio", middle(&rounds[1]) / idle(setting));
            sink.row(if setting.way.priorities { ratio.at_most(TARGET) } else { ratio })?;
        }
    }
    let of_all = |count| Row::new("priority", "discarded", "messages", count).with("device", wire.name());
    if discarded.is_empty() {
        sink.row(of_all(0.0))?;
    }
    for ((protocol, why), count) in discarded {
        sink.row(of_all(*count as f64).with("protocol", protocol.as_str()).with("reason", why.as_str()))?;
    }
    let plot = plot(wire, settings, rounds);
    if let Some(path) = plot.save(options, &format!("priority-{}.svg", wire.name()))? {
        sink.note(&format!("figure 4, {}, is in {}", wire.name(), path.display()));
    }
    Ok(())
}

/// Figure 4. Without priorities the integrated architecture is left out: it is as the direct one.
fn plot(wire: Wire, settings: &[Setting], rounds: &[[Vec<f64>; 3]]) -> Plot {
    let drawn = |way: &&Way| way.priorities || way.architecture != Architecture::Integrated;
    let mut series = Vec::new();
    for way in Way::ALL.iter().filter(drawn) {
        for bytes in SIZES {
            let of = settings.iter().zip(rounds).filter(|(of, _)| of.way == *way && of.bytes == bytes);
            let line = of.map(|(of, rounds)| (f64::from(of.flows), middle(&rounds[1]) / 1000.0)).collect();
            series.push(Series { name: format!("{} ({bytes} B)", way.name()), line, points: Vec::new() });
        }
    }
    Plot {
        title: format!("Urgent exchange of 1 byte, 99th percentile ({})", wire.name()),
        x: "other flows".to_owned(),
        y: "microseconds".to_owned(),
        logarithmic_y: true,
        series,
        ..Plot::default()
    }
}

fn table(rows: &[Row], metric: &str, wire: Option<Wire>, title: &str, scale: f64) -> Table {
    let mut table = Table::new(title, ["architecture", "priorities", "patience", "bytes"]);
    table.head.extend(FLOWS.map(|flows| format!("{flows} flows")));
    for bytes in SIZES {
        for way in Way::ALL {
            let cell = |flows: u16| {
                let is_it = |row: &&Row| {
                    row.text("metric") == metric
                        && wire.is_none_or(|wire| row.text("device") == wire.name())
                        && row.text("architecture") == way.architecture.name()
                        && row.get("priorities") == Some(&way.priorities.into())
                        && row.number("patience") == Some(way.patience().as_micros() as f64)
                        && row.number("background_flows") == Some(flows.into())
                        && row.number("background_bytes") == Some(bytes as f64)
                };
                rows.iter().find(is_it).map(|row| figure(row.value() * scale))
            };
            let cells = FLOWS.map(cell);
            if cells.iter().any(Option::is_some) {
                let said = |is_so| if is_so { "yes" } else { "no" }.to_owned();
                let name = way.architecture.name().to_owned();
                let head = [name, said(way.priorities), said(way.patient), bytes.to_string()];
                table.line(head.into_iter().chain(cells.map(Option::unwrap_or_default)));
            }
        }
    }
    table
}
