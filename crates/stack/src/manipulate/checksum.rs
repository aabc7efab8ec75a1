//! The Internet checksum.

use super::machine::{Block, Lanes, Machine};
use super::{BLOCK, Stage, look};

/// The Internet checksum (RFC 1071): the sum of all words of 16 bits, in ones' complement.
///
/// Words are added 64 bits at a time, the first byte the least significant: what is carried out of the top comes in at the
/// bottom, so that the sum stays the same modulo 2^16 - 1 until it is folded to 16 bits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Checksum {
    /// The sums of this pass's words modulo 2^64; and of their upper halves, which tells how often that was exceeded. The
    /// latter reaches 2^64 after 128 GiB.
    words: Lanes,
    upper: Lanes,
    /// Of all before.
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

    /// Adds data that stays where it is.
    #[inline]
    pub fn look(&mut self, data: &[u8]) {
        // What is short is not worth the choice of instructions.
        if data.len() < BLOCK { self.add_words(data) } else { look(self, data) }
    }

    #[inline(always)]
    fn add_words(&mut self, bytes: &[u8]) {
        let (words, after) = bytes.as_chunks::<8>();
        let mut sum: u128 = 0;
        for word in words {
            sum += u128::from(u64::from_le_bytes(*word));
        }
        if !after.is_empty() {
            sum += u128::from(last(bytes, after.len()));
        }
        self.add(plus(sum as u64, (sum >> 64) as u64));
        self.odd ^= after.len() % 2 == 1;
    }

    #[inline(always)]
    fn add(&mut self, sum: u64) {
        // Behind an odd number of bytes, first and second bytes of words are the other way round.
        let sum = if self.odd { sum.rotate_left(8) } else { sum };
        self.sum = plus(self.sum, sum);
    }
}

/// The sum of this data, as [`Checksum::sum`].
#[inline]
pub fn checksum(data: &[u8]) -> u16 {
    let mut sum = Checksum::default();
    sum.look(data);
    sum.sum()
}

/// In ones' complement.
#[inline(always)]
fn plus(a: u64, b: u64) -> u64 {
    let (sum, carry) = a.overflowing_add(b);
    sum + u64::from(carry)
}

/// To 16 bits, carries added again.
#[inline(always)]
fn fold(sum: u64) -> u16 {
    let sum = (sum & 0xffff_ffff) + (sum >> 32);
    let sum = (sum & 0xffff) + ((sum >> 16) & 0xffff) + (sum >> 32);
    let sum = (sum & 0xffff) + (sum >> 16);
    ((sum & 0xffff) + (sum >> 16)) as u16
}

/// The last one to seven bytes of these as a word.
#[inline(always)]
fn last(bytes: &[u8], count: usize) -> u64 {
    if let Some(word) = bytes.last_chunk() {
        return u64::from_le_bytes(*word) >> (64 - 8 * count);
    }
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

impl Stage for Checksum {
    #[inline(always)]
    fn begin<M: Machine>(&mut self, _machine: M) {
        (self.words, self.upper) = (Lanes::default(), Lanes::default());
    }

    #[inline(always)]
    fn block<M: Machine>(&mut self, machine: M, block: &mut Block<M>) {
        let [a, b] = block.0;
        let words = machine.add(machine.vector(self.words), machine.add(a, b));
        let upper = machine.add(machine.high(a), machine.high(b));
        self.words = machine.lanes(words);
        self.upper = machine.lanes(machine.add(machine.vector(self.upper), upper));
    }

    #[inline(always)]
    fn end<M: Machine>(&mut self, _machine: M) {
        let (Lanes([a, b, c, d]), Lanes([e, f, g, h])) = (self.words, self.upper);
        // The sum of the lower halves is less than 2^64, so what was lost comes back.
        let both = |words: u64, upper: u64| plus(words.wrapping_sub(upper << 32), upper);
        self.add(plus(plus(both(a, e), both(b, f)), plus(both(c, g), both(d, h))));
    }

    #[inline(always)]
    fn rest<M: Machine>(&mut self, _machine: M, bytes: &mut [u8]) {
        self.add_words(bytes);
    }
}
