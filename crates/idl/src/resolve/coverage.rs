//! Labels of a union: no value twice, `default` only where a value is left.

use std::collections::HashMap;

use super::Resolver;
use crate::diagnostic::Report;
use crate::model::{Coverage, DefId, Kind, Primitive, Type, UnionCase, Value};
use crate::source::Span;
use crate::syntax::{Label, UnionItem};

impl Resolver<'_> {
    /// Checks the labels. `None` if something is wrong with them (reported).
    pub(super) fn coverage(&mut self, item: &UnionItem, ty: &Type, cases: &[UnionCase]) -> Option<Coverage> {
        let domain = self.domain(ty)?;
        let default = self.sole_default(item)?;
        let written = item.cases.iter().flat_map(|case| &case.labels).filter_map(|label| match label {
            Label::Value(expression) => Some(expression.span),
            Label::Default(_) => None,
        });
        let values: Vec<i128> = cases.iter().flat_map(|case| &case.labels).filter_map(ordinal).collect();
        let spans: Vec<Span> = written.collect();
        if values.len() != spans.len() {
            // Some label could not be evaluated: reported there.
            return None;
        }
        let mut first: HashMap<i128, Span> = HashMap::new();
        for (value, span) in values.iter().zip(spans) {
            if let Some(earlier) = first.insert(*value, span) {
                let report = Report::error(span, "this label stands in the union twice");
                self.sink.push(report.note(earlier, "it stands here already"));
                return None;
            }
        }
        let size = (domain.last - domain.first) as u128 + 1;
        let count = size - first.len() as u128;
        if count == 0 {
            let Some(span) = default else { return Some(Coverage::Exhaustive) };
            let message = format!("`default` in union `{}` can never be chosen", item.name.name);
            let report = Report::error(span, message);
            self.sink.push(report.help("every value has its own label; remove the `default`"));
            return None;
        }
        let free = (domain.first..=domain.last).find(|value| !first.contains_key(value))?;
        let unlabelled = domain.value(free);
        Some(match default {
            Some(_) => Coverage::Explicit { unlabelled, count },
            None => Coverage::Implicit { unlabelled, count },
        })
    }

    /// Where `default` stands, if anywhere; twice is an error.
    fn sole_default(&mut self, item: &UnionItem) -> Option<Option<Span>> {
        let mut found = None;
        for label in item.cases.iter().flat_map(|case| &case.labels) {
            let Label::Default(span) = label else { continue };
            if let Some(first) = found {
                let report =
                    Report::error(*span, format!("union `{}` has two `default` labels", item.name.name));
                self.sink.push(report.note(first, "the first one is here"));
                return None;
            }
            found = Some(*span);
        }
        Some(found)
    }

    fn domain(&self, ty: &Type) -> Option<Domain> {
        match self.unaliased(ty) {
            Type::Primitive(Primitive::Boolean) => Some(Domain { first: 0, last: 1, of: Of::Boolean }),
            Type::Primitive(Primitive::Char) => Some(Domain { first: 0, last: 255, of: Of::Char }),
            Type::Primitive(primitive) => {
                let (first, last) = primitive.integer_range()?;
                Some(Domain { first, last, of: Of::Integer })
            }
            Type::Named(id) => match &self.drafts[id.index()].kind {
                Kind::Enum(it) => {
                    let last = it.enumerators.len() as i128 - 1;
                    (last >= 0).then_some(Domain { first: 0, last, of: Of::Enum(*id) })
                }
                _ => None,
            },
            _ => None,
        }
    }
}

/// All values of a discriminator, as ordinals.
struct Domain {
    first: i128,
    last: i128,
    of: Of,
}

enum Of {
    Integer,
    Boolean,
    Char,
    Enum(DefId),
}

impl Domain {
    fn value(&self, ordinal: i128) -> Value {
        match self.of {
            Of::Integer => Value::Integer(ordinal),
            Of::Boolean => Value::Boolean(ordinal != 0),
            Of::Char => Value::Char(char::from(ordinal as u8)),
            Of::Enum(enumeration) => Value::Enumerator { enumeration, index: ordinal as u32 },
        }
    }
}

fn ordinal(value: &Value) -> Option<i128> {
    Some(match value {
        Value::Integer(value) => *value,
        Value::Boolean(value) => i128::from(*value),
        Value::Char(value) => i128::from(u32::from(*value)),
        Value::Enumerator { index, .. } => i128::from(*index),
        _ => return None,
    })
}
