//! Which interface's numbering an operation's index belongs to.

/// The check that goes with every index into an interface's operations: 32 bits of a hash over its description.
///
/// `description` must change whenever an index or a signature does: the repository id, and the operations in the order
/// of their indices, each with its parameters' types. Whoever writes it decides how; both sides of a call come from
/// the same compiler. Never 0, so that a field left empty agrees with no interface.
pub const fn interface_check(description: &str) -> u32 {
    // FNV-1a, then the finaliser of MurmurHash3, since FNV leaves the last bytes in the low bits.
    let bytes = description.as_bytes();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0100_0000_01b3);
        at += 1;
    }
    let check = (crate::flow::mix(hash) >> 32) as u32;
    if check == 0 { 1 } else { check }
}
