//! Stages composed at run time.

use super::{Checksum, Crc32c, PIECE, Stage, Swap, Xor, copy, in_place};

/// One manipulation of a [`Program`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Manipulation {
    /// [`Checksum`].
    Checksum,
    /// [`Crc32c`].
    Crc32c,
    /// [`Swap`] of words of two bytes.
    Swap16,
    /// [`Swap`] of words of four bytes.
    Swap32,
    /// [`Swap`] of words of eight bytes.
    Swap64,
    /// [`Xor`] with this mask.
    Xor([u8; 8]),
    /// ChaCha20 with this key and nonce: [`Cipher`](super::Cipher).
    #[cfg(feature = "ciphers")]
    ChaCha20 {
        /// The key.
        key: [u8; 32],
        /// The nonce.
        nonce: [u8; 12],
    },
}

/// What a pass has found out; each the last of its kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// [`Checksum::sum`].
    pub checksum: Option<u16>,
    /// [`Crc32c::value`].
    pub crc32c: Option<u32>,
}

/// Something that runs over data as a whole, piece after piece. Pieces before the last have multiples of 64 bytes.
pub trait Pass: Send {
    /// Over data on its way to another place.
    ///
    /// # Panics
    /// If the places have different lengths.
    fn copy(&mut self, from: &[u8], to: &mut [u8]);

    /// Over data that stays.
    fn in_place(&mut self, data: &mut [u8]);

    /// Adds what it has found out.
    fn sums(&self, sums: &mut Sums);
}

/// A list of manipulations, run in this order over data on its way to another place.
///
/// One pass for: nothing; any single one but the cipher; a sum before or after a swap; both sums, also before a swap; a sum
/// behind a mask. Other lists go in pieces of 4 KiB, each through all passes before the next piece.
pub struct Program(Vec<Box<dyn Pass>>);

impl Program {
    /// Composes it; this allocates, running it does not.
    pub fn new(list: &[Manipulation]) -> Self {
        Self(compose(list))
    }

    /// Whether it is one pass.
    pub fn is_fused(&self) -> bool {
        self.0.len() == 1
    }

    /// Runs it. Further runs continue the sums and the cipher, if the lengths of all runs but the last are multiples of 64.
    ///
    /// # Panics
    /// If the places have different lengths.
    pub fn copy(&mut self, from: &[u8], to: &mut [u8]) {
        assert_eq!(from.len(), to.len(), "data to be copied to a place of another length");
        match &mut self.0[..] {
            [one] => one.copy(from, to),
            [first, others @ ..] => {
                for (from, to) in from.chunks(PIECE).zip(to.chunks_mut(PIECE)) {
                    first.copy(from, to);
                    others.iter_mut().for_each(|pass| pass.in_place(to));
                }
            }
            [] => to.copy_from_slice(from),
        }
    }

    /// What has been found out so far.
    pub fn sums(&self) -> Sums {
        let mut sums = Sums::default();
        self.0.iter().for_each(|pass| pass.sums(&mut sums));
        sums
    }
}

/// The list as one pass if it is a usual one, else as one for each.
fn compose(list: &[Manipulation]) -> Vec<Box<dyn Pass>> {
    use Manipulation as M;
    let (sum, crc) = (Checksum::default(), Crc32c::default());
    let one: Box<dyn Pass> = match *list {
        [] => Box::new(Fused(())),
        [single] => alone(single),
        [M::Checksum, M::Swap16] => Box::new(Fused((sum, Swap::<2>))),
        [M::Checksum, M::Swap32] => Box::new(Fused((sum, Swap::<4>))),
        [M::Checksum, M::Swap64] => Box::new(Fused((sum, Swap::<8>))),
        [M::Crc32c, M::Swap16] => Box::new(Fused((crc, Swap::<2>))),
        [M::Crc32c, M::Swap32] => Box::new(Fused((crc, Swap::<4>))),
        [M::Crc32c, M::Swap64] => Box::new(Fused((crc, Swap::<8>))),
        [M::Swap16, M::Checksum] => Box::new(Fused((Swap::<2>, sum))),
        [M::Swap32, M::Checksum] => Box::new(Fused((Swap::<4>, sum))),
        [M::Swap64, M::Checksum] => Box::new(Fused((Swap::<8>, sum))),
        [M::Swap16, M::Crc32c] => Box::new(Fused((Swap::<2>, crc))),
        [M::Swap32, M::Crc32c] => Box::new(Fused((Swap::<4>, crc))),
        [M::Swap64, M::Crc32c] => Box::new(Fused((Swap::<8>, crc))),
        [M::Checksum, M::Crc32c] => Box::new(Fused((sum, crc))),
        [M::Checksum, M::Crc32c, M::Swap16] => Box::new(Fused((sum, crc, Swap::<2>))),
        [M::Checksum, M::Crc32c, M::Swap32] => Box::new(Fused((sum, crc, Swap::<4>))),
        [M::Checksum, M::Crc32c, M::Swap64] => Box::new(Fused((sum, crc, Swap::<8>))),
        [M::Xor(mask), M::Checksum] => Box::new(Fused((Xor::new(mask), sum))),
        [M::Xor(mask), M::Crc32c] => Box::new(Fused((Xor::new(mask), crc))),
        _ => return list.iter().copied().map(alone).collect(),
    };
    vec![one]
}

fn alone(manipulation: Manipulation) -> Box<dyn Pass> {
    match manipulation {
        Manipulation::Checksum => Box::new(Fused(Checksum::default())),
        Manipulation::Crc32c => Box::new(Fused(Crc32c::default())),
        Manipulation::Swap16 => Box::new(Fused(Swap::<2>)),
        Manipulation::Swap32 => Box::new(Fused(Swap::<4>)),
        Manipulation::Swap64 => Box::new(Fused(Swap::<8>)),
        Manipulation::Xor(mask) => Box::new(Fused(Xor::new(mask))),
        #[cfg(feature = "ciphers")]
        Manipulation::ChaCha20 { key, nonce } => Box::new(super::Cipher::new(&key, &nonce)),
    }
}

/// Stages as a pass.
struct Fused<S>(S);

impl<S: Stage + Tell + Send> Pass for Fused<S> {
    fn copy(&mut self, from: &[u8], to: &mut [u8]) {
        copy(&mut self.0, from, to);
    }

    fn in_place(&mut self, data: &mut [u8]) {
        in_place(&mut self.0, data);
    }

    fn sums(&self, sums: &mut Sums) {
        self.0.tell(sums);
    }
}

/// What stages have found out.
trait Tell {
    fn tell(&self, _sums: &mut Sums) {}
}

impl Tell for () {}
impl Tell for Xor {}
impl<const WIDTH: usize> Tell for Swap<WIDTH> {}

impl Tell for Checksum {
    fn tell(&self, sums: &mut Sums) {
        sums.checksum = Some(self.sum());
    }
}

impl Tell for Crc32c {
    fn tell(&self, sums: &mut Sums) {
        sums.crc32c = Some(self.value());
    }
}

impl<A: Tell, B: Tell> Tell for (A, B) {
    fn tell(&self, sums: &mut Sums) {
        self.0.tell(sums);
        self.1.tell(sums);
    }
}

impl<A: Tell, B: Tell, C: Tell> Tell for (A, B, C) {
    fn tell(&self, sums: &mut Sums) {
        self.0.tell(sums);
        self.1.tell(sums);
        self.2.tell(sums);
    }
}
