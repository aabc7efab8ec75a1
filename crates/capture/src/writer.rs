//! From frames to octets: pcap files, written.

use std::io::{self, Write};

use crate::capture::Frame;

/// Says that times are in nanoseconds, and by its order of octets what the order of the others is.
const MAGIC: u32 = 0xa1b2_3c4d;
const VERSION: [u16; 2] = [2, 4];
/// Longer frames are cut off by no reader, as that of libpcap is for most link types.
const SNAPSHOT: u32 = 262_144;

/// Writes a pcap file (draft-ietf-opsawg-pcap) with times in nanoseconds, for [`Capture`](crate::Capture) and others.
///
/// Each frame is two small writes, so what it writes to is best buffered.
#[derive(Debug)]
pub struct PcapWriter<W> {
    out: W,
    link: u32,
}

impl<W: Write> PcapWriter<W> {
    /// Writes the header of a file whose frames begin as this number of the `LINKTYPE` registry says; Ethernet is 1.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn new(mut out: W, link: u32) -> io::Result<Self> {
        let mut header = [0; 24];
        header[..4].copy_from_slice(&MAGIC.to_le_bytes());
        header[4..6].copy_from_slice(&VERSION[0].to_le_bytes());
        header[6..8].copy_from_slice(&VERSION[1].to_le_bytes());
        header[16..20].copy_from_slice(&SNAPSHOT.to_le_bytes());
        header[20..].copy_from_slice(&link.to_le_bytes());
        out.write_all(&header)?;
        Ok(Self { out, link })
    }

    /// Writes a frame.
    ///
    /// # Errors
    /// Those of the writer; and [`InvalidInput`](io::ErrorKind::InvalidInput), with nothing written, for a frame of
    /// another link type, one from after the year 2106, or one longer than 262,144 octets.
    pub fn write(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        let seconds = u32::try_from(frame.time / 1_000_000_000);
        let captured = u32::try_from(frame.data.len()).ok().filter(|length| *length <= SNAPSHOT);
        let (Ok(seconds), Some(captured), true) = (seconds, captured, frame.link == self.link) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let nanoseconds = (frame.time % 1_000_000_000) as u32;
        let mut header = [0; 16];
        for (place, word) in header.chunks_exact_mut(4).zip([seconds, nanoseconds, captured, frame.length]) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        self.out.write_all(&header)?;
        self.out.write_all(frame.data)
    }

    /// What it writes to, flushed.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}
