//! Headers: what is written is read, and nothing else is.

use proptest::prelude::*;
use throughline_wire::{
    ADDRESSED_BYTES, Answer, Flags, Flow, Header, Kind, MAX_PRIORITY_LEVEL, Message, NoRoom, PLAIN_BYTES,
    ReadError, RegionKind, RegionList, TimeLeft, priority_code, priority_level,
};

fn header() -> impl Strategy<Value = Header> {
    let kind = prop::sample::select(Kind::ALL);
    let flow = any::<(u64, u32)>().prop_map(|(id, source_hash)| Flow { id, source_hash });
    let flags = (0..128_u8).prop_map(|bits| Flags::from_bits(bits).expect("flags of version 1"));
    let plain = (kind, flags, any::<u8>(), flow, any::<u32>());
    (plain, any::<(u32, u32, u64, u32)>()).prop_map(|(plain, (detail, slot, nonce, check))| {
        let (kind, flags, priority, flow, sequence) = plain;
        let header = Header { flags, priority, flow, sequence, ..Header::new(kind) };
        if !kind.is_addressed() {
            return Header { detail, ..header };
        }
        let time_left = TimeLeft::from_bits((detail >> 16) as u16);
        Header { operation: detail as u16, time_left, slot, nonce, check, ..header }
    })
}

/// Kind, detail, and where in a body of 1,000 bytes.
fn regions() -> impl Strategy<Value = Vec<(RegionKind, u32, u32, u32)>> {
    let kind = prop::sample::select(RegionKind::ALL);
    prop::collection::vec((kind, any::<u32>(), 0..500_u32, 0..500_u32), 0..=15)
}

proptest! {
    #[test]
    fn what_is_written_is_read(header in header(), body in prop::collection::vec(any::<u8>(), 0..100)) {
        let mut message = vec![0xff; header.size() + body.len()];
        header.write(&mut message).expect("room").copy_from_slice(&body);
        let read = Message::read(&message).expect("well-formed");
        prop_assert_eq!(read.header, header);
        prop_assert!(read.regions.is_empty());
        prop_assert_eq!(read.body, &body);
        prop_assert_eq!(read.payload(&message), &body);
    }

    #[test]
    fn with_regions_too(header in header(), regions in regions()) {
        let mut list = RegionList::new();
        for (kind, detail, offset, length) in &regions {
            list.push(*kind, *detail, *offset, *length).expect("15 at most");
        }
        let size = header.size_with(regions.len());
        let mut message = vec![0; size + 1_000];
        prop_assert_eq!(header.write_with(&list, &mut message).expect("room").len(), 1_000);
        let read = Message::read(&message).expect("well-formed");
        prop_assert_eq!(read.header, header);
        prop_assert_eq!(read.body.len(), 1_000);
        prop_assert_eq!(read.regions.len(), regions.len());
        for (read, (kind, detail, offset, length)) in read.regions.iter().zip(&regions) {
            prop_assert_eq!((read.kind, read.detail, read.length), (*kind, *detail, *length));
            prop_assert_eq!(read.offset as usize, size + *offset as usize);
            prop_assert_eq!(read.of(&message).expect("inside").len(), *length as usize);
        }
    }

    #[test]
    fn requests_without_regions_are_told_at_one_look(
        bytes in prop::collection::vec(any::<u8>(), 0..80),
        start in (0x0f..0x13_u8, 0..3_u8, any::<u8>()),
    ) {
        let mut bytes = bytes;
        for (byte, value) in bytes.iter_mut().zip([start.0 & 0x1f, start.1, start.2]) {
            *byte = value;
        }
        let ordinary = Message::read(&bytes).ok()
            .filter(|read| read.header.kind == Kind::Request && bytes[0] >> 4 == 0);
        let request = Message::read_request(&bytes);
        prop_assert_eq!(request.map(|read| read.header), ordinary.map(|read| read.header));
        prop_assert_eq!(request.map(|read| read.body), ordinary.map(|read| read.body));
        prop_assert!(request.is_none_or(|read| read.regions.is_empty()));
    }

    #[test]
    fn answers_without_regions_are_told_at_one_look(
        bytes in prop::collection::vec(any::<u8>(), 0..80),
        start in (0x0f..0x13_u8, 3..8_u8, any::<u8>()),
    ) {
        let mut bytes = bytes;
        for (byte, value) in bytes.iter_mut().zip([start.0 & 0x1f, start.1, start.2]) {
            *byte = value;
        }
        let ordinary = Message::read(&bytes).ok().map(|read| read.header);
        let ordinary = ordinary.filter(|header| {
            matches!(header.kind, Kind::Reply | Kind::UserException) && bytes[0] >> 4 == 0
        });
        let expected = ordinary.map(|Header { kind, flags, sequence, .. }| {
            Answer { user_exception: kind == Kind::UserException, flags, sequence }
        });
        prop_assert_eq!(Message::read_answer(&bytes), expected);
    }

    #[test]
    fn anything_else_is_refused_or_the_same_once_written(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut bytes = bytes;
        for version in [None, Some(1), Some(0x21)] {
            if let (Some(version), Some(first)) = (version, bytes.first_mut()) {
                *first = version;
            }
            let Ok(read) = Message::read(&bytes) else { continue };
            let mut again = vec![0; bytes.len()];
            read.header.write(&mut again).expect("room");
            let size = read.header.size();
            prop_assert_eq!(again[0] & 0x0f, bytes[0] & 0x0f);
            prop_assert_eq!(&again[1..size], &bytes[1..size]);
        }
    }
}

/// A message of each kind with three regions, the last of which ends with the message.
fn messages() -> impl Iterator<Item = (Header, Vec<u8>)> {
    Kind::ALL.iter().map(|kind| {
        let header = Header { nonce: u64::MAX, sequence: 7, ..Header::new(*kind) };
        let header = if kind.is_addressed() { header } else { Header { nonce: 0, ..header } };
        let mut list = RegionList::new();
        for (kind, offset, length) in
            [(RegionKind::Key, 0, 4), (RegionKind::Payload, 4, 20), (RegionKind::Check, 24, 8)]
        {
            list.push(kind, 0, offset, length).expect("three");
        }
        let mut message = vec![0xaa; header.size_with(3) + 32];
        header.write_with(&list, &mut message).expect("room");
        (header, message)
    })
}

#[test]
fn every_truncation_is_refused() {
    for (header, message) in messages() {
        assert_eq!(Message::read(&message).expect("whole").header, header);
        for length in 0..message.len() {
            let error = Message::read(&message[..length]).expect_err("cut off");
            match error {
                ReadError::TooShort(told) => assert!(told == length && length < header.size_with(3)),
                ReadError::RegionOutside { .. } => assert!(length >= header.size_with(3)),
                other => panic!("{:?} cut to {length}: {other}", header.kind),
            }
        }
    }
}

#[test]
fn the_front_of_a_message_has_its_header() {
    for (header, message) in messages() {
        for length in 0..message.len() {
            let front = Message::read_front(&message[..length], message.len());
            if length < header.size_with(3) {
                assert_eq!(front.expect_err("cut off within the header"), ReadError::TooShort(length));
                continue;
            }
            let front = front.expect("all of the header");
            assert_eq!((front.header, front.regions.len()), (header, 3));
            assert_eq!(front.body, &message[header.size_with(3)..length]);
        }
        let shorter = Message::read_front(&message, message.len() - 1);
        assert!(matches!(shorter, Err(ReadError::RegionOutside { .. })), "{shorter:?}");
    }
}

#[test]
fn every_short_buffer_is_refused() {
    for (header, message) in messages() {
        let mut list = RegionList::new();
        list.push(RegionKind::Payload, 0, 0, 9).expect("one");
        for length in 0..message.len() {
            let mut out = vec![0; length];
            assert_eq!(header.write(&mut out).is_ok(), length >= header.size());
            let written = header.write_with(&list, &mut out).map(|body| body.len());
            let needed = header.size_with(1) + 9;
            match written {
                Ok(body) => assert!(length >= needed && body == length - header.size_with(1)),
                Err(NoRoom { available, .. }) => assert!(length < needed && available == length),
            }
        }
    }
}

#[test]
fn every_version_kind_and_flag_is_judged() {
    let (_, mut message) = messages().next().expect("a request");
    for version in 0..16 {
        message[0] = version;
        let expected = if version == 1 { None } else { Some(ReadError::Version(version)) };
        assert_eq!(Message::read(&message).err(), expected);
    }
    message[0] = 1;
    for kind in 0..=u8::MAX {
        message[1] = kind;
        let known = Kind::ALL.iter().any(|known| *known as u8 == kind);
        assert_eq!(Message::read(&message).err(), (!known).then_some(ReadError::Kind(kind)));
    }
    message[1] = Kind::Request as u8;
    for flags in 0..=u8::MAX {
        message[2] = flags;
        assert_eq!(Message::read(&message).err(), (flags >= 128).then_some(ReadError::Flags(flags)));
    }
}

#[test]
fn regions_of_strangers_are_judged() {
    let (header, whole) = messages().next().expect("a request");
    let table = header.size();
    let with = |at: usize, value: u32| {
        let mut message = whole.clone();
        message[table + at..][..4].copy_from_slice(&value.to_le_bytes());
        Message::read(&message).err()
    };
    let size = whole.len() as u32;
    assert_eq!(with(0, 0), Some(ReadError::RegionKind(0)));
    assert_eq!(with(0, 8), Some(ReadError::RegionKind(8)));
    assert_eq!(with(8, size - 4), None);
    assert_eq!(with(8, size - 3), Some(ReadError::RegionOutside { offset: size - 3, length: 4 }));
    // What wraps around 32 bits is outside, too.
    assert_eq!(with(8, u32::MAX), Some(ReadError::RegionOutside { offset: u32::MAX, length: 4 }));
    assert!(matches!(with(12, u32::MAX), Some(ReadError::RegionOutside { length: u32::MAX, .. })));
}

/// The bytes of the documentation's diagram: what other implementations rely on.
#[test]
fn the_layout() {
    let request = Header {
        flags: Flags::LITTLE_ENDIAN.with(Flags::QUIET),
        priority: 0x80,
        flow: Flow { id: 0x1112_1314_1516_1718, source_hash: 0x0102_0304 },
        sequence: 0x2122_2324,
        operation: 0x3132,
        time_left: TimeLeft::from_bits(0x4142),
        nonce: 0x5152_5354_5556_5758,
        slot: 0x6162_6364,
        check: 0x7172_7374,
        ..Header::new(Kind::Request)
    };
    let mut bytes = [0; ADDRESSED_BYTES];
    request.write(&mut bytes).expect("room");
    #[rustfmt::skip]
    assert_eq!(bytes, [
        0x01, 0x01, 0x11, 0x80, 0x04, 0x03, 0x02, 0x01,
        0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11,
        0x24, 0x23, 0x22, 0x21, 0x32, 0x31, 0x42, 0x41,
        0x58, 0x57, 0x56, 0x55, 0x54, 0x53, 0x52, 0x51,
        0x64, 0x63, 0x62, 0x61, 0x74, 0x73, 0x72, 0x71,
    ]);
    let reply = Header { detail: 0x8182_8384, ..request.answer(Kind::SystemException) };
    let mut list = RegionList::new();
    list.push(RegionKind::Check, 0x9192_9394, 1, 2).expect("one");
    let mut bytes = [0; PLAIN_BYTES + 16 + 3];
    reply.write_with(&list, &mut bytes).expect("room");
    #[rustfmt::skip]
    assert_eq!(bytes[..40], [
        0x11, 0x06, u8::from(cfg!(target_endian = "little")), 0x80, 0x04, 0x03, 0x02, 0x01,
        0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11,
        0x24, 0x23, 0x22, 0x21, 0x84, 0x83, 0x82, 0x81,
        0x04, 0x00, 0x00, 0x00, 0x94, 0x93, 0x92, 0x91,
        0x29, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00,
    ]);
}

#[test]
fn who_waits_for_a_reply() {
    for kind in Kind::ALL {
        let header = Header::new(*kind);
        let acknowledged = Header { flags: header.flags.with(Flags::ACKNOWLEDGE), ..header };
        assert_eq!(header.wants_reply(), *kind == Kind::Request);
        assert_eq!(acknowledged.wants_reply(), matches!(kind, Kind::Request | Kind::Oneway));
        assert!(!kind.is_reply() || !kind.is_addressed());
    }
}

#[test]
fn small_calls_fit_into_a_line() {
    let announcement = size_of::<u64>();
    assert!(announcement + Header::new(Kind::Request).size() + 16 <= 64);
    assert!(announcement + Header::new(Kind::Reply).size() + 32 <= 64);
}

#[test]
fn priorities_keep_their_order() {
    let codes: Vec<_> = (0..=MAX_PRIORITY_LEVEL).map(priority_code).collect();
    assert!(codes.is_sorted());
    for (level, code) in (0..).zip(codes) {
        let told = priority_level(code);
        assert!(told <= level && level - told <= level / 17, "{level} is told as {told}");
        assert_eq!(priority_code(told), code);
        assert!(level > 31 || told == level);
    }
    let highest = priority_code(MAX_PRIORITY_LEVEL);
    assert_eq!((highest, priority_code(u16::MAX)), (191, 191));
    assert!((highest..=u8::MAX).all(|code| priority_level(code) == 31_744));
    for (code, level) in [(31, 31), (32, 32), (33, 34), (47, 62), (48, 64), (100, 640), (190, 30_720)] {
        assert_eq!((priority_code(level), priority_level(code)), (code, level));
    }
}
