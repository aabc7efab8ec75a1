//! Priorities on the wire.

/// Bits behind the leading one that are kept of a level.
const MANTISSA_BITS: u32 = 4;
const MANTISSA: u16 = 1 << MANTISSA_BITS;

/// The highest level that can be told; that of real-time CORBA's priorities too.
pub const MAX_PRIORITY_LEVEL: u16 = (1 << 15) - 1;

/// The code of a level of 0 (the least urgent) to 32767, for a header's [`priority`](crate::Header::priority).
///
/// Codes are in the order of the levels. Up to 31 each level has one of its own; beyond, levels share a code with others that
/// agree with them in the first five bits, so that those a sixteenth apart can be told apart. Higher levels than 32767
/// have its code.
///
/// ```
/// # use throughline_wire::{priority_code, priority_level};
/// assert_eq!(priority_level(priority_code(7)), 7);
/// assert_eq!(priority_level(priority_code(1000)), 992);
/// assert!(priority_code(1000) < priority_code(1024));
/// ```
#[inline]
pub const fn priority_code(level: u16) -> u8 {
    let level = if level > MAX_PRIORITY_LEVEL { MAX_PRIORITY_LEVEL } else { level };
    let bits = u16::BITS - level.leading_zeros();
    let exponent = bits.saturating_sub(MANTISSA_BITS + 1);
    // The leading one of the mantissa adds one to the exponent, unless that is 0.
    ((exponent as u16) * MANTISSA + (level >> exponent)) as u8
}

/// The lowest level that has this code. Codes that no level has mean what the highest one means.
#[inline]
pub const fn priority_level(code: u8) -> u16 {
    let highest = priority_code(MAX_PRIORITY_LEVEL);
    let code = (if code > highest { highest } else { code }) as u16;
    if code < 2 * MANTISSA {
        return code;
    }
    (MANTISSA + code % MANTISSA) << (code / MANTISSA - 1)
}
