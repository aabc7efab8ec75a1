//! Definitions while they are put together, and the model made of them.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::Resolver;
use super::scope::ScopeId;
use super::types::Gap;
use crate::diagnostic::Report;
use crate::model::{
    Coverage, DefId, Definition, FileId, Kind, Model, ModelFile, Origin, Primitive, Struct, Type, Union,
};
use crate::source::Span;

/// How far a definition has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Announced.
    Forward,
    /// Its members are being read.
    Open,
    Complete,
    /// Something in it is wrong; uses are not worth a message.
    Broken,
}

/// A definition in the making.
pub(super) struct Draft {
    pub name: Rc<str>,
    pub span: Span,
    pub origin: Origin,
    pub parent: Option<DefId>,
    pub doc: Option<Rc<str>>,
    pub kind: Kind,
    pub state: State,
    pub scope: Option<ScopeId>,
    pub children: Vec<DefId>,
    /// Prefix and names, for the repository id.
    pub path: String,
    /// The path that `typeprefix` gave it.
    pub type_prefix: Option<Rc<str>>,
    pub given: Given,
    /// As `given`, of its operations and attributes.
    pub given_to_features: BTreeMap<u32, Given>,
    /// Contains a local interface, so that it never leaves its process.
    pub local: bool,
    /// Contains itself.
    pub recursive: bool,
    /// The struct or union that a typedef leads to, in whatever chain.
    pub constructed: Option<Gap>,
}

/// What was given of a repository id, and where.
#[derive(Default)]
pub(super) struct Given {
    pub id: Option<(Rc<str>, Span)>,
    pub version: Option<(Rc<str>, Span)>,
}

impl Draft {
    fn repository_id(&self) -> String {
        match (&self.given.id, &self.given.version) {
            (Some((id, _)), _) => id.to_string(),
            (None, Some((version, _))) => format!("IDL:{}:{version}", self.path),
            (None, None) => format!("IDL:{}:1.0", self.path),
        }
    }
}

pub(super) fn empty_struct() -> Kind {
    Kind::Struct(Struct { members: Vec::new(), definitions: Vec::new(), recursive: false })
}

pub(super) fn empty_union() -> Kind {
    Kind::Union(Union {
        discriminator: Type::Primitive(Primitive::Long),
        cases: Vec::new(),
        coverage: Coverage::Exhaustive,
        definitions: Vec::new(),
        recursive: false,
    })
}

impl Resolver<'_> {
    /// Checks what only the end can show, and makes the model.
    pub(super) fn finish(mut self) -> Model {
        self.report_unfinished();
        let sources = self.sources;
        let files = sources.files().iter().map(|file| ModelFile {
            path: file.path.clone(),
            included_from: file.included_from.map(|span| sources.origin(span)),
        });
        let files = files.collect();
        let definitions = self.drafts.into_iter().map(into_definition).collect();
        Model { definitions, roots: self.roots, files }
    }

    fn report_unfinished(&mut self) {
        for draft in &self.drafts {
            if draft.state != State::Forward {
                continue;
            }
            let noun = draft.kind.noun();
            let message = format!("{noun} `{}` is declared, but never defined", draft.name);
            let report = match draft.kind {
                Kind::Struct(_) | Kind::Union(_) => Report::error(draft.span, message),
                // Fine as long as only references to it travel; still, a file may be missing.
                _ if self.incomplete || draft.span.file != FileId::MAIN => continue,
                _ => Report::warning(draft.span, message),
            };
            self.sink.push(report);
        }
    }
}

fn into_definition(draft: Draft) -> Definition {
    let repository_id = draft.repository_id();
    let mut kind = draft.kind;
    let children = draft.children;
    match &mut kind {
        Kind::Module(it) => it.definitions = children,
        Kind::Interface(it) => it.definitions = children,
        Kind::ValueType(it) => it.definitions = children,
        Kind::Exception(it) => it.definitions = children,
        Kind::Struct(it) => {
            it.definitions = children;
            it.recursive = draft.recursive;
        }
        Kind::Union(it) => {
            it.definitions = children;
            it.recursive = draft.recursive;
        }
        _ => {}
    }
    Definition {
        name: draft.name.to_string(),
        parent: draft.parent,
        repository_id,
        doc: draft.doc.map(|it| it.to_string()),
        origin: draft.origin,
        kind,
    }
}
