//! Fixed-point arithmetic for constants, with at most 31 digits. What has more in between, up to 62, is computed with all
//! of them, and then cut behind the point until 31 are left (CORBA 3.3, part 1, section 7.10.2).

use crate::model::FixedValue;

const MAX_DIGITS: u32 = 31;

/// Digits of a value: those of its integer, and at least as many as stand behind the point.
pub(super) fn digits(value: FixedValue) -> u16 {
    (count(value.unscaled) as u16).max(value.scale).max(1)
}

/// Sum.
pub(super) fn add(left: FixedValue, right: FixedValue) -> Option<FixedValue> {
    let scale = left.scale.max(right.scale);
    Wide::rescaled(left, scale).plus(Wide::rescaled(right, scale)).limited(scale)
}

/// Product.
pub(super) fn multiply(left: FixedValue, right: FixedValue) -> Option<FixedValue> {
    Wide::product(left.unscaled, right.unscaled).limited(left.scale + right.scale)
}

/// Quotient, cut after 31 digits. The divisor is not 0.
pub(super) fn divide(left: FixedValue, right: FixedValue) -> Option<FixedValue> {
    let (left, right) = (trimmed(left), trimmed(right));
    let mut quotient = left.unscaled / right.unscaled;
    let mut rest = left.unscaled % right.unscaled;
    let mut scale = i32::from(left.scale) - i32::from(right.scale);
    while scale < 0 || (rest != 0 && count(quotient) < MAX_DIGITS && scale < MAX_DIGITS as i32) {
        rest = rest.checked_mul(10)?;
        quotient = quotient.checked_mul(10)?.checked_add(rest / right.unscaled)?;
        rest %= right.unscaled;
        scale += 1;
    }
    limited(quotient, scale as u16)
}

/// The value with this many digits and scale; digits too many behind the point are cut. `None` if it is too large.
pub(super) fn fit(value: FixedValue, digits: u16, scale: u16) -> Option<FixedValue> {
    let unscaled = match value.scale.checked_sub(scale) {
        Some(surplus) => value.unscaled / 10i128.checked_pow(surplus.into())?,
        None => rescaled(value, scale)?,
    };
    (count(unscaled) <= u32::from(digits)).then_some(FixedValue { unscaled, scale })
}

fn count(value: i128) -> u32 {
    value.unsigned_abs().checked_ilog10().map_or(0, |it| it + 1)
}

fn rescaled(value: FixedValue, scale: u16) -> Option<i128> {
    value.unscaled.checked_mul(10i128.checked_pow(u32::from(scale - value.scale))?)
}

/// Without zeros at the end of the fraction.
fn trimmed(mut value: FixedValue) -> FixedValue {
    while value.scale > 0 && value.unscaled % 10 == 0 {
        value.unscaled /= 10;
        value.scale -= 1;
    }
    value
}

/// An integer of up to 62 digits: `high` times [`HALF`], and `low`, which has the same sign and is smaller than that.
#[derive(Clone, Copy)]
struct Wide {
    high: i128,
    low: i128,
}

/// 31 digits.
const HALF: i128 = 10i128.pow(MAX_DIGITS);

impl Wide {
    /// The value as an integer with so many digits behind the point, at least as many as it has and at most 31.
    fn rescaled(value: FixedValue, scale: u16) -> Wide {
        let more = u32::from(scale - value.scale);
        let split = 10i128.pow(MAX_DIGITS - more);
        Wide { high: value.unscaled / split, low: value.unscaled % split * 10i128.pow(more) }
    }

    fn plus(self, other: Wide) -> Wide {
        let low = self.low + other.low;
        let (mut high, mut low) = (self.high + other.high + low / HALF, low % HALF);
        if high.signum() * low.signum() < 0 {
            low += high.signum() * HALF;
            high -= high.signum();
        }
        Wide { high, low }
    }

    /// The product of two integers of up to 31 digits, digit by digit of the second.
    fn product(left: i128, right: i128) -> Wide {
        (0..MAX_DIGITS).rev().fold(Wide { high: 0, low: 0 }, |so_far, place| {
            let low = so_far.low * 10 + left * (right / 10i128.pow(place) % 10);
            Wide { high: so_far.high * 10 + low / HALF, low: low % HALF }
        })
    }

    /// Divided by ten to the power `scale`, with 31 digits.
    fn limited(mut self, mut scale: u16) -> Option<FixedValue> {
        while self.high != 0 && scale > 0 {
            self.low = self.high % 10 * (HALF / 10) + self.low / 10;
            self.high /= 10;
            scale -= 1;
        }
        if self.high == 0 { limited(self.low, scale) } else { None }
    }
}

/// Cuts digits behind the point until 31 are left.
fn limited(unscaled: i128, scale: u16) -> Option<FixedValue> {
    let mut value = trimmed(FixedValue { unscaled, scale });
    while value.scale > 0 && (count(value.unscaled) > MAX_DIGITS || u32::from(value.scale) > MAX_DIGITS) {
        value.unscaled /= 10;
        value.scale -= 1;
    }
    (count(value.unscaled) <= MAX_DIGITS).then_some(value)
}
