//! Text through `corbaloc:` references, which have no place for code sets.
#![allow(missing_docs, clippy::redundant_closure)]

#[path = "common/raw.rs"]
mod raw;

use raw::{ProbeRef, Scene, server};
use throughline::rt::{Decode, Encode, ObjectRef, Operation};
use throughline::{Completion, Kind, SystemException, WString};
use throughline_giop::Version;

const TEXT: &str = "grüße, 你好, 🦀";

fn wide(object: &ObjectRef) -> Result<WString, SystemException> {
    let text = WString::from(TEXT);
    object.call(Operation::new("wide", 2), |w| text.encode(w), |r| Decode::decode(r))
}

fn located(scene: &Scene, version: &str) -> ObjectRef {
    scene.server.root().activate_with_id("here", scene.servant.clone()).unwrap();
    let address = scene.server.addresses()[0].to_string();
    let port = address.rsplit(':').next().unwrap();
    scene.client.string_to_object(&format!("corbaloc:iiop:{version}127.0.0.1:{port}/here")).unwrap()
}

#[test]
fn wide_text_is_utf16() {
    for version in ["1.1@", "1.2@"] {
        let scene = Scene::new();
        let object = located(&scene, version);
        assert_eq!(wide(&object).unwrap().to_string(), TEXT, "{version}");
    }
}

#[test]
fn text_is_latin1() {
    for version in ["", "1.1@", "1.2@"] {
        let scene = Scene::new();
        let probe = ProbeRef(located(&scene, version));
        assert_eq!(probe.text("grüße").unwrap(), "grüße", "{version}");
        let e = probe.text(TEXT).unwrap_err();
        assert_eq!((e.kind, e.completed), (Kind::DataConversion, Completion::No));
    }
}

#[test]
fn giop_1_0_has_no_wide_text_and_the_error_tells_what_to_do() {
    let scene = Scene::new();
    let e = wide(&located(&scene, "")).unwrap_err();
    assert_eq!((e.kind, e.minor, e.completed), (Kind::Marshal, 0x4f4d_0005, Completion::No));
    assert!(e.to_string().contains("corbaloc:iiop:1.2@"), "{e}");
}

#[test]
fn a_reference_that_could_tell_a_code_set_and_does_not_has_no_wide_text() {
    let (scene, other) = (Scene::new(), server());
    let mut ior = scene.own.0.ior().clone();
    let mut profile = ior.iiop_profiles().next().unwrap().unwrap();
    assert_eq!(profile.version, Version::V1_2);
    profile.components.clear();
    ior.profiles = vec![profile.to_tagged().unwrap()];
    let e = wide(&other.reference(ior)).unwrap_err();
    assert_eq!((e.kind, e.minor, e.completed), (Kind::InvObjref, 0x4f4d_0001, Completion::No));
    assert!(e.to_string().contains("tells no code set"), "{e}");
}
