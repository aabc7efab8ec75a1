//! `long double`: IEEE 754 quadruple precision, which Rust does not have yet.

use crate::{Decode, DecodeError, Encode, EncodeError, Reader, Writer};

/// IDL's `long double`: the 16 octets of an IEEE 754 binary128, most significant first whatever the order it
/// travelled in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LongDouble(pub [u8; 16]);

/// How far the exponents of binary64 and binary128 are apart.
const REBIAS: i32 = 16383 - 1023;
/// Bits of a fraction: binary128 less binary64.
const WIDER: u32 = 112 - 52;

impl From<f64> for LongDouble {
    /// Exact for every value; a NaN keeps its payload.
    fn from(value: f64) -> Self {
        let bits = value.to_bits();
        let sign = u128::from(bits >> 63) << 127;
        let fraction = u128::from(bits & ((1 << 52) - 1));
        let exponent = (bits >> 52) as i32 & 0x7FF;
        let magnitude = match (exponent, fraction) {
            (0, 0) => 0,
            (0, _) => {
                // Subnormal in binary64, normal in binary128: the leading one becomes implicit.
                let shift = fraction.leading_zeros() - (127 - 52);
                let normal = (fraction << shift) & ((1 << 52) - 1);
                (((1 - shift as i32 + REBIAS) as u128) << 112) | (normal << WIDER)
            }
            (0x7FF, _) => (0x7FFF << 112) | (fraction << WIDER),
            _ => (((exponent + REBIAS) as u128) << 112) | (fraction << WIDER),
        };
        Self((sign | magnitude).to_be_bytes())
    }
}

impl LongDouble {
    /// The nearest `f64`, rounding half to even.
    pub fn to_f64(self) -> f64 {
        let bits = u128::from_be_bytes(self.0);
        let sign = ((bits >> 127) as u64) << 63;
        let fraction = bits & ((1 << 112) - 1);
        let exponent = (bits >> 112) as i32 & 0x7FFF;
        let magnitude = match exponent - REBIAS {
            _ if exponent == 0x7FFF => {
                let payload = (fraction >> WIDER) as u64;
                let quiet = if fraction != 0 { 1 << 51 } else { 0 };
                (0x7FF << 52) | payload | quiet
            }
            0x7FF.. => 0x7FF << 52,
            // The rounding below may carry into the exponent, which is what rounding up to a power of two means.
            normal @ 1.. => ((normal as u64) << 52) + round(fraction, WIDER),
            small @ -52..=0 => round(fraction | (1 << 112), WIDER + 1 + small.unsigned_abs()),
            _ => 0,
        };
        f64::from_bits(sign | if exponent == 0x7FFF { magnitude } else { magnitude.min(0x7FF << 52) })
    }
}

/// `value` shifted right by `shift` bits, rounded half to even; at most 53 bits are left.
fn round(value: u128, shift: u32) -> u64 {
    let kept = (value >> shift) as u64;
    let rest = value & ((1 << shift) - 1);
    let half = 1 << (shift - 1);
    kept + u64::from(rest > half || (rest == half && kept & 1 == 1))
}

impl Encode for LongDouble {
    fn encode(&self, w: &mut Writer<'_>) -> Result<(), EncodeError> {
        w.write_long_double(*self);
        Ok(())
    }
}

impl Decode<'_> for LongDouble {
    const MIN_SIZE: usize = 16;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        r.read_long_double()
    }
}
