//! What a leader does with the messages of one link.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use throughline_cdr::Output;
use throughline_vi::Held;
use throughline_wire::Flags;

use super::super::link::{Desk, Foresight, Link, LinkError, Octets, Taken};
use super::super::roles::Term;
use super::line::Line;
use super::{CALLER, Shared};
use crate::lane_pool::Origin;
use crate::native::Recent;
use crate::placement::Placed;

/// So many messages of one link are served before others are looked at.
const TURN: usize = 32;

/// What a worker works with.
pub(super) struct Memory<'s> {
    pub(super) desk: Desk,
    pub(super) recent: Recent<'s>,
    /// For answers that fit nowhere else.
    pub(super) overflow: Vec<u8>,
    pub(super) foresight: Foresight,
}

impl Shared {
    /// Serves what this line has; whether it had anything. A worker that `lingers`, and whose client waits for each answer, stays
    /// for a moment, and finds the next request without all that comes before.
    pub(super) fn serve<'s>(
        &'s self,
        line: &Arc<Line>,
        term: Term,
        memory: &mut Memory<'s>,
        lingers: bool,
    ) -> bool {
        let found = self.take_turn(line, term, memory, lingers);
        memory.recent.forget();
        found
    }

    #[inline(always)]
    fn take_turn<'s>(
        &'s self,
        line: &Arc<Line>,
        term: Term,
        memory: &mut Memory<'s>,
        mut lingers: bool,
    ) -> bool {
        // Otherwise another worker is in a servant that this link called.
        let Some(mut link) = line.link.try_lock() else { return false };
        if self.dispatcher.has_lanes() {
            return self.serve_beside_lanes(line, link, term, &mut memory.overflow);
        }
        CALLER.set(line.process);
        for served in 0..TURN {
            let ran = match link.take_to(&mut memory.desk) {
                Taken::Alone => self.run_alone(link, term, memory),
                Taken::Shared => {
                    lingers = false;
                    self.run_from_desk(line, link, term, memory)
                }
                Taken::Nothing => match link.try_receive() {
                    Ok(true) => {
                        memory.recent.forget();
                        self.run_received(line, link, term, &mut memory.overflow)
                    }
                    Ok(false) if served > 0 && lingers && line.stay(&link, &mut memory.foresight) => continue,
                    Ok(false) => return served > 0,
                    Err(error) => Err(error),
                },
            };
            match ran {
                Ok(Some(guard)) => link = guard,
                Ok(None) => return true,
                Err(error) => return self.end(line, &error),
            }
        }
        true
    }

    /// As [`serve`](Self::serve), where some adapters serve in lanes.
    #[inline(never)]
    fn serve_beside_lanes<'l>(
        &self,
        line: &'l Arc<Line>,
        mut link: Held<'l, Link>,
        term: Term,
        overflow: &mut Vec<u8>,
    ) -> bool {
        CALLER.set(line.process);
        self.crowd.has_lanes();
        for served in 0..TURN {
            match link.try_receive() {
                Ok(true) => {}
                Ok(false) => return served > 0,
                Err(error) => return self.end(line, &error),
            }
            let origin = || {
                self.in_lanes.fetch_add(1, Ordering::Relaxed);
                Arc::clone(line) as Arc<dyn Origin>
            };
            let placed = match self.dispatcher.place_native(link.received(), self.limit, origin, overflow) {
                Placed::Here => self.run_received(line, link, term, overflow),
                Placed::Taken => {
                    link.lend();
                    Ok(Some(link))
                }
                Placed::Refused => self.answer_refused(link, term, overflow),
            };
            match placed {
                Ok(Some(guard)) => link = guard,
                Ok(None) => return true,
                Err(error) => return self.end(line, &error),
            }
        }
        true
    }

    /// Serves the request received last. Gives the link back if this worker still leads.
    #[inline(always)]
    fn run_received<'l>(
        &self,
        line: &'l Line,
        mut link: Held<'l, Link>,
        term: Term,
        overflow: &mut Vec<u8>,
    ) -> Result<Option<Held<'l, Link>>, LinkError> {
        // Whoever brings the answer to a message that was lent needs the link.
        let shared = Flags::peek(link.at_hand()).has(Flags::CONCURRENT) || link.has_errands();
        if shared && link.can_check_out() {
            return self.run_errand(line, link, term, overflow);
        }
        self.roles.beat(term);
        let answered = link.answer(overflow, |request, output| self.handle(request, output));
        let leads = self.roles.beat(term);
        answered.map(|()| leads.then_some(link))
    }

    /// Serves a small request that lies on the worker's desk. Gives the link back if this worker still leads.
    #[inline(always)]
    fn run_alone<'s, 'l>(
        &'s self,
        mut link: Held<'l, Link>,
        term: Term,
        Memory { desk, recent, overflow, .. }: &mut Memory<'s>,
    ) -> Result<Option<Held<'l, Link>>, LinkError> {
        self.roles.beat(term);
        desk.answer(overflow, |request, output| {
            self.dispatcher.handle_native(recent, Octets::whole(request), output, self.limit);
        });
        recent.forget();
        let sent = link.send_from(desk, overflow, || {});
        let leads = self.roles.beat(term);
        sent.map(|()| leads.then_some(link))
    }

    /// As [`run_errand`](Self::run_errand), with a small request that lies on the worker's desk.
    #[inline(always)]
    fn run_from_desk<'s, 'l>(
        &'s self,
        line: &'l Line,
        link: Held<'l, Link>,
        term: Term,
        Memory { desk, recent, overflow, .. }: &mut Memory<'s>,
    ) -> Result<Option<Held<'l, Link>>, LinkError> {
        drop(link);
        self.roles.beat(term);
        // Looked for now, the next request arrives while the servant runs.
        let others_wait = line.bell.ready();
        desk.answer(overflow, |request, output| {
            self.dispatcher.handle_native(recent, Octets::whole(request), output, self.limit);
        });
        if !self.roles.lasts(term) || !others_wait {
            recent.forget();
        }
        let mut link = line.link.try_lock().unwrap_or_else(|| {
            recent.forget();
            line.lock_to_answer(&self.crowd)
        });
        let sent = link.send_from(desk, overflow, || recent.forget());
        let leads = self.roles.beat(term);
        sent.map(|()| leads.then_some(link))
    }

    /// Serves a request whose sender may send others before it has the answer: a worker that takes the lead serves them.
    /// Gives the link back if this worker still leads.
    #[inline]
    fn run_errand<'l>(
        &self,
        line: &'l Line,
        link: Held<'l, Link>,
        term: Term,
        overflow: &mut Vec<u8>,
    ) -> Result<Option<Held<'l, Link>>, LinkError> {
        // Whoever takes no answers keeps this worker waiting, before and after; not the others, as long as the beat is odd.
        self.roles.beat(term);
        let ran = self.run_away(line, link, overflow);
        let leads = self.roles.beat(term);
        ran.map(|link| leads.then_some(link))
    }

    #[inline]
    fn run_away<'l>(
        &self,
        line: &'l Line,
        mut link: Held<'l, Link>,
        overflow: &mut Vec<u8>,
    ) -> Result<Held<'l, Link>, LinkError> {
        let mut errand = link.check_out()?;
        drop(link);
        errand.answer(overflow, |request, output| self.handle(Octets::whole(request), output));
        let mut link = line.lock_to_answer(&self.crowd);
        link.check_in(errand, overflow)?;
        Ok(link)
    }

    /// Answers the request received last, which is not carried out.
    #[cold]
    fn answer_refused<'l>(
        &self,
        mut link: Held<'l, Link>,
        term: Term,
        answer: &mut Vec<u8>,
    ) -> Result<Option<Held<'l, Link>>, LinkError> {
        self.roles.beat(term);
        link.lend();
        let sent = link.hand_back(answer);
        let leads = self.roles.beat(term);
        sent.map(|()| leads.then_some(link))
    }

    /// Of a request that does not come from a desk.
    #[inline(never)]
    pub(super) fn handle(&self, request: Octets<'_>, output: Output<'_>) {
        self.dispatcher.handle_native(&mut Recent::default(), request, output, self.limit);
    }
}
