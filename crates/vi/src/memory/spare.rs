//! Memory for messages longer than the buffers posted for them.

use super::{Buffer, Memory};
use crate::ProtectionTag;
use std::sync::Arc;

/// One buffer, made when it is first needed. Pages that no message reaches are never touched.
pub(crate) struct Spare {
    limit: u32,
    tag: ProtectionTag,
    memory: Option<Arc<Memory>>,
}

impl Spare {
    pub(crate) fn new(limit: u32, tag: ProtectionTag) -> Self {
        Self { limit, tag, memory: None }
    }

    /// The longest message that there is a buffer for, in bytes.
    pub(crate) fn limit(&self) -> usize {
        self.limit as usize
    }

    /// A buffer of that length. While the last one is in use it is another, which is kept in its place.
    pub(crate) fn buffer(&mut self) -> Option<Buffer> {
        if let Some(buffer) = self.memory.as_ref().and_then(Memory::take) {
            return Some(buffer);
        }
        let memory = Memory::on_heap(1, self.limit, self.tag);
        let buffer = memory.take();
        self.memory = Some(memory);
        buffer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_memory_comes_again_unless_it_is_in_use() {
        let mut spare = Spare::new(4096, ProtectionTag::new());
        let first = spare.buffer().expect("a buffer");
        let place = first.as_ptr();
        let second = spare.buffer().expect("another");
        assert_ne!(second.as_ptr(), place);
        let place = second.as_ptr();
        drop((first, second));
        assert_eq!(spare.buffer().expect("the second again").as_ptr(), place);
    }
}
