//! Typedefs, structs, exceptions, unions, enums.

use std::rc::Rc;

use super::Resolver;
use super::draft::{State, empty_struct, empty_union};
use super::scope::{ScopeId, ScopeKind, Target};
use crate::diagnostic::Report;
use crate::model::{DefId, Enum, Enumerator, Exception, Kind, Member, Primitive, Type, Typedef, UnionCase};
use crate::syntax::{
    CaseItem, Declarator, EnumItem, Ident, Label, MemberItem, StructItem, TypeSpec, UnionItem,
};

impl Resolver<'_> {
    pub(super) fn typedef(&mut self, doc: Option<&Rc<str>>, ty: &TypeSpec, declarators: &[Declarator]) {
        let ty = self.named_type(ty);
        for declarator in declarators {
            let made = ty.clone().and_then(|ty| self.dimensioned(ty, declarator));
            let broken = made.is_none();
            let ty = made.unwrap_or(Type::Any);
            let (local, constructed, last) =
                (self.is_local(&ty), self.constructed_in(&ty), self.last_typedef(&ty));
            if let Some(id) = self.define(doc, &declarator.name, Kind::Typedef(Typedef { ty, last })) {
                let draft = &mut self.drafts[id.index()];
                (draft.local, draft.constructed) = (local, constructed);
                if broken {
                    draft.state = State::Broken;
                }
            }
        }
    }

    /// `struct S;` or `union U;`
    pub(super) fn forward_constructed(&mut self, doc: Option<&Rc<str>>, name: &Ident, kind: Kind) {
        if self.announced_as(name, &kind).is_some() {
            return;
        }
        self.define_forward(doc, name, kind);
    }

    pub(super) fn structure(&mut self, doc: Option<&Rc<str>>, item: &StructItem) -> Option<DefId> {
        let id = self.begin_constructed(doc, &item.name, empty_struct())?;
        let outer = self.enter_members(id, &item.name);
        let members = self.members(&item.members, id);
        self.leave(outer);
        if let Kind::Struct(it) = &mut self.drafts[id.index()].kind {
            it.members = members;
        }
        self.end_constructed(id);
        Some(id)
    }

    pub(super) fn exception(&mut self, doc: Option<&Rc<str>>, item: &StructItem) {
        let kind = Kind::Exception(Exception { members: Vec::new(), definitions: Vec::new() });
        let Some(id) = self.define(doc, &item.name, kind) else { return };
        let outer = self.enter_members(id, &item.name);
        let members = self.members(&item.members, id);
        self.leave(outer);
        if let Kind::Exception(it) = &mut self.drafts[id.index()].kind {
            it.members = members;
        }
        self.end_constructed(id);
    }

    /// The definition of a struct or union, announced before or not.
    fn begin_constructed(&mut self, doc: Option<&Rc<str>>, name: &Ident, kind: Kind) -> Option<DefId> {
        let announced = self.announced_as(name, &kind);
        match announced.filter(|id| self.drafts[id.index()].is_forward()) {
            Some(id) => {
                self.check_prefix(id, name);
                self.complete_announced(id, doc, name);
                Some(id)
            }
            None => self.define(doc, name, kind),
        }
    }

    /// The struct or union of this name and kind in the current scope, if there is one.
    fn announced_as(&self, name: &Ident, kind: &Kind) -> Option<DefId> {
        let id = self.announced(name)?;
        let known = &self.drafts[id.index()];
        (std::mem::discriminant(&known.kind) == std::mem::discriminant(kind)).then_some(id)
    }

    fn enter_members(&mut self, id: DefId, name: &Ident) -> ScopeId {
        self.drafts[id.index()].state = State::Open;
        let scope = self.scope_of(id, ScopeKind::Members, name);
        self.enter(scope, &name.name)
    }

    fn end_constructed(&mut self, id: DefId) {
        let draft = &mut self.drafts[id.index()];
        if draft.state == State::Open {
            draft.state = State::Complete;
        }
    }

    fn members(&mut self, items: &[MemberItem], owner: DefId) -> Vec<Member> {
        let mut members = Vec::with_capacity(items.len());
        for item in items {
            let ty = self.complete_type(&item.ty);
            for declarator in &item.declarators {
                members.push(self.member(item.doc.as_ref(), ty.clone(), declarator, owner));
            }
        }
        members
    }

    /// One member; a broken type makes its owner broken.
    pub(super) fn member(
        &mut self,
        doc: Option<&Rc<str>>,
        ty: Option<Type>,
        declarator: &Declarator,
        owner: DefId,
    ) -> Member {
        let ty = ty.and_then(|ty| self.dimensioned(ty, declarator));
        let local = ty.as_ref().is_some_and(|ty| self.is_local(ty));
        let draft = &mut self.drafts[owner.index()];
        draft.local |= local;
        if ty.is_none() && matches!(draft.state, State::Open) && !matches!(draft.kind, Kind::ValueType(_)) {
            draft.state = State::Broken;
        }
        self.declare(&declarator.name, Target::Other, "member");
        Member {
            name: declarator.name.name.to_string(),
            doc: doc.map(ToString::to_string),
            origin: self.origin(declarator.name.span),
            ty: ty.unwrap_or(Type::Any),
        }
    }

    pub(super) fn enumeration(&mut self, doc: Option<&Rc<str>>, item: &EnumItem) -> Option<DefId> {
        let enumerators = item.enumerators.iter().map(|(doc, name)| Enumerator {
            name: name.name.to_string(),
            doc: doc.as_ref().map(ToString::to_string),
            origin: self.sources.origin(name.span),
        });
        let enumerators = enumerators.collect();
        let id = self.define(doc, &item.name, Kind::Enum(Enum { enumerators }))?;
        for (index, (_, name)) in (0..).zip(&item.enumerators) {
            self.declare(name, Target::Enumerator { enumeration: id, index }, "enumerator");
        }
        Some(id)
    }

    pub(super) fn union(&mut self, doc: Option<&Rc<str>>, item: &UnionItem) -> Option<DefId> {
        let id = self.begin_constructed(doc, &item.name, empty_union())?;
        let outer = self.enter_members(id, &item.name);
        let discriminator = self.discriminator(&item.discriminator);
        let mut cases = Vec::with_capacity(item.cases.len());
        for case in &item.cases {
            cases.push(self.case(case, discriminator.as_ref(), id));
        }
        let coverage = discriminator.as_ref().and_then(|ty| self.coverage(item, ty, &cases));
        self.leave(outer);
        let draft = &mut self.drafts[id.index()];
        if let Kind::Union(it) = &mut draft.kind {
            it.cases = cases;
            match (discriminator, coverage) {
                (Some(discriminator), Some(coverage)) => {
                    it.discriminator = discriminator;
                    it.coverage = coverage;
                }
                _ => draft.state = State::Broken,
            }
        }
        self.end_constructed(id);
        Some(id)
    }

    fn discriminator(&mut self, spec: &TypeSpec) -> Option<Type> {
        let ty = self.complete_type(spec)?;
        let allowed = match self.unaliased(&ty) {
            Type::Primitive(primitive) => {
                primitive.integer_range().is_some() && *primitive != Primitive::Octet
                    || matches!(primitive, Primitive::Boolean | Primitive::Char)
            }
            Type::Named(id) => matches!(self.drafts[id.index()].kind, Kind::Enum(_)),
            _ => false,
        };
        if allowed {
            return Some(ty);
        }
        let message = format!("a union cannot be switched by `{}`", self.describe(&ty));
        let report = Report::error(spec.span, message);
        self.sink.push(report.help("an integer type, `boolean`, `char` or an enum can stand here"));
        None
    }

    fn case(&mut self, item: &CaseItem, discriminator: Option<&Type>, owner: DefId) -> UnionCase {
        let mut labels = Vec::new();
        let mut is_default = false;
        for label in &item.labels {
            match (label, discriminator) {
                (Label::Default(_), _) => is_default = true,
                (Label::Value(expression), Some(ty)) => match self.evaluate(expression, ty) {
                    Some(value) => labels.push(value),
                    None => self.drafts[owner.index()].state = State::Broken,
                },
                (Label::Value(_), None) => {}
            }
        }
        let ty = self.complete_type(&item.ty);
        let member = self.member(item.doc.as_ref(), ty, &item.declarator, owner);
        UnionCase { labels, is_default, member }
    }
}
