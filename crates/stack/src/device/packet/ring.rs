//! The receive ring that the kernel fills (`packet_mmap`, version 2).

use std::ffi::c_void;
use std::io;
use std::os::fd::OwnedFd;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, Ordering};

use linux_raw_sys::if_packet::{
    PACKET_RX_RING, TP_STATUS_COPY, TP_STATUS_KERNEL, TP_STATUS_USER, TP_STATUS_VLAN_TPID_VALID,
    TP_STATUS_VLAN_VALID, tpacket_req, tpacket2_hdr,
};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use super::offload::{OFFLOAD, Offload, Tag};
use super::socket;

/// What the kernel puts before a frame: its header, an address, remarks, alignment; and room for two tags.
const BEFORE: usize = 128;
/// A multiple of all usual page sizes. Blocks are memory that the kernel wants in one piece.
const BLOCK: usize = 64 << 10;
/// The EtherType of a tag whose own is not told.
const TAG: u16 = 0x8100;

/// Bytes of a place in the ring for frames of this MTU.
pub(super) fn slot_for(mtu: usize) -> usize {
    (BEFORE + crate::device::ETHERNET_HEADER + mtu).next_power_of_two()
}

/// The ring that a socket shares with the kernel.
#[derive(Debug)]
pub(super) struct Ring {
    places: Places,
    /// Where the places are.
    _mapping: Mapping,
}

impl Ring {
    /// At least so many places of so many bytes, a power of two.
    pub(super) fn new(socket: &OwnedFd, slots: usize, slot: usize) -> io::Result<Self> {
        let block = BLOCK.max(slot);
        let blocks = slots.max(1).saturating_mul(slot).div_ceil(block);
        let size = blocks.saturating_mul(block);
        let whole = |number: usize| u32::try_from(number).map_err(|_| io::ErrorKind::InvalidInput);
        let request = tpacket_req {
            tp_block_size: whole(block)?,
            tp_block_nr: whole(blocks)?,
            tp_frame_size: whole(slot)?,
            tp_frame_nr: whole(size / slot)?,
        };
        socket::set(socket, PACKET_RX_RING, &request)?;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping, of as many bytes as the socket's ring has.
        let memory = unsafe { mmap(ptr::null_mut(), size, protection, MapFlags::SHARED, socket, 0) }?;
        let memory = NonNull::new(memory.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { places: Places { memory, size, slot, at: 0 }, _mapping: Mapping { memory, size } })
    }

    /// The next frame, if it is there.
    #[inline]
    pub(super) fn next(&mut self) -> Option<Arrived<'_>> {
        self.places.next()
    }
}

/// Memory shared with the kernel.
#[derive(Debug)]
struct Mapping {
    memory: NonNull<u8>,
    size: usize,
}

// SAFETY: the memory belongs to the ring alone, on our side; the kernel does not ask which thread it is.
unsafe impl Send for Mapping {}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nobody has a reference to it who outlives the ring.
        let _ = unsafe { munmap(self.memory.as_ptr().cast::<c_void>(), self.size) };
    }
}

/// Places that are the kernel's or ours, in turn; the first word of each says whose.
#[derive(Debug)]
struct Places {
    /// So many bytes, as long as this is used, that only the kernel has besides.
    memory: NonNull<u8>,
    size: usize,
    slot: usize,
    /// Where the next frame will be, in bytes.
    at: usize,
}

// SAFETY: as for the mapping.
unsafe impl Send for Places {}

impl Places {
    /// The next frame, if it is there.
    #[inline]
    fn next(&mut self) -> Option<Arrived<'_>> {
        // SYNC POINT: the kernel's write of the status, after all others, in `tpacket_rcv`.
        let status = self.status().load(Ordering::Acquire);
        if status & TP_STATUS_USER == 0 {
            return None;
        }
        // SAFETY: a place begins with this header; the kernel does not touch the place while the status says that it is ours.
        let header = unsafe { self.place().cast::<tpacket2_hdr>().read() };
        let (begin, len) = (usize::from(header.tp_mac), header.tp_snaplen as usize);
        // A frame that does not lie in its place is an empty one.
        let lies = begin >= size_of::<tpacket2_hdr>() + OFFLOAD && begin.saturating_add(len) <= self.slot;
        Some(Arrived {
            header,
            begin: if lies { begin } else { BEFORE },
            len: if lies { len } else { 0 },
            places: self,
        })
    }

    fn place(&self) -> NonNull<u8> {
        // SAFETY: `at` is less than the size of the memory.
        unsafe { self.memory.add(self.at) }
    }

    fn status(&self) -> &AtomicU32 {
        // SAFETY: places are aligned to 16 bytes at least and begin with this word, to which both sides write whole words.
        unsafe { AtomicU32::from_ptr(self.place().cast().as_ptr()) }
    }
}

/// A frame in the ring. When dropped, its place goes back to the kernel.
pub(super) struct Arrived<'a> {
    header: tpacket2_hdr,
    begin: usize,
    len: usize,
    places: &'a mut Places,
}

impl Arrived<'_> {
    /// Bytes of it that are in the ring.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Whether it was too large for its place and is to be had from the socket as a whole.
    #[inline]
    pub(super) fn is_elsewhere(&self) -> bool {
        self.header.tp_status & TP_STATUS_COPY != 0
    }

    /// Whether the rest of it is lost.
    #[inline]
    pub(super) fn is_cut(&self) -> bool {
        self.len < self.header.tp_len as usize
    }

    /// The tag that was taken off.
    #[inline]
    pub(super) fn tag(&self) -> Option<Tag> {
        let status = self.header.tp_status;
        if status & TP_STATUS_VLAN_VALID == 0 {
            return None;
        }
        let kind = if status & TP_STATUS_VLAN_TPID_VALID == 0 { TAG } else { self.header.tp_vlan_tpid };
        let [[a, b], [c, d]] = [kind, self.header.tp_vlan_tci].map(u16::to_be_bytes);
        Some([a, b, c, d])
    }

    /// What the kernel left to do.
    #[inline]
    pub(super) fn offload(&self) -> Offload {
        let mut bytes = [0; OFFLOAD];
        self.copy(self.begin - OFFLOAD, &mut bytes);
        Offload::of(bytes)
    }

    /// Copies its first bytes.
    #[inline]
    pub(super) fn copy_to(&self, to: &mut [u8]) {
        assert!(to.len() <= self.len, "a frame is shorter than asked for");
        self.copy(self.begin, to);
    }

    fn copy(&self, from: usize, to: &mut [u8]) {
        assert!(from + to.len() <= self.places.slot, "outside of its place");
        // SAFETY: these bytes are in the place, which is ours until the drop; `to` is memory of this process, apart from it.
        unsafe {
            ptr::copy_nonoverlapping(self.places.place().add(from).as_ptr(), to.as_mut_ptr(), to.len())
        };
    }
}

impl Drop for Arrived<'_> {
    fn drop(&mut self) {
        // SYNC POINT: what we have read, before the kernel takes the place again.
        self.places.status().store(TP_STATUS_KERNEL, Ordering::Release);
        let next = self.places.at + self.places.slot;
        self.places.at = if next == self.places.size { 0 } else { next };
    }
}

#[cfg(test)]
mod tests;
