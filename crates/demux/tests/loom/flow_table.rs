//! `FlowTable`'s readers while its writer moves records: a block that is split, records exchanged and removed.
//! The words of the records themselves are not modelled, the tags, versions and the number of buckets are.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use loom::thread;
use throughline_demux::{FlowReader, FlowRecord, FlowWriter, flow_table};

use crate::{bounded, model};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(8))]
struct Record {
    key: u64,
    value: u64,
}

impl FlowRecord for Record {
    type Key = u64;
    fn key(&self) -> &u64 {
        &self.key
    }
}

// SAFETY: two words, no padding.
unsafe impl bytemuck::NoUninit for Record {}

/// Of tables of four blocks of 16, or five, if there are more than two records.
const LIMIT: usize = 20;

/// With it the record of key 1000 is in the first half of the first block, and neither it nor those of the next keys leave
/// their blocks when that one is split.
const SEED: u64 = 0x5f74;

/// A table with records of these keys, each its own double.
fn table(keys: &[u64]) -> (FlowWriter<Record>, FlowReader<Record>) {
    let (mut writer, reader) = flow_table(LIMIT, SEED);
    keys.iter().for_each(|&key| insert(&mut writer, key));
    (writer, reader)
}

fn insert(writer: &mut FlowWriter<Record>, key: u64) {
    writer.insert(Record { key, value: 2 * key }).expect("below the limit");
}

/// Keys whose records the third insertion moves, by splitting their block.
fn moved_by_growth() -> Vec<u64> {
    let moves = |key| {
        let moved = Arc::new(AtomicBool::new(false));
        let result = Arc::clone(&moved);
        // One thread has one interleaving.
        loom::model(move || {
            let (mut writer, _) = table(&[key, 1000]);
            insert(&mut writer, 1001);
            result.store(writer.moved() == 1, Ordering::Relaxed);
        });
        moved.load(Ordering::Relaxed)
    };
    (0..40).filter(|&key| moves(key)).collect()
}

#[test]
fn a_record_is_found_while_its_block_is_split() {
    let keys = moved_by_growth();
    assert!(keys.len() > 2 && keys.len() < 20, "{keys:?}");
    // And one that stays.
    let stays = (0..40).find(|key| !keys.contains(key)).expect("some stay");
    for key in [keys[0], keys[1], stays] {
        model(move || {
            let (mut writer, reader) = table(&[key, 1000]);
            let bytes = writer.bytes();
            let looking =
                thread::spawn(move || assert_eq!(reader.get(&key), Some(Record { key, value: 2 * key })));
            insert(&mut writer, 1001);
            assert!(writer.bytes() > bytes, "it grew");
            looking.join().unwrap();
        });
    }
}

/// A record whose block is yet to come is with the neighbour of that block, and moves from there when it comes.
#[test]
fn a_record_is_found_while_it_leaves_the_neighbour_of_its_block() {
    // Of sixteen blocks in the end, each insertion adding one; so far there are twelve.
    let filled = |key| {
        let (mut writer, reader) = flow_table(210, SEED);
        [key].into_iter().chain(1000..1009).for_each(|key| insert(&mut writer, key));
        (writer, reader)
    };
    let moves = |key| {
        let moved = Arc::new(AtomicBool::new(false));
        let result = Arc::clone(&moved);
        loom::model(move || {
            let (mut writer, _) = filled(key);
            let before = place(&writer, key);
            insert(&mut writer, 1009);
            // From the ninth block to the thirteenth.
            result.store(place(&writer, key) == before + 4 * 16, Ordering::Relaxed);
        });
        moved.load(Ordering::Relaxed)
    };
    let key = (0..1000).find(|&key| moves(key)).expect("one of 32 does");
    model(move || {
        let (mut writer, reader) = filled(key);
        let looking =
            thread::spawn(move || assert_eq!(reader.get(&key), Some(Record { key, value: 2 * key })));
        insert(&mut writer, 1009);
        looking.join().unwrap();
    });
}

/// The record of a key whose first block is full goes where its second block's half goes.
#[test]
fn a_record_is_found_while_its_second_block_is_split() {
    // As many blocks come as to fill one of them; the next insertion adds one more.
    let filled = |keys: &[u64]| {
        let (mut writer, reader) = flow_table(500, SEED);
        keys.iter().for_each(|&key| insert(&mut writer, key));
        (writer, reader)
    };
    // The key whose record is away from the others, and is the only one that moves.
    let moves = |keys: &[u64]| {
        let (keys, moved) = (keys.to_vec(), Arc::new(Mutex::new(None)));
        let result = Arc::clone(&moved);
        bounded(0, move || {
            let (mut writer, _) = filled(&keys);
            let places = |writer: &_| keys.iter().map(|&key| place(writer, key)).collect::<Vec<_>>();
            let before = places(&writer);
            insert(&mut writer, OTHER);
            let after = places(&writer);
            let is_near = |n: usize, m: usize| n != m && before[n].abs_diff(before[m]) < 16;
            let away = (0..keys.len()).find(|&n| (0..keys.len()).all(|m| !is_near(n, m)));
            let moved: Vec<_> = (0..keys.len()).filter(|&n| before[n] != after[n]).collect();
            let alone = away.filter(|&n| moved == [n]).map(|n| keys[n]);
            *result.lock().expect("one thread") = alone;
        });
        *moved.lock().expect("one thread")
    };
    let (keys, key) = of_one_group(500)
        .into_iter()
        .find_map(|keys| moves(&keys).map(|key| (keys, key)))
        .expect("the second of some block is split");
    bounded(2, move || {
        let (mut writer, reader) = filled(&keys);
        let before = place(&writer, key);
        let looking =
            thread::spawn(move || assert_eq!(reader.get(&key), Some(Record { key, value: 2 * key })));
        insert(&mut writer, OTHER);
        looking.join().unwrap();
        assert_ne!(place(&writer, key), before);
    });
}

/// A key that no other test chooses.
const OTHER: u64 = 1 << 40;

/// One key more than a block has places for, all of which prefer one group, of each group of a table for so many records that
/// has as many records as that.
fn of_one_group(limit: usize) -> Vec<Vec<u64>> {
    const KEYS: usize = 16 + 1;
    let found = Arc::new(Mutex::new(BTreeMap::<usize, Vec<u64>>::new()));
    // Few in each model, which counts steps in 16 bits.
    for some in (0..2_400).step_by(30) {
        let result = Arc::clone(&found);
        bounded(0, move || {
            let (mut writer, _) = flow_table(limit, SEED);
            (0..KEYS as u64 - 1).for_each(|key| insert(&mut writer, OTHER + key));
            for key in some..some + 30 {
                insert(&mut writer, key);
                // The group's first that is empty.
                let place = place(&writer, key);
                result.lock().expect("one thread").entry(place).or_default().push(key);
                writer.remove(&key).expect("it is there");
            }
        });
    }
    let of_groups = std::mem::take(&mut *found.lock().expect("one thread"));
    let mut choices = Vec::new();
    for keys in of_groups.into_values().filter(|keys| keys.len() > KEYS) {
        // Each choice of the last may have another second block.
        choices.extend((KEYS - 1..keys.len()).map(|last| [&keys[..KEYS - 1], &keys[last..=last]].concat()));
    }
    choices
}

/// Where the record of a key is.
fn place(writer: &FlowWriter<Record>, key: u64) -> usize {
    std::ptr::from_ref(writer.get(&key).expect("it is there")).addr() / size_of::<Record>()
}

/// Keys that prefer this half of a table of five blocks. The fourth and fifth half are those of a block that is neither
/// split nor given up; the first block shares its keys with the fifth.
fn neighbours(half: usize, count: usize) -> Vec<u64> {
    let prefers = |key| {
        let found = Arc::new(AtomicBool::new(false));
        let result = Arc::clone(&found);
        loom::model(move || {
            // 1000 is in the first half.
            let (mut writer, _) = table(&[1000, 1001, 1002]);
            insert(&mut writer, key);
            let place = place(&writer, key) - place(&writer, 1000);
            result.store(place / 8 == half, Ordering::Relaxed);
        });
        found.load(Ordering::Relaxed)
    };
    (0..1000).filter(|&key| prefers(key)).take(count).collect()
}

/// The first of `keys` is removed, if `others` need its place. Then the record of the last is moved or replaced by one
/// with another value: a reader sees it before and after, and never the old one after the new. `check` is asked about
/// the places before and after, which are what is being modelled.
fn change(
    keys: &[u64],
    remove: bool,
    change: fn(&mut FlowWriter<Record>, u64),
    check: fn(usize, usize) -> bool,
) {
    let keys = keys.to_vec();
    // A tag that is seen too early or too late takes two preemptions.
    bounded(2, move || {
        let (mut writer, reader) = table(&keys);
        if remove {
            writer.remove(&keys[0]).expect("it is there");
        }
        let key = *keys.last().expect("there are keys");
        let before = place(&writer, key);
        let looking = thread::spawn(move || {
            let values = [(); 2].map(|()| reader.get(&key).expect("it is always there").value);
            assert!([[2 * key; 2], [2 * key, 1], [1; 2]].contains(&values), "{values:?}");
        });
        change(&mut writer, key);
        looking.join().unwrap();
        assert!(check(before, place(&writer, key)));
    });
}

fn replace(writer: &mut FlowWriter<Record>, key: u64) {
    assert!(writer.replace(Record { key, value: 1 }).is_some());
}

#[test]
fn a_record_is_found_while_its_replacement_comes_to_a_place_that_is_looked_at_before() {
    // Tags are looked at by fours.
    change(&neighbours(6, 5), true, replace, |before, after| before == after + 4);
}

#[test]
fn a_record_is_found_while_its_replacement_comes_to_the_block_it_prefers() {
    let full = [neighbours(6, 8), neighbours(7, 8)].concat();
    let another = neighbours(6, 9)[8];
    change(&[full, vec![another]].concat(), true, replace, |before, after| before.abs_diff(after) >= 16);
}

#[test]
fn a_record_is_found_while_its_replacement_comes_to_another_group_of_the_block_it_prefers() {
    let full = [neighbours(7, 8), neighbours(6, 8)].concat();
    let another = neighbours(6, 9)[8];
    change(&[full, vec![another]].concat(), true, replace, |before, after| before.abs_diff(after) >= 16);
}

#[test]
fn a_record_is_found_while_its_replacement_goes_to_another_block() {
    change(&neighbours(6, 16), false, replace, |before, after| before != after);
}

#[test]
fn a_record_is_found_while_it_comes_home_because_its_block_is_split() {
    let full = [neighbours(0, 8), neighbours(1, 8), neighbours(8, 1)].concat();
    let another = neighbours(0, 9)[8];
    let grow = |writer: &mut FlowWriter<Record>, _| insert(writer, 1003);
    change(&[full, vec![another]].concat(), true, grow, |before, after| before.abs_diff(after) >= 16);
}

#[test]
fn a_reader_sees_the_record_before_or_after_its_replacement_or_removal() {
    model(|| {
        let (mut writer, reader) = table(&[0, 1]);
        let looking = thread::spawn(move || {
            let mut found = [None];
            reader.get_batch(&[1], &mut found);
            let (first, second) =
                (found[0].map(|record| record.value), reader.get(&1).map(|record| record.value));
            assert!(first.is_none() || first == Some(2) || first == Some(3));
            match first {
                None => assert_eq!(second, None),
                Some(3) => assert_ne!(second, Some(2)),
                _ => {}
            }
        });
        assert!(writer.replace(Record { key: 1, value: 3 }).is_some());
        assert!(writer.remove(&1).is_some());
        looking.join().unwrap();
    });
}

#[test]
fn another_record_in_the_same_place_is_not_taken_for_the_first() {
    // A group and one more: there is no other place for it.
    let keys = neighbours(6, 9);
    model(move || {
        let [gone, .., comes] = keys[..] else { panic!("keys") };
        let (mut writer, reader) = table(&keys[..8]);
        let vacant = place(&writer, gone);
        let looking = thread::spawn(move || {
            for key in [gone, comes] {
                let found = reader.get(&key);
                assert!(found.is_none_or(|record| record == Record { key, value: 2 * key }), "{found:?}");
            }
        });
        assert!(writer.remove(&gone).is_some());
        insert(&mut writer, comes);
        looking.join().unwrap();
        assert_eq!(place(&writer, comes), vacant);
    });
}

#[test]
fn a_replacement_that_comes_to_the_place_of_another_record_is_not_taken_for_that() {
    let keys = neighbours(6, 2);
    model(move || {
        let (mut writer, reader) = table(&keys);
        let [gone, replaced] = keys[..] else { panic!("two keys") };
        let vacant = place(&writer, gone);
        let looking = thread::spawn(move || {
            let found = reader.get(&gone);
            assert!(found.is_none_or(|record| record == Record { key: gone, value: 2 * gone }), "{found:?}");
        });
        assert!(writer.remove(&gone).is_some());
        replace(&mut writer, replaced);
        looking.join().unwrap();
        assert_eq!(place(&writer, replaced), vacant);
    });
}
