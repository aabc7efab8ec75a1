//! Enumerations.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::docs::docs;
use super::scope::Scope;
use super::words::ident;
use crate::model::{DefId, Enum};

impl Scope<'_> {
    /// An enum with its encoding: the ordinal as an unsigned long.
    pub(super) fn enumeration(&self, id: DefId, enumeration: &Enum) -> TokenStream {
        let definition = self.g.model.get(id);
        let about = docs(definition.doc.as_deref(), &format!("`{}`", definition.repository_id));
        let item = &self.g.naming.of(id).item;
        let name = ident(item);
        let variants = self.g.naming.enumerators(id);
        let allow = repeats_a_word(item, variants).then(|| quote!(#[allow(clippy::enum_variant_names)]));
        let variants: Vec<_> = variants.iter().map(|it| ident(it)).collect();
        let docs =
            enumeration.enumerators.iter().map(|it| docs(it.doc.as_deref(), &format!("`{}`", it.name)));
        let coding = self.enumeration_coding(&name, &variants);
        quote! {
            #about
            #allow
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub enum #name { #(#docs #variants),* }
            #coding
        }
    }

    fn enumeration_coding(&self, name: &proc_macro2::Ident, variants: &[proc_macro2::Ident]) -> TokenStream {
        let (rt, result, ok, err) =
            (self.rt(), self.prelude("Result"), self.prelude("Ok"), self.prelude("Err"));
        let ordinals = (0..variants.len()).map(Literal::usize_unsuffixed);
        quote! {
            impl #rt::Encode for #name {
                fn encode(&self, w: &mut #rt::Writer<'_>) -> #result<(), #rt::EncodeError> {
                    w.write_u32(*self as u32);
                    #ok(())
                }
            }
            impl<'a> #rt::Decode<'a> for #name {
                const MIN_SIZE: usize = 4;
                fn decode(r: &mut #rt::Reader<'a>) -> #result<Self, #rt::DecodeError> {
                    match r.read_u32()? {
                        #(#ordinals => #ok(Self::#variants),)*
                        value => #err(#rt::DecodeError::InvalidEnum { value }),
                    }
                }
            }
        }
    }
}

/// Whether Clippy would complain of variants that start or end alike or repeat the enum's name. They are named as in
/// the IDL, where enumerators share the scope of their enum and often need a prefix.
pub(super) fn repeats_a_word(item: &str, variants: &[String]) -> bool {
    let words: Vec<_> = variants.iter().map(|it| words(it)).collect();
    let same = |word: fn(&Vec<&str>) -> Option<String>| {
        words.len() >= 3 && words.iter().all(|it| word(it).is_some() && word(it) == word(&words[0]))
    };
    let repeats_item = variants.iter().any(|it| it.starts_with(item) || it.ends_with(item));
    same(|it| it.first().map(|it| (*it).to_owned()))
        || same(|it| it.last().map(|it| (*it).to_owned()))
        || repeats_item
}

/// The words of a name in camel case.
fn words(name: &str) -> Vec<&str> {
    let starts: Vec<_> = name.char_indices().filter(|(_, c)| c.is_uppercase()).map(|(at, _)| at).collect();
    let ends = starts.iter().skip(1).copied().chain([name.len()]);
    starts.iter().zip(ends).map(|(start, end)| &name[*start..end]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_words_are_noticed() {
        let repeats = |item: &str, names: &[&str]| {
            repeats_a_word(item, &names.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>())
        };
        assert!(repeats("Completion", &["CompletedYes", "CompletedNo", "CompletedMaybe"]));
        assert!(repeats("Answer", &["YesSir", "NoSir", "MaybeSir"]));
        assert!(repeats("Colour", &["ColourRed", "Green"]));
        assert!(!repeats("Colour", &["Red", "Green", "Blue"]));
        assert!(!repeats("Pair", &["OneA", "OneB"]));
    }
}
