//! Receive descriptors that wait for messages.

use crate::descriptor::ReceiveDescriptor;
use std::collections::VecDeque;

/// The receive descriptors posted and not complete. Fabrics that place messages while nobody polls borrow them.
pub(crate) struct Posted {
    queue: VecDeque<ReceiveDescriptor>,
    /// Descriptors that the queue may hold: less by those borrowed.
    room: usize,
    depth: usize,
}

impl Posted {
    pub(crate) fn new(depth: usize) -> Self {
        Self { queue: VecDeque::with_capacity(depth), room: depth, depth }
    }

    /// Whether there is room for one more beside so many that are complete.
    #[inline]
    pub(crate) fn has_room(&self, complete: usize) -> bool {
        self.queue.len() + complete < self.room
    }

    #[inline]
    pub(crate) fn push(&mut self, descriptor: ReceiveDescriptor) {
        self.queue.push_back(descriptor);
    }

    #[inline]
    pub(crate) fn first(&mut self) -> Option<&mut ReceiveDescriptor> {
        self.queue.front_mut()
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<ReceiveDescriptor> {
        self.queue.pop_front()
    }

    /// Whether nothing is posted, nor borrowed.
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many are posted, those borrowed included.
    pub(crate) fn len(&self) -> usize {
        self.queue.len() + (self.depth - self.room)
    }

    /// Lends the first that is not.
    pub(crate) fn lend(&mut self) -> Option<ReceiveDescriptor> {
        let lent = self.queue.pop_front()?;
        self.room -= 1;
        Some(lent)
    }

    /// One that was lent comes back, as the first.
    pub(crate) fn put_first(&mut self, lent: ReceiveDescriptor) {
        self.room += 1;
        self.queue.push_front(lent);
    }

    /// All that were lent come back, in the order posted.
    pub(crate) fn put_all(&mut self, lent: impl DoubleEndedIterator<Item = ReceiveDescriptor>) {
        lent.rev().for_each(|descriptor| self.put_first(descriptor));
    }
}
