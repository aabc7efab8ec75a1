//! The syntax tree: what the source says, names not resolved yet.

use std::rc::Rc;

use crate::lex::Event;
use crate::model::{Direction, FixedValue, InterfaceKind, Primitive, ValueKind};
use crate::source::Span;

/// A name that is defined, or one part of a name that is used.
#[derive(Clone, Debug)]
pub(crate) struct Ident {
    pub name: Rc<str>,
    pub span: Span,
}

/// `A::B` or `::A::B`; at least one part.
#[derive(Clone, Debug)]
pub(crate) struct ScopedName {
    pub absolute: bool,
    pub parts: Vec<Ident>,
    pub span: Span,
}

impl std::fmt::Display for ScopedName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, part) in self.parts.iter().enumerate() {
            let colons = if index > 0 || self.absolute { "::" } else { "" };
            write!(f, "{colons}{}", part.name)?;
        }
        Ok(())
    }
}

/// Something in a file, module, interface or value type.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub doc: Option<Rc<str>>,
    pub kind: ItemKind,
}

#[derive(Clone, Debug)]
pub(crate) enum ItemKind {
    Event(Event),
    Module(ModuleItem),
    Interface(InterfaceItem),
    ForwardInterface { name: Ident, kind: InterfaceKind },
    Value(ValueItem),
    ForwardValue { name: Ident, is_abstract: bool },
    ValueBox { name: Ident, ty: TypeSpec },
    Typedef { ty: TypeSpec, declarators: Vec<Declarator> },
    Struct(StructItem),
    Union(UnionItem),
    Enum(EnumItem),
    ForwardStruct(Ident),
    ForwardUnion(Ident),
    Native(Ident),
    Constant { ty: TypeSpec, name: Ident, value: Expression },
    Exception(StructItem),
    Operation(OperationItem),
    Attribute(AttributeItem),
    State { public: bool, ty: TypeSpec, declarators: Vec<Declarator> },
    Factory { name: Ident, parameters: Vec<ParameterItem>, raises: Vec<ScopedName> },
    TypeId { name: ScopedName, id: (Rc<str>, Span) },
    TypePrefix { name: ScopedName, prefix: (Rc<str>, Span) },
}

impl ItemKind {
    /// The name under which a definition is found; what belongs to an interface has none here.
    pub fn name(&self) -> Option<&Ident> {
        match self {
            ItemKind::Interface(it) => Some(&it.name),
            ItemKind::Value(it) => Some(&it.name),
            ItemKind::Struct(it) | ItemKind::Exception(it) => Some(&it.name),
            ItemKind::Union(it) => Some(&it.name),
            ItemKind::Enum(it) => Some(&it.name),
            ItemKind::Constant { name, .. } | ItemKind::ValueBox { name, .. } | ItemKind::Native(name) => {
                Some(name)
            }
            ItemKind::Typedef { declarators, .. } => declarators.first().map(|it| &it.name),
            _ => None,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct ModuleItem {
    pub name: Ident,
    pub items: Vec<Item>,
}

#[derive(Clone, Debug)]
pub(crate) struct InterfaceItem {
    pub name: Ident,
    pub kind: InterfaceKind,
    pub bases: Vec<ScopedName>,
    pub items: Vec<Item>,
}

#[derive(Clone, Debug)]
pub(crate) struct ValueItem {
    pub name: Ident,
    pub kind: ValueKind,
    pub truncatable: bool,
    pub bases: Vec<ScopedName>,
    pub supports: Vec<ScopedName>,
    pub items: Vec<Item>,
}

/// A struct or an exception.
#[derive(Clone, Debug)]
pub(crate) struct StructItem {
    pub name: Ident,
    pub members: Vec<MemberItem>,
}

#[derive(Clone, Debug)]
pub(crate) struct MemberItem {
    pub doc: Option<Rc<str>>,
    pub ty: TypeSpec,
    pub declarators: Vec<Declarator>,
}

#[derive(Clone, Debug)]
pub(crate) struct UnionItem {
    pub name: Ident,
    pub discriminator: TypeSpec,
    pub cases: Vec<CaseItem>,
}

#[derive(Clone, Debug)]
pub(crate) struct CaseItem {
    pub doc: Option<Rc<str>>,
    pub labels: Vec<Label>,
    pub ty: TypeSpec,
    pub declarator: Declarator,
}

#[derive(Clone, Debug)]
pub(crate) enum Label {
    Default(Span),
    Value(Expression),
}

#[derive(Clone, Debug)]
pub(crate) struct EnumItem {
    pub name: Ident,
    pub enumerators: Vec<(Option<Rc<str>>, Ident)>,
}

#[derive(Clone, Debug)]
pub(crate) struct OperationItem {
    pub name: Ident,
    pub oneway: Option<Span>,
    /// `None` is `void`.
    pub result: Option<TypeSpec>,
    pub parameters: Vec<ParameterItem>,
    pub raises: Vec<ScopedName>,
    pub context: Vec<(Rc<str>, Span)>,
}

#[derive(Clone, Debug)]
pub(crate) struct ParameterItem {
    pub name: Ident,
    pub direction: Direction,
    pub direction_span: Span,
    pub ty: TypeSpec,
}

#[derive(Clone, Debug)]
pub(crate) struct AttributeItem {
    pub readonly: bool,
    pub ty: TypeSpec,
    pub names: Vec<Ident>,
    pub get_raises: Vec<ScopedName>,
    pub set_raises: Vec<ScopedName>,
}

/// A name with array dimensions, if any.
#[derive(Clone, Debug)]
pub(crate) struct Declarator {
    pub name: Ident,
    pub dimensions: Vec<Expression>,
}

#[derive(Clone, Debug)]
pub(crate) struct TypeSpec {
    pub kind: TypeKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum TypeKind {
    Primitive(Primitive),
    Any,
    Object,
    ValueBase,
    /// `fixed<d, s>`, or plain `fixed` as a constant's type.
    Fixed(Option<Box<(Expression, Expression)>>),
    String(Option<Box<Expression>>),
    WString(Option<Box<Expression>>),
    Sequence(Box<TypeSpec>, Option<Box<Expression>>),
    Named(ScopedName),
    Struct(Box<StructItem>),
    Union(Box<UnionItem>),
    Enum(Box<EnumItem>),
}

#[derive(Clone, Debug)]
pub(crate) struct Expression {
    pub kind: ExpressionKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum ExpressionKind {
    Integer(u64),
    Float(f64),
    Fixed(FixedValue),
    Char(char),
    WideChar(u16),
    String(Rc<str>),
    WideString(Rc<[u16]>),
    Boolean(bool),
    Name(ScopedName),
    /// A literal that has no value (reported).
    Broken,
    Unary(Unary, Box<Expression>),
    Binary(Binary, Box<Expression>, Box<Expression>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unary {
    Plus,
    Minus,
    Complement,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Or,
    Xor,
    And,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}
