//! A `FlowTable` while there is no memory: insertions that need some are refused, and nothing else happens.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    collections::HashSet,
    ptr,
};

use throughline_demux::{FlowInsertError, FlowTable};

/// The system's, for those who may have memory.
struct Limited;

thread_local! {
    static REFUSES: Cell<bool> = const { Cell::new(false) };
    static REFUSED: Cell<usize> = const { Cell::new(0) };
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: the system's allocator, which may always say no.
unsafe impl GlobalAlloc for Limited {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if REFUSES.get() {
            REFUSED.set(REFUSED.get() + 1);
            LARGEST.set(LARGEST.get().max(layout.size()));
            return ptr::null_mut();
        }
        // SAFETY: as the caller says.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as the caller says.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Limited = Limited;

type Record = (u64, [u64; 4]);

fn record(key: u64) -> Record {
    (key, [key; 4])
}

/// Does something without memory, and says how often that was refused.
fn without_memory<O>(work: impl FnOnce() -> O) -> (O, usize) {
    let before = REFUSED.get();
    REFUSES.set(true);
    let done = work();
    REFUSES.set(false);
    (done, REFUSED.get() - before)
}

/// Fills a table, each record without memory, and those that were refused with memory afterwards. How often there was need
/// of it.
fn fill(limit: usize, seed: u64, keys: impl Fn(u64) -> u64) -> usize {
    let mut table = FlowTable::new(limit, seed);
    let (mut present, mut needs) = (HashSet::new(), 0);
    for key in (0..limit as u64).map(keys) {
        match without_memory(|| table.insert(record(key))) {
            (Ok(()), lacked) => needs += lacked,
            (Err(FlowInsertError::Crowded(refused)), lacked) => {
                assert!(lacked > 0, "{key} of {limit} was refused, though nothing was asked for");
                assert_eq!(refused, record(key));
                assert_eq!((table.get(&key), table.len()), (None, present.len()));
                needs += lacked;
                table.insert(refused).expect("there is memory");
            }
            (Err(other), _) => panic!("{other:?}"),
        }
        present.insert(key);
        assert_eq!(table.len(), present.len());
    }
    for &key in &present {
        assert_eq!(table.get(&key), Some(&record(key)));
    }
    assert_eq!(table.iter().count(), present.len());
    needs
}

#[test]
fn insertions_that_lack_memory_are_refused_and_succeed_when_there_is_some() {
    let (limits, seeds) = if cfg!(miri) { ([20, 150], 2) } else { ([300, 14_000], 10) };
    for limit in limits {
        let needs: usize =
            (0..seeds).map(|seed| fill(limit, seed, |n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15))).sum();
        assert!(cfg!(miri) || needs > 0, "none of {limit} records had to be kept aside");
    }
}

/// Keys that differ in few bits lie badly under some seeds, and then have the table made anew.
#[test]
fn a_table_that_can_t_be_made_anew_for_want_of_memory_goes_on_as_it_is() {
    LARGEST.set(0);
    for seed in 0..if cfg!(miri) { 2 } else { 40 } {
        fill(120, seed, |n| n << 16);
    }
    // The tags of another table; a record that is kept aside takes less.
    assert!(cfg!(miri) || LARGEST.get() > 120 + 2 * 128, "no table was made anew");
}

#[test]
fn records_are_taken_out_without_memory_too() {
    let limit = if cfg!(miri) { 150 } else { 14_000 };
    let mut table = FlowTable::new(limit, 3);
    let keys = || (0..limit as u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    for stays in [2, u64::MAX] {
        keys().for_each(|key| table.insert(record(key)).expect("there is memory"));
        let (gone, lacked) = without_memory(|| table.retain(|record| record.0.is_multiple_of(stays)));
        assert!(cfg!(miri) || lacked > 0, "none was kept aside");
        let left = keys().filter(|key| key.is_multiple_of(stays)).count();
        assert_eq!((gone, table.len(), table.iter().count()), (limit - left, left, left));
        for key in keys() {
            let expected = key.is_multiple_of(stays).then(|| record(key));
            assert_eq!(table.get(&key).copied(), expected);
        }
        keys().filter(|key| key.is_multiple_of(stays)).for_each(|key| _ = table.remove(&key));
    }
}

#[test]
fn tables_for_many_need_no_more_than_they_have_from_the_beginning() {
    let limit = if cfg!(miri) { 400 } else { 40_000 };
    assert_eq!(fill(limit, 3, |n| n), 0);
}
