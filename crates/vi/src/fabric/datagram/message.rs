//! Descriptors, as the protocol reads and fills them.

use crate::{
    Buffer,
    descriptor::{ReceiveDescriptor, SendDescriptor},
    reliable::{Sink, Source},
};

/// A message under way.
pub(crate) enum Outgoing {
    Lent(SendDescriptor),
    /// Of a VI that is no more.
    Copied(Box<[u8]>),
}

impl Outgoing {
    /// Leaves a copy, and returns the descriptor.
    pub(crate) fn detach(&mut self) -> Option<SendDescriptor> {
        let mut copy = vec![0; self.len()].into_boxed_slice();
        self.read(0, &mut copy);
        std::mem::replace(self, Self::Copied(copy)).descriptor()
    }

    pub(crate) fn descriptor(self) -> Option<SendDescriptor> {
        match self {
            Self::Lent(descriptor) => Some(descriptor),
            Self::Copied(_) => None,
        }
    }
}

impl Source for Outgoing {
    #[inline]
    fn len(&self) -> usize {
        match self {
            Self::Lent(descriptor) => descriptor.len(),
            Self::Copied(octets) => octets.len(),
        }
    }

    #[inline]
    fn read(&self, offset: usize, into: &mut [u8]) {
        match self {
            Self::Lent(descriptor) if descriptor.more.is_empty() => {
                into.copy_from_slice(&descriptor.buffer[offset..offset + into.len()]);
            }
            Self::Lent(descriptor) => gather(descriptor, offset, into),
            Self::Copied(octets) => into.copy_from_slice(&octets[offset..offset + into.len()]),
        }
    }
}

fn gather(descriptor: &SendDescriptor, mut offset: usize, mut into: &mut [u8]) {
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

/// Where a message goes.
pub(crate) struct Place(pub(crate) ReceiveDescriptor);

impl Sink for Place {
    #[inline]
    fn capacity(&self) -> usize {
        self.0.capacity()
    }

    #[inline]
    fn write(&mut self, offset: usize, octets: &[u8]) {
        let (mut offset, mut octets) = (offset, octets);
        let buffers = std::iter::once(&mut self.0.buffer).chain(self.0.more.iter_mut());
        for buffer in buffers {
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
}
