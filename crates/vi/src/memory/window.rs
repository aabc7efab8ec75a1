//! Windows: memory that peers may reach by remote DMA.

use super::{Mapping, MemoryHandle, copy_in, copy_out};
use crate::ProtectionTag;
use std::{
    fmt, io,
    os::fd::OwnedFd,
    ptr::NonNull,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// What peers may do with a [`Window`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rights {
    /// Remote DMA may write to it.
    pub remote_write: bool,
    /// Remote DMA may read from it. Where memory is shared, who may write can see it as well, if it breaks the rules.
    pub remote_read: bool,
}

/// A place outside is not in the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("outside the window")]
pub struct OutsideWindow;

/// Memory of this process that peers reach by remote DMA, without this process taking part: peers connected to VIs of its
/// tag. They may change it at any time, so it is never a slice, and is read and written by copies.
///
/// Dropped, it is withdrawn: its handle is stale. Over shared memory a peer that has taken no note of some hundreds of windows
/// shown or withdrawn before is told of this one later: once it has, and the VI at this side is polled or waited for. Until then what it
/// asks for succeeds, but nobody sees what it writes.
pub struct Window {
    memory: Arc<WindowMemory>,
    withdraw: Option<Box<dyn Fn(MemoryHandle) + Send + Sync>>,
}

/// The memory of a window.
pub(crate) struct WindowMemory {
    base: NonNull<u8>,
    len: usize,
    pub(crate) tag: ProtectionTag,
    pub(crate) rights: Rights,
    pub(crate) handle: MemoryHandle,
    backing: Backing,
}

/// Words of this process, which whoever has a pointer may reach, wherever this is moved.
struct Words(NonNull<[AtomicU64]>);

impl Words {
    fn new(count: usize) -> io::Result<Self> {
        let mut words = Vec::new();
        words.try_reserve_exact(count).map_err(|_| io::ErrorKind::OutOfMemory)?;
        words.resize_with(count, AtomicU64::default);
        Ok(Self(NonNull::from(Box::leak(words.into_boxed_slice()))))
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        // SAFETY: it was leaked, and with this nobody is left who would reach it.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

/// What keeps the bytes in place.
enum Backing {
    Heap { _words: Words },
    File { _mapping: Mapping, file: OwnedFd },
}

// SAFETY: the bytes are reached by atomics only.
unsafe impl Send for WindowMemory {}
// SAFETY: as above.
unsafe impl Sync for WindowMemory {}

impl WindowMemory {
    /// For peers in this process.
    ///
    /// # Errors
    ///
    /// If there is no more memory.
    pub(crate) fn on_heap(len: usize, tag: ProtectionTag, rights: Rights) -> io::Result<Arc<Self>> {
        let words = Words::new(len.div_ceil(8).max(1))?;
        Ok(Self::new(words.0.cast(), len, tag, rights, Backing::Heap { _words: words }))
    }

    /// For peers in other processes.
    pub(crate) fn in_file(len: usize, tag: ProtectionTag, rights: Rights) -> io::Result<Arc<Self>> {
        let (mapping, file) = Mapping::create("throughline-vi-window", len.max(1), rights.remote_write)?;
        Ok(Self::new(mapping.start(), len, tag, rights, Backing::File { _mapping: mapping, file }))
    }

    fn new(base: NonNull<u8>, len: usize, tag: ProtectionTag, rights: Rights, backing: Backing) -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let handle = MemoryHandle(NEXT.fetch_add(1, Ordering::Relaxed));
        Arc::new(Self { base, len, tag, rights, handle, backing })
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn file(&self) -> Option<&OwnedFd> {
        match &self.backing {
            Backing::File { file, .. } => Some(file),
            Backing::Heap { .. } => None,
        }
    }

    pub(crate) fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), OutsideWindow> {
        let from = self.place(offset, into.len())?;
        // SAFETY: inside, and reached by atomics or other processes only.
        unsafe { copy_out(from, into) };
        Ok(())
    }

    pub(crate) fn write(&self, offset: u64, from: &[u8]) -> Result<(), OutsideWindow> {
        let into = self.place(offset, from.len())?;
        // SAFETY: as above.
        unsafe { copy_in(from, into) };
        Ok(())
    }

    fn place(&self, offset: u64, len: usize) -> Result<NonNull<u8>, OutsideWindow> {
        let offset = usize::try_from(offset).map_err(|_| OutsideWindow)?;
        if offset.checked_add(len).is_none_or(|end| end > self.len) {
            return Err(OutsideWindow);
        }
        // SAFETY: inside.
        Ok(unsafe { self.base.add(offset) })
    }
}

impl Window {
    pub(crate) fn new(memory: Arc<WindowMemory>, withdraw: Box<dyn Fn(MemoryHandle) + Send + Sync>) -> Self {
        Self { memory, withdraw: Some(withdraw) }
    }

    /// Its name, to be told to peers.
    pub fn handle(&self) -> MemoryHandle {
        self.memory.handle
    }

    /// Its length in bytes.
    #[allow(clippy::len_without_is_empty, reason = "a size, not a number of things")]
    pub fn len(&self) -> usize {
        self.memory.len
    }

    /// The tag of the VIs whose peers may reach it.
    pub fn tag(&self) -> ProtectionTag {
        self.memory.tag
    }

    /// What peers may do.
    pub fn rights(&self) -> Rights {
        self.memory.rights
    }

    /// Copies bytes out. What a peer wrote before a message that was received since is seen whole.
    ///
    /// # Errors
    ///
    /// If they are not all inside.
    pub fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), OutsideWindow> {
        self.memory.read(offset, into)
    }

    /// Copies bytes in.
    ///
    /// # Errors
    ///
    /// If they would not all be inside.
    pub fn write(&self, offset: u64, from: &[u8]) -> Result<(), OutsideWindow> {
        self.memory.write(offset, from)
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        if let Some(withdraw) = self.withdraw.take() {
            withdraw(self.memory.handle);
        }
    }
}

impl fmt::Debug for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Window({:?}, {} bytes, {:?})", self.handle(), self.len(), self.rights())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_where_they_were_put_and_nowhere_outside() {
        let rights = Rights { remote_write: true, remote_read: true };
        let window = WindowMemory::on_heap(100, ProtectionTag::new(), rights).expect("memory");
        window.write(90, b"0123456789").expect("inside");
        let mut back = [0; 5];
        window.read(95, &mut back).expect("inside");
        assert_eq!(&back, b"56789");
        assert_eq!(window.write(91, b"0123456789"), Err(OutsideWindow));
        assert_eq!(window.read(u64::MAX, &mut back), Err(OutsideWindow));
        assert_eq!(window.read(100, &mut back), Err(OutsideWindow));
        assert_eq!(window.read(100, &mut []), Ok(()));
    }
}
