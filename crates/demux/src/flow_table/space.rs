//! Address space for as many elements as there may ever be, backed with memory where it is touched.

use alloc::alloc::{alloc_zeroed, dealloc};
use core::{alloc::Layout, ptr::NonNull};

use crate::ConfigError;

/// A page that needs one entry of the processor's address cache where 512 small ones would need one each.
pub(super) const HUGE: usize = 2 << 20;

/// Bytes from which on a space has huge pages, made ready ahead of their use: one that is not ready takes an insertion
/// longer to clear than it may take.
#[cfg(all(feature = "huge-pages", target_os = "linux", not(miri)))]
const READY_AHEAD: usize = 2 * HUGE;

/// A row of zeroed elements that never moves and runs no destructors.
pub(super) struct Space<T> {
    first: NonNull<T>,
    /// The allocation, in which the first element is aligned.
    block: NonNull<u8>,
    count: usize,
    #[cfg(all(feature = "huge-pages", target_os = "linux", not(miri)))]
    ahead: Option<super::ahead::Ahead>,
}

// SAFETY: the space owns its elements as a vector does.
unsafe impl<T: Send> Send for Space<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Space<T> {}

impl<T> Space<T> {
    pub(super) fn new(count: usize) -> Result<Self, ConfigError> {
        let layout = layout::<T>(count).ok_or(ConfigError::TooLarge)?;
        let bytes = layout.size() - alignment::<T>(count);
        // SAFETY: the size is not zero, for the sake of the alignment alone.
        let block = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(ConfigError::OutOfMemory)?;
        // SAFETY: `layout` has room for this.
        let first = unsafe { block.add(block.align_offset(alignment::<T>(count))) };
        advise(first, bytes);
        Ok(Self {
            first: first.cast(),
            block,
            count,
            #[cfg(all(feature = "huge-pages", target_os = "linux", not(miri)))]
            // SAFETY: the block is freed after `ahead` was dropped.
            ahead: (bytes >= READY_AHEAD).then(|| unsafe { super::ahead::Ahead::new(first, bytes) }),
        })
    }

    /// Where the element is.
    ///
    /// # Safety
    /// `index` is less than the count; or equal to it, if the element is not looked at.
    #[inline(always)]
    pub(super) unsafe fn at(&self, index: usize) -> NonNull<T> {
        // SAFETY: within the block, says the caller.
        unsafe { self.first.add(index) }
    }

    /// Says that elements up to this one are about to be used, so that the memory of the next can be made ready.
    pub(super) fn reach(&self, index: usize) {
        #[cfg(all(feature = "huge-pages", target_os = "linux", not(miri)))]
        if let Some(ahead) = &self.ahead {
            ahead.reach(index * size_of::<T>());
        }
        let _ = index;
    }

    /// Makes the memory of so many elements ready, and returns when it is.
    pub(super) fn make_ready(&self, count: usize) {
        #[cfg(all(feature = "huge-pages", target_os = "linux", not(miri)))]
        match &self.ahead {
            Some(ahead) => ahead.make_ready(count * size_of::<T>()),
            // SAFETY: the elements are ours.
            None => unsafe { super::ahead::make_pages_ready(self.first.cast(), count * size_of::<T>()) },
        }
        let _ = count;
    }

    /// The element that begins so many bytes from the start.
    ///
    /// # Safety
    /// There is one.
    #[inline(always)]
    pub(super) unsafe fn at_byte(&self, byte: usize) -> NonNull<T> {
        // SAFETY: within the block, says the caller.
        unsafe { self.first.byte_add(byte) }
    }

    /// Asks for the element's cache line; any index will do.
    #[inline(always)]
    pub(super) fn prefetch(&self, index: usize, to: Cache) {
        prefetch(self.first.as_ptr().wrapping_add(index), to);
    }

    /// As [`prefetch`](Self::prefetch), so many bytes from the start.
    #[inline(always)]
    pub(super) fn prefetch_byte(&self, byte: usize, to: Cache) {
        prefetch(self.first.as_ptr().wrapping_byte_add(byte), to);
    }
}

impl<T> Drop for Space<T> {
    fn drop(&mut self) {
        #[cfg(all(feature = "huge-pages", target_os = "linux", not(miri)))]
        drop(self.ahead.take());
        let layout = layout::<T>(self.count).expect("it was allocated");
        // SAFETY: in `new`, with this layout.
        unsafe { dealloc(self.block.as_ptr(), layout) }
    }
}

/// Small spaces begin at a cache line, large ones at a huge page.
fn alignment<T>(count: usize) -> usize {
    const { assert!(align_of::<T>() <= 64, "a flow table's records are aligned to 64 bytes at most") };
    if count.saturating_mul(size_of::<T>()) >= HUGE { HUGE } else { 64 }
}

/// None if that is more than the address space. Alignment is made by hand: asked for more than its own, which is 8 and less
/// where addresses have 32 bits, an allocator would clear, and so touch, all the memory.
fn layout<T>(count: usize) -> Option<Layout> {
    // Whole pages: what were left of one would not be made ready ahead, and an insertion would have to clear all of it.
    let bytes = count.checked_mul(size_of::<T>()).and_then(|bytes| {
        bytes.checked_next_multiple_of(alignment::<T>(count))?.checked_add(alignment::<T>(count))
    });
    bytes.and_then(|bytes| Layout::from_size_align(bytes, 1).ok())
}

/// Asks the system for huge pages.
fn advise(first: NonNull<u8>, bytes: usize) {
    #[cfg(all(feature = "huge-pages", target_os = "linux", not(miri)))]
    if bytes >= READY_AHEAD {
        // SAFETY: whole pages of an allocation of ours; the advice changes no contents.
        let advised = unsafe {
            rustix::mm::madvise(first.as_ptr().cast(), bytes / HUGE * HUGE, rustix::mm::Advice::LinuxHugepage)
        };
        // A system without huge pages serves small ones.
        let _ = advised;
    }
    let _ = (first, bytes);
}

/// Where a cache line that is asked for goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Cache {
    /// As near as can be.
    First,
    /// Where it is a dozen cycles away. Some processors wait for more lines at once if these go no farther: a Zen 4 for 18 on
    /// their way to its first cache, and for 32 and more to its second. So what comes from memory is there sooner.
    Second,
}

/// Asks for the cache line at an address, which need not be valid.
#[inline(always)]
pub(super) fn prefetch<T>(address: *const T, to: Cache) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse", not(miri)))]
    // SAFETY: this code is compiled only where the target has SSE; a prefetch never faults.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
        match to {
            Cache::First => _mm_prefetch::<_MM_HINT_T0>(address.cast()),
            Cache::Second => _mm_prefetch::<_MM_HINT_T1>(address.cast()),
        }
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: a prefetch never faults and changes nothing.
    unsafe {
        use core::arch::asm;
        match to {
            Cache::First => {
                asm!("prfm pldl1keep, [{}]", in(reg) address, options(nostack, readonly, preserves_flags))
            }
            Cache::Second => {
                asm!("prfm pldl2keep, [{}]", in(reg) address, options(nostack, readonly, preserves_flags))
            }
        }
    }
    let _ = (address, to);
}
