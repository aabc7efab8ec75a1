//! The trait that servants implement.

use proc_macro2::TokenStream;
use quote::quote;

use super::calls::Call;
use super::docs::{doc, docs};
use super::scope::Scope;
use super::words::ident;
use crate::model::{DefId, Interface};

impl Scope<'_> {
    /// The trait, with the traits of the bases above it, and what lets an `Arc` of a servant serve as well.
    pub(super) fn servant(&self, id: DefId, interface: &Interface) -> TokenStream {
        let definition = self.g.model.get(id);
        let about = format!("The servant's side of `{}`.", definition.repository_id);
        let docs = docs(definition.doc.as_deref(), &about);
        let name = ident(&self.g.naming.of(id).item);
        let above = match interface.bases.as_slice() {
            [] => {
                let (send, sync) = (self.prelude("Send"), self.prelude("Sync"));
                quote!(#send + #sync + 'static)
            }
            bases => {
                let bases = bases.iter().map(|it| self.item(*it));
                quote!(#(#bases)+*)
            }
        };
        let calls = self.g.own_calls(id);
        let methods = calls.iter().map(|it| self.trait_method(it));
        let (forwarding, parameter) = (calls.iter().map(|it| self.forward(it)), self.type_parameter("S"));
        let sized = self.prelude("Sized");
        quote! {
            #docs
            pub trait #name: #above { #(#methods)* }
            impl<#parameter: #name + ?#sized> #name for ::std::sync::Arc<#parameter> { #(#forwarding)* }
        }
    }

    fn trait_method(&self, call: &Call<'_>) -> TokenStream {
        let docs = docs(call.doc, &format!("`{}`", call.repository_id));
        let results = self.result_docs(call, false);
        let lints = self.call_lints(call, &call.method);
        let signature = self.servant_signature(call);
        quote!(#docs #results #lints #signature;)
    }

    /// Says what is what when a call has several results.
    pub(super) fn result_docs(&self, call: &Call<'_>, with_inouts: bool) -> TokenStream {
        let names = call.returned().filter(|it| with_inouts || call.outs().any(|out| out.name == it.name));
        let names: Vec<_> = names.map(|it| it.name.to_string()).collect();
        if names.is_empty() || (names.len() == 1 && call.result.is_none()) {
            return quote!();
        }
        let result = call.result.map(|_| "result".to_owned());
        let all: Vec<_> = result.into_iter().chain(names).collect();
        let (empty, line) = (doc(""), doc(&format!("Yields `({})`.", all.join(", "))));
        quote!(#empty #line)
    }

    fn servant_signature(&self, call: &Call<'_>) -> TokenStream {
        let (method, parameters) = (ident(&call.method), self.servant_parameters(call));
        if call.oneway {
            return quote!(fn #method(&self #parameters));
        }
        let (result, output, error) = (self.prelude("Result"), self.call_output(call), self.call_error(call));
        quote!(fn #method(&self #parameters) -> #result<#output, #error>)
    }

    fn forward(&self, call: &Call<'_>) -> TokenStream {
        let lints = self.call_lints(call, &call.method);
        let (signature, method) = (self.servant_signature(call), ident(&call.method));
        let arguments = call.ins().map(|it| &it.name);
        quote!(#lints #signature { (**self).#method(#(#arguments),*) })
    }
}
