//! A message of which a reader has the first octets only.

use std::cell::{Cell, OnceCell};
use std::mem::MaybeUninit;

use throughline_cdr::{ByteOrder, Reader, Tail};

/// A message whose octets are counted when they are copied, and are no good before they were.
pub struct Remote {
    message: Vec<u8>,
    head: usize,
    all: OnceCell<Vec<u8>>,
    copied: Cell<usize>,
}

impl Remote {
    pub fn new(message: &[u8], head: usize) -> Self {
        Self { message: message.to_vec(), head, all: OnceCell::new(), copied: Cell::new(0) }
    }

    /// Octets that were copied in all.
    pub fn copied(&self) -> usize {
        self.copied.get()
    }

    pub fn reader(&self, order: ByteOrder) -> Reader<'_> {
        Reader::new(&self.message[..self.head], order).with_tail(self)
    }
}

impl Tail for Remote {
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

fn fill<'i>(into: &'i mut [MaybeUninit<u8>], octets: &[u8]) -> &'i mut [u8] {
    for (place, octet) in into.iter_mut().zip(octets) {
        place.write(*octet);
    }
    // SAFETY: all of them were written, since there are as many.
    unsafe { std::slice::from_raw_parts_mut(into.as_mut_ptr().cast(), octets.len()) }
}
