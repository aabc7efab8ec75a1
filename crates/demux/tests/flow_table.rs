//! `FlowTable` against a plain map; growth, churn and floods in counts.

use std::collections::HashMap;

use bytemuck::NoUninit;
use proptest::prelude::*;
#[cfg(target_pointer_width = "64")]
use throughline_demux::ConfigError;
use throughline_demux::{
    CountExamined, FlowInsertError, FlowRecord, FlowTable, KeyHash, Keyed, Sweep, flow_table,
};

type Record = (u64, u64);

fn table(limit: usize) -> FlowTable<Record> {
    FlowTable::new(limit, 0x0123_4567_89ab_cdef)
}

/// A key that has its hash in common with others.
struct Alike {
    key: u64,
    hash: u64,
}

impl PartialEq for Alike {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Alike {}

impl std::hash::Hash for Alike {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// Words that cannot be shown.
#[derive(PartialEq)]
struct Silent<const N: usize>([u32; N]);

#[test]
fn records_that_cannot_be_shown_can_be_expected_to_find_room() {
    let record = |key: u32| (key, Silent([]));
    let mut table = FlowTable::new(1, 1);
    table.insert(record(1)).expect("the first");
    let refused = [1, 2].map(|key| table.insert(record(key)).err());
    assert_eq!(format!("{refused:?}"), "[Some(Duplicate(..)), Some(Full(..))]");
}

/// A block that can't be split, since all that belongs in the new one has one hash, does not keep a table small for ever.
#[test]
#[cfg_attr(miri, ignore = "slow")]
fn a_table_grows_past_keys_that_have_hashes_in_common() {
    const LIMIT: u64 = 60_000;
    let alike = |key, of| Alike { key, hash: 1 << 40 | (key / of) };
    for (of, least) in [(16, LIMIT), (30, LIMIT * 9 / 10)] {
        let mut table = FlowTable::<(Alike, u64)>::new(LIMIT as usize, 1);
        let refused: Vec<u64> =
            (0..LIMIT).filter(|&key| table.insert((alike(key, of), key)).is_err()).collect();
        assert!(table.len() as u64 >= least, "{of} of each: {}", table.len());
        assert_eq!(table.len() + refused.len(), LIMIT as usize);
        for key in 0..LIMIT {
            let found = table.get(&alike(key, of)).map(|record| record.1);
            assert_eq!(found, refused.binary_search(&key).is_err().then_some(key));
        }
    }
}

/// Records compared by a lookup of each of these keys, on average.
fn examined(table: &FlowTable<Record>, keys: impl Iterator<Item = u64>) -> f64 {
    let (mut count, mut lookups) = (CountExamined::default(), 0);
    for key in keys {
        table.get_probed(&key, &mut count);
        lookups += 1;
    }
    count.0 as f64 / f64::from(lookups)
}

const KEYS: u64 = if cfg!(miri) { 300 } else { 1500 };

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 1 } else { 128 }, ..Default::default() })]

    #[test]
    fn it_does_as_a_map_does(steps in prop::collection::vec((0u8..10, 0..KEYS), 0..2 * KEYS as usize), limit in prop_oneof![1..KEYS as usize, Just(MANY as usize)]) {
        let mut table = table(limit);
        let mut map = HashMap::new();
        let mut sweep = Sweep::default();
        for (n, (step, key)) in steps.into_iter().enumerate() {
            let record = (key, n as u64);
            match step {
                0..4 => match table.insert(record) {
                    Ok(()) => prop_assert!(map.insert(key, record).is_none()),
                    Err(FlowInsertError::Duplicate(back)) => {
                        prop_assert_eq!(back, record);
                        prop_assert!(map.contains_key(&key));
                    }
                    Err(FlowInsertError::Full(back)) => {
                        prop_assert_eq!(back, record);
                        prop_assert_eq!(map.len(), limit);
                    }
                    Err(FlowInsertError::Crowded(_)) => prop_assert!(false, "keys of different hashes have room"),
                },
                4 | 5 => prop_assert_eq!(table.remove(&key), map.remove(&key)),
                6 => prop_assert_eq!(table.get(&key), map.get(&key)),
                7 => match table.get_or_insert_with(&key, || record) {
                    Ok(found) => prop_assert_eq!(*found, *map.entry(key).or_insert(record)),
                    Err(_) => prop_assert!(map.len() == limit && !map.contains_key(&key)),
                },
                8 => {
                    let mut gone = Vec::new();
                    let count = table.sweep(&mut sweep, key as usize % 40, |found| {
                        gone.extend((found.1 % 8 == n as u64 % 8).then_some(*found));
                        gone.last() != Some(found)
                    });
                    prop_assert_eq!(gone.len(), count);
                    for record in gone {
                        prop_assert_eq!(map.remove(&record.0), Some(record));
                    }
                }
                _ => {
                    let changed = table.get_mut(&key).map(|record| record.1 += 1).is_some();
                    prop_assert_eq!(changed, map.get_mut(&key).map(|record| record.1 += 1).is_some());
                }
            }
            prop_assert_eq!(table.len(), map.len());
        }
        let keys: Vec<u64> = (0..KEYS).collect();
        let mut found = vec![None; keys.len()];
        table.get_batch(&keys, &mut found);
        for (key, found) in keys.iter().zip(found) {
            prop_assert_eq!(found, map.get(key));
            prop_assert_eq!(table.get(key), map.get(key));
        }
        let mut all: Vec<_> = table.iter().copied().collect();
        let mut expected: Vec<_> = map.values().copied().collect();
        all.sort_unstable();
        expected.sort_unstable();
        prop_assert_eq!(all, expected);
    }
}

const MANY: u64 = if cfg!(miri) { 400 } else { 300_000 };

#[test]
fn growing_moves_few_records_at_a_time() {
    let mut table = table(MANY as usize);
    let (mut before, mut worst) = (0, 0);
    for key in 0..MANY {
        table.insert((key, key)).expect("below the limit");
        worst = worst.max(table.moved() - before);
        before = table.moved();
    }
    assert!(worst <= 192, "an insertion moved {worst} records");
    assert!(table.moved() < MANY * 3 / 2, "{} moves for {MANY} insertions", table.moved());
    assert!((0..MANY).all(|key| table.get(&key) == Some(&(key, key))));
    assert_eq!(table.insert((MANY, 0)), Err(FlowInsertError::Full((MANY, 0))));
}

type Large = (u64, [u8; 8 << 10]);

/// From 128 MiB on batches ask for other caches, unless they ask for the same keys again and again. Few of the records are
/// there, so that little of the memory is touched.
#[test]
#[cfg_attr(miri, ignore = "slow")]
fn batches_find_as_much_in_the_largest_tables() {
    let mut table = FlowTable::<Large>::new(16_000, 3);
    for key in 0..300 {
        table.prefetch(&[key]);
        assert!(table.insert((key, [key as u8; _])).is_ok());
    }
    assert!(table.bytes() > 128 << 20, "{}", table.bytes());
    // No multiples of 32: parts of batches are asked for as whole ones are.
    let trains = (0..310).map(|n| n / 8 * 8);
    let distinct = (0..3_190).map(|n| n * 7 % 600);
    for keys in [Vec::from_iter(trains), Vec::from_iter(distinct)] {
        let mut visited = 0;
        table.visit_batch(&keys, |n, found| {
            assert_eq!(n, visited);
            assert_eq!(
                found.map(|record| (record.0, record.1[5])),
                (keys[n] < 300).then_some((keys[n], keys[n] as u8))
            );
            visited += 1;
        });
        assert_eq!(visited, keys.len());
    }
    let keys = Vec::from_iter(0..300);
    table.prefetch(&keys);
    assert!(keys.iter().all(|key| table.remove(key).is_some_and(|record| record.1[7] == *key as u8)));
}

/// From 16 MiB on records are far and tags are not.
#[test]
#[cfg_attr(miri, ignore = "slow")]
fn batches_find_as_much_where_only_records_are_far() {
    let mut table = FlowTable::<Large>::new(5_000, 3);
    (0..5_000).for_each(|key| assert!(table.insert((key, [key as u8; _])).is_ok()));
    assert!((16 << 20..128 << 20).contains(&table.bytes()), "{}", table.bytes());
    let keys = Vec::from_iter((0..10_003).map(|n| n * 7 % 10_000));
    let mut found = vec![None; keys.len()];
    table.get_batch(&keys, &mut found);
    for (key, found) in keys.iter().zip(found) {
        assert_eq!(found.map(|record| (record.0, record.1[9])), (*key < 5_000).then_some((*key, *key as u8)));
    }
}

/// Some of them consist of words, and where words of eight bytes are aligned to four some of those do not.
#[test]
fn records_of_any_size_come_back_as_they_went_in() {
    fn come_back<const N: usize>() {
        let record = |n: u32| (n, Silent([!n; N]));
        let mut table = FlowTable::new(100, 7);
        (0..100).for_each(|n| table.insert(record(n)).expect("below the limit"));
        (0..100).for_each(|n| assert!(table.get(&n) == Some(&record(n)), "{n}"));
        (0..100).for_each(|n| assert!(table.remove(&n) == Some(record(n)), "{n}"));
    }
    // 4, 12 and 128 bytes: the last is the largest that is copied word by word.
    come_back::<0>();
    come_back::<2>();
    come_back::<31>();
}

/// Whatever is left over of whole batches is found by the same steps, or one by one.
#[test]
fn batches_may_have_any_length() {
    let (there, absent) = if cfg!(miri) { (300, 30) } else { (40_000, 4_000) };
    // For many, however few there are.
    let mut table = table(40_000);
    (0..there).for_each(|key| table.insert((key, !key)).expect("below the limit"));
    for len in 0..=70 {
        let keys: Vec<u64> = (0..len).map(|n| n * 0x9e37_79b9 % (there + absent)).collect();
        let mut visited = 0;
        table.visit_batch(&keys, |n, found| {
            assert_eq!((n, found), (visited, table.get(&keys[n])), "{len} keys");
            visited += 1;
        });
        assert_eq!(visited as u64, len);
    }
}

/// What is asked for ahead may be there, or not, or no longer where it was; here the table is too large to ask in vain.
#[test]
#[cfg_attr(miri, ignore = "slow")]
fn asking_ahead_changes_nothing() {
    let mut table = table(MANY as usize);
    let keys: Vec<u64> = (0..MANY).collect();
    for keys in keys.chunks(100) {
        table.prefetch(keys);
        keys.iter().for_each(|&key| table.insert((key, key)).expect("below the limit"));
        table.prefetch(keys);
        assert!(keys.iter().all(|key| table.get(key) == Some(&(*key, *key))));
    }
    let (moved, bytes) = (table.moved(), table.bytes());
    assert!(bytes > 4 << 20);
    table.prefetch(&[]);
    table.prefetch(&keys);
    assert_eq!((table.len() as u64, table.moved(), table.bytes()), (MANY, moved, bytes));
    for keys in keys.chunks(33) {
        table.prefetch(keys);
        keys.iter().for_each(|key| assert_eq!(table.remove(key), Some((*key, *key))));
    }
    assert!(table.is_empty());
}

/// A record of 64 bytes.
#[derive(Clone, Copy, Debug, PartialEq, NoUninit)]
#[repr(C, align(64))]
struct Line([u64; 8]);

impl FlowRecord for Line {
    type Key = u64;

    fn key(&self) -> &u64 {
        &self.0[0]
    }
}

#[test]
#[cfg_attr(miri, ignore = "slow")]
fn a_large_table_takes_at_most_sixteen_bytes_for_a_record_of_sixty_four() {
    let mut table = FlowTable::new(MANY as usize, 7);
    let mut large = 0;
    for key in 0..MANY {
        table.insert(Line([key; 8])).expect("below the limit");
        let (bytes, records) = (table.bytes(), table.len());
        // One that is small beside its limit has room to be fast: twice the records.
        let most = match records {
            ..110_000 => (records * 160).max(600_000),
            // One block may be just begun.
            _ => records * 80 + 64 * 66 + 16,
        };
        assert!(bytes <= most, "{bytes} bytes for {records} records");
        large += u64::from(records >= 110_000);
    }
    assert!(large > 0);
}

#[test]
#[cfg_attr(miri, ignore = "slow")]
fn a_small_table_takes_at_most_sixteen_bytes_for_a_record_of_sixty_four() {
    for limit in [1_000, 2_000, 2_730, 2_731, 5_000, 5_461, 5_462, 10_922, 10_923, 13_000, 16_000, 16_001] {
        let mut table = FlowTable::new(limit, 7);
        let record = |n| Line([n; 8]);
        (0..limit as u64).for_each(|n| table.insert(record(n)).expect("below the limit"));
        for n in 0..4 * limit as u64 {
            assert_eq!(table.remove(&n), Some(record(n)));
            table.insert(record(n + limit as u64)).expect("below the limit");
        }
        assert!(table.bytes() <= limit * 80, "{} bytes for {limit} records", table.bytes());
    }
}

#[test]
#[cfg_attr(miri, ignore = "slow")]
fn a_table_of_any_size_takes_at_most_sixteen_bytes_for_a_record_of_sixty_four_with_readers_too() {
    // The first three are a little less than so many blocks, or rows of blocks.
    let some = [2_096, 2_781, 55_526].into_iter();
    for limit in some.chain((2_000..60_000).step_by(537)).chain((60_000..400_000).step_by(60_007)) {
        let (mut writer, _) = flow_table(limit, 7);
        let mut table = FlowTable::new(limit, 7);
        for record in (0..limit as u64).map(|n| Line([n; 8])) {
            writer.insert(record).expect("below the limit");
            table.insert(record).expect("below the limit");
        }
        let bytes = [writer.bytes(), table.bytes()];
        assert!(bytes.iter().all(|&bytes| bytes <= limit * 80), "{bytes:?} bytes for {limit} records");
    }
}

#[test]
#[cfg(target_pointer_width = "64")]
#[cfg_attr(miri, ignore = "it takes no memory that there is")]
fn a_table_for_which_there_is_no_memory_is_refused() {
    for limit in [usize::MAX, 1 << 40, 4_000_000_000] {
        assert_eq!(FlowTable::<(u64, u64)>::try_new(limit, 7).err(), Some(ConfigError::TooLarge), "{limit}");
    }
    // 216 TB, where processors address 128.
    type Long = (u64, [u64; 8_191]);
    assert_eq!(FlowTable::<Long>::try_new(3_300_000_000, 7).err(), Some(ConfigError::OutOfMemory));
    // Few, but more than addresses can tell.
    type Huge = (u64, [u8; isize::MAX as usize / 4_000]);
    assert_eq!(FlowTable::<Huge>::try_new(16_000, 7).err(), Some(ConfigError::TooLarge));
    assert!(FlowTable::<(u64, u64)>::try_new(1_000_000, 7).is_ok());
    let panic = std::panic::catch_unwind(|| FlowTable::<(u64, u64)>::new(usize::MAX, 7));
    assert!(panic.is_err());
}

#[test]
#[cfg_attr(miri, ignore = "slow")]
fn churn_leaves_no_traces() {
    let live = MANY / 10;
    let key = |n: u64| {
        (n ^ n >> 7).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    };
    let mut churned = table(live as usize + 100);
    (0..live).for_each(|n| churned.insert((key(n), n)).expect("below the limit"));
    for n in 0..10 * live {
        assert_eq!(churned.remove(&key(n)), Some((key(n), n)));
        churned.insert((key(n + live), n + live)).expect("below the limit");
    }
    let mut fresh = table(live as usize + 100);
    (10 * live..11 * live).for_each(|n| fresh.insert((key(n), n)).expect("below the limit"));
    assert!(churned.bytes() <= fresh.bytes() * 101 / 100);
    let hits = |table| examined(table, (10 * live..11 * live).map(key));
    let misses = |table| examined(table, (20 * live..21 * live).map(key));
    for table in [&fresh, &churned] {
        assert!(hits(table) < 1.04 && misses(table) < 0.1, "{} and {}", hits(table), misses(table));
    }
}

#[test]
fn it_shrinks_as_it_grew() {
    let mut table = table(MANY as usize);
    let least = table.bytes();
    (0..MANY).for_each(|key| table.insert((key, key)).expect("below the limit"));
    for key in 0..MANY {
        let before = table.moved();
        assert_eq!(table.remove(&key), Some((key, key)));
        assert!(table.moved() - before <= 64);
        assert!(key % 1000 != 0 || (key + 1..MANY).step_by(997).all(|key| table.get(&key).is_some()));
    }
    assert!(table.is_empty());
    assert!(table.bytes() <= least * 2, "{} bytes remain of at least {least}", table.bytes());
}

#[test]
#[cfg_attr(miri, ignore = "slow")]
fn keys_that_share_most_of_their_bits_spread_like_any_others() {
    let patterns: [fn(u64) -> u64; 6] = [
        |n| n,
        |n| n << 16,
        |n| n << 40,
        |n| n.reverse_bits(),
        |n| (n & 0xff) << 56 | (n >> 8) << 24,
        |n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15),
    ];
    for (pattern, keys) in patterns.into_iter().enumerate() {
        for seed in (0..16).chain([u64::MAX]) {
            let count = MANY / 10;
            let mut table = FlowTable::<Record>::new(count as usize, seed);
            (0..count).for_each(|n| table.insert((keys(n), n)).expect("below the limit"));
            let hits = examined(&table, (0..count).map(keys));
            let misses = examined(&table, (count..2 * count).map(keys));
            assert!(hits < 1.04 && misses < 0.1, "pattern {pattern}, seed {seed}: {hits} and {misses}");
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "slow")]
fn keys_chosen_against_another_seed_spread_like_any_others() {
    // All alike in many bits for the seed the attacker knows: found by asking which keys its lookups examine.
    let known = Keyed::new(1);
    let mut key = 0u64;
    let chosen: Vec<u64> = std::iter::from_fn(|| {
        loop {
            key += 1;
            if known.hash(&key) & 0x3f == 5 && known.hash(&key) >> 56 == 17 {
                return Some(key);
            }
        }
    })
    .take(2_000)
    .collect();
    let mut table = FlowTable::<Record>::new(2_000, 2);
    chosen.iter().for_each(|&key| table.insert((key, 0)).expect("below the limit"));
    assert!(examined(&table, chosen.iter().copied()) < 1.04);
}

/// Who knows the seed chooses keys against one product; they cost no more than any others once the table has found out.
#[test]
#[cfg_attr(miri, ignore = "slow")]
fn keys_chosen_against_a_small_table_cost_no_more_than_others() {
    for (seed, group) in [(1, 0xff0), (2, 0x70), (3, 0xf00)] {
        let known = Keyed::new(seed);
        let chosen: Vec<u64> =
            (0..).filter(|key| known.hash(key) & group == 0x50 & group).take(2_000).collect();
        let mut table = FlowTable::<Record>::new(2_000, seed);
        for (n, &key) in chosen.iter().enumerate() {
            table.insert((key, 0)).expect("below the limit");
            if n % 64 == 63 {
                let looks = examined(&table, chosen[..=n].iter().copied());
                assert!(looks < 2.0, "{looks} for {n} keys, seed {seed}");
            }
        }
        let looks = examined(&table, chosen.iter().copied());
        assert!(looks < 1.04, "{looks}, seed {seed}");
        assert!(table.moved() > 0, "seed {seed}");
    }
}

#[test]
fn records_are_dropped_once() {
    use std::rc::Rc;
    let count = if cfg!(miri) { 300 } else { 5_000 };
    let witness = Rc::new(());
    let mut table = FlowTable::<(u64, Rc<()>)>::new(count as usize, 3);
    (0..count).for_each(|key| table.insert((key, Rc::clone(&witness))).expect("below the limit"));
    assert!(table.insert((0, Rc::clone(&witness))).is_err());
    (0..count / 2).for_each(|key| assert!(table.remove(&key).is_some()));
    assert_eq!(Rc::strong_count(&witness), 1 + count as usize - count as usize / 2);
    drop(table);
    assert_eq!(Rc::strong_count(&witness), 1);
}
