//! The header and how it is written: see the crate's documentation for the layout.

use crate::{Flags, Flow, Kind, REGION_BYTES, RegionList, TimeLeft};

/// The version that this crate reads and writes.
///
/// There will be no version 7: the low half of `G`, with which messages of GIOP and requests of HTTP begin.
pub const VERSION: u8 = 1;

/// Size of the fixed part of a message that goes to no object, such as a reply.
pub const PLAIN_BYTES: usize = 24;

/// Size of the fixed part of a message that goes to an object.
pub const ADDRESSED_BYTES: usize = 40;

/// What the fixed part says, as plain numbers.
///
/// ```
/// # use throughline_wire::{Flow, Header, Kind};
/// # let request = Header { flow: Flow { id: 1, source_hash: 2 }, sequence: 3, ..Header::new(Kind::Request) };
/// let reply = request.answer(Kind::Reply);
/// assert_eq!((reply.flow, reply.sequence), (request.flow, request.sequence));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What the message is.
    pub kind: Kind,
    /// Byte order of the body, and hints.
    pub flags: Flags,
    /// 0 is the lowest; higher ones are served first. [`priority_code`](crate::priority_code) says which level has which.
    pub priority: u8,
    /// Whose message it is. A reply has that of its request.
    pub flow: Flow,
    /// Which call of the flow: ascending, and from 2^32 - 1 on to 0. A reply has that of its request. Later is what is
    /// ahead by less than 2^31 (RFC 1982), so that a duplicate can be told as long as packets live for less than
    /// 2^31 calls.
    pub sequence: u32,
    /// Which operation of the interface. Of addressed kinds only, as are all below but `detail`; otherwise 0.
    pub operation: u16,
    /// How long the caller will wait.
    pub time_left: TimeLeft,
    /// The object's place in the server's arena.
    pub slot: u32,
    /// What proves that the sender was given the object's handle.
    pub nonce: u64,
    /// Which operation the index means: [`operation_check`](crate::operation_check).
    pub check: u32,
    /// Of kinds that are not addressed only: whether a system exception is for want of the object, where an answer goes on, why closed;
    /// otherwise 0.
    pub detail: u32,
}

impl Header {
    /// A header of this kind whose other fields are 0, and whose body is in this machine's byte order.
    #[inline(always)]
    pub const fn new(kind: Kind) -> Self {
        Self {
            kind,
            flags: if cfg!(target_endian = "little") { Flags::LITTLE_ENDIAN } else { Flags::NONE },
            priority: 0,
            flow: Flow { id: 0, source_hash: 0 },
            sequence: 0,
            operation: 0,
            time_left: TimeLeft::FOREVER,
            slot: 0,
            nonce: 0,
            check: 0,
            detail: 0,
        }
    }

    /// The header of an answer to this message: the same flow, sequence number and priority.
    #[inline(always)]
    pub const fn answer(&self, kind: Kind) -> Self {
        Self { flow: self.flow, sequence: self.sequence, priority: self.priority, ..Self::new(kind) }
    }

    /// Whether the sender waits for a reply.
    #[inline(always)]
    pub const fn wants_reply(&self) -> bool {
        match self.kind {
            Kind::Request => true,
            Kind::Oneway => self.flags.has(Flags::ACKNOWLEDGE),
            _ => false,
        }
    }

    /// Bytes of the fixed part.
    #[inline(always)]
    pub const fn size(&self) -> usize {
        if self.kind.is_addressed() { ADDRESSED_BYTES } else { PLAIN_BYTES }
    }

    /// Bytes of the header with so many regions.
    pub const fn size_with(&self, regions: usize) -> usize {
        self.size() + regions * REGION_BYTES
    }

    /// Writes a header without regions to the beginning of `out`, and returns the rest: place for the body.
    ///
    /// # Errors
    /// [`NoRoom`], with `out` untouched.
    #[inline(always)]
    pub fn write<'a>(&self, out: &'a mut [u8]) -> Result<&'a mut [u8], NoRoom> {
        self.write_fixed(0, out)
    }

    /// Writes a header with regions, whose offsets so far count from the body's first byte.
    ///
    /// # Errors
    /// [`NoRoom`], for the header or for what the regions mark; part of `out` may have been written.
    pub fn write_with<'a>(&self, regions: &RegionList, out: &'a mut [u8]) -> Result<&'a mut [u8], NoRoom> {
        let regions = regions.as_slice();
        let size = self.size_with(regions.len());
        let available = out.len();
        let rest = self.write_fixed(regions.len(), out)?;
        let table = rest.split_at_mut_checked(regions.len() * REGION_BYTES);
        let (table, body) = table.ok_or(NoRoom { needed: size, available })?;
        for (place, region) in table.as_chunks_mut().0.iter_mut().zip(regions) {
            let needed = size + region.end();
            let bytes = region.to_bytes(size as u32).filter(|_| needed <= available);
            *place = bytes.ok_or(NoRoom { needed, available })?;
        }
        Ok(body)
    }

    #[inline(always)]
    fn write_fixed<'a>(&self, regions: usize, out: &'a mut [u8]) -> Result<&'a mut [u8], NoRoom> {
        let no_room = NoRoom { needed: self.size_with(regions), available: out.len() };
        let [first, second, third, fourth, fifth] = self.words(regions);
        if self.kind.is_addressed() {
            let (place, rest) = out.split_first_chunk_mut::<ADDRESSED_BYTES>().ok_or(no_room)?;
            store(place, [first, second, third, fourth, fifth]);
            Ok(rest)
        } else {
            let (place, rest) = out.split_first_chunk_mut::<PLAIN_BYTES>().ok_or(no_room)?;
            store(place, [first, second, third]);
            Ok(rest)
        }
    }

    /// The fixed part as words of 64 bits; a plain header has the first three.
    #[inline(always)]
    const fn words(&self, regions: usize) -> [u64; 5] {
        let start = VERSION as u32
            | (regions as u32) << 4
            | (self.kind as u32) << 8
            | (self.flags.bits() as u32) << 16
            | (self.priority as u32) << 24;
        let detail = if self.kind.is_addressed() {
            self.operation as u32 | (self.time_left.bits() as u32) << 16
        } else {
            self.detail
        };
        [
            pair(start, self.flow.source_hash),
            self.flow.id,
            pair(self.sequence, detail),
            self.nonce,
            pair(self.slot, self.check),
        ]
    }
}

const fn pair(low: u32, high: u32) -> u64 {
    low as u64 | (high as u64) << 32
}

#[inline(always)]
fn store<const N: usize>(place: &mut [u8], words: [u64; N]) {
    for (place, word) in place.as_chunks_mut().0.iter_mut().zip(words) {
        *place = word.to_le_bytes();
    }
}

/// The buffer is too short for the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{available} bytes are too few for a header that needs {needed}")]
pub struct NoRoom {
    /// Bytes of the header, and of what its regions mark.
    pub needed: usize,
    /// Bytes of the buffer.
    pub available: usize,
}
