//! The arena: handles current, stale and forged, and records dropped exactly once.
#![cfg(not(loom))]

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use proptest::prelude::*;
use throughline_demux::{Arena, ConfigError, Full, Handle, OsNonces, Reader, Ref, Slot};

/// Nonces that repeat from run to run (splitmix64).
fn nonces(mut seed: u64) -> impl FnMut() -> u64 + Send {
    move || {
        seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (seed ^ seed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }
}

/// A handle that a stranger presents.
fn forged(slot: u32, nonce: u64) -> Handle {
    Handle { slot: Slot(slot), nonce }
}

/// Another one's, but for a bit or more of its nonce.
fn changed(handle: Handle, bits: u64) -> Handle {
    Handle { nonce: handle.nonce ^ bits, ..handle }
}

fn arena<R: Send + Sync>(max: u32) -> Arena<R> {
    Arena::with_capacity_limit(max, nonces(42))
}

/// Counts itself while it lives, and panics when dropped twice.
struct Counted {
    value: u64,
    alive: Arc<AtomicUsize>,
    dropped: bool,
}

impl Counted {
    fn new(value: u64, alive: &Arc<AtomicUsize>) -> Self {
        alive.fetch_add(1, Ordering::Relaxed);
        Self { value, alive: alive.clone(), dropped: false }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        assert!(!self.dropped, "dropped twice");
        self.dropped = true;
        self.value = u64::MAX;
        self.alive.fetch_sub(1, Ordering::Relaxed);
    }
}

#[test]
#[cfg_attr(miri, ignore = "it takes no memory that there is")]
fn an_arena_for_which_there_is_no_memory_is_refused() {
    // 4 PiB, where processors address 128 TiB, or less.
    let refused = Arena::<[u8; 1 << 20]>::try_new(u32::MAX).err();
    let expected = if usize::BITS == 64 { ConfigError::OutOfMemory } else { ConfigError::TooLarge };
    assert_eq!(refused, Some(expected));
    assert!(Arena::<u64>::try_new(1_000).unwrap().insert(0, 1).is_ok());
}

#[test]
#[cfg(target_pointer_width = "64")]
#[cfg_attr(miri, ignore = "slow")]
fn sizes() {
    assert_eq!(Arena::<Box<dyn std::any::Any + Send + Sync>>::bytes_per_record(), 32);
    assert_eq!(Arena::<u64>::bytes_per_record(), 24);
    let arena = arena::<Arc<dyn std::any::Any + Send + Sync>>(1_000_000);
    assert_eq!((arena.bytes_reserved(), arena.bytes_used()), (32_000_000, 0));
    for _ in 0..1_000 {
        let handle = arena.insert(0, Arc::new(())).unwrap();
        let record = arena.get(handle, 0).unwrap();
        let cell = (&raw const *record).addr() - 16;
        assert_eq!(cell % 32, 0, "a cell straddles two cache lines");
    }
    assert_eq!(arena.bytes_used(), 32_000);
}

#[test]
fn tags_nonces_and_slots_are_checked() {
    let arena = arena(10);
    let handle = arena.insert(7, "record").unwrap();
    assert_eq!(arena.get(handle, 7).as_deref(), Some(&"record"));
    assert_eq!(arena.get_slot(handle.slot).as_deref(), Some(&"record"));
    assert!(arena.get(handle, 8).is_none());
    assert!(arena.get(handle, 0).is_none());
    assert!(arena.get(changed(handle, 1), 7).is_none() && arena.get(forged(0, 0), 7).is_none());
    assert!(arena.reader().get(forged(0, 0)).is_none());
    for slot in
        [1, 9, 10, 63, 64, 127, 128, u32::MAX / 2, u32::MAX - 64, u32::MAX - 63, u32::MAX - 1, u32::MAX]
    {
        for nonce in [0, 1, handle.nonce] {
            for tag in [0, 7] {
                assert!(arena.get(forged(slot, nonce), tag).is_none());
            }
            assert!(arena.reader().get(forged(slot, nonce)).is_none());
            assert!(arena.remove(forged(slot, nonce)).is_none());
        }
        assert!(arena.reader().get_slot(Slot(slot)).is_none());
        assert!(arena.get_slot(Slot(slot)).is_none() && arena.handle_at(Slot(slot)).is_none());
    }
    assert_eq!(arena.handle_at(handle.slot), Some(handle));
    let record = arena.get(handle, 7).unwrap();
    assert_eq!((record.slot(), record.tag()), (handle.slot, 7));
}

/// What gets into a log must not let its readers in.
#[test]
fn a_nonce_is_not_shown() {
    let handle = forged(7, 123_456_789);
    assert_eq!(format!("{handle:?}"), "Handle { slot: Slot(7), .. }");
}

#[test]
fn a_kept_reference_is_what_its_handle_finds_until_it_is_removed() {
    let arena = arena(10);
    let [handle, other] = [0, 1].map(|i| arena.insert(7, i).unwrap());
    let kept = arena.get_any(handle).unwrap();
    assert!(kept.is_found_by(handle));
    for stranger in [other, changed(handle, 1), Handle { slot: other.slot, ..handle }] {
        assert!(!kept.is_found_by(stranger));
    }
    assert!(!kept.is_found_by(Handle { slot: Slot(u32::MAX), ..handle }));
    drop(arena.remove(handle));
    assert!(!kept.is_found_by(handle) && arena.get_any(handle).is_none());
    drop(kept);
    let again = arena.insert(7, 2).unwrap();
    let kept = arena.get_any(again).unwrap();
    assert!(again.slot == handle.slot && kept.is_found_by(again) && !kept.is_found_by(handle));
}

#[test]
fn a_reference_is_that_of_its_own_arena_only_and_stays_one() {
    let alive = Arc::new(AtomicUsize::new(0));
    let [own, other] = [arena(2), arena(2)];
    let handle = own.insert(0, Counted::new(1, &alive)).unwrap();
    assert!(own.get_any(handle).unwrap().of(&other).is_none());
    let kept = own.get_any(handle).unwrap().of(&own).unwrap();
    drop(own.remove(handle));
    assert_eq!((kept.value, alive.load(Ordering::Relaxed)), (1, 1));
    drop(kept);
    assert_eq!(alive.load(Ordering::Relaxed), 0);
}

#[test]
fn full_and_reuse() {
    let arena = arena(3);
    assert_eq!(arena.capacity(), 3);
    let handles: Vec<Handle> = (0..3).map(|i| arena.insert(0, i).unwrap()).collect();
    assert_eq!(arena.insert(0, 3), Err(Full(3)));
    let held = arena.remove(handles[1]).unwrap();
    assert_eq!(arena.len(), 2);
    assert_eq!(arena.insert(0, 3), Err(Full(3)), "the removed record is still held");
    drop(held);
    let again = arena.insert(0, 4).unwrap();
    assert_eq!(again.slot, handles[1].slot);
    assert_ne!(again.nonce, handles[1].nonce);
    assert!(arena.get(handles[1], 0).is_none());
    assert!(arena.remove(handles[1]).is_none());
    assert_eq!(arena.get(again, 0).as_deref(), Some(&4));
    let none = Arena::with_capacity_limit(0, nonces(1));
    assert_eq!(none.insert(0, ()), Err(Full(())));
}

/// Even if they can't be shown.
#[test]
fn a_record_without_room_comes_back() {
    let arena = arena::<Box<dyn Fn() -> u32 + Send + Sync>>(1);
    arena.insert(0, Box::new(|| 1)).unwrap();
    let refused = arena.insert(0, Box::new(|| 2)).unwrap_err();
    assert_eq!(
        format!("{refused:?}: {refused}"),
        "Full(..): no free slot: the arena's capacity limit is reached"
    );
    assert_eq!((refused.0)(), 2);
}

#[test]
fn a_removed_record_lives_as_long_as_it_is_held() {
    let alive = Arc::new(AtomicUsize::new(0));
    let arena = arena(10);
    let handle = arena.insert(0, Counted::new(5, &alive)).unwrap();
    let (first, second) = (arena.get(handle, 0).unwrap(), arena.get_slot(handle.slot).unwrap());
    drop(arena.remove(handle));
    assert!(arena.get(handle, 0).is_none() && arena.get_slot(handle.slot).is_none());
    assert!(arena.is_empty());
    drop(first);
    assert_eq!((second.value, alive.load(Ordering::Relaxed)), (5, 1));
    drop(second);
    assert_eq!(alive.load(Ordering::Relaxed), 0);
}

#[test]
fn dropping_the_arena_drops_all_records_once() {
    let alive = Arc::new(AtomicUsize::new(0));
    let arena = arena(1_000);
    let records = if cfg!(miri) { 30 } else { 600 };
    let handles: Vec<Handle> =
        (0..records).map(|i| arena.insert(0, Counted::new(i, &alive)).unwrap()).collect();
    handles.iter().step_by(3).for_each(|handle| drop(arena.remove(*handle)));
    assert_eq!(alive.load(Ordering::Relaxed), handles.len() * 2 / 3);
    // A leaked reference keeps nothing alive beyond the arena.
    std::mem::forget(arena.remove(handles[1]));
    drop(arena);
    assert_eq!(alive.load(Ordering::Relaxed), 0);
}

#[test]
fn a_source_that_has_only_zeros_is_no_source_of_nonces() {
    let mut left = 64;
    let zeros = move || {
        left -= 1;
        u64::from(left < 0)
    };
    let arena = Arena::with_capacity_limit(2, zeros);
    let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| arena.insert(0, 1)));
    assert!(refused.is_err() && arena.is_empty());
    assert_eq!(arena.insert(0, 2).map(|handle| handle.nonce), Ok(1));
}

#[test]
fn a_panicking_destructor_frees_its_slot() {
    struct PanicsIf(bool);
    impl Drop for PanicsIf {
        fn drop(&mut self) {
            assert!(!self.0, "as the test intends");
        }
    }
    let arena = arena(1);
    let handle = arena.insert(0, PanicsIf(true)).unwrap();
    let dropped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(arena.remove(handle))));
    assert!(dropped.is_err());
    assert!(arena.insert(0, PanicsIf(false)).is_ok());
}

/// As with a vector: the others are dropped all the same.
#[test]
fn a_destructor_that_panics_at_the_end_of_the_arena_leaves_no_other_undropped() {
    struct PanicsOnce(Arc<AtomicUsize>);
    impl Drop for PanicsOnce {
        fn drop(&mut self) {
            assert_ne!(self.0.fetch_add(1, Ordering::Relaxed), 1, "as the test intends");
        }
    }
    for leaked in [false, true] {
        let drops = Arc::new(AtomicUsize::new(0));
        let arena = arena(5);
        let handles = [(); 5].map(|()| arena.insert(0, PanicsOnce(drops.clone())).unwrap());
        if leaked {
            std::mem::forget(arena.reader());
            handles[1..4].iter().for_each(|handle| drop(arena.remove(*handle)));
        }
        let dropped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(arena)));
        assert!(dropped.is_err());
        assert_eq!(drops.load(Ordering::Relaxed), 5);
    }
}

#[test]
fn what_is_taken_is_the_callers() {
    let alive = Arc::new(AtomicUsize::new(0));
    let mut arena = arena(2);
    let [first, second] = [1, 2].map(|value| arena.insert(0, Counted::new(value, &alive)).unwrap());
    std::mem::forget(arena.get_any(second));
    assert!(arena.take(changed(first, 1)).is_none() && arena.get_any(first).is_some());
    let taken = [first, second].map(|handle| arena.take(handle).unwrap());
    assert_eq!(taken.map(|record| record.value), [1, 2]);
    assert_eq!((alive.load(Ordering::Relaxed), arena.len()), (0, 0));
    for handle in [first, second, forged(2, 1), forged(u32::MAX, 1)] {
        assert!(arena.take(handle).is_none() && arena.get_any(handle).is_none());
    }
    let again = [3, 4].map(|value| arena.insert(0, Counted::new(value, &alive)).unwrap());
    assert_eq!(again.map(|handle| arena.get_any(handle).unwrap().value), [3, 4]);
    assert!(again.iter().all(|handle| arena.remove(*handle).is_some()));
    assert_eq!(alive.load(Ordering::Relaxed), 0);
}

#[test]
fn visits_every_open_record() {
    let arena = arena(100);
    let handles: Vec<Handle> = (0..10).map(|i| arena.insert(i % 2, i).unwrap()).collect();
    drop(arena.remove(handles[4]));
    let mut seen = Vec::new();
    arena.visit(|handle, tag, record| seen.push((handle, tag, *record)));
    let expected: Vec<_> = (0..10).filter(|i| *i != 4).map(|i| (handles[i as usize], i % 2, i)).collect();
    assert_eq!(seen, expected);
}

#[test]
#[cfg_attr(miri, ignore = "slow")]
fn nonces_from_the_system_differ() {
    let arena = Arena::new(1_000);
    let nonces: std::collections::HashSet<u64> =
        (0..1_000).map(|i| arena.insert(0, i).unwrap().nonce).collect();
    assert_eq!(nonces.len(), 1_000);
    let other = Arena::with_capacity_limit(1, OsNonces::default());
    assert!(!nonces.contains(&other.insert(0, ()).unwrap().nonce));
}

#[derive(Clone, Debug)]
enum Step {
    Insert(u32, u64),
    Remove(usize),
    Get(usize, u32),
    Hold(usize),
    Release(usize),
    BeginReading,
    EndReading(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0..3u32, any::<u64>()).prop_map(|(tag, value)| Step::Insert(tag, value)),
        2 => any::<usize>().prop_map(Step::Remove),
        3 => (any::<usize>(), 0..3u32).prop_map(|(which, tag)| Step::Get(which, tag)),
        1 => any::<usize>().prop_map(Step::Hold),
        1 => any::<usize>().prop_map(Step::Release),
        1 => Just(Step::BeginReading),
        1 => any::<usize>().prop_map(Step::EndReading),
    ]
}

proptest! {
    #[test]
    fn behaves_like_a_map(steps in prop::collection::vec(step(), 0..if cfg!(miri) { 30 } else { 300 })) {
        let alive = Arc::new(AtomicUsize::new(0));
        let arena = arena::<Counted>(40);
        // All handles ever given out, the open ones' tags and values, the references held, and who reads.
        let mut handles: Vec<Handle> = Vec::new();
        let mut open: HashMap<Handle, (u32, u64)> = HashMap::new();
        let mut held: Vec<(Ref<'_, Counted>, u64)> = Vec::new();
        let mut readers: Vec<Reader<'_, Counted>> = Vec::new();
        for step in steps {
            let pick = |which: usize| (!handles.is_empty()).then(|| handles[which % handles.len()]);
            match step {
                Step::Insert(tag, value) => match arena.insert(tag, Counted::new(value, &alive)) {
                    Ok(handle) => {
                        prop_assert!(open.keys().all(|other| other.slot != handle.slot));
                        open.insert(handle, (tag, value));
                        handles.push(handle);
                    }
                    Err(Full(_)) => prop_assert!(open.len() + held.len() >= 40 || !readers.is_empty()),
                },
                Step::Remove(which) => if let Some(handle) = pick(which) {
                    let removed = arena.remove(handle).map(|record| record.value);
                    prop_assert_eq!(removed, open.remove(&handle).map(|(_, value)| value));
                },
                Step::Get(which, tag) => if let Some(handle) = pick(which) {
                    let expected = open.get(&handle).filter(|(t, _)| *t == tag).map(|(_, value)| *value);
                    prop_assert_eq!(arena.get(handle, tag).map(|record| record.value), expected);
                    let expected = open.get(&handle).map(|(_, value)| *value);
                    for reader in &readers {
                        prop_assert_eq!(reader.get(handle).map(|record| record.value), expected);
                    }
                },
                Step::Hold(which) => if let Some(handle) = pick(which) {
                    let record = open.get(&handle).and_then(|(tag, _)| arena.get(handle, *tag));
                    held.extend(record.map(|record| { let value = record.value; (record, value) }));
                },
                Step::Release(which) => if !held.is_empty() {
                    let (record, value) = held.swap_remove(which % held.len());
                    prop_assert_eq!(record.value, value);
                },
                Step::BeginReading => readers.push(arena.reader()),
                Step::EndReading(which) => if !readers.is_empty() {
                    drop(readers.swap_remove(which % readers.len()));
                },
            }
            prop_assert_eq!(arena.len(), open.len());
            prop_assert!(!readers.is_empty() || alive.load(Ordering::Relaxed) <= open.len() + held.len());
        }
        for (record, value) in &held {
            prop_assert_eq!(record.value, *value);
        }
        drop(held);
        drop(readers);
        prop_assert_eq!(alive.load(Ordering::Relaxed), open.len());
        drop(arena);
        prop_assert_eq!(alive.load(Ordering::Relaxed), 0);
    }
}

/// Ten million handles made up by someone who knows the slots, the tag, and stale handles.
#[test]
fn forged_handles_are_refused() {
    let open = if cfg!(miri) { 10 } else { 500 };
    let arena = arena(1_000);
    let mut handles: Vec<Handle> = (0..2 * open).map(|i| arena.insert(1, i).unwrap()).collect();
    let stale: Vec<Handle> = handles.drain(open as usize..).collect();
    stale.iter().for_each(|handle| drop(arena.remove(*handle)));
    let tries = match () {
        () if cfg!(miri) => 1_000,
        () if cfg!(debug_assertions) => 1_000_000,
        () => 10_000_000,
    };
    let mut random = nonces(4_711);
    let accepted = (0..tries).filter(|n| {
        let guess = random();
        let known = stale[n % stale.len()].nonce;
        let nonce = match n % 4 {
            0 => guess,
            1 => known ^ 1 << (guess % 64),
            2 => known,
            _ => guess >> (guess % 64),
        };
        let handle = forged(guess as u32 % (open * 11 / 5), nonce);
        arena.get(handle, 1).is_some()
            || arena.reader().get(handle).is_some()
            || arena.remove(handle).is_some()
    });
    assert_eq!(accepted.count(), 0, "of {tries}");
    assert_eq!(arena.len(), open as usize);
}

/// Threads read through current and stale handles while another inserts and removes.
#[test]
fn hammered() {
    const OBJECTS: usize = 4;
    let alive = Arc::new(AtomicUsize::new(0));
    let arena = arena::<Counted>(64);
    // A reader who has to wait for a processor keeps what is removed meanwhile.
    let insert = |value| loop {
        match arena.insert(0, Counted::new(value, &alive)) {
            Ok(handle) => break handle,
            Err(Full(_)) => thread::yield_now(),
        }
    };
    let current: Vec<Mutex<(Handle, u64)>> =
        (0..OBJECTS as u64).map(|i| Mutex::new((insert(i), i))).collect();
    let done = AtomicBool::new(false);
    let found = AtomicUsize::new(0);
    thread::scope(|threads| {
        for _ in 0..3 {
            threads.spawn(|| {
                let mut known: Vec<(Handle, u64)> = Vec::new();
                while !done.load(Ordering::Relaxed) {
                    known.clear();
                    known.extend(current.iter().map(|current| *current.lock().unwrap()));
                    for (handle, value) in known.iter().cycle().take(50 * OBJECTS) {
                        if let Some(record) = arena.get(*handle, 0) {
                            assert_eq!(record.value, *value);
                            found.fetch_add(1, Ordering::Relaxed);
                        }
                        if let Some(record) = arena.get_slot(handle.slot) {
                            assert_ne!(record.value, u64::MAX, "a dropped record");
                        }
                    }
                    let reader = arena.reader();
                    let records: Vec<_> = known
                        .iter()
                        .filter_map(|(handle, value)| Some((reader.get(*handle)?, value)))
                        .collect();
                    found.fetch_add(records.len(), Ordering::Relaxed);
                    for (record, value) in records.iter().cycle().take(50 * records.len()) {
                        assert_eq!(record.value, **value);
                    }
                }
            });
        }
        let end = Instant::now() + Duration::from_secs(1);
        let mut value = OBJECTS as u64;
        while Instant::now() < end {
            let mut current = current[value as usize % OBJECTS].lock().unwrap();
            let removed = arena.remove(current.0).unwrap();
            assert_eq!(removed.value, current.1);
            drop(removed);
            *current = (insert(value), value);
            value += 1;
        }
        done.store(true, Ordering::Relaxed);
        println!("{value} records inserted");
    });
    println!("{} lookups succeeded", found.into_inner());
    assert_eq!(alive.load(Ordering::Relaxed), OBJECTS);
    drop(arena);
    assert_eq!(alive.load(Ordering::Relaxed), 0);
}

/// Several threads insert and remove their own records: slots are never given to two at a time.
#[test]
fn writers_side_by_side() {
    let alive = Arc::new(AtomicUsize::new(0));
    let arena = arena::<Counted>(300);
    thread::scope(|threads| {
        for thread in 0..3u64 {
            let (arena, alive) = (&arena, &alive);
            threads.spawn(move || {
                let mut own: Vec<(Handle, u64)> = Vec::new();
                let mut random = nonces(thread);
                for n in 0..if cfg!(miri) { 30 } else { 30_000_u64 } {
                    if own.len() < 100 && random().is_multiple_of(2) {
                        own.push((arena.insert(3, Counted::new(n, alive)).unwrap(), n));
                    } else if !own.is_empty() {
                        let (handle, value) = own.swap_remove(random() as usize % own.len());
                        assert_eq!(arena.get(handle, 3).unwrap().value, value);
                        assert_eq!(arena.remove(handle).unwrap().value, value);
                        assert!(arena.remove(handle).is_none());
                    }
                }
                own.iter().for_each(|(handle, _)| drop(arena.remove(*handle).unwrap()));
            });
        }
    });
    assert!(arena.is_empty());
    assert_eq!(alive.load(Ordering::Relaxed), 0);
}

#[test]
fn a_nonce_alone_is_enough_for_whoever_asks_for_no_tag() {
    let arena = arena::<u64>(10);
    let handle = arena.insert(7, 42).unwrap();
    let record = arena.get_any(handle).unwrap();
    assert_eq!((*record, record.tag()), (42, 7));
    assert!(arena.get_any(changed(handle, 1)).is_none());
    assert!(arena.get_any(Handle { slot: Slot(handle.slot.0 + 1), ..handle }).is_none());
    assert!(arena.get_any(Handle { slot: Slot(u32::MAX), ..handle }).is_none());
    drop(record);
    drop(arena.remove(handle));
    assert!(arena.get_any(handle).is_none());
}

#[test]
fn what_a_reader_found_stays_until_he_is_done() {
    let alive = Arc::new(AtomicUsize::new(0));
    let arena = arena(2);
    let insert = |value| arena.insert(7, Counted::new(value, &alive));
    let first = insert(1).unwrap();
    let reader = arena.reader();
    // Of a slot that was not in use when he began.
    let second = insert(2).unwrap();
    let found = [first, second].map(|handle| reader.get(handle).unwrap());
    assert_eq!(reader.get_slot(second.slot).unwrap().value, 2);
    assert!([first, second].iter().all(|handle| reader.get(changed(*handle, 1)).is_none()));
    assert_eq!([first, second].map(|handle| reader.handle_at(handle.slot)), [Some(first), Some(second)]);
    drop(arena.remove(first));
    assert!(reader.get(first).is_none() && reader.get_slot(first.slot).is_none());
    assert!(reader.handle_at(first.slot).is_none());
    assert!(insert(3).is_err(), "the removed record may still be read");
    assert_eq!((found.map(|record| record.value), alive.load(Ordering::Relaxed)), ([1, 2], 2));
    drop(reader);
    assert_eq!(alive.load(Ordering::Relaxed), 1);
    let third = insert(3).unwrap();
    assert!(third.slot == first.slot && arena.reader().get(first).is_none());
    assert_eq!(arena.reader().get(third).unwrap().value, 3);
}

/// There is always somebody who reads, and still what is removed goes.
#[test]
fn readers_who_relieve_one_another_keep_nothing_for_ever() {
    let alive = Arc::new(AtomicUsize::new(0));
    let arena = arena(5);
    let mut handle = arena.insert(0, Counted::new(0, &alive)).unwrap();
    let mut reader = arena.reader();
    for value in 1..100 {
        let found = reader.get(handle).unwrap();
        drop(arena.remove(handle));
        assert_eq!(found.value, value - 1);
        handle = arena.insert(0, Counted::new(value, &alive)).unwrap();
        reader = arena.reader();
        assert!(alive.load(Ordering::Relaxed) <= 3);
    }
    drop(reader);
    assert_eq!(alive.load(Ordering::Relaxed), 1);
}

#[test]
fn a_leaked_reader_keeps_nothing_beyond_the_arena() {
    let alive = Arc::new(AtomicUsize::new(0));
    let mut arena = arena(10);
    let handles = [0, 1, 2].map(|value| arena.insert(0, Counted::new(value, &alive)).unwrap());
    for handle in &handles[..2] {
        std::mem::forget(arena.reader());
        drop(arena.remove(*handle));
        assert!(arena.exclusive().get(*handle).is_none());
    }
    assert_eq!(alive.load(Ordering::Relaxed), 3);
    drop(arena);
    assert_eq!(alive.load(Ordering::Relaxed), 0);
}

/// Destructors that panic, and that remove further records, when a reader's end lets them run.
#[test]
fn destructors_may_do_as_they_like_when_a_reader_ends() {
    struct Record {
        panics: bool,
        removes: Option<Handle>,
        arena: std::sync::Weak<Arena<Record>>,
        drops: Arc<AtomicUsize>,
    }
    impl Drop for Record {
        fn drop(&mut self) {
            self.drops.fetch_add(1, Ordering::Relaxed);
            if let (Some(handle), Some(arena)) = (self.removes, self.arena.upgrade()) {
                let reader = arena.reader();
                assert!(reader.get(handle).is_some());
                drop(arena.remove(handle));
            }
            assert!(!self.panics, "as the test intends");
        }
    }
    let (arena, drops) = (Arc::new(arena(10)), Arc::new(AtomicUsize::new(0)));
    let insert = |panics, removes| {
        let record = Record { panics, removes, arena: Arc::downgrade(&arena), drops: drops.clone() };
        arena.insert(0, record).unwrap()
    };
    let [last, panics, one] = [insert(false, None), insert(true, None), insert(false, None)];
    let removes = insert(false, Some(last));
    let reader = arena.reader();
    for handle in [one, removes, panics] {
        drop(arena.remove(handle));
    }
    assert_eq!((drops.load(Ordering::Relaxed), arena.len()), (0, 1));
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(reader)));
    assert!(ended.is_err());
    assert_eq!((drops.load(Ordering::Relaxed), arena.len()), (4, 0));
    for _ in 0..10 {
        insert(false, None);
    }
}

#[test]
fn exclusively() {
    let mut empty = Arena::<u64>::with_capacity_limit(0, nonces(1));
    assert!(empty.exclusive().get_slot(Slot(0)).is_none());
    let mut arena = Arena::<u64>::with_capacity_limit(4, nonces(1));
    assert!(arena.exclusive().get_slot(Slot(0)).is_none());
    let handles = [10, 11, 12].map(|record| arena.insert(7, record).unwrap());
    drop(arena.remove(handles[1]));
    let mut records = arena.exclusive();
    *records.get(handles[0]).unwrap() += 90;
    assert_eq!(records.get_slot(handles[0].slot), Some(&mut 100));
    assert_eq!(records.get(handles[2]), Some(&mut 12));
    assert_eq!(records.handle_at(handles[2].slot), Some(handles[2]));
    // Removed, never given out, beyond what was used, beyond what there is.
    assert_eq!(records.get(handles[1]), None);
    for slot in [0, 1, 2, 3, 4, u32::MAX] {
        for nonce in [0, 1, handles[0].nonce ^ 1] {
            assert_eq!(records.get(forged(slot, nonce)), None);
        }
    }
    for slot in [1, 3, 4, u32::MAX] {
        assert_eq!(records.get_slot(Slot(slot)), None);
        assert_eq!(records.handle_at(Slot(slot)), None);
    }
    assert_eq!(arena.exclusive().into_slot(handles[0].slot), Some(&mut 100));
    assert_eq!(arena.exclusive().into_record(handles[0]), Some(&mut 100));
    for stranger in [handles[1], changed(handles[0], 1), forged(3, handles[0].nonce)] {
        assert_eq!(arena.exclusive().into_record(stranger), None);
    }
    assert_eq!(arena.exclusive().into_slot(handles[1].slot), None);
    assert_eq!(arena.get(handles[0], 7).as_deref(), Some(&100));
}
