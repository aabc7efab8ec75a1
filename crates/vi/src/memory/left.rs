//! Messages that the sender has in its memory while they are read.

use std::{fmt, marker::PhantomData, mem::MaybeUninit, ptr::NonNull};

use super::{OutsideWindow, copy_out, copy_out_new};
use crate::sync::fetch_place_to_read;

/// A message that was left where the peer has it: see [`Vi::left`](crate::Vi::left). The peer may change it at any time, so it is
/// never a slice, and what was copied twice may differ.
#[derive(Clone, Copy)]
pub struct Left<'a> {
    start: NonNull<u8>,
    len: usize,
    memory: PhantomData<&'a u8>,
}

impl Left<'_> {
    /// In so many bytes are as many lines as a processor waits for at a time.
    pub const AHEAD: usize = 24 * 64;

    /// # Safety
    ///
    /// `start` is good for reads of `len` bytes for this lifetime, and nobody in this process writes there.
    #[inline]
    pub(crate) unsafe fn new(start: NonNull<u8>, len: usize) -> Self {
        Self { start, len, memory: PhantomData }
    }

    /// Its length in bytes, which does not change.
    #[inline]
    #[allow(clippy::len_without_is_empty, reason = "no empty message is left")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Copies the bytes from `offset` on, as many as there is room for.
    ///
    /// # Errors
    ///
    /// If they are not all in the message; then nothing is copied.
    #[inline]
    pub fn copy(&self, offset: usize, into: &mut [u8]) -> Result<(), OutsideWindow> {
        let from = self.place(offset, into.len())?;
        // SAFETY: inside, and other processes' memory.
        unsafe { copy_out(from, into) };
        Ok(())
    }

    /// As [`copy`](Self::copy), to memory that need not be initialised; returns it.
    ///
    /// # Errors
    ///
    /// As there.
    #[inline]
    pub fn copy_new<'i>(
        &self,
        offset: usize,
        into: &'i mut [MaybeUninit<u8>],
    ) -> Result<&'i mut [u8], OutsideWindow> {
        let from = self.place(offset, into.len())?;
        // SAFETY: as above.
        Ok(unsafe { copy_out_new(from, into) })
    }

    /// Has [as many](Self::AHEAD) bytes from `offset` on, a multiple of that, brought into this processor's caches, which is
    /// done meanwhile. The first ones have been, when the message was received.
    #[inline]
    pub fn prefetch(&self, offset: usize) {
        let end = self.len.min(offset.saturating_add(Self::AHEAD));
        for offset in (offset..end).step_by(64) {
            // A hint, which changes nothing.
            fetch_place_to_read(self.start.as_ptr().wrapping_add(offset));
        }
    }

    #[inline]
    fn place(&self, offset: usize, len: usize) -> Result<NonNull<u8>, OutsideWindow> {
        if offset.checked_add(len).is_none_or(|end| end > self.len) {
            return Err(OutsideWindow);
        }
        // SAFETY: inside.
        Ok(unsafe { self.start.add(offset) })
    }
}

impl fmt::Debug for Left<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Left({} bytes)", self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_outside_is_not_copied() {
        let message: Vec<u8> = (0..100).collect();
        let mut shared = message.clone();
        // SAFETY: all of it, and nobody else touches it.
        let left = unsafe { Left::new(NonNull::from(&mut *shared).cast(), message.len()) };
        let mut part = [0; 10];
        left.copy(90, &mut part).expect("inside");
        assert_eq!(part, message[90..]);
        for outside in [91, 100, usize::MAX - 5] {
            assert_eq!(left.copy(outside, &mut part), Err(OutsideWindow));
            assert!(left.copy_new(outside, &mut [MaybeUninit::uninit(); 10]).is_err());
        }
        assert_eq!(left.copy(100, &mut []), Ok(()));
        assert_eq!(part, message[90..]);
    }
}
