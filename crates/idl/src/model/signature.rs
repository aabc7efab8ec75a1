//! What can be called on an object: operations, and attributes as the two operations that they are on the wire.

use std::borrow::Cow;

use super::{Attribute, DefId, Direction, Feature, Model, Operation, Type};

/// The name of the parameter that the setter of an attribute has.
const NEW_VALUE: &str = "value";

/// An operation, or one half of an attribute, as it travels.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature<'m> {
    /// The interface that defines it.
    pub owner: DefId,
    /// The operation or attribute.
    pub feature: &'m Feature,
    /// The name in a request: `withdraw`, `_get_balance`, `_set_balance`.
    pub wire_name: Cow<'m, str>,
    /// Of the operation or attribute.
    pub repository_id: &'m str,
    /// Sent without a reply.
    pub oneway: bool,
    /// `None` is `void`.
    pub result: Option<&'m Type>,
    /// In declaration order; the setter of an attribute has one.
    pub parameters: Vec<SignatureParameter<'m>>,
    /// User exceptions.
    pub raises: &'m [DefId],
}

/// A parameter of a [`Signature`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignatureParameter<'m> {
    /// The IDL name; `value` for an attribute's setter.
    pub name: &'m str,
    /// Which way it travels.
    pub direction: Direction,
    /// Its type.
    pub ty: &'m Type,
}

impl<'m> Signature<'m> {
    fn of_operation(owner: DefId, feature: &'m Feature, it: &'m Operation) -> Self {
        let parameters = it.parameters.iter().map(|parameter| SignatureParameter {
            name: &parameter.name,
            direction: parameter.direction,
            ty: &parameter.ty,
        });
        Self {
            owner,
            feature,
            wire_name: Cow::Borrowed(&it.name),
            repository_id: &it.repository_id,
            oneway: it.oneway,
            result: it.result.as_ref(),
            parameters: parameters.collect(),
            raises: &it.raises,
        }
    }

    fn getter(owner: DefId, feature: &'m Feature, it: &'m Attribute) -> Self {
        Self {
            owner,
            feature,
            wire_name: Cow::Owned(format!("_get_{}", it.name)),
            repository_id: &it.repository_id,
            oneway: false,
            result: Some(&it.ty),
            parameters: Vec::new(),
            raises: &it.get_raises,
        }
    }

    fn setter(owner: DefId, feature: &'m Feature, it: &'m Attribute) -> Self {
        let value = SignatureParameter { name: NEW_VALUE, direction: Direction::In, ty: &it.ty };
        Self {
            wire_name: Cow::Owned(format!("_set_{}", it.name)),
            result: None,
            parameters: vec![value],
            raises: &it.set_raises,
            ..Self::getter(owner, feature, it)
        }
    }

    /// Parameters that travel to the server.
    pub fn inputs(&self) -> impl Iterator<Item = &SignatureParameter<'m>> {
        self.parameters.iter().filter(|it| it.direction != Direction::Out)
    }

    /// Parameters that come back, after the result.
    pub fn outputs(&self) -> impl Iterator<Item = &SignatureParameter<'m>> {
        self.parameters.iter().filter(|it| it.direction != Direction::In)
    }
}

impl Model {
    /// Everything that can be called on an object of an interface: own operations and attributes, then inherited ones, an
    /// attribute's getter before its setter. The position of each is its index in the operation table of generated code.
    /// Empty for what is no interface.
    pub fn signatures(&self, interface: DefId) -> Vec<Signature<'_>> {
        let mut all = Vec::new();
        for (owner, feature) in self.features(interface) {
            match feature {
                Feature::Operation(it) => all.push(Signature::of_operation(owner, feature, it)),
                Feature::Attribute(it) => {
                    all.push(Signature::getter(owner, feature, it));
                    if !it.readonly {
                        all.push(Signature::setter(owner, feature, it));
                    }
                }
            }
        }
        all
    }

    /// An operation or attribute as IDL declares it: `long sell(in Item what, out string receipt) raises (SoldOut)`.
    pub fn declaration(&self, feature: &Feature) -> String {
        match feature {
            Feature::Operation(it) => self.operation_declaration(it),
            Feature::Attribute(it) => {
                let readonly = if it.readonly { "readonly " } else { "" };
                format!("{readonly}attribute {} {}", self.type_text(&it.ty), it.name)
            }
        }
    }

    fn operation_declaration(&self, it: &Operation) -> String {
        let parameter = |p: &super::Parameter| {
            let direction = match p.direction {
                Direction::In => "in",
                Direction::Out => "out",
                Direction::InOut => "inout",
            };
            format!("{direction} {} {}", self.type_text(&p.ty), p.name)
        };
        let oneway = if it.oneway { "oneway " } else { "" };
        let result = it.result.as_ref().map_or_else(|| "void".to_owned(), |ty| self.type_text(ty));
        let parameters: Vec<_> = it.parameters.iter().map(parameter).collect();
        let raises: Vec<_> = it.raises.iter().map(|id| self.scoped_name(*id)).collect();
        let raises =
            if raises.is_empty() { String::new() } else { format!(" raises ({})", raises.join(", ")) };
        format!("{oneway}{result} {}({}){raises}", it.name, parameters.join(", "))
    }

    /// A type as IDL writes it; of an array, that of its elements.
    pub fn type_text(&self, ty: &Type) -> String {
        let bounded = |name: &str, bound: &Option<u32>| match bound {
            Some(bound) => format!("{name}<{bound}>"),
            None => name.to_owned(),
        };
        match ty {
            Type::Primitive(it) => it.keyword().to_owned(),
            Type::Any => "any".to_owned(),
            Type::Object => "Object".to_owned(),
            Type::TypeCode => "CORBA::TypeCode".to_owned(),
            Type::ValueBase => "ValueBase".to_owned(),
            Type::Fixed { digits, scale } => format!("fixed<{digits}, {scale}>"),
            Type::String { bound } => bounded("string", bound),
            Type::WString { bound } => bounded("wstring", bound),
            Type::Sequence { element, bound: None } => format!("sequence<{}>", self.type_text(element)),
            Type::Sequence { element, bound: Some(n) } => {
                format!("sequence<{}, {n}>", self.type_text(element))
            }
            Type::Array { element, .. } => self.type_text(element),
            Type::Named(id) => self.scoped_name(*id),
        }
    }
}
