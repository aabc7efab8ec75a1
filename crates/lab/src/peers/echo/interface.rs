//! Messages over a Virtual Interface, in shared memory or over UDP.

use std::io;
use std::time::Duration;

use throughline_vi::{Buffer, Nic, Reliability, ResourceError, SendDescriptor, State, Vi, ViAttributes};

use super::{LONGEST, Pipe, Waiting};

const DISCRIMINATOR: &[u8] = b"echo";
const BUFFERS: u32 = 16;

/// A VI and how to wait for it.
pub(super) struct Interface {
    vi: Vi,
    wait: Waiting,
    /// For the next message that is not copied.
    next: Option<Buffer>,
}

impl Interface {
    pub(super) fn listen(
        nic: Result<Nic, ResourceError>,
        wait: Waiting,
        say: impl Fn(&str) -> io::Result<()>,
    ) -> io::Result<Self> {
        let nic = nic.map_err(io::Error::other)?;
        let mut listener = nic.listen(DISCRIMINATOR).map_err(io::Error::other)?;
        say(nic.address())?;
        let mut own = Self::idle(&nic, wait)?;
        listener.wait(None).and_then(|request| request.accept(&mut own.vi)).map_err(io::Error::other)?;
        Ok(own)
    }

    pub(super) fn connect(nic: Result<Nic, ResourceError>, wait: Waiting, address: &str) -> io::Result<Self> {
        let mut own = Self::idle(&nic.map_err(io::Error::other)?, wait)?;
        own.vi.connect(address, DISCRIMINATOR, None).map_err(io::Error::other)?;
        Ok(own)
    }

    fn idle(nic: &Nic, wait: Waiting) -> io::Result<Self> {
        let mut attributes = ViAttributes {
            send_buffers: BUFFERS,
            send_buffer_size: LONGEST as u32,
            receive_buffers: BUFFERS,
            receive_buffer_size: LONGEST as u32,
            ..ViAttributes::new(Reliability::ReliableDelivery)
        };
        if wait == Waiting::Block {
            attributes.spin = Duration::ZERO;
        }
        let mut vi = nic.create_vi(&attributes).map_err(io::Error::other)?;
        vi.post_own_receives();
        Ok(Self { vi, wait, next: None })
    }
}

impl Pipe for Interface {
    type Message = Buffer;

    fn send(&mut self, message: &[u8]) -> io::Result<()> {
        if self.vi.send_copied(message) {
            return Ok(());
        }
        let next = self.next.take().or_else(|| self.vi.send_buffer());
        let mut buffer = next.ok_or(io::ErrorKind::OutOfMemory)?;
        buffer.set_len(message.len());
        buffer.copy_from_slice(message);
        self.vi
            .post_send(SendDescriptor::new(buffer).unsignaled())
            .map_err(|error| io::Error::other(error.reason))?;
        // One that was sent before, while the peer fetches this one.
        self.vi.reclaim();
        self.next = self.vi.send_buffer();
        if let Some(next) = &mut self.next {
            next.claim(message.len());
        }
        Ok(())
    }

    fn receive(&mut self) -> io::Result<Buffer> {
        let completion = match self.wait {
            Waiting::Block => self.vi.receive_wait(None).map_err(io::Error::other)?,
            Waiting::Poll => loop {
                if let Some(completion) = self.vi.receive_done() {
                    break completion;
                }
                if self.vi.state() != State::Connected {
                    return Err(io::ErrorKind::NotConnected.into());
                }
            },
        };
        completion.result.map_err(io::Error::other)?;
        Ok(completion.buffer)
    }

    fn release(&mut self, message: Buffer) {
        // As many were posted before.
        let _ = self.vi.post_receive(message);
    }
}
