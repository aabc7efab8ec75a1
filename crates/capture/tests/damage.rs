//! Damaged compressed captures are read up to the damage, which is told; nothing breaks down.

mod captures;
mod compress;

use std::io::Cursor;

use captures::*;
use compress::{ALL, Compress};
use throughline_capture::{Capture, Fault, Source};

/// Times of the frames that could be read, and the fault.
type Outcome = (Vec<u64>, Option<Fault>);

/// None if it is not even the beginning of a capture.
fn read(octets: Vec<u8>) -> Option<Outcome> {
    let capture = Capture::open(Source::new(Cursor::new(octets)).unwrap()).ok()?;
    let mut times = Vec::new();
    let end = capture.read(|frame| times.push(frame.time));
    Some((times, end.err()))
}

/// What programmers see of an error is not what people are told.
fn is_plain(fault: &Fault) -> bool {
    !["broken down", "Error", "whole buffer", "{", "\n"].iter().any(|part| fault.cause.contains(part))
}

/// Packets of 164 octets with their records: several blocks of any compression.
const PACKETS: u64 = 1000;

/// Packets that no compressor makes much smaller.
fn noise(packets: u64) -> Vec<u8> {
    let mut state = 1_u64;
    let mut octet = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    let mut frame = || v4([1; 4], [2; 4], 17, (0, 0), &std::array::from_fn::<u8, 120, _>(|_| octet()));
    let frames: Vec<Timed> = (0..packets).map(|n| (n * 1_000_000, frame())).collect();
    pcap(Order::Little, false, 101, &frames)
}

fn compressed(compress: Compress) -> (Vec<u8>, Vec<u64>) {
    let plain = noise(PACKETS);
    let whole = compress(&plain);
    let (times, fault) = read(whole.clone()).unwrap();
    assert_eq!((times.len() as u64, fault), (PACKETS, None));
    (whole, times)
}

#[test]
fn cut_off_at_many_places() {
    for (name, compress) in ALL {
        let (whole, times) = compressed(compress);
        let (few, end) = (16, whole.len() - 16);
        let places = (0..few).chain((few..end).step_by(11_989)).chain(end..whole.len());
        let mut most = 0;
        for length in places {
            let Some((seen, fault)) = read(whole[..length].to_vec()) else { continue };
            let fault = fault.unwrap_or_else(|| panic!("{name}, {length}: no fault"));
            assert!(fault.cause.contains(&format!("the {name} data cannot be decompressed")), "{fault}");
            assert!(is_plain(&fault), "{name}, {length}: {fault}");
            assert_eq!((fault.frames, &seen[..]), (seen.len() as u64, &times[..seen.len()]), "{name}");
            // Where the next header is cut off, the 4 KiB before it are lost, of 164 octets a record.
            assert!(seen.len() + 25 >= most, "{name}, {length}: {} < {most}", seen.len());
            most = most.max(seen.len());
        }
        // No more than a block of 128 KiB is lost before the damage.
        assert!(most > 700, "{name}: {most}");
    }
}

/// A bit that is wrong is found out by the compression's own checksum, if not before; or it is one of those in a header
/// that mean nothing.
#[test]
fn bits_flipped_at_many_places() {
    for (name, compress) in ALL {
        let (whole, times) = compressed(compress);
        let bits = whole.len() * 8;
        let (few, end) = (96, bits - 96);
        let places = (0..few).chain((few..end).step_by(79_999)).chain(end..bits);
        let (mut opened, mut harmless) = (0, 0);
        for bit in places {
            let mut damaged = whole.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let Some((seen, fault)) = read(damaged) else { continue };
            opened += 1;
            match fault {
                Some(fault) => {
                    assert!(is_plain(&fault), "{name}, bit {bit}: {fault}");
                    assert_eq!(fault.frames, seen.len() as u64, "{name}, bit {bit}");
                }
                None => {
                    assert_eq!(seen, times, "{name}, bit {bit}");
                    harmless += 1;
                }
            }
        }
        assert!(opened > 50 && harmless < opened / 2, "{name}: {harmless} of {opened} harmless");
    }
}

/// All of a small file, octet by octet.
#[test]
fn every_octet_changed() {
    let plain = pcapng(Order::Little, true, 1, &conversation(1));
    let (expected, _) = read(plain.clone()).unwrap();
    for (name, compress) in ALL {
        let whole = compress(&plain);
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1 << (at % 8);
            let Some((seen, fault)) = read(damaged) else { continue };
            match fault {
                Some(fault) => assert!(is_plain(&fault), "{name}, octet {at}: {fault}"),
                None => assert_eq!(seen, expected, "{name}, octet {at}"),
            }
        }
    }
}
