//! The doorbell of a VI.

use super::{Port, Wire, watch::Watch};
use crate::fabric::Doorbell;
use std::{os::fd::BorrowedFd, sync::Arc};

pub(super) struct Bell<W: Wire> {
    pub(super) port: Arc<Port<W>>,
    pub(super) watch: Arc<Watch>,
}

impl<W: Wire> Doorbell for Bell<W> {
    #[inline]
    fn ready(&self) -> bool {
        self.port.is_ready(&self.watch)
    }

    fn arm(&self) {
        self.port.arm(&self.watch);
    }

    fn disarm(&self) {
        self.port.disarm(&self.watch);
    }

    fn drain(&self) {
        self.port.sleepers.drain(&self.watch);
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.watch.fd()
    }
}
