//! Client requests: instructions without effect that valgrind recognises in the program it runs.

use std::ffi::CString;

/// Whether requests are implemented for this machine.
pub(super) const SUPPORTED: bool = cfg!(target_arch = "x86_64");

/// Request code and five arguments.
type Request = [usize; 6];

const BASE: usize = (b'C' as usize) << 24 | (b'T' as usize) << 16;
static TOGGLE: Request = [BASE + 2, 0, 0, 0, 0, 0];
static START: Request = [BASE + 4, 0, 0, 0, 0, 0];
static STOP: Request = [BASE + 5, 0, 0, 0, 0, 0];

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn send(request: &Request) {
    // SAFETY: the rotations add up to 128 bits, the exchange is with itself: outside of valgrind nothing changes but
    // the flags. Inside, the request is read from `rax`, and `rdx` gets the answer.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") request,
            inout("rdx") 0_usize => _,
            options(nostack),
        );
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn send(_request: &Request) {}

/// Starts or stops the counting of this thread's instructions.
#[inline(always)]
pub(crate) fn toggle() {
    send(&TOGGLE);
}

/// Makes counting possible, until [`dump`]; everything else runs about as fast as under valgrind without a tool. Empties
/// the simulated caches.
pub(crate) fn start() {
    send(&START);
}

/// Writes down what was counted since the start, under a label; counts nothing more until the next one.
pub(crate) fn dump(label: &str) {
    let label = CString::new(label).unwrap_or_default();
    send(&[BASE + 3, label.as_ptr().expose_provenance(), 0, 0, 0, 0]);
    send(&STOP);
}

/// Counts one piece of work, between [`start`] and [`dump`].
#[inline(always)]
pub(crate) fn counted<T>(work: impl FnOnce() -> T) -> T {
    toggle();
    let result = work();
    toggle();
    result
}

/// As [`counted`], with caches that are empty at the start: what misses is what was touched.
pub(crate) fn counted_cold<T>(work: impl FnOnce() -> T) -> T {
    start();
    counted(work)
}
