//! What came out, as rows for programs.

use throughline_capture::{Compression, Fault, Format, carrier_name, link_name};

use super::binned::Binned;
use super::counts::{Counts, Moment};
use super::options::Options;
use super::recommend::{Grounds, Recommendation, recommend};
use super::summary::Summary;
use super::tally::Tally;
use super::working_set::Point;
use crate::Row;

/// All that an analysis found.
#[derive(Clone, Debug)]
pub struct Report {
    /// The file's format.
    pub format: Format,
    /// How it was compressed.
    pub compression: Compression,
    /// The link types of its frames.
    pub links: Vec<u32>,
    /// Protocols whose packets carry others, which are not looked into, and how many of each there are.
    pub carriers: Vec<(u8, u64)>,
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
            same_again: self.same_again(),
            most_live: self.counts.most_live,
            packets: self.counts.packets,
        })
    }

    /// One number a row, of a capture of this name.
    pub fn rows(&self, name: &str) -> Vec<Row> {
        let mut rows = self.origin_rows(name);
        rows.extend(self.count_rows());
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
        match self.nothing() {
            Some(why) => rows.push(row("nothing_to_look_up", "packets", 0.0).with("sentence", why)),
            None => rows.extend(self.lookups.iter().flat_map(lookup_rows)),
        }
        if let Some(recommendation) = self.recommendation() {
            let time = self.lookups.iter().find(|l| l.strategy == recommendation.strategy);
            let time = time.and_then(|l| l.nanoseconds_each).unwrap_or(f64::NAN);
            let row = row("recommendation", "ns", time).with("locator", recommendation.strategy.name());
            rows.push(row.with("sentence", recommendation.sentence));
        }
        if let Some(fault) = &self.fault {
            let row = row("fault_offset", "bytes", fault.offset as f64).with("frames", fault.frames);
            rows.push(row.with("cause", fault.cause.as_str()));
        }
        rows
    }

    /// What was analysed, and how.
    fn origin_rows(&self, name: &str) -> Vec<Row> {
        let options = &self.options;
        let to = options.to.map_or_else(|| "anyone".to_owned(), |network| network.to_string());
        let mut rows = vec![
            row("capture", "packets", self.counts.frames as f64)
                .with("file", name)
                .with("format", self.format.name())
                .with("compression", self.compression.name()),
            row("flows_kept", "flows", options.flows as f64)
                .with("both_directions", options.both_directions)
                .with("to", to)
                .with("idle_s", options.idle as f64 / 1e9)
                .with("chains", options.chains)
                .with("seed", options.seed),
        ];
        rows.extend(self.links.iter().map(|link| {
            row("link_type", "number", f64::from(*link)).with("name", link_name(*link).unwrap_or(""))
        }));
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
            ("frames_set_back", "packets", c.set_back),
            ("flows", "flows", c.flows),
            ("most_flows_alive", "flows", c.most_live),
            ("flows_evicted", "flows", c.evicted),
        ]
        .map(|(metric, unit, value)| row(metric, unit, value as f64))
        .into();
        rows.extend(self.carriers.iter().map(|(protocol, packets)| {
            let row = row("not_looked_into", "packets", *packets as f64).with("protocol", *protocol);
            row.with("name", carrier_name(*protocol).unwrap_or(""))
        }));
        rows.push(row("duration", "s", self.duration as f64 / 1e9));
        rows.push(row("set_back_max", "s", c.most_set_back as f64 / 1e9));
        rows.push(row("gap_max", "s", c.longest_gap as f64 / 1e9));
        rows.push(row("one_entry_cache_hit_rate", "share", self.same_again()));
        rows.push(row("train_length_mean", "packets", self.trains.mean()));
        for (metric, part) in
            [("train_length_median", 0.5), ("train_length_p90", 0.9), ("train_length_p99", 0.99)]
        {
            rows.push(row(metric, "packets", self.trains.quantile(part) as f64));
        }
        rows.push(row("train_length_max", "packets", self.trains.largest() as f64));
        rows
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
    rows.extend(
        summary.nanoseconds_each.map(|time| row("time", "ns", time).with("replayed", summary.replayed)),
    );
    let tell = |row: Row| {
        let row = row.with("locator", summary.strategy.name()).with("complete", summary.complete);
        match summary.condition() {
            Some(condition) => row.with("only_if", condition),
            None => row,
        }
    };
    rows.into_iter().map(tell).collect()
}
