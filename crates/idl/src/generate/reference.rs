//! Typed references: what clients call.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::calls::{Argument, Call};
use super::docs::{doc, docs};
use super::scope::Scope;
use super::types::{Passing, passing};
use super::words::ident;
use crate::model::{DefId, Direction, Interface, InterfaceKind};

impl Scope<'_> {
    /// The reference with a blocking and an asynchronous method for each call, and its conversions.
    pub(super) fn typed_reference(&self, id: DefId, interface: &Interface) -> TokenStream {
        let (rt, model) = (self.rt(), self.g.model);
        let repository_id = &model.get(id).repository_id;
        let names = self.g.naming.interface(id);
        let (name, descriptor) = (ident(&names.reference), ident(&names.descriptor));
        let calls = self.g.calls(id);
        let methods = calls.iter().zip(0..).map(|(call, index)| self.stub(call, index));
        // `Decode::decode` alone is for one lifetime of readers only, which Clippy does not see.
        let lint = calls.iter().any(has_one_result).then(|| quote!(#[allow(clippy::redundant_closure)]));
        let docs = doc(&format!("A reference to an object of `{repository_id}`."));
        let (narrow, conversions) = (self.narrow(), self.conversions(&name, interface));
        let coding = self.reference_coding(&name, interface.kind);
        quote! {
            #docs
            #[derive(Clone, Debug, PartialEq, Eq, Hash)]
            pub struct #name(#rt::ObjectRef);
            #lint
            impl #name {
                #narrow
                #(#methods)*
            }
            impl #rt::TypedReference for #name {
                const REPOSITORY_ID: &'static str = #repository_id;
                fn interface() -> &'static #rt::Interface { &#descriptor }
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
                object.narrow()
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

    /// All forms of a call. They are `inline`, so that those which nobody uses are not compiled.
    fn stub(&self, call: &Call<'_>, index: u32) -> TokenStream {
        let (rt, wire, index) = (self.rt(), &call.wire, Literal::u32_unsuffixed(index));
        let operation = quote!(const { #rt::Operation::new(#wire, #index) });
        if call.oneway {
            return self.oneway_stub(call, &operation);
        }
        let (blocking, future) = (self.blocking_stub(call, &operation), self.async_stub(call, &operation));
        let begun = self.begun_stub(call, &operation);
        quote!(#blocking #future #begun)
    }

    fn oneway_stub(&self, call: &Call<'_>, operation: &TokenStream) -> TokenStream {
        let (rt, result) = (self.rt(), self.prelude("Result"));
        let (head, method) = (self.stub_head(call, Form::Blocking), ident(&call.on_reference.0));
        let (parameters, write) = (self.call_parameters(call), self.write_arguments(call));
        quote! {
            #head
            #[inline]
            pub fn #method(&self #parameters) -> #result<(), #rt::SystemException> {
                self.0.send_oneway(#operation, #write)
            }
        }
    }

    fn blocking_stub(&self, call: &Call<'_>, operation: &TokenStream) -> TokenStream {
        let (head, method) = (self.stub_head(call, Form::Blocking), ident(&call.on_reference.0));
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
            #[inline]
            pub fn #method(&self #parameters) -> #result<#output, #error> { #body }
        }
    }

    /// Marshals when it is called, so that the future borrows nothing.
    fn async_stub(&self, call: &Call<'_>, operation: &TokenStream) -> TokenStream {
        let (head, method) = (self.stub_head(call, Form::Future), ident(&call.on_reference.1));
        let (result, error, send) = (self.prelude("Result"), self.call_error(call), self.prelude("Send"));
        let (rt, parameters, output) = (self.rt(), self.given_parameters(call), self.yielded(call));
        let (write, read) = (self.write_arguments(call), self.read_results(call));
        let rewriting = self.rewriting(call).map(|it| quote!(.rewriting(#it)));
        quote! {
            #head
            #[inline]
            pub fn #method(
                &self #parameters
            ) -> impl #rt::AsyncCall<Output = #result<#output, #error>> + #send + use<> {
                self.0.call_async(#operation, #write, #read) #rewriting
            }
        }
    }

    /// As [`async_stub`](Self::async_stub), to be waited for by the same thread.
    fn begun_stub(&self, call: &Call<'_>, operation: &TokenStream) -> TokenStream {
        let (head, method) = (self.stub_head(call, Form::Begun), ident(&call.on_reference.2));
        let (rt, error) = (self.rt(), self.call_error(call));
        let (parameters, output) = (self.given_parameters(call), self.yielded(call));
        let (write, read) = (self.write_arguments(call), self.read_results(call));
        let [some, none] = ["Some", "None"].map(|it| self.prelude(it));
        let rewriting = self.rewriting(call).map_or_else(|| quote!(#none), |it| quote!(#some(#it)));
        quote! {
            #head
            #[inline]
            pub fn #method(&self #parameters) -> #rt::Begun<'_, #output, #error> {
                self.0.begin(#operation, #write, #read, #rewriting)
            }
        }
    }

    /// Parameters of a call whose results come later; of `inout` ones the values.
    fn given_parameters(&self, call: &Call<'_>) -> TokenStream {
        let parameters = call.ins().map(|it| {
            let (name, owned) = (&it.name, it.direction == Direction::InOut);
            let ty = if owned { self.ty(it.ty) } else { self.parameter(it.ty) };
            quote!(#name: #ty)
        });
        quote!(#(, #parameters)*)
    }

    /// The result and all that comes back besides.
    fn yielded(&self, call: &Call<'_>) -> TokenStream {
        let types = call.result.into_iter().chain(call.returned().map(|it| it.ty));
        Self::tuple(&types.map(|it| self.ty(it)).collect::<Vec<_>>())
    }

    /// How arguments are marshaled anew when the caller's are gone.
    fn rewriting(&self, call: &Call<'_>) -> Option<TokenStream> {
        let (rt, types) = (self.rt(), call.ins().map(|it| self.ty(it.ty)));
        let rewrites: Vec<_> = types.map(|ty| quote!(#rt::rewrite::<#ty>)).collect();
        let (last, first) = rewrites.split_last()?;
        Some(match first {
            [] => quote!(#last),
            first => quote!(|r, w| { #(#first(r, w)?;)* #last(r, w) }),
        })
    }

    fn stub_head(&self, call: &Call<'_>, form: Form) -> TokenStream {
        let (blocking, future, begun) = &call.on_reference;
        let (method, docs) = match form {
            Form::Blocking => (blocking, docs(call.doc, &format!("`{}`", call.repository_id))),
            Form::Future => (future, doc(&also(&ident(blocking).to_string(), "as a future"))),
            Form::Begun => {
                let how = "begun now and to be waited for by the same thread";
                (begun, doc(&also(&ident(blocking).to_string(), how)))
            }
        };
        let later = form != Form::Blocking;
        let (results, lints) = (self.result_docs(call, later), self.call_lints(call, method));
        quote!(#docs #results #lints)
    }

    /// The closure that writes the arguments.
    fn write_arguments(&self, call: &Call<'_>) -> TokenStream {
        if call.ins().next().is_none() {
            let ok = self.prelude("Ok");
            return quote!(|_| #ok(()));
        }
        let w = call.local("w");
        let body = self.closure_body(call.ins().map(|it| self.write_argument(it, &w)).collect());
        quote!(|#w| #body)
    }

    /// Writes an argument as it was passed.
    fn write_argument(&self, argument: &Argument<'_>, w: &Ident) -> TokenStream {
        let (rt, name) = (self.rt(), &argument.name);
        if argument.direction == Direction::InOut {
            return self.encode(&quote!(&#name), w);
        }
        match passing(self.g.model, argument.ty) {
            Passing::Reference => quote!(#rt::Nilable::encode_nilable(#name, #w)),
            Passing::Value | Passing::Local => self.encode(&quote!(&#name), w),
            Passing::Str | Passing::Slice(_) | Passing::Borrowed => self.encode(&quote!(#name), w),
        }
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
        let writes = call.ins().map(|it| match it.direction {
            Direction::InOut => {
                let name = &it.name;
                self.encode(&if several { quote!(&**#name) } else { quote!(#name) }, &w)
            }
            _ => self.write_argument(it, &w),
        });
        let write = self.closure_body(writes.collect());
        let write = match (call.ins().count(), several) {
            (1, _) => {
                let rt = self.rt();
                quote!(#rt::Encode::encode)
            }
            _ => quote!(|#pattern, #w| #write),
        };
        let read = self.read_inouts(call, &r, several);
        quote!(self.0.call_inout(#operation, #given, #write, |#pattern, #r| { #read }))
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
        let (rt, option, result) = (self.rt(), self.prelude("Option"), self.prelude("Result"));
        let (encode, decode) = match kind {
            InterfaceKind::Abstract => (self.encode_abstract(), self.decode_abstract()),
            _ => (quote!(#rt::encode_reference(value, w)), quote!(#rt::decode_reference(r))),
        };
        quote! {
            impl #rt::Nilable for #name {
                fn encode_nilable(
                    value: #option<&Self>,
                    w: &mut #rt::Writer<'_>,
                ) -> #result<(), #rt::EncodeError> { #encode }
                fn decode_nilable(
                    r: &mut #rt::Reader<'_>,
                ) -> #result<#option<Self>, #rt::DecodeError> { #decode }
            }
        }
    }

    /// Nil is the nil value.
    fn encode_abstract(&self) -> TokenStream {
        let [ok, some, none] = ["Ok", "Some", "None"].map(|it| self.prelude(it));
        let rt = self.rt();
        quote! {
            w.write_bool(value.is_some());
            match value {
                #some(_) => #rt::encode_reference(value, w),
                #none => {
                    w.write_u32(0);
                    #ok(())
                }
            }
        }
    }

    fn decode_abstract(&self) -> TokenStream {
        let [ok, err, none] = ["Ok", "Err", "None"].map(|it| self.prelude(it));
        let rt = self.rt();
        let what = "a value where an object is supported only";
        quote! {
            if r.read_bool()? {
                return #rt::decode_reference(r);
            }
            match r.read_u32()? {
                0 => #ok(#none),
                _ => #err(#rt::DecodeError::Invalid { what: #what }),
            }
        }
    }
}

fn has_one_result(call: &Call<'_>) -> bool {
    call.result.iter().count() + call.returned().count() == 1
}

/// The ways in which a reference offers a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Blocking,
    Future,
    Begun,
}

/// rustdoc takes the `#` of a raw identifier for the start of a fragment, so those are named without a link.
fn also(blocking: &str, how: &str) -> String {
    match blocking.strip_prefix("r#") {
        Some(bare) => format!("`{bare}`, {how}."),
        None => format!("[`{blocking}`](Self::{blocking}), {how}."),
    }
}
