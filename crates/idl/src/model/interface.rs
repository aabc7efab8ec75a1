//! Interfaces with their operations and attributes.

use super::{DefId, Origin, Type};

/// What sort of interface it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InterfaceKind {
    /// `interface`
    Normal,
    /// `local interface`: never leaves its process.
    Local,
    /// `abstract interface`: an object or a value.
    Abstract,
}

/// An interface with a definition.
#[derive(Clone, Debug, PartialEq)]
pub struct Interface {
    /// Normal, local or abstract.
    pub kind: InterfaceKind,
    /// Direct bases as written; typedefs looked through. Each is an [`Interface`].
    pub bases: Vec<DefId>,
    /// Every interface it inherits from, once: depth first, bases left to right, without itself and `Object`.
    pub ancestors: Vec<DefId>,
    /// Types, constants and exceptions declared inside, in declaration order.
    pub definitions: Vec<DefId>,
    /// Own operations and attributes, in declaration order.
    pub features: Vec<Feature>,
    /// Own and inherited ones: see [`Model::features`](super::Model::features).
    pub all_features: Vec<FeatureRef>,
}

/// Where an operation or attribute is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FeatureRef {
    /// The interface that defines it.
    pub interface: DefId,
    /// Position in [`Interface::features`].
    pub index: u32,
}

/// An operation or an attribute: what can be called on an object.
#[derive(Clone, Debug, PartialEq)]
pub enum Feature {
    /// An operation.
    Operation(Operation),
    /// One attribute; `attribute long a, b;` is two.
    Attribute(Attribute),
}

impl Feature {
    /// The IDL name, without the underscore of an escaped identifier.
    pub fn name(&self) -> &str {
        match self {
            Feature::Operation(it) => &it.name,
            Feature::Attribute(it) => &it.name,
        }
    }

    /// Text of the comment directly before it.
    pub fn doc(&self) -> Option<&str> {
        match self {
            Feature::Operation(it) => it.doc.as_deref(),
            Feature::Attribute(it) => it.doc.as_deref(),
        }
    }

    /// Where its name stands.
    pub fn origin(&self) -> Origin {
        match self {
            Feature::Operation(it) => it.origin,
            Feature::Attribute(it) => it.origin,
        }
    }
}

/// `T name(..) raises (..);`
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// The IDL name, which is also the name on the wire.
    pub name: String,
    /// Text of the comment directly before it.
    pub doc: Option<String>,
    /// Where its name stands.
    pub origin: Origin,
    /// For example `IDL:Bank/Account/withdraw:1.0`.
    pub repository_id: String,
    /// Sent without a reply: no result, only `in` parameters, no exceptions.
    pub oneway: bool,
    /// `None` is `void`.
    pub result: Option<Type>,
    /// In declaration order.
    pub parameters: Vec<Parameter>,
    /// User exceptions, in the order of the `raises` clause; each a [`Kind::Exception`](super::Kind::Exception).
    pub raises: Vec<DefId>,
    /// Names in the `context` clause.
    pub context: Vec<String>,
}

/// A parameter of an operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The IDL name.
    pub name: String,
    /// Where its name stands.
    pub origin: Origin,
    /// Which way it travels.
    pub direction: Direction,
    /// Its type.
    pub ty: Type,
}

/// Which way a parameter travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From client to server.
    In,
    /// From server to client.
    Out,
    /// Both.
    InOut,
}

/// `attribute T name;`
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// The IDL name; on the wire `_get_name` and, unless read-only, `_set_name`.
    pub name: String,
    /// Text of the comment directly before it.
    pub doc: Option<String>,
    /// Where its name stands.
    pub origin: Origin,
    /// For example `IDL:Bank/Account/balance:1.0`.
    pub repository_id: String,
    /// Without a setter.
    pub readonly: bool,
    /// Its type.
    pub ty: Type,
    /// Exceptions of the getter (`getraises`, or `raises` of a read-only attribute).
    pub get_raises: Vec<DefId>,
    /// Exceptions of the setter.
    pub set_raises: Vec<DefId>,
}
