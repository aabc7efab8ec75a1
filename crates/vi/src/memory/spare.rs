//! Memory for messages longer than the buffers posted for them.

use super::{Buffer, Memory};
use crate::{ProtectionTag, descriptor::ReceiveDescriptor};
use std::sync::Arc;

/// So many buffers at a time, made when one is first needed. Pages that no message reaches are never touched.
pub(crate) struct Spare {
    count: u32,
    limit: u32,
    tag: ProtectionTag,
    memory: Option<Arc<Memory>>,
}

impl Spare {
    pub(crate) fn new(count: u32, limit: u32, tag: ProtectionTag) -> Self {
        Self { count, limit, tag, memory: None }
    }

    /// The longest message that there is a buffer for, in bytes.
    pub(crate) fn limit(&self) -> usize {
        self.limit as usize
    }

    /// Whether a message of so many bytes could have a buffer of that length instead of this one.
    pub(crate) fn suits(&self, len: usize, posted: &ReceiveDescriptor) -> bool {
        len <= self.limit() && posted.more.is_empty()
    }

    /// Gives a descriptor room for so many bytes, if it has not, by a [`buffer`](Self::buffer) in place of its own; whether it has
    /// room then.
    pub(crate) fn make_room(&mut self, len: usize, posted: &mut ReceiveDescriptor) -> bool {
        if len > posted.capacity()
            && self.suits(len, posted)
            && let Some(buffer) = self.buffer()
        {
            posted.buffer = buffer;
        }
        len <= posted.capacity()
    }

    /// A buffer of that length. While all are in use it is another, which is kept in their place.
    pub(crate) fn buffer(&mut self) -> Option<Buffer> {
        self.buffer_at_hand().or_else(|| {
            self.memory = None;
            self.buffer_at_hand()
        })
    }

    /// A buffer of that length at least; while all are in use it is another, no longer than that.
    pub(crate) fn buffer_for(&mut self, len: usize) -> Option<Buffer> {
        self.buffer_at_hand().or_else(|| Memory::on_heap(1, u32::try_from(len).ok()?, self.tag).ok()?.take())
    }

    /// A buffer, unless all are in use, or there is no memory for any.
    fn buffer_at_hand(&mut self) -> Option<Buffer> {
        let Self { count, limit, tag, .. } = *self;
        if self.memory.is_none() {
            self.memory = Memory::on_heap(count, limit, tag).ok();
        }
        self.memory.as_ref()?.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_memory_comes_again_unless_it_is_in_use() {
        let mut spare = Spare::new(1, 4096, ProtectionTag::new());
        let first = spare.buffer().expect("a buffer");
        let place = first.as_ptr();
        let second = spare.buffer().expect("another");
        assert_ne!(second.as_ptr(), place);
        let place = second.as_ptr();
        drop((first, second));
        assert_eq!(spare.buffer().expect("the second again").as_ptr(), place);
    }

    #[test]
    fn no_more_are_at_hand_than_it_has() {
        let mut spare = Spare::new(2, 4096, ProtectionTag::new());
        let both = [spare.buffer_at_hand(), spare.buffer_at_hand()];
        assert!(both.iter().all(Option::is_some) && spare.buffer_at_hand().is_none());
        let third = spare.buffer();
        assert!(third.is_some() && spare.buffer_at_hand().is_some());
        drop(both);
    }
}
