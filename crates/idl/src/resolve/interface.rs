//! Interfaces: inheritance, and the list of all operations.

use std::collections::HashMap;
use std::rc::Rc;

use super::Resolver;
use super::draft::State;
use super::scope::{ScopeKind, Target, a};
use crate::diagnostic::Report;
use crate::model::{DefId, FeatureRef, Interface, InterfaceKind, Kind};
use crate::syntax::{Ident, InterfaceItem, Item, ItemKind, ScopedName};

impl Resolver<'_> {
    pub(super) fn interface(&mut self, doc: Option<&Rc<str>>, item: &InterfaceItem) {
        let bases = self.bases(item);
        let Some(id) = self.begin_interface(doc, item) else { return };
        let ancestors = self.ancestors(&bases);
        self.check_inherited(item, &ancestors);
        let scope = self.scope_of(id, ScopeKind::Interface, &item.name);
        let base_scopes = bases.iter().filter_map(|base| self.drafts[base.index()].scope).collect();
        self.scopes[scope.index()].bases = base_scopes;
        let (features, all_features) = (Vec::new(), Vec::new());
        let interface =
            Interface { kind: item.kind, bases, ancestors, definitions: Vec::new(), features, all_features };
        let draft = &mut self.drafts[id.index()];
        draft.kind = Kind::Interface(interface);
        draft.state = State::Complete;
        draft.local = item.kind == InterfaceKind::Local;
        let outer = self.enter(scope, &item.name.name);
        for item in &item.items {
            self.export(id, item);
        }
        self.leave(outer);
        self.collect_features(id);
    }

    /// An item of an interface or value type.
    pub(super) fn export(&mut self, owner: DefId, item: &Item) {
        match &item.kind {
            ItemKind::Operation(it) => self.operation(owner, item.doc.as_ref(), it),
            ItemKind::Attribute(it) => self.attribute(owner, item.doc.as_ref(), it),
            _ => self.item(item),
        }
    }

    /// The definition, announced before or not.
    fn begin_interface(&mut self, doc: Option<&Rc<str>>, item: &InterfaceItem) -> Option<DefId> {
        let announced = self.announced(&item.name).filter(|id| self.drafts[id.index()].is_forward());
        let Some(id) =
            announced.filter(|id| matches!(self.drafts[id.index()].kind, Kind::ForwardInterface(_)))
        else {
            return self.define(doc, &item.name, Kind::ForwardInterface(item.kind));
        };
        self.check_announced_kind(id, &item.name, item.kind);
        self.check_prefix(id, &item.name);
        self.complete_announced(id, doc, &item.name);
        Some(id)
    }

    /// The definition of exactly this name in the current scope.
    pub(super) fn announced(&self, name: &Ident) -> Option<DefId> {
        let entry = self.scopes[self.scope.index()].get(&name.name)?;
        match entry.target {
            Target::Definition(id) if entry.name == name.name => {
                let kind = &self.drafts[id.index()].kind;
                let can_be = matches!(
                    kind,
                    Kind::ForwardInterface(_)
                        | Kind::Interface(_)
                        | Kind::ForwardValueType { .. }
                        | Kind::ValueType(_)
                        | Kind::Struct(_)
                        | Kind::Union(_)
                );
                can_be.then_some(id)
            }
            _ => None,
        }
    }

    /// An announced definition gets its place and comment from the definition proper.
    pub(super) fn complete_announced(&mut self, id: DefId, doc: Option<&Rc<str>>, name: &Ident) {
        let origin = self.origin(name.span);
        let draft = &mut self.drafts[id.index()];
        draft.origin = origin;
        draft.span = name.span;
        draft.doc = doc.cloned().or_else(|| draft.doc.take());
        self.adopt_again(id);
    }

    /// `local`, `abstract` or neither must be the same wherever an interface is announced or defined.
    pub(super) fn check_announced_kind(&mut self, id: DefId, name: &Ident, kind: InterfaceKind) {
        let draft = &self.drafts[id.index()];
        let known = match &draft.kind {
            Kind::ForwardInterface(kind) => *kind,
            Kind::Interface(it) => it.kind,
            other => {
                let message = format!("`{}` is defined as {} already", name.name, a(other.noun()));
                self.sink.push(Report::error(name.span, message).note(draft.span, "it is defined here"));
                return;
            }
        };
        if known != kind {
            let message = format!("`{}` is {} here, and {} before", name.name, shown(kind), shown(known));
            let report = Report::error(name.span, message).note(draft.span, "it is declared here");
            self.sink.push(report);
        }
    }

    /// The prefix must not change between announcement and definition: the repository id is given by then.
    pub(super) fn check_prefix(&mut self, id: DefId, name: &Ident) {
        let path = self.prefixes.path(&name.name);
        let draft = &self.drafts[id.index()];
        if draft.path != path {
            let message = format!("`{}` has another prefix here than where it is declared", name.name);
            let report = Report::error(name.span, message)
                .note(draft.span, format!("declared here, as `IDL:{}`", draft.path))
                .help(format!("here it would be `IDL:{path}`; move the `#pragma prefix`"));
            self.sink.push(report);
        }
    }

    /// Direct bases; those that cannot be inherited from are reported and left out.
    fn bases(&mut self, item: &InterfaceItem) -> Vec<DefId> {
        let mut bases = Vec::new();
        for name in &item.bases {
            let Some(base) = self.base(item, name) else { continue };
            if bases.contains(&base) {
                let message = format!("`{name}` stands among the bases of `{}` twice", item.name.name);
                self.error(name.span, message);
                continue;
            }
            bases.push(base);
        }
        bases
    }

    fn base(&mut self, item: &InterfaceItem, name: &ScopedName) -> Option<DefId> {
        let own = &item.name.name;
        if name.parts.len() == 1 && name.parts[0].name == *own && self.is_new_or_forward(&item.name) {
            self.error(name.span, format!("interface `{own}` inherits from itself"));
            return None;
        }
        let base = self.interface_named(name)?;
        let draft = &self.drafts[base.index()];
        let Kind::Interface(found) = &draft.kind else { return None };
        let problem = match (item.kind, found.kind) {
            (InterfaceKind::Abstract, InterfaceKind::Normal | InterfaceKind::Local) => {
                "an abstract interface can inherit from abstract ones only"
            }
            (InterfaceKind::Normal, InterfaceKind::Local) => {
                "only a local interface can inherit from a local one"
            }
            _ => return Some(base),
        };
        let note = format!("`{}` is {}", draft.name, shown(found.kind));
        let report = Report::error(name.span, problem).note(draft.span, note);
        self.sink.push(report);
        None
    }

    fn is_new_or_forward(&self, name: &Ident) -> bool {
        let scope = &self.scopes[self.scope.index()];
        scope.get(&name.name).is_none()
            || self.announced(name).is_some_and(|id| self.drafts[id.index()].is_forward())
    }

    /// An interface that is defined, by name or through typedefs.
    pub(super) fn interface_named(&mut self, name: &ScopedName) -> Option<DefId> {
        let entry = self.lookup(name)?;
        if let Target::Definition(id) = entry.target {
            let ty = crate::model::Type::Named(id);
            if let crate::model::Type::Named(id) = *self.unaliased(&ty) {
                let draft = &self.drafts[id.index()];
                match draft.kind {
                    Kind::Interface(_) => return Some(id),
                    Kind::ForwardInterface(_) => {
                        let message = format!("`{name}` must be defined before it is inherited from");
                        let report = Report::error(name.span, message);
                        self.sink.push(report.note(draft.span, "it is only declared here"));
                        return None;
                    }
                    _ => {}
                }
            }
        }
        let mut report = Report::error(name.span, format!("`{name}` is {}, not an interface", a(entry.noun)));
        if let Some(span) = entry.span {
            report = report.note(span, format!("`{}` is defined here", entry.name));
        }
        self.sink.push(report);
        None
    }

    /// Every interface above these bases, depth first, each once.
    fn ancestors(&self, bases: &[DefId]) -> Vec<DefId> {
        let mut ancestors = Vec::new();
        let mut known = std::collections::HashSet::new();
        for base in bases {
            let Kind::Interface(found) = &self.drafts[base.index()].kind else { continue };
            for id in std::iter::once(base).chain(&found.ancestors) {
                if known.insert(*id) {
                    ancestors.push(*id);
                }
            }
        }
        ancestors
    }

    /// Two ancestors must not bring different operations or attributes of one name.
    fn check_inherited(&mut self, item: &InterfaceItem, ancestors: &[DefId]) {
        if item.bases.len() < 2 {
            return;
        }
        let mut seen: HashMap<String, DefId> = HashMap::new();
        for id in ancestors {
            let Kind::Interface(it) = &self.drafts[id.index()].kind else { continue };
            for feature in &it.features {
                let name = feature.name();
                let Some(first) = seen.insert(name.to_ascii_lowercase(), *id) else { continue };
                let message = format!("`{}` inherits two different `{name}`", item.name.name);
                let mut report = Report::error(item.name.span, message);
                for owner in [first, *id] {
                    let owner = &self.drafts[owner.index()];
                    let entry = owner.scope.and_then(|scope| self.scopes[scope.index()].get(name));
                    if let Some((entry, span)) = entry.and_then(|entry| Some((entry, entry.span?))) {
                        let note = format!("one is {} of `{}`", a(entry.noun), owner.name);
                        report = report.note(span, note);
                    }
                }
                let help = "operations and attributes of all bases must have different names, case aside";
                self.sink.push(report.help(help));
            }
        }
    }

    /// Fills in all operations and attributes: own ones, then those of the ancestors.
    fn collect_features(&mut self, id: DefId) {
        let Kind::Interface(it) = &self.drafts[id.index()].kind else { return };
        let mut all = Vec::new();
        for owner in std::iter::once(&id).chain(&it.ancestors) {
            if let Kind::Interface(it) = &self.drafts[owner.index()].kind {
                all.extend(
                    (0..it.features.len() as u32).map(|index| FeatureRef { interface: *owner, index }),
                );
            }
        }
        if let Kind::Interface(it) = &mut self.drafts[id.index()].kind {
            it.all_features = all;
        }
    }
}

fn shown(kind: InterfaceKind) -> &'static str {
    match kind {
        InterfaceKind::Normal => "an ordinary interface",
        InterfaceKind::Local => "a local interface",
        InterfaceKind::Abstract => "an abstract interface",
    }
}
