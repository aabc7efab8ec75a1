//! The conformance suite of shared locators: what each of them does, checked against a plain map.
//!
//! A new locator is tested by being listed in [`listed`].
#![cfg(not(loom))]

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

use proptest::{prelude::*, strategy::Strategy as Generate};
use throughline_demux::{
    Arena, CountExamined, FreezeError, LocatorConfig, SharedLocator, Slot,
    shared::{AnyLocator, InsertError, MAX_KEY, Strategy},
};

/// A locator under test, with what the suite has to know about it.
struct Listed {
    name: &'static str,
    make: fn(LocatorConfig) -> AnyLocator,
    /// Finds only once frozen, and takes no keys then.
    freezes: bool,
    /// The most entries that a lookup among so many may examine.
    worst: fn(u64) -> u64,
}

fn listed() -> [Listed; 3] {
    let of = |strategy: Strategy| strategy.name();
    [
        Listed {
            name: of(Strategy::Linear),
            make: |config| Strategy::Linear.locator(config).unwrap(),
            freezes: false,
            worst: |n| n,
        },
        Listed {
            name: of(Strategy::DynamicHash),
            make: |config| Strategy::DynamicHash.locator(config).unwrap(),
            freezes: false,
            worst: |_| 16,
        },
        Listed {
            name: of(Strategy::PerfectHash),
            make: |config| Strategy::PerfectHash.locator(config).unwrap(),
            freezes: true,
            worst: |_| 1,
        },
    ]
}

const CONFIG: LocatorConfig = LocatorConfig::seeded(0x5eed);

#[derive(Clone, Debug)]
enum Step {
    Insert(Vec<u8>, u32),
    InsertNew(Vec<u8>, u32),
    Remove(Vec<u8>),
    Find(Vec<u8>),
}

fn key() -> impl Generate<Value = Vec<u8>> {
    prop_oneof![prop::collection::vec(0u8..3, 0..4), prop::collection::vec(any::<u8>(), 0..40)]
}

fn steps(most: usize) -> impl Generate<Value = Vec<Step>> {
    let most = if cfg!(miri) { most / 6 } else { most };
    let slot = || 0..u32::MAX;
    let step = prop_oneof![
        4 => (key(), slot()).prop_map(|(key, slot)| Step::Insert(key, slot)),
        1 => (key(), slot()).prop_map(|(key, slot)| Step::InsertNew(key, slot)),
        2 => key().prop_map(Step::Remove),
        4 => key().prop_map(Step::Find),
    ];
    prop::collection::vec(step, 0..most)
}

type Model = BTreeMap<Vec<u8>, Slot>;

/// Does `step` to both and compares. `found` says whether lookups work, `frozen` whether insertions don't.
fn follow(locator: &AnyLocator, model: &mut Model, step: Step, found: bool, frozen: bool) {
    match step {
        Step::Insert(key, slot) => {
            let expected = match model.contains_key(&key) {
                _ if frozen => Err(InsertError::Frozen),
                true => Err(InsertError::Duplicate),
                false => Ok(()),
            };
            assert_eq!(locator.insert(&key, Slot(slot)), expected);
            if expected.is_ok() {
                model.insert(key, Slot(slot));
            }
        }
        // The caller's side of that bargain is to know that the key is absent.
        Step::InsertNew(key, _) if model.contains_key(&key) => {}
        Step::InsertNew(key, slot) => {
            let expected = if frozen { Err(InsertError::Frozen) } else { Ok(()) };
            assert_eq!(locator.insert_new(&key, Slot(slot)), expected);
            if expected.is_ok() {
                model.insert(key, Slot(slot));
            }
        }
        Step::Remove(key) => assert_eq!(locator.remove(&key), model.remove(&key)),
        Step::Find(key) => {
            let expected = model.get(&key).copied().filter(|_| found);
            assert_eq!(locator.find(&key), expected);
            assert_eq!(locator.find_counted(&key).0, expected);
        }
    }
    assert_eq!(locator.len(), model.len());
    assert_eq!(locator.is_empty(), model.is_empty());
}

fn all_found(locator: &AnyLocator, model: &Model) {
    for (key, slot) in model {
        assert_eq!(locator.find(key), Some(*slot));
    }
    all_shown(locator, model);
}

fn all_shown(locator: &AnyLocator, model: &Model) {
    let mut shown = Model::new();
    locator.for_each(&mut |key, slot| {
        assert_eq!(shown.insert(key.to_vec(), slot), None, "shown once");
        // Whoever is shown a key may do something about it.
        assert!(locator.len() == model.len() && locator.remove(b"a key that nobody has inserted").is_none());
    });
    assert_eq!(&shown, model);
}

proptest! {
    #[test]
    fn behaves_like_a_map(filling in steps(120), using in steps(120)) {
        for listed in listed() {
            let locator = (listed.make)(CONFIG);
            let mut model = Model::new();
            for step in filling.clone() {
                follow(&locator, &mut model, step, !listed.freezes, false);
            }
            let expected = if listed.freezes { Ok(()) } else { Err(FreezeError::Unsupported) };
            prop_assert_eq!(locator.freeze(), expected, "{}", listed.name);
            all_found(&locator, &model);
            for step in using.clone() {
                follow(&locator, &mut model, step, true, listed.freezes);
            }
            all_found(&locator, &model);
        }
    }
}

/// Fills a locator with keys 0 to `n` and freezes it where that is the way.
fn filled(listed: &Listed, n: u32) -> AnyLocator {
    let locator = (listed.make)(CONFIG);
    for i in 0..n {
        locator.insert_new(&i.to_be_bytes(), Slot(i)).unwrap();
    }
    assert_eq!(locator.freeze().is_ok(), listed.freezes);
    locator
}

#[test]
fn many_keys() {
    for listed in listed() {
        let n: u32 = match listed.name {
            _ if cfg!(miri) => 30,
            "linear" => 2_000,
            _ => 300_000,
        };
        let locator = filled(&listed, n);
        let mut worst = 0;
        for i in 0..n {
            let (slot, examined) = locator.find_counted(&i.to_be_bytes());
            assert_eq!(slot, Some(Slot(i)), "{}", listed.name);
            worst = worst.max(examined);
        }
        assert!(worst <= (listed.worst)(n.into()), "{}: {worst} entries examined", listed.name);
        assert_eq!(locator.find(&n.to_be_bytes()), None);
        println!("{}: {:.1} bytes per 4-byte key", listed.name, locator.bytes() as f64 / f64::from(n));
        // In an order that isn't that of insertion; among so many keys some have equal hashes.
        for i in (0..n).step_by(2).chain((1..n).step_by(2).collect::<Vec<_>>().into_iter().rev()) {
            assert_eq!(locator.remove(&i.to_be_bytes()), Some(Slot(i)), "{}", listed.name);
            assert_eq!(locator.remove(&i.to_be_bytes()), None);
        }
        assert!(locator.is_empty());
        assert!(locator.bytes() < 1_000 || listed.freezes, "{}: {} bytes", listed.name, locator.bytes());
    }
}

#[test]
#[cfg_attr(miri, ignore = "slow")]
fn entries_examined() {
    let mean = |locator: &AnyLocator, n: u32| {
        let mut count = CountExamined::default();
        (0..n).for_each(|i| assert!(locator.find_probed(&i.to_be_bytes(), &mut count).is_some()));
        count.0 as f64 / f64::from(n)
    };
    for listed in listed() {
        let mean = mean(&filled(&listed, 1_000), 1_000);
        match listed.name {
            "linear" => assert_eq!(mean, 500.5),
            "dynamic-hash" => assert!((1.0..1.35).contains(&mean), "{mean}"),
            "perfect-hash" => assert_eq!(mean, 1.0),
            _ => {}
        }
    }
}

#[test]
fn bad_keys_and_slots() {
    for listed in listed() {
        let locator = (listed.make)(LocatorConfig { limit: 2, ..CONFIG });
        assert_eq!(locator.insert(&vec![0; MAX_KEY + 1], Slot(0)), Err(InsertError::KeyTooLong));
        assert_eq!(locator.insert(b"a", Slot(u32::MAX)), Err(InsertError::ReservedSlot));
        assert_eq!(locator.insert(&[7; MAX_KEY], Slot(0)), Ok(()));
        assert_eq!(locator.insert(b"", Slot(1)), Ok(()));
        assert_eq!(locator.insert(b"c", Slot(2)), Err(InsertError::Full), "{}", listed.name);
        let _ = locator.freeze();
        assert_eq!(locator.find(&[7; MAX_KEY]), Some(Slot(0)));
        assert_eq!(locator.find(&vec![7; MAX_KEY + 1]), None);
        assert_eq!(locator.find(b""), Some(Slot(1)));
    }
}

#[test]
fn frozen_twice_and_frozen_empty() {
    for listed in listed().iter().filter(|listed| listed.freezes) {
        let locator = (listed.make)(CONFIG);
        assert_eq!(locator.freeze(), Ok(()));
        assert_eq!(locator.freeze(), Err(FreezeError::AlreadyFrozen));
        assert_eq!(locator.find(b"a"), None);
        assert_eq!(locator.insert(b"a", Slot(0)), Err(InsertError::Frozen));
    }
}

/// A table that a few insertions undo is made anew time and again by whoever comes and goes.
#[test]
fn a_table_that_shrank_does_not_grow_again_at_once() {
    let most = if cfg!(miri) { 40 } else { 5_000_u32 };
    let locator = Strategy::DynamicHash.locator(CONFIG).unwrap();
    let insert = |n: u32| locator.insert(&n.to_be_bytes(), Slot(n)).unwrap();
    let remove = |n: u32| assert_eq!(locator.remove(&n.to_be_bytes()), Some(Slot(n)));
    let empty = locator.bytes();
    insert(0);
    let entry = locator.bytes() - empty;
    (1..most).for_each(insert);
    for n in (0..most).rev() {
        let before = locator.bytes();
        remove(n);
        let bytes = locator.bytes();
        if before - bytes > entry {
            (most..most + n).for_each(insert);
            assert_eq!(locator.bytes(), bytes + n as usize * entry, "as many again as {n} undo it");
            (most..most + n).for_each(remove);
        }
    }
    assert_eq!(locator.bytes(), empty);
}

#[test]
fn a_perfect_hash_takes_little_more_than_its_keys_and_forgets_those_that_were_removed() {
    let keys = if cfg!(miri) { 100 } else { 10_000_u32 };
    let locator = Strategy::PerfectHash.locator(CONFIG).unwrap();
    let churn = || {
        locator.insert(&[7; MAX_KEY], Slot(0)).unwrap();
        locator.remove(&[7; MAX_KEY]);
        locator.bytes()
    };
    assert_eq!(churn(), churn());
    (0..keys).for_each(|n| locator.insert(&n.to_be_bytes(), Slot(n)).unwrap());
    locator.freeze().unwrap();
    // A key of four bytes, where it begins, its slot; one place of 33 is left empty, and four to eight keys have a displacement.
    let (bytes, keys) = (locator.bytes(), keys as usize);
    assert!((12 * keys..14 * keys).contains(&bytes), "{bytes} bytes for {keys} keys");
}

/// Readers find what is there all the time, while a writer inserts and removes other keys and the table grows
/// and shrinks.
#[test]
fn readers_are_not_disturbed() {
    for listed in listed().iter().filter(|listed| !listed.freezes) {
        let (kept, churned) = match listed.name {
            _ if cfg!(miri) => (8, 20),
            "linear" => (64, 192),
            _ => (64, 8_128),
        };
        let (locator, churn) = (filled(listed, kept), kept..kept + churned);
        let done = AtomicBool::new(false);
        thread::scope(|threads| {
            for _ in 0..2 {
                threads.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        for i in 0..kept {
                            assert_eq!(locator.find(&i.to_be_bytes()), Some(Slot(i)), "{}", listed.name);
                        }
                        let mut shown = 0;
                        locator.for_each(&mut |key, slot| {
                            assert_eq!(key, slot.0.to_be_bytes());
                            shown += u32::from(slot.0 < kept);
                        });
                        assert_eq!(shown, kept, "{}", listed.name);
                    }
                });
            }
            let end = Instant::now() + Duration::from_millis(500);
            while Instant::now() < end {
                churn.clone().for_each(|i: u32| locator.insert(&i.to_be_bytes(), Slot(i)).unwrap());
                churn.clone().for_each(|i| assert_eq!(locator.remove(&i.to_be_bytes()), Some(Slot(i))));
            }
            done.store(true, Ordering::Relaxed);
        });
        assert_eq!(locator.len(), kept as usize);
    }
}

/// What `locate` returns belongs to the key, although slots are reused at once.
#[test]
fn located_records_belong_to_their_keys() {
    let mut seed = 1u64;
    let nonces = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        seed ^ seed >> 29
    };
    for listed in listed().iter().filter(|listed| !listed.freezes) {
        let arena = Arena::<u32>::with_capacity_limit(100, nonces);
        let locator = (listed.make)(CONFIG);
        let done = AtomicBool::new(false);
        let located = AtomicU64::new(0);
        thread::scope(|threads| {
            for _ in 0..2 {
                threads.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        for i in 0..8u32 {
                            if let Some(record) = locator.locate(&i.to_be_bytes(), &arena) {
                                assert_eq!(*record, i, "{}", listed.name);
                                located.fetch_add(1, Ordering::Relaxed);
                            }
                        }
                    }
                });
            }
            let end = Instant::now() + Duration::from_millis(500);
            // Each key in turn takes the slot that the one before it left.
            for i in (0..8u32).cycle().take_while(|_| Instant::now() < end) {
                let handle = arena.insert(0, i).unwrap();
                locator.insert(&i.to_be_bytes(), handle.slot).unwrap();
                thread::yield_now();
                assert_eq!(locator.remove(&i.to_be_bytes()), Some(handle.slot));
                assert_eq!(arena.remove(handle).as_deref(), Some(&i));
            }
            done.store(true, Ordering::Relaxed);
        });
        println!("{}: {} located", listed.name, located.into_inner());
    }
}

#[test]
fn usable_as_a_trait_object() {
    for listed in listed() {
        let locator: Box<dyn SharedLocator<[u8]>> = Box::new((listed.make)(CONFIG));
        locator.insert(b"key", Slot(3)).unwrap();
        let _ = locator.freeze();
        assert_eq!(locator.find_counted(b"key"), (Some(Slot(3)), 1));
    }
}
