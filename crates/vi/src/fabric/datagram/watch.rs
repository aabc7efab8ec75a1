//! Who sleeps, and who wakes whom.

use rustix::event::{EventfdFlags, epoll};
use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence},
    },
};

/// Tells a VI that there is something for it.
pub(crate) struct Watch {
    ready: AtomicBool,
    armed: AtomicBool,
    /// How often the wire had been looked at when the VI looked last.
    pub(super) seen: AtomicU64,
    /// Whether `epoll` has the file that is always readable.
    signaled: Mutex<bool>,
    /// What is slept on.
    epoll: OwnedFd,
}

impl Watch {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            ready: AtomicBool::new(false),
            armed: AtomicBool::new(false),
            seen: AtomicU64::new(0),
            signaled: Mutex::new(false),
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
        })
    }

    #[inline]
    pub(super) fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Acquire)
    }

    /// There is something, for the VI that looks at this moment and needs no waking.
    #[inline]
    pub(super) fn is_looked_at(&self) {
        self.ready.store(true, Ordering::Relaxed);
    }

    /// There is nothing more. Whoever says so has the lock of the port.
    #[inline]
    pub(super) fn is_done(&self) {
        self.ready.store(false, Ordering::Relaxed);
    }

    #[inline]
    pub(super) fn is_armed(&self) -> bool {
        self.armed.load(Ordering::Relaxed)
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

/// The sleepers of a port. All of them may be woken by a signal, and one, the lookout, by the wire too.
pub(crate) struct Sleepers {
    count: AtomicUsize,
    roles: Mutex<Roles>,
    /// Readable when something has arrived or is due.
    wire: OwnedFd,
    /// Always readable.
    signal: OwnedFd,
}

#[derive(Default)]
struct Roles {
    lookout: Option<Arc<Watch>>,
    armed: Vec<Arc<Watch>>,
}

impl Sleepers {
    pub(super) fn new(wire: OwnedFd) -> io::Result<Self> {
        let signal = rustix::event::eventfd(1, EventfdFlags::CLOEXEC)?;
        Ok(Self { count: AtomicUsize::new(0), roles: Mutex::default(), wire, signal })
    }

    /// Whether anybody sleeps, or is about to.
    #[inline]
    pub(super) fn any(&self) -> bool {
        self.count.load(Ordering::Relaxed) != 0
    }

    pub(super) fn wire(&self) -> BorrowedFd<'_> {
        self.wire.as_fd()
    }

    fn roles(&self) -> std::sync::MutexGuard<'_, Roles> {
        self.roles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// There is something for this VI: wakes its sleeper.
    pub(super) fn ring(&self, watch: &Watch) {
        watch.ready.store(true, Ordering::Release);
        // SYNC POINT: ring. Pairs with `arm`.
        fence(Ordering::SeqCst);
        if watch.is_armed() {
            let mut signaled = watch.signaled.lock().unwrap_or_else(PoisonError::into_inner);
            if !std::mem::replace(&mut *signaled, true) {
                let _ = epoll::add(
                    &watch.epoll,
                    &self.signal,
                    epoll::EventData::new_u64(0),
                    epoll::EventFlags::IN,
                );
            }
        }
    }

    pub(super) fn drain(&self, watch: &Watch) {
        let mut signaled = watch.signaled.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::take(&mut *signaled) {
            let _ = epoll::delete(&watch.epoll, &self.signal);
        }
    }

    /// This one is about to sleep, and looks once more afterwards.
    pub(super) fn arm(&self, watch: &Arc<Watch>) {
        if watch.armed.swap(true, Ordering::Relaxed) {
            return;
        }
        self.count.fetch_add(1, Ordering::Relaxed);
        // SYNC POINT: ring. Pairs with `ring`.
        fence(Ordering::SeqCst);
        let mut roles = self.roles();
        if roles.lookout.as_ref().is_none_or(|lookout| !lookout.is_armed()) {
            self.look_out(&mut roles, watch);
        }
        roles.armed.push(watch.clone());
    }

    /// This one sleeps no longer; whether nobody does.
    pub(super) fn disarm(&self, watch: &Arc<Watch>) -> bool {
        if !watch.armed.swap(false, Ordering::Relaxed) {
            return false;
        }
        let mut roles = self.roles();
        if let Some(at) = roles.armed.iter().position(|other| Arc::ptr_eq(other, watch)) {
            roles.armed.swap_remove(at);
        }
        // The last one: where one thread arms many and disarms them in the same order, the role changes once.
        if roles.lookout.as_ref().is_some_and(|lookout| Arc::ptr_eq(lookout, watch))
            && let Some(other) = roles.armed.last().cloned()
        {
            self.look_out(&mut roles, &other);
        }
        self.count.fetch_sub(1, Ordering::Relaxed) == 1
    }

    fn look_out(&self, roles: &mut Roles, watch: &Arc<Watch>) {
        if roles.lookout.as_ref().is_some_and(|lookout| Arc::ptr_eq(lookout, watch)) {
            return;
        }
        if let Some(before) = roles.lookout.replace(watch.clone()) {
            let _ = epoll::delete(&before.epoll, &self.wire);
        }
        let data = epoll::EventData::new_u64(1);
        if let Err(error) = epoll::add(&watch.epoll, &self.wire, data, epoll::EventFlags::IN) {
            tracing::error!(%error, "a VI cannot wait for its wire");
        }
    }

    /// The VI is no more.
    pub(super) fn leave(&self, watch: &Arc<Watch>) {
        self.disarm(watch);
        let mut roles = self.roles();
        if roles.lookout.as_ref().is_some_and(|lookout| Arc::ptr_eq(lookout, watch)) {
            roles.lookout = None;
            let _ = epoll::delete(&watch.epoll, &self.wire);
        }
    }
}
