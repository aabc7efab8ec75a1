//! Deadlines on the wire.

use core::time::Duration;

/// Bits of the mantissa; the exponent has the five above.
const MANTISSA_BITS: u32 = 11;
const MANTISSA: u16 = (1 << MANTISSA_BITS) - 1;

/// How long a caller will wait from the moment the message was sent: a deadline that needs no common clock.
///
/// 16 bits, `mantissa * 2^exponent` microseconds with an exponent of 5 bits: exact up to 2 ms, to a thousandth beyond, at
/// most 50 days. 0 is no deadline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TimeLeft(u16);

impl TimeLeft {
    /// The caller waits for as long as it takes.
    pub const FOREVER: Self = Self(0);
    /// The longest that can be told, some 50 days.
    pub const MAX: Self = Self(u16::MAX);

    /// Rounded up, so that nobody gives up before the caller does; at least 1 us and at most [`MAX`](Self::MAX).
    ///
    /// A caller whose time is over sends nothing: there is no value for it.
    pub const fn new(time: Duration) -> Self {
        let micros = time.as_nanos().div_ceil(1_000);
        let micros = if micros == 0 { 1 } else { micros };
        let bits = 128 - micros.leading_zeros();
        let exponent = bits.saturating_sub(MANTISSA_BITS);
        let mantissa = micros.div_ceil(1 << exponent);
        // Rounding up may have carried into one bit more, whose low bits are then 0.
        let (mantissa, exponent) =
            if mantissa > MANTISSA as u128 { (mantissa >> 1, exponent + 1) } else { (mantissa, exponent) };
        if exponent > 31 { Self::MAX } else { Self((exponent as u16) << MANTISSA_BITS | mantissa as u16) }
    }

    /// The time, or `None` when there is no deadline.
    pub const fn duration(self) -> Option<Duration> {
        let micros = ((self.0 & MANTISSA) as u64) << (self.0 >> MANTISSA_BITS);
        if micros == 0 { None } else { Some(Duration::from_micros(micros)) }
    }

    /// As on the wire.
    #[inline(always)]
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// From the wire; every value means something.
    #[inline(always)]
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits)
    }
}
