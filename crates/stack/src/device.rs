//! Devices: what frames come from and go to, at the bottom of every graph.

use std::{io, os::fd::BorrowedFd};

use smoltcp::wire::EthernetAddress;

use crate::{Message, Pool};

/// Carries Ethernet frames.
///
/// Nothing here waits: who has nothing to do waits for [`fd`](Self::fd), or asks again.
pub trait Device: Send {
    /// The address that frames for this device bear.
    fn hardware(&self) -> EthernetAddress;

    /// Bytes that a frame carries at most behind the 14 of its Ethernet header.
    fn mtu(&self) -> usize;

    /// The next frame that has arrived, from the first byte of its Ethernet header, in a message from `pool`.
    ///
    /// # Errors
    /// Those of the system. A frame too large for a message of the pool is skipped and counted by the device.
    fn receive(&mut self, pool: &mut Pool) -> io::Result<Option<Message>>;

    /// Sends a frame. Its memory goes to `pool`, at once or later, unless the peer takes it over.
    ///
    /// # Errors
    /// The frame comes back when there is no place for it now ([`io::ErrorKind::WouldBlock`]) or the system refuses it.
    fn send(&mut self, frame: Message, pool: &mut Pool) -> Result<(), (Message, io::Error)>;

    /// Hands to the wire what was collected since the last call, where a device collects.
    ///
    /// # Errors
    /// Those of the system; what was collected is kept for the next try.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Becomes readable when frames arrive; `None` for devices within the process.
    fn fd(&self) -> Option<BorrowedFd<'_>>;
}
