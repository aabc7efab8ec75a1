//! Values of types that are known at run time only: checked from JSON, written and read as CDR, shown as JSON.
//!
//! | IDL | JSON |
//! |---|---|
//! | integers, `octet`, `float`, `double`, `long double` | a number; `"NaN"`, `"Infinity"`, `"-Infinity"`; any other as `"0x"` and its octets in hexadecimal digits |
//! | `boolean` | `true`, `false` |
//! | `char`, `wchar`, `string`, `wstring` | a string |
//! | `fixed` | a string of decimal digits, or a number |
//! | `enum` | the enumerator's name |
//! | `struct`, `exception` | an object with a field for each member |
//! | `union` | an object with the selected member, and with the discriminator as `_d` where the member does not tell |
//! | `sequence`, array | an array; of octets also `"0x"` and hexadecimal digits |
//! | an object reference | its text in any form, or `null` |
//!
//! What is shown can be passed as an argument again. A decimal of more than 15 digits is a string, as a number in JSON may
//! lose those behind them.

mod decode;
mod encode;
mod from_json;
mod json;
mod mismatch;
mod number;
mod show;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use throughline::Ior;
use throughline_cdr::LongDouble;
use throughline_idl::Model;
use throughline_idl::model::{
    self, DefId, FixedValue, InterfaceKind, Kind, Member, Primitive, Type, Union, UnionCase,
};

pub use self::from_json::Resolve;
pub use self::json::parse;
pub use self::mismatch::Mismatch;

/// A value that fits a type of a [`Model`]. There may be millions in an answer: what is large and rare is in a box.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Of every integer type, and `octet`.
    Integer(i128),
    /// Of `float`, which keeps the octets of what is no number.
    Single(f32),
    /// Of `double`.
    Float(f64),
    LongDouble(LongDouble),
    Boolean(bool),
    /// Of every type of text.
    Text(String),
    Fixed(Box<FixedValue>),
    Enumerator(u32),
    /// A sequence or an array of octets.
    Octets(Vec<u8>),
    /// Any other sequence or array; what has several dimensions has lists in lists.
    List(Vec<Value>),
    /// The members of a struct or an exception.
    Record(Vec<Value>),
    /// The selected case's position, and its member's value.
    Union {
        discriminator: Box<Value>,
        member: Option<(usize, Box<Value>)>,
    },
    /// Nil is the reference without profiles.
    Reference(Box<Ior>),
}

/// The types of a model, and what can be done by them.
#[derive(Clone, Copy)]
pub struct Types<'m> {
    pub model: &'m Model,
}

/// What a type is made of, typedefs looked through and the dimensions of arrays taken one at a time.
enum Shape<'m> {
    Primitive(Primitive),
    /// With the most characters.
    String(Option<u32>),
    WString(Option<u32>),
    Fixed {
        digits: u16,
        scale: u16,
    },
    /// With the most elements.
    Sequence(&'m Type, Option<u32>),
    /// Its length, the type of what is in it, and the dimensions of that.
    Array(usize, &'m Type, &'m [u32]),
    Enum(&'m model::Enum),
    Struct(&'m [Member]),
    Union(&'m Union),
    Reference {
        is_abstract: bool,
    },
    /// Nothing that can be handled yet.
    Unsupported,
}

impl<'m> Types<'m> {
    fn shape(self, ty: &'m Type) -> Shape<'m> {
        match self.model.unalias(ty) {
            Type::Primitive(primitive) => Shape::Primitive(*primitive),
            Type::String { bound } => Shape::String(*bound),
            Type::WString { bound } => Shape::WString(*bound),
            Type::Fixed { digits, scale } => Shape::Fixed { digits: *digits, scale: *scale },
            Type::Sequence { element, bound } => Shape::Sequence(element, *bound),
            Type::Array { element, dimensions } => self.array(element, dimensions),
            Type::Object => Shape::Reference { is_abstract: false },
            Type::Named(id) => self.named(*id),
            Type::Any | Type::TypeCode | Type::ValueBase => Shape::Unsupported,
        }
    }

    /// An array, or what is in it when no dimension is left.
    fn array(self, element: &'m Type, dimensions: &'m [u32]) -> Shape<'m> {
        match dimensions.split_first() {
            Some((length, rest)) => Shape::Array(*length as usize, element, rest),
            None => self.shape(element),
        }
    }

    fn named(self, id: DefId) -> Shape<'m> {
        match &self.model.get(id).kind {
            Kind::Enum(it) => Shape::Enum(it),
            Kind::Struct(it) => Shape::Struct(&it.members),
            Kind::Union(it) => Shape::Union(it),
            Kind::Interface(model::Interface { kind, .. }) | Kind::ForwardInterface(kind) => match kind {
                InterfaceKind::Normal => Shape::Reference { is_abstract: false },
                InterfaceKind::Abstract => Shape::Reference { is_abstract: true },
                InterfaceKind::Local => Shape::Unsupported,
            },
            _ => Shape::Unsupported,
        }
    }

    /// What of a type cannot be handled, if anything. Types may contain themselves, and chains of them are as long as somebody
    /// wrote them.
    pub fn unsupported(self, ty: &'m Type) -> Option<&'m Type> {
        let (mut seen, mut open) = (BTreeSet::new(), vec![ty]);
        while let Some(ty) = open.pop() {
            match ty {
                Type::Any | Type::TypeCode | Type::ValueBase => return Some(ty),
                Type::Sequence { element, .. } | Type::Array { element, .. } => open.push(element),
                Type::Named(id) if seen.insert(*id) => match &self.model.get(*id).kind {
                    Kind::Typedef(it) => open.push(&it.ty),
                    Kind::Struct(it) => open.extend(it.members.iter().rev().map(|it| &it.ty)),
                    Kind::Union(it) => open.extend(it.cases.iter().rev().map(|it| &it.member.ty)),
                    Kind::Enum(_) => {}
                    _ if matches!(self.named(*id), Shape::Unsupported) => return Some(ty),
                    _ => {}
                },
                _ => {}
            }
        }
        None
    }

    /// Whether a sequence or array of this type, with no dimension left, is kept as octets.
    fn is_octet(self, element: &Type, dimensions: &[u32]) -> bool {
        dimensions.is_empty() && matches!(self.model.unalias(element), Type::Primitive(Primitive::Octet))
    }
}

/// The label of a union as a value.
fn label(value: &model::Value) -> Value {
    match value {
        model::Value::Boolean(it) => Value::Boolean(*it),
        model::Value::Char(it) => Value::Text(it.to_string()),
        model::Value::WChar(it) => {
            Value::Text(char::from_u32((*it).into()).map(String::from).unwrap_or_default())
        }
        model::Value::Enumerator { index, .. } => Value::Enumerator(*index),
        model::Value::Integer(it) => Value::Integer(*it),
        // No type that a discriminator can have.
        _ => Value::Octets(Vec::new()),
    }
}

/// The case that a discriminator selects, with its position.
fn selected<'m>(union: &'m Union, discriminator: &Value) -> Option<(usize, &'m UnionCase)> {
    let labelled = |case: &UnionCase| case.labels.iter().any(|it| label(it) == *discriminator);
    let mut cases = union.cases.iter().enumerate();
    cases.clone().find(|(_, case)| labelled(case)).or_else(|| cases.find(|(_, case)| case.is_default))
}
