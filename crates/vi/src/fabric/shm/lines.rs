//! The memory of a ring: cache lines of eight words, written by one process and read by another.

#[cfg(not(loom))]
use crate::memory::{copy_in, copy_out};
use crate::sync::AtomicU64;
#[cfg(not(loom))]
use std::any::Any;
#[cfg(not(loom))]
use std::ptr::NonNull;
use std::sync::Arc;

/// Bytes of a line.
pub(crate) const LINE: usize = 64;

/// A ring's lines. The first word of a line says what begins there, if anything.
#[cfg(not(loom))]
#[derive(Clone)]
pub(crate) struct Lines {
    base: NonNull<Line>,
    count: usize,
    _memory: Arc<dyn Any + Send + Sync>,
}

/// A ring's lines, as loom watches them.
#[cfg(loom)]
#[derive(Clone)]
pub(crate) struct Lines {
    lines: Arc<Vec<Line>>,
}

#[repr(C, align(64))]
struct Line([AtomicU64; LINE / 8]);

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
        Self { base: base.cast(), count, _memory: memory }
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
        self.count
    }

    /// The first word of the line at this position, which is taken modulo the count.
    #[inline(always)]
    pub(crate) fn head(&self, position: u64) -> &AtomicU64 {
        // SAFETY: the mask keeps it below `count`.
        unsafe { &(*self.base.as_ptr().add(position as usize & (self.count - 1))).0[0] }
    }

    /// Copies bytes into lines that are not published yet, `skip` bytes behind the beginning of the line.
    #[inline]
    pub(crate) fn fill(&self, position: u64, skip: usize, bytes: &[u8]) {
        let place = self.place(position, skip, bytes.len());
        // SAFETY: inside; of this process only the producer writes here, and no reader looks before the publication.
        unsafe { copy_in(bytes, place) }
    }

    /// Copies published bytes out, from `skip` bytes behind the beginning of the line.
    #[inline]
    pub(crate) fn copy(&self, position: u64, skip: usize, into: &mut [u8]) {
        let place = self.place(position, skip, into.len());
        // SAFETY: inside; whoever writes here meanwhile is another process, and `copy_out` allows for that.
        unsafe { copy_out(place, into) }
    }

    /// Has the kernel find memory for all lines.
    pub(crate) fn touch(&self) {
        (0..self.count as u64).for_each(|line| self.head(line).store(0, crate::sync::Ordering::Relaxed));
    }

    #[inline(always)]
    fn place(&self, position: u64, skip: usize, len: usize) -> NonNull<u8> {
        let line = position as usize & (self.count - 1);
        assert!(line * LINE + skip + len <= self.count * LINE, "outside the ring");
        // SAFETY: inside, as just checked.
        unsafe { self.base.cast::<u8>().add(line * LINE + skip) }
    }
}

#[cfg(loom)]
impl Lines {
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
            self.word(position, skip / 8 + at)
                .store(u64::from_ne_bytes(word), crate::sync::Ordering::Relaxed);
        }
    }

    pub(crate) fn copy(&self, position: u64, skip: usize, into: &mut [u8]) {
        for (at, into) in into.chunks_mut(8).enumerate() {
            let word = self.word(position, skip / 8 + at).load(crate::sync::Ordering::Relaxed);
            into.copy_from_slice(&word.to_ne_bytes()[..into.len()]);
        }
    }

    fn word(&self, position: u64, at: usize) -> &AtomicU64 {
        &self.lines[(position as usize & (self.lines.len() - 1)) + at / 8].0[at % 8]
    }
}
