//! Messages being written.

use thiserror::Error;
use throughline_cdr::{ByteOrder, EncodeError, Writer};

use crate::header::{HEADER_LEN, MessageHeader, MessageType, Version};

/// A message larger than its header can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("message larger than 4 GiB")]
pub struct TooLarge;

/// A message whose header is written, but whose size is not known yet. Indices are into the buffer it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Open {
    /// Where the message starts.
    pub start: usize,
    /// Where its body starts; before that there may be padding, which an empty body does without.
    pub body: usize,
    unpadded: usize,
    order: ByteOrder,
}

impl Open {
    /// A writer of the message's body, or of more of it, aligned with the message.
    #[inline]
    pub fn writer<'b>(&self, buffer: &'b mut Vec<u8>) -> Writer<'b> {
        Writer::with_base(buffer, self.order, self.start)
    }

    /// The byte order of the message.
    pub const fn order(&self) -> ByteOrder {
        self.order
    }

    /// Takes back the message, and everything after it.
    pub fn abandon(&self, buffer: &mut Vec<u8>) {
        buffer.truncate(self.start);
    }
}

/// Completes a message: the size goes into its header. Nothing may follow it in the buffer yet. Returns its length
/// with the header, in octets. A message that is too large is taken back.
#[inline]
pub fn finish(buffer: &mut Vec<u8>, open: Open) -> Result<usize, TooLarge> {
    finish_with(buffer, open, 0)
}

/// As [`finish`], for a message of which `elsewhere` octets are not in the buffer: see
/// [`LargeBlocks`](throughline_cdr::LargeBlocks).
#[inline]
pub fn finish_with(buffer: &mut Vec<u8>, open: Open, elsewhere: usize) -> Result<usize, TooLarge> {
    if buffer.len() == open.body && elsewhere == 0 {
        buffer.truncate(open.unpadded);
    }
    let length = (buffer.len() - open.start).checked_add(elsewhere);
    let Some((length, size)) = length.and_then(|n| Some((n, u32::try_from(n - HEADER_LEN).ok()?))) else {
        open.abandon(buffer);
        return Err(TooLarge);
    };
    open.writer(buffer).patch_u32(open.start + 8, size);
    Ok(length)
}

/// Writes the header of a message, and what `write` adds to it; on failure the buffer is as before. With
/// `padded_body`, what follows starts at a multiple of 8.
pub(crate) fn begin(
    buffer: &mut Vec<u8>,
    (version, order, kind): (Version, ByteOrder, MessageType),
    padded_body: bool,
    write: impl FnOnce(&mut Writer<'_>) -> Result<(), EncodeError>,
) -> Result<Open, EncodeError> {
    let start = buffer.len();
    let header = MessageHeader { version, order, more_fragments: false, kind, size: 0 };
    buffer.extend_from_slice(&header.to_octets());
    let mut w = Writer::with_base(buffer, order, start);
    if let Err(error) = write(&mut w) {
        buffer.truncate(start);
        return Err(error);
    }
    let unpadded = w.position();
    if padded_body {
        w.align(8);
    }
    let body = w.position();
    Ok(Open { start, body, unpadded, order })
}

/// Writes a message that consists of no more than what fits a header and a few numbers.
pub(crate) fn write_small(
    buffer: &mut Vec<u8>,
    version: Version,
    order: ByteOrder,
    kind: MessageType,
    request_id: Option<u32>,
) {
    let size = if request_id.is_some() { 4 } else { 0 };
    let header = MessageHeader { version, order, more_fragments: false, kind, size };
    buffer.extend_from_slice(&header.to_octets());
    if let Some(id) = request_id {
        Writer::new(buffer, order).write_u32(id);
    }
}
