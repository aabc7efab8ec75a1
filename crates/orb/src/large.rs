//! Messages with large blocks, which are sent from where they lie.
//!
//! A message's header tells its length, so such a message is marshaled twice: first its large blocks are only counted,
//! then they are handed to the kernel in their turn, while everything else is marshaled around them as always.

use std::io;

use throughline_cdr::{EncodeError, LargeBlocks, Writer};
use throughline_giop::Open;

use crate::transport::outbox::{Outbox, Sent};
use crate::transport::socket::Socket;

/// Counts the octets of large blocks.
#[derive(Debug, Default)]
pub(crate) struct Count(pub(crate) usize);

impl LargeBlocks for Count {
    fn take(&mut self, _buffer: &[u8], block: &[u8]) {
        // One block may count many times, and then addresses may not tell the sum.
        self.0 = self.0.saturating_add(block.len());
    }
}

/// Sends large blocks, and what is in the buffer before them.
#[derive(Debug)]
struct PassOn<'p, 'a> {
    parts: &'p mut crate::transport::outbox::Parts<'a>,
    /// Where in the buffer that begins which was not sent.
    from: usize,
}

impl LargeBlocks for PassOn<'_, '_> {
    fn take(&mut self, buffer: &[u8], block: &[u8]) {
        self.parts.put(&buffer[self.from..], block);
        self.from = buffer.len();
    }
}

/// A finished message that has large blocks elsewhere.
#[derive(Debug)]
pub(crate) struct LargeMessage<'b> {
    /// The message as it was marshaled the first time.
    pub(crate) buffer: &'b mut Vec<u8>,
    pub(crate) open: Open,
    /// With the large blocks.
    pub(crate) length: usize,
}

impl LargeMessage<'_> {
    /// Marshals the body once more and sends the message meanwhile. After an error the socket is of no use.
    pub(crate) fn send(
        self,
        (outbox, socket): (&Outbox, &Socket),
        encode: impl FnOnce(&mut Writer<'_>) -> Result<(), EncodeError>,
    ) -> io::Result<Sent> {
        let mut parts = outbox.begin(socket);
        let mut pass_on = PassOn { parts: &mut parts, from: self.open.start };
        self.buffer.truncate(self.open.body);
        let mut writer = self.open.writer(self.buffer);
        writer.divert_large(&mut pass_on);
        encode(&mut writer).map_err(io::Error::other)?;
        let from = pass_on.from;
        parts.put(&self.buffer[from..], &[]);
        parts.end(self.length)
    }
}
