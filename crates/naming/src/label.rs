//! Names as this service keeps them.

use throughline_giop::corbaname;

use crate::cos_naming::NameComponent;

/// The name of one binding, ordered so that listings have an order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Label {
    pub(crate) id: String,
    pub(crate) kind: String,
}

impl From<&NameComponent> for Label {
    fn from(component: &NameComponent) -> Self {
        Self { id: component.id.clone(), kind: component.kind.clone() }
    }
}

impl From<&Label> for NameComponent {
    fn from(label: &Label) -> Self {
        Self { id: label.id.clone(), kind: label.kind.clone() }
    }
}

/// Components of one name. Every context of another server on the way costs a call, so this bounds those as well.
const MAX_COMPONENTS: usize = 64;
/// Bytes of an identifier or a kind.
const MAX_PART: usize = 4096;

/// Whether a name is one: not empty, and no longer than anybody means it.
pub(crate) fn is_valid(name: &[NameComponent]) -> bool {
    let part = |text: &str| text.len() <= MAX_PART && !text.contains('\0');
    !name.is_empty() && name.len() <= MAX_COMPONENTS && name.iter().all(|c| part(&c.id) && part(&c.kind))
}

/// The longest text of a name that [is one](is_valid): every character may be escaped, and a dot and a slash come with each
/// component.
const MAX_TEXT: usize = MAX_COMPONENTS * (2 * 2 * MAX_PART + 2);

/// The components of a name that a stranger sent as text. One that is too long is not taken apart first: as components it
/// would be many times as large.
pub(crate) fn parse_valid(text: &str) -> Option<Vec<NameComponent>> {
    let name = parse(Some(text).filter(|text| text.len() <= MAX_TEXT)?).ok()?;
    is_valid(&name).then_some(name)
}

/// The components of a name as text.
pub(crate) fn parse(text: &str) -> Result<Vec<NameComponent>, throughline_giop::corbaloc::ParseLocError> {
    let components = corbaname::parse_name(text)?;
    Ok(components.into_iter().map(|c| NameComponent { id: c.id, kind: c.kind }).collect())
}

/// The text of a name.
pub(crate) fn to_text(name: &[NameComponent]) -> String {
    let components = name.iter().map(|c| corbaname::NameComponent { id: c.id.clone(), kind: c.kind.clone() });
    corbaname::name_to_string(&components.collect::<Vec<_>>())
}
