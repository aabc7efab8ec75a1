//! Registered memory for messages that are longer than a link's own buffers.
//!
//! A message of up to [`WHOLE`] octets goes as any other: it is marshaled into a buffer of this memory, and stays there until the
//! receiver has it. By shared memory he copies it from there. Over datagrams their octets are written to where they belong in
//! registered memory of his, from which the message is read, just as remote DMA would do it, but without asking first where that is.
//! What is longer still goes in parts of that length.

use throughline_vi::{Buffer, Nic, ProtectionTag, Region, TrustedPeers};

/// The longest message that goes whole, in octets.
pub(super) const WHOLE: u32 = 1 << 20;

/// Buffers: one is written while another is read, and of a third the receiver has perhaps not yet said that it is done.
const BUFFERS: u32 = 3;

/// A link's memory for long messages. Registered when the first is sent, and the system finds memory for as much of it as is
/// used.
#[derive(Debug)]
pub(super) struct Bulk {
    /// None once the system had no memory.
    nic: Option<Nic>,
    region: Option<Region>,
}

impl Bulk {
    pub(super) fn new(nic: Nic) -> Self {
        Self { nic: Some(nic), region: None }
    }

    /// Whether this link has sent a long message before, so that there are long buffers.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.region.is_some()
    }

    /// A long buffer, unless all are in use.
    pub(super) fn buffer(&self) -> Option<Buffer> {
        self.region.as_ref()?.buffer()
    }

    /// Whether there are long buffers from now on, of memory that is lent to trusted peers if they are to be trusted.
    #[cold]
    pub(super) fn open(&mut self, tag: ProtectionTag, lent: Option<TrustedPeers>) -> bool {
        if self.region.is_none()
            && let Some(nic) = &self.nic
        {
            let registered = match lent {
                Some(trusted) => nic.register_lent(BUFFERS, WHOLE, tag, trusted),
                None => nic.register(BUFFERS, WHOLE, tag),
            };
            match registered {
                Ok(region) => self.region = Some(region),
                Err(error) => {
                    tracing::debug!(%error, "no memory for long messages, which go in parts");
                    self.nic = None;
                }
            }
        }
        self.is_open()
    }
}
