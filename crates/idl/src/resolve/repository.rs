//! Repository ids: prefixes, pragmas, `typeid` and `typeprefix`.
//!
//! A prefix holds from its pragma to the end of the scope or file. It replaces what was gathered so far, the names of the
//! enclosing scopes included: under `#pragma prefix "P"` inside module `M`, interface `I` is `IDL:P/I:1.0`.

use std::rc::Rc;

use super::Resolver;
use super::draft::Given;
use super::scope::Target;
use crate::diagnostic::Report;
use crate::lex::Pragma;
use crate::model::{DefId, Feature, FeatureRef, Kind};
use crate::source::Span;
use crate::syntax::ScopedName;

/// The prefix in force, with those of the enclosing scopes and files.
pub(super) struct Prefixes {
    stack: Vec<String>,
    /// Height of the stack at the start of each included file.
    files: Vec<usize>,
}

impl Default for Prefixes {
    fn default() -> Self {
        Prefixes { stack: vec![String::new()], files: Vec::new() }
    }
}

impl Prefixes {
    pub fn enter_file(&mut self) {
        self.files.push(self.stack.len());
        self.stack.push(String::new());
    }

    pub fn leave_file(&mut self) {
        if let Some(height) = self.files.pop() {
            self.stack.truncate(height.max(1));
        }
    }

    pub fn enter_scope(&mut self, name: &str) {
        self.stack.push(self.path(name));
    }

    pub fn leave_scope(&mut self) {
        if self.stack.len() > 1 {
            self.stack.pop();
        }
    }

    pub fn set(&mut self, prefix: &str) {
        if let Some(last) = self.stack.last_mut() {
            prefix.clone_into(last);
        }
    }

    /// What stands between `IDL:` and the version.
    pub fn path(&self, name: &str) -> String {
        match self.stack.last() {
            Some(prefix) if !prefix.is_empty() => format!("{prefix}/{name}"),
            _ => name.to_owned(),
        }
    }
}

/// What can have a repository id.
#[derive(Clone, Copy)]
enum Owner {
    Definition(DefId),
    Feature(FeatureRef),
}

impl Resolver<'_> {
    pub(super) fn pragma(&mut self, pragma: &Pragma) {
        match pragma {
            Pragma::Prefix(prefix) => self.prefixes.set(prefix),
            Pragma::Id { name, id, span } => {
                if let Some(owner) = self.owner(name) {
                    self.set_id(owner, name, id, *span);
                }
            }
            Pragma::Version { name, version, span } => {
                if let Some(owner) = self.owner(name) {
                    self.set_version(owner, name, version, *span);
                }
            }
        }
    }

    pub(super) fn type_id(&mut self, name: &ScopedName, id: &(Rc<str>, Span)) {
        if let Some(owner) = self.owner(name) {
            self.set_id(owner, name, &id.0, id.1);
        }
    }

    pub(super) fn type_prefix(&mut self, name: &ScopedName, prefix: &(Rc<str>, Span)) {
        let Some(Owner::Definition(id)) = self.owner(name) else { return };
        if self.drafts[id.index()].scope.is_none() {
            let message = format!("`{name}` is no scope, so it has no prefix");
            return self.error(name.span, message);
        }
        // Unlike a pragma's, this prefix keeps the names of all enclosing scopes: `omg.org/CORBA/Policy`.
        let path = format!("{}/{}", prefix.0, self.full_path(id));
        self.set_path(id, path.clone());
        if self.drafts[id.index()].scope == Some(self.scope) {
            self.prefixes.set(&path);
        }
        self.drafts[id.index()].type_prefix = Some(path.into());
    }

    /// Names from the outermost scope on, with slashes between.
    fn full_path(&self, id: DefId) -> String {
        let draft = &self.drafts[id.index()];
        match draft.parent {
            Some(parent) => format!("{}/{}", self.full_path(parent), draft.name),
            None => draft.name.to_string(),
        }
    }

    /// Gives a definition and all in it another path.
    fn set_path(&mut self, id: DefId, path: String) {
        let children = self.drafts[id.index()].children.clone();
        for child in children {
            let path = format!("{path}/{}", self.drafts[child.index()].name);
            self.set_path(child, path);
        }
        let draft = &mut self.drafts[id.index()];
        let features = match &mut draft.kind {
            Kind::Interface(it) => &mut it.features[..],
            Kind::ValueType(it) => &mut it.features[..],
            _ => &mut [],
        };
        let given = &draft.given_to_features;
        let is_given = |at: u32| given.get(&at).is_some_and(|given| given.id.is_some());
        for (_, feature) in (0..).zip(features).filter(|(at, _)| !is_given(*at)) {
            let begin = format!("IDL:{path}/{}", feature.name());
            let id = repository_id_mut(feature);
            let version = id.rsplit_once(':').map_or("1.0", |(_, version)| version);
            *id = format!("{begin}:{version}");
        }
        draft.path = path;
    }

    fn owner(&mut self, name: &ScopedName) -> Option<Owner> {
        let entry = self.lookup(name)?;
        match entry.target {
            Target::Definition(id) => Some(Owner::Definition(id)),
            Target::Feature(at) => Some(Owner::Feature(at)),
            _ => {
                self.error(name.span, format!("`{name}` has no repository id that could be set"));
                None
            }
        }
    }

    fn set_id(&mut self, owner: Owner, name: &ScopedName, id: &Rc<str>, span: Span) {
        let known = ["IDL:", "RMI:", "DCE:", "LOCAL:"];
        if !known.iter().any(|format| id.starts_with(format)) {
            let report = Report::warning(span, format!("`{id}` has none of the formats of repository ids"));
            self.sink.push(report.help("one of them is `IDL:Module/Name:1.0`"));
        }
        if self.has_other_id(owner, name, |old| old == &**id, span)
            || self.has_other_version(owner, name, id, span)
        {
            return;
        }
        self.given(owner).id = Some((id.clone(), span));
        if let Owner::Feature(at) = owner {
            self.set_feature_id(at, |_| id.to_string());
        }
    }

    /// What was given of an id so far.
    fn given(&mut self, owner: Owner) -> &mut Given {
        match owner {
            Owner::Definition(id) => &mut self.drafts[id.index()].given,
            Owner::Feature(at) => {
                self.drafts[at.interface.index()].given_to_features.entry(at.index).or_default()
            }
        }
    }

    fn set_version(&mut self, owner: Owner, name: &ScopedName, version: &Rc<str>, span: Span) {
        let end = format!(":{version}");
        if self.has_other_id(owner, name, |old| old.ends_with(&end), span) {
            return;
        }
        let old = self.given(owner).version.clone();
        if let Some((old, first)) = old.filter(|(old, _)| old != version) {
            let message = format!("`{name}` has the version {old} already");
            self.sink.push(Report::error(span, message).note(first, "set here"));
            return;
        }
        self.given(owner).version = Some((version.clone(), span));
        if let Owner::Feature(at) = owner {
            self.set_feature_id(at, |old| match old.rsplit_once(':') {
                Some((start, _)) => format!("{start}:{version}"),
                None => old.to_owned(),
            });
        }
    }

    /// Whether an id was set that does not agree (reported).
    fn has_other_id(
        &mut self,
        owner: Owner,
        name: &ScopedName,
        agrees: impl Fn(&str) -> bool,
        span: Span,
    ) -> bool {
        match self.given(owner).id.clone() {
            Some((old, first)) if !agrees(&old) => {
                let message = format!("`{name}` has the repository id `{old}` already");
                self.sink.push(Report::error(span, message).note(first, "set here"));
                true
            }
            _ => false,
        }
    }

    /// Whether a version was set in which this id does not end (reported).
    fn has_other_version(&mut self, owner: Owner, name: &ScopedName, id: &str, span: Span) -> bool {
        match self.given(owner).version.clone() {
            Some((version, first)) if !id.ends_with(&format!(":{version}")) => {
                let message =
                    format!("`{name}` has the version {version} already, in which `{id}` does not end");
                self.sink.push(Report::error(span, message).note(first, "set here"));
                true
            }
            _ => false,
        }
    }

    fn set_feature_id(&mut self, at: FeatureRef, id: impl FnOnce(&str) -> String) {
        let features = match &mut self.drafts[at.interface.index()].kind {
            Kind::Interface(it) => &mut it.features,
            Kind::ValueType(it) => &mut it.features,
            _ => return,
        };
        if let Some(feature) = features.get_mut(at.index as usize) {
            let slot = repository_id_mut(feature);
            *slot = id(slot);
        }
    }
}

fn repository_id_mut(feature: &mut Feature) -> &mut String {
    match feature {
        Feature::Operation(it) => &mut it.repository_id,
        Feature::Attribute(it) => &mut it.repository_id,
    }
}
