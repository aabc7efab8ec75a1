//! Text in code sets that were agreed upon, that were not, and that are none of ours.
#![allow(missing_docs)]

#[path = "common/raw.rs"]
mod raw;

use raw::{Asked, BadServer, GRACE, LONG, ProbeRef, Scene, VERSIONS, Wire, block_on, client, reply_of};
use throughline::{Completion, Ior, Kind, SystemException, Version};
use throughline_cdr::{ByteOrder, Writer};
use throughline_giop::codeset::CodeSetContext;
use throughline_giop::profile::IiopProfile;
use throughline_giop::reply::ReplyStatus;
use throughline_giop::service_context::{CODE_SETS, ServiceContext};

const UTF8: u32 = 0x0501_0001;
const LATIN1: u32 = 0x0001_0001;
const UTF16: u32 = 0x0001_0109;
const EBCDIC: u32 = 0x1002_0025;

/// Octets as a string on the wire, whatever they mean.
fn octets(w: &mut Writer<'_>, text: &[u8]) {
    w.write_u32(text.len() as u32 + 1);
    w.write_bytes(text);
    w.write_u8(0);
}

struct Talk {
    wire: Wire,
    key: Vec<u8>,
    version: Version,
}

impl Talk {
    /// Sends a string, announcing code sets or not, and returns the octets that come back.
    #[track_caller]
    fn echo(&mut self, sets: Option<(u32, u32)>, text: &[u8]) -> Result<Vec<u8>, (Kind, u32, Completion)> {
        let context = sets.map(|(char_data, wchar_data)| {
            CodeSetContext { char_data, wchar_data }.to_octets(ByteOrder::NATIVE)
        });
        let contexts: Vec<_> = context.iter().map(|data| ServiceContext { id: CODE_SETS, data }).collect();
        let asked = Asked { version: self.version, contexts: &contexts, ..Asked::new(&self.key, "text", 1) };
        self.wire.send(&asked.bytes(|w| octets(w, text)));
        let answer = self.wire.reply().unwrap();
        if answer.status == ReplyStatus::SystemException {
            return Err(answer.exception());
        }
        let mut r = answer.reader();
        let length = r.read_u32().unwrap() as usize;
        Ok(r.read_bytes(length - 1).unwrap().to_vec())
    }
}

fn talk(scene: &Scene, version: Version) -> Talk {
    Talk { wire: scene.wire(), key: scene.key.clone(), version }
}

#[test]
fn without_a_word_it_is_latin1() {
    let scene = Scene::new();
    for version in VERSIONS {
        let every: Vec<u8> = (1..=255).collect();
        assert_eq!(talk(&scene, version).echo(None, &every).unwrap(), every, "{version}");
    }
}

#[test]
fn announced_utf8_is_utf8_from_then_on() {
    let scene = Scene::new();
    for version in [Version::V1_1, Version::V1_2] {
        let mut talk = talk(&scene, version);
        let text = "grüße, 你好, 🦀".as_bytes();
        assert_eq!(talk.echo(Some((UTF8, UTF16)), text).unwrap(), text);
        assert_eq!(talk.echo(None, text).unwrap(), text);
        for wrong in
            [&b"\xff"[..], b"gr\xfc\xdfe", b"\xc0\x80", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"cut \xe4\xbd"]
        {
            let (kind, _, completed) = talk.echo(None, wrong).unwrap_err();
            assert_eq!((kind, completed), (Kind::DataConversion, Completion::No), "{wrong:02x?}");
        }
        assert_eq!(talk.echo(None, b"still there").unwrap(), b"still there");
    }
}

#[test]
fn announced_latin1_is_latin1() {
    let scene = Scene::new();
    let every: Vec<u8> = (1..=255).collect();
    assert_eq!(talk(&scene, Version::V1_2).echo(Some((LATIN1, UTF16)), &every).unwrap(), every);
    assert_eq!(talk(&scene, Version::V1_2).echo(Some((0, 0)), &every).unwrap(), every);
}

#[test]
fn a_code_set_that_was_not_offered_is_refused() {
    let scene = Scene::new();
    for set in [EBCDIC, 1, u32::MAX] {
        let mut talk = talk(&scene, Version::V1_2);
        for sets in [Some((set, UTF16)), None] {
            let refused = talk.echo(sets, b"hello").unwrap_err();
            assert_eq!(refused, (Kind::CodesetIncompatible, 0x4f4d_0002, Completion::No), "{set:#x}");
        }
    }
    scene.assert_alive();
}

#[test]
fn a_context_that_makes_no_sense_harms_nobody() {
    let scene = Scene::new();
    let mut wire = scene.wire();
    for data in [&b""[..], &[1], &[7; 3], &[9, 0, 0, 0], &[1, 0, 0, 0, 1]] {
        let contexts = [ServiceContext { id: CODE_SETS, data }];
        wire.send(
            &Asked { contexts: &contexts, ..Asked::new(&scene.key, "text", 1) }.bytes(|w| octets(w, b"x")),
        );
        assert_eq!(wire.reply().unwrap().status, ReplyStatus::NoException, "{data:?}");
    }
}

#[test]
fn text_without_its_end() {
    let scene = Scene::new();
    let mut wire = scene.wire();
    let wrong: [fn(&mut Writer<'_>); 4] = [
        |w| w.write_u32(0),
        |w| {
            w.write_u32(3);
            w.write_bytes(b"abc");
        },
        |w| {
            w.write_u32(4);
            w.write_bytes(b"a\0b\0");
        },
        |w| {
            w.write_u32(5);
            w.write_bytes(b"abc\0");
        },
    ];
    for (n, write) in wrong.into_iter().enumerate() {
        wire.send(&Asked::new(&scene.key, "text", 1).bytes(write));
        let answer = wire.reply().unwrap();
        // A length of 0 is how some ORBs write the empty string.
        if n == 0 && answer.status == ReplyStatus::NoException {
            continue;
        }
        let (kind, _, completed) = answer.exception();
        assert_eq!((kind, completed), (Kind::Marshal, Completion::No), "{n}");
    }
}

#[test]
fn wide_text() {
    let scene = Scene::new();
    let wide = |version, sets: Option<(u32, u32)>, data: &[u8]| {
        let context = sets.map(|(char_data, wchar_data)| {
            CodeSetContext { char_data, wchar_data }.to_octets(ByteOrder::Big)
        });
        let contexts: Vec<_> = context.iter().map(|data| ServiceContext { id: CODE_SETS, data }).collect();
        let order = ByteOrder::Big;
        let asked = Asked { version, order, contexts: &contexts, ..Asked::new(&scene.key, "wide", 1) };
        let mut wire = scene.wire();
        wire.send(&asked.bytes(|w| {
            let units = if version == Version::V1_1 { data.len() / 2 } else { data.len() };
            w.write_u32(units as u32);
            w.write_bytes(data);
        }));
        let answer = wire.reply().unwrap();
        (answer.status == ReplyStatus::SystemException).then(|| answer.exception())
    };
    let text: Vec<u8> = "grüße 🦀".encode_utf16().flat_map(u16::to_be_bytes).collect();
    let with_end = [&text[..], &[0, 0]].concat();
    let both = Some((UTF8, UTF16));
    assert_eq!(wide(Version::V1_2, both, &text), None);
    assert_eq!(wide(Version::V1_1, both, &with_end), None);
    // GIOP 1.0 has no wide text, whatever is announced.
    let none = Some((Kind::Marshal, 0x4f4d_0005, Completion::No));
    assert_eq!(wide(Version::V1_0, None, &text), none);
    assert_eq!(wide(Version::V1_0, both, &text), none);
    // A client that says that it has none, or one of its own.
    assert_eq!(wide(Version::V1_2, Some((UTF8, 0)), &text), none);
    assert_eq!(wide(Version::V1_2, Some((UTF8, EBCDIC)), &text), none);
    // Half a pair of surrogates, half a unit, no end where one is due.
    let (kind, ..) = wide(Version::V1_2, both, &[0xd8, 0x3e]).unwrap();
    assert_eq!(kind, Kind::DataConversion);
    let (kind, ..) = wide(Version::V1_2, both, &text[..3]).unwrap();
    assert_eq!(kind, Kind::Marshal);
    let (kind, ..) = wide(Version::V1_1, both, &text).unwrap();
    assert_eq!(kind, Kind::Marshal);
}

/// A name that a stranger has made up: its characters take several each to be shown, and do something to a terminal if they are not.
fn without_end() -> String {
    format!("long{}", "\u{1b}".repeat(1 << 16))
}

#[track_caller]
fn assert_told_in_part(e: &SystemException) {
    let detail = e.detail_text().unwrap_or_default();
    assert!(detail.len() < 8192, "{} octets", detail.len());
    assert!(detail.contains("long") && !detail.contains('\u{1b}'), "{detail}");
}

#[test]
fn of_what_a_reference_calls_its_interface_and_its_hosts_the_beginning_is_told() {
    let client = client();
    let (host, object_key) = (without_end(), b"x".to_vec());
    let profile = IiopProfile { version: Version::V1_2, host, port: 1, object_key, components: Vec::new() };
    let nowhere = Ior { type_id: without_end(), profiles: Vec::new() };
    let unknown = Ior { type_id: raw::ID.into(), profiles: vec![profile.to_tagged().unwrap()] };
    for place in [nowhere, unknown] {
        let probe = ProbeRef(client.reference(place)).within(LONG);
        for future in [false, true] {
            assert_told_in_part(
                &if future { block_on(probe.ping_async()) } else { probe.ping() }.unwrap_err(),
            );
        }
    }
    client.shutdown(GRACE);
}

#[test]
fn of_what_a_name_service_answers_with_the_beginning_is_told() {
    let client = client();
    let names = BadServer::new(|_, mut wire| {
        while let Some(heard) = wire.request() {
            wire.send(&reply_of(heard.id, ReplyStatus::UserException, |w| {
                w.write_string(&without_end()).unwrap();
            }));
        }
    });
    let name = format!("corbaname:iiop:1.2@127.0.0.1:{}#x", names.port);
    assert_told_in_part(&client.string_to_object(&name).unwrap_err());
    client.shutdown(GRACE);
}
