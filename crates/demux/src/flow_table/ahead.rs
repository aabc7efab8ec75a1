//! Memory made ready ahead of its use, by a thread of its own: a huge page is cleared before it can be used, which
//! takes longer than an insertion may.

use alloc::sync::Arc;
use core::{
    ffi::c_void,
    ptr::NonNull,
    sync::atomic::{AtomicUsize, Ordering},
};
use std::thread::{self, JoinHandle};

use rustix::mm::{Advice, madvise};

use super::space::HUGE;

/// Bytes made ready beyond those in use, at most.
const AHEAD: usize = 16 * HUGE;

/// At least. To wake a thread takes an insertion 25 us and more, so there is something to do for it then.
const LEAST_AHEAD: usize = AHEAD / 2;

/// Bytes made ready before there is a thread, which takes a while to begin: the first insertions come at once.
const AT_ONCE: usize = 2 * HUGE;

/// Tells the thread to end.
const STOP: usize = usize::MAX;

/// Whoever makes a space ready, as far as it was told.
pub(super) struct Ahead {
    /// Bytes from the start that are to be ready, up to `end`.
    wanted: Arc<AtomicUsize>,
    start: Start,
    end: usize,
    thread: Option<JoinHandle<()>>,
}

/// The address of memory that outlives the thread which is given it.
#[derive(Clone, Copy)]
struct Start(NonNull<u8>);

// SAFETY: it is passed to the system only.
unsafe impl Send for Start {}

impl Ahead {
    /// Makes whole huge pages of `bytes` from `start` ready, the first ones at once.
    ///
    /// # Safety
    /// The memory is ours and stays until this value is dropped.
    pub(super) unsafe fn new(start: NonNull<u8>, bytes: usize) -> Self {
        let end = bytes / HUGE * HUGE;
        let wanted = Arc::new(AtomicUsize::new(AHEAD.min(end)));
        let (start, told) = (Start(start), Arc::clone(&wanted));
        let at_once = AT_ONCE.min(end);
        let made = (0..at_once).step_by(HUGE).all(|from| populate(&start, from));
        let work = move || {
            if made {
                make_ready(&start, &told, at_once, end)
            }
        };
        // Without the thread, memory becomes ready when it is first used.
        let thread = thread::Builder::new().name("flow-table-pages".into()).spawn(work).ok();
        Self { wanted, start, end, thread }
    }

    /// Says that memory is in use up to here.
    #[inline]
    pub(super) fn reach(&self, bytes: usize) {
        let wanted = self.wanted.load(Ordering::Relaxed);
        if wanted < self.end && bytes.saturating_add(LEAST_AHEAD) > wanted {
            self.tell(bytes.next_multiple_of(HUGE).saturating_add(AHEAD).min(self.end));
        }
    }

    /// Makes memory ready up to here and returns then, whatever the thread does meanwhile.
    pub(super) fn make_ready(&self, bytes: usize) {
        let end = bytes.next_multiple_of(HUGE).min(self.end);
        // One that can't be made ready becomes so when it is first used.
        let _ = (0..end).step_by(HUGE).all(|from| populate(&self.start, from));
    }

    #[cold]
    fn tell(&self, wanted: usize) {
        self.wanted.store(wanted, Ordering::Relaxed);
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.tell(STOP);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn make_ready(start: &Start, wanted: &AtomicUsize, mut ready: usize, end: usize) {
    while ready < end {
        let told = wanted.load(Ordering::Relaxed);
        if told == STOP {
            return;
        }
        if ready >= told {
            thread::park();
            continue;
        }
        if !populate(start, ready) {
            return;
        }
        ready += HUGE;
    }
}

/// Makes the pages that lie in `bytes` from `first` ready, whatever their size: each one that is not takes who writes to it
/// first as long as a dozen insertions.
///
/// # Safety
/// The memory is ours.
pub(super) unsafe fn make_pages_ready(first: NonNull<u8>, bytes: usize) {
    let page = rustix::param::page_size();
    let before = first.align_offset(page);
    let bytes = bytes.saturating_sub(before) / page * page;
    // SAFETY: within the memory, unless nothing is to be made ready; populating changes no contents.
    let made =
        unsafe { madvise(first.as_ptr().wrapping_add(before).cast(), bytes, Advice::LinuxPopulateWrite) };
    // Where that can't be done, they become so when they are first used.
    let _ = made;
}

/// Makes one huge page ready; false if the system does not do so.
fn populate(start: &Start, from: usize) -> bool {
    // SAFETY: within memory that stays while a thread makes it ready; populating changes no contents.
    let made =
        unsafe { madvise(start.0.as_ptr().add(from).cast::<c_void>(), HUGE, Advice::LinuxPopulateWrite) };
    made.is_ok()
}
