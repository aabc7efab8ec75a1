//! The Internet checksum.

use super::machine::{Block, Lanes, Machine};
use super::{Stage, look};

/// The Internet checksum (RFC 1071): the sum of all words of 16 bits, in ones' complement.
#[derive(Clone, Copy, Debug, Default)]
pub struct Checksum {
    /// Of the blocks of this pass, by parts: halves of words of 64 bits, the first byte the least significant. A part cannot
    /// overflow before 64 GiB.
    parts: Lanes,
    /// Of all before, in that order of bytes.
    sum: u64,
    /// Whether an odd number of bytes came before.
    odd: bool,
}

impl Checksum {
    /// One that has seen data of this sum already, such as a pseudo header.
    pub fn beginning_with(sum: u16) -> Self {
        Self { sum: u64::from(sum.swap_bytes()), ..Self::default() }
    }

    /// The sum so far, as the number that it is in network order. Its complement is what headers carry; over data that
    /// includes that, it is 0xffff.
    pub fn sum(&self) -> u16 {
        fold(self.sum).swap_bytes()
    }

    #[inline(always)]
    fn add(&mut self, sum: u64) {
        let sum = fold(sum);
        // Behind an odd number of bytes, first and second bytes of words are the other way round.
        let sum = if self.odd { sum.swap_bytes() } else { sum };
        self.sum += u64::from(sum);
    }
}

/// The sum of this data, as [`Checksum::sum`].
#[inline]
pub fn checksum(data: &[u8]) -> u16 {
    let mut sum = Checksum::default();
    look(&mut sum, data);
    sum.sum()
}

/// To 16 bits, carries added again.
#[inline(always)]
fn fold(sum: u64) -> u16 {
    let sum = (sum & 0xffff_ffff) + (sum >> 32);
    let sum = (sum & 0xffff) + ((sum >> 16) & 0xffff) + (sum >> 32);
    let sum = (sum & 0xffff) + (sum >> 16);
    ((sum & 0xffff) + (sum >> 16)) as u16
}

impl Stage for Checksum {
    #[inline(always)]
    fn block<M: Machine>(&mut self, machine: M, block: &mut Block<M>) {
        let [a, b] = block.0;
        let low = machine.add(machine.low(a), machine.low(b));
        let high = machine.add(machine.high(a), machine.high(b));
        let parts = machine.add(machine.vector(self.parts), machine.add(low, high));
        self.parts = machine.lanes(parts);
    }

    #[inline(always)]
    fn end<M: Machine>(&mut self, _machine: M) {
        let parts = self.parts.0.map(|part| u64::from(fold(part)));
        self.add(parts.iter().sum());
        self.parts = Lanes::default();
    }

    #[inline(always)]
    fn rest<M: Machine>(&mut self, _machine: M, bytes: &mut [u8]) {
        let (words, last) = bytes.as_chunks::<8>();
        let mut sum = 0;
        for word in words {
            let word = u64::from_le_bytes(*word);
            sum += (word & 0xffff_ffff) + (word >> 32);
        }
        let (pairs, single) = last.as_chunks::<2>();
        sum += pairs.iter().map(|pair| u64::from(u16::from_le_bytes(*pair))).sum::<u64>();
        sum += single.first().map_or(0, |byte| u64::from(*byte));
        self.add(sum);
        self.odd ^= !single.is_empty();
    }
}
