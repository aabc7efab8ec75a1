//! A wire with two ends, in memory.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};

use smoltcp::wire::EthernetAddress;

use super::{Device, DeviceCounts, is_carried, too_long};
use crate::{Message, Pool};

/// What the two ends of a wire are like.
#[derive(Clone, Copy, Debug)]
pub struct PairConfig {
    /// Bytes behind the Ethernet header, at most.
    pub mtu: usize,
    /// Frames on their way in each direction, at most. More are refused.
    pub queue: usize,
    /// The addresses of the two ends.
    pub hardware: [EthernetAddress; 2],
}

impl Default for PairConfig {
    /// 1,500 bytes, 1,024 frames, and two addresses of the range that everybody may use.
    fn default() -> Self {
        let hardware = [EthernetAddress([2, 0, 0, 0, 0, 1]), EthernetAddress([2, 0, 0, 0, 0, 2])];
        Self { mtu: 1500, queue: 1024, hardware }
    }
}

/// A wire: what one end sends, the other receives, in order and unchanged.
///
/// The message itself goes over; nothing is copied. Its priority, and whether it is verified, are not told. Each end may be used by a thread of its own.
///
/// # Panics
/// If the queue has no place.
pub fn pair(config: &PairConfig) -> (End, End) {
    assert!(config.queue > 0, "a wire without a place for a frame");
    let [(to_b, at_b), (to_a, at_a)] = [sync_channel(config.queue), sync_channel(config.queue)];
    let [(back_to_b, empty_at_b), (back_to_a, empty_at_a)] =
        [sync_channel(config.queue), sync_channel(config.queue)];
    let end = |side: usize, to, at, back, empty| End {
        hardware: config.hardware[side],
        mtu: config.mtu,
        to,
        at,
        back,
        empty,
        ahead: 0,
        counts: DeviceCounts::default(),
    };
    (end(0, to_b, at_a, back_to_b, empty_at_a), end(1, to_a, at_b, back_to_a, empty_at_b))
}

/// One end of a [`pair`].
#[derive(Debug)]
pub struct End {
    hardware: EthernetAddress,
    mtu: usize,
    to: SyncSender<Message>,
    at: Receiver<Message>,
    /// Memory on its way back to the other end.
    back: SyncSender<Message>,
    /// Memory that has come back.
    empty: Receiver<Message>,
    /// Messages that came from the other end and are still here, less those of ours that are there.
    ahead: isize,
    counts: DeviceCounts,
}

/// So many messages may come more one way than the other before memory is sent back.
const UNEVEN: isize = 32;

impl End {
    /// Where more frames go one way than the other, memory goes back, so that neither pool runs dry or over.
    #[inline]
    fn even_out(&mut self, pool: &mut Pool) {
        if self.ahead > UNEVEN && self.back.try_send(pool.take()).is_ok() {
            self.ahead -= 1;
        }
        if self.ahead < -UNEVEN
            && let Ok(message) = self.empty.try_recv()
        {
            self.ahead += 1;
            pool.give(message);
        }
    }
}

impl Device for End {
    fn hardware(&self) -> EthernetAddress {
        self.hardware
    }

    fn mtu(&self) -> usize {
        self.mtu
    }

    #[inline]
    fn receive(&mut self, pool: &mut Pool) -> io::Result<Option<Message>> {
        match self.at.try_recv() {
            Ok(message) => {
                self.ahead += 1;
                self.counts.received += 1;
                self.even_out(pool);
                Ok(Some(message))
            }
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => Ok(None),
        }
    }

    /// A frame to an end that is gone is lost.
    #[inline]
    fn send(&mut self, mut frame: Message, pool: &mut Pool) -> Result<(), (Message, io::Error)> {
        // What this side knows of the frame is not on the wire.
        (frame.priority, frame.verified) = (0, false);
        if !is_carried(frame.bytes(), self.mtu) {
            return Err((frame, too_long()));
        }
        match self.to.try_send(frame) {
            Ok(()) => {
                self.ahead -= 1;
                self.counts.sent += 1;
                self.even_out(pool);
            }
            Err(TrySendError::Full(frame)) => return Err((frame, io::ErrorKind::WouldBlock.into())),
            Err(TrySendError::Disconnected(frame)) => {
                self.counts.unsent += 1;
                pool.give(frame);
            }
        }
        Ok(())
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn counts(&mut self) -> DeviceCounts {
        self.counts
    }
}
