//! Which of the latest sequence numbers have come (RFC 4303, 3.4.3).

const WORDS: usize = 16;
/// Numbers that may come late: so many below the highest.
pub(crate) const WINDOW: u64 = (WORDS as u64 - 1) * 64;

/// A ring of bits, in whole words, so that nothing is shifted (RFC 6479).
#[derive(Debug, Default)]
pub(crate) struct Window {
    highest: u64,
    words: [u64; WORDS],
}

impl Window {
    /// Whether this number may come: it is not 0, has not come, and is not so old that nobody knows.
    #[inline]
    pub fn allows(&self, number: u64) -> bool {
        if number > self.highest {
            return true;
        }
        let (word, bit) = place(number);
        number != 0 && self.highest - number < WINDOW && self.words[word] & bit == 0
    }

    /// Notes that an allowed number has come.
    #[inline]
    pub fn note(&mut self, number: u64) {
        if number > self.highest {
            let passed = (number / 64 - self.highest / 64).min(WORDS as u64);
            for ahead in 0..passed {
                self.words[(number / 64 - ahead) as usize % WORDS] = 0;
            }
            self.highest = number;
        }
        let (word, bit) = place(number);
        self.words[word] |= bit;
    }
}

#[inline]
fn place(number: u64) -> (usize, u64) {
    ((number / 64) as usize % WORDS, 1 << (number % 64))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn at_the_ends() {
        let mut window = Window::default();
        assert!(!window.allows(0) && window.allows(1) && window.allows(u64::MAX));
        window.note(u64::MAX);
        assert!(!window.allows(u64::MAX) && !window.allows(u64::MAX - WINDOW) && !window.allows(0));
        assert!(window.allows(u64::MAX - WINDOW + 1));
    }

    proptest! {
        /// Steps forwards and backwards, small and large, beside a set that forgets nothing.
        #[test]
        fn as_a_set(steps in prop::collection::vec(prop_oneof![-70..90_i64, -1100..1100_i64, -5000..9000_i64], 1..400)) {
            let (mut window, mut came, mut highest, mut at) = (Window::default(), HashSet::new(), 0_u64, 1_i64);
            for step in steps {
                at = (at + step).max(0);
                let number = at as u64;
                let expected = number != 0 && number + WINDOW > highest && !came.contains(&number);
                prop_assert_eq!(window.allows(number), expected, "{} of {}", number, highest);
                if expected {
                    window.note(number);
                    came.insert(number);
                    highest = highest.max(number);
                }
            }
        }
    }
}
