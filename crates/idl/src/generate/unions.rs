//! Unions: enums whose variants carry the value of the selected member.
//!
//! A member with a single label is a variant with just its value. One with several labels, or with `default`, carries
//! the discriminator as well, so that a value that was received can be sent on unchanged. Discriminators that select no
//! member get a variant of their own.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::docs::{doc, docs};
use super::enums::repeats_a_word;
use super::records::derive_list;
use super::scope::Scope;
use super::types::idl_declaration;
use super::words::{Names, camel, ident};
use crate::model::{Coverage, DefId, Primitive, Type, Union, UnionCase, Value};

/// A union as it is about to be generated.
struct Parts<'m> {
    name: Ident,
    union: &'m Union,
    /// For each of the union's cases.
    variants: Vec<Ident>,
    /// For each of them whether its value stands in a box.
    boxed: Vec<bool>,
    /// For discriminators that select no member, if there are any.
    unselected: Option<Ident>,
    discriminator: TokenStream,
}

impl Scope<'_> {
    /// An enum with data and its encoding.
    pub(super) fn union(&self, id: DefId, union: &Union) -> TokenStream {
        let definition = self.g.model.get(id);
        let docs = docs(definition.doc.as_deref(), &format!("`{}`", definition.repository_id));
        let item = &self.g.naming.of(id).item;
        let (names, unselected) = variant_names(union);
        let boxed = self.g.facts.boxed_members(id).to_vec();
        let allow = self.union_lints(item, union, &names, &boxed);
        let parts = Parts {
            name: ident(item),
            union,
            variants: names.iter().map(|it| ident(it)).collect(),
            boxed,
            unselected: unselected.map(|it| ident(&it)),
            discriminator: self.ty(&union.discriminator),
        };
        let derive = derive_list(self.g.facts.derives(id));
        let (variants, accessor) = (self.variants(&parts), self.accessor(&parts));
        let (encode, decode) = (self.union_encode(&parts), self.union_decode(&parts));
        let name = &parts.name;
        quote! {
            #docs
            #allow
            #[derive(#derive)]
            pub enum #name { #variants }
            #accessor
            #encode
            #decode
        }
    }

    fn union_lints(
        &self,
        item: &str,
        union: &Union,
        names: &[String],
        boxed: &[bool],
    ) -> Option<TokenStream> {
        let inside = union.cases.iter().zip(boxed).filter(|(_, boxed)| !**boxed);
        let mut sizes: Vec<_> = inside.map(|(it, _)| self.g.facts.memory_size(&it.member.ty)).collect();
        sizes.push(0);
        sizes.sort_unstable();
        let uneven = sizes.iter().rev().take(2).copied().reduce(usize::saturating_sub).unwrap_or(0) >= 160;
        let large = uneven.then(|| quote!(clippy::large_enum_variant));
        let alike = repeats_a_word(item, names).then(|| quote!(clippy::enum_variant_names));
        let lints: Vec<_> = large.into_iter().chain(alike).collect();
        (!lints.is_empty()).then(|| quote!(#[allow(#(#lints),*)]))
    }

    fn variants(&self, parts: &Parts) -> TokenStream {
        let model = self.g.model;
        let discriminator = &parts.discriminator;
        let cases = parts.union.cases.iter().zip(&parts.variants).zip(&parts.boxed);
        let cases = cases.map(|((case, name), boxed)| {
            let about = format!("`{}`", idl_declaration(model, &case.member.ty, &case.member.name));
            let (docs, ty) =
                (docs(case.member.doc.as_deref(), &about), self.member_type(&case.member, *boxed));
            if single_label(case).is_some() {
                return quote!(#docs #name(#ty),);
            }
            let which = doc(&format!("{}.", self.which_labels(parts.union, case)));
            let value = doc("The member's value.");
            quote!(#docs #name { #which discriminator: #discriminator, #value value: #ty },)
        });
        let unselected = parts.unselected.iter().map(|name| {
            let docs = doc("A discriminator that selects no member.");
            quote!(#docs #name(#discriminator),)
        });
        quote!(#(#cases)* #(#unselected)*)
    }

    /// Which discriminators select a member that has several labels.
    fn which_labels(&self, union: &Union, case: &UnionCase) -> String {
        let labels: Vec<_> = case
            .labels
            .iter()
            .map(|it| format!("`{}`", self.value(&union.discriminator, it).to_string().replace(' ', "")))
            .collect();
        match (case.is_default, labels.as_slice()) {
            (false, _) => format!("One of {}", labels.join(", ")),
            (true, []) => "Any that selects no other member".to_owned(),
            (true, _) => format!("{}, or any that selects no other member", labels.join(", ")),
        }
    }

    fn accessor(&self, parts: &Parts) -> TokenStream {
        let (name, discriminator) = (&parts.name, &parts.discriminator);
        let arms =
            parts.union.cases.iter().zip(&parts.variants).map(|(case, variant)| match single_label(case) {
                Some(label) => {
                    let label = self.value(&parts.union.discriminator, label);
                    quote!(Self::#variant(_) => #label,)
                }
                None => quote!(Self::#variant { discriminator, .. } => *discriminator,),
            });
        let unselected =
            parts.unselected.iter().map(|it| quote!(Self::#it(discriminator) => *discriminator,));
        let idl = self.g.model.type_text(&parts.union.discriminator);
        let docs = doc(&format!("What selects the member: a `{idl}`."));
        quote! {
            impl #name {
                #docs
                pub fn discriminator(&self) -> #discriminator {
                    match self { #(#arms)* #(#unselected)* }
                }
            }
        }
    }

    fn union_encode(&self, parts: &Parts) -> TokenStream {
        let (rt, result, name) = (self.rt(), self.prelude("Result"), &parts.name);
        let arms = parts
            .union
            .cases
            .iter()
            .zip(&parts.variants)
            .map(|(case, variant)| self.encode_arm(parts, case, variant));
        let unselected = parts.unselected.iter().map(|variant| {
            let ok = self.prelude("Ok");
            let labels = self.patterns(parts, parts.union.cases.iter());
            let checked = self.checked(parts, &labels, true, quote!(#ok(())));
            quote!(Self::#variant(discriminator) => #checked,)
        });
        quote! {
            impl #rt::Encode for #name {
                fn encode(&self, w: &mut #rt::Writer<'_>) -> #result<(), #rt::EncodeError> {
                    #rt::Encode::encode(&self.discriminator(), w)?;
                    match self { #(#arms)* #(#unselected)* }
                }
            }
        }
    }

    fn encode_arm(&self, parts: &Parts, case: &UnionCase, variant: &Ident) -> TokenStream {
        let rt = self.rt();
        let write = quote!(#rt::Encode::encode(value, w));
        if single_label(case).is_some() {
            return quote!(Self::#variant(value) => #write,);
        }
        let others = parts.union.cases.iter().filter(|it| !std::ptr::eq(*it, case));
        let labels = match case.is_default {
            true => self.patterns(parts, others),
            false if parts.variants.len() > 1 || parts.unselected.is_some() => self.patterns(parts, [case]),
            false => quote!(),
        };
        if labels.is_empty() {
            return quote!(Self::#variant { value, .. } => #write,);
        }
        let checked = self.checked(parts, &labels, case.is_default, write);
        quote!(Self::#variant { discriminator, value } => #checked,)
    }

    /// The labels of cases as one pattern.
    fn patterns<'u>(&self, parts: &Parts, cases: impl IntoIterator<Item = &'u UnionCase>) -> TokenStream {
        let mut labels: Vec<_> = cases.into_iter().flat_map(|it| &it.labels).collect();
        labels.sort_by_key(|it| position(it));
        let runs =
            labels.chunk_by(|a, b| position(a).is_some() && position(a).map(|it| it + 1) == position(b));
        let patterns = runs.flat_map(|run| match run {
            [first, _, .., last] => {
                let [first, last] = [first, last].map(|it| self.value(&parts.union.discriminator, it));
                vec![quote!(#first..=#last)]
            }
            few => few.iter().map(|it| self.value(&parts.union.discriminator, it)).collect(),
        });
        quote!(#(#patterns)|*)
    }

    /// Writes if the discriminator belongs to the variant: is among the labels, or is not.
    fn checked(&self, parts: &Parts, labels: &TokenStream, exclude: bool, write: TokenStream) -> TokenStream {
        let (rt, err) = (self.rt(), self.prelude("Err"));
        let text = format!("the discriminator of `{}` selects another member", parts.name);
        let refuse = quote!(#err(#rt::EncodeError::Invalid(#text)));
        match exclude {
            true => quote!(match discriminator { #labels => #refuse, _ => #write }),
            false => quote!(match discriminator { #labels => #write, _ => #refuse }),
        }
    }

    fn union_decode(&self, parts: &Parts) -> TokenStream {
        let (rt, result, ok) = (self.rt(), self.prelude("Result"), self.prelude("Ok"));
        let (name, discriminator) = (&parts.name, &parts.discriminator);
        let mut cases: Vec<_> = parts.union.cases.iter().zip(&parts.variants).collect();
        cases.sort_by_key(|(case, _)| case.is_default);
        let arms = cases.into_iter().map(|(case, variant)| self.decode_arm(parts, case, variant));
        let rest = match &parts.unselected {
            Some(variant) => quote!(_ => Self::#variant(discriminator),),
            None => self.decode_impossible(parts),
        };
        let size = self.g.facts.min_size(&parts.union.discriminator);
        let size = proc_macro2::Literal::usize_unsuffixed(size);
        quote! {
            impl<'a> #rt::Decode<'a> for #name {
                const MIN_SIZE: usize = #size;
                fn decode(r: &mut #rt::Reader<'a>) -> #result<Self, #rt::DecodeError> {
                    let discriminator: #discriminator = #rt::Decode::decode(r)?;
                    #ok(match discriminator { #(#arms)* #rest })
                }
            }
        }
    }

    fn decode_arm(&self, parts: &Parts, case: &UnionCase, variant: &Ident) -> TokenStream {
        let rt = self.rt();
        let pattern = if case.is_default { quote!(_) } else { self.patterns(parts, [case]) };
        let read = quote!(#rt::Decode::decode(r)?);
        match single_label(case) {
            Some(_) => quote!(#pattern => Self::#variant(#read),),
            None => quote!(#pattern => Self::#variant { discriminator, value: #read },),
        }
    }

    /// Where all discriminators of IDL have their label, but the type in Rust has more values.
    fn decode_impossible(&self, parts: &Parts) -> TokenStream {
        let ty = self.g.model.unalias(&parts.union.discriminator);
        let wider = matches!(ty, Type::Primitive(Primitive::Char | Primitive::WChar));
        if !wider || !matches!(parts.union.coverage, Coverage::Exhaustive) {
            return quote!();
        }
        let (rt, err) = (self.rt(), self.prelude("Err"));
        let text = format!("the discriminator of `{}` has no label", parts.name);
        quote!(_ => return #err(#rt::DecodeError::Invalid { what: #text }),)
    }
}

/// Where a label lies among others, if several in a row make a range.
fn position(label: &Value) -> Option<i128> {
    match label {
        Value::Integer(n) => Some(*n),
        Value::Char(c) => Some(i128::from(u32::from(*c))),
        _ => None,
    }
}

/// The label of a member that has no other.
fn single_label(case: &UnionCase) -> Option<&Value> {
    match case.labels.as_slice() {
        [label] if !case.is_default => Some(label),
        _ => None,
    }
}

fn variant_names(union: &Union) -> (Vec<String>, Option<String>) {
    let mut names = Names::default();
    let variants = union.cases.iter().map(|it| names.claim(camel(&it.member.name))).collect();
    let implicit = matches!(union.coverage, Coverage::Implicit { .. });
    (variants, implicit.then(|| names.claim("Default".to_owned())))
}
