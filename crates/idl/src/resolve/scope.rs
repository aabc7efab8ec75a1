//! Scopes: which names they define, and which they merely use.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::Resolver;
use crate::diagnostic::Report;
use crate::model::{DefId, FeatureRef};
use crate::source::Span;
use crate::syntax::Ident;

/// Index of a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ScopeId(pub u32);

impl ScopeId {
    pub const FILE: ScopeId = ScopeId(0);

    pub fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScopeKind {
    /// A module, or the file.
    Module,
    /// An interface or value type.
    Interface,
    /// A struct, union or exception.
    Members,
    Operation,
}

/// What a name means.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Target {
    Definition(DefId),
    Enumerator {
        enumeration: DefId,
        index: u32,
    },
    /// An operation or attribute.
    Feature(FeatureRef),
    /// A member, parameter, or factory.
    Other,
    /// `CORBA`, before a file opens it.
    CorbaModule(ScopeId),
    /// `CORBA::TypeCode`
    TypeCode,
    /// `CORBA::Principal`
    Principal,
}

/// A name in a scope.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub name: Rc<str>,
    /// `None` if CORBA declares it.
    pub span: Option<Span>,
    pub target: Target,
    pub noun: &'static str,
}

/// A scope. Names are looked up without regard to case.
pub(super) struct Scope {
    pub kind: ScopeKind,
    pub name: Rc<str>,
    pub parent: Option<ScopeId>,
    pub definition: Option<DefId>,
    /// Where its own name stands.
    pub span: Option<Span>,
    /// Scopes of direct bases.
    pub bases: Vec<ScopeId>,
    entries: HashMap<Rc<str>, Entry>,
    /// Names from outside that were used here: they must keep their meaning.
    used: HashMap<Rc<str>, (Rc<str>, Span)>,
}

impl Scope {
    pub fn new(kind: ScopeKind, name: &str, parent: Option<ScopeId>) -> Self {
        Scope {
            kind,
            name: name.into(),
            parent,
            definition: None,
            span: None,
            bases: Vec::new(),
            entries: HashMap::new(),
            used: HashMap::new(),
        }
    }

    /// The entry of a name, whatever its case.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.get(&*name.to_ascii_lowercase())
    }

    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }

    pub fn insert_built_in(&mut self, name: &str, target: Target) {
        let noun = if matches!(target, Target::CorbaModule(_)) { "module" } else { "native type" };
        let entry = Entry { name: name.into(), span: None, target, noun };
        self.entries.insert(name.to_ascii_lowercase().into(), entry);
    }

    pub fn remove(&mut self, name: &str) {
        self.entries.remove(&*name.to_ascii_lowercase());
    }
}

impl Resolver<'_> {
    /// Defines a name in the current scope, unless it is taken (reported).
    pub(super) fn declare(&mut self, name: &Ident, target: Target, noun: &'static str) -> bool {
        let Some(report) = self.obstacle(name, noun) else {
            let key: Rc<str> = name.name.to_ascii_lowercase().into();
            let entry = Entry { name: name.name.clone(), span: Some(name.span), target, noun };
            let scope = &mut self.scopes[self.scope.index()];
            if scope.kind == ScopeKind::Interface {
                self.inheritable.insert(key.clone());
            }
            scope.entries.insert(key, entry);
            return true;
        };
        self.sink.push(report);
        false
    }

    /// Why a name cannot be defined in the current scope.
    fn obstacle(&self, name: &Ident, noun: &str) -> Option<Report> {
        let scope = &self.scopes[self.scope.index()];
        let key = name.name.to_ascii_lowercase();
        if let Some(entry) = scope.entries.get(&*key) {
            return Some(taken(name, entry));
        }
        let is_parameter = scope.kind == ScopeKind::Operation;
        if !is_parameter
            && let Some(span) = scope.span
            && scope.name.eq_ignore_ascii_case(&name.name)
        {
            let message = format!("{noun} `{}` has the name of the scope that encloses it", name.name);
            return Some(
                Report::error(name.span, message).note(span, format!("`{}` is named here", scope.name)),
            );
        }
        if let Some((spelling, span)) = scope.used.get(&*key) {
            let report = if *spelling == name.name {
                let message =
                    format!("`{}` is defined here after it was used with another meaning", name.name);
                Report::error(name.span, message)
            } else {
                let message =
                    format!("`{}` differs only in case from `{spelling}`, used in this scope", name.name);
                Report::error(name.span, message)
            };
            return Some(report.note(*span, format!("`{spelling}` is used here")));
        }
        self.inherited_feature(&name.name).map(|entry| {
            let message =
                format!("`{}` is inherited as {} and cannot be defined again", name.name, a(entry.noun));
            match entry.span {
                Some(span) => Report::error(name.span, message).note(span, "the inherited one is here"),
                None => Report::error(name.span, message),
            }
        })
    }

    /// An operation or attribute of this name among the bases of the current scope.
    fn inherited_feature(&self, name: &str) -> Option<Entry> {
        if !self.is_inheritable(name) {
            return None;
        }
        let mut rest = self.scopes[self.scope.index()].bases.clone();
        let mut seen = HashSet::new();
        while let Some(scope) = rest.pop() {
            if !seen.insert(scope) {
                continue;
            }
            let scope = &self.scopes[scope.index()];
            if let Some(entry) = scope.get(name).filter(|it| matches!(it.target, Target::Feature(_))) {
                return Some(entry.clone());
            }
            rest.extend(&scope.bases);
        }
        None
    }

    /// Whether bases need be asked for a name at all.
    pub(super) fn is_inheritable(&self, name: &str) -> bool {
        self.inheritable.contains(&*name.to_ascii_lowercase())
    }

    /// Notes that a name from outside was used in the current scope, and so in those around it up to a module.
    pub(super) fn note_use(&mut self, name: &Ident, found_in: ScopeId) {
        let key: Rc<str> = name.name.to_ascii_lowercase().into();
        let mut at = self.scope;
        while at != found_in {
            let scope = &mut self.scopes[at.index()];
            scope.used.entry(key.clone()).or_insert_with(|| (name.name.clone(), name.span));
            let Some(parent) = scope.parent.filter(|_| scope.kind != ScopeKind::Module) else { return };
            if self.scopes[parent.index()].kind == ScopeKind::Module {
                return;
            }
            at = parent;
        }
    }
}

/// The message that a name is defined twice.
fn taken(name: &Ident, entry: &Entry) -> Report {
    let report = if entry.name == name.name {
        Report::error(name.span, format!("`{}` is defined twice in this scope", name.name))
    } else {
        let message = format!("`{}` differs only in case from `{}` in the same scope", name.name, entry.name);
        Report::error(name.span, message)
    };
    match entry.span {
        Some(span) => {
            report.note(span, format!("`{}` is first defined here, as {}", entry.name, a(entry.noun)))
        }
        None => report.help(format!("CORBA declares `{}` in every file, as {}", entry.name, a(entry.noun))),
    }
}

/// A noun with its article.
pub(super) fn a(noun: &str) -> String {
    let article = if noun.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
    format!("{article} {noun}")
}
