//! Operations and attributes.

use std::rc::Rc;

use super::Resolver;
use super::draft::State;
use super::scope::{ScopeKind, Target, a};
use crate::diagnostic::Report;
use crate::model::{
    Attribute, DefId, Direction, Feature, FeatureRef, InterfaceKind, Kind, Operation, Parameter, Type,
};
use crate::source::Span;
use crate::syntax::{AttributeItem, Ident, OperationItem, ParameterItem, ScopedName};

impl Resolver<'_> {
    pub(super) fn operation(&mut self, owner: DefId, doc: Option<&Rc<str>>, item: &OperationItem) {
        let result = item.result.as_ref().map(|spec| {
            let ty = self.complete_type(spec);
            self.check_not_local(owner, ty.as_ref(), spec.span);
            ty.unwrap_or(Type::Any)
        });
        let at = self.next_feature(owner);
        self.declare(&item.name, Target::Feature(at), "operation");
        let repository_id = format!("IDL:{}:1.0", self.prefixes.path(&item.name.name));
        let (parameters, raises) = self.signature(owner, &item.parameters, &item.raises, &item.name);
        self.check_oneway(item);
        let operation = Operation {
            name: item.name.name.to_string(),
            doc: doc.map(ToString::to_string),
            origin: self.origin(item.name.span),
            repository_id,
            oneway: item.oneway.is_some(),
            result,
            parameters,
            raises,
            context: self.context(item),
        };
        self.add_feature(owner, Feature::Operation(operation));
    }

    /// Parameters and exceptions, in a scope of their own.
    pub(super) fn signature(
        &mut self,
        owner: DefId,
        parameters: &[ParameterItem],
        raises: &[ScopedName],
        name: &Ident,
    ) -> (Vec<Parameter>, Vec<DefId>) {
        let scope = self.add_scope(ScopeKind::Operation, &name.name, Some(self.scope));
        self.scopes[scope.index()].span = Some(name.span);
        let outer = self.enter(scope, &name.name);
        let parameters = parameters.iter().map(|it| self.parameter(owner, it)).collect();
        let raises = self.raises(owner, raises);
        self.leave(outer);
        (parameters, raises)
    }

    fn parameter(&mut self, owner: DefId, item: &ParameterItem) -> Parameter {
        let ty = self.complete_type(&item.ty);
        self.check_not_local(owner, ty.as_ref(), item.ty.span);
        self.declare(&item.name, Target::Other, "parameter");
        Parameter {
            name: item.name.name.to_string(),
            origin: self.origin(item.name.span),
            direction: item.direction,
            ty: ty.unwrap_or(Type::Any),
        }
    }

    /// The exceptions of a `raises` clause, each once.
    fn raises(&mut self, owner: DefId, names: &[ScopedName]) -> Vec<DefId> {
        let mut raises = Vec::new();
        for name in names {
            let Some(id) = self.exception_named(name) else { continue };
            if raises.contains(&id) {
                let message = format!("`{name}` stands in this `raises` clause twice");
                self.sink.push(Report::warning(name.span, message));
                continue;
            }
            if self.drafts[id.index()].local && self.is_remote(owner) {
                let message = format!("`{name}` holds a local type and cannot leave its process");
                let report = Report::error(name.span, message);
                self.sink.push(report.help("only a `local interface` can use it"));
            }
            raises.push(id);
        }
        raises
    }

    fn exception_named(&mut self, name: &ScopedName) -> Option<DefId> {
        let (entry, _) = self.lookup_only(name)?;
        if let Target::Definition(id) = entry.target {
            let draft = &self.drafts[id.index()];
            if matches!(draft.kind, Kind::Exception(_)) {
                return (draft.state != State::Broken).then_some(id);
            }
        }
        let message = format!("`{name}` is {}, not an exception", a(entry.noun));
        let mut report = Report::error(name.span, message);
        if let Some(span) = entry.span {
            report = report.note(span, format!("`{}` is defined here", entry.name));
        }
        self.sink.push(report.help("`raises` takes names defined by `exception`"));
        None
    }

    fn check_oneway(&mut self, item: &OperationItem) {
        let Some(oneway) = item.oneway else { return };
        let name = &item.name.name;
        let mut problems: Vec<(Span, String)> = Vec::new();
        if let Some(result) = &item.result {
            problems.push((result.span, format!("oneway operation `{name}` cannot return a result")));
        }
        for parameter in &item.parameters {
            if parameter.direction != Direction::In {
                let word = if parameter.direction == Direction::Out { "out" } else { "inout" };
                let message = format!("oneway operation `{name}` cannot have `{word}` parameters");
                problems.push((parameter.direction_span, message));
            }
        }
        if let Some(first) = item.raises.first() {
            problems.push((first.span, format!("oneway operation `{name}` cannot raise exceptions")));
        }
        for (span, message) in problems {
            let report = Report::error(span, message).note(oneway, "a oneway call has no reply");
            self.sink.push(report);
        }
    }

    fn context(&mut self, item: &OperationItem) -> Vec<String> {
        for (text, span) in &item.context {
            let pattern = text.strip_suffix('*').unwrap_or(text);
            let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_');
            if !pattern.starts_with(|c: char| c.is_ascii_alphabetic()) || !pattern.chars().all(word) {
                self.error(*span, format!("`{text}` is no name of a context property"));
            }
        }
        item.context.iter().map(|(text, _)| text.to_string()).collect()
    }

    pub(super) fn attribute(&mut self, owner: DefId, doc: Option<&Rc<str>>, item: &AttributeItem) {
        let ty = self.complete_type(&item.ty);
        self.check_not_local(owner, ty.as_ref(), item.ty.span);
        let get_raises = self.raises(owner, &item.get_raises);
        let set_raises = self.raises(owner, &item.set_raises);
        for name in &item.names {
            let at = self.next_feature(owner);
            self.declare(name, Target::Feature(at), "attribute");
            let attribute = Attribute {
                name: name.name.to_string(),
                doc: doc.map(ToString::to_string),
                origin: self.origin(name.span),
                repository_id: format!("IDL:{}:1.0", self.prefixes.path(&name.name)),
                readonly: item.readonly,
                ty: ty.clone().unwrap_or(Type::Any),
                get_raises: get_raises.clone(),
                set_raises: set_raises.clone(),
            };
            self.add_feature(owner, Feature::Attribute(attribute));
        }
    }

    fn features(&mut self, owner: DefId) -> Option<&mut Vec<Feature>> {
        match &mut self.drafts[owner.index()].kind {
            Kind::Interface(it) => Some(&mut it.features),
            Kind::ValueType(it) => Some(&mut it.features),
            _ => None,
        }
    }

    fn next_feature(&mut self, owner: DefId) -> FeatureRef {
        let index = self.features(owner).map_or(0, |it| it.len() as u32);
        FeatureRef { interface: owner, index }
    }

    fn add_feature(&mut self, owner: DefId, feature: Feature) {
        if let Some(features) = self.features(owner) {
            features.push(feature);
        }
    }

    /// Whether calls of this interface can leave the process.
    fn is_remote(&self, owner: DefId) -> bool {
        matches!(&self.drafts[owner.index()].kind, Kind::Interface(it) if it.kind != InterfaceKind::Local)
    }

    fn check_not_local(&mut self, owner: DefId, ty: Option<&Type>, span: Span) {
        let Some(ty) = ty.filter(|ty| self.is_local(ty)) else { return };
        if self.is_remote(owner) {
            let message = format!("`{}` is a local type and cannot leave its process", self.describe(ty));
            let name = self.drafts[owner.index()].name.clone();
            let help = format!("interface `{name}` is not local; only a `local interface` can use it");
            self.sink.push(Report::error(span, message).help(help));
        }
    }
}
