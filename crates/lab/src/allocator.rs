//! How much heap memory a piece of code took: a global allocator that keeps count.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, counting the bytes that each thread asked for and gave back. Costs an addition per call.
#[derive(Clone, Copy, Debug, Default)]
pub struct CountingAllocator;

thread_local! {
    static BALANCE: Cell<isize> = const { Cell::new(0) };
}

fn add(bytes: isize) {
    // A thread that is being torn down is not measured.
    let _ = BALANCE.try_with(|balance| balance.set(balance.get().wrapping_add(bytes)));
}

// SAFETY: every call goes to `System` unchanged; counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size() as isize);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size() as isize);
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        add(-(layout.size() as isize));
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        add(size as isize - layout.size() as isize);
        // SAFETY: the caller's promise.
        unsafe { System.realloc(block, layout, size) }
    }
}

/// Bytes of this process that are in memory, as far as the system tells.
pub(crate) fn resident() -> Option<f64> {
    let pages =
        std::fs::read_to_string("/proc/self/statm").ok()?.split_whitespace().nth(1)?.parse::<f64>().ok()?;
    Some(pages * rustix::param::page_size() as f64)
}

/// Runs `work` and returns the bytes that this thread has more on the heap than before; none when
/// [`CountingAllocator`] is not the global allocator.
pub(crate) fn grown_by<T>(work: impl FnOnce() -> T) -> (T, Option<isize>) {
    let before = BALANCE.get();
    let probe = std::hint::black_box(Box::new(0_u64));
    let counting = BALANCE.get() != before;
    drop(probe);
    let result = work();
    (result, counting.then(|| BALANCE.get() - before))
}
