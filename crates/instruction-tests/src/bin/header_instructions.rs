//! Headers written and read in a loop, to be counted by callgrind: `header_instructions WHAT ITERATIONS`.
//!
//! `tests/headers.rs` runs it at two lengths and takes the difference, which leaves what one iteration costs; that
//! of the loop itself (`nothing`) is then subtracted.

use std::hint::black_box;

use throughline_wire::{Flow, Header, Kind, Message, RegionKind, RegionList};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_default();
    let iterations = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(1_000);
    let request = Header {
        flow: Flow { id: 1, source_hash: 2 },
        nonce: 3,
        slot: 4,
        check: 5,
        ..Header::new(Kind::Request)
    };
    match what.as_str() {
        "nothing" => (0..iterations).for_each(|n| _ = black_box(n)),
        "write-request" => write(iterations, &request, |known, sequence| Header {
            flow: known.flow,
            sequence,
            nonce: known.nonce,
            slot: known.slot,
            check: known.check,
            operation: 3,
            ..Header::new(Kind::Request)
        }),
        "write-reply" => {
            write(iterations, &request, |known, sequence| Header { sequence, ..known.answer(Kind::Reply) });
        }
        "read-request" => read(iterations, &request, &RegionList::new(), |message| {
            let header = &message.header;
            black_box((header.flow.id, header.flow.source_hash, header.slot, header.nonce));
            black_box((header.sequence, header.operation, header.check));
        }),
        "read-reply" => {
            let reply = request.answer(Kind::Reply);
            read(iterations, &reply, &RegionList::new(), |message| {
                black_box((message.header.flow.source_hash, message.header.sequence));
            });
        }
        "read-region" => {
            let mut list = RegionList::new();
            list.push(RegionKind::Payload, 0, 0, 8).expect("one");
            read(iterations, &request, &list, |message| {
                black_box(message.regions.find(RegionKind::Payload));
            });
        }
        _ => {
            eprintln!(
                "usage: header_instructions (nothing|write-request|write-reply|read-request|read-reply|read-region) ITERATIONS"
            );
            std::process::exit(2);
        }
    }
}

/// Writes a header of which all but the sequence number is known before: a stub knows kind and operation when it is
/// compiled, and its proxy keeps the rest.
#[inline(always)]
fn write(iterations: u32, known: &Header, header: impl Fn(&Header, u32) -> Header) {
    let mut buffer = [0; 64];
    for n in 0..iterations {
        let header = header(black_box(known), black_box(n));
        let body = header.write(black_box(&mut buffer[..])).expect("room");
        black_box(body.len());
    }
}

/// Reads a message of 64 bytes, and gives what the receiver is after to `keep`.
#[inline(always)]
fn read(iterations: u32, header: &Header, regions: &RegionList, keep: impl Fn(&Message<'_>)) {
    let mut buffer = [0; 64];
    header.write_with(regions, &mut buffer).expect("room");
    for n in 0..iterations {
        black_box(n);
        let message = Message::read(black_box(&buffer[..])).expect("well-formed");
        assert!(message.header.kind == header.kind);
        keep(&message);
        black_box(message.body.len());
    }
}
