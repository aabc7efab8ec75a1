//! Byte order.

use super::Stage;
use super::machine::{Block, Machine};

/// Reverses the bytes of each word of `WIDTH` bytes: 2, 4 or 8. Bytes at the end that are no whole word stay as they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Swap<const WIDTH: usize>;

impl<const WIDTH: usize> Stage for Swap<WIDTH> {
    #[inline(always)]
    fn block<M: Machine>(&mut self, machine: M, block: &mut Block<M>) {
        const { assert!(matches!(WIDTH, 2 | 4 | 8), "words have 2, 4 or 8 bytes") };
        let [a, b] = block.0;
        block.0 = [machine.swap::<WIDTH>(a), machine.swap::<WIDTH>(b)];
    }

    #[inline(always)]
    fn rest<M: Machine>(&mut self, _machine: M, bytes: &mut [u8]) {
        bytes.as_chunks_mut::<WIDTH>().0.iter_mut().for_each(|word| word.reverse());
    }
}
