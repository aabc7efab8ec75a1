//! Waiting for a future on a thread of one's own, which reads for it meanwhile.
//!
//! An executor that knows nothing of links sleeps when no future can go on; a worker of the ORB must then read for them, and
//! wake it. [`block_on`] looks at the links itself for a while, so that an answer that comes soon costs no thread's waking.

use std::cell::{Cell, RefCell};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

use super::client::NativeServer;
use super::park::Spin;

thread_local! {
    /// Whether futures that are polled on this thread are driven by it.
    static DRIVES: Cell<bool> = const { Cell::new(false) };
    /// The servers that they wait for.
    static SERVERS: RefCell<Vec<Arc<NativeServer>>> = const { RefCell::new(Vec::new()) };
    static ALARM: (Arc<Alarm>, Waker) = Alarm::new();
}

/// What wakes this thread.
struct Alarm {
    rang: AtomicBool,
    thread: Thread,
}

impl Alarm {
    fn new() -> (Arc<Self>, Waker) {
        let alarm = Arc::new(Self { rang: AtomicBool::new(false), thread: std::thread::current() });
        (Arc::clone(&alarm), Waker::from(alarm))
    }
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.rang.swap(true, Ordering::Release) {
            self.thread.unpark();
        }
    }
}

/// Whether the calling thread looks at this server's pipe itself, from now on.
#[inline]
pub(crate) fn adopt(server: &Arc<NativeServer>) -> bool {
    // Fails only while the thread is ending: then a worker looks.
    DRIVES.get()
        && SERVERS
            .try_with(|servers| {
                let mut servers = servers.borrow_mut();
                if !servers.iter().any(|other| Arc::ptr_eq(other, server)) {
                    servers.push(Arc::clone(server));
                }
            })
            .is_ok()
}

/// The servers that futures on this thread wait for, to be put back.
fn take_servers() -> Vec<Arc<NativeServer>> {
    SERVERS.try_with(RefCell::take).unwrap_or_default()
}

/// The end of driving, also by a panic: those who wait elsewhere for what was driven here are left to the ORB's workers.
struct Driving<'a> {
    alarm: &'a Alarm,
    outer: bool,
    waited: bool,
}

impl<'a> Driving<'a> {
    #[inline]
    fn begin(alarm: &'a Alarm) -> Self {
        Self { alarm, outer: DRIVES.replace(true), waited: false }
    }

    /// Looks at the pipes until the alarm rings, and sleeps when that takes long.
    fn wait(&mut self) {
        if !std::mem::replace(&mut self.waited, true) {
            crate::transport::server::before_waiting();
        }
        // Wakers are called from here; what futures those poll is no business of this thread's.
        let mut servers = take_servers();
        DRIVES.set(false);
        let mut spin = Spin::new(servers.iter().map(|server| server.spin()).max().unwrap_or_default());
        while !self.alarm.rang.swap(false, Ordering::Acquire) {
            if servers.iter().any(|server| server.read_replies()) {
                continue;
            }
            if spin.is_over() {
                servers.iter().for_each(|server| server.attend());
                while !self.alarm.rang.load(Ordering::Acquire) {
                    std::thread::park();
                }
            } else {
                spin.pause();
            }
        }
        DRIVES.set(true);
        let _ = SERVERS.try_with(|others| {
            servers.append(&mut others.borrow_mut());
            others.replace(servers);
        });
    }

    #[cold]
    fn leave(&self) {
        let mut servers = take_servers();
        servers.drain(..).for_each(|server| server.attend_to_sleepers());
        let _ = SERVERS.try_with(|none| none.replace(servers));
    }
}

impl Drop for Driving<'_> {
    #[inline]
    fn drop(&mut self) {
        DRIVES.set(self.outer);
        if self.outer {
            // What rang here may have meant the outer future, which also keeps the servers.
            self.alarm.rang.store(true, Ordering::Release);
        } else if self.waited {
            self.leave();
        }
    }
}

/// Waits for a future, and receives for it meanwhile what comes by the native protocol: the fastest way to wait for calls
/// whose servers share memory with this process. Any other executor does as well, only slower.
///
/// Calls that were [begun](crate::AsyncCall::begin) before go on meanwhile. For many calls of one thread there is
/// [`Begun`](crate::Begun), which is faster.
pub fn block_on<F: IntoFuture>(future: F) -> F::Output {
    let mut future = pin!(future.into_future());
    match ALARM.try_with(|alarm| drive(alarm, future.as_mut())) {
        Ok(output) => output,
        // The thread is ending, and has none any more.
        Err(_) => drive(&Alarm::new(), future),
    }
}

#[inline]
fn drive<F: Future>((alarm, waker): &(Arc<Alarm>, Waker), mut future: Pin<&mut F>) -> F::Output {
    let mut cx = Context::from_waker(waker);
    let mut driving = Driving::begin(alarm);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        driving.wait();
    }
}
