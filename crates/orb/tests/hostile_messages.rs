//! Messages that are cut, oversized, of the wrong version, byte order or kind, or plain noise.
#![allow(missing_docs)]

#[path = "common/raw.rs"]
mod raw;

use std::time::Duration;

use raw::{Asked, ORDERS, Random, Said, Scene, VERSIONS, Wire, cancel, message, number, ping};
use throughline::{Completion, Kind, Version};
use throughline_cdr::ByteOrder;
use throughline_giop::NewTarget;
use throughline_giop::fragment::split_into;
use throughline_giop::header::{HEADER_LEN, MessageHeader, MessageType};
use throughline_giop::locate::write_locate_request;
use throughline_giop::reply::ReplyStatus;
use throughline_giop::request::Response;

/// A minor code of MARSHAL says how the bytes are wrong.
const TRUNCATED: u32 = 0x544c_0101;
const TOO_DEEP: u32 = 0x544c_0108;

fn text(key: &[u8], version: Version, order: ByteOrder, id: u32, text: &str) -> Vec<u8> {
    Asked { version, order, ..Asked::new(key, "text", id) }.bytes(|w| w.write_string(text).unwrap())
}

/// The message with another size in its header.
fn resized(message: &[u8], order: ByteOrder, size: usize) -> Vec<u8> {
    let size = size as u32;
    let size = if order == ByteOrder::Big { size.to_be_bytes() } else { size.to_le_bytes() };
    let mut message = message.to_vec();
    message[8..HEADER_LEN].copy_from_slice(&size);
    message
}

/// Reads what the server says until it closes. Whatever it says is well-formed, or reading it fails.
#[track_caller]
fn read_to_end(wire: &mut Wire) -> usize {
    let mut said = 0;
    loop {
        match wire.next() {
            Said::Closed => return said,
            Said::Reply(_) | Said::Other(..) => said += 1,
        }
    }
}

#[test]
fn requests_cut_anywhere_by_the_end_of_the_stream() {
    let scene = Scene::new();
    for version in VERSIONS {
        for order in ORDERS {
            let whole = text(&scene.key, version, order, 1, "cut me");
            for cut in 0..whole.len() {
                let mut wire = scene.wire();
                wire.send(&whole[..cut]);
                wire.hush();
                wire.expect_closed();
            }
        }
    }
    scene.assert_alive();
}

#[test]
fn requests_cut_anywhere_with_a_header_that_agrees() {
    let scene = Scene::new();
    for version in VERSIONS {
        for order in ORDERS {
            let whole = text(&scene.key, version, order, 1, "cut me");
            let mut refused_after = 0;
            for cut in HEADER_LEN..whole.len() {
                let mut wire = scene.wire();
                wire.send(&resized(&whole[..cut], order, cut - HEADER_LEN));
                match wire.next() {
                    // The header of the request is cut.
                    Said::Other(header, _) => {
                        assert_eq!(header.kind, MessageType::MessageError);
                        wire.expect_closed();
                        refused_after = cut;
                    }
                    // Its arguments are.
                    Said::Reply(answer) => {
                        let (kind, minor, completed) = answer.exception();
                        assert_eq!((kind, completed), (Kind::Marshal, Completion::No));
                        assert!((TRUNCATED..=TRUNCATED + 1).contains(&minor), "{minor:#x}");
                        assert_eq!((answer.id, answer.header.version), (1, version));
                        // The connection lives: where the next message begins is known.
                        wire.send(&text(&scene.key, version, order, 2, "whole"));
                        assert_eq!(wire.reply().unwrap().status, ReplyStatus::NoException);
                    }
                    Said::Closed => panic!("closed without an answer: {version} {order:?} {cut}"),
                }
            }
            assert!(refused_after > HEADER_LEN && refused_after < whole.len() - 1);
        }
    }
    scene.assert_alive();
}

#[test]
fn headers_that_are_none() {
    let scene = Scene::with(|c| c.max_message = 1 << 20);
    let request = ping(&scene.key, 1);
    let body = &request[HEADER_LEN..];
    let size = body.len() as u32;
    let native = ByteOrder::NATIVE.flag();
    let mut wrong: Vec<Vec<u8>> = Vec::new();
    for version in [(2, 0), (1, 3), (0, 9), (0, 0), (255, 255), (1, 255)] {
        wrong.push(message(version, native, 0, size, body));
    }
    for kind in [8, 9, 127, 255] {
        wrong.push(message((1, 2), native, kind, size, body));
    }
    // Fragments do not exist in 1.0; replies do not come from clients.
    wrong.push(message((1, 0), native, 7, size, body));
    for version in [0, 1, 2] {
        wrong.push(message((1, version), native, 1, size, body));
        wrong.push(message((1, version), native, 4, size, body));
    }
    // Control messages do not come in fragments.
    for kind in [2, 5, 6] {
        wrong.push(message((1, 2), native | 2, kind, 4, &[0; 4]));
    }
    for magic in [&b"GIOQ"[..], b"POST", b"\0\0\0\0", b"giop", b"ZIOP"] {
        wrong.push([magic, &request[4..]].concat());
    }
    for announced in [u32::MAX, u32::MAX - 11, 1 << 31, (1 << 20) + 1, (1 << 20) - 11] {
        wrong.push(message((1, 2), native, 0, announced, body));
    }
    // The other byte order makes the size enormous.
    wrong.push(message((1, 2), native ^ 1, 0, size.swap_bytes(), body));
    for (n, bytes) in wrong.iter().enumerate() {
        let mut wire = scene.wire();
        wire.send(bytes);
        match wire.other() {
            Some((header, _)) => assert_eq!(header.kind, MessageType::MessageError, "{n}"),
            None => panic!("{n}: closed without a word"),
        }
        wire.expect_closed();
        scene.probe.ping().unwrap();
    }
    // A client of later versions is told the highest one that is understood (section 9.4.1).
    for version in [(1, 3), (1, 255), (2, 0)] {
        let mut wire = scene.wire();
        wire.send(&message(version, native, 0, size, body));
        assert_eq!(wire.other().unwrap().0.version, Version::V1_2);
    }
    scene.assert_alive();
}

#[test]
fn a_request_in_the_other_byte_order_than_it_says() {
    let scene = Scene::new();
    for order in ORDERS {
        let mut bytes = text(&scene.key, Version::V1_2, order, 1, "wrong way round");
        let size = bytes.len() - HEADER_LEN;
        let other = if order == ByteOrder::Big { ByteOrder::Little } else { ByteOrder::Big };
        bytes[6] = other.flag();
        let mut wire = scene.wire();
        wire.send(&resized(&bytes, other, size));
        wire.expect_message_error();
    }
    scene.assert_alive();
}

#[test]
fn a_client_that_says_goodbye_is_let_go() {
    let scene = Scene::new();
    for bytes in [raw::close_connection(), raw::message_error()] {
        let mut wire = scene.wire();
        wire.send(&[ping(&scene.key, 1), bytes, ping(&scene.key, 2)].concat());
        assert_eq!(wire.reply().unwrap().id, 1);
        wire.expect_closed();
    }
    // Before GIOP 1.2 it is the server's to say. Whoever says it all the same wants to leave, and hears nothing more.
    for version in [(1, 0), (1, 1)] {
        let mut wire = scene.wire();
        wire.send(&message(version, ByteOrder::NATIVE.flag(), 5, 0, &[]));
        wire.expect_closed();
    }
    scene.assert_alive();
}

#[test]
fn cancelled_requests_and_requests_nobody_made() {
    let scene = Scene::new();
    let mut wire = scene.wire();
    wire.send(&[cancel(77), ping(&scene.key, 1), cancel(1), cancel(u32::MAX)].concat());
    assert_eq!(wire.reply().unwrap().id, 1);
    wire.send(&[number(&scene.key, "sleep", 2, 100), cancel(2), ping(&scene.key, 3)].concat());
    let ids = [wire.reply().unwrap().id, wire.reply().unwrap().id];
    assert!(ids == [2, 3] || ids == [3, 2], "{ids:?}");
}

#[test]
fn values_nested_too_deep() {
    let scene = Scene::new();
    let mut wire = scene.wire();
    for (depth, fits) in [(1, true), (60, true), (65, false), (100_000, false)] {
        wire.send(&Asked::new(&scene.key, "nest", 1).bytes(|w| {
            for _ in 1..depth {
                w.write_u32(1);
            }
            w.write_u32(0);
        }));
        let answer = wire.reply().unwrap();
        if fits {
            assert_eq!(answer.reader().read_u32().unwrap(), depth);
        } else {
            assert_eq!(answer.exception(), (Kind::Marshal, TOO_DEEP, Completion::No));
        }
    }
}

#[test]
fn lengths_that_lie() {
    let scene = Scene::new();
    let mut wire = scene.wire();
    for operation in ["text", "take", "nest"] {
        for length in [5, 1 << 16, 1 << 31, u32::MAX] {
            wire.send(&number(&scene.key, operation, 1, length));
            let (kind, minor, completed) = wire.reply().unwrap().exception();
            assert_eq!((kind, completed), (Kind::Marshal, Completion::No), "{operation} {length}");
            assert_eq!(minor >> 8, TRUNCATED >> 8);
        }
    }
    // The same in the header: key, operation, service contexts.
    for at in [HEADER_LEN + 12, HEADER_LEN + 12 + 4 + scene.key.len().next_multiple_of(4)] {
        let mut bytes = ping(&scene.key, 1);
        bytes[at..at + 4].copy_from_slice(&0x7fff_ffff_u32.to_ne_bytes());
        let mut wire = scene.wire();
        wire.send(&bytes);
        wire.expect_message_error();
    }
}

#[test]
fn operations_that_do_not_exist() {
    let scene = Scene::new();
    let mut wire = scene.wire();
    let long = "x".repeat(100_000);
    for version in VERSIONS {
        for operation in ["", "pin", "pingg", "PING", "_get_ping", long.as_str()] {
            wire.send(&Asked { version, ..Asked::new(&scene.key, operation, 1) }.bytes(|_| {}));
            let answer = wire.reply().unwrap();
            assert_eq!(
                answer.exception(),
                (Kind::BadOperation, 0x4f4d_0002, Completion::No),
                "{operation:.9}"
            );
        }
    }
    // A oneway that does not exist is not answered, and harms nobody.
    wire.send(&Asked { response: Response::None, ..Asked::new(&scene.key, "gone", 1) }.bytes(|_| {}));
    wire.send(&ping(&scene.key, 2));
    assert_eq!(wire.reply().unwrap().id, 2);
}

#[test]
fn noise() {
    let scene = Scene::new();
    let mut random = Random(0x1234_5678_9abc_def1);
    for round in 0..600 {
        let mut bytes: Vec<u8> = (0..1 + random.below(600)).map(|_| random.next() as u8).collect();
        if round % 3 == 1 {
            // A proper start, then noise.
            let kind = random.below(8) as u8;
            let announced = bytes.len() as u32;
            bytes = message((1, random.below(3) as u8), random.below(4) as u8, kind, announced, &bytes);
        }
        let mut wire = scene.wire();
        wire.send(&bytes);
        wire.hush();
        read_to_end(&mut wire);
    }
    scene.assert_alive();
}

#[test]
fn mutations_of_proper_messages() {
    let scene = Scene::new();
    let mut seeds = Vec::new();
    for version in VERSIONS {
        for order in ORDERS {
            seeds.push(text(
                &scene.key,
                version,
                order,
                1,
                "a text to be mutated, long enough for some variety",
            ));
            let mut locate = Vec::new();
            write_locate_request(&mut locate, version, order, 1, &NewTarget::Key(&scene.key)).unwrap();
            seeds.push(locate);
            if version > Version::V1_0 {
                let whole = seeds[seeds.len() - 2].clone();
                let mut pieces = Vec::new();
                split_into(&MessageHeader::of(&whole, 1 << 20).unwrap(), &whole, 40, &mut pieces);
                seeds.push(pieces);
            }
        }
    }
    let mut random = Random(0xfeed_beef_0bad_cafe);
    for round in 0..4000 {
        let mut bytes = seeds[round % seeds.len()].clone();
        for _ in 0..1 + random.below(4) {
            let at = random.below(bytes.len());
            match random.below(4) {
                0 => bytes[at] ^= 1 << random.below(8),
                1 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][random.below(5)],
                2 => drop(bytes.remove(at)),
                _ => bytes.insert(at, random.next() as u8),
            }
        }
        let mut wire = scene.wire();
        // What follows may be taken for the rest of it.
        wire.send(&[bytes, ping(&scene.key, 99)].concat());
        wire.hush();
        read_to_end(&mut wire);
        if round % 500 == 0 {
            scene.assert_alive();
        }
    }
    scene.assert_alive();
}

#[test]
fn requests_in_fragments() {
    let scene = Scene::new();
    let mut wire = scene.wire();
    let long = "piecemeal ".repeat(1000);
    for version in [Version::V1_1, Version::V1_2] {
        for order in ORDERS {
            for size in [32, 100, 1000, 100_000] {
                let whole = text(&scene.key, version, order, 5, &long);
                let mut pieces = Vec::new();
                split_into(&MessageHeader::of(&whole, 1 << 20).unwrap(), &whole, size, &mut pieces);
                wire.send(&pieces);
                let answer = wire.reply().unwrap();
                assert_eq!(answer.status, ReplyStatus::NoException, "{version} {order:?} {size}");
            }
        }
    }
}

const MORE: u8 = 2;

fn beginning(id: u32) -> Vec<u8> {
    message((1, 2), ByteOrder::NATIVE.flag() | MORE, 0, 8, &[id.to_ne_bytes(), [0; 4]].concat())
}

fn fragment(id: u32, more: bool, data: &[u8]) -> Vec<u8> {
    let flags = ByteOrder::NATIVE.flag() | if more { MORE } else { 0 };
    message((1, 2), flags, 7, 4 + data.len() as u32, &[&id.to_ne_bytes()[..], data].concat())
}

#[test]
fn fragments_without_end() {
    let scene = Scene::with(|c| c.max_message = 256 * 1024);
    let mut wire = scene.wire();
    wire.send(&beginning(1));
    // 1 MiB: four times what may be kept of one message.
    for _ in 0..1024 {
        wire.send(&fragment(1, true, &[0; 1024]));
    }
    wire.expect_message_error();
    // Several messages that are within the limit each, but not together.
    let mut wire = scene.wire();
    for id in 0..4 {
        wire.send(&beginning(id));
        for _ in 0..200 {
            wire.send(&fragment(id, true, &[0; 1024]));
        }
    }
    wire.expect_message_error();
    // Empty ones cost nothing, and end some time.
    let mut wire = scene.wire();
    let whole = ping(&scene.key, 1);
    let mut first =
        message((1, 2), ByteOrder::NATIVE.flag() | MORE, 0, 8, &whole[HEADER_LEN..HEADER_LEN + 8]);
    for _ in 0..20_000 {
        first.extend(fragment(1, true, &[]));
    }
    first.extend(fragment(1, false, &whole[HEADER_LEN + 8..]));
    wire.send(&first);
    assert_eq!(wire.reply().unwrap().id, 1);
    scene.assert_alive();
}

#[test]
fn fragments_of_too_many_messages_at_a_time() {
    let scene = Scene::new();
    let whole = ping(&scene.key, 0);
    let piece = |id: u32, rest: bool| {
        let mut bytes = whole[HEADER_LEN..].to_vec();
        bytes[..4].copy_from_slice(&id.to_ne_bytes());
        if rest {
            return fragment(id, false, &bytes[16..]);
        }
        message((1, 2), ByteOrder::NATIVE.flag() | MORE, 0, 16, &bytes[..16])
    };
    let mut wire = scene.wire();
    (0..16).for_each(|id| wire.send(&piece(id, false)));
    (0..16).rev().for_each(|id| wire.send(&piece(id, true)));
    for id in (0..16).rev() {
        let answer = wire.reply().unwrap();
        assert_eq!((answer.id, answer.status), (id, ReplyStatus::NoException));
    }
    (0..17).for_each(|id| wire.send(&piece(id, false)));
    wire.expect_message_error();
    scene.assert_alive();
}

#[test]
fn fragments_that_fit_nothing() {
    let scene = Scene::new();
    let little = ByteOrder::Little.flag();
    let other = ByteOrder::NATIVE.flag() ^ 1;
    let cases = [
        fragment(5, false, b"of nothing"),
        [beginning(1), fragment(2, false, b"of another")].concat(),
        // The same request begins twice.
        [beginning(1), beginning(1)].concat(),
        // Another byte order, another version.
        [beginning(1), message((1, 2), other, 7, u32::from_ne_bytes(8_u32.to_ne_bytes()), &[0; 8])].concat(),
        [beginning(1), message((1, 1), little, 7, 8, &[0; 8])].concat(),
        // No room for the id.
        message((1, 2), little, 7, 2, &[0; 2]),
        message((1, 2), little | MORE, 0, 0, &[]),
        // In GIOP 1.1 one at a time.
        [message((1, 1), little | MORE, 0, 4, &[0; 4]), message((1, 1), little | MORE, 0, 4, &[0; 4])]
            .concat(),
        // Put together, it is no request.
        [beginning(1), fragment(1, false, &[0xff; 64])].concat(),
    ];
    for (n, bytes) in cases.iter().enumerate() {
        let mut wire = scene.wire();
        wire.send(bytes);
        let (header, _) = wire.other().unwrap_or_else(|| panic!("{n}: closed without a word"));
        assert_eq!(header.kind, MessageType::MessageError, "{n}");
        wire.expect_closed();
    }
    scene.assert_alive();
}

#[test]
fn a_request_cancelled_in_the_middle() {
    let scene = Scene::new();
    let mut wire = scene.wire();
    for _ in 0..100 {
        // More than the limit of messages in the making, if cancelling did not end them.
        wire.send(&[beginning(1), fragment(1, true, &[0; 100]), cancel(1)].concat());
    }
    wire.send(&ping(&scene.key, 1));
    assert_eq!(wire.reply().unwrap().id, 1);
}

#[test]
fn a_stream_in_crumbs() {
    let scene = Scene::new();
    let mut wire = scene.wire();
    let whole = text(&scene.key, Version::V1_2, ByteOrder::NATIVE, 1, "crumbs");
    for byte in &whole {
        wire.send(&[*byte]);
    }
    assert_eq!(wire.reply().unwrap().status, ReplyStatus::NoException);
    // Two messages, cut in two at every place.
    let both = [whole.clone(), ping(&scene.key, 2)].concat();
    for cut in 1..both.len() {
        wire.send(&both[..cut]);
        std::thread::sleep(Duration::from_millis(1));
        wire.send(&both[cut..]);
        assert_eq!(wire.reply().unwrap().id, 1);
        assert_eq!(wire.reply().unwrap().id, 2);
    }
}

#[test]
fn many_requests_in_one_segment() {
    let scene = Scene::new();
    let mut wire = scene.wire();
    let all: Vec<u8> = (0..5000).flat_map(|id| ping(&scene.key, id)).collect();
    let mut reading = Wire::of(wire.0.try_clone().unwrap());
    let start = std::time::Instant::now();
    let sends = std::thread::spawn(move || wire.send(&all));
    let mut answered: Vec<u32> = (0..5000).map(|_| reading.reply().unwrap().id).collect();
    // In their order, as far as the machine lets it: a servant that is interrupted for a whole tick of 10 ms loses the
    // connection to another thread, and its own answer comes late. That is one answer for each tick that passed.
    let ticks = start.elapsed().as_millis() / 10;
    let mut latest = 0;
    let mut overtaken = |id: &&u32| {
        latest = latest.max(**id);
        latest > **id
    };
    let late = answered.iter().filter(&mut overtaken).count();
    assert!(late as u128 <= ticks, "{late} answers overtaken in {ticks} ticks");
    answered.sort_unstable();
    assert!(answered.into_iter().eq(0..5000));
    sends.join().unwrap();
}

#[test]
fn bad_neighbours_do_not_disturb() {
    let scene = Scene::new();
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|s| {
        for n in 0..3 {
            let (scene, stop) = (&scene, &stop);
            s.spawn(move || {
                let mut random = Random(n + 1);
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    let mut wire = scene.wire();
                    let noise: Vec<u8> = (0..random.below(300)).map(|_| random.next() as u8).collect();
                    wire.send(&message((1, 2), 1, 0, random.below(1000) as u32, &noise));
                }
            });
        }
        for n in 0..2000 {
            assert_eq!(scene.probe.text(&n.to_string()).unwrap(), n.to_string());
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    raw::eventually("the bad ones are gone", || scene.server.connection_count() <= 1);
}
