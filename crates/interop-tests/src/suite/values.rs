//! Basic types, text and large values.

use throughline::{Kind, LongDouble, SystemException, WChar, WString};

use super::{SuiteServant, turn};
use crate::interop::{
    Basics, Bulk, Colour, Longs, Octets, ShortString, ShortWstring, Shorts, Strings, Text, Wchars, WideText,
    Words, Wstrings,
};

macro_rules! turn_by_value {
    ($($operation:ident $t:ty),* $(,)?) => {
        $(fn $operation(&self, a: $t, b: &mut $t) -> Result<($t, $t), SystemException> {
            turn(a, b)
        })*
    };
}

impl Basics for SuiteServant {
    turn_by_value! {
        turn_boolean bool, turn_octet u8, turn_char char, turn_short i16, turn_ushort u16, turn_long i32,
        turn_ulong u32, turn_longlong i64, turn_ulonglong u64, turn_float f32, turn_double f64, turn_colour Colour,
    }

    fn turn_string(&self, a: &str, b: &mut String) -> Result<(String, String), SystemException> {
        turn(a.to_owned(), b)
    }

    fn echo_longdouble(&self, v: LongDouble) -> Result<LongDouble, SystemException> {
        Ok(v)
    }

    fn sum(&self, a: u8, b: i16, c: u8, d: i32, e: u8, f: i64) -> Result<i64, SystemException> {
        Ok(i64::from(a) + i64::from(b) + i64::from(c) + i64::from(d) + i64::from(e) + f)
    }
}

impl Text for SuiteServant {
    fn echo_string(&self, v: &str) -> Result<String, SystemException> {
        Ok(v.to_owned())
    }

    fn echo_short_string(&self, v: &ShortString) -> Result<ShortString, SystemException> {
        Ok(v.clone())
    }

    fn echo_strings(&self, v: &[String]) -> Result<Strings, SystemException> {
        Ok(v.to_vec())
    }

    fn code_points(&self, v: &str) -> Result<Words, SystemException> {
        Ok(v.chars().map(u32::from).collect())
    }

    fn from_code_points(&self, v: &[u32]) -> Result<String, SystemException> {
        v.iter().map(|point| char::from_u32(*point).ok_or_else(|| Kind::DataConversion.into())).collect()
    }
}

impl WideText for SuiteServant {
    turn_by_value! { turn_wchar WChar }

    fn turn_wstring(&self, a: &WString, b: &mut WString) -> Result<(WString, WString), SystemException> {
        turn(a.clone(), b)
    }

    fn echo_short_wstring(&self, v: &ShortWstring) -> Result<ShortWstring, SystemException> {
        Ok(v.clone())
    }

    fn echo_wchars(&self, v: &[WChar]) -> Result<Wchars, SystemException> {
        Ok(v.to_vec())
    }

    fn echo_wstrings(&self, v: &[WString]) -> Result<Wstrings, SystemException> {
        Ok(v.to_vec())
    }

    fn code_units(&self, v: &WString) -> Result<Shorts, SystemException> {
        Ok(v.encode_utf16().map(u16::cast_signed).collect())
    }
}

impl Bulk for SuiteServant {
    fn echo_octets(&self, v: &[u8]) -> Result<Octets, SystemException> {
        Ok(v.to_vec())
    }

    fn echo_longs(&self, v: &[i32]) -> Result<Longs, SystemException> {
        Ok(v.to_vec())
    }

    fn sum_octets(&self, v: &[u8]) -> Result<u32, SystemException> {
        Ok(v.iter().fold(0, |sum, octet| sum.wrapping_add((*octet).into())))
    }

    fn make_octets(&self, count: u32) -> Result<Octets, SystemException> {
        Ok(octets(count))
    }

    fn echo_long_string(&self, v: &str) -> Result<String, SystemException> {
        Ok(v.to_owned())
    }
}

/// What `make_octets` is to return.
pub(crate) fn octets(count: u32) -> Octets {
    (0..count).map(|i| i.wrapping_mul(31).wrapping_add(i / 256) as u8).collect()
}
