//! `FlowTable`'s readers while its writer moves records: a block that is split, records exchanged and removed.
//! The words of the records themselves are not modelled, the tags, versions and the number of buckets are.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use loom::thread;
use throughline_demux::{FlowReader, FlowRecord, FlowWriter, PlainRecord, flow_table};

use crate::model;

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
unsafe impl PlainRecord for Record {}

/// A table with records of these keys, each its own double.
fn table(keys: &[u64]) -> (FlowWriter<Record>, FlowReader<Record>) {
    let (mut writer, reader) = flow_table(3, 0x5eed);
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
    model(|| {
        let (mut writer, reader) = table(&[0]);
        let looking = thread::spawn(move || {
            assert!(reader.get(&0).is_none_or(|record| record == Record { key: 0, value: 0 }));
            assert!(reader.get(&7).is_none_or(|record| record == Record { key: 7, value: 14 }));
        });
        assert!(writer.remove(&0).is_some());
        writer.insert(Record { key: 7, value: 14 }).expect("below the limit");
        looking.join().unwrap();
    });
}
