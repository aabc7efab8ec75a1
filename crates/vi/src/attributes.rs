//! What a VI is made with.

use crate::ResourceError;
use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// The longest discriminator, in bytes.
pub const MAX_DISCRIMINATOR: usize = 64;

/// The longest message, in bytes.
pub const MAX_MESSAGE: usize = 16 << 20;

/// How much a VI promises about messages. Only VIs of equal levels connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reliability {
    /// Messages arrive intact and at most once; they may be lost or overtake one another. Errors leave the VI connected.
    Unreliable,
    /// Messages arrive exactly once and in order, or the VI breaks. A send is complete once its buffer may be used again
    /// and the message is in the hands of the fabric.
    ReliableDelivery,
    /// As [`ReliableDelivery`](Self::ReliableDelivery), and a send is complete only once the message lies in the buffers
    /// of the receiver.
    ReliableReception,
}

impl Reliability {
    pub(crate) const ALL: [Self; 3] = [Self::Unreliable, Self::ReliableDelivery, Self::ReliableReception];

    pub(crate) fn to_byte(self) -> u8 {
        self as u8
    }

    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.get(usize::from(byte)).copied()
    }
}

/// Ties memory to VIs: a VI touches only memory of its own tag. Unique in the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProtectionTag(u64);

impl ProtectionTag {
    /// A tag nobody else has.
    #[allow(clippy::new_without_default, reason = "each is another")]
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// The promise that peers leave messages alone that they have sent, so that they may be read where they lie in memory that
/// those peers could write to; and that they write to memory that is [lent](crate::Nic::register_lent) to them only while they have
/// it.
///
/// Without it every message is copied once before it is looked at, and nothing a peer writes meanwhile does any harm.
#[derive(Clone, Copy, Debug)]
pub struct TrustedPeers(());

impl TrustedPeers {
    /// Makes the promise, for all peers of whatever is made with it.
    ///
    /// # Safety
    ///
    /// No process that connects, or that is connected to, changes the bytes of a message it has sent until the receiver has
    /// released it, not even if the connection ends before; and none writes to lent memory but to a message there that it has
    /// received and not yet released. Processes keep to that which use this library's safe interface on their side, and do not use a
    /// buffer again that the peer may have had when the connection ended; ORBs do not. A process that does not keep to it causes
    /// undefined behaviour in this one: data that was checked changes behind references to it.
    pub const unsafe fn promise() -> Self {
        Self(())
    }
}

/// What a VI is made with. Start from [`ViAttributes::new`] and change what matters.
#[derive(Clone, Debug)]
pub struct ViAttributes {
    /// The reliability level.
    pub reliability: Reliability,
    /// The tag of the memory it may touch, its own pools included. By default a new one.
    pub tag: ProtectionTag,
    /// Buffers in the VI's own pool for sending.
    pub send_buffers: u32,
    /// Size of each, in bytes; rounded up to an odd multiple of 64.
    pub send_buffer_size: u32,
    /// Buffers in the VI's own pool for receiving.
    pub receive_buffers: u32,
    /// Size of each, in bytes; rounded up to an odd multiple of 64.
    pub receive_buffer_size: u32,
    /// The most descriptors in each work queue, posted or completed and not yet taken back.
    pub queue_depth: u32,
    /// Cache lines of the ring of a direction, on fabrics that have one; a power of two, 16 to 65536.
    pub ring_lines: u32,
    /// Up to how many bytes the fabric may copy a message on sending, so that the send completes at once. Longer
    /// messages are fetched by the receiver.
    pub inline_limit: u32,
    /// Up to how many bytes a message may have that is longer than the buffer posted for it, if that is a single one. It comes in
    /// memory that is registered when it is first needed: the completion has a buffer of that, and the one posted is back in its
    /// pool. 0, the default: such a message is an error.
    pub receive_longer: u32,
    /// Long messages may stay where they are in the peer's memory, on fabrics that can show them there, to be read
    /// [in place](crate::Vi::in_place). None, the default: they are copied before anybody looks at them.
    pub trusted: Option<TrustedPeers>,
    /// Long messages may stay where they are in the peer's memory until the receiver has copied what he wants to where he wants
    /// it, on fabrics that can show them there: see [`Vi::left`](crate::Vi::left). Off by default. Of no account for `trusted`.
    pub leave: bool,
    /// The most bytes of memory that the peer may show, on fabrics where it is mapped here: its pools, and whatever else it sends from or
    /// has windows to, with as much as goes before it in a file. Who shows more is not connected, or not any longer. What is mapped
    /// costs address space, of which a process has 128 TiB, and what the peer shows need not cost it anything: pages that it never
    /// wrote to are made when they are first read here, and count as this process's memory. What is replaced or withdrawn counts no more,
    /// but stays mapped until the VI looks for other memory of the peer; so as much again may be mapped meanwhile.
    pub peer_memory: u64,
    /// The most pieces that this may consist of beside the pools. Each is a mapping, of which the system allows a process 65,530.
    pub peer_pieces: u32,
    /// How long blocking calls look before they sleep, at most. Waking a sleeper costs tens of microseconds, so
    /// looking for about as long never costs more than twice the best choice. Shortened by itself while it does not pay. Zero for
    /// who sleeps before nearly every message: then falling asleep takes less, and being sent a message more. Who polls leaves it.
    pub spin: Duration,
}

impl ViAttributes {
    /// Sizes fit for calls of a few kilobytes.
    pub fn new(reliability: Reliability) -> Self {
        Self {
            reliability,
            tag: ProtectionTag::new(),
            send_buffers: 64,
            send_buffer_size: 16 << 10,
            receive_buffers: 64,
            receive_buffer_size: 16 << 10,
            queue_depth: 256,
            ring_lines: 256,
            inline_limit: 2048,
            receive_longer: 0,
            trusted: None,
            leave: false,
            peer_memory: 64 << 30,
            peer_pieces: 128,
            spin: Duration::from_micros(50),
        }
    }

    /// These attributes with sizes in range, or which is not.
    pub(crate) fn checked(&self) -> Result<Self, ResourceError> {
        let mut checked = self.clone();
        let lines = (16..=1 << 16).contains(&self.ring_lines) && self.ring_lines.is_power_of_two();
        require(lines, "ring_lines")?;
        require((1..=1 << 16).contains(&self.queue_depth), "queue_depth")?;
        checked.send_buffer_size = chunk(self.send_buffers, self.send_buffer_size, "send_buffer_size")?;
        checked.receive_buffer_size =
            chunk(self.receive_buffers, self.receive_buffer_size, "receive_buffer_size")?;
        if self.receive_longer != 0 {
            checked.receive_longer = chunk(1, self.receive_longer, "receive_longer")?;
        }
        Ok(checked)
    }
}

/// The size of the buffers of a pool, rounded up to an odd number of cache lines: the first lines of buffers, which every
/// message touches, must not all fall into the same few places of a cache.
pub(crate) fn chunk(count: u32, size: u32, name: &'static str) -> Result<u32, ResourceError> {
    let size = size.max(64).checked_next_multiple_of(64).ok_or(ResourceError::OutOfRange(name))?;
    require(size as usize <= MAX_MESSAGE && u64::from(count) * u64::from(size) <= 1 << 32, name)?;
    let size = if size as usize == MAX_MESSAGE { size } else { size | 64 };
    require(isize::try_from(u64::from(count) * u64::from(size)).is_ok(), name)?;
    Ok(size)
}

fn require(holds: bool, name: &'static str) -> Result<(), ResourceError> {
    if holds { Ok(()) } else { Err(ResourceError::OutOfRange(name)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where addresses have 32 bits, too.
    #[test]
    fn a_pool_is_no_larger_than_can_be_addressed() {
        for (count, size) in
            [(1 << 16, 1 << 16), (1 << 15, 1 << 16), (1 << 22, 1 << 10), (3, 1 << 30), (1, 64)]
        {
            if let Ok(size) = chunk(count, size, "size") {
                let bytes = (count as usize).checked_mul(size as usize);
                assert!(bytes.is_some_and(|bytes| isize::try_from(bytes).is_ok()), "{count} times {size}");
            }
        }
    }
}
