//! Which macros must not expand a token again.

use std::rc::Rc;

/// Nesting of macros beyond this is refused.
const MAX_MEMBERS: usize = 128;

/// A small set of macro names, shared between the tokens of one expansion.
#[derive(Clone, Debug, Default)]
pub(crate) struct HideSet(Option<Rc<[Rc<str>]>>);

impl HideSet {
    pub fn contains(&self, name: &str) -> bool {
        self.members().iter().any(|it| &**it == name)
    }

    pub fn is_full(&self) -> bool {
        self.members().len() >= MAX_MEMBERS
    }

    pub fn with(&self, name: &Rc<str>) -> HideSet {
        self.union(&HideSet(Some([name.clone()].into())))
    }

    pub fn union(&self, other: &HideSet) -> HideSet {
        if self.members().is_empty() {
            return other.clone();
        }
        let missing: Vec<_> = other.members().iter().filter(|it| !self.contains(it)).cloned().collect();
        if missing.is_empty() {
            return self.clone();
        }
        HideSet(Some(self.members().iter().cloned().chain(missing).collect()))
    }

    pub fn intersection(&self, other: &HideSet) -> HideSet {
        let common: Rc<[_]> = self.members().iter().filter(|it| other.contains(it)).cloned().collect();
        HideSet((!common.is_empty()).then_some(common))
    }

    fn members(&self) -> &[Rc<str>] {
        self.0.as_deref().unwrap_or_default()
    }
}
