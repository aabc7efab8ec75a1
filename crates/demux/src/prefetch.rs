//! Asking for memory before it is needed.

/// How many lookups of a batch are under way at once: more than a core has misses outstanding, few enough for the
/// intermediate results to stay in registers and the nearest cache.
pub(crate) const AT_ONCE: usize = 16;

/// How many keys whose changes are to come are asked for at once: so many that the wait for the first is shared by as many as can
/// be.
pub(crate) const AHEAD: usize = 64;

/// Bytes that are fetched at once.
const LINE: usize = 64;

/// Tables of fewer entries than this are in the nearest caches, where asking ahead costs more than it saves.
pub(crate) const WORTHWHILE: usize = 4_096;

/// Starts to fetch the cache line in which a value begins. Does nothing where the processor has no instruction for it.
#[inline(always)]
pub(crate) fn read<T>(value: Option<&T>) {
    if let Some(value) = value {
        line(core::ptr::from_ref(value).cast());
    }
}

/// Starts to fetch all cache lines of a value, and waits for none.
///
/// Worth it for values that are nowhere near, some time before they are used, such as those of a whole batch of messages
/// before the first of them is processed.
#[inline]
pub fn prefetch<T: ?Sized>(value: &T) {
    lines(core::ptr::from_ref(value).cast(), size_of_val(value));
}

/// As [`prefetch`], of bytes that nobody has a reference to, and that need not be there.
#[inline]
pub fn prefetch_at(first: *const u8, len: usize) {
    lines(first.cast(), len);
}

/// As [`prefetch`], of bytes that need not be there.
#[inline]
pub(crate) fn lines(first: *const i8, len: usize) {
    let last = first.wrapping_add(len.saturating_sub(1));
    for at in (0..len.saturating_sub(1)).step_by(LINE) {
        line(first.wrapping_add(at));
    }
    line(last);
}

#[inline(always)]
fn line(address: *const i8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a prefetch reads nothing as far as the program can tell, whatever the address; SSE is part of x86-64.
    unsafe {
        core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T0 }>(address);
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: a prefetch changes no register, flag or memory, and does not fault.
    unsafe {
        core::arch::asm!("prfm pldl1keep, [{0}]", in(reg) address, options(nostack, readonly, preserves_flags));
    }
    #[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
    let _ = address;
}

/// Looks keys up in two steps, the first of [`AT_ONCE`] keys before the second of any of them: `start` asks for the
/// memory that `finish` will need, and says where it is.
#[inline(always)]
pub(crate) fn in_two_steps<K, O>(
    keys: &[K],
    found: &mut [O],
    mut start: impl FnMut(&K) -> usize,
    mut finish: impl FnMut(&K, usize) -> O,
) {
    for (keys, found) in keys.chunks(AT_ONCE).zip(found.chunks_mut(AT_ONCE)) {
        let mut places = [0; AT_ONCE];
        for (place, key) in places.iter_mut().zip(keys) {
            *place = start(key);
        }
        for ((place, key), found) in places.into_iter().zip(keys).zip(found) {
            *found = finish(key, place);
        }
    }
}
