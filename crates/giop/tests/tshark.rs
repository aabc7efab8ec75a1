//! What we write, looked at by Wireshark's GIOP dissector; skipped where `tshark` is not installed.

use std::io::Write;
use std::process::Command;

use throughline_cdr::ByteOrder;
use throughline_giop::codeset::{CodeSetComponentInfo, negotiate};
use throughline_giop::control::*;
use throughline_giop::fragment::split_into;
use throughline_giop::locate::*;
use throughline_giop::reply::*;
use throughline_giop::request::*;
use throughline_giop::service_context::CODE_SETS;
use throughline_giop::target::{AddressingDisposition, ProfileRef};
use throughline_giop::*;

fn reference() -> Ior {
    let profile = IiopProfile {
        version: Version::V1_2,
        host: "localhost".to_owned(),
        port: 2809,
        object_key: b"account".to_vec(),
        components: vec![CodeSetComponentInfo::ours().to_component().unwrap()],
    };
    Ior::of_iiop("IDL:Bank/Account:1.0", &profile).unwrap()
}

fn requests(version: Version, order: ByteOrder, ior: &Ior) -> Vec<Vec<u8>> {
    let context = negotiate(&CodeSetComponentInfo::ours()).to_octets(order);
    let contexts = [ServiceContext { id: CODE_SETS, data: &context }];
    let mut targets = vec![NewTarget::Key(b"account")];
    if version == Version::V1_2 {
        targets.push(NewTarget::Profile(ProfileRef::from(&ior.profiles[0])));
        targets.push(NewTarget::Reference { ior, selected: 0 });
    }
    let mut messages = vec![];
    for target in targets {
        for (body, contexts) in [(0, &contexts[..]), (100, &[])] {
            let request = NewRequest {
                request_id: 1,
                response: Response::Target,
                target,
                operation: "deposit",
                service_contexts: contexts,
            };
            let mut message = vec![];
            let open = begin_request(&mut message, version, order, &request).unwrap();
            open.writer(&mut message).write_bytes(&vec![7; body]);
            finish(&mut message, open).unwrap();
            messages.push(message);
        }
        let mut message = vec![];
        write_locate_request(&mut message, version, order, 2, &target).unwrap();
        messages.push(message);
    }
    messages
}

/// What `write` writes.
fn written(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut message = vec![];
    write(&mut message);
    message
}

fn answers(version: Version, order: ByteOrder, ior: &Ior) -> Vec<Vec<u8>> {
    let exception = SystemException::new(SystemExceptionKind::Transient, 1, CompletionStatus::No);
    let reply = NewReply { request_id: 1, status: ReplyStatus::NoException, service_contexts: &[] };
    let mut messages = vec![
        written(|b| {
            let open = begin_reply(b, version, order, &reply).unwrap();
            open.writer(b).write_u64(5);
            finish(b, open).unwrap();
        }),
        written(|b| write_system_exception(b, version, order, 1, &[], &exception).unwrap()),
        written(|b| write_location_forward(b, version, order, 1, ior, true).unwrap()),
        written(|b| write_cancel_request(b, version, order, 1)),
        written(|b| write_close_connection(b, version, order)),
        written(|b| write_message_error(b, version, order)),
    ];
    let mut locations = vec![Location::Unknown, Location::Here];
    if version == Version::V1_2 {
        let wanted = AddressingDisposition::Reference;
        messages.push(written(|b| write_needs_addressing_mode(b, order, 1, wanted).unwrap()));
    } else {
        // The dissector expects this body at a multiple of 8 in GIOP 1.2. The standard says so of requests and replies
        // only, and omniORB and Java's ORB read it right after the status.
        locations.push(Location::Forward(ior.clone()));
    }
    let located = locations.iter();
    messages.extend(located.map(|at| written(|b| write_locate_reply(b, version, order, 2, at).unwrap())));
    messages
}

/// A pcap file of raw IPv4 packets: a TCP connection to the port of GIOP, with a message per segment.
fn pcap(messages: &[Vec<u8>]) -> Vec<u8> {
    const RAW_IP: u32 = 101;
    const HEADERS: usize = 40;
    let mut file = vec![];
    for field in [0xA1B2_C3D4, 0x0004_0002, 0, 0, 65535, RAW_IP] {
        file.extend_from_slice(&u32::to_le_bytes(field));
    }
    let mut sequence = 1_u32;
    for message in messages {
        let total = (message.len() + HEADERS) as u16;
        for field in [0, 0, u32::from(total), u32::from(total)] {
            file.extend_from_slice(&field.to_le_bytes());
        }
        file.extend_from_slice(&[0x45, 0]);
        file.extend_from_slice(&total.to_be_bytes());
        file.extend_from_slice(&[0, 0, 0, 0, 64, 6, 0, 0, 127, 0, 0, 1, 127, 0, 0, 1]);
        file.extend_from_slice(&[0x9C, 0x40, 0x0A, 0xF9]);
        file.extend_from_slice(&sequence.to_be_bytes());
        file.extend_from_slice(&[0, 0, 0, 1, 0x50, 0x18, 0xFF, 0xFF, 0, 0, 0, 0]);
        file.extend_from_slice(message);
        sequence += message.len() as u32;
    }
    file
}

/// The packets that match a filter, as tshark prints them.
fn tshark(file: &std::path::Path, filter: &str) -> Option<Vec<String>> {
    let file = file.to_str().unwrap();
    let arguments = ["-n", "-r", file, "-d", "tcp.port==2809,giop", "-Y", filter];
    let Ok(output) = Command::new("tshark").args(arguments).output() else {
        // Straight to stderr, where the test harness does not swallow it.
        let _ = writeln!(std::io::stderr(), "SKIPPED: tshark is not installed");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}

#[test]
fn nothing_is_malformed() {
    let ior = reference();
    let mut messages = vec![];
    for version in [Version::V1_0, Version::V1_1, Version::V1_2] {
        for order in [ByteOrder::Big, ByteOrder::Little] {
            messages.extend(requests(version, order, &ior));
            messages.extend(answers(version, order, &ior));
        }
    }
    let whole = messages.len();
    let long = requests(Version::V1_2, ByteOrder::Little, &ior).swap_remove(1);
    let mut pieces = vec![];
    split_into(&MessageHeader::of(&long, usize::MAX).unwrap(), &long, 64, &mut pieces);
    messages.extend(pieces.chunks(64).map(<[u8]>::to_vec));
    assert!(messages.len() > whole + 2);

    let folder = std::env::temp_dir().join(format!("throughline-giop-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("written.pcap");
    std::fs::write(&file, pcap(&messages)).unwrap();
    let seen = tshark(&file, "giop");
    let bad = tshark(&file, "_ws.malformed || _ws.short || _ws.expert.severity >= 0x00600000");

    // The dissector must be able to say no.
    messages[0].truncate(20);
    std::fs::write(&file, pcap(&messages)).unwrap();
    let broken = tshark(&file, "_ws.malformed || _ws.short");
    std::fs::remove_dir_all(&folder).unwrap();

    let (Some(seen), Some(bad), Some(broken)) = (seen, bad, broken) else { return };
    assert_eq!(bad, Vec::<String>::new());
    assert_eq!(seen.len(), messages.len());
    assert!(!broken.is_empty());
}
