//! Skeletons: from a request's arguments to a servant's method and back.
//!
//! There is one function per call in a module beside the interface; derived interfaces use those of their bases.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::calls::{Argument, Call};
use super::docs::doc;
use super::scope::Scope;
use super::types::{Passing, is_bulk, passing};
use super::words::ident;
use crate::model::{DefId, Direction};

impl Scope<'_> {
    /// The wrapper that an adapter serves.
    pub(super) fn skeleton(&self, id: DefId) -> TokenStream {
        let (rt, names, own) = (self.rt(), self.g.naming.interface(id), self.item(id));
        let [name, reference, descriptor] =
            [&names.skeleton, &names.reference, &names.descriptor].map(|it| ident(it));
        let parameter = self.type_parameter("S");
        let calls = self.g.calls(id);
        let arms = calls.iter().zip(0..).map(|(call, index)| {
            let (index, function) = (Literal::u32_unsuffixed(index), self.skeleton_path(call));
            quote!(#index => #function(&self.0, call),)
        });
        let implicit = quote!(call.implicit(&#descriptor, operation));
        let invoke = match calls.as_slice() {
            [] => implicit,
            _ => quote!(match operation { #(#arms)* _ => #implicit }),
        };
        let docs = doc(&format!("Lets an adapter serve an implementation of [`{own}`]."));
        quote! {
            #docs
            #[derive(Clone, Debug)]
            pub struct #name<#parameter>(pub #parameter);
            impl<#parameter: #own> #rt::Skeleton for #name<#parameter> {
                fn interface(&self) -> &'static #rt::Interface { &#descriptor }
                fn invoke(&self, operation: u32, call: &mut #rt::ServerCall<'_>) -> #rt::Dispatched {
                    #invoke
                }
            }
            impl<#parameter: #own> #rt::TypedSkeleton for #name<#parameter> {
                type Reference = #reference;
            }
        }
    }

    fn skeleton_path(&self, call: &Call<'_>) -> TokenStream {
        let functions = self.beside(call.owner, &self.g.naming.interface(call.owner).functions);
        let method = ident(&call.method);
        quote!(#functions::#method)
    }

    /// The module of skeleton functions of an interface.
    pub(super) fn skeleton_functions(&self, id: DefId) -> TokenStream {
        let calls = self.g.own_calls(id);
        if calls.is_empty() {
            return quote!();
        }
        let name = &self.g.naming.interface(id).functions;
        let scope = self.inner(name, &[]);
        let functions = calls.iter().map(|it| scope.skeleton_function(id, it));
        let name = ident(name);
        let docs = doc(&format!("Skeletons of the operations of `{}`.", self.g.model.scoped_name(id)));
        quote! {
            #docs
            pub mod #name {
                use ::throughline::rt;
                #(#functions)*
            }
        }
    }

    fn skeleton_function(&self, id: DefId, call: &Call<'_>) -> TokenStream {
        let (rt, servant_trait, method) = (self.rt(), self.item(id), ident(&call.method));
        let [servant, context] = ["servant", "call"].map(|it| call.local(it));
        let (reads, body) = (self.read_arguments(call, &context), self.dispatch(call, &servant, &context));
        let docs = doc(&format!("Serves `{}`.", call.wire));
        quote! {
            #docs
            pub fn #method<S: #servant_trait + ?Sized>(
                #servant: &S,
                #context: &mut #rt::ServerCall<'_>,
            ) -> #rt::Dispatched {
                #reads
                #body
            }
        }
    }

    fn read_arguments(&self, call: &Call<'_>, context: &Ident) -> TokenStream {
        if call.ins().next().is_none() {
            return quote!();
        }
        let [r, place] = ["r", "place"].map(|it| call.local(it));
        let placed = self.in_place(call).map(|it| &it.name);
        let reads = call.ins().map(|it| {
            let place = (placed == Some(&it.name)).then_some(&place);
            self.read_argument((call, it), &r, place)
        });
        match placed {
            Some(_) => quote!(let (#r, #place) = #context.arguments_and_place(); #(#reads)*),
            None => quote!(let #r = #context.arguments(); #(#reads)*),
        }
    }

    /// The argument that lies in the reply while the servant has it: an `inout` sequence of numbers that comes first there.
    fn in_place<'a>(&self, call: &'a Call<'_>) -> Option<&'a Argument<'a>> {
        let first = call.returned().next().filter(|_| call.result.is_none())?;
        self.in_reply(call, first).map(|_| first)
    }

    /// The argument that may stay where the request has it: one [`in_place`](Self::in_place) that is the last argument, and the only
    /// result.
    fn in_request<'a>(&self, call: &'a Call<'_>) -> Option<&'a Argument<'a>> {
        let only = self.in_place(call).filter(|_| call.returned().nth(1).is_none())?;
        call.ins().last().filter(|last| last.name == only.name)
    }

    fn read_argument(
        &self,
        (call, argument): (&Call<'_>, &Argument<'_>),
        r: &Ident,
        place: Option<&Ident>,
    ) -> TokenStream {
        let (rt, name, ty) = (self.rt(), &argument.name, self.ty(argument.ty));
        if self.in_reply(call, argument).is_some() {
            let place = place.map_or_else(
                || self.prelude("None"),
                |place| {
                    let some = self.prelude("Some");
                    quote!(#some(#place))
                },
            );
            let read = match self.in_request(call) {
                Some(_) => quote!(read_alone),
                None => quote!(read),
            };
            return quote!(let mut #name = #rt::InOut::#read(#r, #place)?;);
        }
        if argument.direction == Direction::InOut {
            return quote!(let mut #name: #ty = #rt::Decode::decode(#r)?;);
        }
        match passing(self.g.model, argument.ty) {
            Passing::Str => quote!(let #name = #r.read_string()?;),
            Passing::Slice(element) if is_bulk(self.g.model, element) => {
                let element = self.ty(element);
                quote!(let #name = #r.read_slice::<#element>()?;)
            }
            _ => quote!(let #name: #ty = #rt::Decode::decode(#r)?;),
        }
    }

    /// Calls the servant and writes what it returns.
    fn dispatch(&self, call: &Call<'_>, servant: &Ident, context: &Ident) -> TokenStream {
        let method = ident(&call.method);
        let arguments = call.ins().map(|it| self.pass(it));
        let invoked = quote!(#servant.#method(#(#arguments),*));
        if call.oneway {
            return quote!(#invoked; #context.reply(|_| Ok(())));
        }
        let (result, error) = (call.local("result"), call.local("error"));
        let outputs: Vec<_> =
            call.result.map(|_| &result).into_iter().chain(call.outs().map(|it| &it.name)).collect();
        let pattern = match outputs.as_slice() {
            [only] => quote!(#only),
            all => quote!((#(#all),*)),
        };
        let reply = self.reply(call, &result);
        let finished: Vec<_> =
            call.ins().filter(|it| self.in_reply(call, it).is_some()).map(|it| &it.name).collect();
        let replied = match finished.as_slice() {
            [] => quote!(#context.reply(#reply)),
            [only] if self.in_request(call).is_some() => {
                quote!({ let #only = #only.finish(); #context.reply_in_out(&#only) })
            }
            names => quote!({ #(let #names = #names.finish();)* #context.reply(#reply) }),
        };
        let rt = self.rt();
        let failed = match call.error {
            Some(_) => quote!(#rt::OperationError::raise(#error, #context)),
            None => quote!(Err(#error)),
        };
        quote! {
            match #invoked {
                Ok(#pattern) => #replied,
                Err(#error) => #failed,
            }
        }
    }

    /// The closure that writes the result, then `inout` and `out` parameters.
    fn reply(&self, call: &Call<'_>, result: &Ident) -> TokenStream {
        let values: Vec<_> =
            call.result.map(|_| result).into_iter().chain(call.returned().map(|it| &it.name)).collect();
        if values.is_empty() {
            return quote!(|_| Ok(()));
        }
        let w = call.local("w");
        let writes = values.into_iter().map(|it| self.encode(&quote!(&#it), &w)).collect();
        let body = self.closure_body(writes);
        quote!(|#w| #body)
    }

    /// An argument as the servant's method takes it.
    fn pass(&self, argument: &Argument<'_>) -> TokenStream {
        let name = &argument.name;
        if argument.direction == Direction::InOut {
            return quote!(&mut #name);
        }
        match passing(self.g.model, argument.ty) {
            Passing::Value | Passing::Local => quote!(#name),
            Passing::Reference => quote!(#name.as_ref()),
            Passing::Str | Passing::Slice(_) | Passing::Borrowed => quote!(&#name),
        }
    }
}
