//! Values from CDR. What a server sends is taken to be hostile: memory follows what has arrived.

use throughline::Ior;
use throughline_cdr::{Decode, DecodeError, Reader};
use throughline_idl::model::{FixedValue, Primitive, Type};

use super::json::MAX_LEVELS;
use super::{Shape, Types, Value, selected};

impl<'m> Types<'m> {
    /// Reads a value of a type.
    ///
    /// # Errors
    /// What is wrong with the octets.
    pub fn decode(self, ty: &'m Type, r: &mut Reader<'_>) -> Result<Value, DecodeError> {
        self.decode_at(ty, r, MAX_LEVELS)
    }

    /// `left`: in how many more lists, records and unions values may be.
    fn decode_at(self, ty: &'m Type, r: &mut Reader<'_>, left: usize) -> Result<Value, DecodeError> {
        self.decode_shape(self.shape(ty), r, left)
    }

    fn decode_shape(self, shape: Shape<'m>, r: &mut Reader<'_>, left: usize) -> Result<Value, DecodeError> {
        let inner = || left.checked_sub(1).ok_or(DecodeError::TooDeep);
        Ok(match shape {
            Shape::Primitive(primitive) => decode_primitive(primitive, r)?,
            Shape::String(bound) => {
                let text = r.read_string()?.into_owned();
                within(text.chars().count(), bound)?;
                Value::Text(text)
            }
            Shape::WString(bound) => {
                let text = r.read_wstring()?.0;
                within(text.encode_utf16().count(), bound)?;
                Value::Text(text)
            }
            Shape::Fixed { digits, scale } => Value::Fixed(Box::new(decode_fixed(digits, scale, r)?)),
            Shape::Sequence(element, bound) => self.decode_sequence(element, bound, r, left)?,
            Shape::Array(length, element, rest) if self.is_octet(element, rest) => {
                Value::Octets(r.read_bytes(length)?.to_vec())
            }
            Shape::Array(length, element, rest) => {
                let left = inner()?;
                let items = (0..length).map(|_| self.decode_shape(self.array(element, rest), r, left));
                Value::List(items.collect::<Result<_, _>>()?)
            }
            Shape::Enum(it) => {
                let value = r.read_u32()?;
                if value as usize >= it.enumerators.len() {
                    return Err(DecodeError::InvalidEnum { value });
                }
                Value::Enumerator(value)
            }
            Shape::Struct(members) => {
                let left = inner()?;
                let values = members.iter().map(|member| self.decode_at(&member.ty, r, left));
                Value::Record(values.collect::<Result<_, _>>()?)
            }
            Shape::Union(union) => {
                let left = inner()?;
                let discriminator = self.decode_at(&union.discriminator, r, left)?;
                let member = match selected(union, &discriminator) {
                    Some((at, case)) => Some((at, Box::new(self.decode_at(&case.member.ty, r, left)?))),
                    None => None,
                };
                Value::Union { discriminator: Box::new(discriminator), member }
            }
            Shape::Reference { is_abstract } => Value::Reference(Box::new(decode_reference(is_abstract, r)?)),
            Shape::Unsupported => return Err(DecodeError::Invalid { what: "a type that is not supported" }),
        })
    }

    fn decode_sequence(
        self,
        element: &'m Type,
        bound: Option<u32>,
        r: &mut Reader<'_>,
        left: usize,
    ) -> Result<Value, DecodeError> {
        if self.is_octet(element, &[]) {
            let octets = r.read_octets()?;
            within(octets.len(), bound)?;
            return Ok(Value::Octets(octets.to_vec()));
        }
        let length = r.read_length(1)?;
        within(length, bound)?;
        let (left, mut items) = (left.checked_sub(1).ok_or(DecodeError::TooDeep)?, Vec::new());
        // Types that contain themselves do so through sequences.
        r.nested(|r| {
            for _ in 0..length {
                items.push(self.decode_at(element, r, left)?);
            }
            Ok(())
        })?;
        Ok(Value::List(items))
    }
}

fn within(length: usize, bound: Option<u32>) -> Result<(), DecodeError> {
    match bound {
        Some(bound) if length > bound as usize => {
            Err(DecodeError::BoundExceeded { length: u32::try_from(length).unwrap_or(u32::MAX), bound })
        }
        _ => Ok(()),
    }
}

fn decode_primitive(primitive: Primitive, r: &mut Reader<'_>) -> Result<Value, DecodeError> {
    Ok(match primitive {
        Primitive::Octet => Value::Integer(r.read_u8()?.into()),
        Primitive::Short => Value::Integer(r.read_i16()?.into()),
        Primitive::UShort => Value::Integer(r.read_u16()?.into()),
        Primitive::Long => Value::Integer(r.read_i32()?.into()),
        Primitive::ULong => Value::Integer(r.read_u32()?.into()),
        Primitive::LongLong => Value::Integer(r.read_i64()?.into()),
        Primitive::ULongLong => Value::Integer(r.read_u64()?.into()),
        Primitive::Float => Value::Single(r.read_f32()?),
        Primitive::Double => Value::Float(r.read_f64()?),
        Primitive::LongDouble => Value::LongDouble(r.read_long_double()?),
        Primitive::Boolean => Value::Boolean(r.read_bool()?),
        Primitive::Char => Value::Text(r.read_char()?.to_string()),
        Primitive::WChar => Value::Text(r.read_wchar()?.0.to_string()),
    })
}

fn decode_reference(is_abstract: bool, r: &mut Reader<'_>) -> Result<Ior, DecodeError> {
    if !is_abstract || r.read_bool()? {
        return Ior::decode(r);
    }
    match r.read_u32()? {
        0 => Ok(Ior::NIL),
        _ => Err(DecodeError::Invalid { what: "a value where an object is supported only" }),
    }
}

/// Two digits to an octet, the last half octet for the sign; before an even number of digits stands a zero (CORBA 3.3, part 2,
/// section 9.3.2.7).
fn decode_fixed(digits: u16, scale: u16, r: &mut Reader<'_>) -> Result<FixedValue, DecodeError> {
    const WRONG: DecodeError = DecodeError::Invalid { what: "a decimal with half octets that are no digits" };
    let octets = r.read_bytes(usize::from(digits) / 2 + 1)?;
    let mut nibbles: Vec<u8> = octets.iter().flat_map(|octet| [octet >> 4, octet & 15]).collect();
    let negative = match nibbles.pop() {
        Some(0xC) => false,
        Some(0xD) => true,
        _ => return Err(WRONG),
    };
    let filled = nibbles.len() > usize::from(digits) && nibbles.first() != Some(&0);
    if filled || nibbles.iter().any(|nibble| *nibble > 9) {
        return Err(WRONG);
    }
    // At most 31 digits: no overflow.
    let unscaled = nibbles.iter().fold(0_i128, |sum, digit| sum * 10 + i128::from(*digit));
    Ok(FixedValue { unscaled: if negative { -unscaled } else { unscaled }, scale })
}
