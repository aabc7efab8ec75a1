//! Values from JSON, checked against their types.

use serde_json::{Map, Value as Json};
use throughline::Ior;
use throughline_idl::model::{Coverage, Enum, Member, Primitive, Type, Union, UnionCase};

use super::mismatch::{Checked, Place, did_you_mean, mismatch, shown, with_hint};
use super::{Shape, Types, Value, json, label, number, selected};

/// Turns the text of a reference into the reference.
pub type Resolve<'a> = &'a dyn Fn(&str) -> Result<Ior, String>;

impl<'m> Types<'m> {
    /// Makes a value of a type. `name` is what the value is called in a [`Mismatch`](super::Mismatch).
    ///
    /// # Errors
    /// The first place that does not fit.
    pub fn check(self, name: &str, ty: &'m Type, json: &Json, resolve: Resolve<'_>) -> Checked {
        Checker { types: self, resolve }.value(&Place::Root(name), ty, json)
    }

    /// As [`check`](Self::check), of an argument on the command line: JSON, or plain text for text, enumerators, decimals and
    /// references.
    ///
    /// # Errors
    /// The first place that does not fit.
    pub fn check_text(self, name: &str, ty: &'m Type, text: &str, resolve: Resolve<'_>) -> Checked {
        let quoted =
            || text.starts_with('"').then(|| serde_json::from_str(text).ok().map(Json::String)).flatten();
        let plain = || Json::String(text.to_owned());
        let json = match self.shape(ty) {
            Shape::String(_) | Shape::WString(_) | Shape::Enum(_) | Shape::Fixed { .. } => {
                quoted().unwrap_or_else(plain)
            }
            Shape::Primitive(Primitive::Char | Primitive::WChar) => quoted().unwrap_or_else(plain),
            Shape::Reference { .. } if text == "null" => Json::Null,
            Shape::Reference { .. } => quoted().unwrap_or_else(plain),
            _ => match json::parse(text) {
                Ok(json) => json,
                Err(e) if text.starts_with(['{', '[']) => {
                    return mismatch(&Place::Root(name), format!("is no JSON: {e}"));
                }
                // It may still be NaN, or octets.
                Err(_) => plain(),
            },
        };
        self.check(name, ty, &json, resolve)
    }

    /// What a type wants, in words.
    fn wanted(self, ty: &Type) -> String {
        let plain = self.model.unalias(ty);
        let text = self.model.type_text(plain);
        let text = match plain {
            Type::Array { dimensions, .. } => {
                let dimensions: String = dimensions.iter().map(|n| format!("[{n}]")).collect();
                format!("{text}{dimensions}")
            }
            _ => text,
        };
        if plain == ty { text } else { format!("{}, that is {text}", self.model.type_text(ty)) }
    }

    /// What an array wants, which may be a row of the array that `ty` is.
    fn wanted_array(self, ty: &Type, length: usize, element: &Type, rest: &[u32]) -> String {
        let dimensions = [&[u32::try_from(length).unwrap_or(u32::MAX)], rest].concat();
        let whole = Type::Array { element: Box::new(element.clone()), dimensions };
        self.wanted(if *self.model.unalias(ty) == whole { ty } else { &whole })
    }
}

struct Checker<'m, 'r> {
    types: Types<'m>,
    resolve: Resolve<'r>,
}

impl<'m> Checker<'m, '_> {
    fn value(&self, place: &Place<'_>, ty: &'m Type, json: &Json) -> Checked {
        self.shape(place, ty, self.types.shape(ty), json)
    }

    fn wants<T>(&self, place: &Place<'_>, ty: &Type, json: &Json) -> Checked<T> {
        mismatch(place, format!("wants {}, got {}", self.types.wanted(ty), shown(json)))
    }

    /// `ty` is for messages.
    fn shape(&self, place: &Place<'_>, ty: &'m Type, shape: Shape<'m>, json: &Json) -> Checked {
        match (shape, json) {
            (Shape::Primitive(primitive), json) => self.primitive(place, ty, primitive, json),
            (Shape::String(bound), Json::String(text)) => {
                text_value(place, text, text.chars().count(), bound)
            }
            (Shape::WString(bound), Json::String(text)) => {
                text_value(place, text, text.encode_utf16().count(), bound)
            }
            (Shape::Fixed { digits, scale }, Json::String(_) | Json::Number(_)) => {
                let text = match json {
                    Json::Number(number) => number::decimal(number),
                    _ => json.as_str().map(str::to_owned),
                };
                let Some(text) = text else {
                    let what = format!("wants {}, so many digits in quotes", self.types.wanted(ty));
                    return mismatch(place, what);
                };
                match number::fixed(&text, digits, scale) {
                    Some(value) => Ok(Value::Fixed(Box::new(value))),
                    None => self.wants(place, ty, json),
                }
            }
            (Shape::Sequence(element, bound), json) => self.sequence(place, ty, element, bound, json),
            (Shape::Array(length, element, rest), json) => {
                let wanted = || self.types.wanted_array(ty, length, element, rest);
                let value = match json {
                    Json::String(text) if self.types.is_octet(element, rest) => octets(place, wanted, text)?,
                    Json::Array(items) => self.items(place, element, rest, items)?,
                    _ => return mismatch(place, format!("wants {}, got {}", wanted(), shown(json))),
                };
                exactly(place, length, value)
            }
            (Shape::Enum(it), Json::String(name)) => enumerator(place, it, name),
            (Shape::Struct(members), Json::Object(fields)) => self.record(place, members, fields),
            (Shape::Union(union), Json::Object(fields)) => self.union(place, union, fields),
            (Shape::Reference { .. }, Json::Null) => Ok(Value::Reference(Box::new(Ior::NIL))),
            (Shape::Reference { .. }, Json::String(text)) => match (self.resolve)(text) {
                Ok(ior) => Ok(Value::Reference(Box::new(ior))),
                Err(why) => mismatch(place, format!("wants a reference, got {}: {why}", shown(json))),
            },
            (Shape::Unsupported, _) => {
                mismatch(place, format!("{} is not supported yet", self.types.wanted(ty)))
            }
            _ => self.wants(place, ty, json),
        }
    }

    fn primitive(&self, place: &Place<'_>, ty: &Type, primitive: Primitive, json: &Json) -> Checked {
        let value = match primitive {
            Primitive::Boolean => json.as_bool().map(Value::Boolean),
            Primitive::Char | Primitive::WChar => {
                // Unlike text, a character may be NUL.
                let one = |text: &&str| text.chars().count() == 1;
                json.as_str().filter(one).map(|text| Value::Text(text.to_owned()))
            }
            Primitive::Float => number::single(json).map(Value::Single),
            Primitive::Double => number::double(json).map(Value::Float),
            Primitive::LongDouble => number::long_double(json).map(Value::LongDouble),
            _ => return self.integer(place, ty, primitive, json),
        };
        value.map_or_else(|| self.wants(place, ty, json), Ok)
    }

    fn integer(&self, place: &Place<'_>, ty: &Type, primitive: Primitive, json: &Json) -> Checked {
        let given = json.as_i64().map(i128::from).or_else(|| json.as_u64().map(i128::from));
        let Some((least, greatest)) = primitive.integer_range() else { return self.wants(place, ty, json) };
        match given {
            Some(value) if (least..=greatest).contains(&value) => Ok(Value::Integer(value)),
            _ => mismatch(
                place,
                format!("wants {}, from {least} to {greatest}, got {}", self.types.wanted(ty), shown(json)),
            ),
        }
    }

    fn sequence(
        &self,
        place: &Place<'_>,
        ty: &Type,
        element: &'m Type,
        bound: Option<u32>,
        json: &Json,
    ) -> Checked {
        let value = match json {
            Json::String(text) if self.types.is_octet(element, &[]) => {
                octets(place, || self.types.wanted(ty), text)?
            }
            Json::Array(items) => self.items(place, element, &[], items)?,
            _ => return self.wants(place, ty, json),
        };
        match (length(&value), bound) {
            (length, Some(bound)) if length > bound as usize => {
                mismatch(place, format!("has {length} elements, more than {bound}"))
            }
            _ => Ok(value),
        }
    }

    /// The elements of a sequence, or of an array with these dimensions left.
    fn items(&self, place: &Place<'_>, element: &'m Type, rest: &'m [u32], items: &[Json]) -> Checked {
        let item = |(at, json)| {
            let place = Place::Element(place, at);
            self.shape(&place, element, self.types.array(element, rest), json)
        };
        let items = items.iter().enumerate().map(item).collect::<Checked<Vec<_>>>()?;
        if !self.types.is_octet(element, rest) {
            return Ok(Value::List(items));
        }
        // Checked to be octets.
        let octet = |it: &Value| if let Value::Integer(it) = it { *it as u8 } else { 0 };
        Ok(Value::Octets(items.iter().map(octet).collect()))
    }

    fn record(&self, place: &Place<'_>, members: &'m [Member], fields: &Map<String, Json>) -> Checked {
        only_members(place, members.iter().map(|it| it.name.as_str()), fields)?;
        let value = |member: &'m Member| match fields.get(&member.name) {
            Some(json) => self.value(&Place::Member(place, &member.name), &member.ty, json),
            None => {
                let ty = self.types.wanted(&member.ty);
                mismatch(place, format!("lacks the member `{}`, which is {ty}", member.name))
            }
        };
        members.iter().map(value).collect::<Checked<Vec<_>>>().map(Value::Record)
    }

    fn union(&self, place: &Place<'_>, union: &'m Union, fields: &Map<String, Json>) -> Checked {
        let names = || union.cases.iter().map(|it| it.member.name.as_str());
        only_members(place, names().chain(["_d"]), fields)?;
        let given: Vec<_> = fields.iter().filter(|(name, _)| *name != "_d").collect();
        let discriminator = match (fields.get("_d"), given.as_slice()) {
            (_, [_, _, ..]) => return mismatch(place, "wants one member of a union, got several"),
            (Some(json), _) => self.value(&Place::Member(place, "_d"), &union.discriminator, json)?,
            (None, [(name, _)]) => {
                let case = union.cases.iter().find(|it| it.member.name == **name);
                // Checked to be one of the members.
                case.map_or(Value::Boolean(false), |case| first_discriminator(union, case))
            }
            (None, []) => match &union.coverage {
                Coverage::Implicit { unlabelled, .. } => label(unlabelled),
                _ => {
                    let names: Vec<_> = names().collect();
                    return mismatch(place, format!("wants one of the members {}", names.join(", ")));
                }
            },
        };
        let member = match (selected(union, &discriminator), given.as_slice()) {
            (Some((at, case)), [(name, json)]) if **name == case.member.name => {
                let value = self.value(&Place::Member(place, name), &case.member.ty, json)?;
                Some((at, Box::new(value)))
            }
            (Some((_, case)), _) => {
                return mismatch(place, format!("wants the member `{}` for that _d", case.member.name));
            }
            (None, []) => None,
            (None, _) => return mismatch(place, "wants no member for that _d"),
        };
        Ok(Value::Union { discriminator: Box::new(discriminator), member })
    }
}

/// The discriminator that stands for a member when none is given.
fn first_discriminator(union: &Union, case: &UnionCase) -> Value {
    match (&union.coverage, case.labels.first()) {
        (_, Some(first)) => label(first),
        (Coverage::Explicit { unlabelled, .. } | Coverage::Implicit { unlabelled, .. }, None) => {
            label(unlabelled)
        }
        // Without labels of its own a case is the default one, and something is left for it.
        (Coverage::Exhaustive, None) => Value::Boolean(false),
    }
}

fn only_members<'n>(
    place: &Place<'_>,
    names: impl Iterator<Item = &'n str> + Clone,
    fields: &Map<String, Json>,
) -> Checked<()> {
    if names.clone().filter(|it| fields.contains_key(*it)).count() == fields.len() {
        return Ok(());
    }
    let Some(unknown) = fields.keys().find(|name| !names.clone().any(|it| it == *name)) else {
        return Ok(());
    };
    let known: Vec<_> = names.clone().collect();
    let result = mismatch(place, format!("has no member `{unknown}`, only {}", known.join(", ")));
    with_hint(result, did_you_mean(unknown, names))
}

fn text_value(place: &Place<'_>, text: &str, length: usize, bound: Option<u32>) -> Checked {
    if text.contains('\0') {
        return mismatch(place, "has a NUL in it, which no string can hold");
    }
    match bound {
        Some(bound) if length > bound as usize => {
            mismatch(place, format!("has {length} characters, more than {bound}"))
        }
        _ => Ok(Value::Text(text.to_owned())),
    }
}

fn octets(place: &Place<'_>, wanted: impl Fn() -> String, text: &str) -> Checked {
    let wants = || format!("wants {}: an array of numbers, or 0x and hexadecimal digits", wanted());
    number::hexadecimal(text).map_or_else(|| mismatch(place, wants()), |it| Ok(Value::Octets(it)))
}

fn length(value: &Value) -> usize {
    match value {
        Value::Octets(it) => it.len(),
        Value::List(it) => it.len(),
        _ => 0,
    }
}

fn exactly(place: &Place<'_>, wanted: usize, value: Value) -> Checked {
    match length(&value) {
        given if given == wanted => Ok(value),
        given => mismatch(place, format!("wants {wanted} elements, got {given}")),
    }
}

fn enumerator(place: &Place<'_>, it: &Enum, name: &str) -> Checked {
    let names = || it.enumerators.iter().map(|it| it.name.as_str());
    if let Some(at) = names().position(|other| other == name) {
        return Ok(Value::Enumerator(at as u32));
    }
    let all: Vec<_> = names().collect();
    let result = mismatch(place, format!("wants one of {}, got \"{name}\"", all.join(", ")));
    with_hint(result, did_you_mean(name, names()))
}
