//! A lock that is let go by an ordinary store.

use std::cell::UnsafeCell;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The longest that anybody waits without looking.
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// Something that one thread uses at a time, such as a [`Vi`](crate::Vi) that several serve in turn.
///
/// A `Mutex` says by an exchange that it is free, for which the processor waits until all that was stored and looked at before
/// has happened: for longer than it takes to receive a small message. Here who leaves looks afterwards, by an ordinary load,
/// whether somebody waits, and may miss one who begins to at that moment. So who waits looks from time to time.
///
/// ```
/// let count = throughline_vi::Exclusive::new(1);
/// *count.lock() += 1;
/// assert_eq!(count.try_lock().map(|held| *held), Some(2));
/// ```
pub struct Exclusive<T> {
    taken: AtomicBool,
    waiting: AtomicUsize,
    gate: Mutex<()>,
    left: Condvar,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached through a `Held` only, of which there is one at a time.
unsafe impl<T: Send> Sync for Exclusive<T> {}

/// The right to use what is [`Exclusive`], as long as it lives.
pub struct Held<'a, T>(&'a Exclusive<T>);

// SAFETY: lends no more than `&T`.
unsafe impl<T: Sync> Sync for Held<'_, T> {}

impl<T> Exclusive<T> {
    /// Nobody has it yet.
    pub fn new(value: T) -> Self {
        Self {
            taken: AtomicBool::new(false),
            waiting: AtomicUsize::new(0),
            gate: Mutex::default(),
            left: Condvar::new(),
            value: UnsafeCell::new(value),
        }
    }

    /// None while another thread has it.
    #[inline(always)]
    pub fn try_lock(&self) -> Option<Held<'_, T>> {
        // Acquire: what the last holder wrote is seen. A `Held` that is made frees it in the end: none is made in vain.
        if self.taken.swap(true, Ordering::Acquire) { None } else { Some(Held(self)) }
    }

    /// Waits until no other thread has it.
    #[inline]
    pub fn lock(&self) -> Held<'_, T> {
        self.try_lock().unwrap_or_else(|| self.wait())
    }

    #[cold]
    fn wait(&self) -> Held<'_, T> {
        let mut gate = self.gate();
        self.waiting.fetch_add(1, Ordering::SeqCst);
        loop {
            if let Some(held) = self.try_lock() {
                self.waiting.fetch_sub(1, Ordering::Relaxed);
                return held;
            }
            gate = self.left.wait_timeout(gate, LOOK_AGAIN).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn gate(&self) -> MutexGuard<'_, ()> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cold]
    fn wake(&self) {
        drop(self.gate());
        self.left.notify_one();
    }
}

impl<T> fmt::Debug for Exclusive<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Exclusive(taken: {})", self.taken.load(Ordering::Relaxed))
    }
}

impl<T: fmt::Debug> fmt::Debug for Held<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T> Deref for Held<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: as long as this lives nobody else has the value.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for Held<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and `self` is borrowed exclusively.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> Drop for Held<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        // Release: the next holder sees what was written.
        self.0.taken.store(false, Ordering::Release);
        if self.0.waiting.load(Ordering::Relaxed) != 0 {
            self.0.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn one_thread_at_a_time_has_it_and_all_get_it() {
        let count = Exclusive::new(0_u64);
        let rounds = if cfg!(miri) { 20 } else { 2000 };
        let add = || {
            for _ in 0..rounds {
                let mut count = count.lock();
                let before = *count;
                std::thread::yield_now();
                *count = before + 1;
            }
        };
        std::thread::scope(|scope| {
            (0..4).for_each(|_| drop(scope.spawn(add)));
        });
        assert_eq!(*count.lock(), 4 * rounds);
    }

    #[test]
    fn who_comes_too_late_is_refused_or_waits() {
        let word = Exclusive::new("first");
        let mut held = word.try_lock().expect("nobody has it");
        assert!(word.try_lock().is_none());
        std::thread::scope(|scope| {
            let other = scope.spawn(|| (*word.lock(), Instant::now()));
            std::thread::sleep(Duration::from_millis(20));
            *held = "second";
            let left = Instant::now();
            drop(held);
            let (seen, got) = other.join().expect("it does not fail");
            assert_eq!(seen, "second");
            assert!(got >= left);
        });
    }
}
