//! The eight messages, in three versions and two byte orders: octets worked out by hand from section 9.4, and back.

use proptest::prelude::*;
use throughline_cdr::{ByteOrder, Decode, DecodeError, Encode};
use throughline_giop::control::*;
use throughline_giop::exception::OMG_VMCID;
use throughline_giop::locate::*;
use throughline_giop::reply::*;
use throughline_giop::request::*;
use throughline_giop::target::{AddressingDisposition, ProfileRef};
use throughline_giop::*;

use ByteOrder::{Big, Little};
use Version::{V1_0, V1_1, V1_2};

fn header_of(message: &[u8]) -> MessageHeader {
    let header = MessageHeader::of(message, 1 << 20).unwrap();
    assert_eq!(header.message_len(), message.len());
    header
}

fn ping(version: Version, order: ByteOrder, body: &[u8]) -> Vec<u8> {
    let request = NewRequest {
        request_id: 5,
        response: Response::Target,
        target: NewTarget::Key(b"key"),
        operation: "ping",
        service_contexts: &[ServiceContext { id: 1, data: b"ctx" }],
    };
    let mut buffer = vec![];
    let open = begin_request(&mut buffer, version, order, &request).unwrap();
    open.writer(&mut buffer).write_bytes(body);
    finish(&mut buffer, open).unwrap();
    buffer
}

#[test]
fn request_1_0_by_hand() {
    let expected = [
        b"GIOP\x01\0\x01\0\x34\0\0\0".as_slice(),
        b"\x01\0\0\0\x01\0\0\0\x03\0\0\0ctx\0", // service contexts, then padding
        b"\x05\0\0\0\x01\0\0\0",                // request id, response expected, padding
        b"\x03\0\0\0key\0\x05\0\0\0ping\0\0\0\0", // object key, operation
        b"\x04\0\0\0\0\0\0\0", // principal, so long that a body would start at a multiple of 8
    ];
    assert_eq!(ping(V1_0, Little, b""), expected.concat());
}

#[test]
fn request_1_1_by_hand() {
    let expected = [
        b"GIOP\x01\x01\0\0\0\0\0\x36".as_slice(),
        b"\0\0\0\x01\0\0\0\x01\0\0\0\x03ctx\0",
        b"\0\0\0\x05\x01\0\0\0", // the padding is reserved octets now
        b"\0\0\0\x03key\0\0\0\0\x05ping\0\0\0\0",
        b"\0\0\0\x04\0\0\0\0hi",
    ];
    assert_eq!(ping(V1_1, Big, b"hi"), expected.concat());
}

#[test]
fn request_1_2_by_hand() {
    let expected = [
        b"GIOP\x01\x02\x01\0\x38\0\0\0".as_slice(),
        b"\x05\0\0\0\x03\0\0\0",    // request id, response flags, reserved
        b"\0\0\0\0\x03\0\0\0key\0", // addressed by key, padding
        b"\x05\0\0\0ping\0\0\0\0",
        b"\x01\0\0\0\x01\0\0\0\x03\0\0\0ctx",
        b"\0\0\0\0\0", // padding to 8 before the body
        b"\0\0\0\0",
    ];
    let mut whole = expected.concat();
    whole.truncate(68 - 4);
    whole.extend_from_slice(b"body");
    assert_eq!(whole.len(), 12 + 0x38);
    assert_eq!(ping(V1_2, Little, b"body"), whole);

    let empty = ping(V1_2, Little, b"");
    assert_eq!(empty.len(), 59, "no padding before a body that is not there");
    let header = header_of(&empty);
    let request = RequestHeader::read(&header, &empty).unwrap();
    assert_eq!(request.body.remaining(), 0);
}

#[test]
fn replies_by_hand() {
    let reply = NewReply { request_id: 5, status: ReplyStatus::NoException, service_contexts: &[] };
    let write = |version, order| {
        let mut buffer = vec![];
        let open = begin_reply(&mut buffer, version, order, &reply).unwrap();
        open.writer(&mut buffer).write_u32(7);
        finish(&mut buffer, open).unwrap();
        buffer
    };
    assert_eq!(write(V1_0, Big), b"GIOP\x01\0\0\x01\0\0\0\x10\0\0\0\0\0\0\0\x05\0\0\0\0\0\0\0\x07");
    let padded = b"GIOP\x01\x02\x01\x01\x10\0\0\0\x05\0\0\0\0\0\0\0\0\0\0\0\x07\0\0\0";
    assert_eq!(write(V1_2, Little), padded, "24 octets: the body is aligned as it is");
}

#[test]
fn system_exceptions() {
    let exception =
        SystemException::new(SystemExceptionKind::ObjectNotExist, OMG_VMCID | 2, CompletionStatus::No);
    for (version, order) in all_versions() {
        let mut buffer = vec![];
        write_system_exception(&mut buffer, version, order, 9, &[], &exception).unwrap();
        let mut reply = ReplyHeader::read(&header_of(&buffer), &buffer).unwrap();
        assert_eq!((reply.request_id, reply.status), (9, ReplyStatus::SystemException));
        assert_eq!(SystemException::decode(&mut reply.body), Ok(exception));
    }
    assert_eq!(exception.to_string(), "OBJECT_NOT_EXIST (OMG minor 2, not completed)");
    for kind in SystemExceptionKind::ALL {
        assert_eq!(SystemExceptionKind::from_repository_id(kind.repository_id()), Some(*kind));
    }
    assert_eq!(SystemExceptionKind::from_repository_id("IDL:Bank/Broke:1.0"), None);
}

#[test]
fn location_forward() {
    let ior =
        Ior { type_id: "IDL:A:1.0".to_owned(), profiles: vec![TaggedProfile { tag: 9, data: vec![1] }] };
    let mut buffer = vec![];
    for (version, permanently, expected) in [
        (V1_0, true, ReplyStatus::LocationForward),
        (V1_2, false, ReplyStatus::LocationForward),
        (V1_2, true, ReplyStatus::LocationForwardPerm),
    ] {
        buffer.clear();
        write_location_forward(&mut buffer, version, Big, 1, &ior, permanently).unwrap();
        let mut reply = ReplyHeader::read(&header_of(&buffer), &buffer).unwrap();
        assert_eq!((reply.status, Ior::decode(&mut reply.body).unwrap()), (expected, ior.clone()));
    }
    buffer.clear();
    write_needs_addressing_mode(&mut buffer, Big, 1, AddressingDisposition::Profile).unwrap();
    let mut reply = ReplyHeader::read(&header_of(&buffer), &buffer).unwrap();
    assert_eq!(AddressingDisposition::decode(&mut reply.body), Ok(AddressingDisposition::Profile));
}

#[test]
fn statuses_of_later_versions_are_refused() {
    let mut buffer = vec![];
    let reply = NewReply { request_id: 1, status: ReplyStatus::NeedsAddressingMode, service_contexts: &[] };
    assert!(begin_reply(&mut buffer, V1_1, Big, &reply).is_err());
    assert!(buffer.is_empty(), "nothing is left behind");

    let octets = b"GIOP\x01\x01\0\x01\0\0\0\x0C\0\0\0\0\0\0\0\x05\0\0\0\x05";
    let error = ReplyHeader::read(&header_of(octets), octets).unwrap_err();
    assert_eq!(error, DecodeError::InvalidEnum { value: 5 });
}

#[test]
fn every_way_of_addressing() {
    let profile = IiopProfile {
        version: V1_2,
        host: "localhost".to_owned(),
        port: 1,
        object_key: b"account".to_vec(),
        components: vec![],
    };
    let mut ior = Ior::of_iiop("IDL:Bank/Account:1.0", &profile).unwrap();
    ior.profiles.insert(0, TaggedProfile { tag: 7, data: vec![1, 2, 3] });
    let targets = [
        NewTarget::Key(b"account"),
        NewTarget::Profile(ProfileRef::from(&ior.profiles[1])),
        NewTarget::Reference { ior: &ior, selected: 1 },
    ];
    for (order, target) in
        [(Big, targets), (Little, targets)].into_iter().flat_map(|(o, t)| t.map(|t| (o, t)))
    {
        let mut buffer = vec![];
        write_locate_request(&mut buffer, V1_2, order, 3, &target).unwrap();
        let located = LocateRequestHeader::read(&header_of(&buffer), &buffer).unwrap();
        assert_eq!(located.target.object_key(), Ok(b"account".as_slice()), "{target:?}");
        let refused = write_locate_request(&mut buffer, V1_1, order, 3, &target);
        assert_eq!(refused.is_ok(), matches!(target, NewTarget::Key(_)));
    }

    let mut buffer = vec![];
    let wrong = NewTarget::Reference { ior: &ior, selected: 2 };
    write_locate_request(&mut buffer, V1_2, Big, 3, &wrong).unwrap();
    let located = LocateRequestHeader::read(&header_of(&buffer), &buffer).unwrap();
    assert_eq!(located.request_id, 3, "it can be answered");
    assert!(located.target.object_key().is_err(), "no such profile");
}

#[test]
fn locate_replies() {
    let forward = Ior { type_id: String::new(), profiles: vec![TaggedProfile { tag: 0, data: vec![0] }] };
    let exception = SystemException::new(SystemExceptionKind::Transient, 0, CompletionStatus::Maybe);
    let cases = [
        (Location::Unknown, None),
        (Location::Here, None),
        (Location::Forward(forward.clone()), None),
        (Location::ForwardPerm(forward.clone()), Some(Location::Forward(forward))),
        (Location::Exception(exception), Some(Location::Unknown)),
    ];
    for ((version, order), (location, before_1_2)) in
        all_versions().flat_map(|version| cases.clone().into_iter().map(move |case| (version, case)))
    {
        let mut buffer = vec![];
        write_locate_reply(&mut buffer, version, order, 4, &location).unwrap();
        let reply = LocateReplyHeader::read(&header_of(&buffer), &buffer).unwrap();
        let expected = before_1_2.filter(|_| version < V1_2).unwrap_or(location);
        assert_eq!((reply.request_id, reply.location()), (4, Ok(expected)));
    }
    let mode = Location::NeedsAddressingMode(AddressingDisposition::Reference);
    let mut buffer = vec![];
    write_locate_reply(&mut buffer, V1_2, Big, 4, &mode).unwrap();
    assert_eq!(LocateReplyHeader::read(&header_of(&buffer), &buffer).unwrap().location(), Ok(mode.clone()));
    assert!(write_locate_reply(&mut buffer, V1_0, Big, 4, &mode).is_err());
}

#[test]
fn locate_replies_are_not_padded() {
    let forward = Ior { type_id: String::new(), profiles: vec![TaggedProfile { tag: 0, data: vec![] }] };
    let mut buffer = vec![];
    write_locate_reply(&mut buffer, V1_2, Big, 4, &Location::Forward(forward)).unwrap();
    let body = b"\0\0\0\x01\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0";
    assert_eq!(buffer, [b"GIOP\x01\x02\0\x04\0\0\0\x1C\0\0\0\x04\0\0\0\x02".as_slice(), body].concat());
}

#[test]
fn control_messages() {
    let mut buffer = vec![];
    write_cancel_request(&mut buffer, V1_0, Big, 0x0102_0304);
    assert_eq!(buffer, b"GIOP\x01\0\0\x02\0\0\0\x04\x01\x02\x03\x04");
    assert_eq!(read_cancel_request(&header_of(&buffer), &buffer), Ok(0x0102_0304));
    buffer.clear();
    write_close_connection(&mut buffer, V1_2, Little);
    write_message_error(&mut buffer, V1_1, Big);
    assert_eq!(buffer, b"GIOP\x01\x02\x01\x05\0\0\0\0GIOP\x01\x01\0\x06\0\0\0\0");
}

#[test]
fn headers_that_are_refused() {
    let parse = |octets: &[u8; 12]| MessageHeader::parse(octets, 100).unwrap_err();
    assert_eq!(parse(b"GIOQ\x01\0\0\0\0\0\0\0"), HeaderError::BadMagic);
    assert_eq!(parse(b"ZIOP\x01\x02\0\0\0\0\0\0"), HeaderError::BadMagic, "compressed GIOP");
    let version = |major, minor| HeaderError::UnsupportedVersion { major, minor };
    assert_eq!(parse(b"GIOP\x01\x03\0\0\0\0\0\0"), version(1, 3));
    assert_eq!(parse(b"GIOP\x02\0\0\0\0\0\0\0"), version(2, 0));
    assert_eq!(parse(b"GIOP\0\x01\0\0\0\0\0\0"), version(0, 1));
    assert_eq!(parse(b"GIOP\x01\x02\0\x08\0\0\0\0"), HeaderError::UnknownType(8));
    assert_eq!(parse(b"GIOP\x01\0\0\x07\0\0\0\0"), HeaderError::UnknownType(7), "no fragments in 1.0");
    assert_eq!(parse(b"GIOP\x01\x02\0\0\0\0\0\x65"), HeaderError::TooLarge { size: 101, limit: 100 });
    assert_eq!(parse(b"GIOP\x01\x02\x01\0\0\0\0\x01"), HeaderError::TooLarge { size: 1 << 24, limit: 100 });
    assert_eq!(parse(b"GIOP\x01\x02\x02\x05\0\0\0\0"), HeaderError::UnexpectedFragments);
    assert_eq!(parse(b"GIOP\x01\x01\x02\x03\0\0\0\0"), HeaderError::UnexpectedFragments);
    assert!(
        MessageHeader::parse(b"GIOP\x01\0\x02\0\0\0\0\x64", 100).is_ok_and(|header| !header.more_fragments)
    );
    assert_eq!(MessageHeader::of(b"GIOP\x01\0\0\0\0\0\0\x01", 100), Err(HeaderError::Incomplete));
}

#[test]
fn response_flags() {
    let mut octets = ping(V1_2, Little, b"");
    for (flags, expected) in [
        (0, Response::None),
        (1, Response::Server),
        (2, Response::None),
        (3, Response::Target),
        (0xF3, Response::Target),
    ] {
        octets[16] = flags;
        let request = RequestHeader::read(&header_of(&octets), &octets).unwrap();
        assert_eq!(request.response, expected, "{flags}");
    }
}

#[test]
fn messages_follow_one_another_in_a_buffer() {
    let mut buffer = b"odd".to_vec();
    let alone = ping(V1_2, Little, b"body");
    let request = RequestHeader::read(&header_of(&alone), &alone).unwrap();
    let contexts: Vec<_> = request.service_contexts.iter().collect();
    let again = NewRequest {
        request_id: request.request_id,
        response: request.response,
        target: NewTarget::Key(request.target.object_key().unwrap()),
        operation: str::from_utf8(request.operation).unwrap(),
        service_contexts: &contexts,
    };
    for _ in 0..2 {
        let open = begin_request(&mut buffer, V1_2, Little, &again).unwrap();
        "bod".encode(&mut open.writer(&mut buffer)).unwrap();
        open.abandon(&mut buffer);
        let open = begin_request(&mut buffer, V1_2, Little, &again).unwrap();
        open.writer(&mut buffer).write_bytes(b"body");
        assert_eq!(finish(&mut buffer, open), Ok(alone.len()));
    }
    assert_eq!(buffer, [b"odd", &*alone, &*alone].concat());
}

fn all_versions() -> impl Iterator<Item = (Version, ByteOrder)> {
    [V1_0, V1_1, V1_2].into_iter().flat_map(|version| [(version, Big), (version, Little)])
}

fn any_version() -> impl Strategy<Value = (Version, ByteOrder)> {
    prop::sample::select(all_versions().collect::<Vec<_>>())
}

fn octets(length: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..length)
}

/// Says of a message that it has only `length` octets.
fn shortened(message: &[u8], length: usize) -> Vec<u8> {
    let header = MessageHeader { size: (length - HEADER_LEN) as u32, ..header_of(message) };
    [&header.to_octets(), &message[HEADER_LEN..length]].concat()
}

proptest! {
    #[test]
    fn requests(
        (version, order) in any_version(),
        request_id in any::<u32>(),
        expected in any::<bool>(),
        key in octets(20),
        operation in "[a-z_]{0,12}",
        contexts in prop::collection::vec((any::<u32>(), octets(9)), 0..4),
        body in octets(20),
    ) {
        let contexts: Vec<_> = contexts.iter().map(|(id, data)| ServiceContext { id: *id, data }).collect();
        let response = if expected { Response::Target } else { Response::None };
        let request = NewRequest {
            request_id,
            response,
            target: NewTarget::Key(&key),
            operation: &operation,
            service_contexts: &contexts,
        };
        let mut message = vec![];
        let open = begin_request(&mut message, version, order, &request).unwrap();
        open.writer(&mut message).write_bytes(&body);
        finish(&mut message, open).unwrap();

        let read = RequestHeader::read(&header_of(&message), &message).unwrap();
        prop_assert_eq!((read.request_id, read.response), (request_id, response));
        prop_assert_eq!(read.target, Target::Key(&key));
        prop_assert_eq!(read.operation, operation.as_bytes());
        prop_assert_eq!(read.service_contexts.len(), contexts.len());
        prop_assert_eq!(read.service_contexts.iter().collect::<Vec<_>>(), contexts);
        prop_assert_eq!(read.body.rest(), &body);
        prop_assert!(body.is_empty() || read.body.position() % 8 == 0, "in all versions");

        let unpadded = open.body.next_multiple_of(8) - 8;
        for length in HEADER_LEN..open.body.min(message.len()) {
            prop_assert_eq!(MessageHeader::of(&message[..length], 1 << 20), Err(HeaderError::Incomplete));
            let cut = shortened(&message, length);
            let read = RequestHeader::read(&header_of(&cut), &cut);
            // Only where the padding of an absent body starts is a shorter message complete.
            prop_assert!(read.is_err() || version == V1_2 && length >= unpadded && read.unwrap().body.remaining() == 0);
        }
    }

    #[test]
    fn replies(
        (version, order) in any_version(),
        request_id in any::<u32>(),
        contexts in prop::collection::vec((any::<u32>(), octets(9)), 0..4),
        body in octets(20),
    ) {
        let contexts: Vec<_> = contexts.iter().map(|(id, data)| ServiceContext { id: *id, data }).collect();
        let status = ReplyStatus::UserException;
        let mut message = vec![];
        let reply = NewReply { request_id, status, service_contexts: &contexts };
        let open = begin_reply(&mut message, version, order, &reply).unwrap();
        open.writer(&mut message).write_bytes(&body);
        finish(&mut message, open).unwrap();

        let read = ReplyHeader::read(&header_of(&message), &message).unwrap();
        prop_assert_eq!((read.request_id, read.status), (request_id, status));
        prop_assert_eq!(read.service_contexts.iter().collect::<Vec<_>>(), contexts);
        prop_assert_eq!(read.body.rest(), &body);
        for length in HEADER_LEN..open.body.min(message.len()) {
            let cut = shortened(&message, length);
            let read = ReplyHeader::read(&header_of(&cut), &cut);
            prop_assert!(read.is_err() || version == V1_2 && read.unwrap().body.remaining() == 0);
        }
    }

    #[test]
    fn random_messages_never_panic(
        (version, order) in any_version(),
        body in prop::collection::vec(prop_oneof![3 => 0_u8..4, 1 => any::<u8>()], 0..120),
    ) {
        for kind in [MessageType::Request, MessageType::Reply, MessageType::LocateRequest, MessageType::LocateReply] {
            let header = MessageHeader { version, order, more_fragments: false, kind, size: body.len() as u32 };
            let message = [&header.to_octets(), &*body].concat();
            let header = header_of(&message);
            if let Ok(request) = RequestHeader::read(&header, &message) {
                let _ = request.target.object_key();
                prop_assert_eq!(request.service_contexts.iter().count(), request.service_contexts.len());
            }
            let _ = ReplyHeader::read(&header, &message).map(|mut r| SystemException::decode(&mut r.body));
            let _ = LocateRequestHeader::read(&header, &message).map(|r| r.target.object_key().is_ok());
            let _ = LocateReplyHeader::read(&header, &message).map(LocateReplyHeader::location);
            let _ = read_cancel_request(&header, &message);
        }
    }
}

#[test]
fn priorities_by_hand() {
    use throughline_giop::priority::{priority_octets, read_priority};
    assert_eq!(priority_octets(0x1234, Big), [0, 0, 0x12, 0x34]);
    assert_eq!(priority_octets(0x1234, Little), [1, 0, 0x34, 0x12]);
    for priority in [0, 1, 32767, -1, i16::MIN] {
        for order in [Big, Little] {
            assert_eq!(read_priority(&priority_octets(priority, order)), Ok(priority));
        }
    }
    // No byte order, one that is none, and too few octets.
    for wrong in [&[][..], &[2, 0, 0, 1], &[0], &[1, 0], &[0, 0, 1]] {
        assert!(read_priority(wrong).is_err(), "{wrong:?}");
    }
    assert_eq!(read_priority(&[0, 9, 0, 1, 7, 7]), Ok(1));
}
