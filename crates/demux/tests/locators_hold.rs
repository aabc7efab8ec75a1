//! What every locator holds besides being a map: batches are lookups one after another, keys are dropped once, and a key that
//! panics when it is compared takes no other with it.
#![cfg(not(loom))]

use std::{
    cell::Cell,
    hash::{Hash, Hasher},
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    rc::Rc,
};

use throughline_demux::{
    AnyLocator, Carried, Examined, FreezeError, InsertError, Key, Locator, LocatorConfig, Slot, Strategy,
};

const CONFIG: LocatorConfig = LocatorConfig { chains: 3, places: 64, ..LocatorConfig::seeded(0x5eed) };

/// Frozen, where keys are found only then.
fn freeze<K: Key>(strategy: Strategy, locator: &mut AnyLocator<K>) {
    let expected = if strategy.must_freeze() { Ok(()) } else { Err(FreezeError::Unsupported) };
    assert_eq!(locator.freeze(), expected, "{strategy}");
}

/// Of so many keys that batches ask for memory ahead, which lists of few never do.
#[test]
#[cfg_attr(miri, ignore = "slow")]
fn a_batch_finds_and_leaves_what_lookups_one_after_another_do() {
    const KEYS: u32 = 5_000;
    let key = |n: u32| Carried { index: n, key: u64::from(n) };
    for strategy in Strategy::ALL {
        let config = LocatorConfig { places: 1 << 13, ..CONFIG };
        let mut locators = [(); 2].map(|()| {
            let mut locator: AnyLocator<Carried<u64>> = strategy.locator(config).unwrap();
            (0..KEYS).for_each(|n| locator.insert_new(key(n), Slot(n)).unwrap());
            freeze(strategy, &mut locator);
            locator
        });
        let [batched, single] = &mut locators;
        // Some come again, within what is asked for at once and behind it; some are not there; those are no multiple of anything.
        let asked: Vec<_> = (0..97).map(|n| key([n * 51, n % 5 * 7, KEYS + n][n as usize % 3])).collect();
        for round in 0..3 {
            let mut slots = vec![Some(Slot(7)); asked.len()];
            batched.find_batch(&asked, &mut slots);
            for (key, slot) in asked.iter().zip(slots) {
                let there = (key.index < KEYS).then_some(Slot(key.index));
                assert_eq!((slot, single.find(key)), (there, there), "{strategy}");
            }
            // Nor is a key that has left in any cache.
            for key in [&asked[0], &asked[95 - round], &key(KEYS - 1)] {
                let removed = batched.remove(key);
                assert_eq!(single.remove(key), removed, "{strategy}");
                assert_eq!([batched.find(key), single.find(key)], [None; 2], "{strategy}");
                if let Some(slot) = removed.filter(|_| !strategy.must_freeze()) {
                    batched.insert(*key, slot).unwrap();
                    single.insert(*key, slot).unwrap();
                }
            }
            if strategy.must_freeze() {
                break;
            }
            // Entries lie where they would otherwise, and caches have what they would have.
            for n in (0..KEYS + 200).step_by(97) {
                let [one, other] = [batched.find_counted(&key(n)), single.find_counted(&key(n))];
                assert_eq!(one, other, "{strategy}: {n}");
            }
        }
    }
}

/// What a lookup in vain costs, where that does not depend on chance.
#[test]
fn lookups_in_vain_are_counted() {
    let key = |n: u32| Carried { index: n, key: u64::from(n) };
    let cost = |strategy: Strategy, keys: u32| {
        let mut locator: AnyLocator<Carried<u64>> =
            strategy.locator(LocatorConfig { chains: 1, places: 1 << 4, ..CONFIG }).unwrap();
        (0..keys).for_each(|n| locator.insert_new(key(n), Slot(n)).unwrap());
        freeze(strategy, &mut locator);
        let first = locator.find_counted(&key(16));
        // What a cache has is another.
        (0..keys).for_each(|n| assert!(locator.find(&key(n)).is_some()));
        let second = locator.find_counted(&key(16));
        [first, second].map(|(slot, Examined { entries, cache_hit })| {
            assert!(slot.is_none() && !cache_hit, "{strategy}");
            entries
        })
    };
    for strategy in [Strategy::Linear, Strategy::MoveToFront, Strategy::ChainsMoveToFront] {
        assert_eq!([0, 1, 7].map(|keys| cost(strategy, keys)), [[0, 0], [1, 1], [7, 7]], "{strategy}");
    }
    for strategy in [Strategy::Bsd, Strategy::Sequent] {
        assert_eq!([0, 1, 7].map(|keys| cost(strategy, keys)), [[0, 0], [1, 2], [7, 8]], "{strategy}");
    }
    // One of 16 chains, on which is the key with the same lower bits.
    assert_eq!([0, 1, 7].map(|keys| cost(Strategy::SourceHash, keys)), [[0, 0], [1, 1], [1, 1]]);
    assert_eq!([0, 1, 7].map(|keys| cost(Strategy::PerfectHash, keys)), [[0, 0], [1, 1], [1, 1]]);
}

thread_local! {
    /// Keys that there are.
    static ALIVE: Cell<i64> = const { Cell::new(0) };
    /// Comparisons until one panics.
    static UNTIL: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// Is counted, has memory of its own, and may panic when it is compared.
struct Precious(Rc<u32>);

impl Precious {
    fn new(n: u32) -> Self {
        ALIVE.set(ALIVE.get() + 1);
        Self(Rc::new(n))
    }
}

impl Drop for Precious {
    fn drop(&mut self) {
        ALIVE.set(ALIVE.get() - 1);
    }
}

impl Clone for Precious {
    fn clone(&self) -> Self {
        Self::new(*self.0)
    }
}

impl PartialEq for Precious {
    fn eq(&self, other: &Self) -> bool {
        UNTIL.set(UNTIL.get() - 1);
        if UNTIL.get() == 0 {
            // Without a report: there are many.
            resume_unwind(Box::new("as the test intends"));
        }
        self.0 == other.0
    }
}

impl Eq for Precious {}

impl Hash for Precious {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

fn precious(n: u32) -> Carried<Precious> {
    Carried { index: n, key: Precious::new(n) }
}

#[test]
fn keys_are_dropped_once() {
    const KEYS: u32 = 40;
    for strategy in Strategy::ALL {
        let limited = LocatorConfig { limit: KEYS as usize, ..CONFIG };
        let mut locator: AnyLocator<Carried<Precious>> = strategy.locator(limited).unwrap();
        for n in 0..KEYS {
            assert_eq!(locator.insert(precious(n), Slot(n)), Ok(()));
            assert_eq!(locator.insert(precious(n), Slot(n)), Err(InsertError::Duplicate));
        }
        assert_eq!(locator.insert(precious(KEYS), Slot(0)), Err(InsertError::Full), "{strategy}");
        assert_eq!(locator.insert(precious(KEYS), Slot(u32::MAX)), Err(InsertError::ReservedSlot));
        assert_eq!(ALIVE.get(), KEYS.into(), "{strategy}");
        freeze(strategy, &mut locator);
        // All of some, and then all but one, so that the keys of those that have left are dropped with the last or before.
        for n in (0..KEYS).rev().filter(|n| n % 3 == 0 || *n > 20) {
            assert_eq!(locator.remove(&precious(n)), Some(Slot(n)), "{strategy}");
            assert_eq!(locator.remove(&precious(n)), None);
        }
        if !strategy.must_freeze() {
            (20..KEYS).for_each(|n| _ = locator.insert_new(precious(n + KEYS % 2), Slot(n)));
        }
        let mut shown = 0;
        locator.for_each(&mut |key, slot| {
            assert_eq!(*key.key.0, slot.0, "{strategy}");
            shown += 1;
        });
        assert_eq!(shown, locator.len());
        assert!(ALIVE.get() >= shown as i64, "{strategy}");
        drop(locator);
        assert_eq!(ALIVE.get(), 0, "{strategy}");
    }
}

#[test]
fn a_key_that_panics_when_it_is_compared_takes_no_other_with_it() {
    const KEYS: u32 = 24;
    let step = if cfg!(miri) { 7 } else { 1 };
    for strategy in Strategy::ALL {
        for until in (1..2 * u64::from(KEYS)).step_by(step) {
            let mut locator: AnyLocator<Carried<Precious>> = strategy.locator(CONFIG).unwrap();
            (0..KEYS).for_each(|n| locator.insert_new(precious(n), Slot(n)).unwrap());
            freeze(strategy, &mut locator);
            let asked: Vec<_> = [5, 0, KEYS - 1, 5, 99].map(precious).into();
            let mut slots = vec![None; asked.len()];
            let mut panics = |act: &mut dyn FnMut(&mut AnyLocator<Carried<Precious>>)| {
                UNTIL.set(until);
                let result = catch_unwind(AssertUnwindSafe(|| act(&mut locator)));
                UNTIL.set(u64::MAX);
                result.is_err()
            };
            panics(&mut |locator| _ = asked.iter().map(|key| locator.find(key)).count());
            panics(&mut |locator| locator.find_batch(&asked, &mut slots));
            let inserted = !panics(&mut |locator| _ = locator.insert(precious(50), Slot(50)));
            let removed = !panics(&mut |locator| _ = locator.remove(&asked[0]));
            let kept = (0..KEYS).filter(|n| *n != 5 || !removed);
            kept.for_each(|n| {
                assert_eq!(locator.find(&precious(n)), Some(Slot(n)), "{strategy}: {n}, {until}")
            });
            let there = locator.find(&precious(50)).is_some();
            assert_eq!(there, inserted && !strategy.must_freeze(), "{strategy}, {until}");
            let (mut shown, expected) = (0, KEYS - u32::from(removed) + u32::from(there));
            locator.for_each(&mut |_, _| shown += 1);
            assert_eq!((shown, locator.len()), (expected, expected as usize), "{strategy}, {until}");
        }
        assert_eq!(ALIVE.get(), 0, "{strategy}: each is dropped");
    }
}

/// There is one of them.
#[test]
fn keys_without_an_octet() {
    for strategy in Strategy::ALL.into_iter().filter(|strategy| !strategy.needs_index()) {
        let mut locator: AnyLocator<[u8; 0]> = strategy.locator(CONFIG).unwrap();
        assert_eq!((locator.find(&[]), locator.remove(&[])), (None, None), "{strategy}");
        for slot in [1, 2] {
            if slot == 2 && strategy.must_freeze() {
                break;
            }
            assert_eq!(locator.insert([], Slot(slot)), Ok(()), "{strategy}");
            assert_eq!(locator.insert([], Slot(3)), Err(InsertError::Duplicate), "{strategy}");
            freeze(strategy, &mut locator);
            assert_eq!((locator.find(&[]), locator.len()), (Some(Slot(slot)), 1), "{strategy}");
            assert_eq!((locator.remove(&[]), locator.find(&[])), (Some(Slot(slot)), None), "{strategy}");
        }
    }
}
