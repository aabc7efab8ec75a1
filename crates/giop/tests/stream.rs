//! Streams of octets cut into messages; messages cut into fragments and put together.

use std::cell::Cell;

use proptest::prelude::*;
use throughline_cdr::ByteOrder;
use throughline_giop::connection::*;
use throughline_giop::control::*;
use throughline_giop::fragment::*;
use throughline_giop::request::*;
use throughline_giop::*;

fn request(version: Version, request_id: u32, body: &[u8]) -> Vec<u8> {
    let mut message = vec![];
    let new = NewRequest {
        request_id,
        response: Response::Target,
        target: NewTarget::Key(b"key"),
        operation: "store",
        service_contexts: &[],
    };
    let open = begin_request(&mut message, version, ByteOrder::Little, &new).unwrap();
    open.writer(&mut message).write_octets(body).unwrap();
    finish(&mut message, open).unwrap();
    message
}

/// Feeds octets in steps of these lengths, over and over, and takes all messages.
fn receive(
    incoming: &mut Incoming,
    mut octets: &[u8],
    steps: &[usize],
) -> Result<Vec<Vec<u8>>, ProtocolError> {
    let mut messages = vec![];
    for step in steps.iter().cycle() {
        while let Some(frame) = incoming.next()? {
            assert_eq!(frame.header.message_len(), frame.len());
            messages.push(frame.to_vec());
        }
        if octets.is_empty() {
            break;
        }
        let space = incoming.space();
        let count = octets.len().min(*step).min(space.len());
        space[..count].copy_from_slice(&octets[..count]);
        incoming.filled(count);
        octets = &octets[count..];
    }
    Ok(messages)
}

fn server() -> Incoming {
    Incoming::new(Role::Server, FragmentLimits::default())
}

fn pieces(message: &[u8], max_len: usize) -> Vec<Vec<u8>> {
    let header = MessageHeader::of(message, usize::MAX).unwrap();
    split(&header, message, max_len).map(|piece| [piece.header(), piece.data].concat()).collect()
}

proptest! {
    #[test]
    fn any_cut_gives_the_same_messages(
        bodies in prop::collection::vec(0..3000_usize, 1..12),
        steps in prop::collection::vec(1..5000_usize, 1..6),
    ) {
        let messages: Vec<_> =
            bodies.iter().zip(0..).map(|(length, id)| request(Version::V1_2, id, &vec![7; *length])).collect();
        prop_assert_eq!(receive(&mut server(), &messages.concat(), &steps), Ok(messages));
    }

    #[test]
    fn fragments_make_the_message_again(
        length in 0..5000_usize,
        max_len in 0..700_usize,
        new in any::<bool>(),
        steps in prop::collection::vec(1..300_usize, 1..6),
    ) {
        let version = if new { Version::V1_2 } else { Version::V1_1 };
        let message = request(version, 5, &(0..length).map(|i| i as u8).collect::<Vec<_>>());
        let pieces = pieces(&message, max_len);
        let residue = if new { 0 } else { 4 };
        for (index, piece) in pieces.iter().enumerate() {
            prop_assert!(piece.len() <= max_len.max(32));
            prop_assert!(index + 1 == pieces.len() || piece.len() % 8 == residue);
            prop_assert!(piece.len() > HEADER_LEN + 4 * usize::from(new));
        }
        prop_assert_eq!(receive(&mut server(), &pieces.concat(), &steps), Ok(vec![message]));
    }

    #[test]
    fn random_streams_never_panic(
        octets in prop::collection::vec(any::<u8>(), 0..300),
        start in prop::collection::vec(prop_oneof![2 => 0_u8..8, 1 => any::<u8>()], 8),
        steps in prop::collection::vec(1..50_usize, 1..4),
    ) {
        let stream = [b"GIOP\x01\x02", &*start, &*octets].concat();
        let _ = receive(&mut server(), &stream, &steps);
    }
}

#[test]
fn interleaved_fragments() {
    let [a, b] = [request(Version::V1_2, 1, &[1; 100]), request(Version::V1_2, 2, &[2; 100])];
    let [mut first, mut second] = [pieces(&a, 48).into_iter(), pieces(&b, 48).into_iter()];
    let mut stream = vec![];
    while let (Some(x), Some(y)) = (first.next(), second.next()) {
        stream.extend([x, y].concat());
    }
    assert_eq!(receive(&mut server(), &stream, &[usize::MAX]), Ok(vec![a, b]));
}

#[test]
fn a_cancelled_request_is_dropped() {
    for version in [Version::V1_1, Version::V1_2] {
        let fragmented = pieces(&request(version, 1, &[1; 100]), 48);
        let [mut other, mut cancel] = [vec![], vec![]];
        write_cancel_request(&mut other, version, ByteOrder::Big, 2);
        write_cancel_request(&mut cancel, version, ByteOrder::Big, 1);
        let again = request(version, 1, &[3; 100]);
        let cancelled = [&*fragmented[0], &other, &fragmented[1], &cancel].concat();
        let stream = [cancelled, pieces(&again, 48).concat()].concat();
        assert_eq!(receive(&mut server(), &stream, &[100]), Ok(vec![other, cancel, again]), "{version}");
    }
}

#[test]
fn a_discarded_message_is_swallowed_to_its_end() {
    let mut assembler = Assembler::default();
    let accept = |assembler: &mut Assembler, piece: &[u8]| {
        assembler.accept(&MessageHeader::of(piece, usize::MAX).unwrap(), piece)
    };
    let pieces = pieces(&request(Version::V1_2, 1, &[1; 200]), 48);
    assert_eq!(accept(&mut assembler, &pieces[0]), Ok(Assembled::Partial));
    assembler.discard(1);
    assert_eq!(assembler.pending_octets(), 0);
    for piece in &pieces[1..] {
        assert_eq!(accept(&mut assembler, piece), Ok(Assembled::Partial));
    }
    assert_eq!(accept(&mut assembler, &pieces[1]), Err(FragmentError::Unexpected), "it has ended");
}

#[test]
fn what_is_complete_or_cancelled_no_longer_counts() {
    let mut assembler = Assembler::default();
    let mut accept = |piece: &[u8]| {
        let _ = assembler.accept(&MessageHeader::of(piece, usize::MAX).unwrap(), piece).unwrap();
        assembler.pending_octets()
    };
    let pieces = pieces(&request(Version::V1_2, 1, &[1; 80]), 64);
    assert_eq!(pieces.len(), 3);
    assert_eq!(accept(&pieces[0]), 64);
    assert_eq!(accept(&pieces[1]), 64 + 48);
    assert_eq!(accept(&pieces[2]), 0);

    let mut cancel = vec![];
    write_cancel_request(&mut cancel, Version::V1_2, ByteOrder::Big, 1);
    assert_eq!(accept(&pieces[0]), 64);
    assert_eq!(accept(&cancel), 0);
}

#[test]
fn fragments_that_fit_nothing() {
    let fail = |stream: &[u8]| match receive(&mut server(), stream, &[usize::MAX]) {
        Err(ProtocolError::Fragment(error)) => error,
        other => panic!("{other:?}"),
    };
    let old = pieces(&request(Version::V1_1, 1, &[1; 100]), 48);
    let new = pieces(&request(Version::V1_2, 1, &[1; 100]), 48);
    assert_eq!(fail(&new[1]), FragmentError::Unexpected);
    assert_eq!(fail(&old[1]), FragmentError::Unexpected);
    assert_eq!(fail(&[&*new[0], &new[0]].concat()), FragmentError::Overlapping);
    assert_eq!(fail(&[&*old[0], &old[0]].concat()), FragmentError::Overlapping);
    assert_eq!(
        fail(&[&*new[0], b"GIOP\x01\x02\0\x07\0\0\0\x04\0\0\0\x01"].concat()),
        FragmentError::Mismatch
    );
    assert_eq!(fail(b"GIOP\x01\x02\x02\0\0\0\0\x03\0\0\0"), FragmentError::NoRequestId);
    let error = ProtocolError::from(FragmentError::Unexpected);
    assert_eq!(error.reaction(), Reaction::MessageErrorAndClose);
}

#[test]
fn fragments_are_limited() {
    let limits = FragmentLimits { max_message: 500, max_total: 800, max_messages: 3 };
    let fail = |stream: &[u8]| match receive(&mut Incoming::new(Role::Server, limits), stream, &[64]) {
        Err(ProtocolError::Fragment(error)) => error,
        other => panic!("{other:?}"),
    };
    assert_eq!(fail(&pieces(&request(Version::V1_2, 1, &[1; 600]), 100).concat()), FragmentError::TooLarge);
    let begin = |id| pieces(&request(Version::V1_2, id, &[1; 600]), 300).swap_remove(0);
    assert_eq!(fail(&[begin(1), begin(2), begin(3)].concat()), FragmentError::TooLarge, "together");
    let begin = |id| pieces(&request(Version::V1_2, id, &[1; 600]), 64).swap_remove(0);
    assert_eq!(fail(&[begin(1), begin(2), begin(3), begin(4)].concat()), FragmentError::TooMany);
}

#[test]
fn fragments_that_are_waited_for_are_too_many_only_together() {
    let limits = FragmentLimits { max_messages: 3, ..FragmentLimits::default() };
    let mut assembler = Assembler::new(limits);
    let mut begin = |id| {
        let piece = pieces(&request(Version::V1_2, id, &[1; 600]), 64).swap_remove(0);
        let header = MessageHeader::of(&piece, usize::MAX).unwrap();
        assembler.accept_awaited(&header, &piece, |id| if id < 2000 { Awaited::Yes } else { Awaited::No })
    };
    let too_many = Err(FragmentError::TooMany);
    (0..3).chain(2000..2003).for_each(|id| assert_eq!(begin(id), Ok(Assembled::Partial)));
    assert_eq!((begin(2003), begin(2000)), (too_many.clone(), Err(FragmentError::Overlapping)));
    (3..1021).for_each(|id| assert_eq!(begin(id), Ok(Assembled::Partial)));
    assert_eq!(begin(1021), too_many);
}

#[test]
fn what_nobody_waits_for_any_more_is_dropped_and_does_not_count() {
    let limits = FragmentLimits { max_total: 1000, max_messages: 3, ..FragmentLimits::default() };
    for version in [Version::V1_1, Version::V1_2] {
        let mut assembler = Assembler::new(limits);
        let over = Cell::new(0);
        let awaited = |id| if id <= over.get() { Awaited::NoLonger } else { Awaited::Yes };
        let accept = |assembler: &mut Assembler, piece: &[u8]| {
            assembler.accept_awaited(&MessageHeader::of(piece, usize::MAX).unwrap(), piece, awaited)
        };
        for id in 1..50 {
            let pieces = pieces(&request(version, id, &[1; 600]), 500);
            // It has begun when it is given up, or begins then.
            if id % 2 == 0 {
                over.set(id);
            }
            assert_eq!(accept(&mut assembler, &pieces[0]), Ok(Assembled::Partial), "{version}");
            assert_eq!(assembler.pending_octets() > 0, id % 2 == 1);
            over.set(id);
            assembler.forget(awaited);
            assert_eq!((assembler.pending_octets(), assembler.is_assembling()), (0, true));
            // In GIOP 1.1 nothing else comes before its end. Others never end.
            if version == Version::V1_1 || id % 5 == 0 {
                assert_eq!(accept(&mut assembler, &pieces[1]), Ok(Assembled::Partial));
            }
        }
        let [whole, other] = [100, 200].map(|id| request(version, id, &[2; 600]));
        let [pieces, others] = [&whole, &other].map(|message| pieces(message, 500));
        assert_eq!(accept(&mut assembler, &pieces[0]), Ok(Assembled::Partial));
        match accept(&mut assembler, &pieces[1]) {
            Ok(Assembled::Complete(_, octets)) => assert_eq!(octets, whole),
            other => panic!("{other:?}"),
        }
        assert_eq!(accept(&mut assembler, &others[1]), Err(FragmentError::Unexpected), "it has not begun");
    }
}

#[test]
fn messages_of_the_other_side_are_refused() {
    let mut close = vec![];
    write_close_connection(&mut close, Version::V1_0, ByteOrder::Big);
    let error = receive(&mut server(), &close, &[99]).unwrap_err();
    assert_eq!(error, ProtocolError::WrongSide(MessageType::CloseConnection));
    assert_eq!(error.reaction(), Reaction::Close);

    let reply = b"GIOP\x01\x02\0\x01\0\0\0\x0C\0\0\0\x01\0\0\0\0\0\0\0\0";
    let error = receive(&mut server(), reply, &[99]).unwrap_err();
    assert_eq!(error, ProtocolError::WrongSide(MessageType::Reply));
    assert_eq!(error.reaction(), Reaction::MessageErrorAndClose);
    let mut client = Incoming::new(Role::Client, FragmentLimits::default());
    assert!(receive(&mut client, reply, &[99]).is_ok());
    assert!(receive(&mut client, &request(Version::V1_2, 1, b""), &[99]).is_err());
}

#[test]
fn memory_follows_what_arrives() {
    let mut frames = FrameReader::new(1 << 30);
    let header = b"GIOP\x01\x02\0\0\x30\0\0\0";
    frames.space()[..12].copy_from_slice(header);
    frames.filled(12);
    assert_eq!(frames.missing(), 0x3000_0000);
    let room = frames.space().len();
    assert!(room <= 128 << 10, "{room} octets for 12 received and 768 MiB announced");
    frames.filled(room);
    let more = frames.space().len();
    assert!(more <= 2 * (room + 12), "{more} octets for {room} received");

    let mut frames = FrameReader::new(1000);
    frames.space()[..12].copy_from_slice(b"GIOP\x01\x02\0\0\0\0\x04\0");
    frames.filled(12);
    assert_eq!(frames.next().unwrap_err(), HeaderError::TooLarge { size: 1024, limit: 988 });
}

fn receive_in_frames(frames: &mut FrameReader, message: &[u8]) -> *const u8 {
    let mut rest = message;
    while !rest.is_empty() {
        let space = frames.space();
        let (now, later) = rest.split_at(rest.len().min(space.len()));
        space[..now.len()].copy_from_slice(now);
        frames.filled(now.len());
        rest = later;
    }
    let frame = frames.next().unwrap().unwrap();
    assert_eq!(*frame, *message);
    frame.as_ptr()
}

#[test]
fn large_messages_one_after_another_share_their_memory() {
    let mut frames = FrameReader::new(1 << 30);
    let message = request(Version::V1_2, 1, &vec![1; 2 << 20]);
    let place = receive_in_frames(&mut frames, &message);
    assert!((0..20).all(|_| receive_in_frames(&mut frames, &message) == place));
}

#[test]
fn a_large_message_does_not_keep_its_memory() {
    let (large, small) = (request(Version::V1_2, 1, &vec![1; 2 << 20]), request(Version::V1_2, 2, &[2; 9]));
    let mut frames = FrameReader::new(1 << 30);
    receive_in_frames(&mut frames, &large);
    for _ in 0..9 {
        receive_in_frames(&mut frames, &small);
    }
    assert!(frames.space().len() <= 512 << 10, "small ones follow");

    let mut frames = FrameReader::new(1 << 30);
    receive_in_frames(&mut frames, &large);
    frames.release();
    assert!(frames.space().len() <= 512 << 10, "nothing is expected");
}

#[test]
fn the_rest_of_a_message_fits_one_receive_call() {
    let mut incoming = server();
    let message = request(Version::V1_2, 1, &[1; 60_000]);
    incoming.space()[..100].copy_from_slice(&message[..100]);
    incoming.filled(100);
    let missing = incoming.missing();
    assert_eq!(missing, message.len() - 100);
    assert!(incoming.space().len() >= missing);
    assert!(incoming.next().unwrap().is_none());
}

#[test]
fn there_is_room_for_a_small_message_after_the_start_of_its_header() {
    let mut frames = FrameReader::new(1 << 20);
    let room = frames.space().len();
    let header_len = request(Version::V1_2, 1, &[]).len();
    let large = request(Version::V1_2, 1, &vec![1; room - 8 - header_len]);
    let received = [&*large, b"GIOP\x01"].concat();
    assert_eq!(received.len(), room - 3);
    frames.space()[..received.len()].copy_from_slice(&received);
    frames.filled(received.len());
    assert_eq!(*frames.next().unwrap().unwrap(), *large);
    assert!(frames.space().len() >= 1024);
    assert_eq!(frames.waiting(), b"GIOP\x01");
}

#[test]
fn messages_are_not_overwritten_while_they_are_held() {
    let mut frames = FrameReader::new(1 << 20);
    let messages: Vec<_> = (0..1000).map(|id| request(Version::V1_2, id, &[1; 59])).collect();
    let mut held = vec![];
    for message in &messages {
        frames.space()[..message.len()].copy_from_slice(message);
        frames.filled(message.len());
        held.push(frames.next().unwrap().unwrap());
    }
    assert!(held.iter().zip(&messages).all(|(frame, message)| **frame == **message));
}

#[test]
fn a_message_in_progress_moves_to_an_aligned_place() {
    let mut frames = FrameReader::new(1 << 20);
    let [odd, next] = [request(Version::V1_2, 1, b"x"), request(Version::V1_2, 2, &[2; 4000])];
    assert_ne!(odd.len() % 8, 0);
    let received = [&*odd, &next[..200]].concat();
    frames.space()[..received.len()].copy_from_slice(&received);
    frames.filled(received.len());
    assert_eq!(*frames.next().unwrap().unwrap(), *odd);
    let rest = &next[200..];
    frames.space()[..rest.len()].copy_from_slice(rest);
    frames.filled(rest.len());
    let frame = frames.next().unwrap().unwrap();
    assert_eq!(*frame, *next);
    assert_eq!(frame.as_ptr() as usize % 8, 0);
}
