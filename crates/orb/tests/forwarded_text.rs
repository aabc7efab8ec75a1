//! Calls with text that are forwarded to servers with other code sets.
#![allow(missing_docs, clippy::redundant_closure)]

#[path = "common/raw.rs"]
mod raw;

use raw::{GRACE, Probe, ProbeRef, block_on, client, port_of, server, server_with};
use throughline::rt::{Decode, Encode, ObjectRef, Operation, rewrite};
use throughline::{Completion, Ior, Kind, Orb, SystemException, Version, WString};
use throughline_giop::profile::IiopProfile;

/// Has the same octets in no two code sets, and something after it.
const LATIN: &str = "grüße";
const UNICODE: &str = "grüße, 你好, 🦀";

/// A reference to the same object at the same server, which tells other things of it.
fn told_otherwise(object: &ObjectRef, change: impl Fn(&mut IiopProfile)) -> Ior {
    let mut ior = object.ior().clone();
    let mut profile = ior.iiop_profiles().next().unwrap().unwrap();
    change(&mut profile);
    ior.profiles = vec![profile.to_tagged().unwrap()];
    ior
}

/// As a server tells that knows nothing of code sets: strings are ISO 8859-1.
fn untold(orb: &Orb, object: &ObjectRef, version: Version) -> ObjectRef {
    orb.reference(told_otherwise(object, |profile| {
        profile.version = version;
        profile.components.clear();
    }))
}

type Call = fn(&ProbeRef, &str) -> Result<String, SystemException>;

fn blocking(probe: &ProbeRef, text: &str) -> Result<String, SystemException> {
    probe.text(text)
}

fn future(probe: &ProbeRef, text: &str) -> Result<String, SystemException> {
    block_on(probe.text_async(text))
}

/// Blocking calls are marshaled anew by their closures, futures by their rewriting functions.
const BOTH: [Call; 2] = [blocking, future];

/// Two servers; calls to `at` in the first are forwarded to what `target` makes of an object in the second.
struct Detour {
    first: Orb,
    second: Orb,
    moved: ObjectRef,
}

impl Detour {
    fn to(target: impl FnOnce(&Orb, &ObjectRef) -> ObjectRef) -> Self {
        let (first, second) = (server(), server());
        let object = second.root().activate(Probe::default()).unwrap();
        let moved = first.root().forward("moved", &target(&second, &object.0)).unwrap();
        Self { first, second, moved }
    }

    fn corbaloc(&self, client: &Orb, version: &str) -> ProbeRef {
        let text = format!("corbaloc:iiop:{version}127.0.0.1:{}/moved", port_of(&self.first));
        ProbeRef(client.string_to_object(&text).unwrap())
    }
}

impl Drop for Detour {
    fn drop(&mut self) {
        self.first.shutdown(GRACE);
        self.second.shutdown(GRACE);
    }
}

#[test]
fn from_latin1_to_utf8() {
    let detour = Detour::to(|_, object| object.clone());
    for version in ["", "1.1@", "1.2@"] {
        for call in BOTH {
            // Each time a new reference, which is not forwarded yet.
            assert_eq!(call(&detour.corbaloc(&client(), version), LATIN).unwrap(), LATIN, "{version}");
        }
    }
}

#[test]
fn from_utf8_to_latin1() {
    for version in [Version::V1_0, Version::V1_1, Version::V1_2] {
        let detour = Detour::to(|orb, object| untold(orb, object, version));
        for call in BOTH {
            let probe = || ProbeRef(client().reference(detour.moved.ior().clone()));
            assert_eq!(call(&probe(), LATIN).unwrap(), LATIN, "{version}");
            let e = call(&probe(), UNICODE).unwrap_err();
            assert_eq!((e.kind, e.completed), (Kind::DataConversion, Completion::No), "{e}");
        }
    }
}

#[test]
fn into_this_process_and_out_of_it() {
    let home = server();
    let own = home.root().activate(Probe::default()).unwrap();
    let first = server();
    let there = first.root().forward("moved", &own).unwrap();
    let away = home
        .root()
        .forward("away", &untold(&home, &first.root().activate(Probe::default()).unwrap().0, Version::V1_2))
        .unwrap();
    for call in BOTH {
        let text = format!("corbaloc:iiop:1.2@127.0.0.1:{}/moved", port_of(&first));
        assert_eq!(call(&ProbeRef(home.string_to_object(&text).unwrap()), LATIN).unwrap(), LATIN);
        let there = ProbeRef(home.reference(there.0.ior().clone()));
        assert_eq!(call(&there, UNICODE).unwrap(), UNICODE);
        let away = ProbeRef(home.reference(away.ior().clone()));
        assert_eq!(call(&away, LATIN).unwrap(), LATIN);
    }
    home.shutdown(GRACE);
    first.shutdown(GRACE);
}

#[test]
fn wide_text_between_versions() {
    let wide = |object: &ObjectRef| {
        let text = WString::from(UNICODE);
        let operation = Operation::new("wide", 2);
        let call = object.call_async(operation, |w| text.encode(w), |r| Decode::decode(r));
        let answer: Result<WString, SystemException> = block_on(call.rewriting(rewrite::<WString>));
        answer.map(|text| text.to_string())
    };
    for version in ["1.1@", "1.2@"] {
        for to in [Version::V1_1, Version::V1_2] {
            let target =
                |orb: &Orb, object: &ObjectRef| orb.reference(told_otherwise(object, |p| p.version = to));
            let detour = Detour::to(target);
            assert_eq!(wide(&detour.corbaloc(&client(), version).0).unwrap(), UNICODE, "{version} {to}");
        }
    }
    let detour = Detour::to(|orb, object| untold(orb, object, Version::V1_2));
    let e = wide(&detour.corbaloc(&client(), "1.2@").0).unwrap_err();
    assert_eq!((e.kind, e.completed), (Kind::InvObjref, Completion::No), "{e}");
}

#[test]
fn another_address_with_other_code_sets() {
    let (target, client) = (server(), client());
    let own = target.root().activate(Probe::default()).unwrap();
    let dead = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    // The first address, where nobody listens, would take UTF-8.
    let mut ior = told_otherwise(&own.0, |profile| profile.port = dead);
    ior.profiles.extend(untold(&target, &own.0, Version::V1_2).ior().profiles.clone());
    for call in BOTH {
        assert_eq!(call(&ProbeRef(client.reference(ior.clone())), LATIN).unwrap(), LATIN);
    }
    target.shutdown(GRACE);
}

#[test]
fn a_call_that_does_not_say_how_to_be_rewritten_can_be_made_again() {
    let detour = Detour::to(|_, object| object.clone());
    let probe = detour.corbaloc(&client(), "1.2@");
    let call = || {
        let operation = Operation::new("text", 1);
        block_on(probe.0.call_async(operation, |w| LATIN.encode(w), |r| Decode::decode(r)))
    };
    let e: SystemException = Result::<String, _>::unwrap_err(call());
    assert_eq!((e.kind, e.completed), (Kind::Transient, Completion::No));
    assert!(e.to_string().contains("call again"), "{e}");
    assert_eq!(call().unwrap(), LATIN);
    // What has no arguments looks the same everywhere.
    block_on(detour.corbaloc(&client(), "").ping_async()).unwrap();
    // So does text between servers that agree on it, with wide text or without.
    let old = server_with(|c| c.max_version = Version::V1_0);
    let target = old.root().activate(Probe::default()).unwrap();
    let detour = Detour::to(|orb, _| untold(orb, &target.0, Version::V1_0));
    let probe = ProbeRef(untold(&client(), &detour.moved, Version::V1_2));
    let operation = Operation::new("text", 1);
    let call = probe.0.call_async(operation, |w| LATIN.encode(w), |r| Decode::decode(r));
    let answer: Result<String, SystemException> = block_on(call);
    assert_eq!(answer.unwrap(), LATIN);
    old.shutdown(GRACE);
}
