//! Object keys that lead nowhere, and the ways to name an object.
#![allow(missing_docs)]

#[path = "common/raw.rs"]
mod raw;

use raw::{Asked, ORDERS, Probe, ProbeRef, Random, Said, Scene, Wire};
use throughline::{AdapterConfig, Completion, Ior, Kind, Strategy, Version};
use throughline_cdr::ByteOrder;
use throughline_giop::NewTarget;
use throughline_giop::header::MessageType;
use throughline_giop::ior::TaggedProfile;
use throughline_giop::locate::{LocateReplyHeader, LocateStatus, write_locate_request};
use throughline_giop::reply::ReplyStatus;
use throughline_giop::target::ProfileRef;

const NO_SUCH_OBJECT: (Kind, u32, Completion) = (Kind::ObjectNotExist, 0x4f4d_0002, Completion::No);

#[track_caller]
fn located(wire: &mut Wire, version: Version, target: &NewTarget<'_>) -> LocateStatus {
    let mut bytes = Vec::new();
    write_locate_request(&mut bytes, version, ByteOrder::NATIVE, 9, target).unwrap();
    wire.send(&bytes);
    let Said::Other(header, message) = wire.next() else { panic!("no LocateReply") };
    assert_eq!(header.kind, MessageType::LocateReply);
    let reply = LocateReplyHeader::read(&header, &message).unwrap();
    assert_eq!(reply.request_id, 9);
    reply.status
}

#[track_caller]
fn is_here(wire: &mut Wire, key: &[u8]) {
    wire.send(&raw::ping(key, 1));
    assert_eq!(wire.reply().unwrap().status, ReplyStatus::NoException);
    assert_eq!(located(wire, Version::V1_2, &NewTarget::Key(key)), LocateStatus::ObjectHere);
}

#[track_caller]
fn is_nowhere(wire: &mut Wire, key: &[u8]) {
    for version in raw::VERSIONS {
        for order in ORDERS {
            wire.send(&Asked { version, order, ..Asked::new(key, "ping", 1) }.bytes(|_| {}));
            assert_eq!(wire.reply().unwrap().exception(), NO_SUCH_OBJECT, "{key:02x?}");
        }
        assert_eq!(located(wire, version, &NewTarget::Key(key)), LocateStatus::UnknownObject);
    }
}

/// An object under each strategy, found by keys of each form.
fn objects(scene: &Scene) -> Vec<ProbeRef> {
    let mut all = vec![scene.own.clone()];
    for objects in Strategy::ALL {
        for stable_keys in [false, true] {
            let config = AdapterConfig { objects, stable_keys, ..AdapterConfig::default() };
            let name = format!("{objects}-{stable_keys}");
            let Ok(adapter) = scene.server.root().create_child(&name, config) else { continue };
            all.push(adapter.activate(Probe::default()).unwrap());
            all.push(adapter.activate(Probe::default()).unwrap());
            if objects == Strategy::PerfectHash {
                adapter.freeze().unwrap();
            }
        }
    }
    assert_eq!(all.len(), 1 + 2 * 7);
    all
}

#[test]
fn keys_that_are_nearly_right() {
    let scene = Scene::new();
    let mut wire = scene.wire();
    let own = objects(&scene);
    let keys: Vec<_> = own.iter().map(|o| o.0.object_key()).collect();
    for key in &keys {
        is_here(&mut wire, key);
        for cut in 0..key.len() {
            is_nowhere(&mut wire, &key[..cut]);
        }
        for more in [&b"\0"[..], b"x", b"/", &[0xff; 100]] {
            is_nowhere(&mut wire, &[key, more].concat());
        }
        // Each bit wrong; unless that gives the key of another object.
        for bit in 0..8 * key.len() {
            let mut wrong = key.clone();
            wrong[bit / 8] ^= 1 << (bit % 8);
            if !keys.contains(&wrong) {
                wire.send(&raw::ping(&wrong, 1));
                assert_eq!(wire.reply().unwrap().exception(), NO_SUCH_OBJECT, "{wrong:02x?}");
            }
        }
        is_here(&mut wire, key);
    }
}

#[test]
fn keys_that_are_guessed() {
    let scene = Scene::new();
    let mut wire = scene.wire();
    let keys: Vec<_> = objects(&scene).iter().map(|o| o.0.object_key()).collect();
    let mut random = Random(99);
    for key in keys.iter().filter(|k| k.starts_with(b"TL")) {
        for _ in 0..500 {
            // All but the nonce is known.
            let mut guess = key.clone();
            let nonce = if key.starts_with(b"TLa1") { 12 } else { 8 };
            guess[nonce..nonce + 8].copy_from_slice(&random.next().to_ne_bytes());
            wire.send(&raw::ping(&guess, 1));
            assert_eq!(wire.reply().unwrap().exception(), NO_SUCH_OBJECT);
        }
    }
    for key in [&b""[..], b"/", b"//", b"\0", &[0xff; 20], &[0; 20], b"TLa1", b"TLk1"] {
        is_nowhere(&mut wire, key);
    }
    // Every slot and tag with nonce 0: free slots have no right nonce.
    for slot in 0..64_u32 {
        for tag in 0..8_u32 {
            let key = [&b"TLa1"[..], &tag.to_ne_bytes(), &slot.to_ne_bytes(), &[0; 8]].concat();
            wire.send(&raw::ping(&key, 1));
            assert_eq!(wire.reply().unwrap().exception(), NO_SUCH_OBJECT);
        }
    }
    for length in [1000, 1_000_000] {
        is_nowhere(&mut wire, &vec![b'a'; length]);
    }
}

#[test]
fn keys_of_objects_that_are_gone() {
    let scene = Scene::new();
    let mut wire = scene.wire();
    for (n, objects) in Strategy::ALL.into_iter().enumerate() {
        let adapter = scene
            .server
            .root()
            .create_child(&format!("a{n}"), AdapterConfig { objects, ..AdapterConfig::default() })
            .unwrap();
        let gone = adapter.activate(Probe::default()).unwrap();
        let stays = adapter.activate(Probe::default()).unwrap();
        if objects == Strategy::PerfectHash {
            adapter.freeze().unwrap();
        }
        let (key, other) = (gone.0.object_key(), stays.0.object_key());
        is_here(&mut wire, &key);
        adapter.deactivate(&gone).unwrap();
        is_nowhere(&mut wire, &key);
        // Its place may be taken by another object: the old key does not lead there.
        if objects != Strategy::PerfectHash {
            let next = adapter.activate(Probe::default()).unwrap();
            assert_ne!(next.0.object_key(), key);
            is_nowhere(&mut wire, &key);
            is_here(&mut wire, &next.0.object_key());
        }
        is_here(&mut wire, &other);
        adapter.destroy();
        is_nowhere(&mut wire, &other);
    }
}

#[test]
fn keys_of_an_earlier_run() {
    let (first, second) = (Scene::new(), Scene::new());
    let mut wire = second.wire();
    let before: Vec<_> = objects(&first).iter().map(|o| o.0.object_key()).collect();
    let now: Vec<_> = objects(&second).iter().map(|o| o.0.object_key()).collect();
    for (before, now) in before.iter().zip(&now) {
        is_here(&mut wire, now);
        if before == now {
            // Stable keys are the same after a restart: that is what they are for.
            assert!(!now.starts_with(b"TL"));
        } else {
            is_nowhere(&mut wire, before);
        }
    }
}

/// The parts of the reference that requests may name it by.
fn profiles(scene: &Scene) -> (Ior, TaggedProfile) {
    let ior = scene.own.0.ior().clone();
    let profile = ior.profiles[0].clone();
    (ior, profile)
}

#[track_caller]
fn ask(wire: &mut Wire, target: NewTarget<'_>) -> Said {
    wire.send(&Asked { target, ..Asked::new(b"", "ping", 1) }.bytes(|_| {}));
    wire.next()
}

#[test]
fn objects_named_by_profile_and_by_reference() {
    let scene = Scene::new();
    let mut wire = scene.wire();
    let (ior, profile) = profiles(&scene);
    let other = TaggedProfile { tag: 99, data: vec![1, 2, 3] };
    let two = Ior { profiles: vec![other.clone(), profile.clone()], ..ior.clone() };
    for target in [
        NewTarget::Profile(ProfileRef::from(&profile)),
        NewTarget::Reference { ior: &ior, selected: 0 },
        NewTarget::Reference { ior: &two, selected: 1 },
    ] {
        let Said::Reply(answer) = ask(&mut wire, target) else { panic!("no reply to {target:?}") };
        assert_eq!(answer.status, ReplyStatus::NoException);
        assert_eq!(located(&mut wire, Version::V1_2, &target), LocateStatus::ObjectHere);
    }
    // Well-formed, but with no object key inside: refused, and the connection lives.
    let empty = TaggedProfile { data: Vec::new(), ..profile.clone() };
    let cut = TaggedProfile { data: profile.data[..profile.data.len() / 3].to_vec(), ..profile.clone() };
    for bad in [&other, &empty, &cut] {
        let single = Ior { profiles: vec![bad.clone()], ..ior.clone() };
        for target in [
            NewTarget::Profile(ProfileRef::from(bad)),
            NewTarget::Reference { ior: &single, selected: 0 },
            NewTarget::Reference { ior: &two, selected: 0 },
        ] {
            let Said::Reply(answer) = ask(&mut wire, target) else { panic!("no reply to {target:?}") };
            let (_, _, completed) = answer.exception();
            assert_eq!(completed, Completion::No);
            assert_eq!(located(&mut wire, Version::V1_2, &target), LocateStatus::UnknownObject);
        }
    }
    // A profile that is not there: as little, and the other calls on the connection go on.
    for selected in [1, 2, u32::MAX] {
        let target = NewTarget::Reference { ior: &ior, selected };
        let Said::Reply(answer) = ask(&mut wire, target) else { panic!("no reply to {target:?}") };
        assert_eq!(answer.exception().2, Completion::No);
        assert_eq!(located(&mut wire, Version::V1_2, &target), LocateStatus::UnknownObject);
    }
    // A way of naming that does not exist.
    let mut bytes = raw::ping(&scene.key, 1);
    bytes[20..22].copy_from_slice(&3_u16.to_ne_bytes());
    let mut wire = scene.wire();
    wire.send(&bytes);
    wire.expect_message_error();
    scene.assert_alive();
}

#[test]
fn a_forged_reference_leads_no_further_than_its_key() {
    // References to this server, made up by a client, are local to the server: their keys count, nothing else.
    let scene = Scene::new();
    let mut ior = scene.own.0.ior().clone();
    ior.type_id = "IDL:Something/Else:1.0".to_owned();
    let renamed = ProbeRef(scene.client.string_to_object(&ior.to_string()).unwrap());
    renamed.ping().unwrap();
    assert!(renamed.0.is_a(raw::ID).unwrap());
    let own = ProbeRef(scene.server.string_to_object(&ior.to_string()).unwrap());
    own.ping().unwrap();
}
