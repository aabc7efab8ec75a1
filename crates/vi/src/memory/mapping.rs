//! Memory files: made and sealed here, or a peer's, checked and mapped.

use rustix::{
    fs::{MemfdFlags, SealFlags},
    mm::{MapFlags, ProtFlags},
};
use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    ptr::NonNull,
};

/// `TMPFS_MAGIC`: what memory files are on, unless made of huge pages.
const TMPFS: u64 = 0x0102_1994;

/// A mapped file.
pub(crate) struct Mapping {
    base: NonNull<u8>,
    len: usize,
}

// SAFETY: the mapping belongs to no thread; whoever dereferences what it hands out must say why that is sound.
unsafe impl Send for Mapping {}
// SAFETY: as above: `Mapping` itself only hands out addresses.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Makes a memory file of zeros and maps it writable. Unless `peers_write`, nobody else can ever write to it.
    pub(crate) fn create(name: &str, len: usize, peers_write: bool) -> io::Result<(Self, OwnedFd)> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let fd = rustix::fs::memfd_create(name, flags | MemfdFlags::NOEXEC_SEAL)
            // Kernels before 6.3 do not know the flag.
            .or_else(|_| rustix::fs::memfd_create(name, flags))?;
        rustix::fs::ftruncate(&fd, len as u64)?;
        let mapping = Self::map(fd.as_fd(), len, true)?;
        // From here on the size is fixed, and this mapping is the only one that writes.
        let mut seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
        if !peers_write {
            seals |= SealFlags::FUTURE_WRITE;
        }
        rustix::fs::fcntl_add_seals(&fd, seals)?;
        Ok((mapping, fd))
    }

    /// Maps a file a peer sent, if it cannot shrink under our feet and is at least this long.
    pub(crate) fn of_peer(fd: BorrowedFd<'_>, len: usize, writable: bool) -> Result<Self, Untrusted> {
        let seals = rustix::fs::fcntl_get_seals(fd).map_err(|_| Untrusted("not a memory file"))?;
        // Holes cannot be punched into what is sealed against writing.
        let needed = if writable { SealFlags::SHRINK } else { SealFlags::SHRINK | SealFlags::FUTURE_WRITE };
        if !seals.contains(needed) {
            return Err(Untrusted("memory is not sealed"));
        }
        let kind = rustix::fs::fstatfs(fd).map_err(|_| Untrusted("not a memory file"))?.f_type;
        let size = rustix::fs::fstat(fd).map_err(|_| Untrusted("not a memory file"))?.st_size;
        if kind as u64 != TMPFS || u64::try_from(size).is_ok_and(|size| size < len as u64) {
            return Err(Untrusted("memory file too short, or of another kind"));
        }
        Self::map(fd, len, writable).map_err(|_| Untrusted(NO_ROOM))
    }

    fn map(fd: BorrowedFd<'_>, len: usize, writable: bool) -> io::Result<Self> {
        isize::try_from(len).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let protection = if writable { ProtFlags::READ | ProtFlags::WRITE } else { ProtFlags::READ };
        // SAFETY: a new mapping wherever the kernel finds room: no existing memory is touched.
        let base =
            unsafe { rustix::mm::mmap(std::ptr::null_mut(), len, protection, MapFlags::SHARED, fd, 0)? };
        let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { base, len })
    }

    /// The address of `len` bytes from `offset`, if they are inside.
    #[inline]
    pub(crate) fn range(&self, offset: u64, len: usize) -> Option<NonNull<u8>> {
        let offset = usize::try_from(offset).ok()?;
        let end = offset.checked_add(len)?;
        if end > self.len {
            return None;
        }
        // SAFETY: `offset` is inside the mapping.
        Some(unsafe { self.base.add(offset) })
    }

    /// Whether this is an address inside.
    pub(crate) fn contains(&self, address: usize) -> bool {
        address.checked_sub(self.base.addr().get()).is_some_and(|offset| offset < self.len)
    }

    /// The first byte.
    #[inline(always)]
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.base
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped by us with this length, and whoever uses addresses inside keeps `self` alive.
        let unmapped = unsafe { rustix::mm::munmap(self.base.as_ptr().cast(), self.len) };
        debug_assert!(unmapped.is_ok());
    }
}

/// Why a peer's memory was not mapped.
#[derive(Debug)]
pub(crate) struct Untrusted(pub(crate) &'static str);

const NO_ROOM: &str = "memory cannot be mapped";

impl Untrusted {
    /// The memory is as it should be, but the system does not map it.
    pub(crate) fn is_for_lack_of_room(&self) -> bool {
        self.0 == NO_ROOM
    }
}
