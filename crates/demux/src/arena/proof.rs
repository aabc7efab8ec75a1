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

/// In halves, where that is all there is. There is a nonce while the upper half is not 0: it comes last and goes first. The
/// lower half is written only while nobody can hold or read the record, so that no other half is seen with it.
#[cfg(not(target_has_atomic = "64"))]
#[repr(C, align(8))]
pub(super) struct Proof {
    low: crate::sync::AtomicU32,
    high: crate::sync::AtomicU32,
}

#[cfg(not(target_has_atomic = "64"))]
impl Proof {
    #[inline(always)]
    pub(super) fn load(&self) -> u64 {
        let high = self.high.load(Ordering::Acquire);
        let low = if high == 0 { 0 } else { self.low.load(Ordering::Relaxed) };
        u64::from(high) << 32 | u64::from(low)
    }

    pub(super) fn store(&self, nonce: u64) {
        if nonce != 0 {
            self.low.store(nonce as u32, Ordering::Relaxed);
        }
        self.high.store((nonce >> 32) as u32, Ordering::Release);
    }

    #[inline(always)]
    pub(super) fn own(&mut self) -> u64 {
        self.load()
    }
}

/// Whether a nonce can be told from none.
pub(super) fn is_proof(nonce: u64) -> bool {
    if cfg!(target_has_atomic = "64") { nonce != 0 } else { nonce >> 32 != 0 }
}
