//! Steps by threaded index in a loop, to be counted by callgrind: `threaded_instructions WHAT ITERATIONS`.
//!
//! A step reads the index and the destination from a labelled packet, finds port and next index, and writes the latter in
//! place of the former, as those of the paper's table 5 did; unlike those it compares the entry with the destination.

use std::{
    hint::black_box,
    net::{Ipv4Addr, Ipv6Addr},
};

use throughline_forward::threaded::{Address, Prefix, Route, Table};
use throughline_stack::smoltcp::time::{Duration, Instant};

/// As tables have them unless told otherwise, and as they have them for all routes of the Internet.
const USUAL: usize = 65_536;
const LARGE: usize = 1 << 20;
/// Of the word in a labelled frame, and of the destination in an IPv4 or IPv6 packet behind a label without regions.
const WORD: usize = 18;
const DESTINATION_4: usize = 38 + 16;
const DESTINATION_6: usize = 38 + 24;

type Frame = [u8; 128];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_default();
    let iterations: usize = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(1_000);
    let mut frame = [0; 128];
    match &*what {
        // The loop, and that the packet's place and what was found are in registers.
        "no-step" => {
            let table = table::<Ipv4Addr, 4, USUAL>(&mut frame, DESTINATION_4);
            each(&table, frame, iterations, |_, frame| {
                black_box(&raw const *frame);
            });
        }
        "step" => {
            let table = table::<Ipv4Addr, 4, USUAL>(&mut frame, DESTINATION_4);
            let destination = |frame: &Frame| Ipv4Addr::from(octets(frame, DESTINATION_4));
            each(&table, frame, iterations, |table, frame| step(table, destination(frame), frame));
        }
        "step-of-large" => {
            let table = table::<Ipv4Addr, 4, LARGE>(&mut frame, DESTINATION_4);
            let destination = |frame: &Frame| Ipv4Addr::from(octets(frame, DESTINATION_4));
            each(&table, frame, iterations, |table, frame| step(table, destination(frame), frame));
        }
        "step-6" => {
            let table = table::<Ipv6Addr, 16, USUAL>(&mut frame, DESTINATION_6);
            let destination = |frame: &Frame| Ipv6Addr::from(octets(frame, DESTINATION_6));
            each(&table, frame, iterations, |table, frame| step(table, destination(frame), frame));
        }
        _ => {
            eprintln!("usage: threaded_instructions no-step|step|step-of-large|step-6 ITERATIONS");
            std::process::exit(2);
        }
    }
}

/// A table of many routes, and a frame that carries the index of one of them: which has itself for its next index.
fn table<A: Address + From<[u8; N]>, const N: usize, const PLACES: usize>(
    frame: &mut Frame,
    destination: usize,
) -> Table<A, PLACES> {
    let mut table = Table::new(Duration::ZERO);
    let mut route = Route { port: 7, next_hop: None, next_index: 0, indexed: true };
    let mut last = None;
    for n in 0..1_000_u16 {
        let mut octets = [0; N];
        octets[0] = 10;
        octets[1..3].copy_from_slice(&n.to_be_bytes());
        let prefix = Prefix::around(A::from(octets), 24).expect("24 bits");
        table.insert(prefix, route, Instant::ZERO);
        last = Some((prefix, octets));
    }
    let (prefix, octets) = last.expect("many");
    let index = table.index_of(prefix);
    route.next_index = index;
    table.insert(prefix, route, Instant::ZERO);
    frame[WORD..WORD + 4].copy_from_slice(&index.to_le_bytes());
    frame[destination..destination + N].copy_from_slice(&octets);
    table
}

#[inline(always)]
fn step<A: Address, const PLACES: usize>(table: &Table<A, PLACES>, destination: A, frame: &mut Frame) {
    let word = u32::from_le_bytes(octets(frame, WORD));
    let Some(step) = table.follow(word, destination) else { wrong() };
    frame[WORD..WORD + 4].copy_from_slice(&step.next_index().to_le_bytes());
    // The port lies in the register that the next index was written from.
    black_box(step);
}

#[cold]
fn wrong() -> ! {
    panic!("the index leads nowhere")
}

#[inline(always)]
fn octets<const N: usize>(frame: &Frame, at: usize) -> [u8; N] {
    frame[at..at + N].try_into().expect("within the frame")
}

#[inline(always)]
fn each<T>(table: &T, mut frame: Frame, iterations: usize, mut step: impl FnMut(&T, &mut Frame)) {
    for _ in 0..iterations {
        step(table, black_box(&mut frame));
    }
}
