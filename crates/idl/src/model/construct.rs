//! Definitions other than interfaces.

use super::{DefId, Feature, Origin, Parameter, Type, Value};

/// A module, all its openings together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// Contents in declaration order.
    pub definitions: Vec<DefId>,
}

/// A new name for a type.
#[derive(Clone, Debug, PartialEq)]
pub struct Typedef {
    /// The type it names; an array if the declarator has dimensions.
    pub ty: Type,
    /// Where that is the name of another typedef: the last one of the chain, however long it is.
    pub(crate) last: Option<DefId>,
}

/// A member of a struct, exception, union or value type.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// The IDL name.
    pub name: String,
    /// Text of the comment directly before it.
    pub doc: Option<String>,
    /// Where its name stands.
    pub origin: Origin,
    /// Its type; an array if the declarator has dimensions.
    pub ty: Type,
}

/// A struct.
#[derive(Clone, Debug, PartialEq)]
pub struct Struct {
    /// Members in declaration order; never empty.
    pub members: Vec<Member>,
    /// Types declared in place among the members.
    pub definitions: Vec<DefId>,
    /// Whether it contains itself, through sequences.
    pub recursive: bool,
}

/// A user exception.
#[derive(Clone, Debug, PartialEq)]
pub struct Exception {
    /// Members in declaration order; may be empty.
    pub members: Vec<Member>,
    /// Types declared in place among the members.
    pub definitions: Vec<DefId>,
}

/// A discriminated union.
#[derive(Clone, Debug, PartialEq)]
pub struct Union {
    /// An integer type, `boolean`, `char`, `wchar` or an enum; typedefs kept, so look through them.
    pub discriminator: Type,
    /// Cases in declaration order; never empty.
    pub cases: Vec<UnionCase>,
    /// Which discriminator values the labels leave open.
    pub coverage: Coverage,
    /// Types declared in place.
    pub definitions: Vec<DefId>,
    /// Whether it contains itself, through sequences.
    pub recursive: bool,
}

/// One member of a union with the labels that select it.
#[derive(Clone, Debug, PartialEq)]
pub struct UnionCase {
    /// Labels with a value, in declaration order, each converted to the discriminator's type. Empty if the only label
    /// is `default`.
    pub labels: Vec<Value>,
    /// Whether `default:` is among its labels; in at most one case of a union.
    pub is_default: bool,
    /// The member it selects.
    pub member: Member,
}

/// Which discriminator values a union's labels leave open.
#[derive(Clone, Debug, PartialEq)]
pub enum Coverage {
    /// Every value has its label; there is no `default`.
    Exhaustive,
    /// A `default` case takes the values that have no label.
    Explicit {
        /// The least value without a label.
        unlabelled: Value,
        /// How many values have none.
        count: u128,
    },
    /// Values without a label select no member.
    Implicit {
        /// The least value without a label.
        unlabelled: Value,
        /// How many values have none.
        count: u128,
    },
}

/// An enumeration.
#[derive(Clone, Debug, PartialEq)]
pub struct Enum {
    /// In declaration order; the position is the ordinal on the wire.
    pub enumerators: Vec<Enumerator>,
}

/// One name of an enumeration. It lives in the scope that encloses the enum.
#[derive(Clone, Debug, PartialEq)]
pub struct Enumerator {
    /// The IDL name.
    pub name: String,
    /// Text of the comment directly before it.
    pub doc: Option<String>,
    /// Where its name stands.
    pub origin: Origin,
}

/// A constant.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// As declared; typedefs kept. `fixed` constants carry the digits and scale of their value.
    pub ty: Type,
    /// Evaluated, in the range of the type.
    pub value: Value,
}

/// What sort of value type it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueKind {
    /// `valuetype`
    Normal,
    /// `abstract valuetype`: no state.
    Abstract,
    /// `custom valuetype`: marshals itself.
    Custom,
}

/// A value type with a definition.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueType {
    /// Normal, abstract or custom.
    pub kind: ValueKind,
    /// Direct bases, typedefs looked through; the first may be concrete.
    pub bases: Vec<DefId>,
    /// Whether it can be received as its concrete base.
    pub truncatable: bool,
    /// Interfaces it supports.
    pub supports: Vec<DefId>,
    /// Types, constants and exceptions declared inside.
    pub definitions: Vec<DefId>,
    /// State members in declaration order.
    pub state: Vec<StateMember>,
    /// `factory` declarations.
    pub initializers: Vec<Initializer>,
    /// Operations and attributes.
    pub features: Vec<Feature>,
}

/// A state member of a value type.
#[derive(Clone, Debug, PartialEq)]
pub struct StateMember {
    /// `public`, not `private`.
    pub public: bool,
    /// Name and type.
    pub member: Member,
}

/// `factory name(in T a, ..) raises (..);`
#[derive(Clone, Debug, PartialEq)]
pub struct Initializer {
    /// The IDL name.
    pub name: String,
    /// Where its name stands.
    pub origin: Origin,
    /// All of them `in`.
    pub parameters: Vec<Parameter>,
    /// User exceptions.
    pub raises: Vec<DefId>,
}
