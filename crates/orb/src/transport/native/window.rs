//! Many calls under way at a time on a link of one thread: what [`begun`](crate::begun) calls go by.
//!
//! As the thread's [own](super::client) links for one call at a time, these need no lock; as on a [pipe](super::pipe), a request's
//! sequence number is the place of its call in a table, since servants that take long are overtaken. Only requests that lie in
//! one line of shared memory go this way. Nobody reads while the thread is busy elsewhere; so a bounded number of answers is
//! outstanding, which the ring has room for.

use std::cell::{Cell, RefCell};
use std::num::{NonZeroU32, NonZeroU64};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use throughline_vi::SMALL_MESSAGE;
use throughline_wire::{Flags, Flow, Header};

use super::answers::{PipeReply, SmallReply};
use super::client::{NativeServer, patience};
use super::link::{Link, LinkError};
use super::pipe::{deliver_received, deliver_small, failure, read};
use super::pipe_calls::{Found, PipeCalls, PipeFailure};
use super::plan::{Plan, Wanted};

/// So many requests may be unanswered, lest answers wait in the server for a thread that does not read.
const MOST: usize = 128;

/// Answers that nobody has taken, and those outstanding.
const MOST_KEPT: usize = 1 << 16;

/// A call of the calling thread: the number of the window, and below it that of the call. Fits into a register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticket(NonZeroU64);

impl Ticket {
    #[inline(always)]
    fn new(window: NonZeroU32, id: u32) -> Self {
        Self(NonZeroU64::new(u64::from(window.get()) << 32 | u64::from(id)).expect("the window has a number"))
    }

    #[inline(always)]
    fn window(self) -> u32 {
        (self.0.get() >> 32) as u32
    }

    #[inline(always)]
    fn id(self) -> u32 {
        self.0.get() as u32
    }
}

/// How waiting for a call ended.
pub(crate) enum Waited {
    /// The answer was copied out.
    Small,
    /// There is another answer, or none.
    Other(Box<(Plan, Result<PipeReply, PipeFailure>)>),
}

/// A thread's link to a server, and the calls under way on it.
struct Window {
    number: NonZeroU32,
    server: Arc<NativeServer>,
    link: Link,
    flow: Flow,
    calls: PipeCalls<Plan>,
}

thread_local! {
    /// The one that this thread used last, unless it is in use.
    static LAST: Cell<Option<Box<Window>>> = const { Cell::new(None) };
    /// The others that are not in use.
    #[expect(clippy::vec_box, reason = "what is taken out and put back at every call should be small")]
    static OTHERS: RefCell<Vec<Box<Window>>> = const { RefCell::new(Vec::new()) };
}

/// Not in use any more. Fails only while the thread is ending.
#[inline(always)]
fn keep(window: Box<Window>) {
    let other = LAST.try_with(|last| last.replace(Some(window)));
    if let Ok(Some(other)) = other {
        let _ = OTHERS.try_with(|others| others.borrow_mut().push(other));
    }
}

/// Takes the window that is wanted out, if there is one.
#[inline(always)]
fn find(wanted: impl Fn(&Window) -> bool) -> Option<Box<Window>> {
    match LAST.try_with(Cell::take).ok()? {
        Some(window) if wanted(&window) => Some(window),
        other => find_other(other, wanted),
    }
}

#[inline(never)]
fn find_other(last: Option<Box<Window>>, wanted: impl Fn(&Window) -> bool) -> Option<Box<Window>> {
    let find = |others: &RefCell<Vec<Box<Window>>>| {
        let mut others = others.borrow_mut();
        others.extend(last);
        let at = others.iter().position(|window| wanted(window))?;
        Some(others.swap_remove(at))
    };
    OTHERS.try_with(find).ok().flatten()
}

/// Closes the calling thread's windows that are of no use any more.
pub(super) fn drop_closed() {
    let _ = OTHERS.try_with(|others| {
        let last = LAST.try_with(Cell::take).ok().flatten();
        others.borrow_mut().extend(last);
        others.borrow_mut().retain(|window| window.is_alive() || window.calls.in_use());
    });
}

/// Sends a request whose arguments are in the message, behind the place for its header. None if it must go another way.
#[inline(always)]
pub(crate) fn send(
    server: &Arc<NativeServer>,
    header: &Header,
    (message, used): (&mut [u8; SMALL_MESSAGE], usize),
    wanted: &Wanted<'_>,
) -> Option<Ticket> {
    let found = find(|window| Arc::ptr_eq(&window.server, server) && window.is_alive());
    let mut window = found.or_else(|| connect(server, wanted.deadline))?;
    let id = window.send(header, message, used, wanted);
    let ticket = id.map(|id| Ticket::new(window.number, id));
    keep(window);
    ticket
}

/// Waits for the answer to a call.
#[inline]
pub(crate) fn wait(ticket: Ticket, into: &mut SmallReply) -> Waited {
    let Some(mut window) = find(|window| window.number.get() == ticket.window()) else { return gone() };
    let found = window.take_or_receive(ticket.id(), into);
    if found == Found::Small {
        keep(window);
        return Waited::Small;
    }
    let outcome = window.take(ticket.id());
    keep(window);
    Waited::Other(Box::new(outcome))
}

/// Nobody wants the answer any more.
#[cold]
pub(crate) fn forget(ticket: Ticket) {
    if let Some(mut window) = find(|window| window.number.get() == ticket.window()) {
        window.calls.give_up(ticket.id());
        keep(window);
    }
}

#[cold]
fn connect(server: &Arc<NativeServer>, deadline: Option<Instant>) -> Option<Box<Window>> {
    static NUMBERS: AtomicU32 = AtomicU32::new(1);
    drop_closed();
    // A thread that is ending, which keeps none, goes another way too.
    let keeps = LAST.try_with(|_| ()).is_ok() && OTHERS.try_with(|_| ()).is_ok();
    if !server.is_near() || !keeps {
        return None;
    }
    // No number is given twice: when there are no more, calls go another way.
    let next = |number: u32| number.checked_add(1);
    let number = NUMBERS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).ok()?;
    let mut link = server.new_link(false, patience(false, deadline)).ok()?;
    link.expect_many();
    Some(Box::new(Window {
        number: NonZeroU32::new(number)?,
        server: Arc::clone(server),
        link,
        flow: super::flows().next(),
        calls: PipeCalls::default(),
    }))
}

/// Only a thread that is ending has closed windows with calls.
#[cold]
fn gone() -> Waited {
    Waited::Other(Box::new((
        Plan::default(),
        Err(PipeFailure::Lost("the thread that began the call is ending".to_owned())),
    )))
}

impl Window {
    fn is_alive(&self) -> bool {
        self.link.is_open() && !self.server.is_closed()
    }

    #[inline(always)]
    fn send(
        &mut self,
        header: &Header,
        message: &mut [u8; SMALL_MESSAGE],
        used: usize,
        wanted: &Wanted<'_>,
    ) -> Option<u32> {
        if self.calls.outstanding() >= MOST && !self.has_room() {
            return None;
        }
        let (id, plan) = self.calls.add_noted(wanted.deadline, MOST_KEPT)?;
        plan.set(wanted, message, used);
        let flags = header.flags.with(Flags::CONCURRENT);
        let header = Header { flow: self.flow, sequence: id, flags, ..*header };
        if header.write(message).is_ok() && self.link.send_line(message, used) {
            return Some(id);
        }
        self.calls.forget(id);
        None
    }

    #[cold]
    fn has_room(&mut self) -> bool {
        self.read();
        self.calls.outstanding() < MOST
    }

    /// Reads what is there; whether anything was.
    #[inline]
    fn read(&mut self) -> bool {
        // Calls of this table wake nobody.
        let (found, result) = read(&mut self.link, &mut self.calls, &mut Vec::new());
        if let Err(error) = result {
            self.end(&error);
        }
        found > 0
    }

    /// The link is over, and with it all calls.
    #[cold]
    fn end(&mut self, error: &LinkError) {
        tracing::debug!(%error, "a thread's link for begun calls is over");
        self.server.suspend(error);
        let failure = failure(error, &self.link);
        self.link.abort();
        self.calls.end(&failure, |_| true, &mut Vec::new());
    }

    /// Until the call has ended.
    #[inline(never)]
    fn wait(&mut self, id: u32, into: &mut SmallReply) -> Found {
        let mut has_read = false;
        loop {
            let found = self.calls.take_small(id, into);
            if found != Found::Waiting {
                return found;
            }
            // More and more may come, and this answer never. Mostly it is in what was read first.
            if has_read
                && let Some(deadline) = self.deadline(id)
                && Instant::now() >= deadline
            {
                self.time_out(deadline);
            } else if !self.read() {
                self.receive(id);
            } else {
                has_read = true;
            }
        }
    }

    /// Mostly the next answer is the one that is waited for: it goes where it is read at once. Others go into the table.
    #[inline(always)]
    fn take_or_receive(&mut self, id: u32, into: &mut SmallReply) -> Found {
        let (link, mut other) = (&mut self.link, None);
        let found = self.calls.take_small_or(id, into, |into| {
            let Some(len) = link.take_small_to(into.line()) else { return false };
            let answered = into.answers(id, len);
            other = if answered { None } else { Some(len) };
            answered
        });
        if found != Found::Waiting {
            return found;
        }
        if let Some(len) = other {
            self.deliver_other((len, into.line()));
        }
        self.wait(id, into)
    }

    /// The answer to another call, or another answer.
    #[cold]
    fn deliver_other(&mut self, received: (usize, &[u8; SMALL_MESSAGE])) {
        // Calls of this table wake nobody.
        if let Err(error) = deliver_small(&mut self.calls, received, &mut Vec::new()) {
            self.end(&error);
        }
    }

    /// Waits until something comes.
    #[inline(never)]
    fn receive(&mut self, id: u32) {
        crate::transport::server::before_waiting();
        let deadline = self.deadline(id);
        let received = self.link.receive(deadline);
        match received.and_then(|()| deliver_received(&mut self.link, &mut self.calls, &mut Vec::new())) {
            Ok(()) => {}
            Err(error) if error.is_timeout() => deadline.into_iter().for_each(|it| self.time_out(it)),
            Err(error) => self.end(&error),
        }
    }

    fn deadline(&self, id: u32) -> Option<Instant> {
        self.calls.note(id).and_then(|plan| plan.deadline)
    }

    /// Ends the calls whose time is over by then.
    #[cold]
    fn time_out(&mut self, then: Instant) {
        let due = |deadline: Option<Instant>| deadline.is_some_and(|deadline| deadline <= then);
        self.calls.end(&PipeFailure::TimedOut, due, &mut Vec::new());
    }

    /// What became of a call that is waited for no longer.
    #[cold]
    fn take(&mut self, id: u32) -> (Plan, Result<PipeReply, PipeFailure>) {
        let outcome = self.calls.take(id);
        let outcome = outcome
            .unwrap_or_else(|| Err(PipeFailure::Lost("no call of this number is under way".to_owned())));
        (self.calls.note(id).copied().unwrap_or_default(), outcome)
    }
}
