//! From the syntax tree to the model: names are resolved and every rule is checked on the way.
//!
//! IDL declares before it uses, so one walk in source order does. What is wrong is reported and gets a stand-in, so that
//! the walk goes on; the model it leaves is used only if nothing was wrong.

mod constant;
mod constructed;
mod coverage;
mod draft;
mod fixed;
mod interface;
mod lookup;
mod operation;
mod repository;
mod scope;
mod suggest;
mod types;
mod value;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use crate::diagnostic::{Report, Sink};
use crate::lex::Event;
use crate::model::{DefId, InterfaceKind, Kind, Model, Module, Origin};
use crate::parse::Parsed;
use crate::source::{SourceMap, Span};
use crate::syntax::{Ident, Item, ItemKind, ModuleItem};
use draft::{Draft, Given, State};
use repository::Prefixes;
use scope::{Scope, ScopeId, ScopeKind, Target};

/// Resolves and checks a translation unit. The model means something only if no errors were reported.
pub(crate) fn resolve(parsed: Parsed, incomplete: bool, sources: &SourceMap, sink: &mut Sink) -> Model {
    let mut resolver = Resolver {
        sources,
        sink,
        drafts: Vec::new(),
        roots: Vec::new(),
        scopes: Vec::new(),
        scope: ScopeId::FILE,
        inheritable: HashSet::new(),
        prefixes: Prefixes::default(),
        lost: parsed.lost,
        defined: parsed.defined,
        incomplete,
    };
    resolver.predeclare();
    resolver.items(&parsed.items);
    resolver.finish()
}

struct Resolver<'a> {
    sources: &'a SourceMap,
    sink: &'a mut Sink,
    drafts: Vec<Draft>,
    roots: Vec<DefId>,
    scopes: Vec<Scope>,
    /// The innermost scope.
    scope: ScopeId,
    /// Names that any interface or value type defines, in lower case: only these are worth a look at all bases.
    inheritable: HashSet<Rc<str>>,
    prefixes: Prefixes,
    /// Names in text that the parser had to skip, in lower case.
    lost: HashSet<Rc<str>>,
    /// Where definitions are that may come later in the file.
    defined: HashMap<Rc<str>, Span>,
    /// A file is missing: undefined names are no news.
    incomplete: bool,
}

impl Resolver<'_> {
    /// The scope of the file, and what CORBA declares in every file.
    fn predeclare(&mut self) {
        self.scopes.push(Scope::new(ScopeKind::Module, "", None));
        let corba = self.add_scope(ScopeKind::Module, "CORBA", Some(ScopeId::FILE));
        self.scopes[ScopeId::FILE.index()].insert_built_in("CORBA", Target::CorbaModule(corba));
        self.scopes[corba.index()].insert_built_in("TypeCode", Target::TypeCode);
        self.scopes[corba.index()].insert_built_in("Principal", Target::Principal);
    }

    fn items(&mut self, items: &[Item]) {
        for item in items {
            if self.sink.is_full() {
                return;
            }
            self.item(item);
        }
    }

    /// An item of a file or module, or a type, constant or exception anywhere.
    fn item(&mut self, item: &Item) {
        let doc = item.doc.as_ref();
        match &item.kind {
            ItemKind::Event(event) => self.event(event),
            ItemKind::Module(it) => self.module(doc, it),
            ItemKind::Interface(it) => self.interface(doc, it),
            ItemKind::ForwardInterface { name, kind } => self.forward_interface(doc, name, *kind),
            ItemKind::Value(it) => self.value_type(doc, it),
            ItemKind::ForwardValue { name, is_abstract } => self.forward_value(doc, name, *is_abstract),
            ItemKind::ValueBox { name, ty } => self.value_box(doc, name, ty),
            ItemKind::Typedef { ty, declarators } => self.typedef(doc, ty, declarators),
            ItemKind::Struct(it) => drop(self.structure(doc, it)),
            ItemKind::Union(it) => drop(self.union(doc, it)),
            ItemKind::Enum(it) => drop(self.enumeration(doc, it)),
            ItemKind::ForwardStruct(name) => self.forward_constructed(doc, name, draft::empty_struct()),
            ItemKind::ForwardUnion(name) => self.forward_constructed(doc, name, draft::empty_union()),
            ItemKind::Native(name) => drop(self.define(doc, name, Kind::Native)),
            ItemKind::Constant { ty, name, value } => self.constant(doc, ty, name, value),
            ItemKind::Exception(it) => self.exception(doc, it),
            ItemKind::TypeId { name, id } => self.type_id(name, id),
            ItemKind::TypePrefix { name, prefix } => self.type_prefix(name, prefix),
            // The parser leaves these to interfaces and value types, which handle them before.
            ItemKind::Operation(_)
            | ItemKind::Attribute(_)
            | ItemKind::State { .. }
            | ItemKind::Factory { .. } => {}
        }
    }

    fn event(&mut self, event: &Event) {
        match event {
            Event::EnterFile => self.prefixes.enter_file(),
            Event::LeaveFile => self.prefixes.leave_file(),
            Event::Pragma(pragma) => self.pragma(pragma),
        }
    }

    fn module(&mut self, doc: Option<&Rc<str>>, item: &ModuleItem) {
        let Some((id, scope)) = self.open_module(doc, &item.name) else {
            return;
        };
        let outer = self.enter(scope, &item.name.name);
        if let Some(prefix) = self.drafts[id.index()].type_prefix.clone() {
            self.prefixes.set(&prefix);
        }
        self.items(&item.items);
        self.leave(outer);
    }

    /// The module of this name, new or opened again. `None` if the name means something else (reported).
    fn open_module(&mut self, doc: Option<&Rc<str>>, name: &Ident) -> Option<(DefId, ScopeId)> {
        let known =
            self.scopes[self.scope.index()].get(&name.name).map(|it| (it.name.clone(), it.target.clone()));
        match known {
            Some((spelling, Target::Definition(id))) if spelling == name.name && self.is_module(id) => {
                let draft = &mut self.drafts[id.index()];
                draft.doc = draft.doc.take().or_else(|| doc.cloned());
                Some((id, draft.scope?))
            }
            Some((spelling, Target::CorbaModule(scope))) if spelling == name.name => {
                self.scopes[self.scope.index()].remove(&name.name);
                let id = self.define(doc, name, Kind::Module(Module::default()))?;
                self.drafts[id.index()].scope = Some(scope);
                self.scopes[scope.index()].definition = Some(id);
                self.scopes[scope.index()].span = Some(name.span);
                Some((id, scope))
            }
            _ => {
                let id = self.define(doc, name, Kind::Module(Module::default()))?;
                let scope = self.scope_of(id, ScopeKind::Module, name);
                Some((id, scope))
            }
        }
    }

    fn is_module(&self, id: DefId) -> bool {
        matches!(self.drafts[id.index()].kind, Kind::Module(_))
    }

    fn add_scope(&mut self, kind: ScopeKind, name: &str, parent: Option<ScopeId>) -> ScopeId {
        let id = ScopeId(self.scopes.len() as u32);
        self.scopes.push(Scope::new(kind, name, parent));
        id
    }

    /// A new scope that belongs to a definition.
    fn scope_of(&mut self, id: DefId, kind: ScopeKind, name: &Ident) -> ScopeId {
        let scope = self.add_scope(kind, &name.name, Some(self.scope));
        self.scopes[scope.index()].definition = Some(id);
        self.scopes[scope.index()].span = Some(name.span);
        self.drafts[id.index()].scope = Some(scope);
        scope
    }

    /// Goes into a scope; returns the one to come back to.
    fn enter(&mut self, scope: ScopeId, name: &str) -> ScopeId {
        self.prefixes.enter_scope(name);
        std::mem::replace(&mut self.scope, scope)
    }

    fn leave(&mut self, outer: ScopeId) {
        self.prefixes.leave_scope();
        self.scope = outer;
    }

    /// Adds a definition under a name that must be free. If it is not, that is reported, and the definition is still
    /// checked, but not found by its name.
    fn define(&mut self, doc: Option<&Rc<str>>, name: &Ident, kind: Kind) -> Option<DefId> {
        let id = DefId(self.drafts.len() as u32);
        let noun = kind.noun();
        let origin = self.origin(name.span);
        let parent = self.scopes[self.scope.index()].definition;
        self.drafts.push(Draft {
            name: name.name.clone(),
            span: name.span,
            origin,
            parent,
            doc: doc.cloned(),
            kind,
            state: State::Complete,
            scope: None,
            children: Vec::new(),
            path: self.prefixes.path(&name.name),
            type_prefix: None,
            given: Given::default(),
            given_to_features: BTreeMap::new(),
            local: false,
            recursive: false,
            constructed: None,
        });
        self.adopt(id);
        self.declare(name, Target::Definition(id), noun);
        Some(id)
    }

    /// Puts a definition behind the others of its parent.
    fn adopt(&mut self, id: DefId) {
        let children = match self.drafts[id.index()].parent {
            Some(parent) => &mut self.drafts[parent.index()].children,
            None => &mut self.roots,
        };
        children.push(id);
    }

    /// Moves a definition behind the others: what was announced is now defined.
    fn adopt_again(&mut self, id: DefId) {
        let children = match self.drafts[id.index()].parent {
            Some(parent) => &mut self.drafts[parent.index()].children,
            None => &mut self.roots,
        };
        if let Some(at) = children.iter().rposition(|it| *it == id) {
            children.remove(at);
        }
        children.push(id);
    }

    fn origin(&self, span: Span) -> Origin {
        self.sources.origin(span)
    }

    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.sink.push(Report::error(span, message));
    }

    fn forward_interface(&mut self, doc: Option<&Rc<str>>, name: &Ident, kind: InterfaceKind) {
        if let Some(id) = self.announced(name) {
            self.check_announced_kind(id, name, kind);
            return;
        }
        if let Some(id) = self.define_forward(doc, name, Kind::ForwardInterface(kind)) {
            self.drafts[id.index()].local = kind == InterfaceKind::Local;
        }
    }

    /// Adds a forward declaration, unless its name is taken (reported).
    fn define_forward(&mut self, doc: Option<&Rc<str>>, name: &Ident, kind: Kind) -> Option<DefId> {
        let id = self.define(doc, name, kind)?;
        let found = self.announced(name) == Some(id);
        self.drafts[id.index()].state = if found { State::Forward } else { State::Broken };
        Some(id)
    }
}
