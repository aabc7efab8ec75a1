//! The counts kept beside the records, against the records themselves.

use alloc::{rc::Rc, vec, vec::Vec};

use super::{
    FlowInsertError, Sweep,
    access::Alone,
    address::Shape,
    bits::ones,
    elsewhere::KINDS,
    hash::Hash,
    place::{Group, Place},
    resize,
    table::Table,
    tags::GROUPS,
};
use crate::hashes::Keyed;

type Flows = Table<(u64, u64), Alone>;

fn table(limit: usize) -> Flows {
    Table::new(limit, Keyed::new(0x5eed), |_, _| Ok(Alone)).expect("there is memory")
}

/// The share of records that are not in the group they prefer, after checking that everything is where it is said to be.
fn elsewhere(table: &Flows) -> f64 {
    let blocks = table.extent.count();
    let mut counts = vec![[0; KINDS as usize]; (GROUPS * table.store.most_blocks()) as usize];
    let mut all = 0;
    for block in 0..table.store.most_blocks() {
        let full = table.full(block);
        assert!(block < blocks || full == 0, "a block that is not in use holds records");
        assert_eq!(table.strangers(block) & !full, 0, "an empty place has a stranger");
        for at in ones(full) {
            let place = Place::new(block, at);
            let hash = table.hash_at(place);
            let (first, second) = (table.extent.first(hash).group(), table.extent.second(hash).group());
            assert!(block == first.block() || block == second.block());
            assert_eq!(table.strangers(block) & place.bit() != 0, place.group() != first);
            counts[first.index()][hash.tag().kind(KINDS) as usize] += u32::from(place.group() != first);
            all += 1;
        }
    }
    assert_eq!(all, table.len());
    for (group, counts) in (0..blocks).flat_map(Group::of_block).zip(&counts) {
        let counted = (0..KINDS).map(|kind| table.counts(group).count(kind));
        assert!(counted.eq(counts.iter().map(|&count| u64::from(count))));
    }
    f64::from(counts.iter().flatten().sum::<u32>()) / all.max(1) as f64
}

const MANY: u64 = 40_000;
/// Under Miri a table for 400 doubles its blocks.
const LIMITS: &[u64] = if cfg!(miri) { &[1, 400] } else { &[1, 7, 200, 300, 5_000, MANY] };

/// So often in a table's life all is counted.
const CHECKS: u64 = if cfg!(miri) { 2 } else { 8 };

#[test]
fn all_is_counted_while_the_table_grows_and_shrinks() {
    for &limit in LIMITS {
        let mut table = table(limit as usize);
        for key in 0..limit {
            table.insert_new((key, 0)).expect("below the limit");
            if key % (limit / CHECKS + 1) == 0 {
                elsewhere(&table);
            }
        }
        for key in 0..limit {
            assert_eq!(table.remove(&key), Some((key, 0)));
            if key % (limit / CHECKS + 1) == 0 {
                elsewhere(&table);
            }
        }
        assert_eq!(elsewhere(&table), 0.0);
        (0..limit).for_each(|key| table.insert_new((key, 0)).expect("below the limit"));
        for kept in [4, 2, 0] {
            let mut looks = 0;
            table.sweep(&mut Sweep::default(), usize::MAX, |_| {
                looks += 1;
                looks % 5 >= kept
            });
            elsewhere(&table);
        }
        assert_eq!(elsewhere(&table), 0.0);
    }
}

/// With as many records as it may have.
fn filled() -> Flows {
    let mut table = table(MANY as usize);
    (0..MANY).for_each(|key| table.insert_new((key, 0)).expect("below the limit"));
    table
}

/// Removes all records of a full table one by one, each for a new one.
fn exchange(table: &mut Flows, round: u64) {
    for key in round * MANY..(round + 1) * MANY {
        table.remove(&key).expect("inserted a round ago");
        table.insert_new((key + MANY, 0)).expect("below the limit");
    }
}

#[test]
#[cfg_attr(miri, ignore = "slow")]
fn churn_moves_a_share_of_the_records_elsewhere_that_soon_grows_no_more() {
    let mut table = filled();
    let filled = elsewhere(&table);
    assert!(filled < 0.06, "{filled}");
    let mut shares = vec![];
    for round in 0..12 {
        exchange(&mut table, round);
        shares.push(elsewhere(&table));
    }
    let (early, late) = (shares[2], shares[11]);
    assert!(late < 0.1 && late < early * 1.2 + 0.01, "{shares:?}");
}

#[test]
fn records_of_full_blocks_make_room_for_others() {
    let mut table = table(200);
    let first = |key: &u64| table.extent.first(table.hash_of(key)).block();
    let keys: Vec<u64> = (0..).filter(|key| first(key) == 0).take(200).collect();
    keys.iter().for_each(|&key| table.insert_new((key, 0)).expect("other blocks have room"));
    assert!(table.moved() > 0);
    elsewhere(&table);
    assert!(keys.iter().all(|key| table.get(key, || ()) == Some(&(*key, 0))));
}

/// Blocks that come to make room for a record may take the one that it replaces.
#[test]
#[cfg_attr(miri, ignore = "slow")]
fn a_record_that_moves_to_make_room_for_another_is_replaced_by_that() {
    let mut table = table(MANY as usize);
    table.reserve(MANY as usize / 2);
    let (extent, grown) = (table.extent, table.extent.grown());
    let split = grown.sharers()[0];
    let hash = |key: &u64| Hash::of(table.store.keyed(key));
    let blocks = |key: &u64| [extent.first(hash(key)), extent.second(hash(key))].map(Place::block);
    let of_split = (0..).find(|key| blocks(key)[0] == split).expect("one of many");
    let keys: Vec<u64> = (0..).filter(|key| blocks(key) == blocks(&of_split)).take(128).collect();
    let goes = keys.iter().copied().find(|key| grown.first(hash(key)).block() == extent.count());
    let goes = goes.expect("half of them");
    keys.iter().for_each(|&key| table.insert_new((key, 0)).expect("two blocks have room"));
    assert_eq!((table.extent, table.replace((goes, 1)), table.extent), (extent, Some((goes, 0)), grown));
    elsewhere(&table);
    let is_there = |key: &&u64| table.get(key, || ()) == Some(&(**key, u64::from(**key == goes)));
    assert_eq!(keys.iter().filter(is_there).count(), table.len());
}

/// Those that found no room there, which is what it is split for.
#[test]
#[cfg_attr(miri, ignore = "slow")]
fn a_block_that_is_split_has_records_brought_home() {
    let mut table = table(MANY as usize);
    table.reserve(MANY as usize / 2);
    let (extent, split) = (table.extent, table.extent.grown().sharers()[0]);
    let hash = |key: &u64| Hash::of(table.store.keyed(key));
    let keys: Vec<u64> = (0..).filter(|key| extent.first(hash(key)).block() == split).take(100).collect();
    keys.iter().for_each(|&key| table.insert_new((key, 0)).expect("other blocks have room"));
    let away = |table: &Flows| {
        let is_away = |place: &Place| table.extent.first(table.hash_at(*place)).block() != place.block();
        table.full_places().filter(is_away).count()
    };
    assert_eq!((table.extent, away(&table)), (extent, 100 - 64));
    assert!(resize::grow(&mut table));
    assert_eq!(away(&table), 0);
    elsewhere(&table);
}

#[test]
#[cfg_attr(miri, ignore = "slow")]
fn a_table_between_two_sizes_keeps_most_records_where_they_prefer_to_be() {
    let mut table = table(4 * MANY as usize);
    // Blocks of the first doubling have no neighbours that would take some of their keys.
    let mut worst: [f64; 2] = [0.0; 2];
    for key in 0..4 * MANY {
        table.insert_new((key, 0)).expect("below the limit");
        if key % (MANY / 32) == 0 {
            let first = table.extent.count() < 2 * table.extent.columns().count();
            worst[usize::from(first)] = worst[usize::from(first)].max(elsewhere(&table));
        }
    }
    assert!(worst[0] < 0.12 && worst[1] < 0.2, "{worst:?}");
}

/// A new block to which more records belong than it has places: the rest goes to second blocks, where others have to make room
/// if they are full.
#[test]
#[cfg_attr(miri, ignore = "slow")]
fn a_block_that_comes_takes_no_more_than_it_has_places_for() {
    for crowded in [false, true] {
        let mut table = table(MANY as usize);
        table.reserve(MANY as usize / 2);
        let (before, grown) = (table.extent, table.extent.grown());
        let [here, there] = [before, grown].map(|extent| move |hash| extent.first(hash).block());
        let hash = |key: &u64| Hash::of(table.store.keyed(key));
        let mut keys: Vec<u64> = (0..).filter(|key| there(hash(key)) == before.count()).take(150).collect();
        if crowded {
            let mut seconds: Vec<u32> = keys.iter().map(|key| before.second(hash(key)).block()).collect();
            seconds.sort_unstable();
            seconds.dedup();
            let full =
                seconds.iter().flat_map(|&block| (0..).filter(move |key| here(hash(key)) == block).take(64));
            keys = full.chain(keys.clone()).collect();
        }
        keys.iter().for_each(|&key| table.insert_new((key, 0)).expect("other blocks have room"));
        assert_eq!(table.extent, before);
        let moved = table.moved();
        assert!(resize::grow(&mut table));
        assert_eq!((table.extent, table.full(before.count()).count_ones()), (grown, 64));
        assert!(table.moved() > moved + 100, "{} moved", table.moved() - moved);
        elsewhere(&table);
        assert!(keys.iter().all(|key| table.get(key, || ()) == Some(&(*key, 0))));
    }
}

#[test]
#[cfg_attr(miri, ignore = "slow")]
fn reserved_blocks_are_taken_at_once_and_kept() {
    let limit = MANY;
    for held in [0, limit / 10, limit / 3, limit] {
        let mut table = table(limit as usize);
        (0..held).for_each(|key| table.insert_new((key, 0)).expect("below the limit"));
        let before = table.extent.count();
        table.reserve((limit / 2 - held.min(limit / 2)) as usize);
        let reserved = table.extent;
        assert!(
            reserved.count() >= before
                && table.store.capacity(reserved, reserved.count()) >= limit as usize / 2
        );
        assert!(reserved.shape != Shape::Split && elsewhere(&table) < 0.06, "{held} of {limit}");
        (held..limit / 2).for_each(|key| table.insert_new((key, 0)).expect("below the limit"));
        assert_eq!(table.extent, reserved, "{held} of {limit}");
        (held.max(limit / 2)..limit).for_each(|key| table.insert_new((key, 0)).expect("below the limit"));
        assert!(table.extent.count() > reserved.count() || held == limit);
        (0..limit).for_each(|key| assert_eq!(table.remove(&key), Some((key, 0))));
        assert_eq!((table.extent, elsewhere(&table)), (reserved, 0.0));
    }
}

#[test]
#[cfg_attr(miri, ignore = "slow")]
fn a_table_that_is_small_beside_its_limit_is_seldom_between_two_sizes() {
    let mut table = table(100 * MANY as usize);
    let split = (0..MANY).filter(|&key| {
        table.insert_new((key, 0)).expect("below the limit");
        table.extent.shape == Shape::Split
    });
    let split = split.count() as u64;
    // A sixth of each doubling, the first sixth, and we may end with that.
    assert!((1..MANY * 3 / 10).contains(&split), "{split} of {MANY}");
}

#[test]
#[cfg_attr(miri, ignore = "slow")]
fn no_more_is_reserved_than_the_limit_needs() {
    for &limit in LIMITS {
        let mut table = table(limit as usize);
        table.reserve(usize::MAX);
        let reserved = table.extent;
        (0..limit).for_each(|key| table.insert_new((key, 0)).expect("below the limit"));
        assert_eq!(table.insert_new((limit, 0)), Err(FlowInsertError::Full((limit, 0))));
        assert_eq!(table.extent.count(), reserved.count());
    }
}

/// A key whose hash says nothing of it.
#[derive(PartialEq, Eq, Debug)]
struct Blank(Rc<u64>);

impl core::hash::Hash for Blank {
    fn hash<H: core::hash::Hasher>(&self, _: &mut H) {}
}

#[test]
#[cfg_attr(miri, ignore = "slow")]
fn keys_of_one_hash_are_kept_as_far_as_two_blocks_have_room_and_dropped_once() {
    let keys: Vec<Rc<u64>> = (0..140).map(Rc::new).collect();
    let mut table = Table::<(Blank, u64), Alone>::new(150, Keyed::new(0x5eed), |_, _| Ok(Alone))
        .expect("there is memory");
    let mut kept = 0;
    for (key, n) in keys.iter().zip(0..) {
        match table.insert_new((Blank(key.clone()), n)) {
            Ok(()) => kept += 1,
            Err(back) => assert_eq!(back, FlowInsertError::Crowded((Blank(key.clone()), n))),
        }
    }
    assert_eq!((kept, table.len()), (128, 128));
    for (key, n) in keys.iter().zip(0..140) {
        let record = table.get(&Blank(key.clone()), || ());
        assert_eq!(record, (n < 128).then_some(&(Blank(key.clone()), n)));
    }
    drop(table);
    assert!(keys.iter().all(|key| Rc::strong_count(key) == 1));
}

/// Nor is a table made to grow to its limit by them: each adds a few blocks in vain at most.
#[test]
#[cfg_attr(miri, ignore = "slow")]
fn a_key_that_finds_no_room_adds_few_blocks() {
    let mut table = Table::<(Blank, u64), Alone>::new(MANY as usize, Keyed::new(0x5eed), |_, _| Ok(Alone))
        .expect("there is memory");
    let mut refused = 0;
    for n in 0..150 {
        let before = table.extent.count();
        refused += u64::from(table.insert_new((Blank(Rc::new(n)), n)).is_err());
        let added = table.extent.count() - before;
        assert!(added <= 8, "{added} blocks for one record");
    }
    assert!(refused > 0 && table.extent.count() < table.store.most_blocks());
}

/// A key whose hash fails when it is told to.
#[derive(PartialEq, Eq, Debug)]
struct Failing(Rc<u64>);

std::thread_local! {
    static HASHES_LEFT: core::cell::Cell<u32> = const { core::cell::Cell::new(u32::MAX) };
}

impl core::hash::Hash for Failing {
    fn hash<H: core::hash::Hasher>(&self, hasher: &mut H) {
        HASHES_LEFT.set(HASHES_LEFT.get().checked_sub(1).expect("as many as may be"));
        hasher.write_u64(*self.0);
    }
}

/// Does something to the table while so many hashes are left before one fails; none if one did.
fn with_hashes_left<T>(left: u32, work: impl FnOnce() -> T) -> Option<T> {
    HASHES_LEFT.set(left);
    let worked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    HASHES_LEFT.set(u32::MAX);
    worked.ok()
}

#[test]
fn a_hash_that_fails_while_room_is_made_or_given_up_leaves_the_table_as_it_was() {
    // Under Miri few hashes fail, since panics are slow there.
    let (count, from) = if cfg!(miri) { (380, 340) } else { (MANY, MANY / 2) };
    // Growing takes some 200 of them, moving one that is in the way two.
    let left = |n| if n < from { u32::MAX } else { [1, 1 + n as u32 % 250][n as usize % 2] };
    let mut table = Table::<(Failing, u64), Alone>::new(count as usize, Keyed::new(0x5eed), |_, _| Ok(Alone))
        .expect("there is memory");
    let keys: Vec<Rc<u64>> = (0..count).map(Rc::new).collect();
    let mut failed = 0;
    for (key, n) in keys.iter().zip(0..) {
        let record = || (Failing(key.clone()), n);
        if let Some(inserted) = with_hashes_left(left(n), || table.insert_new(record())) {
            assert!(inserted.is_ok());
        } else {
            failed += 1;
            assert_eq!(Rc::strong_count(key), 1);
            assert!(table.get(&record().0, || ()).is_none());
            assert!(table.insert_new(record()).is_ok());
        }
        assert_eq!((Rc::strong_count(key), table.len() as u64), (2, n + 1));
    }
    assert!(failed > if cfg!(miri) { 0 } else { 100 }, "{failed}");
    for (key, n) in keys.iter().zip(0..) {
        let key = Failing(key.clone());
        match with_hashes_left(left(n), || table.remove(&key)) {
            Some(removed) => assert_eq!(removed.expect("inserted above").1, n),
            // It failed before, or while blocks were given up after.
            None => assert!(table.remove(&key).is_none_or(|removed| removed.1 == n)),
        }
        assert_eq!((Rc::strong_count(&key.0), table.len() as u64), (2, count - n - 1));
    }
}

/// The share of records that are in the very place they prefer.
fn preferred(table: &Flows) -> f64 {
    let is_preferred = |place| {
        let hash = table.hash_at(place);
        table.extent.first(hash) == place
    };
    table.full_places().filter(|&place| is_preferred(place)).count() as f64 / table.len() as f64
}

#[test]
#[cfg_attr(miri, ignore = "slow")]
fn half_of_the_records_are_where_a_lookup_asks_first_and_a_sixth_after_long_churn() {
    let mut table = filled();
    let filled = preferred(&table);
    assert!((0.5..0.65).contains(&filled), "{filled}");
    (0..4).for_each(|round| exchange(&mut table, round));
    let churned = preferred(&table);
    assert!((0.15..0.25).contains(&churned), "{churned}");
}
