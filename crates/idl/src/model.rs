//! The checked model of an IDL specification: what a generator consumes.
//!
//! Everything is resolved: names are [`DefId`]s, expressions are values, inherited operations are listed, repository
//! ids are computed. A [`Model`] exists only for input without errors, so a reader of it has nothing left to check.
//!
//! Definitions lie in one arena in the order in which their names were introduced. [`Model::roots`] and
//! [`Model::children`] give the tree in declaration order; a module that is opened several times is one definition whose
//! children follow each other.

mod construct;
mod interface;
mod signature;
mod types;

use std::path::{Path, PathBuf};

pub use construct::{
    Constant, Coverage, Enum, Enumerator, Exception, Initializer, Member, Module, StateMember, Struct,
    Typedef, Union, UnionCase, ValueKind, ValueType,
};
pub use interface::{
    Attribute, Direction, Feature, FeatureRef, Interface, InterfaceKind, Operation, Parameter,
};
pub use signature::{Signature, SignatureParameter};
pub use types::{FixedValue, Primitive, Type, Value};

/// Index of a definition in its [`Model`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DefId(pub(crate) u32);

impl DefId {
    /// Position in [`Model::definitions`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Index of a source file in its [`Model`]. The main file is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub(crate) u32);

impl FileId {
    /// The file that was given to the compiler.
    pub const MAIN: FileId = FileId(0);

    /// Position in [`Model::files`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Where a definition's name stands in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The file.
    pub file: FileId,
    /// Line, from 1, in the file itself, whatever a `#line` says.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// A file that was read: the main file or an included one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelFile {
    /// The path under which it was opened.
    pub path: PathBuf,
    /// The `#include` that first brought it in; `None` for the main file.
    pub included_from: Option<Origin>,
}

/// One named definition.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// The IDL name, without the underscore of an escaped identifier.
    pub name: String,
    /// The enclosing definition: a module, interface, value type, struct, union or exception. `None` at file level.
    pub parent: Option<DefId>,
    /// For example `IDL:omg.org/CosNaming/NamingContext:1.0`.
    pub repository_id: String,
    /// Text of the comment that stands directly before the definition, comment marks removed.
    pub doc: Option<String>,
    /// Where the name was defined (for a module: where it was first opened).
    pub origin: Origin,
    /// What it is.
    pub kind: Kind,
}

impl Definition {
    /// Whether it stands in the file given to the compiler, not in an included one.
    pub fn is_in_main_file(&self) -> bool {
        self.origin.file == FileId::MAIN
    }
}

/// What a [`Definition`] is.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// `module M { .. };`, all openings together.
    Module(Module),
    /// `interface I { .. };`, also `local` and `abstract` ones.
    Interface(Interface),
    /// One declarator of a `typedef`.
    Typedef(Typedef),
    /// `struct S { .. };`
    Struct(Struct),
    /// `union U switch (T) { .. };`
    Union(Union),
    /// `enum E { .. };`
    Enum(Enum),
    /// `const T N = ..;`
    Constant(Constant),
    /// `exception X { .. };`
    Exception(Exception),
    /// `native N;`
    Native,
    /// `valuetype V { .. };`, also `abstract` and `custom` ones.
    ValueType(ValueType),
    /// `valuetype V T;`: a value box.
    ValueBox(Type),
    /// `interface I;` without a definition in this translation unit (structs and unions are always completed).
    ForwardInterface(InterfaceKind),
    /// `valuetype V;` without a definition in this translation unit.
    ForwardValueType {
        /// Declared as `abstract valuetype V;`
        is_abstract: bool,
    },
}

impl Kind {
    /// What IDL calls it, for messages: `interface`, `struct`, ...
    pub fn noun(&self) -> &'static str {
        match self {
            Kind::Module(_) => "module",
            Kind::Interface(_) | Kind::ForwardInterface(_) => "interface",
            Kind::Typedef(_) => "typedef",
            Kind::Struct(_) => "struct",
            Kind::Union(_) => "union",
            Kind::Enum(_) => "enum",
            Kind::Constant(_) => "constant",
            Kind::Exception(_) => "exception",
            Kind::Native => "native type",
            Kind::ValueType(_) | Kind::ForwardValueType { .. } => "valuetype",
            Kind::ValueBox(_) => "value box",
        }
    }
}

/// A checked specification: the main file with everything it includes.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    pub(crate) definitions: Vec<Definition>,
    pub(crate) roots: Vec<DefId>,
    pub(crate) files: Vec<ModelFile>,
}

impl Model {
    /// All definitions, indexed by [`DefId::index`].
    pub fn definitions(&self) -> &[Definition] {
        &self.definitions
    }

    /// All definitions with their ids.
    pub fn iter(&self) -> impl Iterator<Item = (DefId, &Definition)> {
        (0..).map(DefId).zip(&self.definitions)
    }

    /// The definition with this id. Ids of another model may panic.
    pub fn get(&self, id: DefId) -> &Definition {
        &self.definitions[id.index()]
    }

    /// Definitions at file level, in declaration order, those of included files among them.
    pub fn roots(&self) -> &[DefId] {
        &self.roots
    }

    /// Definitions directly inside a definition, in declaration order: the contents of a module; types, constants and
    /// exceptions in an interface or value type; types declared in place in a struct, union or exception.
    pub fn children(&self, id: DefId) -> &[DefId] {
        match &self.get(id).kind {
            Kind::Module(it) => &it.definitions,
            Kind::Interface(it) => &it.definitions,
            Kind::ValueType(it) => &it.definitions,
            Kind::Struct(it) => &it.definitions,
            Kind::Union(it) => &it.definitions,
            Kind::Exception(it) => &it.definitions,
            _ => &[],
        }
    }

    /// The files that were read, indexed by [`FileId::index`]; the main file first.
    pub fn files(&self) -> &[ModelFile] {
        &self.files
    }

    /// Path of the file given to the compiler.
    pub fn main_path(&self) -> &Path {
        &self.files[0].path
    }

    /// Names from the outermost scope down to the definition itself: `["CosNaming", "NamingContext"]`.
    pub fn path(&self, id: DefId) -> Vec<&str> {
        let mut names = vec![self.get(id).name.as_str()];
        let mut parent = self.get(id).parent;
        while let Some(id) = parent {
            names.push(&self.get(id).name);
            parent = self.get(id).parent;
        }
        names.reverse();
        names
    }

    /// The name as IDL writes it: `CosNaming::NamingContext`.
    pub fn scoped_name(&self, id: DefId) -> String {
        self.path(id).join("::")
    }

    /// Finds a definition by its full name, as in `CosNaming::NamingContext`.
    pub fn find(&self, scoped_name: &str) -> Option<DefId> {
        let mut level = self.roots();
        let mut found = None;
        for part in scoped_name.trim_start_matches("::").split("::") {
            let id = level.iter().copied().find(|id| self.get(*id).name == part)?;
            level = self.children(id);
            found = Some(id);
        }
        found
    }

    /// The type behind typedefs: never a [`Type::Named`] that leads to a typedef.
    pub fn unalias<'m>(&'m self, ty: &'m Type) -> &'m Type {
        let kind = |id: DefId| &self.get(id).kind;
        behind_typedefs(ty, kind)
    }

    /// The interface with this id, if it is one and is defined here.
    pub fn interface(&self, id: DefId) -> Option<&Interface> {
        match &self.get(id).kind {
            Kind::Interface(it) => Some(it),
            _ => None,
        }
    }

    /// All operations and attributes of an interface, inherited ones included, each with the interface that defines it:
    /// own ones first, then those of [`Interface::ancestors`] in that order. Empty for what is no interface.
    pub fn features(&self, interface: DefId) -> impl Iterator<Item = (DefId, &Feature)> {
        let all = self.interface(interface).map_or(&[][..], |it| &it.all_features);
        all.iter().map(|at| (at.interface, self.feature(*at)))
    }

    /// The operation or attribute at this place.
    pub fn feature(&self, at: FeatureRef) -> &Feature {
        let interface = self.interface(at.interface).expect("feature references lead to interfaces");
        &interface.features[at.index as usize]
    }

    /// Whether `derived` is `base` or inherits from it, directly or not.
    pub fn is_a(&self, derived: DefId, base: DefId) -> bool {
        derived == base || self.interface(derived).is_some_and(|it| it.ancestors.contains(&base))
    }
}

/// The type behind typedefs, of definitions that are found by `kind`.
pub(crate) fn behind_typedefs<'m>(ty: &'m Type, kind: impl Fn(DefId) -> &'m Kind) -> &'m Type {
    let Type::Named(id) = ty else { return ty };
    let Kind::Typedef(first) = kind(*id) else { return ty };
    match first.last.map(kind) {
        Some(Kind::Typedef(last)) => &last.ty,
        _ => &first.ty,
    }
}
