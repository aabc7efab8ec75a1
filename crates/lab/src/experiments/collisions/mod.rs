//! How evenly hash functions spread flows whose addresses share subnets: Chandranmenon and Varghese's figure 5, section
//! 3.4 (*Trading Packet Headers for Packet Processing*, 1996).
//!
//! Keys are flow ids of 12 bytes: source, destination, and a number that the source gives its flows. A hash function's
//! lower bits choose the bin, tables being powers of two. What good functions do is known: as many bins are used as when
//! flows are thrown at random ([`bins_used`](crate::model::bins_used)), and every other flow is a collision.
//!
//! The paper's functions are the XOR fold, by bytes (which fills no more than 256 bins) and by 16-bit words; CRC-8 over
//! each half of the flow id, put together, with a polynomial that is not told; and the source hash, a random number that comes
//! in the packet and costs nothing. Its figure's numbers are lost; what its text says is compared: the source hash is as random as the CRC, the
//! XOR folds have more collisions, "mainly because the IP addresses that collide at a router are mostly from the same
//! subnet".
//!
//! That holds here with two reservations, which the output tells with their figures. The XOR of words is worse only if both
//! addresses are of the site: a destination anywhere is random enough for it. And two CRC-8 with ATM's polynomial (07) do not
//! fill a table from a site's addresses. Subnet and host numbers of ten bits make no more than 64 remainders, since the polynomial's three lowest
//! terms map the subnet's bits onto the host's. With AUTOSAR's (2f), or CRC-32, nothing is to be seen of that.

mod flows;
mod hashes;

use throughline_demux::FlowId;

use crate::plot::{Plot, Series};
use crate::random::Random;
use crate::table::{figure, grouped, targets};
use crate::{Experiment, LabError, Options, Row, Sink, Table, model};
use flows::Addresses;
use hashes::Function;

/// Flows in each table.
const FLOWS: u32 = 4096;
/// So many sets of flows; figures are means over them.
const DRAWS: u64 = 25;
/// Sizes of the tables, in powers of two.
const SIZES: std::ops::RangeInclusive<u32> = 8..=16;
const MOST_BINS: u32 = 1 << *SIZES.end();
/// The metric that is judged.
const OVER: &str = "collisions_over_random";
/// Collisions of a good function are within this factor of random; those of the XOR fold beyond the other, with
/// addresses of a site and the largest table.
const GOOD: f64 = 1.1;
const BAD: f64 = 1.5;

/// See the module.
pub(crate) struct Collisions;

impl Experiment for Collisions {
    fn name(&self) -> &'static str {
        "collisions"
    }

    fn purpose(&self) -> &'static str {
        "how evenly hash functions spread flows whose addresses share subnets, by size of the table"
    }

    fn claims(&self) -> &'static [&'static str] {
        &["HDR-4"]
    }

    fn uses(&self) -> &'static [&'static str] {
        &["--seed", "--plots"]
    }

    fn run(&self, options: &Options, sink: &mut dyn Sink) -> Result<(), LabError> {
        sink.ahead(Addresses::ALL.len() as u64);
        for addresses in Addresses::ALL {
            sink.step(addresses.name());
            let sets = draws(addresses, options.seed);
            let mut plot = Plot {
                title: format!("Bins used by {FLOWS} flows, addresses: {}", addresses.name()),
                x: "size of the table".to_owned(),
                y: "bins used".to_owned(),
                logarithmic: true,
                series: vec![Series {
                    name: "random".to_owned(),
                    line: random(sink, addresses)?,
                    points: vec![],
                }],
                ..Plot::default()
            };
            for function in Function::ALL {
                let line = measure(function, addresses, &sets, sink)?;
                if function.is_drawn() {
                    plot.series.push(Series {
                        name: function.name().to_owned(),
                        line: Vec::new(),
                        points: line,
                    });
                }
            }
            if let Some(path) = plot.save(options, &format!("collisions-{}.svg", addresses.name()))? {
                sink.note(&format!("figure 5 for {} addresses is in {}", addresses.name(), path.display()));
            }
        }
        Ok(())
    }

    fn tables(&self, rows: &[Row]) -> Vec<Table> {
        let of = |metric: &str, addresses: &str, title: &str| {
            let rows: Vec<&Row> = rows
                .iter()
                .filter(|row| row.text("metric") == metric && row.text("addresses") == addresses)
                .collect();
            Table::pivot(
                format!("{title}, {addresses} addresses: by size of the table"),
                rows,
                ("hash", "bins"),
            )
        };
        let mut tables = vec![over_random(rows)];
        let by_size = Addresses::ALL.into_iter().flat_map(|addresses| {
            [("bins_used", "Bins used by 4,096 flows"), ("longest_chain", "Flows in the fullest bin")]
                .map(|(metric, title)| of(metric, addresses.name(), title))
        });
        tables.extend(by_size);
        tables.push(targets(rows, |row| {
            format!("collisions over random: {}, {} addresses", row.text("hash"), row.text("addresses"))
        }));
        tables
    }
}

/// Every function's collisions over random in the largest table, and what is not as the paper's text has it.
fn over_random(rows: &[Row]) -> Table {
    let largest: Vec<&Row> = rows
        .iter()
        .filter(|row| row.text("metric") == OVER && row.number("bins") == Some(f64::from(MOST_BINS)))
        .collect();
    let of = |function: Function, addresses: Addresses| {
        let wanted = (function.name(), addresses.name());
        let row = largest.iter().find(|row| (row.text("hash"), row.text("addresses")) == wanted);
        row.map_or_else(|| "-".to_owned(), |row| figure(row.value()))
    };
    let title =
        format!("Collisions over random in a table of {} bins, by addresses", grouped(MOST_BINS.into()));
    Table::pivot(title, largest.iter().copied(), ("hash", "addresses"))
        .remark(format!(
            "xor, words: {} times random's with both addresses of the site, {} if the destination is anywhere",
            of(Function::Xor16, Addresses::Site),
            of(Function::Xor16, Addresses::Outbound),
        ))
        .remark(format!(
            "crc-8 twice: the paper does not tell its polynomial; of a site's addresses 07 (ATM) makes {} times \
             random's collisions, 2f (AUTOSAR) {}, crc-32 {}",
            of(Function::Crc8Atm, Addresses::Site),
            of(Function::Crc8, Addresses::Site),
            of(Function::Crc32, Addresses::Site),
        ))
        .remark("xor, bytes: 256 values at most, however large the table")
}

fn row(metric: &str, unit: &str, value: f64, hash: &str, addresses: Addresses, bins: u32) -> Row {
    let value = (value * 1000.0).round() / 1000.0;
    let row = Row::new("collisions", metric, unit, value).claim("HDR-4").with("hash", hash);
    row.with("addresses", addresses.name()).with("flows", FLOWS).with("bins", bins)
}

/// What random bins would do.
fn random(sink: &mut dyn Sink, addresses: Addresses) -> Result<Vec<(f64, f64)>, LabError> {
    let mut line = Vec::new();
    for bins in SIZES.map(|bits| 1 << bits) {
        let (flows, places) = (f64::from(FLOWS), f64::from(bins));
        let used = model::bins_used(flows, places);
        line.push((places, used));
        let of =
            |metric, unit, value| row(metric, unit, value, "random", addresses, bins).with("source", "model");
        sink.row(of("bins_used", "bins", used))?;
        sink.row(of("longest_chain", "flows", f64::from(model::longest_chain(flows, places))))?;
    }
    Ok(line)
}

/// Flows, each with its label, and the seed of a hash function that takes one.
struct Draw {
    flows: Vec<(FlowId, u32)>,
    seed: u64,
}

/// All sets of flows. Their seeds are drawn too, so that runs with neighbouring seeds have none in common.
fn draws(addresses: Addresses, seed: u64) -> Vec<Draw> {
    let mut random = Random::new(seed ^ (addresses as u64) << 32);
    let one = |_| Draw { flows: flows::draw(addresses, FLOWS, random.next()), seed: random.next() };
    (0..DRAWS).map(one).collect()
}

/// What a function does with these flows, on average over the draws; the bins it uses, by size of the table.
fn measure(
    function: Function,
    addresses: Addresses,
    sets: &[Draw],
    sink: &mut dyn Sink,
) -> Result<Vec<(f64, f64)>, LabError> {
    let mut line = Vec::new();
    for bins in SIZES.map(|bits| 1u32 << bits) {
        let (mut used, mut longest) = (0.0, 0.0);
        for set in sets {
            let mut filled = vec![0u32; bins as usize];
            let hash = function.with_seed(set.seed);
            for (flow, source) in &set.flows {
                filled[(hash(flow, *source) & u64::from(bins - 1)) as usize] += 1;
            }
            used += filled.iter().filter(|flows| **flows > 0).count() as f64 / sets.len() as f64;
            longest += f64::from(filled.iter().copied().max().unwrap_or(0)) / sets.len() as f64;
        }
        line.push((f64::from(bins), used));
        let of = |metric, unit, value| {
            row(metric, unit, value, function.name(), addresses, bins).with("source", "simulation")
        };
        sink.row(of("bins_used", "bins", used))?;
        sink.row(of("longest_chain", "flows", longest))?;
        let flows = f64::from(FLOWS);
        let over = (flows - used) / (flows - model::bins_used(flows, f64::from(bins)));
        let over = of(OVER, "ratio", over);
        sink.row(match function {
            _ if bins != MOST_BINS => over,
            Function::Source | Function::Keyed | Function::Crc32 => over.at_most(GOOD),
            Function::Xor16 if addresses == Addresses::Site => over.at_least(BAD),
            _ => over,
        })?;
    }
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_seeds_share_no_flows() {
        let seeds = |seed| {
            Addresses::ALL.map(|addresses| draws(addresses, seed)).into_iter().flatten().map(|draw| draw.seed)
        };
        let mut all: Vec<u64> = seeds(1).chain(seeds(2)).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len() as u64, 2 * 3 * DRAWS);
    }
}
