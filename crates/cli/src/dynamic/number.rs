//! Numbers that need more than a conversion: decimals, and floating-point numbers as JSON has them.

use serde_json::{Number, Value as Json, json};
use throughline_cdr::LongDouble;
use throughline_idl::model::FixedValue;

/// A floating-point number; those that JSON has no number for are strings.
pub fn float(json: &Json) -> Option<f64> {
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

/// As [`float`] reads it.
pub fn show_float(value: f64) -> Json {
    match Number::from_f64(value) {
        Some(number) => Json::Number(number),
        None if value.is_nan() => "NaN".into(),
        None if value > 0.0 => "Infinity".into(),
        None => "-Infinity".into(),
    }
}

/// A `float`, with no more digits than it has.
pub fn show_single(value: f32) -> Json {
    let shortest = value.to_string().parse();
    show_float(shortest.unwrap_or(f64::from(value)))
}

/// A `long double`: a number that a double holds exactly, or its octets.
pub fn long_double(json: &Json) -> Option<LongDouble> {
    if let Json::String(text) = json
        && let Some(octets) = hexadecimal(text)
    {
        return octets.try_into().ok().map(LongDouble);
    }
    float(json).map(LongDouble::from)
}

/// As [`long_double`] reads it.
pub fn show_long_double(value: LongDouble) -> Json {
    let near = value.to_f64();
    if LongDouble::from(near) == value { show_float(near) } else { json!(show_octets(&value.0)) }
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
