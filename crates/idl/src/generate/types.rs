//! Rust types for IDL types.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::scope::Scope;
use crate::model::{DefId, InterfaceKind, Kind, Model, Primitive, Type};

/// How a type is handed to a function that only looks at it.
pub(super) enum Passing<'m> {
    /// By value: numbers, characters, enums.
    Value,
    /// As `&str`.
    Str,
    /// As a slice of its elements.
    Slice(&'m Type),
    /// As an optional borrowed reference.
    Reference,
    /// As `&T`.
    Borrowed,
    /// By value: a local object, which is counted.
    Local,
}

/// Chooses how arguments of a type are passed.
pub(super) fn passing<'m>(model: &'m Model, ty: &'m Type) -> Passing<'m> {
    match model.unalias(ty) {
        Type::Primitive(_) => Passing::Value,
        Type::String { bound: None } => Passing::Str,
        Type::Sequence { element, bound: None } => Passing::Slice(element),
        Type::Object => Passing::Reference,
        Type::Named(id) => match interface_kind(model, *id) {
            Some(InterfaceKind::Local) => Passing::Local,
            Some(_) => Passing::Reference,
            None if matches!(model.get(*id).kind, Kind::Enum(_)) => Passing::Value,
            None => Passing::Borrowed,
        },
        _ => Passing::Borrowed,
    }
}

/// What sort of interface a definition is, if it is one.
pub(super) fn interface_kind(model: &Model, id: DefId) -> Option<InterfaceKind> {
    match &model.get(id).kind {
        Kind::Interface(it) => Some(it.kind),
        Kind::ForwardInterface(kind) => Some(*kind),
        _ => None,
    }
}

/// The type behind typedefs if its sequences are read in place: numbers, `boolean` and `char`.
pub(super) fn is_bulk(model: &Model, ty: &Type) -> bool {
    use Primitive::{LongDouble, WChar};
    matches!(model.unalias(ty), Type::Primitive(it) if !matches!(it, LongDouble | WChar))
}

/// The elements if this is a sequence of numbers without a bound, which can lie in a reply.
pub(super) fn numbers<'m>(model: &'m Model, ty: &'m Type) -> Option<&'m Type> {
    use Primitive::{Boolean, Char};
    match passing(model, ty) {
        Passing::Slice(element) if is_bulk(model, element) => {
            let checked = matches!(model.unalias(element), Type::Primitive(Boolean | Char));
            (!checked).then_some(element)
        }
        _ => None,
    }
}

impl Scope<'_> {
    /// The Rust type that owns values of an IDL type.
    pub(super) fn ty(&self, ty: &Type) -> TokenStream {
        let rt = self.rt();
        match ty {
            Type::Primitive(it) => self.primitive(*it),
            Type::Object => {
                let option = self.prelude("Option");
                quote!(#option<#rt::ObjectRef>)
            }
            Type::String { bound: None } => self.prelude("String"),
            Type::String { bound: Some(n) } => {
                let n = Literal::u32_unsuffixed(*n);
                quote!(#rt::BoundedString<#n>)
            }
            Type::WString { bound: None } => quote!(#rt::WString),
            Type::WString { bound: Some(n) } => {
                let n = Literal::u32_unsuffixed(*n);
                quote!(#rt::BoundedWString<#n>)
            }
            Type::Sequence { element, bound } => self.sequence(element, *bound),
            Type::Array { element, dimensions } => self.array(element, dimensions),
            Type::Named(id) => self.named(*id),
            Type::Any | Type::TypeCode | Type::ValueBase | Type::Fixed { .. } => {
                unreachable!("what cannot be generated has been refused")
            }
        }
    }

    fn primitive(&self, primitive: Primitive) -> TokenStream {
        let rt = self.rt();
        match primitive {
            Primitive::Short => quote!(i16),
            Primitive::Long => quote!(i32),
            Primitive::LongLong => quote!(i64),
            Primitive::UShort => quote!(u16),
            Primitive::ULong => quote!(u32),
            Primitive::ULongLong => quote!(u64),
            Primitive::Float => quote!(f32),
            Primitive::Double => quote!(f64),
            Primitive::LongDouble => quote!(#rt::LongDouble),
            Primitive::Boolean => quote!(bool),
            Primitive::Char => quote!(char),
            Primitive::WChar => quote!(#rt::WChar),
            Primitive::Octet => quote!(u8),
        }
    }

    fn sequence(&self, element: &Type, bound: Option<u32>) -> TokenStream {
        let (rt, element) = (self.rt(), self.ty(element));
        match bound.map(Literal::u32_unsuffixed) {
            Some(bound) => quote!(#rt::BoundedVec<#element, #bound>),
            None => {
                let vec = self.prelude("Vec");
                quote!(#vec<#element>)
            }
        }
    }

    fn array(&self, element: &Type, dimensions: &[u32]) -> TokenStream {
        let levels = self.g.facts.array_levels(element, dimensions);
        levels.into_iter().fold(self.ty(element), |inner, (n, boxed)| {
            let n = Literal::u32_unsuffixed(n);
            match boxed {
                true => {
                    let boxed = self.prelude("Box");
                    quote!(#boxed<[#inner; #n]>)
                }
                false => quote!([#inner; #n]),
            }
        })
    }

    fn named(&self, id: DefId) -> TokenStream {
        let option = self.prelude("Option");
        match interface_kind(self.g.model, id) {
            Some(InterfaceKind::Local) => {
                let local = self.item(id);
                quote!(#option<::std::sync::Arc<dyn #local>>)
            }
            Some(_) => {
                let reference = self.reference(id);
                quote!(#option<#reference>)
            }
            None => self.item(id),
        }
    }

    /// The type of an `in` parameter.
    pub(super) fn parameter(&self, ty: &Type) -> TokenStream {
        let owned = self.ty(ty);
        match passing(self.g.model, ty) {
            Passing::Value | Passing::Local => owned,
            Passing::Str => quote!(&str),
            Passing::Slice(element) => {
                let element = self.ty(element);
                quote!(&[#element])
            }
            Passing::Reference => {
                let (option, target) = (self.prelude("Option"), self.target(ty));
                quote!(#option<&#target>)
            }
            Passing::Borrowed => quote!(&#owned),
        }
    }

    /// The reference type itself, without the `Option` for nil.
    fn target(&self, ty: &Type) -> TokenStream {
        match self.g.model.unalias(ty) {
            Type::Named(id) => self.reference(*id),
            _ => {
                let rt = self.rt();
                quote!(#rt::ObjectRef)
            }
        }
    }
}

/// A declaration as IDL writes it, for documentation: `long cells[2][3]`.
pub(super) fn idl_declaration(model: &Model, ty: &Type, name: &str) -> String {
    let dimensions: String = match ty {
        Type::Array { dimensions, .. } => dimensions.iter().map(|n| format!("[{n}]")).collect(),
        _ => String::new(),
    };
    format!("{} {name}{dimensions}", model.type_text(ty))
}
