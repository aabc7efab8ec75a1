//! Copies out of and into memory that another process may change at the same time.
//!
//! Ordinary reads and writes of such memory would be data races. These copies are made of relaxed atomic accesses, or of
//! machine instructions the compiler cannot see into. Nothing is looked at but the copy.

use std::{
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

/// `memcpy`, by what is fastest. Where one side begins within a line, as a message in a ring does, the string instruction is slow;
/// with many lines it is faster than a loop.
///
/// # Safety
///
/// `from` is readable and `into` writable for `len` bytes, at least [`BLOCK`], and they do not overlap.
#[cfg(all(target_arch = "x86_64", not(miri)))]
unsafe fn machine_copy(from: *const u8, into: *mut u8, len: usize) {
    const STRING: usize = 4096;
    // SAFETY: by the caller's promise. The last block ends where the memory does, and may cover a part of the one before.
    unsafe {
        if len >= STRING {
            return string_copy(from, into, len);
        }
        block_copy(from, into, len / BLOCK * BLOCK);
        if !len.is_multiple_of(BLOCK) {
            let last = len - BLOCK;
            block_copy(from.add(last), into.add(last), BLOCK);
        }
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
    fn copies_every_length_at_every_alignment() {
        let from: Vec<u8> = (0..5000_u32).map(|at| (at * 7 + 1) as u8).collect();
        let lengths: &[usize] = if cfg!(miri) {
            &[0, 1, 9, 31]
        } else {
            &[0, 1, 7, 8, 9, 31, 63, 64, 65, 511, 512, 1000, 4095, 4096, 4999]
        };
        for &len in lengths {
            for skew in 0..9 {
                let mut shared = vec![0_u8; 5100];
                let mut out = vec![0_u8; len];
                let place = NonNull::new(shared[skew..].as_mut_ptr()).expect("not null");
                // SAFETY: `shared` has room, and only these calls touch it.
                unsafe {
                    copy_in(&from[..len], place);
                    copy_out(place, &mut out);
                }
                assert_eq!(out, from[..len]);
                assert_eq!(&shared[skew..skew + len], &from[..len]);
                assert!(shared[..skew].iter().chain(&shared[skew + len..]).all(|byte| *byte == 0));
            }
        }
    }
}
