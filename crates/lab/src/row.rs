//! One result: a flat object, as the report, the tests and anyone's notebook read it.

use std::fmt;

pub use serde_json::Value;

/// A measured or computed number with what it is of: tidy data, one number per row.
///
/// `experiment`, `metric`, `unit` and `value` are always there; `claim` and `paper` where a paper has a figure to set
/// beside; `target`, `bound` (`at most`, `at least` or `under`) and `ok` where the project set itself one. Parameters are
/// further keys.
#[derive(Clone, Debug, PartialEq)]
pub struct Row(Vec<(&'static str, Value)>);

impl Row {
    /// A row without parameters.
    pub fn new(experiment: &str, metric: &str, unit: &str, value: f64) -> Self {
        Self(vec![
            ("experiment", experiment.into()),
            ("metric", metric.into()),
            ("unit", unit.into()),
            ("value", number(value)),
        ])
    }

    /// Adds a parameter, or replaces its value.
    #[must_use]
    pub fn with(mut self, key: &'static str, value: impl Into<Value>) -> Self {
        let value = value.into();
        match self.0.iter_mut().find(|(k, _)| *k == key) {
            Some((_, old)) => *old = value,
            None => self.0.push((key, value)),
        }
        self
    }

    /// Names the claim that the row belongs to.
    #[must_use]
    pub fn claim(self, claim: &str) -> Self {
        self.with("claim", claim)
    }

    /// The paper's figure for the same thing, in the row's unit.
    #[must_use]
    pub fn paper(self, value: f64) -> Self {
        self.with("paper", number(value))
    }

    /// At most `target` is good.
    #[must_use]
    pub fn at_most(self, target: f64) -> Self {
        let ok = self.value() <= target;
        self.judged("at most", target, ok)
    }

    /// Less than `target` is good.
    #[must_use]
    pub fn under(self, target: f64) -> Self {
        let ok = self.value() < target;
        self.judged("under", target, ok)
    }

    /// At least `target` is good.
    #[must_use]
    pub fn at_least(self, target: f64) -> Self {
        let ok = self.value() >= target;
        self.judged("at least", target, ok)
    }

    fn judged(self, bound: &str, target: f64, ok: bool) -> Self {
        self.with("bound", bound).with("target", number(target)).with("ok", ok)
    }

    /// What a key is set to.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.iter().find(|(k, _)| *k == key).map(|(_, value)| value)
    }

    /// The text of a key; empty when it is absent or no text.
    pub fn text(&self, key: &str) -> &str {
        self.get(key).and_then(Value::as_str).unwrap_or("")
    }

    /// The number of a key, if it is one.
    pub fn number(&self, key: &str) -> Option<f64> {
        self.get(key).and_then(Value::as_f64)
    }

    /// The number that the row is about.
    pub fn value(&self) -> f64 {
        self.number("value").unwrap_or(f64::NAN)
    }

    /// Whether all these keys have these values.
    pub fn matches(&self, wanted: &[(&str, Value)]) -> bool {
        wanted.iter().all(|(key, value)| self.get(key) == Some(value))
    }
}

/// Whole numbers look like whole numbers.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 1e15 { Value::from(value as i64) } else { Value::from(value) }
}

/// The row as one line of JSON.
impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (key, value)) in self.0.iter().enumerate() {
            write!(f, "{}{}:{value}", if i == 0 { '{' } else { ',' }, Value::from(*key))?;
        }
        f.write_str("}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_one_flat_object() {
        let row = Row::new("dispatch", "time", "ns", 12.5)
            .claim("TAO-1")
            .with("objects", 500)
            .with("objects", 400)
            .with("strategy", "a \"quoted\" one")
            .at_most(12.0);
        let parsed: serde_json::Map<String, Value> = serde_json::from_str(&row.to_string()).unwrap();
        assert_eq!(parsed["objects"], 400);
        assert_eq!(parsed["strategy"], "a \"quoted\" one");
        assert_eq!((&parsed["target"], &parsed["ok"]), (&Value::from(12), &Value::from(false)));
        assert!(parsed.values().all(|v| !v.is_object() && !v.is_array()));
    }

    #[test]
    fn targets_say_which_side_is_good() {
        let of = |judge: fn(Row, f64) -> Row, target: f64| {
            let row = judge(Row::new("pcb", "examined", "entries", 9.0), target);
            (row.text("bound").to_owned(), row.get("ok").and_then(Value::as_bool).unwrap())
        };
        assert_eq!(of(Row::at_most, 9.0), ("at most".to_owned(), true));
        assert_eq!(of(Row::under, 9.0), ("under".to_owned(), false));
        assert_eq!(of(Row::at_least, 9.5), ("at least".to_owned(), false));
    }
}
