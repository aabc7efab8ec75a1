//! The arena.

use loom::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};
use throughline_demux::{Arena, Full, Handle, Slot};

use crate::{bounded, model};

/// Counts its drops; its value is seen to change when it is read after its drop.
struct Record {
    value: u64,
    drops: Arc<AtomicUsize>,
}

impl Drop for Record {
    fn drop(&mut self) {
        self.value = u64::MAX;
        self.drops.fetch_add(1, Ordering::Relaxed);
    }
}

struct Stage {
    arena: Arena<Record>,
    drops: Arc<AtomicUsize>,
}

impl Stage {
    fn new(max: u32) -> Arc<Self> {
        let mut nonce = 0x1_0000_0000;
        let nonces = move || {
            nonce += 0x1_0000_0000;
            nonce
        };
        let drops = Arc::new(AtomicUsize::new(0));
        Arc::new(Self { arena: Arena::with_capacity_limit(max, nonces), drops })
    }

    fn insert(&self, value: u64) -> Result<Handle, Full<Record>> {
        self.arena.insert(0, Record { value, drops: self.drops.clone() })
    }

    /// Whether `handle` is found; if so it must be the record of that handle.
    fn finds(&self, handle: Handle, value: u64) -> bool {
        let record = self.arena.get(handle, 0);
        if let Some(record) = &record {
            assert_eq!(record.value, value);
        }
        record.is_some()
    }

    fn remove(&self, handle: Handle) -> bool {
        self.arena.remove(handle).is_some()
    }

    fn drops(&self) -> usize {
        self.drops.load(Ordering::Relaxed)
    }
}

#[test]
fn get_while_removed() {
    model(|| {
        let stage = Stage::new(1);
        let handle = stage.insert(1).unwrap();
        let other = stage.clone();
        let reader = thread::spawn(move || other.finds(handle, 1));
        assert!(stage.remove(handle));
        assert!(!stage.finds(handle, 1));
        reader.join().unwrap();
        assert_eq!(stage.drops(), 1);
    });
}

#[test]
fn get_while_the_slot_is_reused() {
    model(|| {
        let stage = Stage::new(1);
        let old = stage.insert(1).unwrap();
        let other = stage.clone();
        let reader = thread::spawn(move || other.finds(old, 1));
        assert!(stage.remove(old));
        // The reader may still hold the old record, and then there is no slot.
        let new = stage.insert(2);
        if let Ok(new) = new {
            assert_eq!(new.slot, old.slot);
            assert!(stage.finds(new, 2));
        }
        reader.join().unwrap();
        // Now it has let go in any case: the old record is gone, and the slot is in use or can be.
        let refused = usize::from(new.is_err());
        let new = new.or_else(|_| stage.insert(2)).unwrap();
        assert_eq!(stage.drops(), 1 + refused);
        assert!(stage.finds(new, 2) && !stage.finds(old, 1));
    });
}

#[test]
fn two_readers_and_a_removal() {
    model(|| {
        let stage = Stage::new(1);
        let handle = stage.insert(1).unwrap();
        let readers: Vec<_> = (0..2)
            .map(|_| {
                let other = stage.clone();
                thread::spawn(move || other.finds(handle, 1))
            })
            .collect();
        assert!(stage.remove(handle));
        readers.into_iter().for_each(|reader| assert!(reader.join().is_ok()));
        assert_eq!(stage.drops(), 1);
    });
}

#[test]
fn one_of_two_removals_succeeds() {
    model(|| {
        let stage = Stage::new(1);
        let handle = stage.insert(1).unwrap();
        let other = stage.clone();
        let remover = thread::spawn(move || other.remove(handle));
        let here = stage.remove(handle);
        assert!(here ^ remover.join().unwrap());
        assert_eq!((stage.drops(), stage.arena.len()), (1, 0));
    });
}

#[test]
fn get_slot_while_inserted() {
    model(|| {
        let stage = Stage::new(1);
        let old = stage.insert(1).unwrap();
        assert!(stage.remove(old));
        let other = stage.clone();
        let reader = thread::spawn(move || {
            if let Some(record) = other.arena.get_slot(old.slot) {
                assert_eq!(record.value, 2);
            }
        });
        let new = stage.insert(2).unwrap();
        assert!(stage.remove(new));
        reader.join().unwrap();
        assert_eq!(stage.drops(), 2);
    });
}

/// Someone names the nonce 0, which fresh memory has, while the slot is used for the first time.
#[test]
fn forged_zero_while_inserted() {
    model(|| {
        let stage = Stage::new(2);
        let first = stage.insert(1).unwrap();
        let other = stage.clone();
        let forger = thread::spawn(move || {
            let handle = Handle { slot: Slot(first.slot.0 + 1), nonce: 0 };
            assert!(!other.finds(handle, 0) && !reads(&other, handle, 0));
        });
        let second = stage.insert(2).unwrap();
        forger.join().unwrap();
        assert!(stage.finds(second, 2));
    });
}

/// Someone asks for a slot while it is used for the first time.
#[test]
fn a_fresh_slot_while_inserted() {
    model(|| {
        let stage = Stage::new(2);
        let first = stage.insert(1).unwrap();
        let other = stage.clone();
        let reader = thread::spawn(move || {
            let slot = Slot(first.slot.0 + 1);
            if let Some(record) = other.arena.reader().get_slot(slot) {
                assert_eq!(record.value, 2);
            }
        });
        let second = stage.insert(2).unwrap();
        reader.join().unwrap();
        assert!(stage.finds(second, 2));
    });
}

#[test]
fn slots_freed_by_two_threads() {
    model(|| {
        let stage = Stage::new(2);
        let handles = [stage.insert(1).unwrap(), stage.insert(2).unwrap()];
        let other = stage.clone();
        let remover = thread::spawn(move || assert!(other.remove(handles[0])));
        assert!(stage.remove(handles[1]));
        let third = stage.insert(3).unwrap();
        remover.join().unwrap();
        let fourth = stage.insert(4).unwrap();
        assert_ne!(third.slot, fourth.slot);
        assert!(stage.finds(third, 3) && stage.finds(fourth, 4));
        assert!(stage.insert(5).is_err());
    });
}

/// What a reader finds stays as it is for as long as he reads.
fn reads(stage: &Stage, handle: Handle, value: u64) -> bool {
    let records = stage.arena.reader();
    let record = records.get(handle);
    thread::yield_now();
    if let Some(record) = record {
        assert_eq!(record.value, value);
    }
    record.is_some()
}

#[test]
fn read_while_removed() {
    model(|| {
        let stage = Stage::new(1);
        let handle = stage.insert(1).unwrap();
        let other = stage.clone();
        let reader = thread::spawn(move || reads(&other, handle, 1));
        assert!(stage.remove(handle));
        assert!(!reads(&stage, handle, 1));
        reader.join().unwrap();
        assert_eq!(stage.drops(), 1);
    });
}

#[test]
fn read_while_the_slot_is_reused() {
    model(|| {
        let stage = Stage::new(1);
        let old = stage.insert(1).unwrap();
        let other = stage.clone();
        let reader = thread::spawn(move || {
            let records = other.arena.reader();
            if let Some(record) = records.get_slot(old.slot) {
                assert!(record.value == 1 || record.value == 2);
            }
            if let Some(record) = records.get(old) {
                assert_eq!(record.value, 1);
            }
        });
        assert!(stage.remove(old));
        let new = stage.insert(2);
        reader.join().unwrap();
        let refused = usize::from(new.is_err());
        let new = new.or_else(|_| stage.insert(2)).unwrap();
        assert_eq!(stage.drops(), 1 + refused);
        assert!(reads(&stage, new, 2) && !reads(&stage, old, 1));
    });
}

#[test]
fn two_read_while_one_removes() {
    bounded(2, || {
        let stage = Stage::new(1);
        let handle = stage.insert(1).unwrap();
        let readers: Vec<_> = (0..2)
            .map(|_| {
                let other = stage.clone();
                thread::spawn(move || reads(&other, handle, 1))
            })
            .collect();
        assert!(stage.remove(handle));
        readers.into_iter().for_each(|reader| assert!(reader.join().is_ok()));
        assert_eq!(stage.drops(), 1);
    });
}

/// The first record waits for a reader who does not end before another has begun, in the next epoch.
#[test]
fn epochs_follow_one_another() {
    model(|| {
        let stage = Stage::new(2);
        let [first, second] = [1, 2].map(|value| stage.insert(value).unwrap());
        let reading = stage.arena.reader();
        assert!(stage.remove(first));
        let other = stage.clone();
        let reader = thread::spawn(move || {
            assert!(!reads(&other, first, 1));
            reads(&other, second, 2);
        });
        drop(reading);
        assert!(stage.remove(second));
        reader.join().unwrap();
        assert_eq!(stage.drops(), 2);
    });
}

/// Both of two threads remove a record that the other may be reading.
#[test]
fn two_remove_while_one_reads() {
    bounded(2, || {
        let stage = Stage::new(2);
        let handles = [stage.insert(1).unwrap(), stage.insert(2).unwrap()];
        let other = stage.clone();
        let remover = thread::spawn(move || {
            reads(&other, handles[1], 2);
            assert!(other.remove(handles[0]));
        });
        reads(&stage, handles[0], 1);
        assert!(stage.remove(handles[1]));
        remover.join().unwrap();
        assert_eq!(stage.drops(), 2);
    });
}

/// A reader who looks at a slot while a reference to its record is given back, which is the last.
#[test]
fn read_while_the_last_reference_goes() {
    model(|| {
        let stage = Stage::new(1);
        let handle = stage.insert(1).unwrap();
        let removed = stage.arena.remove(handle).unwrap();
        let other = stage.clone();
        let reader = thread::spawn(move || assert!(!reads(&other, handle, 1)));
        drop(removed);
        reader.join().unwrap();
        assert_eq!(stage.drops(), 1);
    });
}

/// Someone begins to read in an epoch that is just over, while one thread looks for what nobody can see any more and
/// another retires what the reader sees.
#[test]
fn read_in_an_epoch_that_ends() {
    model(|| {
        let stage = Stage::new(2);
        let [first, second] = [1, 2].map(|value| stage.insert(value).unwrap());
        let reading = stage.arena.reader();
        let (other, another) = (stage.clone(), stage.clone());
        let reader = thread::spawn(move || reads(&other, second, 2));
        assert!(stage.remove(first));
        let remover = thread::spawn(move || assert!(another.remove(second)));
        drop(reading);
        reader.join().unwrap();
        remover.join().unwrap();
        assert_eq!(stage.drops(), 2);
    });
}
