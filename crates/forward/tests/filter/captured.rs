//! Frames of real captures, where there are any.

use std::path::Path;

use throughline_forward::{
    FilterBank, FilterBankConfig, FlowIndex, Packet,
    filter::{Consumer, Libpcap, Program, Reference, View},
};
use throughline_stack::smoltcp::time::Instant;

use crate::{captures, expressions, libpcap};

#[test]
fn captured_frames() {
    let Some(libpcap) = libpcap() else { return };
    let captures = captures::all();
    let mut frames = 0;
    for capture in &captures {
        frames += check(libpcap, capture);
    }
    println!("{frames} frames of {} captures", captures.len());
}

/// All filters over a capture: alone, in libpcap, and in a bank of each kind. How many frames there were.
fn check(libpcap: &Libpcap, capture: &Path) -> usize {
    let frames = captures::frames(capture);
    let programs: Vec<Program> = expressions::all().map(|text| libpcap.compile(text).unwrap()).collect();
    let references: Vec<Reference<'_>> = programs.iter().map(|program| libpcap.reference(program)).collect();
    let mut banks = [FlowIndex::Never, FlowIndex::Computed, FlowIndex::Either].map(|index| {
        let mut bank = FilterBank::new(FilterBankConfig { index, ..FilterBankConfig::default() }).unwrap();
        for (program, n) in programs.iter().zip(0..) {
            bank.add(program.clone(), Consumer(n));
        }
        bank
    });
    for frame in &frames {
        let Some(view) = View::of(frame) else { continue };
        let mut wanted = Vec::new();
        for ((program, reference), n) in programs.iter().zip(&references).zip(0..) {
            let result = reference.run(frame);
            assert_eq!(program.run(&view), result);
            wanted.extend((result != 0).then_some(Consumer(n)));
        }
        for bank in &mut banks {
            let Ok(packet) = Packet::of(frame) else { continue };
            assert_eq!(bank.consumers(&packet, Instant::ZERO).iter().collect::<Vec<_>>(), wanted);
        }
    }
    frames.len()
}
