//! The ring in memory of the test's own, which plays the kernel.

use std::{array, hint, thread};

use linux_raw_sys::if_packet::{TP_STATUS_LOSING, sockaddr_ll};

use super::*;

const SLOT: usize = 256;
const SLOTS: usize = 4;
/// Where the kernel puts frames: behind its header, an address and its remarks.
const BEGIN: usize = (size_of::<tpacket2_hdr>() + size_of::<sockaddr_ll>() + OFFLOAD).next_multiple_of(16);

#[repr(C, align(16))]
struct Memory([u8; SLOT * SLOTS]);

/// The other side of the ring.
struct Kernel {
    memory: NonNull<u8>,
    slot: usize,
}

// SAFETY: as for the places.
unsafe impl Send for Kernel {}

/// Runs a test with both sides of a ring in memory of its own.
fn with_ring(test: impl FnOnce(Places, Kernel)) {
    let memory = NonNull::from(Box::leak(Box::new(Memory([0; SLOT * SLOTS])))).cast::<u8>();
    test(Places { memory, size: SLOT * SLOTS, slot: SLOT, at: 0 }, Kernel { memory, slot: 0 });
    // SAFETY: it was a box, and both sides are gone.
    drop(unsafe { Box::from_raw(memory.cast::<Memory>().as_ptr()) });
}

impl Kernel {
    fn place(&self) -> NonNull<u8> {
        // SAFETY: there are so many slots.
        unsafe { self.memory.add(self.slot * SLOT) }
    }

    fn status(&self) -> &AtomicU32 {
        // SAFETY: as for the places.
        unsafe { AtomicU32::from_ptr(self.place().cast().as_ptr()) }
    }

    /// Puts a frame into the next place, if that is free; the status that the header has is its last word.
    fn put(&mut self, header: tpacket2_hdr, remarks: [u8; OFFLOAD], frame: &[u8]) -> bool {
        if self.status().load(Ordering::Acquire) != TP_STATUS_KERNEL {
            return false;
        }
        let place = self.place();
        // SAFETY: the place is the kernel's now, and frames of these tests fit into it.
        unsafe {
            // All but the status, which the other side looks at meanwhile.
            let rest = size_of::<tpacket2_hdr>() - size_of::<u32>();
            place.add(4).copy_from_nonoverlapping(NonNull::from(&header).cast().add(4), rest);
            place.add(BEGIN - OFFLOAD).cast().write(remarks);
            place.add(BEGIN).copy_from_nonoverlapping(NonNull::from(frame).cast(), frame.len());
        }
        self.status().store(header.tp_status, Ordering::Release);
        self.slot = (self.slot + 1) % SLOTS;
        true
    }
}

fn header(status: u32, len: usize) -> tpacket2_hdr {
    tpacket2_hdr {
        tp_status: TP_STATUS_USER | status,
        tp_len: len as u32,
        tp_snaplen: len as u32,
        tp_mac: BEGIN as u16,
        tp_net: BEGIN as u16 + 14,
        tp_sec: 0,
        tp_nsec: 0,
        tp_vlan_tci: 0x1234,
        tp_vlan_tpid: 0x88a8,
        tp_padding: [0; 4],
    }
}

fn bytes(arrived: &Arrived<'_>) -> Vec<u8> {
    let mut bytes = vec![0; arrived.len()];
    arrived.copy_to(&mut bytes);
    bytes
}

#[test]
fn frames_go_round_and_come_as_they_were() {
    with_ring(|mut ring, mut kernel| {
        for number in 0..3 * SLOTS as u8 {
            assert!(ring.next().is_none());
            let frame: [u8; 61] = array::from_fn(|at| number ^ at as u8);
            assert!(kernel.put(header(TP_STATUS_LOSING, 61), [0; OFFLOAD], &frame));
            let arrived = ring.next().unwrap();
            assert_eq!(bytes(&arrived), frame);
            assert!(!arrived.is_elsewhere() && !arrived.is_cut() && arrived.tag().is_none());
            assert!(!arrived.offload().has_segments());
        }
        for _ in 0..SLOTS {
            assert!(kernel.put(header(0, 3), [0; OFFLOAD], b"abc"));
        }
        assert!(!kernel.put(header(0, 3), [0; OFFLOAD], b"abc"), "all places are ours");
        drop(ring.next());
        assert!(kernel.put(header(0, 3), [0; OFFLOAD], b"abc"));
    });
}

#[test]
fn what_the_kernel_remarks() {
    with_ring(|mut ring, mut kernel| {
        let valid = TP_STATUS_VLAN_VALID;
        for (status, tag) in [
            (valid, Some([0x81, 0, 0x12, 0x34])),
            (valid | TP_STATUS_VLAN_TPID_VALID, Some([0x88, 0xa8, 0x12, 0x34])),
            (TP_STATUS_VLAN_TPID_VALID, None),
        ] {
            assert!(kernel.put(header(status, 1), [0; OFFLOAD], b"a"));
            assert_eq!(ring.next().unwrap().tag(), tag);
        }
        assert!(kernel.put(header(TP_STATUS_COPY, 1), [0; OFFLOAD], b"a"));
        assert!(ring.next().unwrap().is_elsewhere());
        assert!(kernel.put(tpacket2_hdr { tp_len: 9, ..header(0, 1) }, [0; OFFLOAD], b"a"));
        assert!(ring.next().unwrap().is_cut());
    });
}

#[test]
fn a_frame_that_is_not_in_its_place_is_empty() {
    with_ring(|mut ring, mut kernel| {
        let first = size_of::<tpacket2_hdr>() + OFFLOAD;
        for (begin, len, lies) in [
            (first, SLOT - first, true),
            (first, SLOT - first + 1, false),
            (first - 1, 1, false),
            (0, 0, false),
            (BEGIN, u32::MAX as usize, false),
            (65_535, 1, false),
        ] {
            let odd = tpacket2_hdr { tp_mac: begin as u16, ..header(0, len) };
            assert!(kernel.put(odd, [0; OFFLOAD], b"abc"));
            let arrived = ring.next().unwrap();
            assert_eq!(arrived.len(), if lies { len } else { 0 }, "{begin}, {len}");
            bytes(&arrived);
            arrived.offload();
        }
    });
}

#[test]
fn both_sides_at_once() {
    const FRAMES: u8 = 50;
    with_ring(|mut ring, mut kernel| {
        let sender = thread::spawn(move || {
            for number in 0..FRAMES {
                while !kernel.put(header(0, 32), [0; OFFLOAD], &[number; 32]) {
                    thread::yield_now();
                }
            }
        });
        for number in 0..FRAMES {
            let arrived = loop {
                // The borrow checker knows no loop that ends with a borrow.
                if ring.status().load(Ordering::Acquire) & TP_STATUS_USER != 0 {
                    break ring.next().unwrap();
                }
                hint::spin_loop();
                thread::yield_now();
            };
            assert_eq!(bytes(&arrived), [number; 32]);
        }
        sender.join().unwrap();
    });
}
