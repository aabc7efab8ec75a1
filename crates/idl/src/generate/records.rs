//! Structs, and what they share with exceptions.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::docs::docs;
use super::scope::Scope;
use super::traits::Derives;
use super::types::idl_declaration;
use super::words::{claim_all, ident, snake};
use crate::model::{DefId, Member, Struct};

impl Scope<'_> {
    /// A struct with its encoding.
    pub(super) fn structure(&self, id: DefId, structure: &Struct) -> TokenStream {
        let definition = self.g.model.get(id);
        let docs = docs(definition.doc.as_deref(), &format!("`{}`", definition.repository_id));
        let name = ident(&self.g.naming.of(id).item);
        let derive = derive_list(self.g.facts.derives(id));
        let fields = self.fields(id, &structure.members);
        let coding = self.record_coding(&name, &structure.members);
        quote! {
            #docs
            #[derive(#derive)]
            pub struct #name { #fields }
            #coding
        }
    }

    /// Public fields with their documentation.
    pub(super) fn fields(&self, id: DefId, members: &[Member]) -> TokenStream {
        let boxed = self.g.facts.boxed_members(id);
        let fields = members.iter().zip(field_names(members)).zip(boxed).map(|((member, name), boxed)| {
            let about = format!("`{}`", idl_declaration(self.g.model, &member.ty, &member.name));
            let (docs, ty) = (docs(member.doc.as_deref(), &about), self.member_type(member, *boxed));
            quote!(#docs pub #name: #ty)
        });
        quote!(#(#fields),*)
    }

    /// The type of a member, in a box or not.
    pub(super) fn member_type(&self, member: &Member, boxed: bool) -> TokenStream {
        let ty = self.ty(&member.ty);
        if !boxed {
            return ty;
        }
        let boxed = self.prelude("Box");
        quote!(#boxed<#ty>)
    }

    /// `Encode` and `Decode` for a type with named fields.
    pub(super) fn record_coding(&self, name: &Ident, members: &[Member]) -> TokenStream {
        let (rt, result, ok) = (self.rt(), self.prelude("Result"), self.prelude("Ok"));
        let fields = field_names(members);
        let w = ident("w");
        let encode = self.in_sequence(fields.iter().map(|it| self.encode(&quote!(&self.#it), &w)));
        let size = members.iter().map(|it| self.g.facts.min_size(&it.ty)).fold(0, usize::saturating_add);
        let size = Literal::usize_unsuffixed(size);
        let (w, r) = if fields.is_empty() { (quote!(_), quote!(_)) } else { (quote!(w), quote!(r)) };
        let value = match fields.as_slice() {
            [] => quote!(Self),
            _ => quote!(Self { #(#fields: #rt::Decode::decode(r)?),* }),
        };
        quote! {
            impl #rt::Encode for #name {
                fn encode(&self, #w: &mut #rt::Writer<'_>) -> #result<(), #rt::EncodeError> { #encode }
            }
            impl<'a> #rt::Decode<'a> for #name {
                const MIN_SIZE: usize = #size;
                fn decode(#r: &mut #rt::Reader<'a>) -> #result<Self, #rt::DecodeError> { #ok(#value) }
            }
        }
    }

    /// Writes one value to `w`.
    pub(super) fn encode(&self, value: &TokenStream, w: &Ident) -> TokenStream {
        let rt = self.rt();
        quote!(#rt::Encode::encode(#value, #w))
    }

    /// The body of a function that writes several values, the last write as its result.
    pub(super) fn in_sequence(&self, writes: impl IntoIterator<Item = TokenStream>) -> TokenStream {
        let mut writes: Vec<_> = writes.into_iter().collect();
        match writes.pop() {
            Some(last) => quote!(#(#writes?;)* #last),
            None => {
                let ok = self.prelude("Ok");
                quote!(#ok(()))
            }
        }
    }

    /// The same as the body of a closure, which needs braces only around several statements.
    pub(super) fn closure_body(&self, writes: Vec<TokenStream>) -> TokenStream {
        let single = writes.len() < 2;
        let body = self.in_sequence(writes);
        if single { body } else { quote!({ #body }) }
    }
}

/// Field names of members.
pub(super) fn field_names(members: &[Member]) -> Vec<Ident> {
    claim_all(members.iter().map(|it| it.name.as_str()), snake).iter().map(|it| ident(it)).collect()
}

/// `Clone, Debug, PartialEq` and what else is possible.
pub(super) fn derive_list(derives: Derives) -> TokenStream {
    let possible = [
        (derives.copy, quote!(Copy)),
        (true, quote!(Debug)),
        (derives.default, quote!(Default)),
        (true, quote!(PartialEq)),
        (derives.eq, quote!(Eq)),
        (derives.hash, quote!(Hash)),
    ];
    let chosen = possible.into_iter().filter_map(|(can, name)| can.then_some(name));
    quote!(Clone #(, #chosen)*)
}
