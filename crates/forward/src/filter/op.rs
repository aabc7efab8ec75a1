//! Instructions, decoded: what can be known beforehand is settled here, once.

use super::{
    program::{Instruction, ProgramError, SCRATCH},
    view::HEADER,
};

/// Where in the header the EtherType is.
pub(super) const ETHERTYPE: u8 = 12;

/// How many bytes are loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    Byte = 1,
    Half = 2,
    Word = 4,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Alu {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    And,
    Or,
    Xor,
    Left,
    Right,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Test {
    Eq,
    Gt,
    Ge,
    Set,
}

/// How many instructions are left out behind a test.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ways {
    pub(super) yes: u8,
    pub(super) no: u8,
}

/// What to do. `A` is the accumulator, `X` the index register. Offsets of `Header` loads lie within the Ethernet header,
/// those of `Packet` loads count from the first byte behind it, all others from the beginning of the frame. Eight bytes, as in
/// the text: of a thousand programs, much is read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Op {
    HeaderByte(u8),
    HeaderHalf(u8),
    HeaderWord(u8),
    PacketByte(u32),
    PacketHalf(u32),
    PacketWord(u32),
    /// Across the joint of header and packet.
    Load(Width, u32),
    /// Relative to `X`.
    LoadAtX(Width, u32),
    LoadLength,
    LoadK(u32),
    LoadScratch(u8),
    /// Four times the low half of a byte: the length of an IPv4 header.
    LoadXHeaderLength(u32),
    LoadXLength,
    LoadXK(u32),
    LoadXScratch(u8),
    Store(u8),
    StoreX(u8),
    AluK(Alu, u32),
    AluX(Alu),
    Negate,
    JumpAlways(u32),
    JumpEq(u32, Ways),
    JumpGt(u32, Ways),
    JumpGe(u32, Ways),
    JumpSet(u32, Ways),
    JumpX(Test, Ways),
    /// A load, and the test for equality that follows it: most instructions of most programs.
    EtherTypeIs(u32, Ways),
    PacketByteIs(u8, u32, Ways),
    PacketHalfIs(u8, u32, Ways),
    PacketWordIs(u8, u32, Ways),
    Return(u32),
    ReturnA,
    AToX,
    XToA,
}

/// Checks and decodes the instruction at a place of a program of that length.
pub(super) fn decode(at: usize, instruction: &Instruction, len: usize) -> Result<Op, ProgramError> {
    let Instruction { code, k, .. } = *instruction;
    let scratch = || scratch(at, k);
    Ok(match code {
        0x20 => load(Width::Word, k),
        0x28 => load(Width::Half, k),
        0x30 => load(Width::Byte, k),
        0x40 => Op::LoadAtX(Width::Word, k),
        0x48 => Op::LoadAtX(Width::Half, k),
        0x50 => Op::LoadAtX(Width::Byte, k),
        0x80 => Op::LoadLength,
        0x00 => Op::LoadK(k),
        0x60 => Op::LoadScratch(scratch()?),
        0x81 => Op::LoadXLength,
        0xb1 => Op::LoadXHeaderLength(k),
        0x01 => Op::LoadXK(k),
        0x61 => Op::LoadXScratch(scratch()?),
        0x02 => Op::Store(scratch()?),
        0x03 => Op::StoreX(scratch()?),
        0x05 => Op::JumpAlways(jump(at, k, len)?),
        0x15 => Op::JumpEq(k, ways(at, instruction, len)?),
        0x25 => Op::JumpGt(k, ways(at, instruction, len)?),
        0x35 => Op::JumpGe(k, ways(at, instruction, len)?),
        0x45 => Op::JumpSet(k, ways(at, instruction, len)?),
        0x1d => Op::JumpX(Test::Eq, ways(at, instruction, len)?),
        0x2d => Op::JumpX(Test::Gt, ways(at, instruction, len)?),
        0x3d => Op::JumpX(Test::Ge, ways(at, instruction, len)?),
        0x4d => Op::JumpX(Test::Set, ways(at, instruction, len)?),
        0x84 => Op::Negate,
        0x06 => Op::Return(k),
        0x16 => Op::ReturnA,
        0x07 => Op::AToX,
        0x87 => Op::XToA,
        _ => return arithmetic(at, code, k),
    })
}

/// Makes one of two wherever that can be. The second stays in its place, for those who jump there.
pub(super) fn fuse(ops: &mut [Op]) {
    for at in 1..ops.len() {
        if let Op::JumpEq(k, ways) = ops[at]
            && let Some(fused) = fused(ops[at - 1], k, ways)
        {
            ops[at - 1] = fused;
        }
    }
}

/// The ways count from behind the load.
fn fused(load: Op, k: u32, Ways { yes, no }: Ways) -> Option<Op> {
    let ways = Ways { yes: yes.checked_add(1)?, no: no.checked_add(1)? };
    Some(match load {
        Op::HeaderHalf(ETHERTYPE) => Op::EtherTypeIs(k, ways),
        Op::PacketByte(at) => Op::PacketByteIs(u8::try_from(at).ok()?, k, ways),
        Op::PacketHalf(at) => Op::PacketHalfIs(u8::try_from(at).ok()?, k, ways),
        Op::PacketWord(at) => Op::PacketWordIs(u8::try_from(at).ok()?, k, ways),
        _ => return None,
    })
}

fn load(width: Width, k: u32) -> Op {
    let header = HEADER as u32;
    match (width, k.checked_sub(header)) {
        (Width::Byte, Some(at)) => Op::PacketByte(at),
        (Width::Half, Some(at)) => Op::PacketHalf(at),
        (Width::Word, Some(at)) => Op::PacketWord(at),
        (Width::Byte, None) => Op::HeaderByte(k as u8),
        (Width::Half, None) if k + 2 <= header => Op::HeaderHalf(k as u8),
        (Width::Word, None) if k + 4 <= header => Op::HeaderWord(k as u8),
        (_, None) => Op::Load(width, k),
    }
}

fn arithmetic(at: usize, code: u16, k: u32) -> Result<Op, ProgramError> {
    let by_x = code & 0x08 != 0;
    let alu = match code & !0x08 {
        0x04 => Alu::Add,
        0x14 => Alu::Sub,
        0x24 => Alu::Mul,
        0x34 => Alu::Div,
        0x94 => Alu::Mod,
        0x54 => Alu::And,
        0x44 => Alu::Or,
        0xa4 => Alu::Xor,
        0x64 => Alu::Left,
        0x74 => Alu::Right,
        _ => return Err(ProgramError::Unknown { at, code }),
    };
    let refused = match alu {
        Alu::Div | Alu::Mod => k == 0,
        Alu::Left | Alu::Right => k >= u32::BITS,
        _ => false,
    };
    match (by_x, refused) {
        (true, _) => Ok(Op::AluX(alu)),
        (false, true) => Err(ProgramError::Operand(at)),
        (false, false) => Ok(Op::AluK(alu, k)),
    }
}

fn scratch(at: usize, k: u32) -> Result<u8, ProgramError> {
    if k < SCRATCH as u32 { Ok(k as u8) } else { Err(ProgramError::Scratch(at)) }
}

fn ways(at: usize, instruction: &Instruction, len: usize) -> Result<Ways, ProgramError> {
    let Instruction { jt: yes, jf: no, .. } = *instruction;
    jump(at, yes.max(no).into(), len)?;
    Ok(Ways { yes, no })
}

/// A jump over so many instructions, if that stays inside. A jump back is one over very many.
fn jump(at: usize, over: u32, len: usize) -> Result<u32, ProgramError> {
    let stays = at as u64 + 1 + u64::from(over) < len as u64;
    if stays { Ok(over) } else { Err(ProgramError::Jump(at)) }
}

impl Alu {
    /// The result, none for a division by 0.
    #[inline]
    pub(super) fn of(self, a: u32, b: u32) -> Option<u32> {
        Some(match self {
            Self::Add => a.wrapping_add(b),
            Self::Sub => a.wrapping_sub(b),
            Self::Mul => a.wrapping_mul(b),
            Self::Div => a.checked_div(b)?,
            Self::Mod => a.checked_rem(b)?,
            Self::And => a & b,
            Self::Or => a | b,
            Self::Xor => a ^ b,
            Self::Left => a.checked_shl(b).unwrap_or(0),
            Self::Right => a.checked_shr(b).unwrap_or(0),
        })
    }
}

impl Test {
    #[inline]
    pub(super) fn of(self, a: u32, b: u32) -> bool {
        match self {
            Self::Eq => a == b,
            Self::Gt => a > b,
            Self::Ge => a >= b,
            Self::Set => a & b != 0,
        }
    }
}

impl Ways {
    #[inline]
    pub(super) fn of(self, holds: bool) -> usize {
        usize::from(if holds { self.yes } else { self.no })
    }
}

/// So that it stays.
const _: () = assert!(size_of::<Op>() == 8);
