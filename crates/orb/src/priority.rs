//! How urgent calls are: real-time CORBA's priorities, from the caller to the servant and on to whom that calls.
//!
//! A call has the priority of the reference it is made by ([`ObjectRef::with_priority`](crate::ObjectRef::with_priority)),
//! otherwise that of the calling thread ([`during`]), otherwise none, which counts as the lowest. In a servant the thread has
//! the priority of the call that is carried out: [`current`] tells it, and what the servant calls has it too.
//!
//! ```
//! use throughline::{Priority, priority};
//!
//! let urgent = Priority::new(20_000).expect("one of 0 to 32767");
//! assert_eq!(priority::current(), None);
//! priority::during(urgent, || assert_eq!(priority::current(), Some(urgent)));
//! ```
//!
//! By IIOP it goes in the service context `RTCorbaPriority`, by the native protocol in a field of the header that has room
//! for 8 bits: there, priorities above 31 that agree in their first five bits arrive as the lowest of them.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

use throughline_cdr::ByteOrder;
use throughline_giop::priority::{PRIORITY_LEN, priority_octets, read_priority};
use throughline_wire::{priority_code, priority_level};

/// A priority of real-time CORBA: 0 to 32767, higher ones are more urgent. It is a measure of its own, not one of an operating
/// system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Priority(i16);

impl Priority {
    /// 0, which calls without a priority have too.
    pub const LOWEST: Self = Self(0);
    /// 32767.
    pub const HIGHEST: Self = Self(i16::MAX);

    /// None for negative numbers.
    #[inline]
    pub const fn new(priority: i16) -> Option<Self> {
        if priority >= 0 { Some(Self(priority)) } else { None }
    }

    /// The number.
    #[inline]
    pub const fn get(self) -> i16 {
        self.0
    }

    /// As in the header of the native protocol.
    #[inline]
    pub(crate) const fn code(self) -> u8 {
        priority_code(self.0.unsigned_abs())
    }

    /// The lowest one with this code.
    #[inline]
    pub(crate) const fn of_code(code: u8) -> Self {
        // At most 31744.
        Self(priority_level(code) as i16)
    }

    /// As in the service context.
    pub(crate) const fn octets(self) -> [u8; PRIORITY_LEN] {
        priority_octets(self.0, ByteOrder::NATIVE)
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The most urgent that clients may be, by where they are. Whoever asks for more gets this much, and is
/// [counted](PriorityCounts::limited).
///
/// Nobody proves who he is, so by default everybody is believed: 32767 for both. A server that keeps a lane for the programs of its
/// own machine sets a lower limit for the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriorityLimits {
    /// For clients that call by TCP and UDP, from wherever.
    pub network: Priority,
    /// For clients on this machine, by shared memory and Unix-domain sockets.
    pub machine: Priority,
}

impl Default for PriorityLimits {
    fn default() -> Self {
        Self { network: Priority::HIGHEST, machine: Priority::HIGHEST }
    }
}

/// What clients have said of priorities that a server did not take as it was said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PriorityCounts {
    /// Requests with a service context that cannot be read, or with a negative number in it. They are carried out as if they had
    /// none.
    pub unreadable: u64,
    /// Requests of more than the [limit](PriorityLimits).
    pub limited: u64,
}

/// No priority.
const NONE: i16 = -1;

thread_local! {
    /// Of what this thread does.
    static CURRENT: Cell<i16> = const { Cell::new(NONE) };
}

/// The priority of what this thread does: in a servant that of the call it carries out, elsewhere what [`during`] has set.
#[inline]
pub fn current() -> Option<Priority> {
    Priority::new(CURRENT.get())
}

/// Runs `work` with this priority: calls of this thread have it meanwhile, unless their reference has one of its own.
pub fn during<T>(priority: Priority, work: impl FnOnce() -> T) -> T {
    let _scope = Scope::enter(priority);
    work()
}

/// While this lives, its thread has a priority.
#[derive(Debug)]
pub(crate) struct Scope {
    before: i16,
    /// Of its thread alone.
    thread: PhantomData<*const ()>,
}

impl Scope {
    #[inline]
    pub(crate) fn enter(priority: Priority) -> Self {
        Self { before: CURRENT.replace(priority.0), thread: PhantomData }
    }
}

impl Drop for Scope {
    #[inline]
    fn drop(&mut self) {
        CURRENT.set(self.before);
    }
}

/// Judges what clients say of their priorities.
#[derive(Debug, Default)]
pub(crate) struct Judge {
    unreadable: AtomicU64,
    limited: AtomicU64,
}

impl Judge {
    pub(crate) fn counts(&self) -> PriorityCounts {
        let Self { unreadable, limited } = self;
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        PriorityCounts { unreadable: count(unreadable), limited: count(limited) }
    }

    /// The priority in a service context, as far as the client may have it.
    #[cold]
    pub(crate) fn said(&self, octets: &[u8], limit: Priority) -> Option<Priority> {
        let Some(priority) = readable(octets) else {
            self.unreadable.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        Some(self.limited(priority, limit))
    }

    /// The priority of a native request, as far as the client may have it.
    pub(crate) fn coded(&self, code: u8, limit: Priority) -> Priority {
        self.limited(Priority::of_code(code), limit)
    }

    fn limited(&self, priority: Priority, limit: Priority) -> Priority {
        if priority > limit {
            self.limited.fetch_add(1, Ordering::Relaxed);
        }
        priority.min(limit)
    }
}

/// What a service context says.
pub(crate) fn readable(octets: &[u8]) -> Option<Priority> {
    read_priority(octets).ok().and_then(Priority::new)
}
