//! Listings, and what hostile clients cannot do.

mod common;

use std::collections::BTreeSet;
use std::time::Duration;

use common::{Service, name, orb, start, thing};
use throughline::{Kind, Orb, SystemException};
use throughline_naming::cos_naming::{
    Binding, BindingIteratorRef, BindingType, NameComponent, NamingContextBindError, NamingContextRef,
};
use throughline_naming::{NamingConfig, client};

fn fill(context: &NamingContextRef, count: usize) -> BTreeSet<String> {
    let object = thing(&orb(), "x");
    let names: BTreeSet<_> = (0..count).map(|n| format!("n{n}")).collect();
    names.iter().for_each(|n| context.bind(&name(n), Some(&object)).unwrap());
    names
}

#[test]
fn listings_are_complete_whatever_the_batches() {
    let (_service, _client, root) = start();
    let root = NamingContextRef::from(root);
    assert_eq!(root.list(10).unwrap().0, []);
    assert!(root.list(0).unwrap().1.is_none());
    let names = fill(&root, 25);
    let text = |bindings: &[Binding]| -> Vec<String> {
        bindings.iter().map(|b| client::name_to_string(&b.binding_name)).collect()
    };
    for (first, batch) in [(0, 1), (0, 7), (10, 10), (24, 5), (25, 5), (100, 5)] {
        let (bindings, rest) = root.list(first).unwrap();
        let mut seen = text(&bindings);
        assert_eq!(rest.is_none(), first >= 25);
        while let Some(rest) = &rest {
            let (more, bindings) = rest.next_n(batch).unwrap();
            assert_eq!(more, !bindings.is_empty());
            assert!(bindings.len() <= batch as usize);
            seen.extend(text(&bindings));
            if !more {
                let _ = rest.destroy();
                break;
            }
        }
        assert_eq!(seen.iter().cloned().collect::<BTreeSet<_>>(), names);
        assert_eq!(seen.len(), names.len());
    }
    let listed: Vec<_> = client::list(&root).unwrap().map(Result::unwrap).collect();
    assert_eq!(listed.len(), 25);
    assert!(listed.iter().all(|b| b.binding_type == BindingType::Nobject));
}

#[test]
fn iterators_read_one_by_one_and_end() {
    let (_service, _client, root) = start();
    fill(&root.clone().into(), 3);
    let (_, rest) = root.list(1).unwrap();
    let rest = rest.unwrap();
    assert_eq!(rest.next_n(0).unwrap_err().kind, Kind::BadParam);
    assert!(rest.next_one().unwrap().0);
    // Bindings that come and go meanwhile do no harm.
    root.unbind(&name("n0")).unwrap();
    assert!(rest.next_one().unwrap().0);
    assert!(!rest.next_one().unwrap().0);
    rest.destroy().unwrap();
    assert_eq!(rest.next_one().unwrap_err().kind, Kind::ObjectNotExist);
}

#[test]
fn there_are_only_so_many_iterators() {
    let config = NamingConfig { max_iterators: 3, ..NamingConfig::default() };
    let service = Service::start(config);
    let client = orb();
    let root = service.root(&client);
    fill(&root.clone().into(), 2);
    let iterators: Vec<_> = (0..5).map(|_| root.list(0).unwrap().1.unwrap()).collect();
    let alive = |i: &BindingIteratorRef| i.next_one().is_ok();
    assert_eq!(iterators.iter().map(alive).collect::<Vec<_>>(), [false, false, true, true, true]);
    // The one unused for longest goes, not the oldest.
    assert!(alive(&iterators[2]));
    let _sixth = root.list(0).unwrap();
    assert!(alive(&iterators[2]));
    assert!(!alive(&iterators[3]));
}

#[test]
fn there_are_no_more_iterators_where_many_ask_at_once() {
    let service = Service::start(NamingConfig { max_iterators: 2, ..NamingConfig::default() });
    let client = orb();
    let root = service.root(&client);
    fill(&root.clone().into(), 2);
    let clients: Vec<_> = (0..8).map(|_| orb()).collect();
    let list = |client: &Orb| {
        let root = service.root(client);
        (0..50).map(|_| root.list(0).unwrap().1.unwrap()).collect::<Vec<_>>()
    };
    let iterators: Vec<_> = std::thread::scope(|s| {
        let asking: Vec<_> = clients.iter().map(|client| s.spawn(|| list(client))).collect();
        asking.into_iter().flat_map(|asking| asking.join().unwrap()).collect()
    });
    assert_eq!(iterators.iter().filter(|iterator| iterator.next_one().is_ok()).count(), 2);
}

#[test]
fn idle_iterators_end() {
    let config = NamingConfig { iterator_idle: Duration::from_millis(50), ..NamingConfig::default() };
    let service = Service::start(config);
    let client = orb();
    let root = service.root(&client);
    fill(&root.clone().into(), 2);
    let idle = root.list(0).unwrap().1.unwrap();
    std::thread::sleep(Duration::from_millis(100));
    let _next = root.list(0).unwrap();
    assert_eq!(idle.next_one().unwrap_err().kind, Kind::ObjectNotExist);
}

#[test]
fn there_is_only_so_much_room() {
    let config = NamingConfig { max_contexts: 3, max_bindings: 5, max_batch: 2, ..NamingConfig::default() };
    let service = Service::start(config);
    let client = orb();
    let root = service.root(&client);
    root.bind_new_context(&name("a")).unwrap();
    root.new_context().unwrap();
    assert_eq!(root.new_context().unwrap_err().kind, Kind::ImpLimit);
    root.bind_new_context(&name("b")).unwrap_err();
    fill(&root.clone().into(), 4);
    let object = thing(&client, "x");
    let full = root.bind(&name("more"), Some(&object));
    assert!(matches!(full, Err(NamingContextBindError::System(e)) if e.kind == Kind::ImpLimit));
    root.rebind(&name("n0"), Some(&object)).unwrap();
    root.unbind(&name("n0")).unwrap();
    root.bind(&name("more"), Some(&object)).unwrap();
    assert_eq!(root.list(u32::MAX).unwrap().0.len(), 2);
    let huge = thing(&client, &"k".repeat(100_000));
    let refused: Result<(), SystemException> = match root.bind(&name("huge"), Some(&huge)) {
        Err(NamingContextBindError::System(e)) => Err(e),
        other => panic!("{other:?}"),
    };
    assert_eq!(refused.unwrap_err().kind, Kind::ImpLimit);
}

#[test]
fn an_answer_is_no_larger_than_a_client_can_take() {
    let service = Service::start(NamingConfig::default());
    let client = orb();
    let root = NamingContextRef::from(service.root(&client));
    let object = thing(&client, "x");
    let long = "l".repeat(4000);
    for n in 0..600 {
        let component = NameComponent { id: format!("{long}{n}"), kind: long.clone() };
        root.bind(&[component], Some(&object)).unwrap();
    }
    let octets =
        |bindings: &[Binding]| bindings.iter().map(|b| b.binding_name[0].id.len() * 2).sum::<usize>();
    let (mut bindings, rest) = root.list(10_000).unwrap();
    let (rest, mut seen) = (rest.unwrap(), 0);
    while !bindings.is_empty() {
        assert!(octets(&bindings) < 2 << 20);
        seen += bindings.len();
        bindings = rest.next_n(10_000).unwrap().1;
    }
    assert_eq!(seen, 600);
}

#[test]
fn the_longest_names_there_are_have_texts() {
    let (_service, _client, root) = start();
    let parts = vec!["\\.".repeat(4096) + "." + &"\\/".repeat(4096); 64];
    let longest = parts.join("/");
    assert_eq!(root.to_string(&root.to_name(&longest).unwrap()).unwrap(), longest);
}

#[test]
fn large_bindings_fill_it_sooner() {
    let service = Service::start(NamingConfig { max_bytes: 20_000, ..NamingConfig::default() });
    let client = orb();
    let root = service.root(&client);
    let large = thing(&client, &"k".repeat(8_000));
    root.bind(&name("a"), Some(&large)).unwrap();
    root.bind(&name("b"), Some(&large)).unwrap();
    root.bind(&name("c"), Some(&large)).unwrap_err();
    // Replacing and removing make up for what they free.
    root.rebind(&name("b"), Some(&large)).unwrap();
    root.rebind(&name("b"), Some(&thing(&client, "small"))).unwrap();
    root.bind(&name("c"), Some(&large)).unwrap();
    root.unbind(&name("a")).unwrap();
    root.bind(&name("d"), Some(&large)).unwrap();
    root.rebind(&name("b"), Some(&large)).unwrap_err();
}

#[test]
fn many_clients_at_once() {
    let (service, client, root) = start();
    let object = thing(&client, "x");
    std::thread::scope(|s| {
        for t in 0..8 {
            let (root, object) = (&root, &object);
            s.spawn(move || {
                let context = root.bind_new_context(&name(&format!("t{t}"))).unwrap().unwrap();
                for n in 0..50 {
                    let path = format!("t{t}/n{n}");
                    root.bind(&name(&path), Some(object)).unwrap();
                    assert!(root.resolve(&name(&path)).unwrap().is_some());
                }
                assert_eq!(client::list(&context).unwrap().count(), 50);
                for n in 0..50 {
                    context.unbind(&name(&format!("n{n}"))).unwrap();
                }
                root.unbind(&name(&format!("t{t}"))).unwrap();
                context.destroy().unwrap();
            });
        }
    });
    assert_eq!(client::list(&root.into()).unwrap().count(), 0);
    drop(service);
}
