//! Captures of every kind are read to the same result; damaged ones up to the damage.

mod captures;

use std::io::{Cursor, Read, Write};
use std::path::PathBuf;

use captures::*;
use throughline_lab::trace::{AnalysisError, Options, Report, Source, analyse};

const LINKS: [u32; 10] = [0, 1, 12, 14, 101, 108, 113, 228, 229, 276];

fn analysed(octets: Vec<u8>) -> Result<Report, AnalysisError> {
    with(octets, &Options::default())
}

fn with(octets: Vec<u8>, options: &Options) -> Result<Report, AnalysisError> {
    analyse(Source::new(Cursor::new(octets)).unwrap(), options, |_| {})
}

/// That of [`conversation`].
fn expect_conversation(report: &Report) {
    let counts = report.counts;
    assert_eq!((counts.frames, counts.packets, counts.tcp, counts.flows), (9, 9, 8, 3));
    assert_eq!((report.trains.total(), report.trains.largest()), (4, 3));
    assert_eq!((report.duration, report.first_time), (8_000_000, 1_700_000_000_000_000_000));
    assert_eq!(report.fault, None);
    assert!(report.recommendation().is_some());
}

#[test]
fn all_link_types_formats_and_byte_orders() {
    for link in LINKS {
        let frames = conversation(link);
        for order in [Order::Big, Order::Little] {
            for nanoseconds in [false, true] {
                expect_conversation(&analysed(pcap(order, nanoseconds, link, &frames)).unwrap());
                expect_conversation(&analysed(pcapng(order, nanoseconds, link, &frames)).unwrap());
            }
        }
    }
}

#[test]
fn sections_follow_one_another() {
    let frames = conversation(1);
    let mut file = pcapng(Order::Big, false, 1, &frames[..4]);
    // Another byte order, other interfaces, and a block that nobody knows.
    file.extend(section(Order::Little));
    file.extend(block(Order::Little, 0x0bad, b"something"));
    file.extend(interface(Order::Little, 228, 6));
    file.extend(interface(Order::Little, 1, 9));
    for (time, frame) in &frames[4..] {
        file.extend(enhanced(Order::Little, 1, *time, frame));
    }
    expect_conversation(&analysed(file).unwrap());
}

#[test]
fn compressed() {
    let plain = pcapng(Order::Little, true, 1, &conversation(1));
    let gzip = |octets: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(octets).unwrap();
        encoder.finish().unwrap()
    };
    let zstd = |octets: &[u8]| {
        ruzstd::encoding::compress_to_vec(octets, ruzstd::encoding::CompressionLevel::Fastest)
    };
    let xz = |octets: &[u8]| {
        let options = lzma_rust2::XzOptions::with_preset(6);
        let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
        encoder.write_all(octets).unwrap();
        encoder.finish().unwrap()
    };
    let (first, second) = plain.split_at(200);
    for compress in [&gzip as &dyn Fn(&[u8]) -> Vec<u8>, &zstd, &xz] {
        let whole = compress(&plain);
        expect_conversation(&analysed(whole.clone()).unwrap());
        // Two files one after another are one.
        expect_conversation(&analysed([compress(first), compress(second)].concat()).unwrap());
        // Cut off, what came before is there.
        let cut = analysed([compress(first), compress(second)[..30].to_vec()].concat()).unwrap();
        let fault = cut.fault.unwrap();
        assert!(fault.cause.contains("cannot be decompressed"), "{fault}");
        assert!(cut.counts.frames > 0 && cut.counts.frames < 9, "{fault}");
    }
}

#[test]
fn tags_and_extension_headers() {
    let packet = v4([1; 4], [2; 4], 17, (0, 0), &udp(1, 2));
    let tags = [vec![], vec![[0x81, 0]], vec![[0x88, 0xa8], [0x81, 0]], vec![[0x81, 0]; 4]];
    let frames: Vec<_> = tags.iter().map(|tags| (0, vlan(tags, &packet))).collect();
    let report = analysed(pcap(Order::Little, false, 1, &frames)).unwrap();
    assert_eq!((report.counts.packets, report.counts.flows), (4, 1));

    let segment = tcp(3, 4, ACK);
    // Hop-by-hop options, then destination options, then TCP.
    let extended = [&[60, 0, 1, 4, 0, 0, 0, 0, 6, 0, 1, 4, 0, 0, 0, 0][..], &segment].concat();
    let packets = [v6(1, 2, 6, &segment), v6(1, 2, 0, &extended), v6(2, 1, 6, &tcp(4, 3, ACK))];
    let frames: Vec<_> = packets.iter().map(|packet| (0, frame(1, packet))).collect();
    let report = analysed(pcap(Order::Big, false, 1, &frames)).unwrap();
    assert_eq!((report.counts.packets, report.counts.v6, report.counts.flows), (3, 3, 1));
}

#[test]
fn fragments_belong_to_their_flow() {
    const MORE: u16 = 0x2000;
    let part = |id, word, payload: &[u8]| v4([1; 4], [2; 4], 17, (id, word), payload);
    let head = |next: u8, offset: u16, more: bool, id: u8| {
        let word = (offset << 3 | u16::from(more)).to_be_bytes();
        vec![next, 0, word[0], word[1], 0, 0, 0, id]
    };
    let packets = [
        part(7, MORE, &udp(1, 2)),
        part(7, MORE | 2, b"more"),
        part(7, 3, b"end"),
        // Of a datagram whose beginning was not seen.
        part(8, 3, b"end"),
        v6(1, 2, 44, &[head(17, 0, true, 9), udp(5, 6)].concat()),
        v6(1, 2, 44, &[head(17, 2, false, 9), b"end".to_vec()].concat()),
        v6(1, 2, 44, &[head(17, 2, false, 10), b"end".to_vec()].concat()),
    ];
    let frames: Vec<_> = packets.iter().map(|packet| (0, frame(101, packet))).collect();
    let counts = analysed(pcap(Order::Little, false, 101, &frames)).unwrap().counts;
    assert_eq!((counts.packets, counts.flows, counts.lost_fragments, counts.broken), (5, 2, 2, 0));
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

#[test]
fn what_is_no_capture() {
    for octets in [&b""[..], b"x", b"once upon a time there was a packet", &[0xa1, 0xb2, 0xc3, 0xd4, 0]] {
        assert!(matches!(analysed(octets.to_vec()), Err(AnalysisError::NoCapture(_))), "{octets:?}");
    }
}

/// Wherever a file ends, all frames before are seen, and the end is told to be one unless it lies between records.
#[test]
fn cut_anywhere() {
    let frames = conversation(1);
    let headers = [
        (pcap(Order::Big, false, 1, &[]).len(), pcap(Order::Big, false, 1, &frames), 16),
        (pcapng(Order::Big, false, 1, &[]).len(), pcapng(Order::Big, false, 1, &frames), 32),
    ];
    for (header, file, around) in headers {
        for length in header..file.len() {
            let report = analysed(file[..length].to_vec()).unwrap();
            let (mut at, mut whole) = (header, 0);
            for (_, frame) in &frames {
                let padded = if around == 32 { frame.len().next_multiple_of(4) } else { frame.len() };
                if at + around + padded > length {
                    break;
                }
                at += around + padded;
                whole += 1;
            }
            assert_eq!(report.counts.frames, whole, "{length}");
            let told = report.fault.map(|fault| (fault.offset, fault.frames));
            assert_eq!(told, (at != length).then_some((at as u64, whole)), "{length}");
        }
    }
}

#[test]
fn damage_is_told() {
    let frames = conversation(1);
    let cause = |file: Vec<u8>| analysed(file).unwrap().fault.unwrap().to_string();
    let mut huge = pcap(Order::Little, false, 1, &frames);
    huge[24 + 8..24 + 12].fill(0xff);
    assert!(cause(huge).contains("at octet 24 of the capture, after 0 frames: a record claims"));
    let good = pcapng(Order::Little, false, 1, &frames);
    let first = section(Order::Little).len() + interface(Order::Little, 1, 6).len();
    let changed = |at: usize, to: u8| {
        let mut file = good.clone();
        file[at] = to;
        cause(file)
    };
    assert!(changed(first + 4, 2).contains("a block claims to have"));
    assert!(changed(first + 8, 9).contains("an interface that was not described"));
    assert!(changed(first + 20, 0xff).contains("is damaged"));
    let mut orderless = [good.clone(), section(Order::Big)].concat();
    orderless[good.len() + 8] = 0;
    assert!(cause(orderless).contains("no byte order"));
}

/// Fails after some octets.
struct Failing(Cursor<Vec<u8>>);

impl Read for Failing {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self.0.read(buffer)? {
            0 => Err(std::io::Error::other("the disk is on fire")),
            count => Ok(count),
        }
    }
}

#[test]
fn a_source_that_fails() {
    let file = pcap(Order::Little, false, 1, &conversation(1));
    let source = Source::new(Failing(Cursor::new(file))).unwrap();
    let report = analyse(source, &Options::default(), |_| {}).unwrap();
    assert_eq!(report.counts.frames, 9);
    assert!(report.fault.unwrap().cause.contains("on fire"));
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
        assert!(lookup.examined.total() > 0, "{}", lookup.which);
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
            rows.iter().any(|r| r.text("metric") == metric && r.text("locator") == lookup.which.name())
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
