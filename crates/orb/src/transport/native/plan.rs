//! What begun calls are, for as long as they may have to be made anew.

use std::time::Instant;

use throughline_vi::SMALL_MESSAGE;
use throughline_wire::ADDRESSED_BYTES;

use crate::arguments::Rewrite;
use crate::interface::Operation;
use crate::priority::Priority;

/// Octets of arguments in a request of one line.
pub(crate) const MOST_ARGUMENTS: usize = SMALL_MESSAGE - ADDRESSED_BYTES;

/// What it takes to make a call anew by another way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) operation: Operation,
    pub(crate) rewrite: Option<Rewrite>,
    pub(crate) deadline: Option<Instant>,
    pub(crate) priority: Option<Priority>,
    arguments: [u8; MOST_ARGUMENTS],
    used: usize,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            operation: Operation::new("", 0),
            rewrite: None,
            deadline: None,
            priority: None,
            arguments: [0; MOST_ARGUMENTS],
            used: 0,
        }
    }
}

impl Plan {
    /// That of another call, with these arguments. One field after the other: a whole that was put together elsewhere would be
    /// fetched before it has left the processor's store buffer, which takes longer than all this.
    #[inline(always)]
    pub(super) fn set(&mut self, wanted: &Wanted<'_>, message: &[u8; SMALL_MESSAGE], used: usize) {
        self.operation = *wanted.operation;
        self.rewrite = wanted.rewrite;
        self.deadline = wanted.deadline;
        self.priority = wanted.priority;
        self.used = used.saturating_sub(ADDRESSED_BYTES);
        if self.used != 0 {
            self.arguments.copy_from_slice(&message[ADDRESSED_BYTES..]);
        }
    }

    pub(crate) fn arguments(&self) -> &[u8] {
        self.arguments.get(..self.used).unwrap_or_default()
    }
}

/// What a caller wants beside the arguments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'o> {
    pub(crate) operation: &'o Operation,
    pub(crate) rewrite: Option<Rewrite>,
    pub(crate) deadline: Option<Instant>,
    pub(crate) priority: Option<Priority>,
}
