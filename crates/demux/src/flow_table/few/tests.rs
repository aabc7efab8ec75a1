//! What a table for few keeps of its buckets, against the records themselves.

use alloc::{rc::Rc, vec, vec::Vec};
use core::{cell::Cell, hash, ptr::NonNull};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{Few, WIDE, Window, are_few, insert, tag};
use crate::{
    flow_table::{FlowInsertError, FlowRecord, FlowTable, Kind, Sweep},
    hashes::Keyed,
    mix::spread,
};

type Flows = Few<(u64, u64), false>;

impl<R: FlowRecord, const SPREAD: bool> Few<R, SPREAD> {
    fn insert(&mut self, record: R) -> Result<(), FlowInsertError<R>> {
        let Some(spot) = self.insert_at_once(record) else { return Ok(()) };
        // SAFETY: it waits.
        unsafe { self.insert_waiting(spot).map_err(|refusal| refusal.of(self.waiting())) }
    }

    fn remove(&mut self, key: &R::Key) -> Option<R> {
        // SAFETY: read before anything else is done.
        self.unlink(key).map(|record| unsafe { record.read() })
    }
}

fn table(limit: usize) -> Flows {
    Few::new(limit, Keyed::new(0x5eed)).expect("there is memory")
}

/// Checks that everything is where it is said to be; says how many records are kept aside.
fn check<R: FlowRecord, const SPREAD: bool>(table: &Few<R, SPREAD>) -> usize {
    let mut counts = vec![0; table.buckets];
    for place in 0..table.end + WIDE {
        assert_eq!(table.tag(place) == super::DUMMY, !table.is_real(place));
        if table.is_real(place) && !table.is_free(place) {
            // SAFETY: places that have tags hold records.
            let spot = table.spot(unsafe { table.key(place) });
            assert_eq!(
                (table.window(spot.bucket).start() + spot.offset, table.tag(place)),
                (place, tag(spot.bucket))
            );
            counts[spot.bucket] += 1;
        }
    }
    let mut aside = vec![0; table.buckets];
    table.aside.iter().for_each(|record| aside[table.spot(record.key()).bucket] += 1);
    let mut uncounted = 0;
    for bucket in 0..table.buckets {
        let window = table.window(bucket);
        uncounted += usize::from(window.is_uncounted());
        match (counts[bucket], aside[bucket]) {
            (all, 0) => assert!(window.start() != table.end && window.is_of(all)),
            (all, _) => assert_eq!((all, window), (0, table.aside_window())),
        }
    }
    // Few ever have four.
    assert!(uncounted <= 4 + table.buckets / 100, "{uncounted} of {} buckets", table.buckets);
    let all = counts.iter().map(|&count| usize::from(count)).sum::<usize>() + aside.iter().sum::<usize>();
    assert_eq!((all, table.iter().count()), (table.len(), table.len()));
    aside.iter().sum()
}

const LIMITS: &[u64] =
    if cfg!(miri) { &[1, 100] } else { &[1, 2, 7, 100, 1_000, 1_700, 2_000, 5_000, 16_000] };

#[test]
fn churn_leaves_buckets_as_they_are_said_to_be_in_at_most_sixteen_bytes_a_record() {
    for &limit in LIMITS {
        let mut table = table(limit as usize);
        assert!(are_few::<(u64, u64)>(limit as usize));
        let mut most = 0;
        for n in 0..limit * if cfg!(miri) { 2 } else { 8 } {
            if n >= limit {
                assert_eq!(table.remove(&spread(n - limit)), Some((spread(n - limit), n - limit)));
            }
            table.insert((spread(n), n)).expect("below the limit");
            if n % (limit / 2 + 1) == 0 {
                most = most.max(check(&table));
            }
        }
        assert!(most <= 8 + limit as usize / 100, "{most} of {limit} are kept aside");
        let few = 1_000;
        assert!(limit < few || table.bytes() <= limit as usize * 32, "{} of {limit}", table.bytes());
        let last = (0..limit).map(|n| spread(n + limit * if cfg!(miri) { 1 } else { 7 }));
        assert!(last.filter(|key| table.remove(key).is_some()).count() == limit as usize);
        assert_eq!((check(&table), table.len()), (0, 0));
    }
}

/// The share of places in use is what bytes allow, whatever a record takes.
#[test]
fn records_of_other_sizes_find_room() {
    fn fill<V: Copy>(value: V) {
        let limit = (1 << 20) / size_of::<(u64, V)>().max(64) - 1;
        let limit = if cfg!(miri) { 30 } else { limit.min(4_000) };
        let mut table = Few::<(u64, V), false>::new(limit, Keyed::new(7)).expect("there is memory");
        for n in 0..limit as u64 {
            table.insert((spread(n), value)).expect("below the limit");
        }
        check(&table);
    }
    fill(());
    fill([0u64; 3]);
    fill([0u64; 40]);
    fill([0u64; 1_000]);
}

/// Keys that want the same place as many others do.
fn alike<const SPREAD: bool>(table: &Few<(u64, u64), SPREAD>, count: usize) -> Vec<u64> {
    let first = table.spot(&0);
    let is_alike = |key: &u64| {
        (table.spot(key).bucket ^ first.bucket) & 0xf == 0 && table.spot(key).offset == first.offset
    };
    (0..).filter(is_alike).take(count).collect()
}

#[test]
#[cfg_attr(miri, ignore = "slow")]
fn keys_that_lie_badly_have_their_hashes_spread_once_more() {
    let limit = 4_000;
    let keys = alike(&table(limit), limit / 2);
    let mut flows = FlowTable::<(u64, u64)>::new(limit, 0x5eed);
    for (&key, n) in keys.iter().zip(0..) {
        flows.insert((key, n)).expect("below the limit");
        assert_eq!(flows.insert((key, 0)), Err(FlowInsertError::Duplicate((key, 0))));
    }
    let Kind::FewSpread(table) = &flows.kind else { panic!("they lie badly") };
    assert!(check(table) < 20 && table.moved() > 0);
    assert!(keys.iter().zip(0..).all(|(key, n)| flows.get(key) == Some(&(*key, n))));
    assert!(keys.iter().zip(0..).all(|(key, n)| flows.remove(key) == Some((*key, n))));
    assert!(flows.is_empty());
}

#[test]
#[cfg_attr(miri, ignore = "slow")]
fn keys_that_lie_as_by_chance_have_their_hashes_taken_as_they_are() {
    for limit in [1, 100, 1_500, 2_047] {
        for seed in 0..50 {
            let mut flows = FlowTable::<(u64, u64)>::new(limit as usize, seed);
            (0..limit).for_each(|n| flows.insert((spread(n), n)).expect("below the limit"));
            for n in 0..2 * limit {
                flows.remove(&spread(n)).expect("it is there");
                flows.insert((spread(n + limit), n)).expect("below the limit");
            }
            assert!(matches!(flows.kind, Kind::Few(_)), "{limit}, {seed}");
        }
    }
}

/// A key whose hash says nothing of it.
#[derive(PartialEq, Eq, Debug)]
struct Blank(Rc<u64>);

std::thread_local! {
    static BLANK_HASHES: Cell<u64> = const { Cell::new(0) };
}

impl hash::Hash for Blank {
    fn hash<H: hash::Hasher>(&self, _: &mut H) {
        BLANK_HASHES.set(BLANK_HASHES.get() + 1);
    }
}

#[test]
fn keys_of_one_hash_are_kept_aside_and_dropped_once() {
    const KEPT: u64 = 130;
    // All that are kept are looked through for each: Miri has few go.
    const GONE: u64 = if cfg!(miri) { 10 } else { 100 };
    let keys: Vec<Rc<u64>> = (0..140).map(Rc::new).collect();
    let mut table = FlowTable::<(Blank, u64)>::new(149, 0x5eed);
    for (key, n) in keys.iter().zip(0..) {
        let record = || (Blank(key.clone()), n);
        let before = BLANK_HASHES.get();
        let inserted = table.insert(record());
        // Who is refused does not have a table for many tried each time.
        assert!(n <= KEPT || BLANK_HASHES.get() - before <= 3);
        assert_eq!(inserted, if n < KEPT { Ok(()) } else { Err(FlowInsertError::Crowded(record())) });
    }
    for (key, n) in keys.iter().zip(0..).step_by(if cfg!(miri) { 9 } else { 1 }) {
        let record = table.get(&Blank(key.clone()));
        assert_eq!(record, (n < KEPT).then_some(&(Blank(key.clone()), n)));
    }
    assert_eq!((table.len() as u64, table.iter().count() as u64), (KEPT, KEPT));
    for (key, n) in keys.iter().zip(0..GONE) {
        table.get_mut(&Blank(key.clone())).expect("it is there").1 += 1_000;
        assert_eq!(table.get(&Blank(key.clone())).expect("it is there").1, n + 1_000);
        table.get_mut(&Blank(key.clone())).expect("it is there").1 = n;
        assert_eq!(table.remove(&Blank(key.clone())), Some((Blank(key.clone()), n)));
    }
    let Kind::FewSpread(few) = &table.kind else { panic!("they lie badly") };
    assert_eq!(check(few) as u64, KEPT - GONE);
    drop(table);
    assert!(keys.iter().all(|key| Rc::strong_count(key) == 1));
}

/// A key that shares its hash with six others.
#[derive(PartialEq, Eq, Debug)]
struct Seventh(Rc<u64>);

impl hash::Hash for Seventh {
    fn hash<H: hash::Hasher>(&self, state: &mut H) {
        state.write_u64(*self.0 / 7);
    }
}

#[test]
fn keys_of_which_many_share_hashes_make_it_a_table_for_many() {
    let limit = if cfg!(miri) { 149 } else { 4_000 };
    let keys: Vec<Rc<u64>> = (0..limit + 1).map(Rc::new).collect();
    let mut table = FlowTable::<(Seventh, u64)>::new(limit as usize, 0x5eed);
    let record = |n: u64| (Seventh(keys[n as usize].clone()), n);
    for n in 0..limit {
        assert_eq!(table.insert(record(n)), Ok(()));
        assert_eq!(table.insert(record(n)), Err(FlowInsertError::Duplicate(record(n))));
    }
    assert!(matches!(table.kind, Kind::Many(_)) && table.moved() > 0);
    assert_eq!(table.insert(record(limit)), Err(FlowInsertError::Full(record(limit))));
    assert_eq!(table.iter().count() as u64, limit);
    for n in 0..limit {
        assert_eq!(table.get(&record(n).0), Some(&record(n)));
        assert!(n % 2 == 0 || table.remove(&record(n).0) == Some(record(n)));
    }
    assert_eq!((table.len() as u64, table.get(&record(1).0)), (limit - limit / 2, None));
    drop(table);
    assert!(keys.iter().all(|key| Rc::strong_count(key) == 1));
}

/// What makes it one for many is copied first: if a key panics then, the copies are forgotten.
#[test]
fn keys_that_panic_while_it_becomes_a_table_for_many_are_dropped_once() {
    let (alive, calls) = (Rc::new(()), Rc::new(Cell::new(u64::MAX)));
    let record = |n| (Counted { n, calls: calls.clone(), _alive: alive.clone() }, n);
    let full = || {
        let mut table = FlowTable::<(Counted, u64)>::new(149, 0x5eed);
        let next = (0..149).find(|&n| {
            // The next finds no room.
            let Kind::FewSpread(few) = &table.kind else { return table.insert(record(n)).is_err() };
            few.aside.len() == 130 || table.insert(record(n)).is_err()
        });
        (table, next.expect("most share their hashes"))
    };
    let mut unchanged = 0;
    for patience in (0..200).step_by(if cfg!(miri) { 40 } else { 1 }) {
        let (mut table, next) = full();
        calls.set(patience);
        let panicked = catch_unwind(AssertUnwindSafe(|| table.insert(record(next)).expect("there is room")));
        calls.set(u64::MAX);
        unchanged += u64::from(panicked.is_err() && matches!(table.kind, Kind::FewSpread(_)));
        assert_eq!(table.len() as u64, next + u64::from(panicked.is_ok()), "{patience}");
        (next + 1..149).for_each(|n| table.insert(record(n)).expect("there is room"));
        assert!(matches!(table.kind, Kind::Many(_)) && table.iter().count() == table.len());
        drop(table);
        assert_eq!(Rc::strong_count(&alive), 1, "{patience}");
    }
    assert!(unchanged > if cfg!(miri) { 2 } else { 120 }, "{unchanged}");
}

/// A key whose hash says little of it, and which panics after so many calls.
#[derive(Debug)]
struct Counted {
    n: u64,
    calls: Rc<Cell<u64>>,
    _alive: Rc<()>,
}

impl Counted {
    fn call(&self) -> u64 {
        let left = self.calls.get();
        self.calls.set(left.wrapping_sub(1));
        assert!(left != 0, "a key that panics");
        self.n
    }
}

impl PartialEq for Counted {
    fn eq(&self, other: &Self) -> bool {
        self.call() == other.n
    }
}

impl Eq for Counted {}

impl hash::Hash for Counted {
    fn hash<H: hash::Hasher>(&self, state: &mut H) {
        state.write_u64(self.call() / 7);
    }
}

#[test]
fn two_keys_of_one_place_are_kept_aside_until_one_of_them_leaves() {
    let mut table = table(100);
    let (first, mut aside) = (table.spot(&0), 0);
    let of_bucket = |key: &u64| table.spot(key).bucket == first.bucket;
    let others: Vec<u64> = (1..).filter(of_bucket).take(3).collect();
    let rival = (1..).find(|key| of_bucket(key) && table.spot(key).offset == first.offset);
    let keys: Vec<u64> = [0].into_iter().chain(others).chain(rival).collect();
    for &key in &keys {
        table.insert((key, key)).expect("below the limit");
        aside = check(&table);
    }
    assert_eq!(aside, keys.len());
    assert_eq!(table.remove(&0), Some((0, 0)));
    assert_eq!(check(&table), 0);
    assert!(keys[1..].iter().all(|key| table.get(key, || ()) == Some(&(*key, *key))));
}

#[test]
fn a_sweep_brings_back_what_is_kept_aside_without_need() {
    let mut table = table(8);
    let first = table.spot(&0);
    let of_place =
        |key: &u64| (table.spot(key).bucket, table.spot(key).offset) == (first.bucket, first.offset);
    let keys: Vec<u64> = (0..).filter(of_place).take(4).collect();
    keys.iter().for_each(|&key| table.insert((key, key)).expect("below the limit"));
    assert_eq!(check(&table), 4);
    let mut seen = Vec::new();
    let mut goes = |record: NonNull<(u64, u64)>, kept: &[u64]| {
        // SAFETY: the table has it, and nobody else looks at it.
        let key = unsafe { record.as_ref() }.0;
        seen.push(key);
        !kept.contains(&key)
    };
    for (kept, gone, aside) in [(&keys[..3], 1, 3), (&keys[1..2], 2, 0), (&[], 1, 0)] {
        assert_eq!(table.sweep(&mut Sweep::default(), usize::MAX, |record| goes(record, kept)), gone);
        assert_eq!((check(&table), table.len()), (aside, kept.len()));
    }
    assert_eq!((seen.len(), table.window(first.bucket)), (4 + 3 + 1, Window::NOWHERE));
}

#[test]
fn a_record_whose_key_has_changed_goes_without_others() {
    let mut table = table(100);
    (0..100).for_each(|key| table.insert((key, key)).expect("below the limit"));
    (0..50).for_each(|key| table.get_mut(&key).expect("it is there").0 = key + 50);
    // SAFETY: the table has it, and nobody else looks at it.
    let has_changed = |record: NonNull<(u64, u64)>| unsafe { record.as_ref() }.1 < 50;
    assert_eq!(table.sweep(&mut Sweep::default(), usize::MAX, has_changed), 50);
    assert!((50..100).all(|key| table.get(&key, || ()) == Some(&(key, key))));
    assert_eq!(table.len(), 50);
}

/// A key whose hash fails when it is told to.
#[derive(PartialEq, Eq, Debug)]
struct Failing(Rc<u64>);

std::thread_local! {
    static HASHES_LEFT: Cell<u32> = const { Cell::new(u32::MAX) };
}

impl hash::Hash for Failing {
    fn hash<H: hash::Hasher>(&self, hasher: &mut H) {
        HASHES_LEFT.set(HASHES_LEFT.get().checked_sub(1).expect("as many as may be"));
        hasher.write_u64(spread(*self.0));
    }
}

/// Does something to the table while so many hashes are left before one fails; none if one did.
fn with_hashes_left<T>(left: u32, work: impl FnOnce() -> T) -> Option<T> {
    HASHES_LEFT.set(left);
    let worked = catch_unwind(AssertUnwindSafe(work));
    HASHES_LEFT.set(u32::MAX);
    worked.ok()
}

#[test]
fn a_hash_that_fails_while_room_is_made_leaves_the_table_as_it_was() {
    let (count, from) = if cfg!(miri) { (100, 80) } else { (4_000, 1_000) };
    let left = |n: u64| if n < from { u32::MAX } else { 1 + n as u32 % 3 };
    let mut table =
        Few::<(Failing, u64), false>::new(count as usize, Keyed::new(0x5eed)).expect("there is memory");
    let keys: Vec<Rc<u64>> = (0..count).map(Rc::new).collect();
    let mut failed = 0;
    for (key, n) in keys.iter().zip(0..) {
        let record = || (Failing(key.clone()), n);
        match with_hashes_left(left(n), || table.insert(record())) {
            Some(inserted) => assert!(inserted.is_ok()),
            None => {
                failed += 1;
                assert_eq!(Rc::strong_count(key), 1);
                assert!(table.get(&record().0, || ()).is_none());
                assert!(table.insert(record()).is_ok());
            }
        }
        assert_eq!((Rc::strong_count(key), table.len() as u64), (2, n + 1));
    }
    check(&table);
    assert!(failed > if cfg!(miri) { 0 } else { 100 }, "{failed}");
    let anew = with_hashes_left(count as u32 / 2, || table.spread().is_some());
    assert!(anew.is_none() && table.len() as u64 == count);
    let mut other = table.spread().expect("there is room");
    check(&other);
    drop(table);
    for (key, n) in keys.iter().zip(0..) {
        assert_eq!(Rc::strong_count(key), 2);
        assert!(other.remove(&Failing(key.clone())).is_some_and(|record| record.1 == n));
    }
    drop(other);
    assert!(keys.iter().all(|key| Rc::strong_count(key) == 1));
}

/// A key that answers once as if it were another.
struct Fickle {
    word: u64,
    /// In how many hashes it does, and as which.
    lie: Cell<(u32, u64)>,
    _alive: Rc<()>,
}

impl PartialEq for Fickle {
    fn eq(&self, other: &Self) -> bool {
        self.word == other.word
    }
}

impl Eq for Fickle {}

impl hash::Hash for Fickle {
    fn hash<H: hash::Hasher>(&self, hasher: &mut H) {
        let (left, lie) = self.lie.get();
        self.lie.set((left.wrapping_sub(1), lie));
        hasher.write_u64(if left == 1 { lie } else { self.word });
    }
}

#[test]
fn a_key_that_lies_once_has_its_record_in_one_place() {
    let honest = table(3);
    let at = |bucket: usize, offset: usize| {
        let is_there = |word: &u64| (honest.spot(word).bucket, honest.spot(word).offset) == (bucket, offset);
        (0..).find(is_there).expect("a word for every place")
    };
    let places = (0..honest.buckets).flat_map(|bucket| (0..WIDE).map(move |offset| (bucket, offset)));
    // As what a key answers: a word for each place; under Miri, which would look for them for minutes, any.
    let lies: Vec<u64> = if cfg!(miri) {
        (0..24).collect()
    } else {
        places.map(|(bucket, offset)| at(bucket, offset)).collect()
    };
    // The third wants a place beside the first, which is where the second is or the first.
    let (first, second, third) = (at(4, 20), at(8, 30), at(4, 6));
    let alive = Rc::new(());
    for (&lie, when) in lies.iter().flat_map(|lie| (2..5).map(move |when| (lie, when))) {
        let key = |word, when| Fickle { word, lie: Cell::new((when, lie)), _alive: alive.clone() };
        let mut table = Few::<(Fickle, u64), false>::new(3, honest.hash.clone()).expect("there is memory");
        for (n, key) in [(0, key(first, when)), (1, key(second, u32::MAX)), (2, key(third, u32::MAX))] {
            assert!(table.insert((key, n)).is_ok());
        }
        let mut found: Vec<u64> = table.iter().map(|record| record.1).collect();
        found.sort_unstable();
        assert_eq!((found, table.len()), (vec![0, 1, 2], 3), "{when}: {lie}");
        drop(table);
        assert_eq!(Rc::strong_count(&alive), 1);
    }
}

#[test]
fn records_are_copied_by_words_if_they_consist_of_such() {
    // Where words are aligned to eight, and to four as on 32-bit x86.
    let whole = |size, align| [8, 4].map(|word| insert::consists_of_words([size, align], word));
    assert_eq!([whole(24, 8), whole(24, 4)], [[true, true], [false, true]]);
    assert_eq!([whole(20, 4), whole(4, 4), whole(0, 1)], [[false; 2]; 3]);
}
