//! Messages and places for them, as the protocol reads and fills them.

use crate::{
    Buffer,
    descriptor::{ReceiveDescriptor, SendDescriptor},
    fabric::SMALL_MESSAGE,
    reliable::{MAX_SHORT, Sink, Source},
};

const _: () = assert!(MAX_SHORT == SMALL_MESSAGE, "small messages take the short way");

/// A message under way.
pub(crate) enum Outgoing {
    Lent(SendDescriptor),
    /// Empty: tells the peer of what this descriptor did to its memory.
    Notice(SendDescriptor),
    /// Of the provider, or of a VI that is no more.
    Own(Vec<u8>),
    /// A small message that needed no descriptor, and that nobody wants back.
    Small(Small),
}

/// The octets of a small message.
pub(crate) struct Small {
    length: u8,
    octets: [u8; SMALL_MESSAGE],
}

impl Small {
    /// A copy of a message, if it is small.
    #[inline]
    pub(super) fn new(message: &[u8]) -> Option<Self> {
        let mut octets = [0; SMALL_MESSAGE];
        octets.get_mut(..message.len())?.copy_from_slice(message);
        Some(Self { length: message.len() as u8, octets })
    }

    #[inline]
    fn octets(&self) -> &[u8] {
        &self.octets[..usize::from(self.length)]
    }
}

impl Outgoing {
    /// Leaves a copy, and returns the descriptor.
    pub(crate) fn detach(&mut self) -> Option<SendDescriptor> {
        if self.is_silent() {
            return None;
        }
        let mut copy = vec![0; self.len()];
        self.read(0, &mut copy);
        std::mem::replace(self, Self::Own(copy)).descriptor()
    }

    pub(crate) fn descriptor(self) -> Option<SendDescriptor> {
        match self {
            Self::Lent(descriptor) | Self::Notice(descriptor) => Some(descriptor),
            Self::Own(_) | Self::Small(_) => None,
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
            Self::Small(small) => small.length.into(),
        }
    }

    #[inline]
    fn read(&self, offset: usize, into: &mut [u8]) {
        match self {
            Self::Lent(descriptor) => gather(descriptor, offset, into),
            Self::Notice(_) => {}
            Self::Own(octets) => into.copy_from_slice(&octets[offset..offset + into.len()]),
            Self::Small(small) => into.copy_from_slice(&small.octets()[offset..offset + into.len()]),
        }
    }

    #[inline]
    fn is_silent(&self) -> bool {
        matches!(self, Self::Small(_))
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
