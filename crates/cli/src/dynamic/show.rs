//! Values as JSON.

use serde_json::{Map, Value as Json, json};
use throughline_idl::model::Type;

use super::{Shape, Types, Value, label, number};

impl<'m> Types<'m> {
    /// A value that fits the type, as JSON that [`Types::check`] turns into the same value.
    pub fn show(self, ty: &'m Type, value: &Value) -> Json {
        self.show_shape(self.shape(ty), value)
    }

    fn show_shape(self, shape: Shape<'m>, value: &Value) -> Json {
        match (shape, value) {
            (_, Value::Single(it)) => number::show_single(*it),
            (_, Value::Float(it)) => number::show_double(*it),
            (_, Value::LongDouble(it)) => number::show_long_double(*it),
            (_, Value::Integer(it)) => integer(*it),
            (_, Value::Boolean(it)) => json!(it),
            (_, Value::Text(it)) => json!(it),
            (_, Value::Fixed(it)) => json!(it.to_string()),
            (_, Value::Octets(it)) => json!(number::show_octets(it)),
            (_, Value::Reference(it)) if it.is_nil() => Json::Null,
            (_, Value::Reference(it)) => json!(it.to_string()),
            (Shape::Enum(it), Value::Enumerator(index)) => {
                it.enumerators.get(*index as usize).map_or(Json::Null, |it| json!(it.name))
            }
            (Shape::Sequence(element, _), Value::List(items)) => {
                items.iter().map(|item| self.show(element, item)).collect()
            }
            (Shape::Array(_, element, rest), Value::List(items)) => {
                items.iter().map(|item| self.show_shape(self.array(element, rest), item)).collect()
            }
            (Shape::Struct(members), Value::Record(values)) => self.show_members(members, values),
            (Shape::Union(union), Value::Union { discriminator, member }) => {
                let mut fields = Map::new();
                let case = member.as_ref().and_then(|(at, value)| Some((union.cases.get(*at)?, value)));
                // A member with a single label tells the discriminator by itself.
                let told = case.is_some_and(|(case, _)| {
                    !case.is_default && case.labels.len() == 1 && label(&case.labels[0]) == **discriminator
                });
                if !told {
                    fields.insert("_d".to_owned(), self.show(&union.discriminator, discriminator));
                }
                if let Some((case, value)) = case {
                    fields.insert(case.member.name.clone(), self.show(&case.member.ty, value));
                }
                Json::Object(fields)
            }
            // No value of the type.
            _ => Json::Null,
        }
    }

    /// The members of a struct or an exception.
    pub fn show_members(self, members: &'m [throughline_idl::model::Member], values: &[Value]) -> Json {
        let fields = members.iter().zip(values);
        Json::Object(fields.map(|(m, value)| (m.name.clone(), self.show(&m.ty, value))).collect())
    }
}

fn integer(value: i128) -> Json {
    match (i64::try_from(value), u64::try_from(value)) {
        (Ok(it), _) => json!(it),
        (_, Ok(it)) => json!(it),
        // No IDL type has more than 64 bits.
        _ => json!(value.to_string()),
    }
}
