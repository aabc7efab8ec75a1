//! The leader's round: it looks at all links, and sleeps when none has anything.

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::super::link::{Desk, Foresight};
use super::super::park::{Parking, Spin};
use super::super::roles::Term;
use super::Shared;
use super::line::Line;
use super::serve::Memory;
use crate::native::Recent;
use crate::transport::reactor::lock;

/// So many looks in vain, and the system is asked whether clients are gone.
const LOOKS_BEFORE_ASKING: u32 = 1 << 16;

/// The lines, at which a leader looks in turn.
struct Round {
    lines: Arc<[Arc<Line>]>,
    /// The first of them.
    start: usize,
    /// There is only one, and who leads may look at it for a while.
    lingers: bool,
}

/// What a worker leads with, in all of its terms: taking the lead allocates nothing.
pub(super) struct Leading<'s> {
    memory: Memory<'s>,
    parking: Parking,
    /// The changes of the lines up to which `parking` watches them.
    watched: u64,
}

impl Leading<'_> {
    fn watch(&mut self, changes: u64, round: &Round) -> io::Result<()> {
        if self.watched != changes {
            self.parking.watch(round.lines.iter().map(|line| &line.bell))?;
            self.watched = changes;
        }
        Ok(())
    }
}

impl Shared {
    pub(super) fn prepare_to_lead(&self) -> io::Result<Leading<'_>> {
        let memory = Memory {
            desk: Desk::new(),
            recent: Recent::default(),
            overflow: Vec::new(),
            foresight: Foresight::default(),
        };
        Ok(Leading { memory, parking: Parking::new(self.nudge.as_fd())?, watched: 0 })
    }

    /// Looks at all links until the term is over.
    pub(super) fn lead<'s>(&'s self, term: Term, leading: &mut Leading<'s>) -> io::Result<()> {
        let mut spin = Spin::new(self.limits.link.spin);
        let (mut seen, mut looks) = (0, 0_u32);
        // Not kept from term to term: who does not lead keeps no link alive.
        let mut round = Round { lines: Arc::default(), start: 0, lingers: false };
        while self.roles.lasts(term) {
            let changes = self.changes.load(Ordering::Acquire);
            if changes != seen {
                seen = changes;
                round = self.round();
                leading.watch(changes, &round)?;
            }
            if self.look(&round, term, &mut leading.memory) {
                spin.found();
                continue;
            }
            looks = looks.wrapping_add(1);
            if spin.is_over() {
                self.sleep(&leading.parking, &round.lines, (seen, term))?;
                spin.slept();
            } else if looks.is_multiple_of(LOOKS_BEFORE_ASKING) {
                leading.parking.look(round.lines.iter().map(|line| &line.bell))?;
            } else {
                spin.pause();
            }
        }
        Ok(())
    }

    #[cold]
    fn sleep(&self, parking: &Parking, lines: &[Arc<Line>], (seen, term): (u64, Term)) -> io::Result<()> {
        self.roles.sleep();
        let slept = parking.sleep(lines.iter().map(|line| &line.bell), || {
            self.changes.load(Ordering::Acquire) != seen
                || !self.roles.lasts(term)
                // A link whose servant still runs, with another worker, is that worker's.
                || lines.iter().any(|line| line.bell.ready() && line.link.try_lock().is_some())
        });
        self.roles.wake();
        slept
    }

    /// Serves what is there; whether anything was.
    #[inline]
    fn look<'s>(&'s self, round: &Round, term: Term, memory: &mut Memory<'s>) -> bool {
        let mut found = false;
        let (before, from) = round.lines.split_at(round.start);
        for line in from.iter().chain(before) {
            if line.bell.ready() {
                found |= self.serve(line, term, memory, round.lingers);
                if !self.roles.lasts(term) {
                    self.go_on_behind(line, round);
                    break;
                }
            }
        }
        found
    }

    /// All lines, beginning with those that the last leader did not come to.
    #[cold]
    fn round(&self) -> Round {
        let lines = Arc::clone(&lock(&self.lines));
        Round {
            start: self.first.load(Ordering::Relaxed) % lines.len().max(1),
            lingers: lines.len() == 1 && !self.limits.link.spin.is_zero(),
            lines,
        }
    }

    /// The lead was lost in a servant of this line: the next leader begins behind it. Otherwise a few lines whose servants
    /// take long would be all that is ever served.
    #[cold]
    fn go_on_behind(&self, line: &Arc<Line>, round: &Round) {
        let at = round.lines.iter().position(|other| Arc::ptr_eq(other, line)).unwrap_or(0);
        self.first.store(at + 1, Ordering::Relaxed);
    }
}
