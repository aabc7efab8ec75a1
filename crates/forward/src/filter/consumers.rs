//! Sets of consumers.

/// Whoever gets the frames that a filter wants: a small number, by which a set finds it. Bits are kept up to the highest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Consumer(pub u16);

const BITS: usize = u64::BITS as usize;

impl Consumer {
    /// Words that a set needs in which this one may be.
    pub(super) fn words(self) -> usize {
        usize::from(self.0) / BITS + 1
    }

    #[inline]
    pub(super) fn put_in(self, words: &mut [u64]) {
        words[usize::from(self.0) / BITS] |= self.bit();
    }

    #[inline]
    pub(super) fn is_in(self, words: &[u64]) -> bool {
        words.get(usize::from(self.0) / BITS).is_some_and(|word| word & self.bit() != 0)
    }

    #[inline]
    fn bit(self) -> u64 {
        1 << (usize::from(self.0) % BITS)
    }
}

/// The consumers of a frame.
#[derive(Clone, Copy, Debug)]
pub struct Consumers<'a> {
    words: &'a [u64],
}

impl<'a> Consumers<'a> {
    pub(super) fn of(words: &'a [u64]) -> Self {
        Self { words }
    }

    /// Whether nobody wants the frame.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// How many there are.
    pub fn len(self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether this one wants the frame.
    #[inline]
    pub fn contains(self, consumer: Consumer) -> bool {
        consumer.is_in(self.words)
    }

    /// All of them, in the order of their numbers.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = Consumer> + 'a {
        self.words
            .iter()
            .enumerate()
            .flat_map(|(n, word)| bits(*word).map(move |bit| Consumer((n * BITS) as u16 + bit)))
    }
}

/// The numbers of the bits that are 1.
fn bits(word: u64) -> impl Iterator<Item = u16> {
    let mut left = word;
    std::iter::from_fn(move || {
        let bit = left.trailing_zeros();
        left &= left.checked_sub(1)?;
        Some(bit as u16)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_what_was_put_into_it() {
        let mut words = [0; 1024];
        assert!(Consumers::of(&words).is_empty());
        let all = [0, 1, 63, 64, 1000, 65_535].map(Consumer);
        for consumer in all {
            assert!(!Consumers::of(&words).contains(consumer));
            assert!(consumer.words() <= words.len());
            consumer.put_in(&mut words);
        }
        let set = Consumers::of(&words);
        assert_eq!((set.iter().collect::<Vec<_>>(), set.len()), (all.to_vec(), all.len()));
        assert!(!Consumers::of(&words[..1]).contains(Consumer(64)));
    }
}
