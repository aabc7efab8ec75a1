//! Atomics: the real ones, or loom's when the interleavings are modelled.

#[cfg(not(loom))]
pub(crate) use core::sync::atomic::{AtomicU64, Ordering};
#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU64, Ordering};

/// Stores a word that publishes what was written before, and orders it before every later load: one side of
/// Dekker's handshake between whoever publishes and whoever goes to sleep.
///
/// The store is an ordinary one. An exchange would be one instruction less, but it waits until the body of a frame has
/// left the processor, and by then the peer that looks at the line may have taken it away again.
#[inline(always)]
pub(crate) fn publish_before_loads(word: &AtomicU64, value: u64) {
    word.store(value, Ordering::Release);
    full_fence();
}

/// Orders all stores before it ahead of all loads behind it.
#[inline(always)]
pub(crate) fn full_fence() {
    #[cfg(all(target_arch = "x86_64", not(any(loom, miri))))]
    // SAFETY: adds nothing to the top of the stack. A locked instruction is a full fence, faster than `mfence`; the
    // compiler moves no access of memory across it.
    unsafe {
        core::arch::asm!("lock or dword ptr [rsp], 0");
    }
    #[cfg(all(not(loom), any(miri, not(target_arch = "x86_64"))))]
    core::sync::atomic::fence(Ordering::SeqCst);
    #[cfg(loom)]
    loom::sync::atomic::fence(Ordering::SeqCst);
}

/// Keeps the compiler from moving loads ahead of the stores before this; the processor may.
#[inline(always)]
pub(crate) fn keep_order() {
    #[cfg(not(loom))]
    core::sync::atomic::compiler_fence(Ordering::SeqCst);
}

/// Takes the line of a word away from other processors' caches, which is done meanwhile: it will be written soon.
#[inline(always)]
pub(crate) fn fetch_to_write(word: &AtomicU64) {
    #[cfg(all(target_arch = "x86_64", not(any(loom, miri))))]
    // SAFETY: changes nothing but caches. Processors that do not know it take it for an empty instruction.
    unsafe {
        core::arch::asm!("prefetchw [{}]", in(reg) word, options(nostack, preserves_flags));
    }
    #[cfg(any(loom, miri, not(target_arch = "x86_64")))]
    let _ = word;
}

/// Has the line of a word brought into this processor's caches, which is done meanwhile: it will be read soon.
#[inline(always)]
pub(crate) fn fetch_to_read(word: &AtomicU64) {
    fetch_place_to_read(std::ptr::from_ref(word).cast());
}

/// As [`fetch_to_read`], of the line of a place that may be anywhere.
#[inline(always)]
pub(crate) fn fetch_place_to_read(place: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(any(loom, miri))))]
    // SAFETY: changes nothing but caches.
    unsafe {
        core::arch::asm!("prefetcht0 [{}]", in(reg) place, options(nostack, preserves_flags, readonly));
    }
    #[cfg(any(loom, miri, not(target_arch = "x86_64")))]
    let _ = place;
}

/// As [`publish_before_loads`], for a word that several raise and none lowers.
pub(crate) fn raise_before_loads(word: &AtomicU64, value: u64) {
    word.fetch_max(value, Ordering::SeqCst);
    #[cfg(loom)]
    loom::sync::atomic::fence(Ordering::SeqCst);
}
