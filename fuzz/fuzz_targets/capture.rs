//! A capture, from its file format to the flows: it is read to its end or to a fault, the same however its octets come.
#![no_main]

use std::io::{Cursor, Read};

use libfuzzer_sys::fuzz_target;
use throughline_capture::{Capture, Compression, Fault, Fragments, Payload, Seen, Source, look, payload};

/// Hands out a few octets at a time.
struct Dripping(Cursor<Vec<u8>>, usize);

impl Read for Dripping {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = buffer.len().min(self.1);
        self.0.read(&mut buffer[..count])
    }
}

/// All frames' times, what was seen in them, and whether there was a fault.
type Outcome = (Vec<(u64, Option<Seen>)>, Option<Fault>);

fn read(octets: &[u8], step: usize) -> Option<Outcome> {
    let source = Source::new(Dripping(Cursor::new(octets.to_vec()), step)).expect("memory can be read");
    let capture = Capture::open(source).ok()?;
    let (mut fragments, mut seen) = (Fragments::default(), Vec::new());
    let end = capture.read(|frame| {
        let found = match payload(&frame) {
            Payload::Ip(packet) => Some(look(packet, &mut fragments)),
            Payload::Other | Payload::UnknownLink => None,
        };
        seen.push((frame.time, found));
    });
    Some((seen, end.err()))
}

fuzz_target!(|octets: &[u8]| {
    let step = octets.last().map_or(1, |last| usize::from(*last).max(1));
    let compressed = Source::new(Cursor::new(octets.to_vec())).expect("memory can be read").compression();
    let (whole, dripping) = (read(octets, usize::MAX), read(octets, step));
    if compressed == Compression::None {
        return assert_eq!(whole, dripping);
    }
    // How much comes out before damaged data is found out depends on how much of it goes in at once.
    let frames =
        |outcome: Option<Outcome>| outcome.map_or((vec![], true), |(seen, fault)| (seen, fault.is_some()));
    let ((whole, fault), (dripping, same)) = (frames(whole), frames(dripping));
    let common = whole.len().min(dripping.len());
    assert_eq!((&whole[..common], fault), (&dripping[..common], same));
    assert!(fault || whole.len() == dripping.len());
});
