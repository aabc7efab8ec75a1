//! The nonce in a cell: there while the record can be reached, and zero otherwise.

use super::Handle;
use crate::sync::Ordering;

impl Proof {
    /// Whether the record can be reached by this handle.
    #[inline(always)]
    pub(super) fn is(&self, handle: Handle) -> bool {
        self.load() == handle.nonce.get()
    }
}

/// A nonce that others may read while it is set or cleared.
#[cfg(target_has_atomic = "64")]
#[repr(transparent)]
pub(super) struct Proof(crate::sync::AtomicU64);

#[cfg(target_has_atomic = "64")]
impl Proof {
    #[inline(always)]
    pub(super) fn load(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    pub(super) fn store(&self, nonce: u64) {
        self.0.store(nonce, Ordering::Release);
    }

    /// For the only one who looks: an atomic read would not be merged with a comparison.
    #[inline(always)]
    pub(super) fn own(&mut self) -> u64 {
        #[cfg(not(loom))]
        let nonce = *self.0.get_mut();
        #[cfg(loom)]
        let nonce = self.0.with_mut(|nonce| *nonce);
        nonce
    }

    #[cfg(loom)]
    pub(super) fn none() -> Self {
        Self(crate::sync::AtomicU64::new(0))
    }
}

/// In halves, where that is all there is. For a moment a handle with one right half and zeroes is let in, before its
/// record can be reached by the right handle or until it can't be any more; then it can be read all the same.
#[cfg(not(target_has_atomic = "64"))]
#[repr(C, align(8))]
pub(super) struct Proof([crate::sync::AtomicU32; 2]);

#[cfg(not(target_has_atomic = "64"))]
impl Proof {
    #[inline(always)]
    pub(super) fn load(&self) -> u64 {
        let [low, high] = self.0.each_ref().map(|half| u64::from(half.load(Ordering::Acquire)));
        low | high << 32
    }

    pub(super) fn store(&self, nonce: u64) {
        self.0[0].store(nonce as u32, Ordering::Release);
        self.0[1].store((nonce >> 32) as u32, Ordering::Release);
    }

    #[inline(always)]
    pub(super) fn own(&mut self) -> u64 {
        self.load()
    }
}
