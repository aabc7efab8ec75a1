//! Constants and the values of union labels.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::docs::docs;
use super::scope::Scope;
use super::words::ident;
use crate::model::{Constant, DefId, Primitive, Type, Value};

impl Scope<'_> {
    /// `pub const NAME: T = value;`
    pub(super) fn constant(&self, id: DefId, constant: &Constant) -> TokenStream {
        let definition = self.g.model.get(id);
        let about = format!("`const {} {}`", self.g.model.type_text(&constant.ty), definition.name);
        let docs = docs(definition.doc.as_deref(), &about);
        let name = ident(&self.g.naming.of(id).item);
        let (ty, value) = (self.constant_type(&constant.ty), self.value(&constant.ty, &constant.value));
        let allow = near_a_known_constant(&constant.value).then(|| quote!(#[allow(clippy::approx_constant)]));
        quote! {
            #docs
            #allow
            pub const #name: #ty = #value;
        }
    }

    /// Strings own memory as members, but not as constants.
    fn constant_type(&self, ty: &Type) -> TokenStream {
        match self.g.model.unalias(ty) {
            Type::String { .. } | Type::WString { .. } => quote!(&str),
            _ => self.ty(ty),
        }
    }

    /// A value as an expression; those of integers, characters, booleans and enums are patterns as well.
    pub(super) fn value(&self, ty: &Type, value: &Value) -> TokenStream {
        match value {
            Value::Integer(n) => integer(*n),
            Value::Float(x) => self.float(ty, *x),
            Value::Boolean(it) => quote!(#it),
            Value::Char(c) => quote!(#c),
            Value::WChar(unit) => self.wide_char(*unit),
            Value::String(text) => quote!(#text),
            Value::WString(units) => {
                let text = String::from_utf16(units).expect("half of a pair has been refused");
                quote!(#text)
            }
            Value::Enumerator { enumeration, index } => self.enumerator(*enumeration, *index),
            Value::Fixed(_) => unreachable!("what cannot be generated has been refused"),
        }
    }

    fn float(&self, ty: &Type, value: f64) -> TokenStream {
        let sign = value.is_sign_negative().then(|| quote!(-));
        match self.g.model.unalias(ty) {
            Type::Primitive(Primitive::LongDouble) => {
                let rt = self.rt();
                let octets = quadruple(value).into_iter().map(Literal::u8_unsuffixed);
                quote!(#rt::LongDouble([#(#octets),*]))
            }
            // The shortest digits that give this `f32`, not those of the `f64` that holds it.
            Type::Primitive(Primitive::Float) => {
                let digits = digits(value.abs(), &(value as f32).abs());
                quote!(#sign #digits)
            }
            _ => {
                let digits = digits(value.abs(), &value.abs());
                quote!(#sign #digits)
            }
        }
    }

    fn wide_char(&self, unit: u16) -> TokenStream {
        let rt = self.rt();
        let c = char::from_u32(u32::from(unit)).expect("half of a pair has been refused");
        quote!(#rt::WChar(#c))
    }

    fn enumerator(&self, enumeration: DefId, index: u32) -> TokenStream {
        let path = self.item(enumeration);
        let name = ident(&self.g.naming.enumerators(enumeration)[index as usize]);
        quote!(#path::#name)
    }
}

/// An integer literal, or its negation.
pub(super) fn integer(n: i128) -> TokenStream {
    let digits = Literal::u128_unsuffixed(n.unsigned_abs());
    if n < 0 { quote!(-#digits) } else { quote!(#digits) }
}

/// A floating-point literal, with an exponent where one would write one.
fn digits(magnitude: f64, value: &(impl std::fmt::Debug + std::fmt::LowerExp)) -> Literal {
    let far = magnitude != 0.0 && !(1e-5..1e16).contains(&magnitude);
    let text = if far { format!("{value:e}") } else { format!("{value:?}") };
    text.parse().expect("finite numbers print as literals")
}

/// Clippy takes such a number for a constant of the standard library, and refuses it.
fn near_a_known_constant(value: &Value) -> bool {
    use std::f64::consts::*;
    const KNOWN: [f64; 18] = [
        E,
        FRAC_1_PI,
        FRAC_1_SQRT_2,
        FRAC_2_PI,
        FRAC_2_SQRT_PI,
        FRAC_PI_2,
        FRAC_PI_3,
        FRAC_PI_4,
        FRAC_PI_6,
        FRAC_PI_8,
        LN_2,
        LN_10,
        LOG2_10,
        LOG2_E,
        LOG10_2,
        LOG10_E,
        PI,
        SQRT_2,
    ];
    let near =
        |x: f64| KNOWN.iter().chain(&[TAU, 1.618_033_988_749_895]).any(|it| (it - x.abs()).abs() < 0.01);
    matches!(value, Value::Float(x) if near(*x))
}

/// IEEE 754 binary128 with the same value as a binary64, most significant octet first.
fn quadruple(value: f64) -> [u8; 16] {
    let bits = value.to_bits();
    let sign = u128::from(bits >> 63) << 127;
    let fraction = u128::from(bits & ((1 << 52) - 1));
    let exponent = u128::from(bits >> 52 & 0x7FF);
    let magnitude = match (exponent, fraction) {
        (0, 0) => 0,
        // Subnormal here, normal there: the leading one becomes implicit.
        (0, _) => {
            let shift = fraction.leading_zeros() - 75;
            let exponent = 16383 - 1022 - u128::from(shift);
            exponent << 112 | (fraction << shift & ((1 << 52) - 1)) << 60
        }
        _ => (exponent + 16383 - 1023) << 112 | fraction << 60,
    };
    (sign | magnitude).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary128_of_known_values() {
        let octets = |first: &[u8]| {
            let mut all = [0; 16];
            all[..first.len()].copy_from_slice(first);
            all
        };
        assert_eq!(quadruple(0.0), [0; 16]);
        assert_eq!(quadruple(1.0), octets(&[0x3F, 0xFF]));
        assert_eq!(quadruple(-2.5), octets(&[0xC0, 0x00, 0x40]));
        assert_eq!(quadruple(f64::MIN_POSITIVE), octets(&[0x3C, 0x01]));
        assert_eq!(quadruple(f64::MIN_POSITIVE / 2.0), octets(&[0x3C, 0x00]));
        assert_eq!(quadruple(f64::MIN_POSITIVE * 0.75), octets(&[0x3C, 0x00, 0x80]));
    }

    /// So many that to name all of them for each would take most of an hour.
    #[test]
    fn each_of_many_enumerators_has_its_name() {
        let names: Vec<_> = (0..30_000).map(|i| format!("e_{i}")).collect();
        let text = format!("enum E {{ {} }};", names.join(", "));
        let model = crate::compile_text_to_model("e.idl", &text, &crate::Options::default()).unwrap().model;
        let generator = super::super::Generator {
            model: &model,
            naming: super::super::naming::Naming::new(&model),
            facts: super::super::traits::Facts::new(&model),
            externs: Default::default(),
            left_out: Default::default(),
        };
        let (scope, enumeration) = (Scope::new(&generator, Vec::new(), model.roots()), model.roots()[0]);
        for index in 0..30_000 {
            let last = scope.enumerator(enumeration, index).into_iter().last().map(|it| it.to_string());
            assert_eq!(last, Some(format!("E{index}")));
        }
    }

    #[test]
    fn integers_of_both_signs() {
        assert_eq!(integer(7).to_string(), "7");
        assert_eq!(integer(i128::from(i64::MIN)).to_string().replace(' ', ""), "-9223372036854775808");
    }
}
