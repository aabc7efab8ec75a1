//! Exceptions, and what an operation can fail with.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::calls::Call;
use super::docs::{doc, docs};
use super::records::field_names;
use super::scope::Scope;
use super::words::{Names, ident};
use crate::model::{DefId, Exception, Type};

/// Clippy's limit for the failing side of a `Result`.
const LARGE_ERROR: usize = 120;

impl Scope<'_> {
    /// A user exception.
    pub(super) fn exception(&self, id: DefId, exception: &Exception) -> TokenStream {
        let definition = self.g.model.get(id);
        let repository_id = &definition.repository_id;
        let docs = docs(definition.doc.as_deref(), &format!("`{repository_id}`"));
        let (rt, name) = (self.rt(), ident(&self.g.naming.of(id).item));
        let body = match exception.members.as_slice() {
            [] => quote!(;),
            members => {
                let fields = self.fields(id, members);
                quote!({ #fields })
            }
        };
        let coding = self.record_coding(&name, &exception.members);
        let display = self.exception_display(id, &name, exception);
        quote! {
            #docs
            #[derive(Clone, Debug, PartialEq)]
            pub struct #name #body
            #coding
            impl #rt::UserException for #name {
                const REPOSITORY_ID: &'static str = #repository_id;
            }
            #display
        }
    }

    /// `Display` with the IDL name and the members; `Error`.
    fn exception_display(&self, id: DefId, name: &Ident, exception: &Exception) -> TokenStream {
        let scoped = self.g.model.scoped_name(id);
        let fields = field_names(&exception.members);
        let write = match fields.as_slice() {
            [] => quote!(f.write_str(#scoped)),
            _ => {
                let names = exception.members.iter().map(|it| it.name.as_str());
                quote!(f.debug_struct(#scoped) #(.field(#names, &self.#fields))*.finish())
            }
        };
        quote! {
            impl ::std::fmt::Display for #name {
                fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result { #write }
            }
            impl ::std::error::Error for #name {}
        }
    }

    /// The error enum of an operation that raises exceptions.
    pub(super) fn operation_error(&self, call: &Call<'_>) -> Option<TokenStream> {
        let name = ident(call.error.as_ref()?);
        let rt = self.rt();
        let exceptions: Vec<_> = call.raises.iter().map(|id| self.item(*id)).collect();
        let variants = self.error_variants(call.raises);
        let docs = doc(&format!("What `{}` can fail with.", call.idl_name(self.g.model)));
        let abouts = call.raises.iter().map(|id| doc(&format!("`{}`", self.g.model.get(*id).repository_id)));
        let large = self.has_large_error(call).then(|| quote!(#[allow(clippy::large_enum_variant)]));
        let (conversions, operation) = (
            self.error_conversions(&name, &variants, &exceptions),
            self.error_coding(&name, &variants, call.raises),
        );
        Some(quote! {
            #docs
            #large
            #[derive(Clone, Debug, PartialEq)]
            pub enum #name {
                #(#abouts #variants(#exceptions),)*
                /// The call did not reach the object, or came to no regular end.
                System(#rt::SystemException),
            }
            #conversions
            #operation
        })
    }

    /// Whether Clippy finds the exceptions of a call large enough to warn of them.
    pub(super) fn has_large_error(&self, call: &Call<'_>) -> bool {
        call.raises.iter().any(|id| self.g.facts.memory_size(&Type::Named(*id)) >= LARGE_ERROR)
    }

    fn error_variants(&self, raises: &[DefId]) -> Vec<Ident> {
        let mut names = Names::default();
        names.reserve(["System"]);
        raises.iter().map(|id| ident(&names.claim(self.g.naming.of(*id).item.clone()))).collect()
    }

    fn error_conversions(&self, name: &Ident, variants: &[Ident], exceptions: &[TokenStream]) -> TokenStream {
        let (rt, from) = (self.rt(), self.prelude("From"));
        quote! {
            #(impl #from<#exceptions> for #name {
                fn from(exception: #exceptions) -> Self { Self::#variants(exception) }
            })*
            impl #from<#rt::SystemException> for #name {
                fn from(exception: #rt::SystemException) -> Self { Self::System(exception) }
            }
            impl ::std::fmt::Display for #name {
                fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                    match self {
                        #(Self::#variants(exception) => ::std::fmt::Display::fmt(exception, f),)*
                        Self::System(exception) => ::std::fmt::Display::fmt(exception, f),
                    }
                }
            }
            impl ::std::error::Error for #name {}
        }
    }

    /// How exceptions are told apart on the wire: by their repository ids.
    fn error_coding(&self, name: &Ident, variants: &[Ident], raises: &[DefId]) -> TokenStream {
        let [option, result, some, none, err] =
            ["Option", "Result", "Some", "None", "Err"].map(|it| self.prelude(it));
        let rt = self.rt();
        let ids: Vec<_> = raises.iter().map(|id| &self.g.model.get(*id).repository_id).collect();
        quote! {
            impl #rt::OperationError for #name {
                fn decode_user(
                    id: &str,
                    r: &mut #rt::Reader<'_>,
                ) -> #option<#result<Self, #rt::DecodeError>> {
                    match id {
                        #(#ids => #some(#rt::Decode::decode(r).map(Self::#variants)),)*
                        _ => #none,
                    }
                }
                fn raise(self, call: &mut #rt::ServerCall<'_>) -> #rt::Dispatched {
                    match self {
                        #(Self::#variants(exception) => call.raise(&exception),)*
                        Self::System(exception) => #err(exception),
                    }
                }
            }
        }
    }
}
