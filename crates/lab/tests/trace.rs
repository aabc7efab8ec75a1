//! What the analysis of a capture finds.

#[path = "../../capture/tests/captures/mod.rs"]
mod captures;

use std::io::{Cursor, Write};
use std::path::PathBuf;

use captures::*;
use throughline_demux::Strategy;
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
        // Room for the flows of 9 packets, not for a million.
        let flow_table = report.lookups.iter().find(|lookup| lookup.strategy == Strategy::FlowTable).unwrap();
        assert!(flow_table.bytes < 8192, "{} octets", flow_table.bytes);
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
    let report = analysed(pcap(Order::Little, false, 105, &frames)).unwrap();
    assert_eq!((report.counts.unknown_link, report.counts.last_unknown_link), (4, 105));
}

/// That there are no packets of TCP or UDP is not all that there is to say where they may be in others.
#[test]
fn packets_that_carry_others_are_counted_and_named() {
    let inner = v4([1; 4], [2; 4], 17, (0, 0), &udp(1, 2));
    let around = |protocol| v4([3; 4], [4; 4], protocol, (0, 0), &inner);
    let mut frames: Vec<_> =
        [around(47), around(41), around(1), around(47)].iter().map(|packet| (0, frame(1, packet))).collect();
    let report = analysed(pcap(Order::Little, false, 1, &frames)).unwrap();
    assert_eq!((report.counts.other_protocol, &report.carriers[..]), (4, &[(41, 1), (47, 2)][..]));
    let told = "packets that carry others are not looked into (of IPv6 in IP 1, of GRE 2)";
    let sentence = report.nothing().unwrap();
    assert!(sentence.contains(&format!("no packets of TCP or UDP in it; {told}: ")), "{sentence}");
    let rows = report.rows("some.pcap");
    let gre = rows.iter().find(|row| row.text("name") == "GRE").unwrap();
    assert_eq!((gre.text("metric"), gre.value()), ("not_looked_into", 2.0));
    // Nor where others are looked up.
    frames.push((0, frame(1, &inner)));
    let report = analysed(pcap(Order::Little, false, 1, &frames)).unwrap();
    assert_eq!(report.nothing(), None);
    assert!(report.tables()[0].to_string().contains(told), "{}", report.tables()[0]);
}

/// Where nothing can be looked up, tables, rows and page say why, and have no empty figures.
#[test]
fn nothing_to_look_up() {
    let conversation = |link| pcap(Order::Little, false, link, &conversation(1));
    let elsewhere = Options { to: Some("192.0.2.0/24".parse().unwrap()), ..Options::default() };
    let cases = [
        (conversation(105), Options::default(), "link type 105 (IEEE 802.11), which is not understood"),
        (conversation(1), elsewhere, "None of the packets of TCP or UDP in it (9) is to 192.0.2.0/24"),
        (pcap(Order::Big, true, 1, &[]), Options::default(), "There are no frames in it"),
        (conversation(101), Options::default(), "There are no packets of TCP or UDP in it"),
        (
            [pcap(Order::Big, true, 1, &[(0, vec![2; 60])]), conversation(9)].concat(),
            Options::default(),
            "those of link type 9 (PPP) are not understood",
        ),
    ];
    for (octets, options, why) in cases {
        let report = with(octets, &options).unwrap();
        let sentence = report.nothing().unwrap();
        assert!(sentence.contains(why), "{sentence}");
        assert!(report.tables().iter().all(|table| !table.is_empty()) && report.recommendation().is_none());
        let rows = report.rows("some.pcap");
        assert!(rows.iter().any(|row| row.text("sentence") == sentence));
        assert!(rows.iter().all(|row| row.get("locator").is_none()));
        let page = report.html("some.pcap").unwrap();
        assert!(page.contains(&sentence) && !page.contains("<svg"), "{page}");
    }
}

/// Clocks that are set, short captures, and what little of an interval there is at the end.
#[test]
fn times_that_mean_little() {
    let packet = |time: u64| (time, frame(101, &v4([9; 4], [8; 4], 17, (0, 0), &udp(1, 7))));
    let tables = |times: &[u64]| {
        let frames: Vec<Timed> = times.iter().map(|time| packet(*time)).collect();
        let report = analysed(pcap(Order::Little, true, 101, &frames)).unwrap();
        (report.tables().iter().map(ToString::to_string).collect::<String>(), report)
    };
    const SECOND: u64 = 1_000_000_000;
    let (text, report) = tables(&[100 * SECOND, 90 * SECOND, 95 * SECOND, 101 * SECOND]);
    assert!(text.contains("earlier than one before, by up to 10 s: 2;"), "{text}");
    assert_eq!((report.counts.set_back, report.duration), (2, SECOND));
    let (text, _) = tables(&[0, 20_000 * 86_400 * SECOND]);
    assert!(text.contains("20,000 days: duration and rates mean little"), "{text}");
    // Packets of one time have no rate; nor has the moment after the last whole interval.
    let (text, _) = tables(&[SECOND; 5]);
    assert!(text.contains("  0                 -       -            1      1"), "{text}");
    let (text, _) = tables(&[0, 1_000_000, 2_000_000, 2_300_000]);
    assert!(text.contains("duration, ms") && text.contains("from, ms"), "{text}");
    let (text, report) = tables(&[SECOND, SECOND + 1_000, SECOND + 8_000]);
    assert!(text.contains("from, µs") && !text.contains("days") && !text.contains("earlier"), "{text}");
    assert!(report.over_time.bins().len() <= 12);
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

/// A connection is closed whether or not what its host sends is looked up: that host knows what it has sent.
#[test]
fn connections_that_are_closed_by_what_is_not_asked_for() {
    let (client, server) = ([10, 0, 0, 1], [10, 0, 0, 2]);
    let alive = |last: u8, to: Option<&str>| {
        let connection = |n: u64| {
            let (port, time) = (n as u16, n * 1_000_000_000);
            let go = |flags| frame(101, &v4(client, server, 6, (0, 0), &tcp(port, 80, flags)));
            let back = |flags| frame(101, &v4(server, client, 6, (0, 0), &tcp(80, port, flags)));
            [(time, go(SYN)), (time + 1, back(SYN | ACK)), (time + 2, go(FIN | ACK)), (time + 3, back(last))]
        };
        let frames: Vec<Timed> = (1..200).flat_map(connection).collect();
        let options = Options { to: to.map(|to| to.parse().unwrap()), ..Options::default() };
        with(pcap(Order::Little, true, 101, &frames), &options).unwrap().counts.most_live
    };
    for last in [FIN | ACK, 4] {
        // Those of the minute for which closed connections linger.
        let all = alive(last, None);
        assert!((60..70).contains(&all), "{all}");
        assert_eq!((alive(last, Some("10.0.0.2")), alive(last, Some("10.0.0.1"))), (all, all));
    }
    assert_eq!(alive(ACK, Some("10.0.0.2")), 199, "half closed");
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

/// Packets of flows that take turns, so far apart.
fn turns(flows: u16, packets: u64, apart: u64) -> Vec<Timed> {
    let packet = |n: u64| frame(101, &v4([9; 4], [8; 4], 17, (0, 0), &udp((n % u64::from(flows)) as u16, 7)));
    (0..packets).map(|n| (n * apart, packet(n))).collect()
}

#[test]
fn flows_are_kept_as_long_as_there_is_room() {
    let polled = pcap(Order::Little, false, 101, &turns(4_500, 30_000, 1_000));
    for (flows, all) in [(5_000, true), (4_800, true), (4_500, false), (100, false), (16, false)] {
        let counts = with(polled.clone(), &Options { flows, ..Options::default() }).unwrap().counts;
        assert_eq!((counts.flows == 4_500, counts.evicted == 0), (all, all), "{flows}");
        assert!(counts.most_live <= flows as u64, "{} of {flows}", counts.most_live);
    }
    // Both versions of IP share the room.
    let both = |n: u64| match n % 2 {
        0 => v4([9; 4], [8; 4], 17, (0, 0), &udp((n / 2 % 40) as u16, 7)),
        _ => v6(1, 2, 17, &udp((n / 2 % 40) as u16, 7)),
    };
    let frames: Vec<Timed> = (0..8_000).map(|n| (n * 1_000, frame(101, &both(n)))).collect();
    let file = pcap(Order::Little, false, 101, &frames);
    for (flows, all) in [(100, true), (70, false)] {
        let counts = with(file.clone(), &Options { flows, ..Options::default() }).unwrap().counts;
        assert_eq!((counts.flows == 80, counts.evicted == 0, counts.v6), (all, all, 4_000), "{flows}");
        assert!(counts.most_live <= flows as u64, "{} of {flows}", counts.most_live);
    }
}

/// A flow is over before the packet that ends its silence.
#[test]
fn a_packet_after_a_silence_begins_a_flow() {
    const SECOND: u64 = 1_000_000_000;
    for (flows, apart, expected) in [(1, 1_000, 10), (2, 1_000, 20), (1, 290, 1), (2, 140, 2)] {
        let packets = 10 * u64::from(flows);
        let file = pcap(Order::Little, false, 101, &turns(flows, packets, apart * SECOND));
        let counts = analysed(file).unwrap().counts;
        assert_eq!((counts.packets, counts.flows), (packets, expected), "{flows} flows, {apart} s");
    }
}

/// Simple Packets tell no time; those before any that do came when that came.
#[test]
fn packets_without_a_time_are_of_the_first_that_is_told() {
    const START: u64 = 1_700_000_000_000_000_000;
    let order = Order::Little;
    let mut file = [section(order), interface(order, 101, 9)].concat();
    let frames = turns(3, 300, 1_000_000_000);
    for (n, (time, frame)) in frames.iter().enumerate() {
        file.extend(match n {
            0..6 => block(order, 3, &[order.u32(frame.len() as u32).to_vec(), frame.clone()].concat()),
            _ => enhanced(order, 0, START + time, frame),
        });
    }
    let report = analysed(file).unwrap();
    assert_eq!((report.counts.packets, report.counts.flows, report.counts.evicted), (300, 3, 0));
    assert_eq!((report.first_time, report.duration), (START + frames[6].0, frames[299].0 - frames[6].0));
    assert_eq!((report.counts.set_back, report.counts.longest_gap), (0, 1_000_000_000));
}

/// Simulators and clocks without a battery begin at 0, which is a time like others, whatever the format.
#[test]
fn a_time_of_zero_is_one() {
    let frames = turns(3, 10, 1_000_000_000);
    let untimed =
        block(Order::Big, 3, &[&Order::Big.u32(frames[0].1.len() as u32)[..], &frames[0].1].concat());
    let begin = [section(Order::Big), interface(Order::Big, 101, 9), untimed].concat();
    let told: Vec<u8> =
        frames.iter().flat_map(|(time, frame)| enhanced(Order::Big, 0, *time, frame)).collect();
    for file in
        [pcap(Order::Big, true, 101, &frames), pcapng(Order::Big, true, 101, &frames), [begin, told].concat()]
    {
        let report = analysed(file).unwrap();
        assert_eq!((report.first_time, report.duration), (0, 9_000_000_000));
        assert_eq!((report.counts.longest_gap, report.counts.set_back), (1_000_000_000, 0));
    }
}

/// A connection that was reset before a time is told lingers from then on.
#[test]
fn connections_closed_without_a_time_linger() {
    const SECOND: u64 = 1_000_000_000;
    const RST: u8 = 4;
    let order = Order::Little;
    let segment = |flags| v4([9; 4], [8; 4], 6, (0, 0), &tcp(1, 2, flags));
    let simple = |frame: &[u8]| [&order.u32(frame.len() as u32)[..], frame].concat();
    let begin = [section(order), interface(order, 101, 9), block(order, 3, &simple(&segment(RST)))].concat();
    for (after, flows) in [(50, 1), (70, 2)] {
        let told = [0, after].map(|second| enhanced(order, 0, (1_000 + second) * SECOND, &segment(ACK)));
        let counts = analysed([begin.clone(), told.concat()].concat()).unwrap().counts;
        assert_eq!((counts.packets, counts.flows), (3, flows), "{after} s");
    }
}

/// Clocks count as far as 2554: what comes later comes then, and flows stay.
#[test]
fn the_end_of_time() {
    const RST: u8 = 4;
    let order = Order::Little;
    let segment = |n: u16| v4([9; 4], [8; 4], 6, (0, 0), &tcp(n % 7, 2, if n < 7 { RST } else { ACK }));
    let beyond = interface_since(order, 101, 9, 1 << 40);
    let packets: Vec<u8> = (0..9_000).flat_map(|n| enhanced(order, 0, n.into(), &segment(n))).collect();
    let report = analysed([section(order), beyond, packets].concat()).unwrap();
    assert_eq!((report.counts.packets, report.counts.flows, report.duration), (9_000, 7, 0));
}

#[test]
fn rows_are_flat_and_complete() {
    let report = analysed(pcap(Order::Little, false, 1, &conversation(1))).unwrap();
    let rows = report.rows("some.pcap");
    for row in &rows {
        let parsed: serde_json::Map<_, _> = serde_json::from_str(&row.to_string()).unwrap();
        assert!(parsed.values().all(|v| !v.is_object() && !v.is_array()), "{row}");
        for key in ["experiment", "metric", "unit", "value"] {
            assert!(parsed.contains_key(key), "{row}");
        }
    }
    let capture = rows.iter().find(|row| row.text("metric") == "capture").unwrap();
    assert_eq!((capture.text("file"), capture.text("format"), capture.value()), ("some.pcap", "pcap", 9.0));
    let link = rows.iter().find(|row| row.text("metric") == "link_type").unwrap();
    assert_eq!((link.text("name"), link.value()), ("Ethernet", 1.0));
    for metric in ["flows_kept", "train_length_median", "train_length_p90"] {
        assert!(rows.iter().any(|row| row.text("metric") == metric), "{metric}");
    }
    assert!(rows.len() < 250, "{} rows of 9 packets", rows.len());
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
