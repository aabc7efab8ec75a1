//! JSON as it is given for arguments: nested as deep as any value that is shown, and with no field twice.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value as Json};

/// Arrays and objects in each other, of a value that was received as of one that is given. What reads and shows them calls
/// itself for each: a stack has an end. Sequences alone are in each other up to 64 times.
pub const MAX_LEVELS: usize = 512;

/// Reads a text that is one value; around it one level more will do, as the arguments of a call are together in a file.
///
/// # Errors
/// What is wrong, with its line and column.
pub fn parse(text: &str) -> serde_json::Result<Json> {
    let mut from = serde_json::Deserializer::from_str(text);
    // They are counted here.
    from.disable_recursion_limit();
    let json = Level { left: MAX_LEVELS + 1 }.deserialize(&mut from)?;
    from.end()?;
    Ok(json)
}

/// What stands in so many arrays and objects that only so many more may follow.
#[derive(Clone, Copy)]
struct Level {
    left: usize,
}

impl Level {
    fn inner<E: Error>(self) -> Result<Self, E> {
        let left = self.left.checked_sub(1);
        let too_deep = || E::custom(format_args!("more than {MAX_LEVELS} arrays and objects in each other"));
        left.map(|left| Self { left }).ok_or_else(too_deep)
    }
}

impl<'de> DeserializeSeed<'de> for Level {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Json, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Level {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E: Error>(self, it: bool) -> Result<Json, E> {
        Ok(it.into())
    }

    fn visit_i64<E: Error>(self, it: i64) -> Result<Json, E> {
        Ok(it.into())
    }

    fn visit_u64<E: Error>(self, it: u64) -> Result<Json, E> {
        Ok(it.into())
    }

    fn visit_f64<E: Error>(self, it: f64) -> Result<Json, E> {
        Number::from_f64(it).map(Json::Number).ok_or_else(|| E::custom("a number out of range"))
    }

    fn visit_str<E: Error>(self, it: &str) -> Result<Json, E> {
        Ok(it.into())
    }

    fn visit_string<E: Error>(self, it: String) -> Result<Json, E> {
        Ok(it.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Json, A::Error> {
        let (inner, mut items) = (self.inner()?, Vec::new());
        while let Some(item) = from.next_element_seed(inner)? {
            items.push(item);
        }
        Ok(Json::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Json, A::Error> {
        let (inner, mut fields) = (self.inner()?, Map::new());
        while let Some(name) = from.next_key::<String>()? {
            if fields.contains_key(&name) {
                return Err(A::Error::custom(format_args!("`{name}` stands in one object twice")));
            }
            fields.insert(name, from.next_value_seed(inner)?);
        }
        Ok(Json::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_value() {
        let text = r#"{"b":[null,true,-1,18446744073709551615,0.1,-0.0,1e300,"\u0000x\n"],"a":{}}"#;
        let json = parse(text).unwrap();
        assert_eq!(json.to_string(), serde_json::from_str::<Json>(text).unwrap().to_string());
        for wrong in ["", "[1", "1 2", "{\"a\"}", "1e999", "nul"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_field_twice_is_told_with_its_place() {
        let told = parse("{\"a\": 1,\n \"b\": [{\"x\": 1, \"x\": 2}]}").unwrap_err().to_string();
        assert!(told.starts_with("`x` stands in one object twice at line 2 column "), "{told}");
        assert!(parse(r#"[{"x": 1}, {"x": 2, "y": {"x": 3}}]"#).is_ok());
    }

    #[test]
    fn a_double_keeps_all_its_digits() {
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        for _ in 0..20_000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let value = f64::from_bits(state);
            if value.is_finite() {
                let again = parse(&Json::from(value).to_string()).unwrap().as_f64().unwrap();
                assert_eq!(again.to_bits(), state, "{value:e}");
            }
        }
    }
}
