//! Lookups in a loop, to be counted by callgrind: `lookup_instructions WHAT:N ITERATIONS`.
//!
//! `tests/lookups.rs` runs it at two lengths and takes the difference, which leaves what one iteration
//! costs; that of the loop itself (`no-object`, `no-name`) is then subtracted.

use std::{hint::black_box, mem};

use throughline_demux::{
    Arena, Carried, Direct, FlowId, FlowTable, Handle, HashedNames, Ipv4Flow, LinearNames, Locator,
    NameTable, Ref, Slot, SourceCache, SourceHash, build_names,
};

/// A fat pointer, like a servant behind its skeleton.
type Record = Box<dyn Fn() -> u32 + Send + Sync>;

const TAG: u32 = 7;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_default();
    let iterations: usize = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(1_000);
    let known = match what.split_once(':') {
        Some((what, n)) => n.parse().is_ok_and(|n| {
            objects(what, n, iterations)
                || flows(what, n, iterations)
                || flow_table(what, n, iterations)
                || names(what, n, iterations)
        }),
        None => false,
    };
    if !known {
        eprintln!(
            "usage: lookup_instructions (no-object|get|get-first|get-slot|no-handle|exclusive|reader|release|stale):OBJECTS ITERATIONS"
        );
        eprintln!("       lookup_instructions (no-flow|source-hash|source-cache|direct):FLOWS ITERATIONS");
        eprintln!("       lookup_instructions (flow-get|flow-change):FLOWS ITERATIONS");
        eprintln!("       lookup_instructions (no-name|perfect|predicted|hashed|linear):LENGTH ITERATIONS");
        std::process::exit(2);
    }
}

/// Looks up one of `n` objects, the last unless told otherwise.
fn objects(what: &str, n: usize, iterations: usize) -> bool {
    let mut arena = Arena::<Record>::new(n as u32);
    let handles: Vec<Handle> =
        (0..n).map(|_| arena.insert(TAG, Box::new(|| 1)).expect("room for records")).collect();
    let [first, .., last] = handles[..] else { return false };
    match what {
        "no-object" => each(iterations, |_| black_box(black_box(last).slot)),
        "get" => each(iterations, |_| keep(arena.get(black_box(last), TAG))),
        "get-first" => each(iterations, |_| keep(arena.get(black_box(first), TAG))),
        "no-handle" => each(iterations, |_| {
            let Handle { slot, nonce } = black_box(last);
            black_box(u64::from(slot.0) ^ nonce)
        }),
        "exclusive" => {
            let mut records = arena.exclusive();
            each(iterations, |_| {
                black_box(&raw const *records.get(black_box(last)).expect("an open record"));
            });
        }
        "reader" => {
            let records = arena.reader();
            each(iterations, |_| {
                black_box(&raw const *records.get(black_box(last)).expect("an open record"));
            });
        }
        "get-slot" => each(iterations, |_| keep(arena.get_slot(black_box(last).slot))),
        "release" => each(iterations, |_| drop(black_box_record(arena.get(black_box(last), TAG)))),
        "stale" => {
            drop(arena.remove(last));
            each(iterations, |_| assert!(arena.get(black_box(last), TAG).is_none()));
        }
        _ => return false,
    }
    true
}

/// Stops where the record's address is known; giving the reference back is another matter.
#[inline(always)]
fn keep(record: Option<Ref<'_, Record>>) {
    mem::forget(black_box_record(record));
}

#[inline(always)]
fn black_box_record(record: Option<Ref<'_, Record>>) -> Ref<'_, Record> {
    let record = record.expect("an open record");
    black_box(&raw const *record);
    record
}

/// Finds the last of `n` flows by a flow id of 12 bytes, with the index that the packet carries.
fn flows(what: &str, n: usize, iterations: usize) -> bool {
    let packets: Vec<Carried<FlowId>> = (0..n as u32).map(packet).collect();
    let [.., last] = packets[..] else { return false };
    match what {
        "no-flow" => each(iterations, |_| black_box(black_box(&last).index)),
        "source-hash" => find_last(SourceHash::with_places(2 * n, n).expect("places"), &packets, iterations),
        "source-cache" => find_last(SourceCache::with_places(2 * n).expect("places"), &packets, iterations),
        "direct" => find_last(Direct::with_places(n, n).expect("places"), &packets, iterations),
        _ => return false,
    }
    true
}

fn packet(n: u32) -> Carried<FlowId> {
    let mut id = [10; 12];
    id[8..].copy_from_slice(&n.to_be_bytes());
    Carried { index: n, key: FlowId::new(id) }
}

#[inline(always)]
fn find_last<L: Locator<Carried<FlowId>>>(mut locator: L, packets: &[Carried<FlowId>], iterations: usize) {
    for (n, packet) in packets.iter().enumerate() {
        locator.insert(*packet, Slot(n as u32)).expect("a place of its own");
    }
    let last = packets[packets.len() - 1];
    each(iterations, |_| black_box(locator.find(black_box(&last)).expect("inserted").0));
}

/// Finds one flow after the other in a `FlowTable` that has as many as it may, or exchanges them.
fn flow_table(what: &str, n: usize, iterations: usize) -> bool {
    let key = |flow: usize| {
        let client = 0x0a00_0000 | (flow as u32).wrapping_mul(0x9e37_79b9) >> 8;
        Ipv4Flow::new(client.into(), flow as u16 | 0x8000, [192, 0, 2, 1].into(), 443, 6)
    };
    let mut table = FlowTable::<(Ipv4Flow, [u64; 6])>::new(n, 0x5eed);
    let insert =
        |table: &mut FlowTable<_>, flow| table.insert((key(flow), [flow as u64; 6])).expect("there is room");
    (0..n).for_each(|flow| insert(&mut table, flow));
    match what {
        "flow-get" => {
            each(iterations, |i| black_box(table.get(&black_box(key(i % n))).expect("inserted").1[0]))
        }
        "flow-change" => each(iterations, |i| {
            table.remove(&black_box(key(i))).expect("inserted");
            insert(&mut table, n + i);
        }),
        _ => return false,
    }
    true
}

/// Looks up names of `length` bytes in an interface that has 256 of them, or as many as there are.
fn names(what: &str, length: usize, iterations: usize) -> bool {
    let count = if length < 2 { 16_usize.pow(length as u32) } else { 256 };
    let names: Vec<&'static str> = (0..count).map(|i| &*name(i, length).leak()).collect();
    let names: &'static [&'static str] = names.leak();
    let built = build_names(names).expect("a perfect hash");
    let table = NameTable::new(names, built.seed, built.displacements.leak(), built.slots.leak());
    let hashed = HashedNames::new(names, 1);
    let linear = LinearNames::new(names);
    let indices: [usize; 64] = std::array::from_fn(|i| i * 4 % count);
    let asked: Vec<&str> = indices.iter().map(|index| names[*index]).collect();
    let asked = |i: usize| black_box(asked[i % 64].as_bytes());
    match what {
        "no-name" => each(iterations, asked),
        "perfect" => each(iterations, |i| black_box(table.find(asked(i)))),
        "predicted" => each(iterations, |i| black_box(table.is(indices[i % 64] as u32, asked(i)))),
        "hashed" => each(iterations, |i| black_box(hashed.find(asked(i)))),
        "linear" => each(iterations, |i| black_box(linear.find(asked(i)))),
        _ => return false,
    }
    true
}

/// A number, as a name of a given length.
fn name(i: usize, length: usize) -> String {
    let mut name = format!("{i:x>length$x}");
    name.truncate(length);
    name
}

/// A function of its own for each loop, so that no other decides what it keeps in registers.
#[inline(never)]
fn each<O>(iterations: usize, mut lookup: impl FnMut(usize) -> O) {
    for i in 0..iterations {
        lookup(i);
    }
}
