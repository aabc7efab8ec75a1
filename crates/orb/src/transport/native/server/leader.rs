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

/// The lines in the order in which a leader looks at them.
struct Round {
    lines: Arc<[Arc<Line>]>,
    /// How far that is from their own order.
    start: usize,
    /// There is only one, and who leads may look at it for a while.
    lingers: bool,
}

impl Shared {
    /// Looks at all links until the term is over.
    pub(super) fn lead(&self, term: Term) -> io::Result<()> {
        let mut spin = Spin::new(self.limits.link.spin);
        let (mut seen, mut looks) = (0, 0_u32);
        let mut memory = Memory {
            desk: Desk::new(),
            recent: Recent::default(),
            overflow: Vec::new(),
            foresight: Foresight::default(),
        };
        let mut parking = Parking::new(self.nudge.as_fd())?;
        let mut round = Round { lines: Arc::new([]), start: 0, lingers: false };
        while self.roles.lasts(term) {
            let changes = self.changes.load(Ordering::Acquire);
            if changes != seen {
                seen = changes;
                round = self.round();
                parking.watch(round.lines.iter().map(|line| &line.bell))?;
            }
            if self.look(&round, term, &mut memory) {
                spin.found();
                continue;
            }
            looks = looks.wrapping_add(1);
            if spin.is_over() {
                self.sleep(&parking, &round.lines, (seen, term))?;
                spin.slept();
            } else if looks.is_multiple_of(LOOKS_BEFORE_ASKING) {
                parking.look(round.lines.iter().map(|line| &line.bell))?;
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
        for line in &*round.lines {
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
        let lines = lock(&self.lines);
        let start = self.first.load(Ordering::Relaxed) % lines.len().max(1);
        let rotated = || lines.iter().cycle().skip(start).take(lines.len()).cloned().collect();
        Round {
            lines: if start == 0 { Arc::clone(&lines) } else { rotated() },
            start,
            lingers: lines.len() == 1 && !self.limits.link.spin.is_zero(),
        }
    }

    /// The lead was lost in a servant of this line: the next leader begins behind it. Otherwise a few lines whose servants
    /// take long would be all that is ever served.
    #[cold]
    fn go_on_behind(&self, line: &Arc<Line>, round: &Round) {
        let at = round.lines.iter().position(|other| Arc::ptr_eq(other, line)).unwrap_or(0);
        self.first.store(round.start + at + 1, Ordering::Relaxed);
    }
}
