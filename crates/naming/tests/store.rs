//! Bindings and contexts survive a restart.

mod common;

use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::time::Duration;

use common::{Service, name, orb, thing};
use throughline::{AdapterError, Address, Kind, Orb, OrbConfig, TypedReference};
use throughline_naming::cos_naming::{NamingContextBindError, NamingContextExtRef, NamingContextUnbindError};
use throughline_naming::{NameServer, NamingConfig, NamingError, ROOT_KEY, client};

struct File(PathBuf);

impl File {
    fn new(what: &str) -> Self {
        let file = format!("throughline-naming-{what}-{}.redb", std::process::id());
        Self(std::env::temp_dir().join(file))
    }

    fn config(&self) -> NamingConfig {
        NamingConfig { store: Some(self.0.clone()), ..NamingConfig::default() }
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn everything_is_there_again() {
    let file = File::new("again");
    let client = orb();
    let one = thing(&client, "one");
    let first = Service::start(file.config());
    let (root, port) = (first.root(&client), first.port);
    let a = root.bind_new_context(&name("a")).unwrap().unwrap();
    root.bind_new_context(&name("a/b.c")).unwrap();
    root.bind(&name("a/b.c/x"), Some(&one)).unwrap();
    root.bind(&name("a/nil"), None).unwrap();
    root.bind(&name("gone"), Some(&one)).unwrap();
    root.unbind(&name("gone")).unwrap();
    let unbound = root.new_context().unwrap().unwrap();
    let destroyed = root.new_context().unwrap().unwrap();
    destroyed.destroy().unwrap();
    drop(first);

    let second = Service::start_at(port, file.config());
    assert_eq!(root.resolve(&name("a/b.c/x")).unwrap().unwrap().ior(), one.ior());
    assert_eq!(root.resolve(&name("a/nil")).unwrap(), None);
    root.resolve(&name("gone")).unwrap_err();
    // References that clients kept are good.
    assert_eq!(a.resolve(&name("b.c/x")).unwrap().unwrap().ior(), one.ior());
    unbound.bind(&name("x"), Some(&one)).unwrap();
    assert!(destroyed.as_object().non_existent().unwrap());
    drop(second);

    // At another address, contexts are found there.
    let third = Service::start(file.config());
    let root = third.root(&client);
    let a: NamingContextExtRef = root.resolve(&name("a")).unwrap().unwrap().narrow().unwrap().unwrap();
    assert_eq!(a.resolve(&name("b.c/x")).unwrap().unwrap().ior(), one.ior());
}

#[test]
fn a_store_in_use_or_no_store_is_refused() {
    let file = File::new("refused");
    let _first = Service::start(file.config());
    let orb = Orb::listening_at(&[Address::tcp("127.0.0.1", 0)]).unwrap();
    let error = NameServer::start(&orb, file.config()).unwrap_err();
    assert!(matches!(error, NamingError::Store { .. }), "{error}");
    let other = File::new("text");
    std::fs::write(&other.0, "not a database").unwrap();
    assert!(NameServer::start(&orb, other.config()).is_err());
}

#[test]
fn a_service_that_could_not_be_started_leaves_nothing() {
    let file = File::new("nothing");
    let orb = Orb::listening_at(&[Address::tcp("127.0.0.1", 0)]).unwrap();
    // Its key is another object's.
    let elsewhere = NamingContextExtRef::from_object(thing(&orb, "elsewhere"));
    let other = orb.root().forward(ROOT_KEY, &elsewhere).unwrap();
    let error = NameServer::start(&orb, file.config()).unwrap_err();
    assert!(matches!(error, NamingError::Adapter(AdapterError::ObjectExists)), "{error}");
    orb.root().deactivate(&other).unwrap();
    NameServer::start(&orb, file.config()).unwrap();
    orb.shutdown(Duration::ZERO);
}

/// What bindings of the root lead to, by their names.
fn all(config: NamingConfig) -> Result<Vec<(String, String)>, NamingError> {
    let orb = Orb::listening_at(&[Address::tcp("127.0.0.1", 0)]).unwrap();
    let root = NameServer::start(&orb, config)?.root();
    let bindings = client::list(&root.clone().into()).unwrap().map(|binding| binding.unwrap().binding_name);
    let found =
        bindings.map(|n| (client::name_to_string(&n), root.resolve(&n).unwrap().unwrap().to_string()));
    let found = found.collect();
    orb.shutdown(Duration::ZERO);
    Ok(found)
}

#[test]
fn a_damaged_store_is_refused_or_right() {
    let (whole, damaged) = (File::new("whole"), File::new("damaged"));
    let (first, client) = (Service::start(whole.config()), orb());
    let root = first.root(&client);
    (0..40).for_each(|n| root.bind(&name(&format!("n{n}")), Some(&thing(&client, "x"))).unwrap());
    drop(first);
    let right = all(whole.config()).unwrap();
    assert_eq!(right.len(), 40);
    let octets = std::fs::read(&whole.0).unwrap();
    let mut refused = 0;
    for (at, page) in octets.chunks(4096).enumerate().filter(|(_, page)| page.iter().any(|o| *o != 0)) {
        // All of a page is lost, or a bit of its last text, or of anything.
        let text = page.iter().rposition(u8::is_ascii_digit).unwrap_or(0);
        for (from, to, mask) in
            [(0, page.len(), 0x5a), (text, text + 1, 1), (at * 97 % page.len(), page.len(), 4)]
        {
            let mut octets = octets.clone();
            octets[at * 4096..][from..to].iter_mut().for_each(|octet| *octet ^= mask);
            std::fs::write(&damaged.0, &octets).unwrap();
            match all(damaged.config()) {
                Ok(found) => assert_eq!(found, right, "page {at}"),
                Err(error) => {
                    assert!(matches!(error, NamingError::Store { .. }), "{error}");
                    refused += 1;
                }
            }
        }
    }
    assert!(refused > 0);
}

#[test]
fn nothing_is_kept_in_a_store_that_is_damaged_while_it_is_in_use() {
    let file = File::new("in-use");
    let (first, client) = (Service::start(file.config()), orb());
    let large = thing(&client, &"k".repeat(15_000));
    let root = first.root(&client);
    let names: Vec<_> = (0..500).map(|n| name(&format!("n{n}"))).collect();
    names.iter().for_each(|name| root.bind(name, Some(&large)).unwrap());
    drop(first);
    let second = Service::start(file.config());
    let root = second.root(&client);
    let file = std::fs::File::options().write(true).open(&file.0).unwrap();
    for at in 1..file.metadata().unwrap().len() / 4096 {
        file.write_all_at(&[0x5a; 4096], at * 4096).unwrap();
    }
    let refusal = names.iter().find_map(|name| root.unbind(name).err());
    let Some(NamingContextUnbindError::System(refusal)) = refusal else { panic!("{refusal:?}") };
    assert_eq!(refusal.kind, Kind::PersistStore);
    // Nor later, when it would be opened again; what is known is known.
    std::thread::sleep(Duration::from_millis(1500));
    let later = root.bind(&name("later"), Some(&large));
    assert!(matches!(later, Err(NamingContextBindError::System(e)) if e.kind == Kind::PersistStore));
    assert!(root.resolve(&names[499]).unwrap().is_some());
}

#[test]
fn contexts_that_could_not_be_made_objects_are_not_kept() {
    let file = File::new("objects");
    let start = || {
        let listen = vec![Address::tcp("127.0.0.1", 0)];
        let orb = Orb::start(OrbConfig { listen, max_objects: 4, ..OrbConfig::default() }).unwrap();
        NameServer::start(&orb, file.config()).map(|server| (orb, server.root()))
    };
    let (orb, root) = start().unwrap();
    assert_eq!((0..9).filter(|_| root.new_context().is_ok()).count(), 3);
    orb.shutdown(Duration::ZERO);
    drop((orb, root));
    start().unwrap().0.shutdown(Duration::ZERO);
}
