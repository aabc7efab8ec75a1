//! A message that stays in the peer's memory while it is read.

use std::ptr::NonNull;

use crate::memory::Left;

/// Where it lies, for as long as nothing more is received.
pub(crate) struct Lent {
    start: NonNull<u8>,
    len: usize,
    /// It may be changed meanwhile.
    mutable: bool,
    /// Position behind its frame, and behind those that were received to be kept.
    position: u64,
}

// SAFETY: an address in a mapping that belongs to no thread.
unsafe impl Send for Lent {}

impl Lent {
    /// # Safety
    ///
    /// `start` is good for reads of `len` bytes as long as the connection's memory is mapped, and nobody in this process writes
    /// there but by `bytes_mut`, for which they are good for writes, too, if it is `mutable`.
    pub(crate) unsafe fn new(start: NonNull<u8>, len: usize, mutable: bool, position: u64) -> Self {
        Self { start, len, mutable, position }
    }

    /// Whether it is the message before this position, but for those that were received to be kept.
    #[inline]
    pub(crate) fn is_before(&self, position: u64) -> bool {
        self.position == position
    }

    /// Its address.
    #[inline]
    pub(crate) fn address(&self) -> usize {
        self.start.addr().get()
    }

    /// It stays though something was received behind it, as far as this.
    pub(crate) fn stay(&mut self, position: u64) {
        self.position = position;
    }

    /// What copies of it are made from.
    ///
    /// # Safety
    ///
    /// The memory is mapped as long as this borrow lasts.
    #[inline]
    pub(crate) unsafe fn left(&self) -> Left<'_> {
        // SAFETY: by the promises made here and to `new`.
        unsafe { Left::new(self.start, self.len) }
    }

    /// Its bytes.
    ///
    /// # Safety
    ///
    /// The memory is mapped, and nobody in any process writes there, as long as they are borrowed.
    pub(crate) unsafe fn bytes(&self) -> &[u8] {
        // SAFETY: by the promises made here and to `new`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    /// Its bytes, to be changed, if they may be.
    ///
    /// # Safety
    ///
    /// The memory is mapped, and nobody in any process reads or writes there, as long as they are borrowed.
    pub(crate) unsafe fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        // SAFETY: by the promises made here and to `new`.
        self.mutable.then(|| unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) })
    }
}
