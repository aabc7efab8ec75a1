//! Reads one message with the reader of its kind.
#![no_main]

use libfuzzer_sys::fuzz_target;
use throughline_cdr::{ByteOrder, Decode};
use throughline_giop::codeset::CodeSetContext;
use throughline_giop::control::read_cancel_request;
use throughline_giop::locate::{LocateReplyHeader, LocateRequestHeader};
use throughline_giop::priority::{priority_octets, read_priority};
use throughline_giop::reply::{NewReply, ReplyHeader, ReplyStatus, begin_reply};
use throughline_giop::request::{NewRequest, RequestHeader, begin_request};
use throughline_giop::target::AddressingDisposition;
use throughline_giop::*;

fn request(header: &MessageHeader, message: &[u8]) {
    let Ok(read) = RequestHeader::read(header, message) else { return };
    let contexts: Vec<_> = read.service_contexts.iter().collect();
    assert_eq!(contexts.len(), read.service_contexts.len());
    for context in &contexts {
        let _ = CodeSetContext::from_octets(context.data).map(|chosen| chosen.code_sets(header.version));
        if let Ok(priority) = read_priority(context.data) {
            let octets = priority_octets(priority, ByteOrder::from_flag(context.data[0] == 1));
            assert_eq!((octets[0], &octets[2..]), (context.data[0], &context.data[2..4]));
        }
    }
    let (Ok(key), Ok(operation)) = (read.target.object_key(), str::from_utf8(read.operation)) else { return };
    // No operation has such a name; it can be received, but not sent.
    if !operation.is_ascii() || operation.contains('\0') {
        return;
    }

    let again = NewRequest {
        request_id: read.request_id,
        response: read.response,
        target: NewTarget::Key(key),
        operation,
        service_contexts: &contexts,
    };
    let mut buffer = vec![];
    let open = begin_request(&mut buffer, header.version, header.order, &again).expect("it was read");
    open.writer(&mut buffer).write_bytes(read.body.rest());
    finish(&mut buffer, open).expect("it is small");
    let header = MessageHeader::of(&buffer, usize::MAX).expect("we wrote it");
    let reread = RequestHeader::read(&header, &buffer).expect("we wrote it");
    assert_eq!((reread.request_id, reread.response), (read.request_id, read.response));
    assert_eq!((reread.target, reread.operation), (Target::Key(key), read.operation));
    assert_eq!(reread.body.rest(), read.body.rest());
}

fn reply(header: &MessageHeader, message: &[u8]) {
    let Ok(read) = ReplyHeader::read(header, message) else { return };
    let mut body = read.body.clone();
    match read.status {
        ReplyStatus::NoException => {}
        ReplyStatus::UserException => drop(body.read_string()),
        ReplyStatus::SystemException => drop(SystemException::decode(&mut body)),
        ReplyStatus::LocationForward | ReplyStatus::LocationForwardPerm => drop(Ior::decode(&mut body)),
        ReplyStatus::NeedsAddressingMode => drop(AddressingDisposition::decode(&mut body)),
    }
    let contexts: Vec<_> = read.service_contexts.iter().collect();
    let again = NewReply { request_id: read.request_id, status: read.status, service_contexts: &contexts };
    let mut buffer = vec![];
    let open = begin_reply(&mut buffer, header.version, header.order, &again).expect("it was read");
    open.writer(&mut buffer).write_bytes(read.body.rest());
    finish(&mut buffer, open).expect("it is small");
    let header = MessageHeader::of(&buffer, usize::MAX).expect("we wrote it");
    let reread = ReplyHeader::read(&header, &buffer).expect("we wrote it");
    assert_eq!((reread.request_id, reread.status), (read.request_id, read.status));
    assert_eq!(reread.body.rest(), read.body.rest());
}

fuzz_target!(|message: &[u8]| {
    // The size is made right, so that what comes after the header is what is tested.
    let Some((first, body)) = message.split_first_chunk::<HEADER_LEN>() else { return };
    let Ok(header) = MessageHeader::parse(first, usize::MAX) else { return };
    let header = MessageHeader { size: body.len() as u32, ..header };
    let message = [&header.to_octets(), body].concat();
    assert_eq!(MessageHeader::of(&message, body.len()), Ok(header));
    match header.kind {
        MessageType::Request => request(&header, &message),
        MessageType::Reply => reply(&header, &message),
        MessageType::LocateRequest => {
            let _ = LocateRequestHeader::read(&header, &message).map(|read| read.target.object_key().is_ok());
        }
        MessageType::LocateReply => {
            let _ = LocateReplyHeader::read(&header, &message).map(LocateReplyHeader::location);
        }
        _ => drop(read_cancel_request(&header, &message)),
    }
});
