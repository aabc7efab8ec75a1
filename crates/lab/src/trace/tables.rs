//! The report as tables, for people.

use throughline_capture::Compression;

use super::binned::Bin;
use super::counts::Moment;
use super::nothing::link_text;
use super::report::Report;
use super::summary::Summary;
use crate::Table;
use crate::table::{figure, grouped};

impl Report {
    /// What to print for people, in this order.
    pub fn tables(&self) -> Vec<Table> {
        if self.nothing().is_some() {
            return vec![self.traffic_table()];
        }
        vec![
            self.traffic_table(),
            self.flows_table(),
            self.window_table(),
            self.lookup_table(),
            self.condition_table(),
        ]
    }

    fn traffic_table(&self) -> Table {
        let c = &self.counts;
        let compressed = match self.compression {
            Compression::None => String::new(),
            compression => format!(", {}", compression.name()),
        };
        let mut table = Table::new(format!("Traffic ({}{compressed})", self.format.name()), ["", ""]);
        let unit = Unit::of(self.duration);
        let mut line = |what: &str, value: String| table.line([what.to_owned(), value]);
        self.links.iter().for_each(|link| line(&link_text(*link), String::new()));
        line("frames", grouped(c.frames));
        line("bytes", grouped(c.bytes));
        line(&format!("duration, {}", unit.name), figure(unit.of_nanoseconds(self.duration)));
        line("packets of flows", grouped(c.packets));
        line("  of them TCP", grouped(c.tcp));
        line("  of them IPv6", grouped(c.v6));
        let rare = [
            ("not IP", c.not_ip),
            ("neither TCP nor UDP", c.other_protocol),
            ("cut off or malformed", c.broken),
            ("fragments of unknown flows", c.lost_fragments),
            ("to other addresses", c.not_asked_for),
            ("link type not understood", c.unknown_link),
        ];
        rare.iter().filter(|(_, count)| *count > 0).for_each(|(what, count)| line(what, grouped(*count)));
        if c.packets > 0 {
            line("flows", grouped(c.flows));
            line("most flows at once", grouped(c.most_live));
            line("train length, mean", figure(self.trains.mean()));
            for (name, part) in [("median", 0.5), ("p90", 0.9), ("p99", 0.99)] {
                line(&format!("  {name}"), grouped(self.trains.quantile(part)));
            }
            line("  longest", grouped(self.trains.largest()));
            line("one-entry cache hits, %", figure(self.same_again() * 100.0));
        }
        table.remarks = self.traffic_remarks();
        table
    }

    fn traffic_remarks(&self) -> Vec<String> {
        let c = &self.counts;
        let mut remarks = Vec::new();
        if c.unknown_link > 0 {
            remarks.push(format!("{} is not understood", link_text(c.last_unknown_link)));
        }
        remarks.extend(self.not_looked_into());
        if c.evicted > 0 {
            let kept = grouped(self.options.flows as u64);
            let text = "flows were taken out early: no more than";
            remarks.push(format!("{} {text} {kept} are kept (--flows)", grouped(c.evicted)));
        }
        if c.most_set_back >= SET_BACK {
            let (frames, most) = (grouped(c.set_back), figure(c.most_set_back as f64 / 1e9));
            let text = "they are taken to be as late";
            remarks.push(format!("frames earlier than one before, by up to {most} s: {frames}; {text}"));
        }
        if c.longest_gap >= GAP {
            let gap = figure(c.longest_gap as f64 / GAP as f64);
            remarks.push(format!("between two frames are {gap} days: duration and rates mean little"));
        }
        remarks
    }

    fn flows_table(&self) -> Table {
        /// Lines, at most; the file of rows has all intervals.
        const LINES: usize = 12;
        let unit = Unit::of(self.duration);
        let from = format!("from, {}", unit.name);
        let mut table =
            Table::new("Flows over time", [from.as_str(), "packets/s", "Mbit/s", "flows begun", "alive"]);
        let (bins, width) = (self.over_time.bins(), self.over_time.width());
        let each = bins.len().div_ceil(LINES).max(1);
        for (at, some) in bins.chunks(each).enumerate() {
            let mut sum = Moment::default();
            some.iter().for_each(|moment| sum.join(*moment));
            let from = (at * each) as u64 * width;
            // The last interval ends with the capture. What little of one there is says nothing of a rate.
            let whole = each as u64 * width;
            let length = whole.min(self.duration - from);
            let rate = |count: f64| {
                if length * 2 < whole { "-".to_owned() } else { figure(count * 1e9 / length as f64) }
            };
            table.line([
                figure(unit.of_nanoseconds(from)),
                rate(sum.packets as f64),
                rate(sum.bytes as f64 * 8e-6),
                grouped(sum.begun),
                grouped(sum.live),
            ]);
        }
        table
    }

    fn window_table(&self) -> Table {
        let mut table = Table::new("Working set: flows among the last packets", ["packets", "flows"]);
        for point in self.working_set.iter().step_by(2) {
            table.line([grouped(point.window), figure(point.flows)]);
        }
        table.remark(WINDOWS)
    }

    /// The lookups that need nothing but the packet.
    fn lookup_table(&self) -> Table {
        let mut table = Table::new("Lookups: entries examined for a packet, time, memory", COST);
        let able: Vec<_> = self.lookups.iter().filter(|lookup| lookup.condition().is_none()).collect();
        for lookup in &able {
            let mark = if lookup.complete { "" } else { "*" };
            table.line(std::iter::once(lookup.strategy.name().to_owned() + mark).chain(cost(lookup)));
        }
        if able.iter().any(|lookup| !lookup.complete) {
            let text = "* too slow to walk to the end: entries are told by distance, time and memory are in proportion";
            table = table.remark(text);
        }
        for lookup in able.iter().filter(|lookup| lookup.examined.total() < self.counts.packets) {
            let seen = grouped(lookup.examined.total());
            table =
                table.remark(format!("{}: keys collide; entries of {seen} packets only", lookup.strategy));
        }
        if able.iter().any(|lookup| lookup.replayed) {
            let text =
                "times are those of the first packets looked up again and again, until caches are warm";
            table = table.remark(text);
        }
        table
    }

    /// The others, and what they need.
    fn condition_table(&self) -> Table {
        let mut table = Table::new("Lookups that need more than the packet's addresses", COST);
        for lookup in &self.lookups {
            if let Some(condition) = lookup.condition() {
                let name = format!("{}, if {condition}", lookup.strategy);
                table.line(std::iter::once(name).chain(cost(lookup)));
            }
        }
        table
    }
}

/// What the figures of the working set are.
const WINDOWS: &str =
    "within 2 %; in the mean over the windows that end at each packet, of which the first are not full yet";
/// Nanoseconds: what is earlier by less does not matter for flows.
const SET_BACK: u64 = 1_000_000_000;
/// Nanoseconds: captures that wait so long for a frame are of several times, or their clock was set.
const GAP: u64 = 86_400_000_000_000;

/// A unit of time.
pub(super) struct Unit {
    pub(super) name: &'static str,
    nanoseconds: f64,
}

impl Unit {
    /// The one for a capture of this many nanoseconds.
    pub(super) const fn of(duration: u64) -> Self {
        match duration {
            0..1_000_000 => Self { name: "µs", nanoseconds: 1e3 },
            1_000_000..1_000_000_000 => Self { name: "ms", nanoseconds: 1e6 },
            _ => Self { name: "s", nanoseconds: 1e9 },
        }
    }

    pub(super) fn of_nanoseconds(&self, count: u64) -> f64 {
        count as f64 / self.nanoseconds
    }
}

const COST: [&str; 7] =
    ["lookup", "entries, mean", "p99", "worst", "cache hits, %", "ns/packet", "memory, KiB"];

fn cost(lookup: &Summary) -> [String; 6] {
    let examined = &lookup.examined;
    let hits = match lookup.cache_hits {
        0 => String::new(),
        hits => figure(hits as f64 * 100.0 / examined.total() as f64),
    };
    [
        figure(examined.mean()),
        grouped(examined.quantile(0.99)),
        grouped(examined.largest()),
        hits,
        lookup.nanoseconds_each.map_or("-".to_owned(), figure),
        figure(lookup.bytes as f64 / 1024.0),
    ]
}
