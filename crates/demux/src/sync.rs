//! Atomics, cells and the writers' lock: the real ones, or loom's when the interleavings are modelled.

#[cfg(all(feature = "std", not(loom)))]
pub(crate) use core::sync::atomic::AtomicPtr;
#[cfg(not(loom))]
pub(crate) use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering, fence};
#[cfg(all(target_has_atomic = "64", not(loom)))]
pub(crate) use core::{
    hint::spin_loop,
    sync::atomic::{AtomicU16, AtomicU64},
};
#[cfg(all(feature = "std", loom))]
pub(crate) use loom::sync::atomic::AtomicPtr;
#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering};

#[cfg(loom)]
pub(crate) use loom::{hint::spin_loop, sync::atomic::fence};

#[cfg(loom)]
pub(crate) use loom::cell::UnsafeCell;

/// [`core::cell::UnsafeCell`] in the shape of loom's, so that loom can watch every access.
#[cfg(not(loom))]
#[repr(transparent)]
pub(crate) struct UnsafeCell<T>(core::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> UnsafeCell<T> {
    /// Hands out the address for reading.
    #[inline(always)]
    pub(crate) fn with<O>(&self, read: impl FnOnce(*const T) -> O) -> O {
        read(self.0.get())
    }

    /// Hands out the address for writing.
    #[inline(always)]
    pub(crate) fn with_mut<O>(&self, write: impl FnOnce(*mut T) -> O) -> O {
        write(self.0.get())
    }
}

/// The lock that serialises writers. Poisoning is ignored: no invariant here outlives a panic half done.
pub(crate) struct Lock<T>(imp::Mutex<T>);

impl<T> Lock<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(imp::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> imp::Guard<'_, T> {
        imp::lock(&self.0)
    }
}

#[cfg(loom)]
mod imp {
    pub(crate) use loom::sync::{Mutex, MutexGuard as Guard};

    pub(crate) fn lock<T>(mutex: &Mutex<T>) -> Guard<'_, T> {
        mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(all(feature = "std", not(loom)))]
mod imp {
    pub(crate) use std::sync::{Mutex, MutexGuard as Guard};

    pub(crate) fn lock<T>(mutex: &Mutex<T>) -> Guard<'_, T> {
        mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(not(any(feature = "std", loom)))]
mod imp {
    use core::{
        cell::UnsafeCell,
        hint,
        ops::{Deref, DerefMut},
        sync::atomic::{AtomicBool, Ordering},
    };

    /// A spin lock for targets without an operating system; writers are rare and their sections short.
    pub(crate) struct Mutex<T> {
        locked: AtomicBool,
        value: UnsafeCell<T>,
    }

    // SAFETY: `value` is reached only through `Guard`, of which `locked` admits one at a time.
    unsafe impl<T: Send> Sync for Mutex<T> {}

    impl<T> Mutex<T> {
        pub(crate) fn new(value: T) -> Self {
            Self { locked: AtomicBool::new(false), value: UnsafeCell::new(value) }
        }
    }

    pub(crate) struct Guard<'a, T>(&'a Mutex<T>);

    pub(crate) fn lock<T>(mutex: &Mutex<T>) -> Guard<'_, T> {
        while mutex.locked.swap(true, Ordering::Acquire) {
            hint::spin_loop();
        }
        Guard(mutex)
    }

    impl<T> Deref for Guard<'_, T> {
        type Target = T;
        fn deref(&self) -> &T {
            // SAFETY: this guard holds the lock.
            unsafe { &*self.0.value.get() }
        }
    }

    impl<T> DerefMut for Guard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            // SAFETY: this guard holds the lock.
            unsafe { &mut *self.0.value.get() }
        }
    }

    impl<T> Drop for Guard<'_, T> {
        fn drop(&mut self) {
            self.0.locked.store(false, Ordering::Release);
        }
    }
}
