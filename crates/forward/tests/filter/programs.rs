//! Programs drawn at random. They read what headers are made of more often than other places.

use proptest::prelude::*;
use throughline_forward::filter::{Instruction, Program};

/// Codes that take anything as operand.
const PLAIN: [u16; 12] = [0x00, 0x01, 0x80, 0x81, 0x84, 0x07, 0x87, 0x0c, 0x1c, 0x2c, 0x04, 0x54];
const OTHERS: [u16; 15] =
    [0x14, 0x24, 0x44, 0xa4, 0x3c, 0x9c, 0x4c, 0x5c, 0xac, 0x6c, 0x7c, 0x54, 0x34, 0x94, 0x16];
const LOADS: [u16; 7] = [0x20, 0x28, 0x30, 0x40, 0x48, 0x50, 0xb1];
const JUMPS: [u16; 8] = [0x15, 0x25, 0x35, 0x45, 0x1d, 0x2d, 0x3d, 0x4d];

/// A program of up to 40 instructions.
pub fn program() -> impl Strategy<Value = Program> {
    (prop::collection::vec(instruction(), 0..40), any::<bool>()).prop_map(|(mut instructions, accept)| {
        let len = instructions.len();
        for (at, instruction) in instructions.iter_mut().enumerate() {
            let left = len - at;
            instruction.jt = (usize::from(instruction.jt) % left) as u8;
            instruction.jf = (usize::from(instruction.jf) % left) as u8;
            if instruction.code == 0x05 {
                instruction.k %= left as u32;
            }
        }
        let last = if accept { 0x16 } else { 0x06 };
        instructions.push(Instruction { code: last, jt: 0, jf: 0, k: 1 });
        Program::new(&instructions).unwrap()
    })
}

fn instruction() -> impl Strategy<Value = Instruction> {
    let places = prop_oneof![
        8 => prop::sample::select(vec![0, 6, 10, 12, 14, 20, 23, 26, 30, 34, 36, 38, 54, 56]),
        2 => 0..90_u32,
        1 => any::<u32>(),
    ];
    let constants = prop_oneof![
        4 => prop::sample::select(vec![0x0800, 0x86dd, 6, 17, 0x1fff, 80, 53, 0x0a00_0001, 0xff, 20, 0xffff_fff6]),
        2 => 0..70_u32,
        1 => any::<u32>(),
    ];
    let plain = (prop::sample::select(&PLAIN[..]), constants.clone().boxed());
    // Not 0, and few bits: they divide and shift.
    let others = (prop::sample::select(&OTHERS[..]), 1..32_u32);
    let shifts = (prop::sample::select(vec![0x64, 0x74]), 0..32_u32);
    let scratch = (prop::sample::select(vec![0x02, 0x03, 0x60, 0x61]), 0..16_u32);
    let loads = (prop::sample::select(&LOADS[..]), places);
    let jumps = (prop::sample::select(&JUMPS[..]), constants);
    let code = prop_oneof![
        3 => plain.boxed(), 1 => others.boxed(), 1 => shifts.boxed(), 1 => scratch.boxed(), 5 => loads.boxed(),
        4 => jumps.boxed(), 1 => (Just(0x05), any::<u32>()).boxed(),
    ];
    (code, any::<u8>(), any::<u8>()).prop_map(|((code, k), jt, jf)| Instruction {
        code,
        jt: jt % 8,
        jf: jf % 8,
        k,
    })
}
