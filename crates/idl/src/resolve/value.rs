//! Value types and value boxes.

use std::rc::Rc;

use super::Resolver;
use super::draft::State;
use super::scope::{ScopeKind, Target, a};
use crate::diagnostic::Report;
use crate::model::{DefId, Initializer, InterfaceKind, Kind, StateMember, Type, ValueKind, ValueType};
use crate::syntax::{Ident, Item, ItemKind, ScopedName, TypeSpec, ValueItem};

impl Resolver<'_> {
    pub(super) fn forward_value(&mut self, doc: Option<&Rc<str>>, name: &Ident, is_abstract: bool) {
        if let Some(id) = self.announced(name) {
            self.check_announced_value(id, name, is_abstract);
            return;
        }
        self.define_forward(doc, name, Kind::ForwardValueType { is_abstract });
    }

    fn check_announced_value(&mut self, id: DefId, name: &Ident, is_abstract: bool) {
        let draft = &self.drafts[id.index()];
        let known = match &draft.kind {
            Kind::ForwardValueType { is_abstract } => *is_abstract,
            Kind::ValueType(it) => it.kind == ValueKind::Abstract,
            other => {
                let message = format!("`{}` is defined as {} already", name.name, a(other.noun()));
                self.sink.push(Report::error(name.span, message).note(draft.span, "it is defined here"));
                return;
            }
        };
        if known != is_abstract {
            let message = format!("valuetype `{}` is declared both abstract and not", name.name);
            self.sink.push(Report::error(name.span, message).note(draft.span, "it is declared here"));
        }
    }

    pub(super) fn value_box(&mut self, doc: Option<&Rc<str>>, name: &Ident, spec: &TypeSpec) {
        let ty = self.complete_type(spec);
        if let Some(Type::Named(id)) = ty.as_ref().map(|ty| self.unaliased(ty))
            && matches!(
                self.drafts[id.index()].kind,
                Kind::ValueType(_) | Kind::ValueBox(_) | Kind::ForwardValueType { .. }
            )
        {
            self.error(spec.span, "a valuetype cannot be boxed again");
        }
        self.define(doc, name, Kind::ValueBox(ty.unwrap_or(Type::Any)));
    }

    pub(super) fn value_type(&mut self, doc: Option<&Rc<str>>, item: &ValueItem) {
        let bases = self.value_bases(item);
        let supports = self.supported(item);
        let Some(id) = self.begin_value(doc, item) else { return };
        let scope = self.scope_of(id, ScopeKind::Interface, &item.name);
        let above =
            bases.iter().chain(&supports).filter_map(|base| self.drafts[base.index()].scope).collect();
        self.scopes[scope.index()].bases = above;
        let value = ValueType {
            kind: item.kind,
            bases,
            truncatable: item.truncatable,
            supports,
            definitions: Vec::new(),
            state: Vec::new(),
            initializers: Vec::new(),
            features: Vec::new(),
        };
        self.drafts[id.index()].kind = Kind::ValueType(value);
        self.drafts[id.index()].state = State::Complete;
        let outer = self.enter(scope, &item.name.name);
        for item in &item.items {
            self.value_element(id, item);
        }
        self.leave(outer);
    }

    fn begin_value(&mut self, doc: Option<&Rc<str>>, item: &ValueItem) -> Option<DefId> {
        let is_abstract = item.kind == ValueKind::Abstract;
        let announced = self.announced(&item.name).filter(|id| self.drafts[id.index()].is_forward());
        let is_value = |id: &DefId| matches!(self.drafts[id.index()].kind, Kind::ForwardValueType { .. });
        let Some(id) = announced.filter(is_value) else {
            return self.define(doc, &item.name, Kind::ForwardValueType { is_abstract });
        };
        self.check_announced_value(id, &item.name, is_abstract);
        self.check_prefix(id, &item.name);
        self.complete_announced(id, doc, &item.name);
        Some(id)
    }

    fn value_bases(&mut self, item: &ValueItem) -> Vec<DefId> {
        let mut bases = Vec::new();
        for (index, name) in item.bases.iter().enumerate() {
            let Some((base, kind)) = self.value_named(name) else { continue };
            let problem = if bases.contains(&base) {
                format!("`{name}` stands among the bases of `{}` twice", item.name.name)
            } else if kind != ValueKind::Abstract && item.kind == ValueKind::Abstract {
                "an abstract valuetype can inherit from abstract ones only".to_owned()
            } else if kind != ValueKind::Abstract && index > 0 {
                format!("`{name}` is not abstract, so it must stand first among the bases")
            } else if item.truncatable && index == 0 && kind == ValueKind::Custom {
                format!("`{name}` is custom, so `{}` cannot be truncated to it", item.name.name)
            } else {
                bases.push(base);
                continue;
            };
            self.error(name.span, problem);
        }
        bases
    }

    fn value_named(&mut self, name: &ScopedName) -> Option<(DefId, ValueKind)> {
        let entry = self.lookup(name)?;
        if let Target::Definition(id) = entry.target
            && let Type::Named(id) = *self.unaliased(&Type::Named(id))
        {
            let draft = &self.drafts[id.index()];
            match &draft.kind {
                Kind::ValueType(it) => return Some((id, it.kind)),
                Kind::ForwardValueType { .. } => {
                    let message = format!("`{name}` must be defined before it is inherited from");
                    let report = Report::error(name.span, message);
                    self.sink.push(report.note(draft.span, "it is only declared here"));
                    return None;
                }
                _ => {}
            }
        }
        let mut report = Report::error(name.span, format!("`{name}` is {}, not a valuetype", a(entry.noun)));
        if let Some(span) = entry.span {
            report = report.note(span, format!("`{}` is defined here", entry.name));
        }
        self.sink.push(report);
        None
    }

    fn supported(&mut self, item: &ValueItem) -> Vec<DefId> {
        let mut supports = Vec::new();
        for (index, name) in item.supports.iter().enumerate() {
            let Some(id) = self.interface_named(name) else { continue };
            let is_abstract = matches!(&self.drafts[id.index()].kind, Kind::Interface(it) if it.kind == InterfaceKind::Abstract);
            if supports.contains(&id) {
                self.error(name.span, format!("`{name}` is supported twice"));
            } else if !is_abstract && index > 0 {
                self.error(
                    name.span,
                    format!("`{name}` is not abstract, so it must be the first one supported"),
                );
            } else {
                supports.push(id);
            }
        }
        supports
    }

    fn value_element(&mut self, owner: DefId, item: &Item) {
        match &item.kind {
            ItemKind::State { public, ty: spec, declarators } => {
                let ty = self.complete_type(spec);
                if ty.as_ref().is_some_and(|ty| self.is_local(ty)) {
                    self.error(spec.span, "the state of a valuetype cannot hold a local type");
                }
                for declarator in declarators {
                    let member = self.member(item.doc.as_ref(), ty.clone(), declarator, owner);
                    if let Kind::ValueType(it) = &mut self.drafts[owner.index()].kind {
                        it.state.push(StateMember { public: *public, member });
                    }
                }
            }
            ItemKind::Factory { name, parameters, raises } => {
                self.declare(name, Target::Other, "factory");
                let (parameters, raises) = self.signature(owner, parameters, raises, name);
                let origin = self.origin(name.span);
                let initializer = Initializer { name: name.name.to_string(), origin, parameters, raises };
                if let Kind::ValueType(it) = &mut self.drafts[owner.index()].kind {
                    it.initializers.push(initializer);
                }
            }
            _ => self.export(owner, item),
        }
    }
}
