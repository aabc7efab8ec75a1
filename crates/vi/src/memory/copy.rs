//! Copies out of and into memory that another process may change at the same time.
//!
//! Ordinary reads and writes of such memory would be data races. These copies are made of relaxed atomic accesses, or of
//! machine instructions the compiler cannot see into. Nothing is looked at but the copy.

use std::{
    mem::MaybeUninit,
    ptr::NonNull,
    sync::atomic::{AtomicU8, AtomicU64, Ordering},
};

/// So many bytes and more are copied by instructions of the machine, if it is one that we know.
const BLOCK: usize = 64;
const MACHINE: bool = cfg!(all(target_arch = "x86_64", not(miri)));

/// Copies from shared memory.
///
/// # Safety
///
/// `from` is good for reads of `into.len()` bytes, of memory that is accessed by atomics only or by other processes.
pub(crate) unsafe fn copy_out(from: NonNull<u8>, into: &mut [u8]) {
    if MACHINE && into.len() >= BLOCK {
        // SAFETY: `from` is readable and `into` writable for this length; both are apart, since `into` is exclusive.
        return unsafe { machine_copy(from.as_ptr(), into.as_mut_ptr(), into.len()) };
    }
    let mut from = from.as_ptr().cast_const();
    let (head, rest) = into.split_at_mut(from.align_offset(8).min(into.len()));
    // SAFETY: by the caller's promise, as long as no more than `into.len()` bytes are passed in all.
    unsafe {
        from = bytes_out(from, head);
        let mut words = rest.chunks_exact_mut(8);
        for word in &mut words {
            word.copy_from_slice(&(*from.cast::<AtomicU64>()).load(Ordering::Relaxed).to_ne_bytes());
            from = from.add(8);
        }
        bytes_out(from, words.into_remainder());
    }
}

/// As [`copy_out`], to memory that need not be initialised; returns it.
///
/// # Safety
///
/// As there.
pub(crate) unsafe fn copy_out_new(from: NonNull<u8>, into: &mut [MaybeUninit<u8>]) -> &mut [u8] {
    if MACHINE && into.len() >= BLOCK {
        // SAFETY: as there.
        unsafe { machine_copy(from.as_ptr(), into.as_mut_ptr().cast(), into.len()) };
    } else {
        into.fill(MaybeUninit::new(0));
        // SAFETY: initialised now.
        let into = unsafe { std::slice::from_raw_parts_mut(into.as_mut_ptr().cast(), into.len()) };
        // SAFETY: by the caller's promise.
        unsafe { copy_out(from, into) };
    }
    // SAFETY: all of it was written.
    unsafe { std::slice::from_raw_parts_mut(into.as_mut_ptr().cast(), into.len()) }
}

/// # Safety
///
/// As [`copy_out`].
unsafe fn bytes_out(mut from: *const u8, into: &mut [u8]) -> *const u8 {
    for byte in into {
        // SAFETY: by the caller's promise.
        unsafe {
            *byte = (*from.cast::<AtomicU8>()).load(Ordering::Relaxed);
            from = from.add(1);
        }
    }
    from
}

/// Copies into shared memory.
///
/// # Safety
///
/// `into` is good for writes of `from.len()` bytes, of memory that is accessed by atomics only or by other processes.
pub(crate) unsafe fn copy_in(from: &[u8], into: NonNull<u8>) {
    if MACHINE && from.len() >= BLOCK {
        // SAFETY: `from` is readable and `into` writable for this length, and no reference covers `into`.
        return unsafe { machine_copy(from.as_ptr(), into.as_ptr(), from.len()) };
    }
    let mut into = into.as_ptr();
    let (head, rest) = from.split_at(into.align_offset(8).min(from.len()));
    // SAFETY: by the caller's promise, as long as no more than `from.len()` bytes are passed in all.
    unsafe {
        into = bytes_in(head, into);
        let mut words = rest.chunks_exact(8);
        for word in &mut words {
            let word = u64::from_ne_bytes(word.try_into().expect("eight bytes"));
            (*into.cast::<AtomicU64>()).store(word, Ordering::Relaxed);
            into = into.add(8);
        }
        bytes_in(words.remainder(), into);
    }
}

/// # Safety
///
/// As [`copy_in`].
unsafe fn bytes_in(from: &[u8], mut into: *mut u8) -> *mut u8 {
    for byte in from {
        // SAFETY: by the caller's promise.
        unsafe {
            (*into.cast::<AtomicU8>()).store(*byte, Ordering::Relaxed);
            into = into.add(1);
        }
    }
    into
}

/// `memcpy`, by what is fastest. With many lines that is the string instruction; with few, where one side begins within a line,
/// as a message in a ring does, it is slow, and so are vectors that are less than half a line.
///
/// # Safety
///
/// `from` is readable and `into` writable for `len` bytes, at least [`BLOCK`], and they do not overlap.
#[cfg(all(target_arch = "x86_64", not(miri)))]
unsafe fn machine_copy(from: *const u8, into: *mut u8, len: usize) {
    const STRING: usize = 4096;
    const STRING_BESIDE_AVX: usize = 32 << 10;
    let avx = is_x86_feature_detected!("avx");
    // SAFETY: by the caller's promise, and as found. The last block ends where the memory does, and may cover a part of the one
    // before.
    unsafe {
        if len >= if avx { STRING_BESIDE_AVX } else { STRING } {
            return string_copy(from, into, len);
        }
        let copy = |at: usize, len| {
            if avx {
                wide_block_copy(from.add(at), into.add(at), len);
            } else {
                block_copy(from.add(at), into.add(at), len);
            }
        };
        copy(0, len / BLOCK * BLOCK);
        if !len.is_multiple_of(BLOCK) {
            copy(len - BLOCK, BLOCK);
        }
    }
}

/// As [`block_copy`], in half the steps.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[target_feature(enable = "avx")]
unsafe fn wide_block_copy(from: *const u8, into: *mut u8, len: usize) {
    // SAFETY: as there.
    unsafe {
        std::arch::asm!(
            "2:",
            "vmovups ymm0, [{from} + {at}]",
            "vmovups ymm1, [{from} + {at} + 32]",
            "vmovups [{into} + {at}], ymm0",
            "vmovups [{into} + {at} + 32], ymm1",
            "add {at}, 64",
            "cmp {at}, {len}",
            "jne 2b",
            // The upper halves of all of them.
            "vzeroupper",
            from = in(reg) from, into = in(reg) into, len = in(reg) len, at = inout(reg) 0_usize => _,
            out("ymm0") _, out("ymm1") _, out("ymm2") _, out("ymm3") _, out("ymm4") _, out("ymm5") _,
            out("ymm6") _, out("ymm7") _, out("ymm8") _, out("ymm9") _, out("ymm10") _, out("ymm11") _,
            out("ymm12") _, out("ymm13") _, out("ymm14") _, out("ymm15") _,
            options(nostack),
        );
    }
}

/// As [`machine_copy`], of whole blocks, however they are aligned.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
unsafe fn block_copy(from: *const u8, into: *mut u8, len: usize) {
    // SAFETY: by the caller's promise; `len` is not zero, and is reached exactly.
    unsafe {
        std::arch::asm!(
            "2:",
            "movups {a}, [{from} + {at}]",
            "movups {b}, [{from} + {at} + 16]",
            "movups {c}, [{from} + {at} + 32]",
            "movups {d}, [{from} + {at} + 48]",
            "movups [{into} + {at}], {a}",
            "movups [{into} + {at} + 16], {b}",
            "movups [{into} + {at} + 32], {c}",
            "movups [{into} + {at} + 48], {d}",
            "add {at}, 64",
            "cmp {at}, {len}",
            "jne 2b",
            from = in(reg) from, into = in(reg) into, len = in(reg) len, at = inout(reg) 0_usize => _,
            a = out(xmm_reg) _, b = out(xmm_reg) _, c = out(xmm_reg) _, d = out(xmm_reg) _,
            options(nostack),
        );
    }
}

/// As [`machine_copy`], by one instruction.
#[cfg(all(target_arch = "x86_64", not(miri)))]
unsafe fn string_copy(from: *const u8, into: *mut u8, len: usize) {
    // SAFETY: by the caller's promise; the direction flag is clear by the calling convention.
    unsafe {
        std::arch::asm!("rep movsb", inout("rcx") len => _, inout("rsi") from => _, inout("rdi") into => _,
            options(nostack, preserves_flags));
    }
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
unsafe fn machine_copy(_: *const u8, _: *mut u8, _: usize) {
    unreachable!("this machine is not known");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    fn every_way_of_this_machine_copies_the_same() {
        type Way = unsafe fn(*const u8, *mut u8, usize);
        let from: Vec<u8> = (0..5000_u32).map(|at| (at * 7 + 1) as u8).collect();
        // SAFETY: as whoever calls these says.
        let mut ways: Vec<Way> = vec![|from, into, len| unsafe { block_copy(from, into, len) }, string_copy];
        if is_x86_feature_detected!("avx") {
            // SAFETY: as above.
            ways.push(|from, into, len| unsafe { wide_block_copy(from, into, len) });
        }
        for copy in ways {
            for (len, skew) in [(64, 0), (64, 5), (128, 63), (4096, 1), (4096, 32)] {
                let mut into = vec![0_u8; 5000];
                // SAFETY: whole blocks inside of both, and for the wide one the processor was asked.
                unsafe { copy(from[skew..].as_ptr(), into[9..].as_mut_ptr(), len) };
                assert_eq!(into[9..9 + len], from[skew..skew + len]);
                assert!(into[..9].iter().chain(&into[9 + len..]).all(|byte| *byte == 0));
            }
        }
    }

    #[test]
    fn copies_every_length_at_every_alignment() {
        let room = if cfg!(miri) { 50 } else { 33_000 };
        let from: Vec<u8> = (0..room as u32).map(|at| (at * 7 + 1) as u8).collect();
        let lengths: &[usize] = if cfg!(miri) {
            &[0, 1, 9, 31]
        } else {
            &[0, 1, 7, 8, 9, 31, 63, 64, 65, 511, 512, 1000, 4095, 4096, 4999, 32_767, 32_768]
        };
        for &len in lengths {
            for skew in 0..9 {
                let mut shared = vec![0_u8; room];
                let mut out = vec![0_u8; len];
                let place = NonNull::new(shared[skew..].as_mut_ptr()).expect("not null");
                // SAFETY: `shared` has room, and only these calls touch it.
                unsafe {
                    copy_in(&from[..len], place);
                    copy_out(place, &mut out);
                    assert_eq!(copy_out_new(place, &mut vec![MaybeUninit::uninit(); len]), &from[..len]);
                }
                assert_eq!(out, from[..len]);
                assert_eq!(&shared[skew..skew + len], &from[..len]);
                assert!(shared[..skew].iter().chain(&shared[skew + len..]).all(|byte| *byte == 0));
            }
        }
    }
}
