//! What is reserved is there, so that insertions that follow wait for no page; what is not used takes no memory.
#![cfg(all(target_os = "linux", not(miri)))]

#[cfg(feature = "huge-pages")]
use std::io::Write;

use throughline_demux::{FlowRecord, FlowTable};

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Record(u64);

impl FlowRecord for Record {
    type Key = u64;

    fn key(&self) -> &u64 {
        &self.0
    }
}

/// Pages that this thread has waited for so far: the tenth field, eight after the name in parentheses.
fn waits() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").expect("it says how this thread is");
    let (_, fields) = stat.rsplit_once(") ").expect("the name comes second");
    fields.split(' ').nth(7).and_then(|field| field.parse().ok()).expect("a number")
}

#[test]
fn memory_that_is_not_used_yet_is_not_touched() {
    const LIMIT: usize = 1_000_000;
    let before = waits();
    let mut table = FlowTable::new(LIMIT, 0x5eed);
    (0..100).for_each(|n| table.insert(Record(n)).expect("there is room"));
    let (waits, pages) = (waits() - before, LIMIT as u64 * 64 / 4096);
    assert!(waits < pages / 8, "{waits} waits for {pages} pages");
}

/// Pages waited for while so many records are inserted, once they are reserved.
#[cfg(feature = "huge-pages")]
fn waits_for(records: u64) -> u64 {
    let mut table = FlowTable::new(records as usize, 0x5eed);
    table.reserve(records as usize);
    let before = waits();
    (0..records).for_each(|n| table.insert(Record(n)).expect("there is room"));
    waits() - before
}

/// Whether the system knows `MADV_POPULATE_WRITE`: Linux does since 5.14.
#[cfg(feature = "huge-pages")]
fn can_be_made_ready() -> bool {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").expect("it says which it is");
    let mut numbers = release.split(['.', '-']).map(|number| number.parse().unwrap_or(0));
    [numbers.next(), numbers.next()] >= [Some(5), Some(14)]
}

#[test]
#[cfg(feature = "huge-pages")]
fn what_is_reserved_is_not_waited_for() {
    if !can_be_made_ready() {
        let _ = writeln!(std::io::stderr(), "SKIPPED: what is reserved is waited for before Linux 5.14");
        return;
    }
    // For few, and for many: less than has huge pages, and more.
    for records in [8_000, 20_000, 60_000, 200_000] {
        let pages = records * 64 / 4096;
        let waits = waits_for(records);
        assert!(waits < pages / 8, "{waits} waits for {pages} pages of {records} records");
    }
}
