//! A mask over the data.

use super::Stage;
use super::machine::{Block, Lanes, Machine};

/// XOR with a mask of 8 bytes again and again, as WebSocket masks data (RFC 6455, with the four bytes twice). No secret is kept
/// by that.
#[derive(Clone, Copy, Debug)]
pub struct Xor(u64);

impl Xor {
    /// With this mask.
    pub fn new(mask: [u8; 8]) -> Self {
        Self(u64::from_le_bytes(mask))
    }
}

impl Stage for Xor {
    #[inline(always)]
    fn block<M: Machine>(&mut self, machine: M, block: &mut Block<M>) {
        let mask = machine.vector(Lanes([self.0; 4]));
        let [a, b] = block.0;
        block.0 = [machine.xor(a, mask), machine.xor(b, mask)];
    }

    #[inline(always)]
    fn rest<M: Machine>(&mut self, _machine: M, bytes: &mut [u8]) {
        let mask = self.0.to_le_bytes();
        bytes.iter_mut().zip(mask.iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
    }
}
