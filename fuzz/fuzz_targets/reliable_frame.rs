//! A datagram: what is read can be written and is then read the same. The sum is made right first, since hardly any input
//! would get past it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use throughline_vi::reliable::frame::{Datagram, Frame, FrameWriter, Lone, RESET, SegmentHeader};

fuzz_target!(|octets: &[u8]| {
    let _ = Datagram::parse(octets);
    let mut octets = octets.to_vec();
    if octets.len() < 8 {
        return;
    }
    let first = u32::from_le_bytes([octets[0], octets[1], octets[2], octets[3]]);
    let sum = crc32c::crc32c_append(first, &octets[8..]);
    octets[4..8].copy_from_slice(&sum.to_le_bytes());
    if let Some(lone) = Lone::parse(&octets) {
        check(&lone, &octets);
    }
    match Datagram::parse(&octets) {
        Ok(Datagram::Frame(frame)) => write_again(&frame, octets.len()),
        Ok(Datagram::Reset(reset)) => {
            let mut again = [0; RESET];
            assert_eq!(reset.write(&mut again), octets.len());
            assert_eq!(again, octets[..]);
        }
        Ok(Datagram::Retry(retry)) => {
            let mut again = [0; RESET];
            assert_eq!(retry.write(&mut again), octets.len());
            assert_eq!(again, octets[..]);
        }
        Err(_) => {}
    }
});

/// The short way reads and writes what the general one does.
fn check(lone: &Lone<'_>, octets: &[u8]) {
    let Ok(Datagram::Frame(frame)) = Datagram::parse(octets) else { panic!("not read the other way") };
    let mut segments = frame.segments();
    let segment = segments.next().expect("a message");
    assert_eq!((lone.header, lone.message, lone.octets), (frame.header, segment.message, segment.octets));
    assert_eq!((segment.offset, segment.total as usize, segment.immediate), (0, lone.octets.len(), None));
    assert_eq!(
        frame.acknowledgement.map(|it| (it.header, it.is_whole())),
        Some((lone.acknowledgement, true))
    );
    assert!(segments.next().is_none() && frame.opening.is_none());
    assert!(!frame.at_once && !frame.unreliable && !frame.refused);
    let mut again = [0; Lone::MOST];
    let length = lone.write(&mut again);
    assert_eq!(&again[..length], octets);
}

fn write_again(frame: &Frame<'_>, length: usize) {
    // A cut range may be written with the ranges after it left out, but never needs more room.
    let mut buffer = vec![0; length];
    let mut writer = FrameWriter::new(&mut buffer, &frame.header);
    if frame.unreliable {
        writer.unreliable();
    }
    if let Some(acknowledgement) = frame.acknowledgement {
        assert!(acknowledgement.ranges().all(|range| range.start < range.end));
        writer.acknowledge(&acknowledgement.header, acknowledgement.ranges());
    }
    if let Some(opening) = frame.opening {
        writer.open(&opening);
    }
    frame.cookie.into_iter().for_each(|cookie| writer.cookie(cookie));
    if frame.at_once {
        writer.at_once();
    }
    if frame.refused {
        writer.refused();
    }
    for segment in frame.segments() {
        assert!(segment.offset as usize + segment.octets.len() <= segment.total as usize);
        let header = SegmentHeader {
            message: segment.message,
            offset: segment.offset,
            total: segment.total,
            immediate: segment.immediate,
        };
        writer.segment(&header, segment.octets.len(), |into| into.copy_from_slice(segment.octets));
    }
    let length = writer.finish();
    let Ok(Datagram::Frame(again)) = Datagram::parse(&buffer[..length]) else { panic!("not read again") };
    assert_eq!((again.header, again.opening), (frame.header, frame.opening));
    assert_eq!((again.cookie, again.at_once), (frame.cookie, frame.at_once));
    assert_eq!((again.unreliable, again.refused), (frame.unreliable, frame.refused));
    assert!(again.segments().eq(frame.segments()));
    let ranges = |frame: &Frame<'_>| frame.acknowledgement.map(|ack| ack.ranges().collect::<Vec<_>>());
    assert_eq!(ranges(&again), ranges(frame));
}
