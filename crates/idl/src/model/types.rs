//! Types and constant values.

use std::fmt;

use super::DefId;

/// Types without parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Primitive {
    /// `short`: 16 bits.
    Short,
    /// `long`: 32 bits.
    Long,
    /// `long long`: 64 bits.
    LongLong,
    /// `unsigned short`
    UShort,
    /// `unsigned long`
    ULong,
    /// `unsigned long long`
    ULongLong,
    /// `float`: IEEE 754 binary32.
    Float,
    /// `double`: IEEE 754 binary64.
    Double,
    /// `long double`: IEEE 754 binary128.
    LongDouble,
    /// `boolean`
    Boolean,
    /// `char`
    Char,
    /// `wchar`
    WChar,
    /// `octet`: 8 bits, never converted.
    Octet,
}

impl Primitive {
    /// How IDL writes it.
    pub fn keyword(self) -> &'static str {
        match self {
            Primitive::Short => "short",
            Primitive::Long => "long",
            Primitive::LongLong => "long long",
            Primitive::UShort => "unsigned short",
            Primitive::ULong => "unsigned long",
            Primitive::ULongLong => "unsigned long long",
            Primitive::Float => "float",
            Primitive::Double => "double",
            Primitive::LongDouble => "long double",
            Primitive::Boolean => "boolean",
            Primitive::Char => "char",
            Primitive::WChar => "wchar",
            Primitive::Octet => "octet",
        }
    }

    /// Least and greatest value of an integer type or `octet`; `None` for the others.
    pub fn integer_range(self) -> Option<(i128, i128)> {
        Some(match self {
            Primitive::Short => (i16::MIN.into(), i16::MAX.into()),
            Primitive::Long => (i32::MIN.into(), i32::MAX.into()),
            Primitive::LongLong => (i64::MIN.into(), i64::MAX.into()),
            Primitive::UShort => (0, u16::MAX.into()),
            Primitive::ULong => (0, u32::MAX.into()),
            Primitive::ULongLong => (0, u64::MAX.into()),
            Primitive::Octet => (0, u8::MAX.into()),
            _ => return None,
        })
    }
}

/// A type as it is used: of a member, parameter, result, element.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A type without parts.
    Primitive(Primitive),
    /// `any`
    Any,
    /// `Object`: a reference to any object.
    Object,
    /// `CORBA::TypeCode`
    TypeCode,
    /// `ValueBase`: any value type.
    ValueBase,
    /// `fixed<digits, scale>`
    Fixed {
        /// All digits, at most 31.
        digits: u16,
        /// Digits behind the point, at most `digits`.
        scale: u16,
    },
    /// `string` or `string<bound>`
    String {
        /// Most characters; `None` is unbounded, and never 0.
        bound: Option<u32>,
    },
    /// `wstring` or `wstring<bound>`
    WString {
        /// Most characters; `None` is unbounded, and never 0.
        bound: Option<u32>,
    },
    /// `sequence<element>` or `sequence<element, bound>`
    Sequence {
        /// The type of each element.
        element: Box<Type>,
        /// Most elements; `None` is unbounded, and never 0.
        bound: Option<u32>,
    },
    /// `element name[d1][d2]..`: all dimensions of one declarator.
    Array {
        /// The type of each element.
        element: Box<Type>,
        /// As written, outermost first; never empty, none 0.
        dimensions: Vec<u32>,
    },
    /// A definition that is a type: interface, typedef, struct, union, enum, native, value type or box. Typedefs are
    /// kept; [`Model::unalias`](super::Model::unalias) looks through them.
    Named(DefId),
}

/// The value of a constant or of a union's label. The type it belongs to stands beside it, in [`Constant`] or
/// [`Union`].
///
/// [`Constant`]: super::Constant
/// [`Union`]: super::Union
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Of any integer type or `octet`, in that type's range.
    Integer(i128),
    /// Of `float` (already rounded to it), `double` or `long double` (as exact as a double).
    Float(f64),
    /// Of `boolean`.
    Boolean(bool),
    /// Of `char`; an escape `\xNN` is U+00NN (ISO 8859-1).
    Char(char),
    /// Of `wchar`: one UTF-16 unit.
    WChar(u16),
    /// Of `string`; never with a NUL in it.
    String(String),
    /// Of `wstring`: UTF-16 units, none of them 0.
    WString(Vec<u16>),
    /// Of an enum.
    Enumerator {
        /// The enum's definition.
        enumeration: DefId,
        /// Position in [`Enum::enumerators`](super::Enum::enumerators), its ordinal on the wire.
        index: u32,
    },
    /// Of `fixed`.
    Fixed(FixedValue),
}

/// A decimal: `unscaled` divided by ten to the power `scale`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixedValue {
    /// All digits as an integer; at most 31 of them.
    pub unscaled: i128,
    /// Digits behind the point.
    pub scale: u16,
}

impl fmt::Display for FixedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.unscaled < 0 { "-" } else { "" };
        let scale = usize::from(self.scale);
        let digits = format!("{:0>width$}", self.unscaled.unsigned_abs(), width = scale + 1);
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        match fraction {
            "" => write!(f, "{sign}{whole}"),
            _ => write!(f, "{sign}{whole}.{fraction}"),
        }
    }
}
