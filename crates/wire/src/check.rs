//! Which operation an index means.

/// The check that goes with an index into an interface's operations: 32 bits of a hash over what the two sides must agree
/// about.
///
/// At the least that is the operation's name on the wire. Who describes its parameters too catches more, and refuses
/// what GIOP would try. Both sides of a call decide alike. Never 0, so that a field left empty means no operation.
pub const fn operation_check(description: &str) -> u32 {
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
