//! What the analysis of a capture finds.

#[path = "../../capture/tests/captures/mod.rs"]
mod captures;

use std::io::{Cursor, Write};
use std::path::PathBuf;

use captures::*;
use throughline_lab::trace::{AnalysisError, Options, Report, Source, analyse};

fn analysed(octets: Vec<u8>) -> Result<Report, AnalysisError> {
    with(octets, &Options::default())
}

fn with(octets: Vec<u8>, options: &Options) -> Result<Report, AnalysisError> {
    analyse(Source::new(Cursor::new(octets)).unwrap(), options, |_| {})
}

#[test]
fn a_conversation() {
    for file in [pcap, pcapng] {
        let report = analysed(file(Order::Big, false, 1, &conversation(1))).unwrap();
        let counts = report.counts;
        assert_eq!((counts.frames, counts.packets, counts.tcp, counts.flows), (9, 9, 8, 3));
        assert_eq!((report.trains.total(), report.trains.largest()), (4, 3));
        assert_eq!((report.duration, report.first_time), (8_000_000, 1_700_000_000_000_000_000));
        assert_eq!(report.fault, None);
        assert!(report.recommendation().is_some());
    }
}

#[test]
fn both_versions_of_ip() {
    const MORE: u16 = 0x2000;
    let packets = [
        v6(1, 2, 6, &tcp(3, 4, ACK)),
        v4([1; 4], [2; 4], 17, (7, MORE), &udp(1, 2)),
        v4([1; 4], [2; 4], 17, (7, 3), b"end"),
        v4([1; 4], [2; 4], 17, (8, 3), b"end of what nobody saw"),
        v6(2, 1, 6, &tcp(4, 3, ACK)),
    ];
    let frames: Vec<_> = packets.iter().map(|packet| (0, frame(101, packet))).collect();
    let counts = analysed(pcap(Order::Little, false, 101, &frames)).unwrap().counts;
    assert_eq!((counts.packets, counts.v6, counts.flows, counts.lost_fragments), (4, 2, 2, 1));
}

#[test]
fn damage() {
    let file = pcap(Order::Little, false, 1, &conversation(1));
    let report = analysed(file[..file.len() - 1].to_vec()).unwrap();
    assert_eq!((report.counts.frames, report.fault.map(|fault| fault.frames)), (8, Some(8)));
    assert!(matches!(analysed(b"x".to_vec()), Err(AnalysisError::NoCapture(_))));
}

#[test]
fn what_is_not_looked_up_is_counted() {
    let mut arp = vec![2; 12];
    arp.extend([8, 6, 0, 1]);
    let frames = [
        arp,
        frame(1, &v4([1; 4], [2; 4], 1, (0, 0), &[8, 0, 0, 0])),
        frame(1, &v4([1; 4], [2; 4], 6, (0, 0), &[0; 3])),
        vec![2; 5],
    ];
    let frames: Vec<_> = frames.into_iter().map(|frame| (0, frame)).collect();
    let report = analysed(pcap(Order::Little, false, 1, &frames)).unwrap();
    let counts = report.counts;
    assert_eq!((counts.not_ip, counts.other_protocol, counts.broken, counts.packets), (2, 1, 1, 0));
    assert!(report.recommendation().is_none());
    assert!(report.tables().iter().all(|table| !table.to_string().contains("NaN")));
    let report = analysed(pcap(Order::Little, false, 147, &frames)).unwrap();
    assert_eq!((report.counts.unknown_link, report.counts.last_unknown_link), (4, 147));
}

#[test]
fn directions_and_addresses() {
    let file = || pcap(Order::Little, false, 1, &conversation(1));
    let one_way = Options { both_directions: false, ..Options::default() };
    assert_eq!(with(file(), &one_way).unwrap().counts.flows, 5);
    let received = Options { to: Some("10.0.0.2/32".parse().unwrap()), ..Options::default() };
    let counts = with(file(), &received).unwrap().counts;
    assert_eq!((counts.packets, counts.not_asked_for, counts.flows), (6, 3, 3));
    let none = Options { chains: 0, ..Options::default() };
    assert!(matches!(with(file(), &none), Err(AnalysisError::Lookup(_))));
}

/// Many flows come and go: memory has its bounds, and counts agree whether lists are walked or not.
#[test]
fn few_flows_are_kept() {
    let mut state = 1_u64;
    let frames: Vec<Timed> = (0..30_000_u64)
        .map(|n| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let port = (state >> 40) as u16;
            (n * 1_000_000, frame(101, &v4([9; 4], [8; 4], 17, (0, 0), &udp(port, 7))))
        })
        .collect();
    let options = Options { flows: 6000, ..Options::default() };
    let report = with(pcap(Order::Little, false, 101, &frames), &options).unwrap();
    assert!(report.counts.most_live <= 6000 && report.counts.evicted > 0, "{:?}", report.counts);
    for lookup in &report.lookups {
        assert!(lookup.examined.total() > 0, "{}", lookup.strategy);
    }
}

#[test]
fn rows_are_flat_and_complete() {
    let report = analysed(pcap(Order::Little, false, 1, &conversation(1))).unwrap();
    let rows = report.rows();
    for row in &rows {
        let parsed: serde_json::Map<_, _> = serde_json::from_str(&row.to_string()).unwrap();
        assert!(parsed.values().all(|v| !v.is_object() && !v.is_array()), "{row}");
        for key in ["experiment", "metric", "unit", "value"] {
            assert!(parsed.contains_key(key), "{row}");
        }
    }
    for lookup in &report.lookups {
        let has = |metric| {
            rows.iter().any(|r| r.text("metric") == metric && r.text("locator") == lookup.strategy.name())
        };
        assert!(["examined_mean", "examined_p99", "examined_worst", "time", "memory"].into_iter().all(has));
    }
    let page = report.html("<b>.pcap").unwrap();
    assert!(page.contains("&lt;b&gt;.pcap") && page.matches("<svg").count() >= 4);
    for load in ["<script", "src=", "@import", "<link"] {
        assert!(!page.contains(load), "{load}");
    }
}

/// Captures from elsewhere, where there are any: `THROUGHLINE_DATA` names their folder.
#[test]
fn real_captures() {
    let folder = std::env::var_os("THROUGHLINE_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let known = [("synscan.pcap", 2011, 0), ("gnutella.pcap", 3905, 47), ("corba.pcap", 28, 0)];
    for (name, frames, v6) in known {
        let Ok(octets) = std::fs::read(folder.join(name)) else {
            // Straight to stderr, where the test harness does not swallow it.
            let shown = folder.display();
            let _ = writeln!(std::io::stderr(), "SKIPPED: no {name} in {shown} (set THROUGHLINE_DATA)");
            continue;
        };
        let report = analysed(octets).unwrap();
        assert_eq!((report.counts.frames, report.counts.v6, report.fault), (frames, v6, None), "{name}");
    }
}
