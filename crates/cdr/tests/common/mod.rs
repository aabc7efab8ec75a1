//! A message of which a reader has the first octets only.

use std::cell::{Cell, OnceCell};
use std::mem::MaybeUninit;

use throughline_cdr::{ByteOrder, Reader, Tail, fill};

/// A message whose octets are counted when they are copied, and are no good before they were.
pub struct Remote<'l> {
    message: Vec<u8>,
    head: usize,
    all: OnceCell<Vec<u8>>,
    copied: Cell<usize>,
    lent: Cell<Option<&'l mut [u8]>>,
}

impl<'l> Remote<'l> {
    pub fn new(message: &[u8], head: usize) -> Self {
        let (copied, lent) = (Cell::new(0), Cell::new(None));
        Self { message: message.to_vec(), head, all: OnceCell::new(), copied, lent }
    }

    #[allow(dead_code, reason = "not all tests lend")]
    /// One that lies in `memory`, to be changed there.
    pub fn lent(memory: &'l mut [u8], head: usize) -> Self {
        Self { message: memory.to_vec(), lent: Cell::new(Some(memory)), ..Self::new(&[], head) }
    }

    /// Octets that were copied in all.
    pub fn copied(&self) -> usize {
        self.copied.get()
    }

    pub fn reader(&self, order: ByteOrder) -> Reader<'_> {
        Reader::new(&self.message[..self.head], order).with_tail(self)
    }
}

impl Tail for Remote<'_> {
    fn message_len(&self) -> usize {
        self.message.len()
    }

    fn copy<'i>(&self, offset: usize, into: &'i mut [MaybeUninit<u8>]) -> &'i mut [u8] {
        self.copied.set(self.copied.get() + into.len());
        fill(into, &self.message[offset..][..into.len()])
    }

    fn copy_over(&self, offset: usize, into: &mut [u8]) {
        self.copied.set(self.copied.get() + into.len());
        into.copy_from_slice(&self.message[offset..][..into.len()]);
    }

    fn lend(&self, offset: usize) -> Option<&mut [u8]> {
        self.lent.take()?.get_mut(offset..)
    }

    fn has_all(&self) -> bool {
        self.all.get().is_some()
    }

    fn all(&self, from: usize) -> &[u8] {
        self.all.get_or_init(|| {
            let mut all = vec![0xEE; self.message.len()];
            all[..self.head].copy_from_slice(&self.message[..self.head]);
            let from = from.max(self.head);
            all[from..].copy_from_slice(&self.message[from..]);
            self.copied.set(self.copied.get() + all.len() - from);
            all
        })
    }
}
