//! Messages and places for them, as the protocol reads and fills them.

use crate::{
    Buffer,
    descriptor::{ReceiveDescriptor, SendDescriptor},
    reliable::{Sink, Source},
};

/// A message under way.
pub(crate) enum Outgoing {
    Lent(SendDescriptor),
    /// Empty: tells the peer of what this descriptor did to its memory.
    Notice(SendDescriptor),
    /// Of the provider, or of a VI that is no more.
    Own(Vec<u8>),
}

impl Outgoing {
    /// Leaves a copy, and returns the descriptor.
    pub(crate) fn detach(&mut self) -> Option<SendDescriptor> {
        let mut copy = vec![0; self.len()];
        self.read(0, &mut copy);
        std::mem::replace(self, Self::Own(copy)).descriptor()
    }

    pub(crate) fn descriptor(self) -> Option<SendDescriptor> {
        match self {
            Self::Lent(descriptor) | Self::Notice(descriptor) => Some(descriptor),
            Self::Own(_) => None,
        }
    }
}

impl Source for Outgoing {
    #[inline]
    fn len(&self) -> usize {
        match self {
            Self::Lent(descriptor) => descriptor.len(),
            Self::Notice(_) => 0,
            Self::Own(octets) => octets.len(),
        }
    }

    #[inline]
    fn read(&self, offset: usize, into: &mut [u8]) {
        match self {
            Self::Lent(descriptor) => gather(descriptor, offset, into),
            Self::Notice(_) => {}
            Self::Own(octets) => into.copy_from_slice(&octets[offset..offset + into.len()]),
        }
    }
}

/// Copies octets of a descriptor's buffers. There are so many.
#[inline]
pub(super) fn gather(descriptor: &SendDescriptor, offset: usize, into: &mut [u8]) {
    if descriptor.more.is_empty() {
        into.copy_from_slice(&descriptor.buffer[offset..offset + into.len()]);
    } else {
        gather_segments(descriptor, offset, into);
    }
}

fn gather_segments(descriptor: &SendDescriptor, mut offset: usize, mut into: &mut [u8]) {
    for buffer in std::iter::once(&descriptor.buffer).chain(descriptor.more.iter()) {
        let Some(part) = buffer.get(offset..) else {
            offset -= buffer.len();
            continue;
        };
        let (now, later) = into.split_at_mut(part.len().min(into.len()));
        now.copy_from_slice(&part[..now.len()]);
        (into, offset) = (later, 0);
    }
}

/// Copies octets into a descriptor's buffers. There is room.
pub(super) fn scatter(descriptor: &mut SendDescriptor, mut offset: usize, mut octets: &[u8]) {
    for buffer in std::iter::once(&mut descriptor.buffer).chain(descriptor.more.iter_mut()) {
        let len = buffer.len();
        let Some(part) = buffer.get_mut(offset..) else {
            offset -= len;
            continue;
        };
        let (now, later) = octets.split_at(part.len().min(octets.len()));
        part[..now.len()].copy_from_slice(now);
        (octets, offset) = (later, 0);
    }
}

/// Where a message goes.
pub(crate) enum Place {
    Lent(ReceiveDescriptor),
    /// The provider's own.
    Own(Vec<u8>),
}

impl Place {
    pub(crate) fn descriptor(self) -> Option<ReceiveDescriptor> {
        match self {
            Self::Lent(descriptor) => Some(descriptor),
            Self::Own(_) => None,
        }
    }
}

impl Sink for Place {
    #[inline]
    fn capacity(&self) -> usize {
        match self {
            Self::Lent(descriptor) => descriptor.capacity(),
            Self::Own(buffer) => buffer.len(),
        }
    }

    #[inline]
    fn write(&mut self, offset: usize, octets: &[u8]) {
        match self {
            Self::Lent(descriptor) if descriptor.more.is_empty() => {
                descriptor.buffer.whole_mut()[offset..offset + octets.len()].copy_from_slice(octets);
            }
            Self::Lent(descriptor) => place(descriptor, offset, octets),
            Self::Own(buffer) => buffer[offset..offset + octets.len()].copy_from_slice(octets),
        }
    }
}

fn place(descriptor: &mut ReceiveDescriptor, mut offset: usize, mut octets: &[u8]) {
    for buffer in std::iter::once(&mut descriptor.buffer).chain(descriptor.more.iter_mut()) {
        let capacity = Buffer::capacity(buffer);
        if offset >= capacity {
            offset -= capacity;
            continue;
        }
        let (now, later) = octets.split_at(octets.len().min(capacity - offset));
        buffer.whole_mut()[offset..offset + now.len()].copy_from_slice(now);
        (octets, offset) = (later, 0);
        if octets.is_empty() {
            return;
        }
    }
}
