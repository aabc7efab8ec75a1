//! Taking records out of a `FlowTable` by what is in them: all at once, and a part at a time while others come and go.

use std::{
    collections::HashSet,
    panic::{AssertUnwindSafe, catch_unwind},
    rc::Rc,
};

use throughline_demux::{FlowInsertError, FlowTable, Sweep};

type Record = (u64, u64);

/// Two for few records, one that has all its blocks at once, and one that grows.
const LIMITS: &[u64] = if cfg!(miri) { &[100, 200] } else { &[300, 16_000, 20_000, 100_000] };

fn filled(limit: u64) -> FlowTable<Record> {
    let mut table = FlowTable::new(limit as usize, limit);
    (0..limit).for_each(|key| table.insert((key, 0)).expect("below the limit"));
    table
}

#[test]
fn all_are_looked_at_once_and_those_that_are_not_kept_are_gone() {
    for &limit in LIMITS {
        let least = FlowTable::<Record>::new(limit as usize, limit).bytes();
        let mut table = filled(limit);
        let mut seen = HashSet::new();
        let gone = table.retain(|record| {
            record.1 += 1;
            seen.insert(record.0) && record.0 % 3 == 0
        });
        assert_eq!((seen.len() as u64, table.len() + gone), (limit, limit as usize));
        for key in 0..limit {
            assert_eq!(table.get(&key), (key % 3 == 0).then_some(&(key, 1)), "{key} of {limit}");
        }
        assert_eq!(table.iter().count(), table.len());
        assert_eq!(table.retain(|_| false), limit.div_ceil(3) as usize);
        assert!(table.is_empty() && table.bytes() <= 2 * least, "{} bytes, {least} before", table.bytes());
        table.insert((1, 1)).expect("below the limit");
        assert_eq!(table.retain(|_| true), 0);
    }
}

#[test]
fn parts_of_a_round_are_all_of_the_table() {
    for &limit in LIMITS {
        let mut table = filled(limit);
        for records in [3, usize::MAX, 1, 16, 1_000].into_iter().take(if cfg!(miri) { 2 } else { 5 }) {
            let (mut sweep, mut seen) = (Sweep::default(), HashSet::new());
            while sweep.rounds() == 0 {
                let mut looks = 0;
                let gone = table.sweep(&mut sweep, records, |(key, _)| {
                    looks += 1;
                    seen.insert(*key)
                });
                assert_eq!(gone, 0, "seen twice");
                // What is kept aside in a table for few is seen with the last part.
                assert!(looks < records.saturating_add(16) || sweep.rounds() == 1, "{looks} of {records}");
            }
            assert_eq!(seen.len() as u64, limit, "{records} at a time");
            let before = sweep;
            assert_eq!((table.sweep(&mut sweep, 0, |_| false), sweep), (0, before));
        }
    }
}

/// Whoever pays for a look at a few records does not pay for all places that are empty.
#[test]
fn a_part_of_a_table_that_is_nearly_empty_is_no_more_of_it() {
    for &limit in LIMITS {
        let mut table = FlowTable::<Record>::new(limit as usize, limit);
        table.insert((1, 1)).expect("below the limit");
        let (mut sweep, mut parts) = (Sweep::default(), 0);
        while sweep.rounds() == 0 {
            table.sweep(&mut sweep, 32, |_| true);
            parts += 1;
        }
        // Sixteen places count as two records at least. The last of these tables begins with 64 blocks of 64.
        assert!(parts >= limit.min(64 * 64) / 256, "{parts} parts, {limit}");
    }
}

/// A flow has a packet at each of seven moments, and is idle then.
#[test]
fn idle_flows_expire_while_others_come() {
    for &limit in LIMITS {
        let (age, round) = (if cfg!(miri) { 20 } else { 500 }.max(limit / 4), 1_000 + limit / 10);
        let mut table = FlowTable::<Record>::new(limit as usize, limit);
        let mut sweep = Sweep::default();
        let moments = if cfg!(miri) { 400 } else { 200_000 };
        let mut most = 0;
        for now in 0..moments {
            // Four new ones every seven moments; or none for a while, so that the table shrinks.
            let is_quiet = now / (moments / 4) % 2 == 1;
            for n in 0..if is_quiet { 0 } else { 4 } {
                let key = now / 7 * 4 + n;
                match table.get_or_insert_with(&key, || (key, now)) {
                    Ok(record) => record.1 = now,
                    Err(FlowInsertError::Full(record)) => assert_eq!(record, (key, now)),
                    Err(error) => panic!("{error}"),
                }
            }
            table.sweep(&mut sweep, 8, |&mut (_, last)| {
                assert!(now - last <= age + round, "{} moments idle", now - last);
                now - last < age
            });
            if now % 999 == 0 {
                assert_eq!(table.iter().count(), table.len());
            }
            most = most.max(table.len());
        }
        assert!(sweep.rounds() > 2 && most as u64 > limit / 8, "{most} of {limit}");
        table.retain(|&mut (_, last)| moments - last < age);
        assert!(table.iter().all(|&(key, last)| key / 4 == last / 7 && moments - last < age));
    }
}

#[test]
fn whoever_panics_leaves_a_whole_table() {
    for &limit in LIMITS {
        let witness = Rc::new(());
        let mut table = FlowTable::<(u64, Rc<()>)>::new(limit as usize, limit);
        (0..limit).for_each(|key| table.insert((key, Rc::clone(&witness))).expect("below the limit"));
        let mut looks = 0;
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            table.retain(|_| {
                looks += 1;
                assert!(looks <= limit / 2, "as it should");
                looks % 2 == 0
            })
        }));
        assert!(panicked.is_err());
        assert_eq!(table.len() as u64, limit - (limit / 2).div_ceil(2));
        assert_eq!((table.iter().count(), Rc::strong_count(&witness)), (table.len(), table.len() + 1));
        assert_eq!((0..limit).filter(|key| table.get(key).is_some()).count(), table.len());
        table.retain(|(key, _)| *key % 2 == 0);
        drop(table);
        assert_eq!(Rc::strong_count(&witness), 1);
    }
}

#[test]
fn a_record_that_is_not_there_is_made() {
    let mut table = FlowTable::<Record>::new(2, 1);
    assert_eq!(table.get_or_insert_with(&1, || (1, 7)), Ok(&mut (1, 7)));
    assert_eq!(table.get_or_insert_with(&1, || unreachable!("it is there")), Ok(&mut (1, 7)));
    assert_eq!(table.get_or_insert_with(&2, || (2, 8)), Ok(&mut (2, 8)));
    assert_eq!(table.get_or_insert_with(&3, || (3, 9)), Err(FlowInsertError::Full((3, 9))));
    let another = catch_unwind(AssertUnwindSafe(|| table.get_or_insert_with(&3, || (4, 9)).is_ok()));
    assert!(another.is_err() && table.len() == 2 && table.get(&4).is_none());
}

#[test]
#[cfg_attr(miri, ignore = "slow")]
fn parts_that_most_records_leave_give_up_blocks_a_few_at_a_time() {
    let mut table = filled(100_000);
    let (full, mut sweep) = (table.bytes(), Sweep::default());
    while sweep.rounds() < 4 {
        let moved = table.moved();
        table.sweep(&mut sweep, 32, |(key, _)| *key % 8 == 0);
        // Of three blocks at most.
        assert!(table.moved() - moved <= 3 * 64, "{} records moved", table.moved() - moved);
    }
    assert!(table.bytes() < full / 2, "{} of {full} bytes", table.bytes());
    assert!((0..100_000).step_by(8).all(|key| table.get(&key).is_some()));
}
