//! The locators, and a locator together with the arena. The epochs that keep removed entries alive are crossbeam's own,
//! not modelled: entries and tables stay where they are throughout a model.

use loom::{sync::Arc, thread};
use throughline_demux::{
    Arena, Handle, SharedLocator, Slot,
    shared::{DynamicHash, InsertError, Linear, Perfect},
};

use crate::model;

/// Records that are numbers, found by keys.
struct Stage<L> {
    arena: Arena<u64>,
    locator: L,
}

impl<L: SharedLocator<[u8]>> Stage<L> {
    fn new(max: u32, locator: L) -> Self {
        let mut nonce = 0;
        let nonces = move || {
            nonce += 1;
            nonce
        };
        Self { arena: Arena::with_capacity_limit(max, nonces), locator }
    }

    fn insert(&self, key: &[u8], value: u64) -> Option<Handle> {
        let handle = self.arena.insert(0, value).ok()?;
        self.locator.insert(key, handle.slot).unwrap();
        Some(handle)
    }

    fn remove(&self, key: &[u8], handle: Handle) {
        assert_eq!(self.locator.remove(key), Some(handle.slot));
        assert!(self.arena.remove(handle).is_some());
    }

    fn locate(&self, key: &[u8]) -> Option<u64> {
        self.locator.locate(key, &self.arena).map(|record| *record)
    }
}

/// A reader holds the record of its key or none, while the key is removed and its slot given to another.
fn located_while_removed<L: SharedLocator<[u8]> + 'static>(locator: fn() -> L) {
    model(move || {
        let stage = Arc::new(Stage::new(1, locator()));
        let old = stage.insert(b"old", 1).unwrap();
        let other = stage.clone();
        let reader = thread::spawn(move || {
            assert!([None, Some(1)].contains(&other.locate(b"old")));
        });
        stage.remove(b"old", old);
        // None while the reader holds the old record.
        let new = stage.insert(b"new", 2);
        assert_eq!(stage.locate(b"new"), new.map(|_| 2));
        assert_eq!(stage.locate(b"old"), None);
        reader.join().unwrap();
    });
}

/// A reader finds a new entry whole or not at all.
fn located_while_inserted<L: SharedLocator<[u8]> + 'static>(locator: fn() -> L) {
    model(move || {
        let stage = Arc::new(Stage::new(2, locator()));
        stage.insert(b"first", 1).unwrap();
        let other = stage.clone();
        let reader = thread::spawn(move || {
            assert!([None, Some(2)].contains(&other.locate(b"second")));
            assert_eq!(other.locate(b"first"), Some(1));
        });
        stage.insert(b"second", 2).unwrap();
        assert_eq!(stage.locate(b"second"), Some(2));
        reader.join().unwrap();
    });
}

/// Readers find what stays, wherever in a list it is, while its neighbours come and go and tables are replaced.
fn found_throughout<L: SharedLocator<[u8]> + 'static>(locator: fn() -> L) {
    const KEYS: [&[u8]; 3] = [b"a", b"b", b"c"];
    for (stays, stays_at) in KEYS.into_iter().zip(0..) {
        model(move || {
            let locator = Arc::new(locator());
            KEYS.iter().zip(0..).for_each(|(key, slot)| locator.insert(key, Slot(slot)).unwrap());
            let other = locator.clone();
            let reader = thread::spawn(move || assert_eq!(other.find(stays), Some(Slot(stays_at))));
            for (gone, slot) in KEYS.iter().zip(0..).filter(|(_, slot)| *slot != stays_at) {
                assert_eq!(locator.remove(gone), Some(Slot(slot)));
            }
            locator.insert(b"d", Slot(3)).unwrap();
            locator.insert(b"e", Slot(4)).unwrap();
            assert_eq!(locator.len(), 3);
            reader.join().unwrap();
        });
    }
}

/// Of two threads that insert a key one succeeds; of two that remove it likewise.
fn writers_take_turns<L: SharedLocator<[u8]> + 'static>(locator: fn() -> L) {
    model(move || {
        let locator = Arc::new(locator());
        let other = locator.clone();
        let writer = thread::spawn(move || {
            let inserted = other.insert(b"key", Slot(1));
            assert!(inserted.is_ok() || inserted == Err(InsertError::Duplicate));
            (inserted.is_ok(), other.remove(b"key"))
        });
        let inserted = locator.insert(b"key", Slot(2)).is_ok();
        let removed = locator.remove(b"key");
        let (other_inserted, other_removed) = writer.join().unwrap();
        assert!(inserted || other_inserted);
        let inserted = [inserted, other_inserted].iter().filter(|inserted| **inserted).count();
        assert_eq!([removed, other_removed].iter().flatten().count(), inserted);
        assert_eq!((locator.len(), locator.find(b"key")), (0, None));
    });
}

/// The scenes for a kind of locator whose keys come and go.
macro_rules! scenes {
    ($kind:ident, $locator:expr) => {
        mod $kind {
            use super::*;

            #[test]
            fn located_while_removed() {
                super::located_while_removed(|| $locator);
            }

            #[test]
            fn located_while_inserted() {
                super::located_while_inserted(|| $locator);
            }

            #[test]
            fn found_throughout() {
                super::found_throughout(|| $locator);
            }

            #[test]
            fn writers_take_turns() {
                super::writers_take_turns(|| $locator);
            }
        }
    };
}

scenes!(linear, Linear::with_capacity_limit(9));
scenes!(dynamic_hash, DynamicHash::with_capacity_limit(9, 1));

#[test]
fn perfect_hash_while_a_key_is_removed() {
    model(|| {
        let stage = Arc::new(Stage::new(2, Perfect::with_capacity_limit(9, 1)));
        let [first, _] = [(b"first", 1), (b"other", 2)].map(|(key, value)| stage.insert(key, value).unwrap());
        stage.locator.freeze().unwrap();
        let other = stage.clone();
        let reader = thread::spawn(move || {
            assert!([None, Some(1)].contains(&other.locate(b"first")));
            assert_eq!(other.locate(b"other"), Some(2));
        });
        stage.remove(b"first", first);
        // In the same slot, if the reader has let go of it.
        let _ = stage.arena.insert(0, 3);
        assert_eq!(stage.locate(b"first"), None);
        reader.join().unwrap();
    });
}
