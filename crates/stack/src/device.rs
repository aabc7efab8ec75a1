//! Devices: what frames come from and go to, at the bottom of every graph.

mod captured;
mod faulty;
mod interface;
mod packet;
mod pair;
mod tap;

use std::{io, os::fd::BorrowedFd};

use rustix::io::Errno;
use smoltcp::{time::Instant, wire::EthernetAddress};

use crate::{Message, Pool};

pub use captured::Captured;
pub use faulty::{FaultCounts, Faults, Faulty};
pub use packet::{Packet, PacketConfig};
pub use pair::{End, PairConfig, pair};
pub use tap::Tap;

/// Bytes of an Ethernet header.
pub(crate) const ETHERNET_HEADER: usize = 14;
/// The tag of IEEE 802.1Q between the addresses and the EtherType, and what it begins with.
const VLAN_TAG: usize = 4;
const VLAN: [u8; 2] = [0x81, 0];

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
    /// The frame comes back when there is no place for it now ([`io::ErrorKind::WouldBlock`]) or the system refuses it;
    /// frames longer than the MTU are refused with `EMSGSIZE`.
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

    /// Says what time it is, for devices that keep frames for a while or write down when they came. Others need it not.
    fn clock(&mut self, _now: Instant) {}

    /// When a frame that is kept is due, and [`clock`](Self::clock) is to be told; `None` when none is.
    fn poll_at(&self) -> Option<Instant> {
        None
    }

    /// Whether its link works, as far as can be seen from here. A system call, where there is a system to ask.
    fn is_up(&mut self) -> bool {
        true
    }

    /// What became of the frames so far.
    fn counts(&mut self) -> DeviceCounts;
}

/// What became of a device's frames, since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceCounts {
    /// Frames handed to the caller.
    pub received: u64,
    /// Frames handed to the wire.
    pub sent: u64,
    /// Frames that had arrived and were larger than a message of the pool.
    pub oversized: u64,
    /// Frames that had arrived damaged: cut off, or with marks that make no sense.
    pub malformed: u64,
    /// Frames that the system dropped for want of room, before the device saw them.
    pub overrun: u64,
    /// Frames accepted for sending that the system or the wire then refused, and the device dropped.
    pub unsent: u64,
}

impl<D: Device + ?Sized> Device for Box<D> {
    fn hardware(&self) -> EthernetAddress {
        (**self).hardware()
    }

    fn mtu(&self) -> usize {
        (**self).mtu()
    }

    fn receive(&mut self, pool: &mut Pool) -> io::Result<Option<Message>> {
        (**self).receive(pool)
    }

    fn send(&mut self, frame: Message, pool: &mut Pool) -> Result<(), (Message, io::Error)> {
        (**self).send(frame, pool)
    }

    fn flush(&mut self) -> io::Result<()> {
        (**self).flush()
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        (**self).fd()
    }

    fn clock(&mut self, now: Instant) {
        (**self).clock(now);
    }

    fn poll_at(&self) -> Option<Instant> {
        (**self).poll_at()
    }

    fn is_up(&mut self) -> bool {
        (**self).is_up()
    }

    fn counts(&mut self) -> DeviceCounts {
        (**self).counts()
    }
}

/// Whether a frame is no longer than a link carries whose packets have `mtu` octets at most. Links have room for a VLAN tag
/// besides (IEEE 802.3, 3.2.7), and so has the kernel, whose limit is the same.
#[inline]
pub(crate) fn is_carried(frame: &[u8], mtu: usize) -> bool {
    let most = ETHERNET_HEADER + mtu;
    frame.len() <= most || frame.len() <= most + VLAN_TAG && frame.get(12..14) == Some(&VLAN)
}

/// What is answered once there is no such interface any more: nothing will come, even if there is another one of its name.
pub(crate) fn is_gone() -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, "the interface is gone: deleted, or moved to another namespace")
}

/// Whether a device can go on after an error: what has no room waits, and what an interface that is down was to send is lost, as
/// on every wire; likewise what is too long for one that carries less than when it was opened.
pub fn is_passing(error: &io::Error) -> bool {
    let of_one_frame = [Errno::MSGSIZE, Errno::NOMEM].map(|errno| Some(errno.raw_os_error()));
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::NetworkDown)
        || of_one_frame.contains(&error.raw_os_error())
}

/// What devices answer to a frame longer than they carry.
pub(crate) fn too_long() -> io::Error {
    Errno::MSGSIZE.into()
}
