//! The interpreter.

use super::{
    op::{Op, Width},
    program::SCRATCH,
    view::{HEADER, View},
};

/// What a program returns for a frame; 0 when it reads past the end or divides by 0. Its jumps are known to go forward and
/// to stay inside, and it is known to end with a return.
#[inline]
pub(super) fn run(ops: &[Op], frame: &View<'_>) -> u32 {
    execute(ops, frame).unwrap_or(0)
}

fn execute(ops: &[Op], frame: &View<'_>) -> Option<u32> {
    let (mut a, mut x) = (0_u32, 0_u32);
    let mut scratch = [0_u32; SCRATCH];
    let mut next = 0;
    loop {
        let op = ops.get(next)?;
        next += 1;
        match *op {
            Op::HeaderByte(at) => a = u32::from(*frame.header.get(usize::from(at))?),
            Op::HeaderHalf(at) => a = half(*in_header(frame, at)?),
            Op::HeaderWord(at) => a = u32::from_be_bytes(*in_header(frame, at)?),
            Op::PacketByte(at) => a = u32::from(*frame.packet.get(at as usize)?),
            Op::PacketHalf(at) => a = half(*in_packet(frame, at)?),
            Op::PacketWord(at) => a = u32::from_be_bytes(*in_packet(frame, at)?),
            Op::Load(width, at) => a = load(frame, width, at.into())?,
            Op::LoadAtX(width, at) => a = load(frame, width, u64::from(at) + u64::from(x))?,
            Op::LoadLength => a = frame.len() as u32,
            Op::LoadK(k) => a = k,
            Op::LoadScratch(n) => a = scratch[usize::from(n) % SCRATCH],
            Op::LoadXHeaderLength(at) => x = header_length(load(frame, Width::Byte, at.into())?),
            Op::LoadXLength => x = frame.len() as u32,
            Op::LoadXK(k) => x = k,
            Op::LoadXScratch(n) => x = scratch[usize::from(n) % SCRATCH],
            Op::Store(n) => scratch[usize::from(n) % SCRATCH] = a,
            Op::StoreX(n) => scratch[usize::from(n) % SCRATCH] = x,
            Op::AluK(alu, k) => a = alu.of(a, k)?,
            Op::AluX(alu) => a = alu.of(a, x)?,
            Op::Negate => a = a.wrapping_neg(),
            Op::JumpAlways(over) => next += over as usize,
            Op::JumpEq(k, ways) => next += ways.of(a == k),
            Op::JumpGt(k, ways) => next += ways.of(a > k),
            Op::JumpGe(k, ways) => next += ways.of(a >= k),
            Op::JumpSet(k, ways) => next += ways.of(a & k != 0),
            Op::JumpX(test, ways) => next += ways.of(test.of(a, x)),
            Op::EtherTypeIs(k, ways) => {
                a = half([frame.header[12], frame.header[13]]);
                next += ways.of(a == k);
            }
            Op::PacketByteIs(at, k, ways) => {
                a = u32::from(*frame.packet.get(usize::from(at))?);
                next += ways.of(a == k);
            }
            Op::PacketHalfIs(at, k, ways) => {
                a = half(*in_packet(frame, at.into())?);
                next += ways.of(a == k);
            }
            Op::PacketWordIs(at, k, ways) => {
                a = u32::from_be_bytes(*in_packet(frame, at.into())?);
                next += ways.of(a == k);
            }
            Op::Return(k) => return Some(k),
            Op::ReturnA => return Some(a),
            Op::AToX => x = a,
            Op::XToA => a = x,
        }
    }
}

/// The length of an IPv4 header, by its first byte.
#[inline]
pub(super) fn header_length(byte: u32) -> u32 {
    (byte & 0xf) << 2
}

#[inline(always)]
fn half(bytes: [u8; 2]) -> u32 {
    u16::from_be_bytes(bytes).into()
}

#[inline(always)]
fn in_header<'a, const N: usize>(frame: &'a View<'_>, at: u8) -> Option<&'a [u8; N]> {
    let header: &[u8; HEADER] = &frame.header;
    header.get(usize::from(at)..)?.first_chunk()
}

#[inline(always)]
fn in_packet<'a, const N: usize>(frame: &View<'a>, at: u32) -> Option<&'a [u8; N]> {
    let at = at as usize;
    frame.packet.get(at..at + N)?.first_chunk()
}

#[inline]
fn load(frame: &View<'_>, width: Width, at: u64) -> Option<u32> {
    Some(match width {
        Width::Byte => u32::from(frame.bytes::<1>(at)?[0]),
        Width::Half => half(frame.bytes(at)?),
        Width::Word => u32::from_be_bytes(frame.bytes(at)?),
    })
}
