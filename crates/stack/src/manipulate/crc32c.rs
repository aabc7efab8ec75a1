//! CRC-32C.

use super::Stage;
use super::machine::{Block, Lanes, Machine};

/// CRC-32C (Castagnoli; RFC 3720, B.4), as SCTP and iSCSI use it.
///
/// While there are blocks, what it keeps is 64 bytes that have the same remainder as all before (after Gopal and others, "Fast
/// CRC Computation for Generic Polynomials Using PCLMULQDQ", 2009); so it needs no more than each block in turn.
#[derive(Clone, Copy, Debug)]
pub struct Crc32c {
    /// The register: the complement of the result.
    register: u32,
    folded: [Lanes; 2],
    /// What the next block's first bytes are changed by.
    pending: Lanes,
}

/// The remainders of x^(512+32) and x^(512-32), bits reversed, shifted as products need it: they move 16 bytes on by 64.
const BY_64_BYTES: [u64; 2] = [0x740e_ef02, 0x9e4a_ddf8];

impl Default for Crc32c {
    fn default() -> Self {
        Self { register: !0, folded: [Lanes::default(); 2], pending: Lanes::default() }
    }
}

impl Crc32c {
    /// One that continues where `value` was the result.
    pub fn beginning_with(value: u32) -> Self {
        Self { register: !value, ..Self::default() }
    }

    /// The result so far.
    pub fn value(&self) -> u32 {
        !self.register
    }

    #[inline(always)]
    fn word<M: Machine>(&mut self, machine: M, word: u64) {
        self.register =
            machine.crc(self.register, word).unwrap_or_else(|| plain(self.register, &word.to_le_bytes()));
    }
}

/// The register after these bytes.
fn plain(register: u32, bytes: &[u8]) -> u32 {
    !crc32c::crc32c_append(!register, bytes)
}

impl Stage for Crc32c {
    #[inline(always)]
    fn begin<M: Machine>(&mut self, _machine: M) {
        self.folded = [Lanes::default(); 2];
        self.pending = Lanes([u64::from(self.register), 0, 0, 0]);
    }

    #[inline(always)]
    fn block<M: Machine>(&mut self, machine: M, block: &mut Block<M>) {
        let [a, b] = self.folded;
        let a = machine.fold(machine.vector(a), BY_64_BYTES);
        let b = machine.fold(machine.vector(b), BY_64_BYTES);
        if let (Some(a), Some(b)) = (a, b) {
            let first = machine.xor(block.0[0], machine.vector(self.pending));
            self.folded = [machine.lanes(machine.xor(a, first)), machine.lanes(machine.xor(b, block.0[1]))];
            self.pending = Lanes::default();
        } else {
            let mut bytes = [0; super::BLOCK];
            block.store(machine, &mut bytes);
            self.register = plain(self.register, &bytes);
        }
    }

    #[inline(always)]
    fn end<M: Machine>(&mut self, machine: M) {
        if machine.crc(0, 0).is_none() {
            return;
        }
        self.register = 0;
        let [Lanes([a, b, c, d]), Lanes([e, f, g, h])] = self.folded;
        for word in [a, b, c, d, e, f, g, h] {
            self.word(machine, word);
        }
    }

    #[inline(always)]
    fn rest<M: Machine>(&mut self, machine: M, bytes: &mut [u8]) {
        let (words, last) = bytes.as_chunks();
        for word in words {
            self.word(machine, u64::from_le_bytes(*word));
        }
        if !last.is_empty() {
            self.register = plain(self.register, last);
        }
    }
}
