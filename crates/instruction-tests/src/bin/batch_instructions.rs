//! Lookups in a `FlowTable` by 32, of its owner or of a reader, or by four, to be counted by callgrind:
//! `batch_instructions (owner|reader|fours):FLOWS ITERATIONS`.
//!
//! Apart from `lookup_instructions`, whose loops would otherwise be compiled into other instructions.

use std::hint::black_box;

use bytemuck::NoUninit;
use throughline_demux::{FlowRecord, FlowTable, Ipv4Flow, flow_table};

#[derive(Clone, Copy, NoUninit)]
#[repr(C, align(64))]
struct Connection {
    key: Ipv4Flow,
    state: [u64; 6],
}

impl FlowRecord for Connection {
    type Key = Ipv4Flow;

    fn key(&self) -> &Ipv4Flow {
        &self.key
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_default();
    let iterations = arguments.next().and_then(|n| n.parse().ok());
    let what = what.split_once(':').and_then(|(who, flows)| Some((who, flows.parse().ok()?)));
    match (what, iterations) {
        (Some(("owner", flows)), Some(iterations)) => owner::<32>(flows, iterations),
        (Some(("fours", flows)), Some(iterations)) => owner::<4>(flows, iterations),
        (Some(("reader", flows)), Some(iterations)) => reader(flows, iterations),
        _ => {
            eprintln!("usage: batch_instructions (owner|reader|fours):FLOWS ITERATIONS");
            std::process::exit(2);
        }
    }
}

/// Of a table that has as many as it may.
fn owner<const N: usize>(flows: usize, iterations: usize) {
    let mut table = FlowTable::new(flows, 0x5eed);
    (0..flows).for_each(|flow| table.insert(connection(flow)).expect("there is room"));
    together::<N>(flows, iterations, |keys| {
        let mut sum = 0;
        table.visit_batch(keys, |_, found| sum += found.map_or(0, |found| found.state[0]));
        black_box(sum);
    });
}

/// As [`owner`], copied.
fn reader(flows: usize, iterations: usize) {
    let (mut writer, reader) = flow_table(flows, 0x5eed);
    (0..flows).for_each(|flow| writer.insert(connection(flow)).expect("there is room"));
    let mut found = [None; 32];
    together::<32>(flows, iterations, |keys| {
        reader.get_batch(keys, &mut found);
        black_box(&found);
    });
}

/// Has `N` flows found together, one after the other.
#[inline(always)]
fn together<const N: usize>(flows: usize, iterations: usize, mut find: impl FnMut(&[Ipv4Flow])) {
    let mut keys = [key(0); N];
    for i in 0..iterations {
        keys[i % N] = black_box(key(i % flows));
        if i % N == N - 1 {
            find(black_box(&keys[..]));
        }
    }
}

fn connection(flow: usize) -> Connection {
    Connection { key: key(flow), state: [flow as u64; 6] }
}

fn key(flow: usize) -> Ipv4Flow {
    let client = 0x0a00_0000 | (flow as u32).wrapping_mul(0x9e37_79b9) >> 8;
    Ipv4Flow::new(client.into(), flow as u16 | 0x8000, [192, 0, 2, 1].into(), 443, 6)
}
