//! Counters as monitoring systems read them.

use std::fmt;

use crate::{DeviceCounts, Graph};

/// Counters in the text format of OpenMetrics 1.0, which Prometheus and others read; `to_string` or `write!` makes the text, whose
/// media type is `application/openmetrics-text; version=1.0.0; charset=utf-8`.
///
/// ```
/// # use throughline_stack::{Config, Graph, Host, Metrics, smoltcp::wire::{EthernetAddress, IpCidr, Ipv4Address}};
/// # let host = Host::new(EthernetAddress([2, 0, 0, 0, 0, 1]), IpCidr::new(Ipv4Address::new(10, 0, 0, 1).into(), 24));
/// let graph = Graph::compose("udp > ipv4 > eth; arp > eth", host, Config::default())?;
/// let mut metrics = Metrics::default();
/// metrics.add_graph(&graph, &[("graph", "uplink")]);
/// metrics.counter("bank_transfers", "Transfers carried out.", &[], 17);
/// assert!(metrics.to_string().contains("throughline_stack_frames_received_total{graph=\"uplink\"} 0\n"));
/// assert!(metrics.to_string().ends_with("bank_transfers_total 17\n# EOF\n"));
/// # Ok::<(), throughline_stack::ComposeError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    families: Vec<Family>,
}

/// All samples of a name, which must stand together.
#[derive(Clone, Debug)]
struct Family {
    name: String,
    kind: Kind,
    help: String,
    samples: Vec<(String, u64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Counter,
    Gauge,
}

impl Metrics {
    /// Adds a number that only grows; the name without `_total`. Names are made of letters, digits and underscores; labels tell
    /// apart what has the same name.
    ///
    /// # Panics
    /// If a name or a label's name is none, or the name is a gauge's.
    pub fn counter(&mut self, name: &str, help: &str, labels: &[(&str, &str)], value: u64) {
        self.add(Kind::Counter, name, help, labels, value);
    }

    /// Adds a number that grows and shrinks.
    ///
    /// # Panics
    /// If a name or a label's name is none, or the name is a counter's.
    pub fn gauge(&mut self, name: &str, help: &str, labels: &[(&str, &str)], value: u64) {
        self.add(Kind::Gauge, name, help, labels, value);
    }

    /// Adds what a graph has counted: frames, messages delivered, paths, and what was discarded, by protocol and reason; of the
    /// latter only what is not zero.
    pub fn add_graph(&mut self, graph: &Graph, labels: &[(&str, &str)]) {
        let counts = graph.counts();
        self.counter("throughline_stack_frames_received", "Frames that arrived.", labels, counts.received);
        self.counter("throughline_stack_frames_sent", "Frames handed to the device.", labels, counts.sent);
        self.counter(
            "throughline_stack_messages_delivered",
            "Messages taken by their users; streams have none.",
            labels,
            counts.delivered,
        );
        self.gauge("throughline_stack_paths", "Paths that are open.", labels, counts.paths);
        for (protocol, why, count) in graph.discarded() {
            let mut labels = labels.to_vec();
            labels.extend([("protocol", protocol), ("reason", why.name())]);
            self.counter("throughline_stack_discarded", "Messages that went no further.", &labels, count);
        }
    }

    /// Adds what became of a device's frames.
    pub fn add_device(&mut self, counts: DeviceCounts, labels: &[(&str, &str)]) {
        let DeviceCounts { received, sent, oversized, malformed, overrun, unsent } = counts;
        self.counter("throughline_device_received", "Frames handed to the graph.", labels, received);
        self.counter("throughline_device_sent", "Frames handed to the wire.", labels, sent);
        for (reason, count) in
            [("oversized", oversized), ("malformed", malformed), ("overrun", overrun), ("unsent", unsent)]
        {
            let mut labels = labels.to_vec();
            labels.push(("reason", reason));
            self.counter("throughline_device_dropped", "Frames that the device dropped.", &labels, count);
        }
    }

    fn add(&mut self, kind: Kind, name: &str, help: &str, labels: &[(&str, &str)], value: u64) {
        let sample = (written(labels), value);
        if let Some(family) = self.families.iter_mut().find(|family| family.name == name) {
            assert_eq!(family.kind, kind, "`{name}` is of another kind");
            return family.samples.push(sample);
        }
        assert!(is_name(name), "`{name}` is no name");
        self.families.push(Family { name: name.into(), kind, help: help.into(), samples: vec![sample] });
    }
}

fn is_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    let mut bytes = name.bytes();
    bytes.next().is_some_and(is_letter) && bytes.all(|byte| is_letter(byte) || byte.is_ascii_digit())
}

fn written(labels: &[(&str, &str)]) -> String {
    if labels.is_empty() {
        return String::new();
    }
    let label = |(name, value): &(&str, &str)| {
        assert!(is_name(name), "`{name}` is no label");
        format!("{name}=\"{}\"", escaped(value))
    };
    format!("{{{}}}", labels.iter().map(label).collect::<Vec<_>>().join(","))
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

impl fmt::Display for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Family { name, kind, help, samples } in &self.families {
            let (kind, suffix) = match kind {
                Kind::Counter => ("counter", "_total"),
                Kind::Gauge => ("gauge", ""),
            };
            writeln!(f, "# TYPE {name} {kind}\n# HELP {name} {}", escaped(help))?;
            for (labels, value) in samples {
                writeln!(f, "{name}{suffix}{labels} {value}")?;
            }
        }
        f.write_str("# EOF\n")
    }
}

/// What a graph has counted, but for what it discarded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GraphCounts {
    /// Frames that arrived.
    pub received: u64,
    /// Frames handed to the device.
    pub sent: u64,
    /// Messages taken by their users. Streams have none.
    pub delivered: u64,
    /// Paths that are open now.
    pub paths: u64,
}
