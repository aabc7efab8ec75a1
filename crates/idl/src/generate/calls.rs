//! Operations and the two halves of attributes, as servants and references see them: calls.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::Generator;
use super::naming::{CallNames, FeatureNames};
use super::scope::Scope;
use super::types::{interface_kind, numbers};
use super::words::{Names, ident, snake};
use crate::model::{DefId, Direction, InterfaceKind, Model, Signature, SignatureParameter, Type};

/// Clippy's limit for types is 250; conversions of results to futures add to what is counted here.
const COMPLEX: usize = 200;

/// Something a client can call.
pub(super) struct Call<'g> {
    /// The interface that defines it.
    pub(super) owner: DefId,
    /// The name in a GIOP request.
    pub(super) wire: String,
    /// Of the operation or attribute.
    pub(super) repository_id: &'g str,
    /// The comment before it.
    pub(super) doc: Option<&'g str>,
    /// The method of the servant's trait, and the skeleton function.
    pub(super) method: String,
    /// The error enum in the owner's scope.
    pub(super) error: Option<String>,
    /// The three methods of the reference; usually `method`, `method_async` and `method_begin`.
    pub(super) on_reference: (String, String, String),
    pub(super) oneway: bool,
    pub(super) result: Option<&'g Type>,
    pub(super) parameters: Vec<Argument<'g>>,
    pub(super) raises: &'g [DefId],
}

/// A parameter with its Rust name.
pub(super) struct Argument<'g> {
    pub(super) name: Ident,
    pub(super) direction: Direction,
    pub(super) ty: &'g Type,
}

impl Argument<'_> {
    /// Travels to the servant.
    pub(super) fn goes_in(&self) -> bool {
        self.direction != Direction::Out
    }
}

impl<'g> Call<'g> {
    /// As IDL names it: `Bank::Account::withdraw`.
    pub(super) fn idl_name(&self, model: &Model) -> String {
        format!("{}::{}", model.scoped_name(self.owner), self.wire.trim_start_matches("_get_"))
    }

    /// A name for a local variable that no parameter has.
    pub(super) fn local(&self, wanted: &str) -> Ident {
        let mut names = Names::default();
        let parameters: Vec<_> = self.parameters.iter().map(|it| it.name.to_string()).collect();
        names.reserve(parameters.iter().map(String::as_str));
        ident(&names.claim(wanted.to_owned()))
    }

    pub(super) fn ins(&self) -> impl Iterator<Item = &Argument<'g>> {
        self.parameters.iter().filter(|it| it.goes_in())
    }

    pub(super) fn inouts(&self) -> impl Iterator<Item = &Argument<'g>> {
        self.parameters.iter().filter(|it| it.direction == Direction::InOut)
    }

    pub(super) fn outs(&self) -> impl Iterator<Item = &Argument<'g>> {
        self.parameters.iter().filter(|it| it.direction == Direction::Out)
    }

    /// Inout and out parameters: what follows the result in a reply.
    pub(super) fn returned(&self) -> impl Iterator<Item = &Argument<'g>> {
        self.parameters.iter().filter(|it| it.direction != Direction::In)
    }
}

impl Generator<'_> {
    /// The calls of an interface in the order of its operation table: own ones, then inherited ones.
    pub(super) fn calls(&self, interface: DefId) -> Vec<Call<'_>> {
        let interfaces = std::iter::once(&interface)
            .chain(self.model.interface(interface).into_iter().flat_map(|it| &it.ancestors));
        let names =
            interfaces.flat_map(|it| &self.naming.interface(*it).features).flat_map(FeatureNames::calls);
        let on_reference = self.naming.on_reference(self.model, interface);
        let on_reference = on_reference.iter().flat_map(FeatureNames::calls);
        let signatures = self.model.signatures(interface).into_iter();
        signatures
            .zip(names.zip(on_reference))
            .map(|(it, (names, reference))| call(it, names, reference))
            .collect()
    }

    /// The calls that an interface defines itself.
    pub(super) fn own_calls(&self, interface: DefId) -> Vec<Call<'_>> {
        let mut calls = self.calls(interface);
        calls.retain(|it| it.owner == interface);
        calls
    }
}

fn call<'g>(signature: Signature<'g>, names: &CallNames, reference: &CallNames) -> Call<'g> {
    Call {
        owner: signature.owner,
        parameters: arguments(&signature.parameters),
        wire: signature.wire_name.into_owned(),
        repository_id: signature.repository_id,
        doc: signature.feature.doc(),
        method: names.method.clone(),
        error: names.error.clone(),
        on_reference: (reference.method.clone(), reference.future.clone(), reference.begun.clone()),
        oneway: signature.oneway,
        result: signature.result,
        raises: signature.raises,
    }
}

fn arguments<'g>(parameters: &[SignatureParameter<'g>]) -> Vec<Argument<'g>> {
    let mut names = Names::default();
    let names: Vec<_> = parameters.iter().map(|it| ident(&names.claim(snake(it.name)))).collect();
    let pairs = parameters.iter().zip(names);
    pairs.map(|(it, name)| Argument { name, direction: it.direction, ty: it.ty }).collect()
}

impl Scope<'_> {
    /// What a call fails with.
    pub(super) fn call_error(&self, call: &Call<'_>) -> TokenStream {
        match &call.error {
            Some(name) => self.beside(call.owner, name),
            None => {
                let rt = self.rt();
                quote!(#rt::SystemException)
            }
        }
    }

    /// The types of several results as one: nothing, the only one, or a tuple.
    pub(super) fn tuple(types: &[TokenStream]) -> TokenStream {
        match types {
            [only] => only.clone(),
            _ => quote!((#(#types),*)),
        }
    }

    /// What a servant returns: the result, then the `out` parameters.
    pub(super) fn call_output(&self, call: &Call<'_>) -> TokenStream {
        let types = call.result.into_iter().chain(call.outs().map(|it| it.ty));
        Self::tuple(&types.map(|it| self.ty(it)).collect::<Vec<_>>())
    }

    /// Parameters of a method, with those `inout` borrowed.
    pub(super) fn call_parameters(&self, call: &Call<'_>) -> TokenStream {
        let parameters = call.ins().map(|it| self.call_parameter(it));
        quote!(#(, #parameters)*)
    }

    fn call_parameter(&self, argument: &Argument<'_>) -> TokenStream {
        let name = &argument.name;
        match argument.direction {
            Direction::InOut => {
                let ty = self.ty(argument.ty);
                quote!(#name: &mut #ty)
            }
            _ => {
                let ty = self.parameter(argument.ty);
                quote!(#name: #ty)
            }
        }
    }

    /// The elements if servants have this `inout` parameter where the reply will be: see `InOut`.
    pub(super) fn in_reply<'a>(&'a self, call: &Call<'_>, argument: &'a Argument<'_>) -> Option<&'a Type> {
        let local = interface_kind(self.g.model, call.owner) == Some(InterfaceKind::Local);
        let inout = argument.direction == Direction::InOut && !local;
        numbers(self.g.model, argument.ty).filter(|_| inout)
    }

    /// As [`call_parameters`](Self::call_parameters), for a servant.
    pub(super) fn servant_parameters(&self, call: &Call<'_>) -> TokenStream {
        let parameters = call.ins().map(|it| match self.in_reply(call, it) {
            Some(element) => {
                let (rt, name, element) = (self.rt(), &it.name, self.ty(element));
                quote!(#name: &mut #rt::InOut<'_, #element>)
            }
            None => self.call_parameter(it),
        });
        quote!(#(, #parameters)*)
    }

    /// How complex Clippy finds the results of a call at most: ten for each part, times its depth.
    fn complexity(&self, call: &Call<'_>) -> usize {
        let types = call.result.into_iter().chain(call.returned().map(|it| it.ty));
        let results = types.map(|it| syn::parse2(self.ty(it)).map_or(0, |ty| complexity(&ty, 3)));
        // The `Result`, the tuple and the error.
        10 + 20 + 20 + results.sum::<usize>()
    }

    /// Lints that a method may break whose shape IDL decides.
    pub(super) fn call_lints(&self, call: &Call<'_>, method: &str) -> TokenStream {
        let many = call.ins().count() > 6;
        let conversion = method == "new" || ["from_", "into_"].iter().any(|it| method.starts_with(it));
        let complex = self.complexity(call) > COMPLEX;
        let lints = [
            (many, quote!(clippy::too_many_arguments)),
            (self.has_large_error(call), quote!(clippy::result_large_err)),
            (complex, quote!(clippy::type_complexity)),
            (method == "new", quote!(clippy::new_ret_no_self)),
            (conversion, quote!(clippy::wrong_self_convention)),
            (method == "index", quote!(clippy::should_implement_trait)),
            (method == "len", quote!(clippy::len_without_is_empty)),
        ];
        let lints: Vec<_> = lints.into_iter().filter_map(|(on, lint)| on.then_some(lint)).collect();
        if lints.is_empty() { quote!() } else { quote!(#[allow(#(#lints),*)]) }
    }
}

fn complexity(ty: &syn::Type, depth: usize) -> usize {
    let inner: usize = match ty {
        syn::Type::Array(it) => complexity(&it.elem, depth + 1),
        syn::Type::Path(it) => it.path.segments.iter().map(|it| generics(it, depth + 1)).sum(),
        _ => 0,
    };
    10 * depth + inner
}

fn generics(segment: &syn::PathSegment, depth: usize) -> usize {
    let syn::PathArguments::AngleBracketed(it) = &segment.arguments else { return 0 };
    let types = it.args.iter().filter_map(|it| match it {
        syn::GenericArgument::Type(ty) => Some(complexity(ty, depth)),
        _ => None,
    });
    types.sum()
}
