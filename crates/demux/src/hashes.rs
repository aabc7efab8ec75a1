//! Hash functions of keys: the default, which nobody can foresee, and those of the literature to compare it with.

use core::{
    fmt,
    hash::{BuildHasher, Hash, Hasher},
};

use foldhash::{SharedSeed, fast::FoldHasher};

use crate::{
    choice::by_name,
    mix::{FACTOR, spread},
};

/// A hash function of keys. Any [`BuildHasher`] is one; the default is [`Keyed`].
pub trait KeyHash {
    /// The hash of `key`.
    fn hash<K: Hash + ?Sized>(&self, key: &K) -> u64;

    /// 32 bits of it that tables choose a chain by; unless a function knows better, both halves of it combined.
    #[inline(always)]
    fn hash32<K: Hash + ?Sized>(&self, key: &K) -> u32 {
        let hash = self.hash(key);
        (hash ^ hash >> 32) as u32
    }
}

impl<B: BuildHasher> KeyHash for B {
    #[inline(always)]
    fn hash<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.hash_one(key)
    }
}

/// A hash function of its own for every seed: who does not know the seed can't choose keys that collide.
///
/// It is no [`BuildHasher`] because both of foldhash's seeds are secret here, and are lent to each hasher.
#[derive(Clone)]
pub struct Keyed {
    seed: u64,
    shared: SharedSeed,
}

impl Keyed {
    /// The function of this seed. It must be unknown to whoever chooses the keys.
    pub fn new(seed: u64) -> Self {
        // Short keys are multiplied by little more than the seed, so it must not be a small number; nor 0, which `spread`
        // makes of one seed as well.
        let large = |seed| match spread(seed) {
            0 => spread(1),
            spread => spread,
        };
        Self { seed: large(seed), shared: SharedSeed::from_u64(large(!seed)) }
    }

    /// The function of a seed from the operating system.
    ///
    /// # Panics
    /// When the system has no randomness to give.
    #[cfg(feature = "getrandom")]
    pub fn random() -> Self {
        Self::new(crate::NonceSource::next_nonce(&mut crate::OsNonces::default()))
    }

    #[inline(always)]
    pub(crate) fn hash_bytes(&self, key: &[u8]) -> u64 {
        let mut hasher = FoldHasher::with_seed(self.seed, &self.shared);
        hasher.write(key);
        hasher.finish()
    }
}

impl KeyHash for Keyed {
    #[inline(always)]
    fn hash<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        let mut hasher = FoldHasher::with_seed(self.seed, &self.shared);
        key.hash(&mut hasher);
        hasher.finish()
    }

    /// From the middle of one more product: its halves combined would be a sum of products, which under one seed in fifty lies
    /// badly for keys whose own halves are alike.
    #[inline(always)]
    fn hash32<K: Hash + ?Sized>(&self, key: &K) -> u32 {
        let product = u128::from(KeyHash::hash(self, key)) * u128::from(FACTOR);
        (product >> 56) as u32
    }
}

impl fmt::Debug for Keyed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keyed(..)")
    }
}

/// A hash function with nothing secret in it, made anew for every key.
macro_rules! plain_hash {
    ($(#[$doc:meta])* $name:ident, $hasher:ident = $start:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $name;

        impl BuildHasher for $name {
            type Hasher = $hasher;

            #[inline(always)]
            fn build_hasher(&self) -> $hasher {
                $start
            }
        }
    };
}

plain_hash! {
    /// XOR of the key's 16-bit words: what routers of the eighties did.
    XorFold, XorFoldHasher = XorFoldHasher { sum: 0, odd: false }
}
plain_hash! {
    /// CRC-32 of Ethernet, a table look-up per byte.
    Crc32, Crc32Hasher = Crc32Hasher(!0)
}
plain_hash! {
    /// FNV-1a of 64 bits, a multiplication per byte (Fowler, Noll and Vo).
    Fnv1a, Fnv1aHasher = Fnv1aHasher(0xcbf2_9ce4_8422_2325)
}
plain_hash! {
    /// Multiplication by the golden ratio, once per word of up to 64 bits (Knuth).
    Multiplicative, MultiplicativeHasher = MultiplicativeHasher(0)
}

/// See [`XorFold`].
#[derive(Clone, Copy, Debug)]
pub struct XorFoldHasher {
    sum: u16,
    odd: bool,
}

impl Hasher for XorFoldHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.sum ^= u16::from(byte) << if self.odd { 0 } else { 8 };
            self.odd = !self.odd;
        }
    }

    #[inline(always)]
    fn write_u16(&mut self, word: u16) {
        let word = word.to_be();
        self.sum ^= if self.odd { word.swap_bytes() } else { word };
    }

    #[inline(always)]
    fn write_u32(&mut self, word: u32) {
        self.write_u16(word as u16 ^ (word >> 16) as u16);
    }

    #[inline(always)]
    fn write_u64(&mut self, word: u64) {
        self.write_u32(word as u32 ^ (word >> 32) as u32);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.sum.into()
    }
}

/// See [`Crc32`].
#[derive(Clone, Copy, Debug)]
pub struct Crc32Hasher(u32);

const CRC32_TABLE: [u32; 256] = crc32_table();

const fn crc32_table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 0 { crc >> 1 } else { crc >> 1 ^ 0xedb8_8320 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
}

impl Hasher for Crc32Hasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0 >> 8 ^ CRC32_TABLE[(self.0 as u8 ^ byte) as usize];
        }
    }

    #[inline]
    fn finish(&self) -> u64 {
        (!self.0).into()
    }
}

/// See [`Fnv1a`].
#[derive(Clone, Copy, Debug)]
pub struct Fnv1aHasher(u64);

impl Hasher for Fnv1aHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

/// See [`Multiplicative`].
#[derive(Clone, Copy, Debug)]
pub struct MultiplicativeHasher(u64);

impl MultiplicativeHasher {
    #[inline(always)]
    fn add(&mut self, word: u64) {
        self.0 = self.0.rotate_left(5).wrapping_add(word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl Hasher for MultiplicativeHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.add(u64::from_le_bytes(word));
        }
    }

    #[inline(always)]
    fn write_u16(&mut self, word: u16) {
        self.add(word.into());
    }

    #[inline(always)]
    fn write_u32(&mut self, word: u32) {
        self.add(word.into());
    }

    #[inline(always)]
    fn write_u64(&mut self, word: u64) {
        self.add(word);
    }

    /// The upper half, where the multiplication mixed best.
    #[inline(always)]
    fn finish(&self) -> u64 {
        self.0 >> 32
    }
}

/// The choice of a hash function by configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum HashKind {
    /// [`Keyed`], the default.
    #[default]
    Keyed,
    /// [`XorFold`].
    XorFold,
    /// [`Crc32`].
    Crc32,
    /// [`Fnv1a`].
    Fnv1a,
    /// [`Multiplicative`].
    Multiplicative,
}

impl HashKind {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Keyed, Self::XorFold, Self::Crc32, Self::Fnv1a, Self::Multiplicative];

    /// The name used in configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Keyed => "keyed",
            Self::XorFold => "xor",
            Self::Crc32 => "crc32",
            Self::Fnv1a => "fnv",
            Self::Multiplicative => "multiplicative",
        }
    }

    /// The function; only [`Keyed`](Self::Keyed) uses the seed.
    pub fn with_seed(self, seed: u64) -> AnyHash {
        match self {
            Self::Keyed => AnyHash::Keyed(Keyed::new(seed)),
            Self::XorFold => AnyHash::XorFold(XorFold),
            Self::Crc32 => AnyHash::Crc32(Crc32),
            Self::Fnv1a => AnyHash::Fnv1a(Fnv1a),
            Self::Multiplicative => AnyHash::Multiplicative(Multiplicative),
        }
    }
}

by_name!(HashKind, UnknownHash, "hash function");

/// A hash function chosen at run time.
#[derive(Clone, Debug)]
pub enum AnyHash {
    /// See [`Keyed`].
    Keyed(Keyed),
    /// See [`XorFold`].
    XorFold(XorFold),
    /// See [`Crc32`].
    Crc32(Crc32),
    /// See [`Fnv1a`].
    Fnv1a(Fnv1a),
    /// See [`Multiplicative`].
    Multiplicative(Multiplicative),
}

impl KeyHash for AnyHash {
    #[inline]
    fn hash<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        match self {
            Self::Keyed(hash) => hash.hash(key),
            Self::XorFold(hash) => KeyHash::hash(hash, key),
            Self::Crc32(hash) => KeyHash::hash(hash, key),
            Self::Fnv1a(hash) => KeyHash::hash(hash, key),
            Self::Multiplicative(hash) => KeyHash::hash(hash, key),
        }
    }

    #[inline]
    fn hash32<K: Hash + ?Sized>(&self, key: &K) -> u32 {
        match self {
            Self::Keyed(hash) => hash.hash32(key),
            Self::XorFold(hash) => hash.hash32(key),
            Self::Crc32(hash) => hash.hash32(key),
            Self::Fnv1a(hash) => hash.hash32(key),
            Self::Multiplicative(hash) => hash.hash32(key),
        }
    }
}

#[cfg(test)]
mod tests {
    use core::net::Ipv4Addr;

    use super::*;
    use crate::Ipv4Flow;

    #[test]
    #[cfg_attr(miri, ignore = "slow")]
    fn no_seed_is_weak() {
        for seed in [0, 1, u64::MAX - 1, u64::MAX] {
            let hash = Keyed::new(seed);
            let mut bins = [0; 256];
            for n in 0..25_600_u64 {
                let flow = Ipv4Flow::new(Ipv4Addr::from(n as u32), 80, Ipv4Addr::LOCALHOST, 443, 6);
                bins[(KeyHash::hash(&hash, &flow) >> 56) as usize] += 1;
            }
            // 100 each, with a deviation of 10.
            assert!(bins.iter().all(|n| (40..170).contains(n)), "{seed}: {bins:?}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "slow")]
    fn xor_of_words_is_that_of_their_bytes() {
        let bytes: [u8; 8] = core::array::from_fn(|n| 31 * n as u8 + 5);
        for before in [&[][..], &[9]] {
            let [mut by_bytes, mut by_words] = [(); 2].map(|()| XorFold.build_hasher());
            by_bytes.write(before);
            by_bytes.write(&bytes);
            by_words.write(before);
            by_words.write_u64(u64::from_ne_bytes(bytes));
            assert_eq!(by_bytes.finish(), by_words.finish());
        }
    }
}
