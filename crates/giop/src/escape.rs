//! Escapes in the readable forms of references (section 7.6.10.6).

use std::fmt::{self, Write};

use crate::ior::hex_pair;

/// Whether a character of an object key stands for itself.
const fn is_plain(octet: u8) -> bool {
    octet.is_ascii_alphanumeric()
        || matches!(
            octet,
            b';' | b'/'
                | b':'
                | b'?'
                | b'@'
                | b'&'
                | b'='
                | b'+'
                | b'$'
                | b','
                | b'-'
                | b'_'
                | b'.'
                | b'!'
                | b'~'
                | b'*'
                | b'\''
                | b'('
                | b')'
        )
}

/// Undoes `%` escapes. The error is the place of a character that should have been escaped, or of a bad escape.
pub(crate) fn unescape(text: &str) -> Result<Vec<u8>, usize> {
    let mut octets = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, others @ ..] = rest {
        let at = text.len() - rest.len();
        let (octet, others) = match (first, others) {
            (b'%', [high, low, others @ ..]) => (hex_pair([*high, *low]).ok_or(at)?, others),
            (&plain, others) if is_plain(plain) => (plain, others),
            _ => return Err(at),
        };
        octets.push(octet);
        rest = others;
    }
    Ok(octets)
}

/// Writes octets, escaping those that do not stand for themselves.
pub(crate) fn escape(octets: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    octets.iter().try_for_each(|&octet| match is_plain(octet) {
        true => f.write_char(char::from(octet)),
        false => write!(f, "%{octet:02x}"),
    })
}
