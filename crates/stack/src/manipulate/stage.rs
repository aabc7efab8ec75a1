//! Stages, and the pass that runs them.

use super::BLOCK;
use super::machine::{Block, Machine, Plain};

/// Something to be done to data, or to be found out about it, while it is in registers.
///
/// A pass is [`begin`](Self::begin), a [`block`](Self::block) for each 64 bytes, [`end`](Self::end), and
/// [`rest`](Self::rest) for what remains. Several passes one after another are as one over all their data, if the lengths
/// of all but the last are multiples of 8; sums allow any.
pub trait Stage: Clone {
    /// Before the first block.
    #[inline(always)]
    fn begin<M: Machine>(&mut self, _machine: M) {}

    /// 64 bytes; what is left in the block is what the next stage gets.
    fn block<M: Machine>(&mut self, machine: M, block: &mut Block<M>);

    /// After the last block; only if there was one.
    #[inline(always)]
    fn end<M: Machine>(&mut self, _machine: M) {}

    /// The last bytes, fewer than 64.
    fn rest<M: Machine>(&mut self, machine: M, bytes: &mut [u8]);
}

macro_rules! tuple {
    ($($stage:ident $n:tt),*) => {
        /// One after another.
        impl<$($stage: Stage),*> Stage for ($($stage,)*) {
            #[inline(always)]
            fn begin<Machine_: Machine>(&mut self, _machine: Machine_) {
                $(self.$n.begin(_machine);)*
            }

            #[inline(always)]
            fn block<Machine_: Machine>(&mut self, _machine: Machine_, _block: &mut Block<Machine_>) {
                $(self.$n.block(_machine, _block);)*
            }

            #[inline(always)]
            fn end<Machine_: Machine>(&mut self, _machine: Machine_) {
                $(self.$n.end(_machine);)*
            }

            #[inline(always)]
            fn rest<Machine_: Machine>(&mut self, _machine: Machine_, _bytes: &mut [u8]) {
                $(self.$n.rest(_machine, _bytes);)*
            }
        }
    };
}

tuple!();
tuple!(A 0);
tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);

/// Runs the stages over data on its way to another place.
///
/// # Panics
/// If the places have different lengths.
#[inline]
pub fn copy<S: Stage>(stages: &mut S, from: &[u8], to: &mut [u8]) {
    assert_eq!(from.len(), to.len(), "data to be copied to a place of another length");
    run(CopyPass { stages, from, to });
}

/// Runs the stages over data that stays where it is.
#[inline]
pub fn in_place<S: Stage>(stages: &mut S, data: &mut [u8]) {
    run(InPlacePass { stages, data });
}

/// Runs stages over data that is not changed, for what they find out.
#[inline]
pub fn look<S: Stage>(stages: &mut S, data: &[u8]) {
    run(LookPass { stages, data });
}

/// A loop, to be compiled for each machine.
trait Loop {
    fn on<M: Machine>(self, machine: M);
}

/// Runs it by the best instructions that the processor has.
#[inline]
fn run(pass: impl Loop) {
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(machine) = super::machine::x86::Avx2Wide::detect() {
            // SAFETY: the machine is the proof that the processor has these features.
            return unsafe { on_avx2_wide(pass, machine) };
        }
        if let Some(machine) = super::machine::x86::Avx2::detect() {
            // SAFETY: the same.
            return unsafe { on_avx2(pass, machine) };
        }
    }
    pass.on(Plain);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,pclmulqdq,sse4.2,vpclmulqdq")]
fn on_avx2_wide(pass: impl Loop, machine: super::machine::x86::Avx2Wide) {
    pass.on(machine);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,pclmulqdq,sse4.2")]
fn on_avx2(pass: impl Loop, machine: super::machine::x86::Avx2) {
    pass.on(machine);
}

struct CopyPass<'a, S> {
    stages: &'a mut S,
    from: &'a [u8],
    to: &'a mut [u8],
}

struct InPlacePass<'a, S> {
    stages: &'a mut S,
    data: &'a mut [u8],
}

struct LookPass<'a, S> {
    stages: &'a mut S,
    data: &'a [u8],
}

// Each loop works on a copy of the stages, so that what they keep stays in registers.

impl<S: Stage> Loop for CopyPass<'_, S> {
    #[inline(always)]
    fn on<M: Machine>(self, machine: M) {
        let mut stages = self.stages.clone();
        let (blocks, rest) = self.from.as_chunks::<BLOCK>();
        let (places, rest_place) = self.to.as_chunks_mut::<BLOCK>();
        if !blocks.is_empty() {
            stages.begin(machine);
            for (from, to) in blocks.iter().zip(places) {
                let mut block = Block::load(machine, from);
                stages.block(machine, &mut block);
                block.store(machine, to);
            }
            stages.end(machine);
        }
        rest_place.copy_from_slice(rest);
        stages.rest(machine, rest_place);
        *self.stages = stages;
    }
}

impl<S: Stage> Loop for InPlacePass<'_, S> {
    #[inline(always)]
    fn on<M: Machine>(self, machine: M) {
        let mut stages = self.stages.clone();
        let (blocks, rest) = self.data.as_chunks_mut::<BLOCK>();
        if !blocks.is_empty() {
            stages.begin(machine);
            for place in blocks {
                let mut block = Block::load(machine, place);
                stages.block(machine, &mut block);
                block.store(machine, place);
            }
            stages.end(machine);
        }
        stages.rest(machine, rest);
        *self.stages = stages;
    }
}

impl<S: Stage> Loop for LookPass<'_, S> {
    #[inline(always)]
    fn on<M: Machine>(self, machine: M) {
        let mut stages = self.stages.clone();
        let (blocks, rest) = self.data.as_chunks::<BLOCK>();
        if !blocks.is_empty() {
            stages.begin(machine);
            for from in blocks {
                stages.block(machine, &mut Block::load(machine, from));
            }
            stages.end(machine);
        }
        let mut copy = [0; BLOCK];
        let copy = &mut copy[..rest.len()];
        copy.copy_from_slice(rest);
        stages.rest(machine, copy);
        *self.stages = stages;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::manipulate::{Checksum, Crc32c, Swap, Xor};

    type All = (Checksum, Swap<2>, Crc32c, (Swap<4>, Xor, Swap<8>, Checksum));

    fn all() -> All {
        let later = (Swap::<4>, Xor::new(*b"mask 123"), Swap::<8>, Checksum::default());
        (Checksum::default(), Swap::<2>, Crc32c::default(), later)
    }

    /// The results of all three loops on a machine.
    fn results(machine: impl Machine, data: &[u8]) -> [(Vec<u8>, u16, u32, u16); 3] {
        let of = |stages: &All, data: Vec<u8>| (data, stages.0.sum(), stages.2.value(), stages.3.3.sum());
        let (mut copied, mut changed) = (vec![0; data.len()], data.to_vec());
        let [mut copy, mut in_place, mut look] = [all(), all(), all()];
        CopyPass { stages: &mut copy, from: data, to: &mut copied }.on(machine);
        InPlacePass { stages: &mut in_place, data: &mut changed }.on(machine);
        LookPass { stages: &mut look, data }.on(machine);
        let seen = copied.clone();
        [of(&copy, copied), of(&in_place, changed), of(&look, seen)]
    }

    proptest! {
        #[test]
        fn every_machine_gives_the_same(data in proptest::collection::vec(any::<u8>(), 0..700)) {
            let plain = results(Plain, &data);
            prop_assert_eq!(&plain[0], &plain[1]);
            prop_assert_eq!(&plain[0], &plain[2]);
            #[cfg(target_arch = "x86_64")]
            {
                use crate::manipulate::machine::x86::{Avx2, Avx2Wide};
                if let Some(machine) = Avx2::detect() {
                    prop_assert_eq!(&plain, &results(machine, &data));
                }
                if let Some(machine) = Avx2Wide::detect() {
                    prop_assert_eq!(&plain, &results(machine, &data));
                }
            }
        }
    }
}
