//! Numbers that need more than a conversion: decimals, and floating-point numbers as JSON has them.

use serde_json::{Number, Value as Json, json};
use throughline_cdr::LongDouble;
use throughline_idl::model::FixedValue;

/// A floating-point number; those that JSON has no number for are strings.
fn float(json: &Json) -> Option<f64> {
    match json {
        Json::Number(number) => number.as_f64(),
        Json::String(text) => match text.as_str() {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => None,
    }
}

/// As [`float`] reads it; no other NaN than the one it has.
fn show_float(value: f64) -> Json {
    match Number::from_f64(value) {
        Some(number) => Json::Number(number),
        None if value.is_nan() => "NaN".into(),
        None if value > 0.0 => "Infinity".into(),
        None => "-Infinity".into(),
    }
}

/// A `float`.
pub fn single(json: &Json) -> Option<f32> {
    if let Some(octets) = octets(json) {
        return octets.try_into().ok().map(f32::from_be_bytes);
    }
    let value = float(json)?;
    // What is beyond the greatest float becomes infinite, which is not what was said.
    let nearest = value as f32;
    (!value.is_finite() || nearest.is_finite()).then_some(if value.is_nan() { f32::NAN } else { nearest })
}

/// As [`single`] reads it, with no more digits than it needs.
pub fn show_single(value: f32) -> Json {
    if value.is_nan() && value.to_bits() != f32::NAN.to_bits() {
        return show_octets(&value.to_be_bytes()).into();
    }
    let shortest: Option<f64> = value.to_string().parse().ok();
    // The double nearest to its shortest digits may round to the next float.
    let same = shortest.filter(|it| (*it as f32).to_bits() == value.to_bits());
    show_float(same.unwrap_or(f64::from(value)))
}

/// A `double`.
pub fn double(json: &Json) -> Option<f64> {
    match octets(json) {
        Some(octets) => octets.try_into().ok().map(f64::from_be_bytes),
        None => float(json),
    }
}

/// As [`double`] reads it.
pub fn show_double(value: f64) -> Json {
    if value.is_nan() && value.to_bits() != f64::NAN.to_bits() {
        return show_octets(&value.to_be_bytes()).into();
    }
    show_float(value)
}

/// A `long double`: a number that a double holds exactly, or its octets.
pub fn long_double(json: &Json) -> Option<LongDouble> {
    match octets(json) {
        Some(octets) => octets.try_into().ok().map(LongDouble),
        None => float(json).map(LongDouble::from),
    }
}

/// As [`long_double`] reads it.
pub fn show_long_double(value: LongDouble) -> Json {
    let shown = show_float(value.to_f64());
    if long_double(&shown) == Some(value) { shown } else { json!(show_octets(&value.0)) }
}

fn octets(json: &Json) -> Option<Vec<u8>> {
    json.as_str().and_then(hexadecimal)
}

/// Octets written as `0x` and pairs of hexadecimal digits.
pub fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("0x")?.as_bytes();
    let (pairs, rest) = digits.as_chunks::<2>();
    let digit = |octet: u8| char::from(octet).to_digit(16);
    let octet = |[high, low]: &[u8; 2]| Some((digit(*high)? << 4 | digit(*low)?) as u8);
    if rest.is_empty() { pairs.iter().map(octet).collect() } else { None }
}

/// As [`hexadecimal`] reads it.
pub fn show_octets(octets: &[u8]) -> String {
    let mut text = String::with_capacity(2 + 2 * octets.len());
    text.push_str("0x");
    for octet in octets {
        for digit in [octet >> 4, octet & 15] {
            text.push(char::from(b"0123456789abcdef"[usize::from(digit)]));
        }
    }
    text
}

/// A decimal as a number of JSON has it: of one that is no integer, a double keeps the first 15 digits.
pub fn decimal(number: &Number) -> Option<String> {
    let text = number.to_string();
    let digits =
        text.bytes().take_while(|it| *it != b'e').filter(u8::is_ascii_digit).skip_while(|it| *it == b'0');
    (!number.is_f64() || digits.count() <= 15).then_some(text)
}

/// A decimal of at most this many digits, of which `scale` stand behind the point.
pub fn fixed(text: &str, digits: u16, scale: u16) -> Option<FixedValue> {
    let (negative, magnitude) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (whole, fraction) = magnitude.split_once('.').unwrap_or((magnitude, ""));
    let fraction = fraction.trim_end_matches('0');
    let is_number =
        !whole.is_empty() && [whole, fraction].iter().all(|it| it.bytes().all(|c| c.is_ascii_digit()));
    let scale_here = usize::from(scale);
    if !is_number || fraction.len() > scale_here {
        return None;
    }
    let all = format!("{whole}{fraction:0<scale_here$}");
    let significant = all.trim_start_matches('0');
    if significant.len() > usize::from(digits) {
        return None;
    }
    let unscaled: i128 = if significant.is_empty() { 0 } else { significant.parse().ok()? };
    Some(FixedValue { unscaled: if negative { -unscaled } else { unscaled }, scale })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_within_their_digits() {
        let read = |text| fixed(text, 5, 2).map(|it| it.to_string());
        assert_eq!(read("123.45").as_deref(), Some("123.45"));
        assert_eq!(read("-0.5").as_deref(), Some("-0.50"));
        assert_eq!(read("007.500").as_deref(), Some("7.50"));
        for wrong in ["1234", "1.234", "", ".5", "1e3", "--1", "1.-5"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_number_of_json_that_may_have_lost_digits_is_no_decimal() {
        let read = |text: &str| decimal(&serde_json::from_str(text).unwrap());
        for kept in ["0.123456789012345", "12.5", "12345678901234567", "-1234567890.12345"] {
            assert_eq!(read(kept).as_deref(), Some(kept));
        }
        for lost in ["0.1234567890123456789", "1234567890123456.7"] {
            assert_eq!(read(lost), None, "{lost}");
        }
    }

    #[test]
    fn octets_come_back() {
        assert_eq!(hexadecimal("0x00ffA5"), Some(vec![0, 255, 0xA5]));
        assert_eq!(show_octets(&[0, 255, 0xA5]), "0x00ffa5");
        assert_eq!((hexadecimal("00"), hexadecimal("0x0"), hexadecimal("0xg0")), (None, None, None));
    }

    #[test]
    fn a_long_double_that_is_no_double_keeps_its_octets() {
        let mut third = LongDouble::from(1.0 / 3.0);
        assert_eq!(show_long_double(third), json!(1.0 / 3.0));
        third.0[15] ^= 1;
        assert_eq!(long_double(&show_long_double(third)), Some(third));
    }
}
