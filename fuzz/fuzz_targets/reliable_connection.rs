//! One end of a reliable connection, and a peer who sends any frames at any times. Everything posted comes back, once;
//! timeouts make progress; and what is sent are frames.
//!
//! An input is a list of datagrams, each after two octets of length and one of time. The route and the sum are made right.
#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use throughline_vi::reliable::{
    Config, Connection, Ecn, Event, Lengthen, Level, Longer,
    frame::{Datagram, Opening, Route},
};

const ID: u64 = 0x0102_0304_0506_0708;

fuzz_target!(|octets: &[u8]| {
    let mut input = octets;
    let mut end = Connection::<Vec<u8>, Vec<u8>>::accept(
        &Config { max_frame: 9_000, ..Config::internet() },
        Route { connection: ID, from_opener: true },
        &Opening { level: Level::Delivery, name: b"" },
        u64::from(octets.len() as u8 & 1) << 40,
        Duration::ZERO,
    );
    if octets.len() & 2 != 0 {
        end.lengthen_by(lengthen());
    }
    for length in [0, 10, 5_000, 100_000] {
        end.post_send(vec![1; length], Some(3)).unwrap();
        end.post_receive(vec![0; 100]).unwrap();
    }
    let (mut now, mut returned, mut buffer) = (Duration::ZERO, 0, vec![0; 9_000]);
    while let Some((&[low, high, time], rest)) = input.split_first_chunk() {
        let length = usize::from(u16::from_le_bytes([low, high]) % 2_000).min(rest.len());
        let (frame, rest) = rest.split_at(length);
        input = rest;
        now += Duration::from_micros(u64::from(time).pow(2));
        handle(&mut end, now, frame);
        end.handle_timeout(now);
        returned += events(&mut end);
        let mut sent = 0;
        while let Some(transmit) = end.transmit(now, &mut buffer) {
            Datagram::parse(&buffer[..transmit.length]).expect("a frame");
            sent += 1;
        }
        assert!(sent < 1_000);
        assert!(end.timeout().is_none_or(|at| at > now));
    }
    end.close();
    returned += events(&mut end);
    assert_eq!(returned, 9);
});

/// Each buffer once, up to 10,000 octets, for the next message or for one of several that are shorter together.
fn lengthen() -> Lengthen<Vec<u8>> {
    Box::new(|buffer, Longer { octets, untaken, next }| {
        assert_eq!(buffer.len(), 100, "not twice");
        assert!(octets > buffer.len() && untaken <= 20_000);
        if octets > 10_000 {
            return true;
        }
        let found = next || untaken + octets <= 10_000;
        if found {
            buffer.resize(octets, 0);
        }
        found
    })
}

fn handle(end: &mut Connection<Vec<u8>, Vec<u8>>, now: Duration, frame: &[u8]) {
    if frame.len() < 16 {
        return;
    }
    let mut frame = frame.to_vec();
    frame[..2].copy_from_slice(&[0x56, 1]);
    frame[2] |= 1;
    frame[8..16].copy_from_slice(&ID.to_le_bytes());
    let first = u32::from_le_bytes([frame[0], frame[1], frame[2], frame[3]]);
    let sum = crc32c::crc32c_append(first, &frame[8..]);
    frame[4..8].copy_from_slice(&sum.to_le_bytes());
    if let Ok(datagram) = Datagram::parse(&frame) {
        end.handle(now, Ecn::Marked, &datagram, frame.len());
    }
}

fn events(end: &mut Connection<Vec<u8>, Vec<u8>>) -> usize {
    let counted = |event| usize::from(!matches!(event, Event::Connected));
    std::iter::from_fn(|| end.event()).map(counted).sum()
}
