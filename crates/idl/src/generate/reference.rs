//! Typed references: what clients call.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::calls::{Argument, Call};
use super::docs::{doc, docs};
use super::scope::Scope;
use super::words::ident;
use crate::model::{DefId, Direction, Interface, InterfaceKind};

impl Scope<'_> {
    /// The reference with a blocking and an asynchronous method for each call, and its conversions.
    pub(super) fn typed_reference(&self, id: DefId, interface: &Interface) -> TokenStream {
        let (rt, model) = (self.rt(), self.g.model);
        let repository_id = &model.get(id).repository_id;
        let name = ident(&self.g.naming.interface(id).reference);
        let calls = self.g.calls(id);
        let methods = calls.iter().zip(0..).map(|(call, index)| self.stub(call, index));
        let docs = doc(&format!("A reference to an object of `{repository_id}`."));
        let (narrow, conversions) = (self.narrow(), self.conversions(&name, interface));
        let coding = self.reference_coding(&name, interface.kind);
        quote! {
            #docs
            #[derive(Clone, Debug, PartialEq)]
            pub struct #name(#rt::ObjectRef);
            impl #name {
                #narrow
                #(#methods)*
            }
            impl #rt::TypedReference for #name {
                const REPOSITORY_ID: &'static str = #repository_id;
                fn from_object(object: #rt::ObjectRef) -> Self { Self(object) }
                fn as_object(&self) -> &#rt::ObjectRef { &self.0 }
            }
            #conversions
            #coding
        }
    }

    fn narrow(&self) -> TokenStream {
        let (rt, option, result) = (self.rt(), self.prelude("Option"), self.prelude("Result"));
        quote! {
            /// The object as one of this interface, or `None` if it is of another. Asks the object itself unless the
            /// reference tells.
            pub fn narrow(
                object: &#rt::ObjectRef,
            ) -> #result<#option<Self>, #rt::SystemException> {
                #rt::TypedReference::narrow(object)
            }
        }
    }

    /// Up to the bases and to `Object`.
    fn conversions(&self, name: &Ident, interface: &Interface) -> TokenStream {
        let (rt, from) = (self.rt(), self.prelude("From"));
        let bases: Vec<_> = interface.ancestors.iter().map(|it| self.reference(*it)).collect();
        quote! {
            #(impl #from<#name> for #bases {
                fn from(reference: #name) -> Self { #rt::TypedReference::from_object(reference.0) }
            })*
            impl #from<#name> for #rt::ObjectRef {
                fn from(reference: #name) -> Self { reference.0 }
            }
        }
    }

    fn stub(&self, call: &Call<'_>, index: u32) -> TokenStream {
        let (rt, wire, index) = (self.rt(), &call.wire, Literal::u32_unsuffixed(index));
        let operation = quote!(#rt::Operation::new(#wire, #index));
        if call.oneway {
            return self.oneway_stub(call, &operation);
        }
        let (blocking, future) = (self.blocking_stub(call, &operation), self.async_stub(call, &operation));
        quote!(#blocking #future)
    }

    fn oneway_stub(&self, call: &Call<'_>, operation: &TokenStream) -> TokenStream {
        let (rt, result) = (self.rt(), self.prelude("Result"));
        let (head, method) = (self.stub_head(call, false), ident(&call.on_reference.0));
        let (parameters, write) = (self.call_parameters(call), self.write_arguments(call));
        quote! {
            #head
            pub fn #method(&self #parameters) -> #result<(), #rt::SystemException> {
                self.0.send_oneway(#operation, #write)
            }
        }
    }

    fn blocking_stub(&self, call: &Call<'_>, operation: &TokenStream) -> TokenStream {
        let (head, method) = (self.stub_head(call, false), ident(&call.on_reference.0));
        let (result, output, error) = (self.prelude("Result"), self.call_output(call), self.call_error(call));
        let parameters = self.call_parameters(call);
        let body = match call.inouts().collect::<Vec<_>>().as_slice() {
            [] => {
                let (write, read) = (self.write_arguments(call), self.read_results(call));
                quote!(self.0.call(#operation, #write, #read))
            }
            inouts => self.inout_call(call, operation, inouts),
        };
        quote! {
            #head
            pub fn #method(&self #parameters) -> #result<#output, #error> { #body }
        }
    }

    /// Marshals when it is called, so that the future borrows nothing.
    fn async_stub(&self, call: &Call<'_>, operation: &TokenStream) -> TokenStream {
        let (head, method) = (self.stub_head(call, true), ident(&call.on_reference.1));
        let (result, error, send) = (self.prelude("Result"), self.call_error(call), self.prelude("Send"));
        let parameters = call.ins().map(|it| {
            let (name, owned) = (&it.name, it.direction == Direction::InOut);
            let ty = if owned { self.ty(it.ty) } else { self.parameter(it.ty) };
            quote!(#name: #ty)
        });
        let types = call.result.into_iter().chain(call.returned().map(|it| it.ty));
        let output = Self::tuple(&types.map(|it| self.ty(it)).collect::<Vec<_>>());
        let (write, read) = (self.write_arguments(call), self.read_results(call));
        quote! {
            #head
            pub fn #method(
                &self #(, #parameters)*
            ) -> impl ::std::future::Future<Output = #result<#output, #error>> + #send + use<> {
                self.0.call_async(#operation, #write, #read)
            }
        }
    }

    fn stub_head(&self, call: &Call<'_>, future: bool) -> TokenStream {
        let method = if future { &call.on_reference.1 } else { &call.on_reference.0 };
        let docs = match future {
            true => doc(&format!("[`{}`](Self::{0}), as a future.", ident(&call.on_reference.0))),
            false => docs(call.doc, &format!("`{}`", call.repository_id)),
        };
        let (results, lints) = (self.result_docs(call, future), self.call_lints(call, method));
        quote!(#docs #results #lints)
    }

    /// The closure that writes the arguments.
    fn write_arguments(&self, call: &Call<'_>) -> TokenStream {
        if call.ins().next().is_none() {
            let ok = self.prelude("Ok");
            return quote!(|_| #ok(()));
        }
        let w = call.local("w");
        let body = self.encode_all(&w, call.ins().map(|it| self.written(it)));
        quote!(|#w| { #body })
    }

    /// An argument as `Encode::encode` takes it.
    fn written(&self, argument: &Argument<'_>) -> TokenStream {
        let name = &argument.name;
        let borrowed = self.parameter(argument.ty).to_string().starts_with('&');
        if borrowed && argument.direction == Direction::In { quote!(#name) } else { quote!(&#name) }
    }

    /// The closure that reads the result, then `inout` and `out` parameters.
    fn read_results(&self, call: &Call<'_>) -> TokenStream {
        let rt = self.rt();
        match call.result.iter().count() + call.returned().count() {
            0 => {
                let ok = self.prelude("Ok");
                quote!(|_| #ok(()))
            }
            1 => quote!(|r| #rt::Decode::decode(r)),
            n => {
                let (ok, reads) =
                    (self.prelude("Ok"), std::iter::repeat_n(quote!(#rt::Decode::decode(r)?), n));
                quote!(|r| #ok((#(#reads),*)))
            }
        }
    }

    /// A call that reads into the caller's variables.
    fn inout_call(&self, call: &Call<'_>, operation: &TokenStream, inouts: &[&Argument<'_>]) -> TokenStream {
        let (w, r) = (call.local("w"), call.local("r"));
        let names: Vec<_> = inouts.iter().map(|it| &it.name).collect();
        let (given, pattern) = match names.as_slice() {
            [only] => (quote!(#only), quote!(#only)),
            all => (quote!(&mut (#(#all),*)), quote!((#(#all),*))),
        };
        let several = names.len() > 1;
        let values = call.ins().map(|it| match it.direction {
            Direction::InOut => {
                let name = &it.name;
                if several { quote!(&**#name) } else { quote!(#name) }
            }
            _ => self.written(it),
        });
        let write = self.encode_all(&w, values);
        let read = self.read_inouts(call, &r, several);
        quote!(self.0.call_inout(#operation, #given, |#pattern, #w| { #write }, |#pattern, #r| { #read }))
    }

    fn read_inouts(&self, call: &Call<'_>, r: &Ident, several: bool) -> TokenStream {
        let (rt, ok, result) = (self.rt(), self.prelude("Ok"), call.local("result"));
        let first = call.result.map(|_| quote!(let #result = #rt::Decode::decode(#r)?;));
        let rest = call.returned().map(|it| {
            let name = &it.name;
            match it.direction {
                Direction::InOut if several => quote!(#rt::Decode::decode_into(*#name, #r)?;),
                Direction::InOut => quote!(#rt::Decode::decode_into(#name, #r)?;),
                _ => quote!(let #name = #rt::Decode::decode(#r)?;),
            }
        });
        let outputs: Vec<_> =
            call.result.map(|_| &result).into_iter().chain(call.outs().map(|it| &it.name)).collect();
        let value = match outputs.as_slice() {
            [only] => quote!(#only),
            all => quote!((#(#all),*)),
        };
        quote!(#first #(#rest)* #ok(#value))
    }

    /// How a reference travels: as an IOR, and for an abstract interface behind a mark that it is no value.
    fn reference_coding(&self, name: &Ident, kind: InterfaceKind) -> TokenStream {
        let _ = (name, kind);
        quote!()
    }
}
