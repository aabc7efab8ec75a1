//! Fixed-point arithmetic for constants, with at most 31 digits.

use crate::model::FixedValue;

const MAX_DIGITS: u32 = 31;

/// Digits of a value: those of its integer, and at least as many as stand behind the point.
pub(super) fn digits(value: FixedValue) -> u16 {
    (count(value.unscaled) as u16).max(value.scale).max(1)
}

/// Sum.
pub(super) fn add(left: FixedValue, right: FixedValue) -> Option<FixedValue> {
    let scale = left.scale.max(right.scale);
    let sum = rescaled(left, scale)?.checked_add(rescaled(right, scale)?)?;
    limited(sum, scale)
}

/// Product.
pub(super) fn multiply(left: FixedValue, right: FixedValue) -> Option<FixedValue> {
    let (left, right) = (trimmed(left), trimmed(right));
    limited(left.unscaled.checked_mul(right.unscaled)?, left.scale + right.scale)
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

/// Cuts digits behind the point until 31 are left.
fn limited(unscaled: i128, scale: u16) -> Option<FixedValue> {
    let mut value = trimmed(FixedValue { unscaled, scale });
    while value.scale > 0 && (count(value.unscaled) > MAX_DIGITS || u32::from(value.scale) > MAX_DIGITS) {
        value.unscaled /= 10;
        value.scale -= 1;
    }
    (count(value.unscaled) <= MAX_DIGITS).then_some(value)
}
