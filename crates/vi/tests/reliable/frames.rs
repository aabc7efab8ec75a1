//! Frames: what is written is read again, and nothing else is.

use proptest::{collection::vec, option, prelude::*};
use throughline_vi::reliable::{
    Level, MAX_MESSAGE, MAX_NAME, MAX_SHORT, RangeSet, Reason,
    frame::{
        AckHeader, Datagram, FrameError, FrameWriter, Header, Lone, MAX_NUMBER, MAX_RANGES, Opening, RESET,
        Reset, Retry, Route, SegmentHeader,
    },
};

type SegmentParts = (SegmentHeader, Vec<u8>);

fn header() -> impl Strategy<Value = Header> {
    let numbers = (0..MAX_NUMBER, any::<u32>(), any::<u32>(), any::<u16>(), any::<u16>());
    (any::<u64>(), any::<bool>(), numbers).prop_map(|(connection, from_opener, numbers)| Header {
        route: Route { connection, from_opener },
        elicits: true,
        number: numbers.0,
        credit: numbers.1,
        completed: numbers.2,
        floor: numbers.3,
        promise: numbers.4,
    })
}

fn segment() -> impl Strategy<Value = SegmentParts> {
    let place = (any::<u32>(), 0..MAX_MESSAGE as u32 - 2_000, 0..1_000u32, option::of(any::<u32>()));
    (place, vec(any::<u8>(), 1..1_000)).prop_map(|((message, offset, more, immediate), octets)| {
        let total = offset + octets.len() as u32 + more;
        (SegmentHeader { message, offset, total, immediate }, octets)
    })
}

/// Ranges with gaps, the latest first.
fn ranges() -> impl Strategy<Value = Vec<std::ops::Range<u64>>> {
    vec((1u64..300, 1u64..300), 1..60).prop_map(|lengths| {
        let mut set = RangeSet::default();
        let mut at = 1_000_000;
        for (gap, length) in lengths {
            at += gap;
            set.insert(at..at + length, usize::MAX).unwrap();
            at += length;
        }
        set.iter().rev().collect()
    })
}

/// What the general way reads in a frame with one short message, as the short way does.
fn lone<'a>(datagram: &Datagram<'a>) -> Option<Lone<'a>> {
    let Datagram::Frame(frame) = datagram else { return None };
    let acknowledgement = frame.acknowledgement.filter(|ack| ack.is_whole())?.header;
    let mut segments = frame.segments();
    let segment = segments.next().filter(|segment| segment.octets.len() == segment.total as usize)?;
    let alone = segments.next().is_none() && segment.immediate.is_none() && frame.opening.is_none();
    let usual = frame.header.elicits && !(frame.unreliable || frame.at_once || frame.refused);
    let short = alone && usual && segment.octets.len() <= MAX_SHORT;
    let lone =
        Lone { header: frame.header, acknowledgement, message: segment.message, octets: segment.octets };
    short.then_some(lone)
}

/// Makes the sum right.
fn sum_up(datagram: &mut [u8]) {
    let first = u32::from_le_bytes(datagram[..4].try_into().unwrap());
    let sum = crc32c::crc32c_append(first, &datagram[8..]);
    datagram[4..8].copy_from_slice(&sum.to_le_bytes());
}

/// With a sum that is right, both ways read the same in a datagram, or the short way nothing.
fn is_read_alike(datagram: &mut [u8]) -> Result<(), TestCaseError> {
    sum_up(datagram);
    if let Some(read) = Lone::parse(datagram) {
        prop_assert_eq!(lone(&Datagram::parse(datagram).unwrap()), Some(read));
    } else if let Ok(general) = Datagram::parse(datagram) {
        // Padding is the only thing that it does not know.
        let whole = |frame: &Lone<'_>| Lone::MOST - MAX_SHORT + frame.octets.len();
        prop_assert!(lone(&general).is_none_or(|frame| datagram.len() > whole(&frame)));
    }
    Ok(())
}

proptest! {
    #[test]
    fn lone_messages_are_the_same_by_both_ways(
        header in header(),
        ack in (0..MAX_NUMBER, any::<u32>(), 0u32..1 << 31, any::<bool>(), 1u16..),
        message in any::<u32>(),
        octets in vec(any::<u8>(), 0..=MAX_SHORT),
        changes in vec((0usize..Lone::MOST, any::<u8>()), 0..4),
    ) {
        let (largest, delay, marked, ecn, first) = ack;
        let largest = largest.max(first.into());
        let acknowledgement = AckHeader { largest, delay, marked, ecn, first };
        let lone_frame = Lone { header, acknowledgement, message, octets: &octets };
        let (mut short, mut general) = ([0; Lone::MOST], [0; 2 * Lone::MOST]);
        let length = lone_frame.write(&mut short);
        let mut writer = FrameWriter::new(&mut general, &header);
        writer.acknowledge(&acknowledgement, std::iter::once(largest + 1 - u64::from(first)..largest + 1));
        let segment = SegmentHeader { message, offset: 0, total: octets.len() as u32, immediate: None };
        writer.segment(&segment, octets.len(), |into| into.copy_from_slice(&octets));
        let general_length = writer.finish();
        prop_assert_eq!(&short[..length], &general[..general_length]);
        prop_assert_eq!(Lone::parse(&short[..length]), Some(lone_frame));
        // Whatever else it is made into, with a sum that is right, is read alike or not at all: with any other flags, too.
        for flag in 0..16 {
            let mut other = short;
            other[2 + flag / 8] ^= 1 << (flag % 8);
            is_read_alike(&mut other[..length])?;
        }
        changes.iter().for_each(|(at, octet)| short[*at % length] ^= octet);
        let damaged = &mut short[..length];
        prop_assert!(Lone::parse(damaged).is_none() || Datagram::parse(damaged).is_ok());
        is_read_alike(damaged)?;
    }

    #[test]
    fn frames_come_back(
        header in header(),
        ranges in option::of(ranges()),
        delay in any::<u32>(),
        marked in 0u32..1 << 31,
        ecn in any::<bool>(),
        name in option::of(vec(any::<u8>(), 0..=MAX_NAME)),
        segments in vec(segment(), 0..8),
        padding in 0usize..100,
        [at_once, refused] in any::<[bool; 2]>(),
        cookie in any::<u64>(),
    ) {
        let mut header = header;
        header.route.from_opener |= name.is_some();
        let mut buffer = vec![0xaa; 16_384];
        let mut writer = FrameWriter::new(&mut buffer, &header);
        let largest = ranges.as_ref().map_or(0, |ranges| ranges[0].end - 1);
        if let Some(ranges) = &ranges {
            let header = AckHeader { largest, delay, marked, ecn, first: 0 };
            writer.acknowledge(&header, ranges.iter().cloned());
        }
        if let Some(name) = &name {
            writer.open(&Opening { level: Level::Reception, name });
            writer.cookie(cookie);
        }
        for (header, octets) in &segments {
            prop_assert!(writer.segment_room(header.immediate) >= octets.len());
            writer.segment(header, octets.len(), |into| into.copy_from_slice(octets));
        }
        if at_once {
            writer.at_once();
        }
        if refused {
            writer.refused();
        }
        let whole = 16_384 - writer.room() + padding;
        writer.pad(whole);
        let length = writer.finish();
        prop_assert_eq!(length, whole);

        let Ok(Datagram::Frame(frame)) = Datagram::parse(&buffer[..length]) else { panic!("not read again") };
        prop_assert_eq!(frame.header, header);
        prop_assert_eq!([frame.at_once, frame.refused], [at_once, refused]);
        prop_assert_eq!(frame.cookie, name.as_ref().map(|_| cookie));
        prop_assert_eq!(frame.opening.map(|opening| opening.name.to_vec()), name);
        prop_assert_eq!(frame.acknowledgement.is_some(), ranges.is_some());
        if let (Some(read), Some(ranges)) = (frame.acknowledgement, &ranges) {
            let first = (ranges[0].end - ranges[0].start) as u16;
            prop_assert_eq!(read.header, AckHeader { largest, delay, marked, ecn, first });
            prop_assert!(read.ranges().eq(ranges.iter().take(1 + MAX_RANGES).cloned()));
        }
        let read: Vec<SegmentParts> = frame.segments().map(|segment| {
            let header = SegmentHeader {
                message: segment.message,
                offset: segment.offset,
                total: segment.total,
                immediate: segment.immediate,
            };
            (header, segment.octets.to_vec())
        }).collect();
        prop_assert_eq!(read, segments);
    }

    #[test]
    fn a_bit_that_changed_is_noticed(header in header(), segment in segment(), bit in any::<prop::sample::Index>()) {
        let mut buffer = vec![0; 2_000];
        let mut writer = FrameWriter::new(&mut buffer, &header);
        writer.segment(&segment.0, segment.1.len(), |into| into.copy_from_slice(&segment.1));
        let length = writer.finish();
        let bit = bit.index(8 * length);
        buffer[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(Datagram::parse(&buffer[..length]).is_err());
    }

    #[test]
    fn octets_of_strangers_do_no_harm(octets in vec(any::<u8>(), 0..200)) {
        prop_assert!(Datagram::parse(&octets).is_err());
    }

    #[test]
    fn resets_come_back(connection in any::<u64>(), from_opener in any::<bool>()) {
        for reason in [Reason::Closed, Reason::Unknown, Reason::Refused, Reason::TooLong, Reason::Violation, Reason::TimedOut] {
            let reset = Reset { route: Route { connection, from_opener }, reason, messages: 7 };
            let mut buffer = [0; RESET];
            prop_assert_eq!(reset.write(&mut buffer), RESET);
            prop_assert_eq!(Datagram::parse(&buffer), Ok(Datagram::Reset(reset)));
            prop_assert_eq!(Datagram::parse(&buffer[..RESET - 1]), Err(FrameError::Damaged));
        }
    }
}

proptest! {
    #[test]
    fn retries_come_back(connection in any::<u64>(), cookie in any::<u64>()) {
        let retry = Retry { route: Route { connection, from_opener: false }, cookie };
        let mut buffer = [0; RESET + 1];
        prop_assert_eq!(retry.write(&mut buffer), RESET);
        prop_assert_eq!(Datagram::parse(&buffer[..RESET]), Ok(Datagram::Retry(retry)));
        prop_assert!(Datagram::parse(&buffer[..RESET - 1]).is_err());
        prop_assert!(Datagram::parse(&buffer).is_err());
    }
}

/// Frames whose sum is right and whose content is not.
mod malformed {
    use super::*;

    fn header() -> Header {
        let route = Route { connection: 1, from_opener: false };
        Header { route, elicits: true, number: 5, credit: 0, completed: 0, floor: 0, promise: 0 }
    }

    fn written(write: impl FnOnce(&mut FrameWriter<'_>)) -> Result<(), FrameError> {
        let mut buffer = [0; 500];
        let mut writer = FrameWriter::new(&mut buffer, &header());
        write(&mut writer);
        let length = writer.finish();
        Datagram::parse(&buffer[..length]).map(|_| ())
    }

    fn segment(offset: u32, total: u32, length: usize) -> Result<(), FrameError> {
        let header = SegmentHeader { message: 0, offset, total, immediate: None };
        written(|frame| frame.segment(&header, length, |_| ()))
    }

    #[test]
    fn nothing_to_be_acknowledged_at_once() {
        assert_eq!(written(|frame| frame.at_once()), Ok(()));
        let mut buffer = [0; 500];
        let mut writer = FrameWriter::new(&mut buffer, &Header { elicits: false, ..header() });
        writer.at_once();
        let length = writer.finish();
        assert_eq!(Datagram::parse(&buffer[..length]), Err(FrameError::Malformed));
    }

    #[test]
    fn a_cookie_without_an_opening() {
        assert_eq!(written(|frame| frame.cookie(1)), Err(FrameError::Malformed));
    }

    #[test]
    fn segments_beyond_their_message() {
        assert_eq!(segment(90, 100, 10), Ok(()));
        assert_eq!(segment(91, 100, 10), Err(FrameError::Malformed));
        assert_eq!(segment(u32::MAX, 100, 10), Err(FrameError::Malformed));
        assert_eq!(segment(0, MAX_MESSAGE as u32, 10), Ok(()));
        assert_eq!(segment(0, MAX_MESSAGE as u32 + 1, 10), Err(FrameError::Malformed));
        assert_eq!(segment(0, 0, 0), Ok(()));
        assert_eq!(segment(0, 100, 0), Err(FrameError::Malformed));
    }

    #[test]
    fn acknowledgements_of_numbers_below_zero() {
        let ack = |largest, ranges: &[(u64, u64)]| {
            let header = AckHeader { largest, delay: 0, marked: 0, ecn: false, first: 0 };
            written(|frame| frame.acknowledge(&header, ranges.iter().map(|range| range.0..range.1)))
        };
        assert_eq!(ack(9, &[(8, 10), (0, 3)]), Ok(()));
        assert_eq!(ack(9, &[(9, 10), (9, 9)]), Err(FrameError::Malformed));
        assert_eq!(ack(MAX_NUMBER, &[(MAX_NUMBER, MAX_NUMBER + 1)]), Err(FrameError::Malformed));
    }

    #[test]
    fn openings_by_those_who_did_not_open() {
        let opening = Opening { level: Level::Delivery, name: b"x" };
        assert_eq!(written(|frame| frame.open(&opening)), Err(FrameError::Malformed));
    }
}
