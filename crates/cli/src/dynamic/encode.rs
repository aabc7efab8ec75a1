//! Values as CDR.

use throughline_cdr::{Encode, EncodeError, WChar, Writer};
use throughline_idl::model::{Primitive, Type};

use super::{Shape, Types, Value};

/// Only a value of another type than it was checked for.
const MISFIT: EncodeError = EncodeError::Invalid("a value that does not fit its type");

impl Types<'_> {
    /// Writes a value that fits the type.
    ///
    /// # Errors
    /// Text that the connection's code sets lack.
    pub fn encode(self, ty: &Type, value: &Value, w: &mut Writer<'_>) -> Result<(), EncodeError> {
        self.encode_shape(self.shape(ty), value, w)
    }

    fn encode_shape(self, shape: Shape<'_>, value: &Value, w: &mut Writer<'_>) -> Result<(), EncodeError> {
        match (shape, value) {
            (Shape::Primitive(primitive), value) => encode_primitive(primitive, value, w),
            (Shape::String(_), Value::Text(text)) => w.write_string(text),
            (Shape::WString(_), Value::Text(text)) => w.write_wstring(text),
            (Shape::Fixed { digits, .. }, Value::Fixed(it)) => {
                w.write_bytes(&packed(it.unscaled, digits));
                Ok(())
            }
            (Shape::Sequence(..), Value::Octets(octets)) => w.write_octets(octets),
            (Shape::Sequence(element, _), Value::List(items)) => {
                w.write_length(items.len())?;
                items.iter().try_for_each(|item| self.encode(element, item, w))
            }
            (Shape::Array(..), Value::Octets(octets)) => {
                w.write_bytes(octets);
                Ok(())
            }
            (Shape::Array(_, element, rest), Value::List(items)) => {
                items.iter().try_for_each(|item| self.encode_shape(self.array(element, rest), item, w))
            }
            (Shape::Enum(_), Value::Enumerator(index)) => {
                w.write_u32(*index);
                Ok(())
            }
            (Shape::Struct(members), Value::Record(values)) => {
                let mut members = members.iter().zip(values);
                members.try_for_each(|(member, value)| self.encode(&member.ty, value, w))
            }
            (Shape::Union(union), Value::Union { discriminator, member }) => {
                self.encode(&union.discriminator, discriminator, w)?;
                let Some((case, value)) = member else { return Ok(()) };
                let case = union.cases.get(*case).ok_or(MISFIT)?;
                self.encode(&case.member.ty, value, w)
            }
            (Shape::Reference { is_abstract: false }, Value::Reference(ior)) => ior.encode(w),
            (Shape::Reference { is_abstract: true }, Value::Reference(ior)) => {
                // An object, or the nil value.
                w.write_bool(!ior.is_nil());
                if ior.is_nil() {
                    w.write_u32(0);
                    return Ok(());
                }
                ior.encode(w)
            }
            _ => Err(MISFIT),
        }
    }
}

fn encode_primitive(primitive: Primitive, value: &Value, w: &mut Writer<'_>) -> Result<(), EncodeError> {
    match (primitive, value) {
        // Checked to be in the type's range.
        (Primitive::Octet, Value::Integer(it)) => w.write_u8(*it as u8),
        (Primitive::Short, Value::Integer(it)) => w.write_i16(*it as i16),
        (Primitive::UShort, Value::Integer(it)) => w.write_u16(*it as u16),
        (Primitive::Long, Value::Integer(it)) => w.write_i32(*it as i32),
        (Primitive::ULong, Value::Integer(it)) => w.write_u32(*it as u32),
        (Primitive::LongLong, Value::Integer(it)) => w.write_i64(*it as i64),
        (Primitive::ULongLong, Value::Integer(it)) => w.write_u64(*it as u64),
        (Primitive::Float, Value::Single(it)) => w.write_f32(*it),
        (Primitive::Double, Value::Float(it)) => w.write_f64(*it),
        (Primitive::LongDouble, Value::LongDouble(it)) => w.write_long_double(*it),
        (Primitive::Boolean, Value::Boolean(it)) => w.write_bool(*it),
        (Primitive::Char, Value::Text(it)) => return w.write_char(character(it)?),
        (Primitive::WChar, Value::Text(it)) => return w.write_wchar(WChar(character(it)?)),
        _ => return Err(MISFIT),
    }
    Ok(())
}

fn character(text: &str) -> Result<char, EncodeError> {
    text.chars().next().ok_or(MISFIT)
}

/// A decimal's digits, two to an octet, the last half octet for the sign (CORBA 3.3, part 2, section 9.3.2.7).
fn packed(unscaled: i128, digits: u16) -> Vec<u8> {
    // Whole octets: an even number of digits gets a zero before them.
    let places = usize::from(digits) | 1;
    let mut nibbles: Vec<u8> =
        format!("{:0>places$}", unscaled.unsigned_abs()).bytes().map(|digit| digit - b'0').collect();
    nibbles.push(if unscaled < 0 { 0xD } else { 0xC });
    nibbles.chunks(2).map(|pair| pair.iter().fold(0, |octet, nibble| octet << 4 | nibble)).collect()
}
