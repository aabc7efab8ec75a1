//! One client's link, as a server has it.

use std::sync::Weak;
use std::sync::atomic::{Ordering, fence};

use throughline_cdr::Output;
use throughline_giop::MessageHeader;
use throughline_vi::{Bell, Exclusive, Held};

use super::super::link::{Crowd, Foresight, Link, Octets};
use super::{CALLER, Shared};
use crate::lane_pool::Origin;

/// So many looks at the only line follow those of a turn.
const STAY: u32 = 256;

/// One client's link.
pub(super) struct Line {
    pub(super) link: Exclusive<Link>,
    pub(super) bell: Bell,
    /// The client's process, if it is on this machine.
    pub(super) process: Option<u32>,
    /// Whose line it is.
    pub(super) server: Weak<Shared>,
}

impl Line {
    /// Waits for a message for a moment, unless others need the link; whether there may be one. The first look is put off as a
    /// client's is.
    #[inline]
    pub(super) fn stay(&self, link: &Link, foresight: &mut Foresight) -> bool {
        if link.has_errands() {
            return false;
        }
        foresight.pass();
        let found = (0..STAY).find(|_| self.bell.ready());
        foresight.learn(found);
        found.is_some()
    }

    /// The link, for an answer. Whoever has it now may wait for the client.
    #[inline]
    pub(super) fn lock_to_answer(&self, crowd: &Crowd) -> Held<'_, Link> {
        self.link.try_lock().unwrap_or_else(|| crowd.wait(|| self.link.lock()))
    }

    /// The server stops while servants that this client called may still run: nobody will have their answers.
    pub(super) fn abandon(&self) {
        if let Some(mut link) = self.link.try_lock()
            && link.has_errands()
        {
            link.abort();
        }
    }
}

impl Origin for Line {
    fn carry_out(&self, _: Option<&MessageHeader>, message: &[u8], out: &mut Vec<u8>) {
        let Some(server) = self.server.upgrade() else { return };
        CALLER.set(self.process);
        server.handle(Octets::whole(message), Output::vector(out));
        CALLER.set(None);
        let sent = self.lock_to_answer(&server.crowd).hand_back(out);
        if let Err(error) = sent {
            server.end(self, &error);
        }
        // The leader may have found a message there and the link in use, and sleep: it saw the message before it tried the lock.
        fence(Ordering::SeqCst);
        if self.bell.ready() {
            server.nudge();
        }
    }

    fn is_over(&self) {
        if let Some(server) = self.server.upgrade() {
            server.in_lanes.fetch_sub(1, Ordering::Release);
        }
    }
}
