//! What came out: rows for programs, tables for people.

use throughline_capture::{Compression, Fault, Format};

use super::analysis::{Counts, Moment};
use super::binned::Binned;
use super::options::Options;
use super::recommend::{Grounds, Recommendation, recommend};
use super::summary::Summary;
use super::tally::Tally;
use super::working_set::Point;
use crate::table::{figure, grouped};
use crate::{Row, Table};

/// All that an analysis found.
#[derive(Clone, Debug)]
pub struct Report {
    /// The file's format.
    pub format: Format,
    /// How it was compressed.
    pub compression: Compression,
    /// What it was analysed with.
    pub options: Options,
    /// Packets and flows.
    pub counts: Counts,
    /// Time of the first frame, in nanoseconds since 1970.
    pub first_time: u64,
    /// Nanoseconds from there to the last.
    pub duration: u64,
    /// Packets of one flow that came one after another.
    pub trains: Tally,
    /// Flows in windows of packets.
    pub working_set: Vec<Point>,
    /// The capture in intervals of time.
    pub over_time: Binned<Moment>,
    /// What each lookup cost.
    pub lookups: Vec<Summary>,
    /// Where the capture broke off.
    pub fault: Option<Fault>,
}

impl Report {
    /// The share of packets that are of the same flow as the one before.
    pub fn same_again(&self) -> f64 {
        let packets = self.counts.packets;
        if packets == 0 { 0.0 } else { (packets - self.trains.total()) as f64 / packets as f64 }
    }

    /// The lookup to take; none if nothing was looked up.
    pub fn recommendation(&self) -> Option<Recommendation> {
        recommend(&Grounds {
            summaries: &self.lookups,
            packets: self.counts.packets,
            same_again: self.same_again(),
            most_live: self.counts.most_live,
        })
    }

    /// One number a row.
    pub fn rows(&self) -> Vec<Row> {
        let mut rows = self.count_rows();
        rows.extend(self.trains.cumulative().map(|(length, below)| {
            share("train_length_cdf", below, self.trains.total()).with("length", length)
        }));
        rows.extend(
            self.working_set
                .iter()
                .map(|point| row("working_set", "flows", point.flows).with("window_packets", point.window)),
        );
        let width = self.over_time.width() as f64 / 1e9;
        for (at, moment) in self.over_time.bins().iter().enumerate() {
            let at_time = |row: Row| row.with("time_s", at as f64 * width).with("interval_s", width);
            rows.push(at_time(row("packets_in_interval", "packets", moment.packets as f64)));
            rows.push(at_time(row("flows_begun_in_interval", "flows", moment.begun as f64)));
            rows.push(at_time(row("flows_alive", "flows", moment.live as f64)));
        }
        rows.extend(self.lookups.iter().flat_map(lookup_rows));
        if let Some(recommendation) = self.recommendation() {
            let time = self.lookups.iter().find(|l| l.which == recommendation.which);
            let time = time.and_then(Summary::nanoseconds_each).unwrap_or(f64::NAN);
            let row = row("recommendation", "ns", time).with("locator", recommendation.which.name());
            rows.push(row.with("sentence", recommendation.sentence));
        }
        if let Some(fault) = &self.fault {
            let row = row("fault_offset", "bytes", fault.offset as f64).with("frames", fault.frames);
            rows.push(row.with("cause", fault.cause.as_str()));
        }
        rows
    }

    fn count_rows(&self) -> Vec<Row> {
        let c = &self.counts;
        let mut rows: Vec<Row> = [
            ("frames", "packets", c.frames),
            ("bytes", "bytes", c.bytes),
            ("packets", "packets", c.packets),
            ("tcp_packets", "packets", c.tcp),
            ("ipv6_packets", "packets", c.v6),
            ("not_ip", "packets", c.not_ip),
            ("other_protocols", "packets", c.other_protocol),
            ("broken", "packets", c.broken),
            ("lost_fragments", "packets", c.lost_fragments),
            ("not_asked_for", "packets", c.not_asked_for),
            ("unknown_link", "packets", c.unknown_link),
            ("flows", "flows", c.flows),
            ("most_flows_alive", "flows", c.most_live),
            ("flows_evicted", "flows", c.evicted),
        ]
        .map(|(metric, unit, value)| row(metric, unit, value as f64))
        .into();
        rows.push(row("duration", "s", self.duration as f64 / 1e9));
        rows.push(row("one_entry_cache_hit_rate", "share", self.same_again()));
        rows.push(row("train_length_mean", "packets", self.trains.mean()));
        rows.push(row("train_length_p99", "packets", self.trains.quantile(0.99) as f64));
        rows.push(row("train_length_max", "packets", self.trains.largest() as f64));
        rows
    }

    /// What to print for people, in this order.
    pub fn tables(&self) -> Vec<Table> {
        vec![self.traffic_table(), self.flows_table(), self.window_table(), self.lookup_table()]
    }

    fn traffic_table(&self) -> Table {
        let c = &self.counts;
        let compressed = match self.compression {
            Compression::None => String::new(),
            compression => format!(", {}", compression.name()),
        };
        let mut table = Table::new(format!("Traffic ({}{compressed})", self.format.name()), ["", ""]);
        let mut line = |what: &str, value: String| table.line([what.to_owned(), value]);
        line("frames", grouped(c.frames));
        line("bytes", grouped(c.bytes));
        line("duration, s", figure(self.duration as f64 / 1e9));
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
        line("flows", grouped(c.flows));
        line("most flows at once", grouped(c.most_live));
        line("train length, mean", figure(self.trains.mean()));
        for (name, part) in [("median", 0.5), ("p90", 0.9), ("p99", 0.99)] {
            line(&format!("  {name}"), grouped(self.trains.quantile(part)));
        }
        line("  longest", grouped(self.trains.largest()));
        line("one-entry cache hits, %", figure(self.same_again() * 100.0));
        if c.unknown_link > 0 {
            table = table.remark(format!("link type {} is not understood", c.last_unknown_link));
        }
        if c.evicted > 0 {
            let kept = grouped(self.options.flows as u64);
            let text = "flows were taken out early: no more than";
            table = table.remark(format!("{} {text} {kept} are kept (--flows)", grouped(c.evicted)));
        }
        table
    }

    fn flows_table(&self) -> Table {
        /// Lines, at most; the file of rows has all intervals.
        const LINES: usize = 12;
        let mut table =
            Table::new("Flows over time", ["from, s", "packets/s", "Mbit/s", "flows begun", "alive"]);
        let bins = self.over_time.bins();
        let each = bins.len().div_ceil(LINES).max(1);
        for (at, some) in bins.chunks(each).enumerate() {
            let mut sum = Moment::default();
            some.iter().for_each(|moment| super::binned::Bin::join(&mut sum, *moment));
            let width = self.over_time.width() as f64 / 1e9;
            // The last interval ends with the capture.
            let from = (at * each) as f64 * width;
            let seconds = (some.len() as f64 * width).min(self.duration as f64 / 1e9 - from).max(1e-6);
            table.line([
                figure(from),
                figure((sum.packets as f64 / seconds).round()),
                figure(sum.bytes as f64 * 8e-6 / seconds),
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
        table
    }

    fn lookup_table(&self) -> Table {
        let head = ["lookup", "entries, mean", "p99", "worst", "cache hits, %", "ns/packet", "memory, KiB"];
        let mut table = Table::new("Lookups: entries examined for a packet, time, memory", head);
        let mut given_up = false;
        for summary in &self.lookups {
            let examined = &summary.examined;
            let mark = if summary.complete { "" } else { "*" };
            given_up |= !summary.complete;
            let hits = match summary.cache_hits {
                0 => String::new(),
                hits => figure(hits as f64 * 100.0 / examined.total() as f64),
            };
            table.line([
                summary.which.name().to_owned() + mark,
                figure(examined.mean()),
                grouped(examined.quantile(0.99)),
                grouped(examined.largest()),
                hits,
                summary.nanoseconds_each().map_or("-".to_owned(), figure),
                figure(summary.bytes as f64 / 1024.0),
            ]);
        }
        if given_up {
            table = table.remark(
                "* too slow to walk to the end: time and memory are in proportion to a part of the capture",
            );
            for summary in self.lookups.iter().filter(|s| s.examined.total() < self.counts.packets) {
                let (name, seen) = (summary.which, grouped(summary.examined.total()));
                table = table.remark(format!("  {name}: entries of the first {seen} packets only"));
            }
        }
        table
    }
}

fn row(metric: &str, unit: &str, value: f64) -> Row {
    Row::new("trace", metric, unit, value)
}

fn share(metric: &str, part: u64, of: u64) -> Row {
    row(metric, "share", part as f64 / of as f64)
}

fn lookup_rows(summary: &Summary) -> Vec<Row> {
    let examined = &summary.examined;
    let mut rows = vec![
        row("examined_mean", "entries", examined.mean()),
        row("examined_p99", "entries", examined.quantile(0.99) as f64),
        row("examined_worst", "entries", examined.largest() as f64),
        row("packets_counted", "packets", examined.total() as f64),
        row("cache_hits", "packets", summary.cache_hits as f64),
        row("memory", "bytes", summary.bytes as f64),
    ];
    rows.extend(summary.nanoseconds_each().map(|time| row("time", "ns", time)));
    let complete = summary.complete;
    let locator = summary.which.name();
    rows.into_iter().map(|row| row.with("locator", locator).with("complete", complete)).collect()
}
