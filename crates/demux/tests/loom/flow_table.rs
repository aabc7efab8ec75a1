//! `FlowTable`'s readers while its writer moves records: two buckets that become three, records exchanged and removed.
//! The words of the records themselves are not modelled, the tags, versions and the number of buckets are.

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

/// A table with this many records, each its own double.
fn table(records: u64) -> (FlowWriter<Record>, FlowReader<Record>) {
    let (mut writer, reader) = flow_table(40, 0x5eed);
    (0..records).for_each(|key| writer.insert(Record { key, value: 2 * key }).expect("below the limit"));
    (writer, reader)
}

#[test]
fn a_record_is_found_while_its_bucket_is_split() {
    // The 28th record is one too many for two buckets.
    for key in [0, 5, 9, 26] {
        model(move || {
            let (mut writer, reader) = table(27);
            let bytes = writer.bytes();
            let looking =
                thread::spawn(move || assert_eq!(reader.get(&key), Some(Record { key, value: 2 * key })));
            writer.insert(Record { key: 100, value: 200 }).expect("below the limit");
            assert!(writer.bytes() > bytes, "it grew");
            looking.join().unwrap();
        });
    }
}

#[test]
fn a_reader_sees_the_record_before_or_after_its_replacement_or_removal() {
    model(|| {
        let (mut writer, reader) = table(2);
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
        let (mut writer, reader) = table(1);
        let looking = thread::spawn(move || {
            assert!(reader.get(&0).is_none_or(|record| record == Record { key: 0, value: 0 }));
            assert!(reader.get(&7).is_none_or(|record| record == Record { key: 7, value: 14 }));
        });
        assert!(writer.remove(&0).is_some());
        writer.insert(Record { key: 7, value: 14 }).expect("below the limit");
        looking.join().unwrap();
    });
}
