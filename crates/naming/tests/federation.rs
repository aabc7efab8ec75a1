//! Contexts of other servers as parts of names.

mod common;

use std::time::{Duration, Instant};

use common::{Service, name, orb, thing};
use throughline::TypedReference;
use throughline_naming::cos_naming::{NamingContextRef, NamingContextResolveError};
use throughline_naming::{NamingConfig, client};

fn pair() -> (Service, Service, throughline::Orb) {
    let config = || NamingConfig { foreign_timeout: Duration::from_secs(1), ..NamingConfig::default() };
    (Service::start(config()), Service::start(config()), orb())
}

#[test]
fn every_operation_goes_through() {
    let (a, b, client) = pair();
    let (root, other) = (a.root(&client), b.root(&client));
    root.bind_context(&name("b"), Some(&other.clone().into())).unwrap();
    let one = thing(&client, "one");
    root.bind_new_context(&name("b/sub")).unwrap();
    root.bind(&name("b/sub/x"), Some(&one)).unwrap();
    assert_eq!(other.resolve(&name("sub/x")).unwrap().unwrap().ior(), one.ior());
    assert_eq!(root.resolve(&name("b/sub/x")).unwrap().unwrap().ior(), one.ior());
    root.rebind(&name("b/sub/x"), Some(&thing(&client, "two"))).unwrap();
    let made = root.new_context().unwrap().unwrap();
    root.bind_context(&name("b/back"), Some(&made)).unwrap();
    root.rebind_context(&name("b/back"), Some(&root.clone().into())).unwrap();
    // There and back again.
    assert!(root.resolve(&name("b/back/b/back/b/sub/x")).unwrap().is_some());
    root.unbind(&name("b/sub/x")).unwrap();
    match root.resolve(&name("b/sub/x")) {
        Err(NamingContextResolveError::NotFound(e)) => assert_eq!(e.rest_of_name, name("x")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn own_contexts_are_known_as_such() {
    let (a, _b, client) = pair();
    let root = a.root(&client);
    let made = root.bind_new_context(&name("made")).unwrap().unwrap();
    // Bound by another spelling of its reference.
    let key = String::from_utf8(made.as_object().object_key()).unwrap();
    let text = format!("corbaloc::127.0.0.1:{}/{key}", a.port);
    let spelled = NamingContextRef::from_object(client.string_to_object(&text).unwrap());
    root.bind_context(&name("again"), Some(&spelled)).unwrap();
    assert_eq!(root.resolve(&name("again")).unwrap().unwrap().ior(), made.as_object().ior());
}

#[test]
fn circles_over_the_network_end() {
    let (a, b, client) = pair();
    let (root, other) = (a.root(&client), b.root(&client));
    root.bind_context(&name("x"), Some(&other.clone().into())).unwrap();
    other.bind_context(&name("x"), Some(&root.clone().into())).unwrap();
    let path = vec!["x"; 60].join("/");
    let started = Instant::now();
    // As far as the servers go, and no farther; nobody hangs.
    let _ = root.resolve(&name(&path));
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
    assert!(root.resolve(&name("x/x")).unwrap().is_some());
}

#[test]
fn a_client_goes_on_where_a_server_cannot() {
    let (a, b, client) = pair();
    let root = a.root(&client);
    root.bind_context(&name("b"), Some(&b.root(&client).into())).unwrap();
    drop(b);
    match root.resolve(&name("b/sub/x")) {
        Err(NamingContextResolveError::CannotProceed(e)) => {
            assert_eq!(e.rest_of_name, name("sub/x"));
            assert!(e.cxt.is_some());
        }
        other => panic!("{other:?}"),
    }
    // One that does not answer at all.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let text = format!("corbaloc::{}/NameService", silent.local_addr().unwrap());
    let silent_context = NamingContextRef::from_object(client.string_to_object(&text).unwrap());
    root.bind_context(&name("silent"), Some(&silent_context)).unwrap();
    let started = Instant::now();
    let answer = root.resolve(&name("silent/x"));
    assert!(matches!(answer, Err(NamingContextResolveError::CannotProceed(_))), "{answer:?}");
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn others_are_reached_while_many_wait_for_a_server_that_does_not_answer() {
    let config = NamingConfig {
        foreign_timeout: Duration::from_secs(2),
        max_foreign_calls: 4,
        ..NamingConfig::default()
    };
    let (a, b, client) = (Service::start(config), Service::start(NamingConfig::default()), orb());
    let (root, other) = (a.root(&client), b.root(&client));
    root.bind_context(&name("b"), Some(&other.clone().into())).unwrap();
    other.bind(&name("x"), Some(&thing(&client, "x"))).unwrap();
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let text = format!("corbaloc::{}/NameService", silent.local_addr().unwrap());
    let silent_context = NamingContextRef::from_object(client.string_to_object(&text).unwrap());
    root.bind_context(&name("silent"), Some(&silent_context)).unwrap();
    std::thread::scope(|s| {
        let waiting: Vec<_> = (0..8).map(|_| s.spawn(|| root.resolve(&name("silent/x")))).collect();
        std::thread::sleep(Duration::from_millis(500));
        assert!(root.resolve(&name("b/x")).unwrap().is_some());
        for answer in waiting {
            let answer = answer.join().unwrap();
            assert!(matches!(answer, Err(NamingContextResolveError::CannotProceed(_))), "{answer:?}");
        }
    });
}

#[test]
fn paths_are_made() {
    let (a, _b, client) = pair();
    let root = NamingContextRef::from(a.root(&client));
    let made = client::make_path(&root, &name("a/b/c")).unwrap();
    assert_eq!(client::make_path(&root, &name("a/b/c")).unwrap(), made);
    root.bind(&name("a/object"), Some(&thing(&client, "x"))).unwrap();
    client::make_path(&root, &name("a/object/d")).unwrap_err();
}
