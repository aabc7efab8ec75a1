//! Captures of every kind are read to the same result; damaged ones up to the damage.

mod captures;
mod compress;

use std::io::{Cursor, Read};
use std::sync::mpsc::{Sender, channel};

use captures::*;
use throughline_capture::{
    Capture, Fault, Flow, Fragments, Payload, Seen, Source, Tuple, carrier_name, look, payload,
};

const LINKS: [u32; 10] = [0, 1, 12, 14, 101, 108, 113, 228, 229, 276];

/// All that a capture held.
#[derive(Default)]
struct Contents {
    times: Vec<u64>,
    /// What each frame is, if it has an IP packet.
    seen: Vec<Option<Seen>>,
    fault: Option<Fault>,
}

impl Contents {
    /// The flows, of both directions, in the order of their beginning.
    fn flows(&self) -> Vec<Flow> {
        let mut flows = Vec::new();
        for seen in self.seen.iter().flatten() {
            let flow = match seen {
                Seen::Flow(Flow::V4(tuple), _) => Flow::V4(tuple.undirected().0),
                Seen::Flow(Flow::V6(tuple), _) => Flow::V6(tuple.undirected().0),
                _ => continue,
            };
            if !flows.contains(&flow) {
                flows.push(flow);
            }
        }
        flows
    }

    fn count(&self, what: Seen) -> usize {
        self.seen.iter().filter(|seen| **seen == Some(what)).count()
    }

    fn packets(&self) -> usize {
        self.seen.iter().filter(|seen| matches!(seen, Some(Seen::Flow(..)))).count()
    }
}

/// Reads a capture; an error when it cannot be opened.
fn read(octets: impl Read + Send + 'static) -> Result<Contents, Fault> {
    let capture = Capture::open(Source::new(octets).unwrap())?;
    let (mut contents, mut fragments) = (Contents::default(), Fragments::default());
    let end = capture.read(|frame| {
        contents.times.push(frame.time);
        contents.seen.push(match payload(&frame) {
            Payload::Ip(packet) => Some(look(packet, &mut fragments)),
            Payload::Other | Payload::UnknownLink => None,
        });
    });
    Ok(Contents { fault: end.err(), ..contents })
}

fn contents(octets: Vec<u8>) -> Contents {
    read(Cursor::new(octets)).unwrap()
}

/// That of [`conversation`].
fn expect_conversation(contents: &Contents) {
    let expected = [
        (1, 1000, 80, SYN),
        (2, 80, 1000, SYN),
        (1, 1000, 80, 0),
        (1, 1001, 80, SYN),
        (2, 80, 1001, SYN),
        (1, 53, 53, 0),
        (1, 1000, 80, FIN),
        (2, 80, 1000, FIN),
        (1, 1000, 80, 0),
    ];
    let expected = expected.map(|(from, port, to_port, bits)| {
        let address = |last: u32| 0x0a00_0000 | last;
        let protocol = if port == 53 { 17 } else { 6 };
        let tuple = Tuple { from: (address(from), port), to: (address(3 - from), to_port), protocol };
        Some(Seen::Flow(Flow::V4(tuple), bits))
    });
    assert_eq!(contents.seen, expected);
    let times = (0..9).map(|n| 1_700_000_000_000_000_000 + n * 1_000_000);
    assert!(contents.times.iter().copied().eq(times), "{:?}", contents.times);
    assert_eq!(contents.fault, None);
}

#[test]
fn all_link_types_formats_and_byte_orders() {
    for link in LINKS {
        let frames = conversation(link);
        for order in [Order::Big, Order::Little] {
            for nanoseconds in [false, true] {
                expect_conversation(&contents(pcap(order, nanoseconds, link, &frames)));
                expect_conversation(&contents(pcapng(order, nanoseconds, link, &frames)));
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
    expect_conversation(&contents(file));
}

#[test]
fn clocks() {
    let times = |order, resolution, second, ticks| {
        let interface = interface_since(order, 1, resolution, second);
        let file = [section(order), interface, enhanced(order, 0, ticks, &conversation(1)[0].1)].concat();
        let contents = contents(file);
        contents.fault.map_or(Ok(contents.times), |fault| Err(fault.cause))
    };
    for order in [Order::Big, Order::Little] {
        assert_eq!(times(order, 0x8a, 0, 1024 * 5 + 256), Ok(vec![5_250_000_000]));
        assert_eq!(times(order, 0x80, 0, 7), Ok(vec![7_000_000_000]));
        assert_eq!(times(order, 0xbf, 0, 3 << 62), Ok(vec![1_500_000_000]));
        assert_eq!(times(order, 19, 0, 10_u64.pow(19)), Ok(vec![1_000_000_000]));
        assert_eq!(times(order, 6, 1_700_000_000, 7), Ok(vec![1_700_000_000_000_007_000]));
        assert_eq!(times(order, 0x81, -2, 5), Ok(vec![500_000_000]));
        for impossible in [20, 0x7f, 0xc0, 0xff] {
            assert!(times(order, impossible, 0, 1).unwrap_err().contains("impossible clock"));
        }
    }
}

/// Options have an end, behind which nothing is one; and a clock's resolution has one octet.
#[test]
fn what_is_no_clock() {
    for order in [Order::Big, Order::Little] {
        let option = |number, value: &[u8]| {
            let length = order.u16(value.len() as u16);
            [&order.u16(number)[..], &length, value, &vec![0; value.len().wrapping_neg() % 4]].concat()
        };
        let resolution = option(9, &[9]);
        for options in [[option(0, &[]), resolution.clone()], [option(9, &[9, 9]), option(14, &[9; 4])]] {
            let body = [&order.u16(1)[..], &[0; 6], &options.concat()].concat();
            let packet = enhanced(order, 0, 5, &conversation(1)[0].1);
            assert_eq!(contents([section(order), block(order, 1, &body), packet].concat()).times, [5_000]);
        }
    }
}

#[test]
fn files_follow_one_another() {
    let frames = conversation(1);
    let (first, other) = frames.split_at(4);
    let raw: Vec<Timed> = conversation(101)[4..].to_vec();
    let begin = [pcap(Order::Big, false, 1, first), pcapng(Order::Little, true, 1, first)];
    for begin in begin {
        for end in [
            pcap(Order::Little, true, 101, &raw),
            pcap(Order::Big, true, 1, other),
            pcapng(Order::Big, false, 101, &raw),
            pcapng(Order::Little, false, 1, other),
        ] {
            expect_conversation(&contents([begin.clone(), end].concat()));
        }
        let empty = pcap(Order::Little, true, 101, &[]);
        expect_conversation(&contents([begin, empty, pcap(Order::Big, false, 1, other)].concat()));
    }
}

/// A packet whose time looks like what a file begins with is a packet.
#[test]
fn what_is_no_header_is_a_record() {
    let frame = conversation(1)[0].1.clone();
    for second in [0xa1b2_c3d4_u64, 0xd4c3_b2a1, 0xa1b2_3c4d, 0x0a0d_0d0a] {
        for order in [Order::Big, Order::Little] {
            let file = pcap(order, false, 1, &[(second * 1_000_000_000, frame.clone())]);
            let contents = contents(file);
            assert_eq!((contents.times, contents.fault), (vec![second * 1_000_000_000], None));
        }
    }
}

#[test]
fn compressed() {
    let plain = pcapng(Order::Little, true, 1, &conversation(1));
    let (first, second) = plain.split_at(200);
    for (_, compress) in compress::ALL {
        expect_conversation(&contents(compress(&plain)));
        // Two files one after another are one.
        expect_conversation(&contents([compress(first), compress(second)].concat()));
        // Cut off, what came before is there.
        let cut = contents([compress(first), compress(second)[..30].to_vec()].concat());
        let fault = cut.fault.unwrap();
        assert!(fault.cause.contains("cannot be decompressed"), "{fault}");
        assert!((1..9).contains(&cut.times.len()), "{fault}");
    }
}

/// As tapes and some programs leave them; gzip itself takes them for the end.
#[test]
fn zeros_behind_gzip_are_its_end() {
    let plain = pcap(Order::Little, false, 1, &conversation(1));
    let (first, second) = plain.split_at(200);
    for zeros in [1, 512, 1 << 20] {
        let members = [compress::gzip(first), compress::gzip(second), vec![0; zeros]].concat();
        expect_conversation(&contents(members.clone()));
        let fault = contents([members, b"no member".to_vec()].concat()).fault.unwrap();
        assert!(fault.cause.contains("cannot be decompressed"), "{fault}");
    }
}

#[test]
fn compressions_that_are_not_read_are_told_by_name() {
    for (head, name, command) in [
        (&b"BZh91AY&SY"[..], "bzip2", "bzip2 -dc"),
        (&[0x04, 0x22, 0x4d, 0x18, 0x64], "lz4", "lz4 -dc"),
        (b"PK\x03\x04\x14\0", "zip", "funzip"),
    ] {
        let fault = read(head).err().unwrap();
        assert!(fault.cause.contains(&format!("compressed by {name}, which is not read")), "{fault}");
        assert_eq!(fault.command, Some(command));
    }
    let plain = pcap(Order::Little, false, 1, &conversation(1));
    for (name, compress) in compress::ALL {
        let fault = read(Cursor::new(compress(&plain)[..20].to_vec())).err().unwrap();
        assert!(fault.cause.contains("the file ends early"), "{fault}");
        assert!(fault.command.unwrap().starts_with(name), "{fault}");
    }
}

/// Of two compressions the outer one is to be undone first, even where the inner one is read as well.
#[test]
fn what_is_compressed_twice_is_told() {
    let plain = pcap(Order::Little, false, 1, &conversation(1));
    let foreign = ("bzip2", b"BZh91AY&SY".to_vec());
    for (outer, compress) in compress::ALL {
        let inner = compress::ALL.map(|(name, compress)| (name, compress(&plain)));
        for (inner, octets) in inner.into_iter().chain([foreign.clone()]) {
            let fault = read(Cursor::new(compress(&octets))).err().unwrap();
            assert!(fault.cause.contains(&format!("within {outer} there is {inner}")), "{fault}");
            assert!(fault.command.unwrap().starts_with(outer), "{fault}");
        }
    }
}

/// A Zstandard frame may ask for any amount of memory.
#[test]
fn a_window_that_is_too_large_is_refused() {
    // No checksum, no size; a window of 2^31 octets; a raw block that is the last, of 24 octets.
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 21 << 3, 24 << 3 | 1, 0, 0];
    frame.extend(pcap(Order::Little, false, 1, &[]));
    let fault = read(Cursor::new(frame)).err().unwrap();
    assert!(fault.cause.contains("refers back by more than 128 MiB"), "{fault}");
    assert_eq!(fault.command, Some("zstd -dc --long=31"));
    // The same behind one that is read. What is damaged, no other program reads either.
    let whole = compress::zstd(&pcap(Order::Little, false, 1, &conversation(1)));
    let beyond = contents([&whole[..], &[0x28, 0xb5, 0x2f, 0xfd, 0, 21 << 3, 1, 0, 0]].concat());
    let cut = contents(whole[..whole.len() - 1].to_vec());
    let commands = [beyond, cut].map(|found| found.fault.unwrap().command);
    assert_eq!(commands, [Some("zstd -dc --long=31"), None]);
}

/// An xz stream may, too; what is not too much is as much for both.
#[test]
fn windows_of_xz() {
    let with = |dictionary: u8, checksum: [u8; 4]| {
        let mut file = compress::xz(&pcap(Order::Little, false, 1, &conversation(1)));
        // One filter, LZMA2, with one octet of properties.
        assert_eq!(file[12..16], [2, 0, 0x21, 1]);
        file[16] = dictionary;
        file[20..24].copy_from_slice(&checksum);
        read(Cursor::new(file))
    };
    // 128 MiB, and half as much again.
    expect_conversation(&with(30, [0x9b, 0x07, 0x51, 0x66]).unwrap());
    let fault = with(31, [0xfe, 0x60, 0xed, 0xde]).err().unwrap();
    assert!(fault.cause.contains("refers back by more than 128 MiB"), "{fault}");
    assert_eq!(fault.command, Some("xz -dc"));
}

#[test]
fn packet_blocks_of_the_first_versions_are_read() {
    for order in [Order::Little, Order::Big] {
        let mut file = [section(order), interface(order, 1, 6), interface(order, 101, 9)].concat();
        let frames = conversation(1);
        for (time, frame) in &frames {
            let (ticks, length) = (time / 1000, frame.len() as u32);
            let mut body = [order.u16(0), order.u16(0xffff)].concat();
            for word in [(ticks >> 32) as u32, ticks as u32, length, length] {
                body.extend(order.u32(word));
            }
            body.extend(frame);
            file.extend(block(order, 2, &body));
        }
        expect_conversation(&contents(file.clone()));
        let last = file.len() - frames[8].1.len().next_multiple_of(4) - 4 - 20;
        for (at, octets, cause) in [
            (last, order.u16(7).to_vec(), "an interface that was not described"),
            (last + 12, order.u32(0xffff).to_vec(), "longer than its block"),
        ] {
            let mut damaged = file.clone();
            damaged[at..at + octets.len()].copy_from_slice(&octets);
            let found = contents(damaged);
            assert_eq!(found.times.len(), 8);
            assert!(found.fault.unwrap().cause.contains(cause));
        }
        assert!(contents([file, block(order, 2, &[0; 16])].concat()).fault.is_some());
    }
}

/// The octets that fill a block up are not the packet's, where not all of it was captured.
#[test]
fn simple_packets_are_as_long_as_their_interface_says() {
    for order in [Order::Little, Order::Big] {
        let whole = conversation(1)[0].1.clone();
        let read = |captured: usize| {
            let description = [&order.u16(1)[..], &[0; 2], &order.u32(captured as u32)].concat();
            let body = [&order.u32(whole.len() as u32)[..], &whole[..captured]].concat();
            let file = [section(order), block(order, 1, &description), block(order, 3, &body)].concat();
            contents(file)
        };
        // One octet short of the second port, and the whole packet.
        assert_eq!(read(37).seen, [Some(Seen::Broken)]);
        assert_eq!(read(whole.len()).packets(), 1);
    }
}

/// What a block holds that is neither a packet nor an interface is not our business; that it has an end is.
#[test]
fn other_blocks_are_passed_over() {
    for order in [Order::Little, Order::Big] {
        let frames = conversation(1);
        let mut file = pcapng(order, false, 1, &frames[..4]);
        let name = [&order.u16(1)[..], &order.u16(6), &[10, 0, 0, 1], b"a\0", &[0; 2]].concat();
        // Names without a mark of their end, and a record longer than the block; statistics, secrets and more that are cut
        // short; and one that nobody knows.
        let long = [&order.u16(1)[..], &order.u16(600), &[0; 8]].concat();
        for (kind, body) in [(4, &name[..]), (4, &[]), (4, &long), (5, &[]), (9, &[]), (10, &[7; 8])] {
            file.extend(block(order, kind, body));
        }
        for kind in [0x0bad, 0x4000_0bad, 0x8000_0001, 0x77] {
            file.extend(block(order, kind, &[]));
        }
        let end = file.len();
        for (time, frame) in &frames[4..] {
            file.extend(enhanced(order, 0, time / 1000, frame));
        }
        expect_conversation(&contents(file.clone()));
        file[end - 4..end].copy_from_slice(&order.u32(16));
        let fault = contents(file).fault.unwrap();
        assert_eq!((fault.offset as usize, fault.frames), (end - 12, 4));
        assert!(fault.cause.contains("12 octets by its beginning, 16 by its end"), "{fault}");
    }
}

#[test]
fn tags_and_extension_headers() {
    let packet = v4([1; 4], [2; 4], 17, (0, 0), &udp(1, 2));
    let tags = [vec![], vec![[0x81, 0]], vec![[0x88, 0xa8], [0x81, 0]], vec![[0x81, 0]; 4]];
    let frames: Vec<_> = tags.iter().map(|tags| (0, vlan(tags, &packet))).collect();
    let tagged = contents(pcap(Order::Little, false, 1, &frames));
    assert_eq!((tagged.packets(), tagged.flows().len()), (4, 1));

    let segment = tcp(3, 4, ACK);
    // Hop-by-hop options, then destination options, then TCP.
    let extended = [&[60, 0, 1, 4, 0, 0, 0, 0, 6, 0, 1, 4, 0, 0, 0, 0][..], &segment].concat();
    let packets = [v6(1, 2, 6, &segment), v6(1, 2, 0, &extended), v6(2, 1, 6, &tcp(4, 3, ACK))];
    let frames: Vec<_> = packets.iter().map(|packet| (0, frame(1, packet))).collect();
    let extended = contents(pcap(Order::Big, false, 1, &frames));
    assert_eq!((extended.packets(), extended.flows().len()), (3, 1));
    assert!(matches!(extended.flows()[..], [Flow::V6(_)]));
}

/// Where providers capture, packets lie behind labels and in sessions, with tags or without.
#[test]
fn labels_and_sessions() {
    let (four, six) = (v4([1; 4], [2; 4], 17, (0, 0), &udp(1, 2)), v6(1, 2, 17, &udp(1, 2)));
    let ethernet = |heads: &[&[u8]], packet: &[u8]| [&[2; 12][..], &heads.concat(), packet].concat();
    let (label, last) = ([0, 1, 0x20, 64], [0, 1, 0x31, 64]);
    let session = |protocol: [u8; 2], packet: &[u8]| {
        let length = (packet.len() as u16 + 2).to_be_bytes();
        [&[0x11, 0, 0, 9][..], &length, &protocol].concat()
    };
    let tag: &[u8] = &[0x81, 0, 0, 7];
    let frames = [
        ethernet(&[&[0x88, 0x47], &last], &four),
        ethernet(&[&[0x88, 0x48], &label, &label, &last], &six),
        ethernet(&[tag, &[0x88, 0x47], &label, &last], &four),
        ethernet(&[&[0x88, 0x64], &session([0, 0x21], &four)], &four),
        ethernet(&[&[0x88, 0x64], &session([0, 0x57], &six)], &six),
        ethernet(&[tag, tag, &[0x88, 0x64], &session([0, 0x21], &four)], &four),
    ];
    let others = [
        // A wire behind labels, whose control word begins with 0.
        ethernet(&[&[0x88, 0x47], &last], &[0; 20]),
        // Labels without an end.
        ethernet(&[&[0x88, 0x47], &label, &label], &[]),
        ethernet(&[&[0x88, 0x47]], &[0, 1]),
        // What a session is kept up with; how it begins; and one cut off.
        ethernet(&[&[0x88, 0x64], &session([0xc0, 0x21], &four)], &four),
        ethernet(&[&[0x88, 0x63], &session([0, 0x21], &four)], &four),
        ethernet(&[&[0x88, 0x64]], &[0x11, 0, 0, 9, 0, 2, 0]),
    ];
    let timed = |frames: &[Vec<u8>]| frames.iter().map(|frame| (0, frame.clone())).collect::<Vec<_>>();
    let within = contents(pcap(Order::Little, false, 1, &timed(&frames)));
    assert_eq!((within.packets(), within.flows().len()), (6, 2), "{:?}", within.seen);
    let without = contents(pcap(Order::Little, false, 1, &timed(&others)));
    assert_eq!(without.seen, [None; 6]);
}

/// Frames that have a length instead of a type tell the type behind it.
#[test]
fn frames_with_a_length() {
    let (four, six) = (v4([1; 4], [2; 4], 17, (0, 0), &udp(1, 2)), v6(1, 2, 17, &udp(1, 2)));
    const SNAP: [u8; 6] = [0xaa, 0xaa, 3, 0, 0, 0];
    let behind = |before: &[u8], llc: &[u8], kind: [u8; 2], packet: &[u8]| {
        let length = ((llc.len() + 2 + packet.len()) as u16).to_be_bytes();
        // A short frame is filled up.
        (0, [before, &length, llc, &kind, packet, &[0; 6]].concat())
    };
    let tagged = [&[2; 12][..], &[0x81, 0, 0, 7].repeat(4)].concat();
    let within = [
        behind(&[2; 12], &SNAP, [8, 0], &four),
        behind(&[2; 12], &SNAP, [0x86, 0xdd], &six),
        behind(&tagged, &SNAP, [8, 0], &four),
    ];
    let without = [
        // A spanning tree; another organization's types; ARP; and one cut off.
        behind(&[2; 12], &[0x42, 0x42, 3], [8, 0], &four),
        behind(&[2; 12], &[0xaa, 0xaa, 3, 0, 0, 0x0c], [8, 0], &four),
        behind(&[2; 12], &SNAP, [8, 6], &four),
        (0, [&[2; 12][..], &[0, 8, 0xaa, 0xaa, 3, 0, 0, 0, 8]].concat()),
    ];
    let within = contents(pcap(Order::Little, false, 1, &within));
    assert_eq!((within.packets(), within.flows().len()), (3, 2), "{:?}", within.seen);
    assert_eq!(contents(pcap(Order::Little, false, 1, &without)).seen, [None; 4]);
    // Linux has a number for them.
    let cooked = (0, [&[0; 14][..], &[0, 4], &SNAP, &[8, 0], &four].concat());
    assert_eq!(contents(pcap(Order::Little, false, 113, &[cooked])).packets(), 1);
}

/// Of a datagram that has no ports nothing is lost with its beginning.
#[test]
fn fragments_of_what_has_no_ports_are_of_another_protocol() {
    const MORE: u16 = 0x2000;
    let part = |protocol, word| v4([1; 4], [2; 4], protocol, (7, word), &[0; 8]);
    let later = |next: u8| v6(1, 2, 44, &[&[next, 0, 0, 8, 0, 0, 0, 9][..], &[0; 8]].concat());
    let frames = |packets: &[Vec<u8>]| packets.iter().map(|p| (0, frame(101, p))).collect::<Vec<_>>();
    let others = [part(1, MORE), part(1, MORE | 1), part(1, 2), part(50, 1), later(58), later(132)];
    let others = contents(pcap(Order::Little, false, 101, &frames(&others)));
    assert_eq!(others.seen, [Some(Seen::OtherProtocol); 6]);
    // What lies behind an authentication, or behind further headers, the beginning tells.
    let lost = [part(6, 1), part(17, 1), part(51, 1), later(6), later(17), later(60), later(51)];
    let lost = contents(pcap(Order::Little, false, 101, &frames(&lost)));
    assert_eq!(lost.seen, [Some(Seen::LostFragment); 7]);
}

/// They are packets of flows to nobody who does not take off what is around them.
#[test]
fn what_others_carry_is_not_looked_into() {
    const MORE: u16 = 0x2000;
    let inner = v4([1; 4], [2; 4], 17, (0, 0), &udp(1, 2));
    let around = |protocol, word| v4([3; 4], [4; 4], protocol, (7, word), &inner);
    let later = |next: u8| v6(1, 2, 44, &[&[next, 0, 0, 8, 0, 0, 0, 9][..], &[0; 8]].concat());
    let packets =
        [around(4, 0), v6(1, 2, 41, &inner), around(47, 0), around(47, MORE), around(47, 3), later(97)];
    let frames: Vec<_> = packets.iter().map(|packet| (0, frame(101, packet))).collect();
    let contents = contents(pcap(Order::Little, false, 101, &frames));
    assert_eq!(contents.seen, [4, 41, 47, 47, 47, 97].map(|protocol| Some(Seen::Carrier(protocol))));
    assert_eq!((carrier_name(47), carrier_name(1)), (Some("GRE"), None));
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
        // Authenticated: the header is in the first.
        v4([3; 4], [4; 4], 51, (11, MORE), &[&[17, 4, 0, 0][..], &[1; 20], &udp(7, 8)].concat()),
        v4([3; 4], [4; 4], 51, (11, MORE | 4), &[0xff; 8]),
        v4([3; 4], [4; 4], 51, (11, 5), &[0; 8]),
    ];
    let frames: Vec<_> = packets.iter().map(|packet| (0, frame(101, packet))).collect();
    let contents = contents(pcap(Order::Little, false, 101, &frames));
    assert_eq!((contents.packets(), contents.flows().len()), (8, 3));
    assert_eq!(contents.count(Seen::LostFragment), 2);
}

#[test]
fn what_has_no_flow() {
    let mut arp = vec![2; 12];
    arp.extend([8, 6, 0, 1]);
    let frames = [
        arp,
        frame(1, &v4([1; 4], [2; 4], 1, (0, 0), &[8, 0, 0, 0])),
        frame(1, &v4([1; 4], [2; 4], 6, (0, 0), &[0; 3])),
        vec![2; 5],
    ];
    let frames: Vec<_> = frames.into_iter().map(|frame| (0, frame)).collect();
    let ethernet = contents(pcap(Order::Little, false, 1, &frames));
    assert_eq!(ethernet.seen, [None, Some(Seen::OtherProtocol), Some(Seen::Broken), None]);
    let unknown = contents(pcap(Order::Little, false, 147, &frames));
    assert_eq!(unknown.seen, [None; 4]);
}

/// The format of Alexey Kuznetsov's tcpdump, in both byte orders: more lies before each packet.
#[test]
fn modified() {
    let modified = |order: Order, frames: &[Timed]| {
        let usual = pcap(order, false, 1, frames);
        let (head, mut records) = usual.split_at(24);
        let mut file = [&order.u32(0xa1b2_cd34)[..], &head[4..]].concat();
        for (_, frame) in frames {
            let (record, rest) = records.split_at(16 + frame.len());
            file.extend([&record[..16], &order.u32(2), &order.u16(8), &[0; 2], frame].concat());
            records = rest;
        }
        file
    };
    for order in [Order::Big, Order::Little] {
        let file = modified(order, &conversation(1));
        expect_conversation(&contents(file.clone()));
        assert_eq!(contents([file.clone(), file.clone()].concat()).packets(), 18);
        let cut_off = contents(file[..file.len() - 1].to_vec());
        assert_eq!((cut_off.packets(), cut_off.fault.is_some()), (8, true));
        assert!(read(Cursor::new(file[..20].to_vec())).err().unwrap().cause.contains("file's header"));
    }
    // A packet of the second that is the magic number in the other order, and that goes on like a header.
    for (order, fraction) in [(Order::Big, 0x0200_0000), (Order::Little, 0x0200)] {
        let time = 0x34cd_b2a1 * 1_000_000_000 + fraction;
        let packet = frame(101, &v4([1; 4], [2; 4], 17, (0, 0), &udp(1, 2)));
        let read = contents(pcap(order, true, 101, &[(time, packet.clone()), (time, packet)]));
        assert_eq!((read.packets(), read.times, read.fault), (2, vec![time; 2], None));
    }
}

#[test]
fn what_is_no_capture() {
    let cut_off = "it ends within the file's header";
    for (octets, why) in [
        (&b""[..], "it is empty"),
        (b"x", "it is neither pcap nor pcapng"),
        (b"hi\n", "it is neither pcap nor pcapng"),
        (b"once upon a time there was a packet", "it is neither pcap nor pcapng"),
        (&[0xa1, 0xb2], cut_off),
        (&[0xa1, 0xb2, 0xc3, 0xd4, 0], cut_off),
        (&[0x4d, 0x3c, 0xb2, 0xa1, 0, 2, 0], cut_off),
        (&[0x0a, 0x0d, 0x0d], cut_off),
    ] {
        let fault = read(octets).err().unwrap();
        assert!(fault.cause.starts_with(why), "{octets:?}: {fault}");
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
            let found = contents(file[..length].to_vec());
            let (mut at, mut whole) = (header, 0);
            for (_, frame) in &frames {
                let padded = if around == 32 { frame.len().next_multiple_of(4) } else { frame.len() };
                if at + around + padded > length {
                    break;
                }
                at += around + padded;
                whole += 1;
            }
            assert_eq!(found.times.len() as u64, whole, "{length}");
            let told = found.fault.map(|fault| (fault.offset, fault.frames));
            assert_eq!(told, (at != length).then_some((at as u64, whole)), "{length}");
        }
    }
}

#[test]
fn damage_is_told() {
    let frames = conversation(1);
    let cause = |file: Vec<u8>| contents(file).fault.unwrap().to_string();
    let mut huge = pcap(Order::Little, false, 1, &frames);
    huge[24 + 8..24 + 12].fill(0xff);
    assert!(
        cause(huge).contains(
            "at octet 24 of the capture, after 0 frames: a record claims to have 4294967295 octets"
        )
    );
    let cut = pcap(Order::Little, false, 1, &frames[..2]);
    let end = 24 + 16 + frames[0].1.len();
    for (length, text) in [(4, "at least 16"), (20, "70")] {
        let told = format!(
            "after 1 frame: it is truncated: the last record should have {text} octets with its header, and has {length}"
        );
        assert!(cause(cut[..end + length].to_vec()).contains(&told));
    }
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

/// Records that are none, in the midst of others.
#[test]
fn damage_within_records_is_found_where_it_is() {
    let start = 1_700_000_000_000_000_000;
    let frames: Vec<Timed> = (0..2_000)
        .map(|n| (start + n * 1_000_000, frame(1, &v4([1; 4], [2; 4], 17, (0, 0), &udp(1, 2)))))
        .collect();
    let size = 16 + frames[0].1.len();
    for (order, nanoseconds) in [(Order::Little, false), (Order::Big, true)] {
        let good = pcap(order, nanoseconds, 1, &frames);
        let at = 24 + 1_000 * size;
        let with = |place: usize, word: u32| {
            let mut file = good.clone();
            file[at + place..at + place + 4].copy_from_slice(&order.u32(word));
            let found = contents(file);
            (found.times.len(), found.fault.map(|fault| (fault.offset as usize, fault.cause)))
        };
        let length = frames[0].1.len() as u32;
        // More octets than were sent; fewer are found out by what follows; and more than any record has.
        let (more, beyond) =
            (length + 4, format!("a record claims to have {} octets of {length}, and the next", length + 4));
        let (seen, fault) = with(8, more);
        assert!(
            seen == 1_000 && fault.is_some_and(|(offset, cause)| offset == at && cause.starts_with(&beyond))
        );
        let (seen, fault) = with(8, length - 4);
        assert!(seen < 2_000 && fault.is_some(), "{seen}, {fault:?}");
        assert_eq!(with(8, 300_000), (1_000, Some((at, "a record claims to have 300000 octets".to_owned()))));
        // Parts of a second that are more than one: others do well, so this is only what its writer meant.
        assert_eq!(with(4, u32::MAX), (2_000, None));
        assert_eq!(with(12, 3), (2_000, None));
        // What was never written.
        let zeros = contents([good.clone(), vec![0; 4096]].concat());
        assert_eq!(zeros.times.len(), 2_000);
        assert_eq!(
            zeros.fault.map(|fault| (fault.offset as usize, fault.cause)),
            Some((good.len(), "there are zeros in place of records".to_owned()))
        );
    }
}

/// Damage is damage wherever what is read at once, a mebibyte, ends: behind it, before it, or in the midst of it.
#[test]
fn damage_is_found_wherever_a_buffer_ends() {
    const BUFFER: usize = 1 << 20;
    let (order, time) = (Order::Little, 1_700_000_000_000_000_000);
    let packet = (time, frame(1, &v4([1; 4], [2; 4], 17, (0, 0), &udp(1, 2))));
    let size = 16 + packet.1.len();
    for before in [0, 16, 40, 70, 160, 250, 400] {
        let whole = (BUFFER - before - 24) / size - 1;
        let rest = BUFFER - before - 24 - whole * size - 16;
        let mut frames = vec![packet.clone(); whole];
        frames.push((time, vec![2; rest]));
        let good = pcap(order, false, 1, &frames);
        assert_eq!(good.len(), BUFFER - before);
        let told = |what: &str, octets: Vec<u8>| {
            let found = contents([good.clone(), octets].concat());
            let place = found.fault.map(|fault| (fault.offset as usize, fault.cause.starts_with(what)));
            assert_eq!(
                (found.times.len(), place),
                (frames.len(), Some((good.len(), true))),
                "{what}: {before}"
            );
        };
        told("there are zeros", vec![0; 4096]);
        let mut longer = pcap(order, false, 1, &vec![packet.clone(); 10])[24..].to_vec();
        longer[8] += 4;
        told("a record claims to have", longer);
    }
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
    let found = read(Failing(Cursor::new(file))).unwrap();
    assert_eq!(found.times.len(), 9);
    assert!(found.fault.unwrap().cause.contains("on fire"));
}

/// Has an octet or two at a time, and is interrupted before each.
struct Interrupted(Cursor<Vec<u8>>, bool);

impl Read for Interrupted {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.1 = !self.1;
        if self.1 {
            return Err(std::io::ErrorKind::Interrupted.into());
        }
        let some = buffer.len().min(2);
        self.0.read(&mut buffer[..some])
    }
}

#[test]
fn interruptions_are_no_end() {
    let plain = pcap(Order::Little, false, 1, &conversation(1));
    let interrupted = |octets| read(Interrupted(Cursor::new(octets), false)).unwrap();
    expect_conversation(&interrupted(plain.clone()));
    for (name, compress) in compress::ALL {
        let found = interrupted(compress(&plain));
        assert_eq!((found.times.len(), &found.fault), (9, &None), "{name}");
        expect_conversation(&found);
    }
}

/// Has some octets, and then says that it waits for more.
struct Waiting(Cursor<Vec<u8>>, Sender<()>);

impl Read for Waiting {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self.0.read(buffer)? {
            0 => loop {
                let _ = self.1.send(());
                std::thread::park();
            },
            count => Ok(count),
        }
    }
}

/// What came before is there, whatever the source has already begun to wait for.
#[test]
fn a_reading_that_is_ended() {
    let file = pcap(Order::Little, false, 1, &conversation(1));
    let length = file.len() as u64;
    let (waits, waiting) = channel();
    let source = Source::new(Waiting(Cursor::new(file), waits)).unwrap();
    let stopper = source.stopper();
    waiting.recv().unwrap();
    stopper.stop();
    let mut frames = 0;
    let fault = Capture::open(source).unwrap().read(|_| frames += 1).unwrap_err();
    assert_eq!(
        (frames, fault.frames, fault.offset, &fault.cause[..]),
        (9, 9, length, "its reading was ended")
    );
}
