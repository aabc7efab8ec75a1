//! `corbaname:` references: a naming context, and a name to resolve there (section 7.6.10.5), and names as text
//! (Naming Service 1.3, section 2.4).

use std::fmt::{self, Write};
use std::str::FromStr;

use crate::corbaloc::{Corbaloc, DEFAULT_KEY, ParseLocError, strip_scheme};
use crate::escape::{escape, unescape};

const SCHEME: &str = "corbaname:";

/// A `corbaname:` reference. `Display` and `FromStr` are its text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Corbaname {
    /// The naming context.
    pub context: Corbaloc,
    /// The name in it as text, see [`parse_name`]; empty for the context itself.
    pub name: String,
}

impl FromStr for Corbaname {
    type Err = ParseLocError;
    fn from_str(text: &str) -> Result<Self, ParseLocError> {
        let rest = strip_scheme(text, SCHEME)?;
        let (location, name) = rest.split_once('#').unwrap_or((rest, ""));
        let context = Corbaloc::parse_after_scheme(location, SCHEME.len(), Some(DEFAULT_KEY))?;
        let at = SCHEME.len() + location.len() + 1;
        let name = unescape(name).map_err(|place| ParseLocError::BadEscape(at + place))?;
        let name = String::from_utf8(name).map_err(|_| ParseLocError::NotText)?;
        if !name.is_empty() {
            parse_name(&name)?;
        }
        Ok(Self { context, name })
    }
}

impl fmt::Display for Corbaname {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(SCHEME)?;
        self.context.fmt_after_scheme(f)?;
        if self.name.is_empty() {
            return Ok(());
        }
        f.write_char('#')?;
        escape(self.name.as_bytes(), f)
    }
}

/// One step of a name: `CosNaming::NameComponent`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NameComponent {
    /// The identifier.
    pub id: String,
    /// The kind, often empty.
    pub kind: String,
}

/// Parses a name such as `bank.domain/accounts/4711`: components separated by `/`, kinds after a `.`, and `\` before
/// either, or before itself, where it is meant as such.
pub fn parse_name(text: &str) -> Result<Vec<NameComponent>, ParseLocError> {
    let mut components = vec![NameComponent::default()];
    let mut in_kind = false;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let current = components.last_mut().ok_or(ParseLocError::BadName("no component"))?;
        let plain = match c {
            '/' => {
                check(current, in_kind)?;
                components.push(NameComponent::default());
                in_kind = false;
                continue;
            }
            '.' if in_kind => return Err(ParseLocError::BadName("two unescaped dots in a component")),
            '.' => {
                in_kind = true;
                continue;
            }
            '\\' => match chars.next() {
                Some(escaped @ ('\\' | '/' | '.')) => escaped,
                _ => return Err(ParseLocError::BadName("a backslash escapes only itself, a slash or a dot")),
            },
            c => c,
        };
        if in_kind { current.kind.push(plain) } else { current.id.push(plain) }
    }
    check(components.last().unwrap_or(&NameComponent::default()), in_kind)?;
    Ok(components)
}

/// A lone `.` is the component whose id and kind are both empty; otherwise nothing may be missing that is announced.
fn check(component: &NameComponent, has_dot: bool) -> Result<(), ParseLocError> {
    match (component.id.is_empty(), component.kind.is_empty()) {
        (true, true) if !has_dot => Err(ParseLocError::BadName("empty component")),
        (false, true) if has_dot => Err(ParseLocError::BadName("a dot, but no kind after it")),
        _ => Ok(()),
    }
}

/// The text of a name, which [`parse_name`] reads.
pub fn name_to_string(components: &[NameComponent]) -> String {
    let mut text = String::new();
    for (index, NameComponent { id, kind }) in components.iter().enumerate() {
        if index > 0 {
            text.push('/');
        }
        push_escaped(&mut text, id);
        if id.is_empty() || !kind.is_empty() {
            text.push('.');
        }
        push_escaped(&mut text, kind);
    }
    text
}

fn push_escaped(text: &mut String, part: &str) {
    for c in part.chars() {
        if matches!(c, '\\' | '/' | '.') {
            text.push('\\');
        }
        text.push(c);
    }
}
