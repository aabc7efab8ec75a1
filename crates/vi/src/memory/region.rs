//! Regions, and the buffers they are cut into.

use super::Mapping;
use crate::ProtectionTag;
use std::{
    alloc::Layout,
    fmt, io,
    mem::ManuallyDrop,
    ops::{Deref, DerefMut},
    os::fd::OwnedFd,
    ptr::NonNull,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// Bytes of a cache line. Where lines are longer, some are claimed twice.
const LINE: usize = 64;

/// Memory cut into chunks of equal size. A chunk is either free, which its bit says, or belongs to one [`Buffer`].
pub(crate) struct Memory {
    base: NonNull<u8>,
    chunk: u32,
    count: u32,
    tag: ProtectionTag,
    free: Box<[AtomicU64]>,
    backing: Backing,
}

/// What keeps the bytes in place.
enum Backing {
    Heap(Layout),
    File(FilePart),
}

/// A part of a memory file that this process alone can write, unless it is lent, and peers may map to read.
#[derive(Clone)]
pub(crate) struct FilePart {
    /// Its mapping here.
    pub(crate) mapping: Arc<Mapping>,
    /// The file.
    pub(crate) file: Arc<OwnedFd>,
    /// Where the part begins, in bytes.
    pub(crate) offset: u64,
    /// Trusting receivers of messages may write to them while they have them.
    pub(crate) lent: bool,
}

// SAFETY: every byte belongs to one `Buffer` at a time, or to nobody; the rest is atomics and plain values.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// Memory that stays in this process.
    ///
    /// # Errors
    ///
    /// If there is no more.
    pub(crate) fn on_heap(count: u32, chunk: u32, tag: ProtectionTag) -> io::Result<Arc<Self>> {
        let bytes = (count as usize * chunk as usize).max(64);
        let layout = Layout::from_size_align(bytes, 64).expect("sizes were checked");
        // SAFETY: the layout has a size.
        let base = NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) });
        let base = base.ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self::new(base, count, chunk, tag, Backing::Heap(layout)))
    }

    /// Memory in a file made by this process, which is sealed against all other writers or lent; nothing else uses this part of it.
    pub(crate) fn in_file(part: FilePart, count: u32, chunk: u32, tag: ProtectionTag) -> Arc<Self> {
        let base = part.mapping.range(part.offset, count as usize * chunk as usize);
        Self::new(base.expect("inside the file"), count, chunk, tag, Backing::File(part))
    }

    fn new(base: NonNull<u8>, count: u32, chunk: u32, tag: ProtectionTag, backing: Backing) -> Arc<Self> {
        let free = (0..count.div_ceil(64)).map(|word| {
            let bits = (count - word * 64).min(64);
            AtomicU64::new(u64::MAX >> (64 - bits))
        });
        Arc::new(Self { base, chunk, count, tag, free: free.collect(), backing })
    }

    /// A free chunk.
    pub(crate) fn take(self: &Arc<Self>) -> Option<Buffer> {
        for (at, word) in self.free.iter().enumerate() {
            let mut bits = word.load(Ordering::Relaxed);
            while bits != 0 {
                let bit = bits.trailing_zeros();
                // Acquire: what the last owner did comes before what the next one does.
                bits = word.fetch_and(!(1 << bit), Ordering::Acquire);
                if bits >> bit & 1 == 1 {
                    return Some(self.buffer(at as u32 * 64 + bit));
                }
            }
        }
        None
    }

    /// The chunk, which the caller took from the free ones.
    fn buffer(self: &Arc<Self>, index: u32) -> Buffer {
        // SAFETY: `index` is less than `count`.
        let start = unsafe { self.base.add(index as usize * self.chunk as usize) };
        Buffer { start, len: self.chunk, index, memory: self.clone() }
    }

    pub(crate) fn tag(&self) -> ProtectionTag {
        self.tag
    }

    /// In bytes.
    pub(crate) fn size(&self) -> u64 {
        u64::from(self.count) * u64::from(self.chunk)
    }

    /// The file it is in, if it can be shown to peers.
    pub(crate) fn file(&self) -> Option<&FilePart> {
        match &self.backing {
            Backing::File(part) => Some(part),
            Backing::Heap(_) => None,
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Backing::Heap(layout) = self.backing {
            // SAFETY: allocated by us with this layout, and no buffer is left, since each holds us.
            unsafe { std::alloc::dealloc(self.base.as_ptr(), layout) };
        }
    }
}

/// A piece of registered memory, owned: nobody else reads or writes it while you hold it. It is a slice of bytes.
///
/// Posted in a descriptor it belongs to the fabric, and it comes back with the completion. Dropped, it goes back to its
/// [`Region`] or its VI's pool.
pub struct Buffer {
    start: NonNull<u8>,
    len: u32,
    index: u32,
    memory: Arc<Memory>,
}

// SAFETY: a buffer owns its chunk, which is plain bytes.
unsafe impl Send for Buffer {}
// SAFETY: `&Buffer` only reads.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// How many bytes it has room for.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.memory.chunk as usize
    }

    /// Makes it `len` bytes long, shorter or longer than before; further bytes hold whatever was there.
    ///
    /// # Panics
    ///
    /// If `len` exceeds the capacity.
    #[inline]
    pub fn set_len(&mut self, len: usize) {
        assert!(len <= self.capacity(), "a buffer of {} bytes has no room for {len}", self.capacity());
        self.len = len as u32;
    }

    /// Takes the cache lines of its first `len` bytes away from whoever has read them, for a message to be written soon. What they
    /// held is lost.
    ///
    /// Where the peer fetches a message from this memory its lines are in the peer's caches, and each must leave them before it can
    /// be written. A copy into them waits for a few at a time, since its stores fill the processor's store buffer; this stores once
    /// in each line. So it pays even if the message follows at once, and costs nothing while an answer is waited for.
    pub fn claim(&mut self, len: usize) {
        for line in self.whole_mut().chunks_mut(LINE).take(len.div_ceil(LINE)) {
            line[0] = 0;
        }
    }

    /// Makes it as long as it can be.
    #[inline]
    pub fn set_full(&mut self) {
        self.len = self.memory.chunk;
    }

    /// It goes back to nobody: its memory has one buffer less.
    pub(crate) fn retire(self) {
        let buffer = ManuallyDrop::new(self);
        // SAFETY: nobody uses or drops the one that this is read from any more.
        drop(unsafe { std::ptr::read(&raw const buffer.memory) });
    }

    /// All its bytes, however long it is at present.
    #[inline]
    pub(crate) fn whole(&self) -> &[u8] {
        // SAFETY: as in `deref`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.capacity()) }
    }

    /// As [`whole`](Self::whole), to be changed.
    #[inline(always)]
    pub(crate) fn whole_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref_mut`.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.capacity()) }
    }

    #[inline]
    pub(crate) fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    /// Where it begins in its memory, in bytes.
    #[inline]
    pub(crate) fn offset(&self) -> u64 {
        u64::from(self.index) * u64::from(self.memory.chunk)
    }
}

impl Deref for Buffer {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: the chunk is ours alone, initialised (with zeros) when the memory was made, and no other process can
        // write to it: memory files are sealed, or lent to those of whom it was promised that they do not while it is a buffer here.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len as usize) }
    }
}

impl DerefMut for Buffer {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above. Other processes may read meanwhile; what they see is their business.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len as usize) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // Release: what we did comes before what the next owner does.
        self.memory.free[self.index as usize / 64].fetch_or(1 << (self.index % 64), Ordering::Release);
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} of {} bytes)", self.len, self.capacity())
    }
}

/// Registered memory: buffers of one size under one protection tag. Clones are the same memory.
///
/// A VI that is dropped returns the buffers of its region that were posted. Over shared memory the peer may not have fetched their
/// messages, and fetches what is there: who uses the region for something else then [disconnects](crate::Vi::disconnect) first, and
/// takes the completions.
#[derive(Clone)]
pub struct Region {
    memory: Arc<Memory>,
}

impl Region {
    pub(crate) fn new(memory: Arc<Memory>) -> Self {
        Self { memory }
    }

    /// A buffer, unless all are in use.
    pub fn buffer(&self) -> Option<Buffer> {
        self.memory.take()
    }

    /// The tag of the VIs that may use it.
    pub fn tag(&self) -> ProtectionTag {
        self.memory.tag
    }
}

impl fmt::Debug for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Region({} buffers of {} bytes)", self.memory.count, self.memory.chunk)
    }
}

/// A VI's own buffers. Those that come back through the VI are kept at hand, without atomics.
pub(crate) struct Pool {
    memory: Arc<Memory>,
    at_hand: Vec<Buffer>,
}

impl Pool {
    pub(crate) fn new(memory: Arc<Memory>) -> Self {
        let at_hand = Vec::with_capacity(memory.count as usize);
        Self { memory, at_hand }
    }

    /// A buffer at its full length, unless all are in use.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<Buffer> {
        self.at_hand.pop().or_else(|| self.memory.take())
    }

    /// Keeps the buffer if it is of this pool; drops it if not, which returns it where it belongs.
    #[inline]
    pub(crate) fn keep(&mut self, mut buffer: Buffer) {
        if Arc::ptr_eq(&self.memory, &buffer.memory) {
            buffer.set_full();
            self.at_hand.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chunk_is_given_out_once_and_comes_back() {
        let region = Region::new(Memory::on_heap(70, 64, ProtectionTag::new()).expect("memory"));
        let mut buffers: Vec<_> = std::iter::from_fn(|| region.buffer()).collect();
        assert_eq!(buffers.len(), 70);
        for (at, buffer) in buffers.iter_mut().enumerate() {
            buffer.fill(at as u8);
        }
        assert!(buffers.iter().enumerate().all(|(at, buffer)| buffer.iter().all(|byte| *byte == at as u8)));
        drop(buffers.remove(65));
        assert!(region.buffer().is_some());
        drop(buffers);
        assert_eq!(std::iter::from_fn(|| region.buffer()).collect::<Vec<_>>().len(), 70);
    }

    #[test]
    fn claims_lines_of_a_buffer_and_no_others() {
        let region = Region::new(Memory::on_heap(2, 192, ProtectionTag::new()).expect("memory"));
        let (mut first, mut second) = (region.buffer().expect("a buffer"), region.buffer().expect("another"));
        for (len, lines) in [(0, 0), (1, 1), (64, 1), (65, 2), (192, 3), (usize::MAX, 3)] {
            first.fill(7);
            second.fill(7);
            first.set_len(1);
            first.claim(len);
            first.set_full();
            assert_eq!(first.iter().filter(|byte| **byte == 0).count(), lines, "{len}");
            assert!(second.iter().all(|byte| *byte == 7));
        }
    }

    #[test]
    fn a_buffer_outlives_its_region() {
        let region = Region::new(Memory::on_heap(1, 100 * 64, ProtectionTag::new()).expect("memory"));
        let mut buffer = region.buffer().expect("a buffer");
        drop(region);
        buffer.set_len(3);
        buffer.copy_from_slice(b"abc");
        assert_eq!(&*buffer, b"abc");
    }

    #[test]
    fn a_pool_keeps_its_own_buffers_only() {
        let tag = ProtectionTag::new();
        let mut pool = Pool::new(Memory::on_heap(1, 64, tag).expect("memory"));
        let other = Memory::on_heap(1, 64, tag).expect("memory");
        let mut mine = pool.take().expect("a buffer");
        assert!(pool.take().is_none());
        pool.keep(other.take().expect("a buffer"));
        assert!(pool.take().is_none() && other.take().is_some());
        mine.set_len(1);
        pool.keep(mine);
        assert_eq!(pool.take().expect("back again").len(), 64);
    }

    #[test]
    #[should_panic(expected = "no room")]
    fn a_buffer_cannot_be_longer_than_its_chunk() {
        Memory::on_heap(1, 64, ProtectionTag::new()).expect("memory").take().expect("a buffer").set_len(65);
    }
}
