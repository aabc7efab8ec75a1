//! The memory of a ring: cache lines of eight words, written by one process and read by another.

#[cfg(not(loom))]
use crate::memory::{copy_in, copy_out};
use crate::sync::{AtomicU64, Ordering};
#[cfg(not(loom))]
use std::any::Any;
#[cfg(not(loom))]
use std::ptr::NonNull;
use std::sync::Arc;

use super::frame::SMALL;

/// Bytes of a line.
pub(crate) const LINE: usize = 64;

/// A ring's lines. The first word of a line says what begins there, if anything.
#[cfg(not(loom))]
#[derive(Clone)]
pub(crate) struct Lines {
    base: NonNull<Line>,
    /// One less than there are.
    mask: usize,
    _memory: Arc<dyn Any + Send + Sync>,
}

/// A ring's lines, as loom watches them.
#[cfg(loom)]
#[derive(Clone)]
pub(crate) struct Lines {
    lines: Arc<Vec<Line>>,
}

impl Lines {
    /// What makes a place of a position.
    #[inline(always)]
    pub(crate) fn mask(&self) -> u64 {
        (self.count() - 1) as u64
    }

    /// The position of the first line of the next lap.
    #[inline(always)]
    pub(crate) fn behind_padding(&self, position: u64) -> u64 {
        position + self.count() as u64 - (position & self.mask())
    }

    /// After so many lines the producer should be told how far the consumer is.
    #[inline(always)]
    pub(crate) fn quarter(&self) -> u64 {
        self.count() as u64 / 4
    }
}

/// One of them.
#[repr(C, align(64))]
pub(crate) struct Line([AtomicU64; LINE / 8]);

impl Line {
    /// The first word.
    #[inline(always)]
    pub(crate) fn head(&self) -> &AtomicU64 {
        &self.0[0]
    }

    /// The last word.
    #[inline(always)]
    pub(crate) fn last(&self) -> &AtomicU64 {
        &self.0[LINE / 8 - 1]
    }

    /// Writes the body of a small message, and what comes behind it: octets that the peer may see.
    #[inline(always)]
    pub(crate) fn fill(&self, octets: &[u8; SMALL]) {
        for (place, word) in self.0[1..].iter().zip(octets.as_chunks::<8>().0) {
            place.store(u64::from_ne_bytes(*word), Ordering::Relaxed);
        }
    }

    /// Copies the body of a small message, however long it is.
    #[inline(always)]
    pub(crate) fn copy(&self, into: &mut [u8; SMALL]) {
        for (word, place) in into.as_chunks_mut::<8>().0.iter_mut().zip(&self.0[1..]) {
            *word = place.load(Ordering::Relaxed).to_ne_bytes();
        }
    }
}

// SAFETY: lines are reached by atomics, and by one producer whose writes are published by an atomic.
#[cfg(not(loom))]
unsafe impl Send for Lines {}
// SAFETY: as above; there is one producer, which its owner sees to.
#[cfg(not(loom))]
unsafe impl Sync for Lines {}

#[cfg(not(loom))]
impl Lines {
    /// # Safety
    ///
    /// `base` leads to `count` lines, a power of two, that `memory` keeps in place, readable by us and written by nobody
    /// in this process but through these methods.
    pub(crate) unsafe fn new(base: NonNull<u8>, count: usize, memory: Arc<dyn Any + Send + Sync>) -> Self {
        assert!(count.is_power_of_two() && base.cast::<Line>().is_aligned());
        Self { base: base.cast(), mask: count - 1, _memory: memory }
    }

    /// Lines on the heap.
    #[cfg(test)]
    pub(crate) fn on_heap(count: usize) -> Self {
        let lines: Arc<Vec<Line>> = Arc::new((0..count).map(|_| Line(Default::default())).collect());
        let base = NonNull::from(lines.as_slice()).cast();
        // SAFETY: `lines` is kept, and nobody else has it.
        unsafe { Self::new(base, count, lines) }
    }

    #[inline(always)]
    pub(crate) fn count(&self) -> usize {
        self.mask + 1
    }

    /// The first word of the line at this position, which is taken modulo the count.
    #[inline(always)]
    pub(crate) fn head(&self, position: u64) -> &AtomicU64 {
        &self.line(position).0[0]
    }

    /// Copies bytes into lines that are not published yet, `skip` bytes behind the beginning of the line.
    #[inline]
    pub(crate) fn fill(&self, position: u64, skip: usize, bytes: &[u8]) {
        let place = self.place(position, skip, bytes.len());
        if skip.is_multiple_of(8) && bytes.len() < LINE {
            return self.fill_words(place, bytes);
        }
        // SAFETY: inside; of this process only the producer writes here, and no reader looks before the publication.
        unsafe { copy_in(bytes, place) }
    }

    /// Copies published bytes out, from `skip` bytes behind the beginning of the line.
    #[inline]
    pub(crate) fn copy(&self, position: u64, skip: usize, into: &mut [u8]) {
        let place = self.place(position, skip, into.len());
        if skip.is_multiple_of(8) && into.len() < LINE {
            return self.copy_words(place, into);
        }
        // SAFETY: inside; whoever writes here meanwhile is another process, and `copy_out` allows for that.
        unsafe { copy_out(place, into) }
    }

    /// The body of a small message, of at most [`SMALL`] bytes.
    #[inline(always)]
    pub(crate) fn fill_small(&self, position: u64, bytes: &[u8]) {
        let mut places = self.line(position).0[1..].iter();
        let (words, rest) = bytes.as_chunks::<8>();
        // Words first: what the other is asked for in vain is lost.
        for (word, place) in words.iter().zip(places.by_ref()) {
            place.store(u64::from_ne_bytes(*word), Ordering::Relaxed);
        }
        if !rest.is_empty()
            && let Some(place) = places.next()
        {
            place.store(to_word(rest), Ordering::Relaxed);
        }
    }

    /// The line at this position.
    #[inline(always)]
    pub(crate) fn line(&self, position: u64) -> &Line {
        // SAFETY: the mask keeps it below the count.
        unsafe { &*self.base.as_ptr().add(position as usize & self.mask) }
    }

    /// Whole words; what is beyond the bytes in the last one becomes zero.
    #[inline(always)]
    fn fill_words(&self, place: NonNull<u8>, bytes: &[u8]) {
        let mut word = place.cast::<AtomicU64>();
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            let value = u64::from_ne_bytes(chunk.try_into().expect("eight bytes"));
            // SAFETY: `place` is at a multiple of 8 and good for all bytes, and lines end at a multiple of 8.
            unsafe {
                word.as_ref().store(value, Ordering::Relaxed);
                word = word.add(1);
            }
        }
        if !chunks.remainder().is_empty() {
            // SAFETY: as above.
            unsafe { word.as_ref() }.store(to_word(chunks.remainder()), Ordering::Relaxed);
        }
    }

    /// Whole words are read; what is beyond the bytes in the last one is left out.
    #[inline(always)]
    fn copy_words(&self, place: NonNull<u8>, into: &mut [u8]) {
        let mut word = place.cast::<AtomicU64>();
        let mut chunks = into.chunks_exact_mut(8);
        for chunk in &mut chunks {
            // SAFETY: `place` is at a multiple of 8 and good for all bytes, and lines end at a multiple of 8.
            unsafe {
                chunk.copy_from_slice(&word.as_ref().load(Ordering::Relaxed).to_ne_bytes());
                word = word.add(1);
            }
        }
        let rest = chunks.into_remainder();
        if !rest.is_empty() {
            // SAFETY: as above.
            from_word(unsafe { word.as_ref() }.load(Ordering::Relaxed), rest);
        }
    }

    /// Has the kernel find memory for all lines.
    pub(crate) fn touch(&self) {
        (0..self.count() as u64).for_each(|line| self.head(line).store(0, Ordering::Relaxed));
    }

    #[inline(always)]
    fn place(&self, position: u64, skip: usize, len: usize) -> NonNull<u8> {
        let line = position as usize & self.mask;
        assert!(line * LINE + skip + len <= self.count() * LINE, "outside the ring");
        // SAFETY: inside, as just checked.
        unsafe { self.base.cast::<u8>().add(line * LINE + skip) }
    }
}

/// Less than eight bytes as a word, without a call of `memcpy`.
#[cfg(not(loom))]
#[inline(always)]
fn to_word(mut bytes: &[u8]) -> u64 {
    let mut word = 0;
    let mut shift = 0;
    if let Some((four, rest)) = bytes.split_first_chunk::<4>() {
        (word, shift, bytes) = (u64::from(u32::from_le_bytes(*four)), 32, rest);
    }
    for byte in bytes {
        word |= u64::from(*byte) << shift;
        shift += 8;
    }
    u64::from_ne_bytes(word.to_le_bytes())
}

/// The other way round.
#[cfg(not(loom))]
#[inline(always)]
fn from_word(word: u64, mut bytes: &mut [u8]) {
    let mut word = u64::from_le_bytes(word.to_ne_bytes());
    if bytes.len() >= 4 {
        let (four, rest) = bytes.split_at_mut(4);
        four.copy_from_slice(&(word as u32).to_le_bytes());
        (word, bytes) = (word >> 32, rest);
    }
    for byte in bytes {
        *byte = word as u8;
        word >>= 8;
    }
}

#[cfg(loom)]
impl Lines {
    pub(crate) fn fill_small(&self, position: u64, bytes: &[u8]) {
        self.fill(position, 8, bytes);
    }

    pub(crate) fn line(&self, position: u64) -> &Line {
        &self.lines[position as usize & (self.lines.len() - 1)]
    }

    pub(crate) fn on_heap(count: usize) -> Self {
        let line = || Line(std::array::from_fn(|_| AtomicU64::new(0)));
        Self { lines: Arc::new((0..count).map(|_| line()).collect()) }
    }

    pub(crate) fn count(&self) -> usize {
        self.lines.len()
    }

    pub(crate) fn head(&self, position: u64) -> &AtomicU64 {
        self.word(position, 0)
    }

    pub(crate) fn fill(&self, position: u64, skip: usize, bytes: &[u8]) {
        for (at, bytes) in bytes.chunks(8).enumerate() {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            self.word(position, skip / 8 + at).store(u64::from_ne_bytes(word), Ordering::Relaxed);
        }
    }

    pub(crate) fn copy(&self, position: u64, skip: usize, into: &mut [u8]) {
        for (at, into) in into.chunks_mut(8).enumerate() {
            let word = self.word(position, skip / 8 + at).load(Ordering::Relaxed);
            into.copy_from_slice(&word.to_ne_bytes()[..into.len()]);
        }
    }

    fn word(&self, position: u64, at: usize) -> &AtomicU64 {
        &self.lines[(position as usize & (self.lines.len() - 1)) + at / 8].0[at % 8]
    }
}
