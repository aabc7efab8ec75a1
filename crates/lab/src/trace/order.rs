//! At which place of a list an entry is, without walking the list.
//!
//! Entries have positions in the order of their coming to the front; a position is one bit. How many entries lie before
//! one is the number of bits set behind its position, counted in three steps of which each looks at few words.

/// Positions told by one count of the lowest level.
const BLOCK: usize = 1024;
/// Positions told by one count of the highest level.
const GROUP: usize = BLOCK * 64;
const WORDS: usize = BLOCK / 64;
/// No position.
const NOWHERE: u32 = u32::MAX;

/// A list of slots, newest first.
#[derive(Debug)]
pub struct Order {
    /// The position of each slot.
    position: Vec<u32>,
    /// Which slot is, or was, at each position.
    slot: Vec<u32>,
    words: Vec<u64>,
    blocks: Vec<u32>,
    groups: Vec<u32>,
    /// The position for the next that comes to the front.
    next: usize,
    /// No entry is at a lower position.
    lowest: usize,
    len: usize,
}

impl Order {
    /// An empty list.
    pub fn new() -> Self {
        let mut order = Self {
            position: Vec::new(),
            slot: Vec::new(),
            words: Vec::new(),
            blocks: Vec::new(),
            groups: Vec::new(),
            next: 0,
            lowest: 0,
            len: 0,
        };
        order.room_for(GROUP);
        order
    }

    /// How many slots are in the list.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The slot's place, 1 for the newest; the slot must be in the list.
    #[inline]
    pub fn place(&self, slot: u32) -> usize {
        1 + self.behind(self.position[slot as usize] as usize)
    }

    /// Reads what [`place`](Self::place) and [`move_to_front`](Self::move_to_front) will need first.
    #[inline]
    pub fn peek(&self, slot: u32) -> u64 {
        self.position
            .get(slot as usize)
            .and_then(|at| self.words.get(*at as usize / 64))
            .copied()
            .unwrap_or(0)
    }

    /// Puts a slot to the front, whether it is in the list or not.
    #[inline]
    pub fn move_to_front(&mut self, slot: u32) {
        if self.next == self.slot.len() {
            self.tidy();
        }
        self.take(slot);
        if self.position.len() <= slot as usize {
            self.position.resize(slot as usize + 1, NOWHERE);
        }
        let position = self.next;
        self.next += 1;
        self.position[slot as usize] = position as u32;
        self.slot[position] = slot;
        self.words[position / 64] |= 1 << (position % 64);
        self.blocks[position / BLOCK] += 1;
        self.groups[position / GROUP] += 1;
        self.len += 1;
    }

    /// Takes a slot out of the list, if it is there.
    #[inline]
    pub fn take(&mut self, slot: u32) {
        let Some(position) = self.position.get_mut(slot as usize).filter(|at| **at != NOWHERE) else {
            return;
        };
        let at = std::mem::replace(position, NOWHERE) as usize;
        self.words[at / 64] &= !(1 << (at % 64));
        self.blocks[at / BLOCK] -= 1;
        self.groups[at / GROUP] -= 1;
        self.len -= 1;
    }

    /// The last slot of the list.
    pub fn oldest(&mut self) -> Option<u32> {
        if self.len == 0 {
            return None;
        }
        while self.words[self.lowest / 64] == 0 {
            self.lowest = (self.lowest / 64 + 1) * 64;
        }
        let word = self.lowest / 64;
        self.lowest = word * 64 + self.words[word].trailing_zeros() as usize;
        Some(self.slot[self.lowest])
    }

    /// How many entries are at higher positions.
    #[inline]
    fn behind(&self, at: usize) -> usize {
        let (word, block, group) = (at / 64, at / BLOCK, at / GROUP);
        let last_block = (self.next.max(1) - 1) / BLOCK;
        let in_word = (self.words[word] >> (at % 64)).count_ones() - 1;
        let in_block: u32 =
            self.words[word + 1..(block + 1) * WORDS].iter().map(|word| word.count_ones()).sum();
        let in_group: u32 =
            self.blocks[block + 1..((group + 1) * 64).min(last_block + 1).max(block + 1)].iter().sum();
        let beyond: u32 = self.groups[group + 1..].iter().sum();
        (in_word + in_block + in_group + beyond) as usize
    }

    /// Moves all entries to the lowest positions, and makes room for as many again.
    fn tidy(&mut self) {
        let kept: Vec<u32> = (0..self.words.len())
            .flat_map(|word| Bits(self.words[word]).map(move |bit| word * 64 + bit))
            .map(|position| self.slot[position])
            .collect();
        self.words.fill(0);
        self.blocks.fill(0);
        self.groups.fill(0);
        self.room_for((kept.len() * 2).next_multiple_of(GROUP) + GROUP);
        for (position, slot) in kept.iter().enumerate() {
            self.position[*slot as usize] = position as u32;
            self.slot[position] = *slot;
            self.words[position / 64] |= 1 << (position % 64);
            self.blocks[position / BLOCK] += 1;
            self.groups[position / GROUP] += 1;
        }
        (self.next, self.lowest) = (kept.len(), 0);
    }

    fn room_for(&mut self, positions: usize) {
        self.slot.resize(positions, 0);
        self.words.resize(positions / 64, 0);
        self.blocks.resize(positions / BLOCK, 0);
        self.groups.resize(positions / GROUP, 0);
    }
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
    use super::*;
    use crate::random::Random;

    #[test]
    fn places_are_those_of_a_list() {
        let mut random = Random::new(3);
        let (mut order, mut list) = (Order::new(), Vec::<u32>::new());
        for step in 0..300_000_u32 {
            let slot = random.below(random.clone().below(300) + 1);
            let at = list.iter().rev().position(|s| *s == slot);
            match at {
                Some(at) if step.is_multiple_of(3) => {
                    assert_eq!(order.place(slot), at + 1);
                    list.remove(list.len() - 1 - at);
                    order.take(slot);
                }
                _ => {
                    if let Some(at) = at {
                        list.remove(list.len() - 1 - at);
                    }
                    list.push(slot);
                    order.move_to_front(slot);
                }
            }
            assert_eq!((order.oldest(), order.len()), (list.first().copied(), list.len()));
        }
    }

    #[test]
    fn long_lists() {
        let mut order = Order::new();
        (0..200_000).for_each(|slot| order.move_to_front(slot));
        assert_eq!([0, 1, 77_777, 199_999].map(|slot| order.place(slot)), [200_000, 199_999, 122_223, 1]);
        (0..200_000).step_by(2).for_each(|slot| order.take(slot));
        assert_eq!((order.oldest(), order.place(77_777), order.len()), (Some(1), 61_112, 100_000));
        (0..200_000).rev().for_each(|slot| order.move_to_front(slot));
        assert_eq!((order.oldest(), order.place(77_777), order.len()), (Some(199_999), 77_778, 200_000));
    }
}
