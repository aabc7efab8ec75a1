//! The instructions that stages are made of, on machines that have them and on those that don't.

/// 64 bytes in registers.
#[derive(Clone, Copy, Debug)]
pub struct Block<M: Machine>(pub [M::Vector; 2]);

/// 32 bytes kept from block to block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(32))]
pub struct Lanes(pub [u64; 4]);

/// A set of instructions on vectors of 32 bytes. A value of it is the proof that the processor has them.
pub trait Machine: Copy + Sealed {
    /// 32 bytes.
    type Vector: Copy;

    /// From memory.
    fn load(self, from: &[u8; 32]) -> Self::Vector;
    /// To memory.
    fn store(self, vector: Self::Vector, to: &mut [u8; 32]);
    /// As four numbers, the first byte the least significant.
    fn lanes(self, vector: Self::Vector) -> Lanes;
    /// From four numbers.
    fn vector(self, lanes: Lanes) -> Self::Vector;
    /// Bit by bit.
    fn xor(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// Four numbers of 64 bits, each modulo 2^64.
    fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// The upper halves of four numbers of 64 bits.
    fn high(self, vector: Self::Vector) -> Self::Vector;
    /// The bytes of each word of 2, 4 or 8 in reverse.
    fn swap<const WIDTH: usize>(self, vector: Self::Vector) -> Self::Vector;
    /// For each half: its first number times the first factor, plus its second times the second, as polynomials; `None` where
    /// the machine has no instructions for that.
    fn fold(self, vector: Self::Vector, factors: [u64; 2]) -> Option<Self::Vector>;
    /// The CRC-32C register after eight bytes more, where there is an instruction for it.
    fn crc(self, register: u32, bytes: u64) -> Option<u32>;
}

/// Only processors know what instructions there are.
pub trait Sealed {}

impl<M: Machine> Block<M> {
    #[inline(always)]
    pub(super) fn load(machine: M, from: &[u8; 64]) -> Self {
        let [a, b] = halves(from);
        Self([machine.load(a), machine.load(b)])
    }

    #[inline(always)]
    pub(super) fn store(self, machine: M, to: &mut [u8; 64]) {
        let [first, second] = self.0;
        let (places, _) = to.as_chunks_mut();
        machine.store(first, &mut places[0]);
        machine.store(second, &mut places[1]);
    }
}

#[inline(always)]
fn halves(bytes: &[u8; 64]) -> [&[u8; 32]; 2] {
    let (halves, _) = bytes.as_chunks();
    [&halves[0], &halves[1]]
}

/// No instructions but those that all processors have.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

impl Sealed for Plain {}

impl Machine for Plain {
    type Vector = Lanes;

    #[inline(always)]
    fn load(self, from: &[u8; 32]) -> Lanes {
        let (words, _) = from.as_chunks();
        Lanes([0, 1, 2, 3].map(|n| u64::from_le_bytes(words[n])))
    }

    #[inline(always)]
    fn store(self, vector: Lanes, to: &mut [u8; 32]) {
        let (words, _) = to.as_chunks_mut();
        words.iter_mut().zip(vector.0).for_each(|(to, lane)| *to = lane.to_le_bytes());
    }

    #[inline(always)]
    fn lanes(self, vector: Lanes) -> Lanes {
        vector
    }

    #[inline(always)]
    fn vector(self, lanes: Lanes) -> Lanes {
        lanes
    }

    #[inline(always)]
    fn xor(self, a: Lanes, b: Lanes) -> Lanes {
        Lanes([0, 1, 2, 3].map(|n| a.0[n] ^ b.0[n]))
    }

    #[inline(always)]
    fn add(self, a: Lanes, b: Lanes) -> Lanes {
        Lanes([0, 1, 2, 3].map(|n| a.0[n].wrapping_add(b.0[n])))
    }

    #[inline(always)]
    fn high(self, vector: Lanes) -> Lanes {
        Lanes(vector.0.map(|lane| lane >> 32))
    }

    #[inline(always)]
    fn swap<const WIDTH: usize>(self, vector: Lanes) -> Lanes {
        Lanes(vector.0.map(|lane| {
            let whole = lane.swap_bytes();
            match WIDTH {
                8 => whole,
                4 => whole.rotate_left(32),
                _ => ((lane & 0x00ff_00ff_00ff_00ff) << 8) | ((lane >> 8) & 0x00ff_00ff_00ff_00ff),
            }
        }))
    }

    #[inline(always)]
    fn fold(self, _: Lanes, _: [u64; 2]) -> Option<Lanes> {
        None
    }

    #[inline(always)]
    fn crc(self, _: u32, _: u64) -> Option<u32> {
        None
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) mod x86 {
    use std::arch::x86_64::{
        __m128i, __m256i, _mm_clmulepi64_si128, _mm_crc32_u64, _mm_set_epi64x, _mm_xor_si128,
        _mm256_add_epi64, _mm256_broadcastsi128_si256, _mm256_castsi256_si128, _mm256_clmulepi64_epi128,
        _mm256_extracti128_si256, _mm256_loadu_si256, _mm256_set_m128i, _mm256_setr_epi8,
        _mm256_shuffle_epi8, _mm256_srli_epi64, _mm256_storeu_si256, _mm256_xor_si256,
    };

    use super::{Lanes, Machine, Sealed};

    /// AVX2, and carry-less multiplication of 16 bytes: since about 2013.
    #[derive(Clone, Copy, Debug)]
    pub struct Avx2(());

    /// The same of 32 bytes: since about 2020.
    #[derive(Clone, Copy, Debug)]
    pub struct Avx2Wide(());

    impl Avx2 {
        pub fn detect() -> Option<Self> {
            let has = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("pclmulqdq")
                && is_x86_feature_detected!("sse4.2");
            has.then_some(Self(()))
        }
    }

    impl Avx2Wide {
        pub fn detect() -> Option<Self> {
            Avx2::detect().filter(|_| is_x86_feature_detected!("vpclmulqdq")).map(|_| Self(()))
        }
    }

    impl Sealed for Avx2 {}
    impl Sealed for Avx2Wide {}

    /// The order of bytes that reverses those of each word.
    #[inline(always)]
    fn order<const WIDTH: usize>() -> [i8; 16] {
        let mut order = [0; 16];
        for (n, place) in order.iter_mut().enumerate() {
            *place = (n / WIDTH * WIDTH + (WIDTH - 1 - n % WIDTH)) as i8;
        }
        order
    }

    #[inline(always)]
    fn fold_one(half: __m128i, factors: [u64; 2]) -> __m128i {
        // SAFETY: only the machines below call this, and each is the proof that there are SSE2 and PCLMULQDQ.
        unsafe {
            let factors = _mm_set_epi64x(factors[1] as i64, factors[0] as i64);
            _mm_xor_si128(
                _mm_clmulepi64_si128::<0x00>(half, factors),
                _mm_clmulepi64_si128::<0x11>(half, factors),
            )
        }
    }

    #[inline(always)]
    fn fold_halves(vector: __m256i, factors: [u64; 2]) -> __m256i {
        // SAFETY: as above, with AVX2.
        unsafe {
            let low = fold_one(_mm256_castsi256_si128(vector), factors);
            let high = fold_one(_mm256_extracti128_si256::<1>(vector), factors);
            _mm256_set_m128i(high, low)
        }
    }

    #[inline(always)]
    fn fold_whole(vector: __m256i, factors: [u64; 2]) -> __m256i {
        // SAFETY: only `Avx2Wide` calls this, which is the proof that there are AVX2 and VPCLMULQDQ.
        unsafe {
            let factors = _mm_set_epi64x(factors[1] as i64, factors[0] as i64);
            let factors = _mm256_broadcastsi128_si256(factors);
            _mm256_xor_si256(
                _mm256_clmulepi64_epi128::<0x00>(vector, factors),
                _mm256_clmulepi64_epi128::<0x11>(vector, factors),
            )
        }
    }

    macro_rules! machine {
        ($name:ident, $fold:ident) => {
            impl Machine for $name {
                type Vector = __m256i;

                #[inline(always)]
                fn load(self, from: &[u8; 32]) -> __m256i {
                    // SAFETY: 32 bytes at any address; `self` is the proof that there is AVX2, here and below.
                    unsafe { _mm256_loadu_si256(from.as_ptr().cast()) }
                }

                #[inline(always)]
                fn store(self, vector: __m256i, to: &mut [u8; 32]) {
                    // SAFETY: 32 bytes at any address.
                    unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), vector) };
                }

                #[inline(always)]
                fn lanes(self, vector: __m256i) -> Lanes {
                    let mut lanes = Lanes::default();
                    // SAFETY: lanes are 32 bytes.
                    unsafe { _mm256_storeu_si256((&raw mut lanes).cast(), vector) };
                    lanes
                }

                #[inline(always)]
                fn vector(self, lanes: Lanes) -> __m256i {
                    // SAFETY: lanes are 32 bytes.
                    unsafe { _mm256_loadu_si256((&raw const lanes).cast()) }
                }

                #[inline(always)]
                fn xor(self, a: __m256i, b: __m256i) -> __m256i {
                    // SAFETY: there is AVX2.
                    unsafe { _mm256_xor_si256(a, b) }
                }

                #[inline(always)]
                fn add(self, a: __m256i, b: __m256i) -> __m256i {
                    // SAFETY: there is AVX2.
                    unsafe { _mm256_add_epi64(a, b) }
                }

                #[inline(always)]
                fn high(self, vector: __m256i) -> __m256i {
                    // SAFETY: there is AVX2.
                    unsafe { _mm256_srli_epi64::<32>(vector) }
                }

                #[inline(always)]
                fn swap<const WIDTH: usize>(self, vector: __m256i) -> __m256i {
                    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = order::<WIDTH>();
                    // SAFETY: there is AVX2.
                    unsafe {
                        let order = _mm256_setr_epi8(
                            a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, a, b, c, d, e, f, g, h, i, j, k,
                            l, m, n, o, p,
                        );
                        _mm256_shuffle_epi8(vector, order)
                    }
                }

                #[inline(always)]
                fn fold(self, vector: __m256i, factors: [u64; 2]) -> Option<__m256i> {
                    Some($fold(vector, factors))
                }

                #[inline(always)]
                fn crc(self, register: u32, bytes: u64) -> Option<u32> {
                    // SAFETY: there is SSE 4.2.
                    Some(unsafe { _mm_crc32_u64(u64::from(register), bytes) } as u32)
                }
            }
        };
    }

    machine!(Avx2, fold_halves);
    machine!(Avx2Wide, fold_whole);
}
