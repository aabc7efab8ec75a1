//! The fabric `shm`: processes of one machine and one user, over shared memory.
//!
//! Each side of a connection writes only memory files it made itself, sealed so that nobody else ever can; the other side
//! maps them to read. What is read is read once and checked on the private copy. Nothing a peer writes into its memory
//! can do more than break that one connection.
//!
//! Only between peers that promise to trust each other is there memory that both write to, in turns: what one lends to the other
//! with a message belongs to the receiver until he has released that.

mod barrier;
mod channel;
mod connect;
mod elsewhere;
mod exports;
mod frame;
mod hello;
#[cfg(test)]
mod hostile;
mod lent;
mod lines;
mod link;
mod owed;
mod parking;
mod remote;
mod ring;
mod socket;
mod waking;

use crate::{
    ProtectionTag, ResourceError, Rights, TrustedPeers, ViAttributes, Window,
    fabric::{Fabric, Link, Listen},
    memory::{FilePart, Mapping, Memory, WindowMemory},
};
use std::{
    process,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::SystemTime,
};

/// The longest address, in bytes.
pub(crate) const MAX_ADDRESS: usize = 32;

/// A process's door to other processes of its machine.
pub(crate) struct Shm {
    address: String,
    exports: Arc<exports::Exports>,
}

impl Shm {
    /// With a given address, or one nobody else has.
    pub(crate) fn new(address: Option<&str>) -> Result<Self, ResourceError> {
        let address = match address {
            Some(address) => address.to_owned(),
            None => unused_address(),
        };
        if address.is_empty() || address.len() > MAX_ADDRESS || address.contains('/') {
            return Err(ResourceError::OutOfRange("address"));
        }
        Ok(Self { address, exports: Arc::default() })
    }
}

/// Process ids come again, so the time is in it as well.
fn unused_address() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{:x}-{:x}{:08x}-{number:x}", process::id(), now.as_secs(), now.subsec_nanos())
}

/// Memory in a file of its own, which peers that it is lent to may write to.
fn region(count: u32, chunk: u32, tag: ProtectionTag, lent: bool) -> Result<Arc<Memory>, ResourceError> {
    let len = (count as usize * chunk as usize).max(1);
    let name = if lent { "throughline-vi-lent" } else { "throughline-vi-region" };
    let (mapping, file) = Mapping::create(name, len, lent)?;
    let part = FilePart { mapping: Arc::new(mapping), file: Arc::new(file), offset: 0, lent };
    Ok(Memory::in_file(part, count, chunk, tag))
}

impl Fabric for Shm {
    fn address(&self) -> &str {
        &self.address
    }

    fn link(&self, attributes: &ViAttributes) -> Result<Box<dyn Link>, ResourceError> {
        Ok(Box::new(link::ShmLink::new(attributes, self.exports.clone())?))
    }

    fn memory(&self, count: u32, chunk: u32, tag: ProtectionTag) -> Result<Arc<Memory>, ResourceError> {
        region(count, chunk, tag, false)
    }

    fn lent_memory(
        &self,
        count: u32,
        chunk: u32,
        tag: ProtectionTag,
        TrustedPeers { .. }: TrustedPeers,
    ) -> Result<Arc<Memory>, ResourceError> {
        region(count, chunk, tag, true)
    }

    fn window(&self, len: usize, tag: ProtectionTag, rights: Rights) -> Result<Window, ResourceError> {
        let memory = WindowMemory::in_file(len, tag, rights)?;
        self.exports.show(memory.clone());
        let exports = self.exports.clone();
        Ok(Window::new(memory, Box::new(move |handle| exports.withdraw(handle))))
    }

    fn listen(&self, discriminator: &[u8]) -> Result<Box<dyn Listen>, ResourceError> {
        Ok(Box::new(connect::ShmListener::new(&self.address, discriminator)?))
    }
}
