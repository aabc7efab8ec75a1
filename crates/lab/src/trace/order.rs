//! At which place of a list an entry is, without walking the list.
//!
//! Entries have positions in the order of their coming to the front; a position is one bit. How many entries lie before
//! one is the number of bits below its position: those in its word, and those before its word, before its block and
//! before its group, which are kept. The last entry leaves most often, since flows are over when nobody has used them for
//! long: its bit stays, and counts as before, but what is below `lowest` is taken from every count.

use std::num::Wrapping;
use std::ops::SubAssign;

use throughline_demux::prefetch;

/// Positions of a word.
const WORD: usize = 64;
/// Positions of a block: 64 words.
const BLOCK: usize = 64 * WORD;
/// Positions of a group: 64 blocks.
const GROUP: usize = 64 * BLOCK;

/// What is taken from the counts of 64 words or blocks: nothing from those up to one of them, 1 from those that follow.
static WORDS: [Wrapping<u16>; 128] = steps(Wrapping(0), Wrapping(1));
static BLOCKS: [Wrapping<u32>; 128] = steps(Wrapping(0), Wrapping(1));

/// 64 times the one, then 64 times the other.
const fn steps<T: Copy>(first: T, then: T) -> [T; 128] {
    let mut steps = [first; 128];
    let mut at = 64;
    while at < 128 {
        steps[at] = then;
        at += 1;
    }
    steps
}

/// A list of slots, newest first. Whoever keeps slots in it keeps the position of each, too.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// Which slot is, or was, at each position.
    slots: Vec<u32>,
    words: Vec<u64>,
    /// Bits before each word in its block, before each block in its group, and before each group.
    before_word: Vec<Wrapping<u16>>,
    before_block: Vec<Wrapping<u32>>,
    before_group: Vec<u32>,
    /// The position for the next that comes to the front.
    next: usize,
    /// No entry is at a lower position, whatever the bits there are.
    lowest: usize,
    /// Bits at lower positions.
    gone: usize,
    len: usize,
}

impl Order {
    /// How many slots are in the list.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Which place is at a position: 1 for the newest.
    #[inline]
    pub(super) fn place(&self, position: u32) -> usize {
        self.len + self.gone - self.before(position as usize)
    }

    /// Reads what [`place`](Self::place) will need first.
    #[inline]
    pub(super) fn peek(&self, position: u32) -> u64 {
        self.words.get(position as usize / WORD).copied().unwrap_or(0)
    }

    /// Puts a slot to the front, where it was not in the list, and returns its position; `moved` is told positions of
    /// slots that change.
    #[inline]
    pub(super) fn push(&mut self, slot: u32, moved: impl FnMut(u32, u32)) -> u32 {
        if self.next == self.slots.len() {
            self.tidy(moved);
        }
        self.append(slot)
    }

    /// Takes out the slot at a position.
    #[inline]
    pub(super) fn take(&mut self, position: u32) {
        let at = position as usize;
        self.len -= 1;
        if at == self.lowest {
            self.lowest += 1;
            self.gone += 1;
            return;
        }
        self.words[at / WORD] &= !(1 << (at % WORD));
        let last = self.next - 1;
        less(&mut self.before_word, at / WORD, &WORDS);
        less(&mut self.before_block, at / BLOCK, &BLOCKS);
        self.before_group[at / GROUP + 1..=last / GROUP].iter_mut().for_each(|count| *count -= 1);
    }

    /// The last slot of the list.
    pub(super) fn oldest(&mut self) -> Option<u32> {
        if self.len == 0 {
            return None;
        }
        while self.rest_of_word() == 0 {
            self.lowest = (self.lowest / WORD + 1) * WORD;
        }
        self.lowest += self.rest_of_word().trailing_zeros() as usize;
        Some(self.slots[self.lowest])
    }

    /// The bits of a word from the lowest position on.
    #[inline]
    fn rest_of_word(&self) -> u64 {
        self.words[self.lowest / WORD] >> (self.lowest % WORD)
    }

    /// The last slots of the list, those of two words of positions at most.
    pub(super) fn oldest_few(&self) -> impl Iterator<Item = u32> {
        self.last_slots(2)
    }

    /// The last slots of the list, those of so many words of positions.
    fn last_slots(&self, words: usize) -> impl Iterator<Item = u32> {
        let (from, lower) = (self.lowest / WORD, self.lowest % WORD);
        let bits = move |at, word| if at == from { word >> lower << lower } else { word };
        let words = self.words.iter().enumerate().skip(from).take(words);
        let positions =
            words.flat_map(move |(at, word)| Bits(bits(at, *word)).map(move |bit| at * WORD + bit));
        positions.map(|position| self.slots[position])
    }

    /// How many bits are at lower positions.
    #[inline]
    fn before(&self, at: usize) -> usize {
        let lower = self.words[at / WORD] & ((1 << (at % WORD)) - 1);
        let in_block = u32::from(self.before_word[at / WORD].0) + lower.count_ones();
        (self.before_group[at / GROUP] + self.before_block[at / BLOCK].0 + in_block) as usize
    }

    /// Takes the next position, for which there is room.
    #[inline]
    fn append(&mut self, slot: u32) -> u32 {
        let at = self.next;
        if at.is_multiple_of(WORD) {
            self.begin_word(at);
        }
        self.slots[at] = slot;
        self.words[at / WORD] |= 1 << (at % WORD);
        self.next += 1;
        self.len += 1;
        at as u32
    }

    fn begin_word(&mut self, at: usize) {
        let (word, block, group) = (at / WORD, at / BLOCK, at / GROUP);
        self.words[word] = 0;
        // All bits are at lower positions.
        let all = (self.len + self.gone) as u32;
        if at.is_multiple_of(GROUP) {
            self.before_group[group] = all;
        }
        if at.is_multiple_of(BLOCK) {
            self.before_block[block] = Wrapping(all - self.before_group[group]);
        }
        let before = all - self.before_group[group] - self.before_block[block].0;
        self.before_word[word] = Wrapping(before as u16);
        // There are too many orders for the processor to foresee what each will write next.
        let next = self.slots[at..].get(WORD..2 * WORD);
        next.into_iter().for_each(prefetch);
    }

    /// Moves all entries to the lowest positions, and makes room for twice as many again.
    #[cold]
    fn tidy(&mut self, mut moved: impl FnMut(u32, u32)) {
        let kept: Vec<u32> = self.last_slots(self.words.len()).collect();
        self.room_for((kept.len() * 3).next_multiple_of(WORD).max(WORD));
        (self.next, self.lowest, self.gone, self.len) = (0, 0, 0, 0);
        for slot in kept {
            let position = self.append(slot);
            moved(slot, position);
        }
    }

    fn room_for(&mut self, positions: usize) {
        self.slots.resize(positions, 0);
        self.words.resize(positions.div_ceil(WORD), 0);
        self.before_word.resize(positions.div_ceil(BLOCK) * 64, Wrapping(0));
        self.before_block.resize(positions.div_ceil(GROUP) * 64, Wrapping(0));
        self.before_group.resize(positions.div_ceil(GROUP), 0);
    }
}

/// One entry less before those that follow the one at `at`, among the 64 that are counted together: all of them change in the
/// same few instructions, without a branch. Those that no position has been given out in yet may wrap; they begin anew.
#[inline]
fn less<T: Copy + SubAssign>(counts: &mut [T], at: usize, steps: &[T; 128]) {
    let within = at % 64;
    let counts = counts[at - within..].first_chunk_mut::<64>().expect("room for whole blocks");
    let ones = steps[63 - within..].first_chunk::<64>().expect("128 steps");
    counts.iter_mut().zip(ones).for_each(|(count, one)| *count -= *one);
}

/// The bits that are set, lowest first.
struct Bits(u64);

impl Iterator for Bits {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let bit = (self.0 != 0).then(|| self.0.trailing_zeros() as usize)?;
        self.0 &= self.0 - 1;
        Some(bit)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::random::Random;

    /// An order together with the positions of its slots.
    #[derive(Default)]
    struct Kept {
        order: Order,
        positions: HashMap<u32, u32>,
    }

    impl Kept {
        fn move_to_front(&mut self, slot: u32) {
            self.take(slot);
            let position = self.order.push(slot, |slot, at| {
                self.positions.insert(slot, at);
            });
            self.positions.insert(slot, position);
        }

        fn take(&mut self, slot: u32) {
            if let Some(position) = self.positions.remove(&slot) {
                self.order.take(position);
            }
        }

        fn place(&self, slot: u32) -> usize {
            self.order.place(self.positions[&slot])
        }
    }

    #[test]
    fn places_are_those_of_a_list() {
        let mut random = Random::new(3);
        let (mut kept, mut list) = (Kept::default(), Vec::<u32>::new());
        for step in 0..300_000_u32 {
            let slot = random.below(random.clone().below(300) + 1);
            let at = list.iter().rev().position(|s| *s == slot);
            if let Some(at) = at {
                assert_eq!(kept.place(slot), at + 1);
                list.remove(list.len() - 1 - at);
            }
            if at.is_some() && step.is_multiple_of(3) {
                kept.take(slot);
            } else {
                list.push(slot);
                kept.move_to_front(slot);
            }
            let order = &mut kept.order;
            assert_eq!((order.oldest(), order.len()), (list.first().copied(), list.len()));
        }
    }

    #[test]
    fn long_lists() {
        let mut kept = Kept::default();
        (0..600_000).for_each(|slot| kept.move_to_front(slot));
        assert_eq!([0, 1, 77_777, 599_999].map(|slot| kept.place(slot)), [600_000, 599_999, 522_223, 1]);
        (0..600_000).step_by(2).for_each(|slot| kept.take(slot));
        assert_eq!((kept.order.oldest(), kept.place(77_777), kept.order.len()), (Some(1), 261_112, 300_000));
        (0..600_000).rev().for_each(|slot| kept.move_to_front(slot));
        assert_eq!((kept.order.oldest(), kept.place(77_777)), (Some(599_999), 77_778));
        assert_eq!(kept.order.len(), 600_000);
    }
}
