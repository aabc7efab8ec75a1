//! What is told of a value that does not fit its type.

use std::fmt;

use serde_json::Value as Json;
use throughline_idl::nearest;

use super::Value;

/// Where and why a value does not fit its type.
#[derive(Debug)]
pub struct Mismatch {
    /// `who.address[2].x`
    pub place: String,
    /// What is wanted, and what was given.
    pub what: String,
    /// What may have been meant.
    pub hint: Option<String>,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// A value that fits, or why it does not.
pub(super) type Checked<T = Value> = Result<T, Box<Mismatch>>;

/// A place in the arguments.
#[derive(Clone, Copy)]
pub(super) enum Place<'p> {
    Root(&'p str),
    Member(&'p Place<'p>, &'p str),
    Element(&'p Place<'p>, usize),
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root(name) => f.write_str(name),
            Self::Member(outer, name) => write!(f, "{outer}.{name}"),
            Self::Element(outer, index) => write!(f, "{outer}[{index}]"),
        }
    }
}

/// A mismatch without a hint.
pub(super) fn mismatch<T>(place: &Place<'_>, what: impl Into<String>) -> Checked<T> {
    Err(Box::new(Mismatch { place: place.to_string(), what: what.into(), hint: None }))
}

/// Adds what may have been meant.
pub(super) fn with_hint<T>(result: Checked<T>, hint: Option<String>) -> Checked<T> {
    result.map_err(|it| Box::new(Mismatch { hint, ..*it }))
}

/// A name that is close to one that does not exist.
pub(super) fn did_you_mean<'n>(name: &str, names: impl IntoIterator<Item = &'n str>) -> Option<String> {
    nearest(name, names).map(|it| format!("did you mean `{it}`?"))
}

/// The value as given, cut short.
pub(super) fn shown(json: &Json) -> String {
    const MOST: usize = 40;
    let text = json.to_string();
    if text.chars().count() <= MOST {
        return text;
    }
    text.chars().take(MOST).collect::<String>() + "..."
}
