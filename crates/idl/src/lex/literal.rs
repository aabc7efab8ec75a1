//! Values of literals.

use super::TokenKind;
use crate::model::FixedValue;

/// An integer, floating-point or fixed-point literal.
pub(crate) fn number(text: &str) -> Result<TokenKind, String> {
    let hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    if hexadecimal {
        return integer(text, &text[2..], 16, "hexadecimal");
    }
    if text.bytes().all(|c| c.is_ascii_digit()) {
        return match text.strip_prefix('0') {
            Some(octal) if !octal.is_empty() => integer(text, octal, 8, "octal"),
            _ => integer(text, text, 10, "decimal"),
        };
    }
    if let Some(digits) = text.strip_suffix(['d', 'D']) {
        return fixed(digits).map(TokenKind::Fixed).map_err(|problem| format!("`{text}` {problem}"));
    }
    if !is_float(text) {
        return Err(format!("`{text}` is no number"));
    }
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(TokenKind::Float(value)),
        _ => Err(format!("the number `{text}` is too large")),
    }
}

fn integer(text: &str, digits: &str, radix: u32, noun: &str) -> Result<TokenKind, String> {
    if digits.is_empty() {
        return Err(format!("`{text}` has no digits"));
    }
    if let Some(bad) = digits.chars().find(|c| !c.is_digit(radix)) {
        return Err(format!("`{bad}` is no {noun} digit, in `{text}`"));
    }
    let value = u64::from_str_radix(digits, radix);
    value.map(TokenKind::Integer).map_err(|_| format!("the number `{text}` does not fit 64 bits"))
}

/// Digits with a point, an exponent, or both, and at least one digit before the exponent.
fn is_float(text: &str) -> bool {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let digits = |part: &str| part.bytes().all(|c| c.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent_ok = exponent.is_none_or(|it| {
        let it = it.strip_prefix(['+', '-']).unwrap_or(it);
        !it.is_empty() && digits(it)
    });
    digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty()) && exponent_ok
}

fn fixed(text: &str) -> Result<FixedValue, &'static str> {
    const NONE: &str = "is no fixed-point literal";
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    // Zeros at either end are no digits of it (CORBA 3.3, part 1, section 7.10.2).
    let whole = whole.trim_start_matches('0');
    let fraction = fraction.trim_end_matches('0');
    let all: String = [whole, fraction].concat();
    let digits_only = all.bytes().all(|c| c.is_ascii_digit());
    if !digits_only || text.len() <= usize::from(text.contains('.')) {
        return Err(NONE);
    }
    if all.len() > 31 {
        return Err("has more than 31 digits");
    }
    let unscaled = if all.is_empty() { 0 } else { all.parse().map_err(|_| NONE)? };
    Ok(FixedValue { unscaled, scale: fraction.len() as u16 })
}

/// The code of a character literal, narrow or wide, as preprocessing takes it.
pub(crate) fn character(text: &str) -> Result<u32, String> {
    match text.starts_with('L') {
        true => wide_char(text).map(u32::from),
        false => narrow_char(text).map(u32::from),
    }
}

pub(super) fn narrow_char(text: &str) -> Result<char, String> {
    let units = unescape(inside(text, '\''), false)?;
    let [unit] = units[..] else { return Err(one_character(text)) };
    match u8::try_from(unit) {
        Ok(c) => Ok(char::from(c)),
        Err(_) => Err(format!("{text} does not fit the 8 bits of a character; `wchar` has 16")),
    }
}

pub(super) fn wide_char(text: &str) -> Result<u16, String> {
    let units = unescape(inside(text, '\''), true)?;
    let [unit] = units[..] else { return Err(one_character(text)) };
    u16::try_from(unit).map_err(|_| format!("{text} does not fit the 16 bits of a wide character"))
}

fn one_character(text: &str) -> String {
    format!("a character literal holds one character, unlike {text}")
}

pub(super) fn narrow_string(text: &str) -> Result<String, String> {
    let units = without_nul(unescape(inside(text, '"'), false)?)?;
    Ok(units.into_iter().filter_map(char::from_u32).collect())
}

pub(super) fn wide_string(text: &str) -> Result<Vec<u16>, String> {
    let mut out = Vec::new();
    for unit in without_nul(unescape(inside(text, '"'), true)?)? {
        match (u16::try_from(unit), char::from_u32(unit)) {
            (Ok(unit), _) => out.push(unit),
            (_, Some(c)) => out.extend_from_slice(c.encode_utf16(&mut [0; 2])),
            (_, None) => {}
        }
    }
    Ok(out)
}

fn without_nul(units: Vec<u32>) -> Result<Vec<u32>, String> {
    match units.contains(&0) {
        true => Err("a string cannot contain the character of code 0".to_owned()),
        false => Ok(units),
    }
}

fn inside(text: &str, quote: char) -> &str {
    let text = text.strip_prefix('L').unwrap_or(text);
    let text = text.strip_prefix(quote).unwrap_or(text);
    text.strip_suffix(quote).unwrap_or(text)
}

/// Characters, or what escapes stand for.
fn unescape(text: &str, wide: bool) -> Result<Vec<u32>, String> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(u32::from(c));
            continue;
        }
        let kind = rest.next().ok_or("a backslash at the end of a literal escapes nothing")?;
        out.push(match kind {
            'n' => 10,
            't' => 9,
            'v' => 11,
            'b' => 8,
            'r' => 13,
            'f' => 12,
            'a' => 7,
            '\\' | '?' | '\'' | '"' => u32::from(kind),
            '0'..='7' => {
                let first = kind.to_digit(8).unwrap_or(0);
                let value = digits(&mut rest, 8, 2, first).0;
                if value > 255 {
                    return Err("an octal escape goes up to `\\377`".to_owned());
                }
                value
            }
            'x' => match digits(&mut rest, 16, 2, 0) {
                (_, 0) => return Err("hexadecimal digits must follow `\\x`".to_owned()),
                (value, _) => value,
            },
            'u' if wide => match digits(&mut rest, 16, 4, 0) {
                (_, 0) => return Err("hexadecimal digits must follow `\\u`".to_owned()),
                (value, _) => value,
            },
            'u' => return Err("the escape `\\u` is for wide characters and wide strings".to_owned()),
            other => return Err(format!("`\\{other}` is no escape")),
        });
    }
    Ok(out)
}

/// Reads up to `most` digits; the value, and how many there were.
fn digits(rest: &mut std::str::Chars<'_>, radix: u32, most: usize, first: u32) -> (u32, usize) {
    let mut value = first;
    for count in 0..most {
        let Some(digit) = rest.clone().next().and_then(|c| c.to_digit(radix)) else { return (value, count) };
        value = value * radix + digit;
        rest.next();
    }
    (value, most)
}
