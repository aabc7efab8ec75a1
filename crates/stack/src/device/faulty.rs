//! A device with a bad wire.

mod line;

use std::io;
use std::os::fd::BorrowedFd;

use smoltcp::{time::Instant, wire::EthernetAddress};

use self::line::Line;
use super::{Device, DeviceCounts, is_carried, too_long};
use crate::{Message, Pool};

pub use self::line::{FaultCounts, Faults};

/// Frames taken from the device at a time; the others wait there.
const AT_ONCE: usize = 64;

/// Loses, doubles, reorders, damages, delays the frames of a device, in both directions, as they come from a seed: the same
/// frames at the same times with the same seed meet the same faults.
///
/// Time is what [`Device::clock`] says, be it real or virtual, and begins at 0. Frames that are due leave or arrive when
/// the device is next asked to send or receive; [`Device::poll_at`] says when that is worthwhile.
#[derive(Debug)]
pub struct Faulty<D> {
    device: D,
    out: Line,
    into: Line,
    now: Instant,
    /// A frame that was due and for which the device had no place.
    stuck: Option<Message>,
    received: u64,
    unsent: u64,
}

impl<D: Device> Faulty<D> {
    /// Puts a wire with these faults between the caller and the device: first those of what is sent, then of what is
    /// received.
    pub fn new(device: D, out: Faults, into: Faults, seed: u64) -> Self {
        Self {
            device,
            out: Line::new(out, seed),
            into: Line::new(into, !seed),
            now: Instant::ZERO,
            stuck: None,
            received: 0,
            unsent: 0,
        }
    }

    /// The faults so far, of what was sent and of what was received.
    pub fn faults(&self) -> [FaultCounts; 2] {
        [self.out.counts(), self.into.counts()]
    }

    /// From now on these faults, first of what is sent, then of what is received; frames on their way stay as they are.
    pub fn set_faults(&mut self, out: Faults, into: Faults) {
        self.out.set_faults(out);
        self.into.set_faults(into);
    }

    /// Hands the device what is due, as far as it has places.
    fn release(&mut self, pool: &mut Pool) {
        while let Some(frame) = self.stuck.take().or_else(|| self.out.due(self.now)) {
            match self.device.send(frame, pool) {
                Ok(()) => {}
                Err((frame, error)) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.stuck = Some(frame);
                    return;
                }
                Err((frame, _)) => {
                    self.unsent += 1;
                    pool.give(frame);
                }
            }
        }
    }
}

impl<D: Device> Device for Faulty<D> {
    fn hardware(&self) -> EthernetAddress {
        self.device.hardware()
    }

    fn mtu(&self) -> usize {
        self.device.mtu()
    }

    fn receive(&mut self, pool: &mut Pool) -> io::Result<Option<Message>> {
        self.release(pool);
        for _ in 0..AT_ONCE {
            let Some(frame) = self.device.receive(pool)? else { break };
            self.into.enter(self.now, frame, pool);
        }
        let due = self.into.due(self.now);
        self.received += u64::from(due.is_some());
        Ok(due)
    }

    /// A frame is refused only if it is too long; what finds no place on the wire is lost, as in a router's queue.
    fn send(&mut self, frame: Message, pool: &mut Pool) -> Result<(), (Message, io::Error)> {
        if !is_carried(frame.bytes(), self.mtu()) {
            return Err((frame, too_long()));
        }
        self.out.enter(self.now, frame, pool);
        self.release(pool);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.device.flush()
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.device.fd()
    }

    fn clock(&mut self, now: Instant) {
        self.now = now;
        self.device.clock(now);
    }

    fn is_up(&mut self) -> bool {
        self.device.is_up()
    }

    fn poll_at(&self) -> Option<Instant> {
        let stuck = self.stuck.is_some().then_some(self.now);
        [stuck, self.out.next(), self.into.next(), self.device.poll_at()].into_iter().flatten().min()
    }

    /// Those of the device, but what the wire has lost is not received.
    fn counts(&mut self) -> DeviceCounts {
        let counts = self.device.counts();
        DeviceCounts { received: self.received, unsent: counts.unsent + self.unsent, ..counts }
    }
}
