//! A device whose frames are written to a file.

use std::io::{self, Write};
use std::os::fd::BorrowedFd;

use smoltcp::{time::Instant, wire::EthernetAddress};
use throughline_capture::{Frame, PcapWriter};

use super::{Device, DeviceCounts};
use crate::{Message, Pool};

/// The number of Ethernet in the registry of link types.
const ETHERNET: u32 = 1;

/// Writes what a device receives and sends to a pcap file, with the time that [`Device::clock`] said last.
///
/// When the file cannot be written, capturing ends and the traffic goes on; [`finish`](Self::finish) tells the reason.
#[derive(Debug)]
pub struct Captured<D, W: Write> {
    device: D,
    writer: PcapWriter<W>,
    fault: Option<io::Error>,
    now: Instant,
    /// A frame that is about to be sent: afterwards it is the device's.
    frame: Vec<u8>,
}

impl<D: Device, W: Write + Send> Captured<D, W> {
    /// Begins a file.
    ///
    /// # Errors
    /// Those of writing its header.
    pub fn new(device: D, out: W) -> io::Result<Self> {
        let writer = PcapWriter::new(out, ETHERNET)?;
        Ok(Self { device, writer, fault: None, now: Instant::ZERO, frame: Vec::new() })
    }

    /// Ends the file, and gives back the device and what was written to, flushed.
    ///
    /// # Errors
    /// The first that occurred while writing.
    pub fn finish(self) -> io::Result<(D, W)> {
        match self.fault {
            Some(fault) => Err(fault),
            None => Ok((self.device, self.writer.finish()?)),
        }
    }
}

/// Writes a frame, unless an earlier one could not be written.
fn write<W: Write>(writer: &mut PcapWriter<W>, fault: &mut Option<io::Error>, now: Instant, data: &[u8]) {
    if fault.is_some() {
        return;
    }
    let time = u64::try_from(now.total_micros()).unwrap_or(0).saturating_mul(1000);
    let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
    *fault = writer.write(&Frame { time, timed: true, link: ETHERNET, length, data }).err();
}

impl<D: Device, W: Write + Send> Device for Captured<D, W> {
    fn hardware(&self) -> EthernetAddress {
        self.device.hardware()
    }

    fn mtu(&self) -> usize {
        self.device.mtu()
    }

    fn receive(&mut self, pool: &mut Pool) -> io::Result<Option<Message>> {
        let received = self.device.receive(pool)?;
        if let Some(frame) = &received {
            write(&mut self.writer, &mut self.fault, self.now, frame.bytes());
        }
        Ok(received)
    }

    fn send(&mut self, frame: Message, pool: &mut Pool) -> Result<(), (Message, io::Error)> {
        self.frame.clear();
        self.frame.extend_from_slice(frame.bytes());
        self.device.send(frame, pool)?;
        write(&mut self.writer, &mut self.fault, self.now, &self.frame);
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
        self.device.poll_at()
    }

    fn counts(&mut self) -> DeviceCounts {
        self.device.counts()
    }
}
