//! Any program that passes the checks, over any frames: it answers as libpcap's interpreter does, where there is one, and a
//! bank that keeps flows answers as one that runs all its filters.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use throughline_forward::{
    FilterBank, FilterBankConfig, FlowCacheConfig, FlowIndex, Packet,
    filter::{Consumer, Instruction, Libpcap, Program, View},
};
use throughline_stack::smoltcp::time::Instant;

static LIBPCAP: LazyLock<Option<Libpcap>> = LazyLock::new(|| Libpcap::open().ok());

fuzz_target!(|input: &[u8]| {
    if let Some(program) = std::str::from_utf8(input).ok().and_then(|text| text.parse::<Program>().ok()) {
        assert_eq!(program.to_string().parse::<Program>().unwrap().instructions(), program.instructions());
    }
    let Some((count, rest)) = input.split_first() else { return };
    let (instructions, rest) = rest.split_at((8 * usize::from(count % 64)).min(rest.len()));
    let instructions: Vec<Instruction> = instructions.as_chunks().0.iter().map(instruction).collect();
    let Ok(program) = Program::new(&instructions) else { return };
    let mut frames = Vec::new();
    let mut rest = rest;
    while let Some((len, more)) = rest.split_first() {
        let (frame, more) = more.split_at(usize::from(*len).min(more.len()));
        frames.push(frame);
        rest = more;
    }
    check(&program, &frames);
});

fn instruction(bytes: &[u8; 8]) -> Instruction {
    let [low, high, jt, jf, k @ ..] = *bytes;
    Instruction { code: u16::from_le_bytes([low, high]), jt, jf, k: u32::from_le_bytes(k) }
}

fn check(program: &Program, frames: &[&[u8]]) {
    let mut banks = [FlowIndex::Never, FlowIndex::Computed, FlowIndex::Either].map(|index| {
        let cache = FlowCacheConfig { places: 4, ..FlowCacheConfig::default() };
        let mut bank = FilterBank::new(FilterBankConfig { index, cache }).unwrap();
        bank.add(program.clone(), Consumer(0));
        bank
    });
    let reference = LIBPCAP.as_ref().map(|libpcap| libpcap.reference(program));
    for frame in frames {
        let Some(view) = View::of(frame) else { continue };
        let result = program.run(&view);
        assert!(reference.as_ref().is_none_or(|reference| reference.run(frame) == result));
        let Ok(packet) = Packet::of(frame) else { continue };
        let wanted = program.matches(&View::from(&packet));
        for bank in &mut banks {
            assert_eq!(bank.consumers(&packet, Instant::ZERO).contains(Consumer(0)), wanted);
        }
    }
}
