//! The tree of Rust modules.

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;

use super::Generator;
use super::docs::docs;
use super::scope::Scope;
use super::types::idl_declaration;
use super::words::ident;
use crate::model::{DefId, Interface, InterfaceKind, Kind, Typedef};

impl Generator<'_> {
    /// Everything.
    pub(super) fn root(&self) -> TokenStream {
        let roots = self.model.roots();
        let scope = Scope::new(self, Vec::new(), roots);
        roots.iter().map(|id| scope.outermost(*id)).collect()
    }
}

impl Scope<'_> {
    /// A definition at file level. Users rarely need all of what is generated, so unused items are no news.
    fn outermost(&self, id: DefId) -> TokenStream {
        let items = self.definition(id);
        let Ok(mut file) = syn::parse2::<syn::File>(items.clone()) else { return items };
        for item in &mut file.items {
            // The user may well include `bank.rs`, which has the module `bank`, in a module of that name.
            let lints = match item {
                syn::Item::Mod(_) => quote!(dead_code, clippy::module_inception),
                _ => quote!(dead_code),
            };
            if let Some(attributes) = attributes(item) {
                attributes.push(syn::parse_quote!(#[allow(#lints)]));
            }
        }
        quote!(#file)
    }

    /// All items of one definition.
    fn definition(&self, id: DefId) -> TokenStream {
        if self.g.left_out.contains(&id) || self.g.is_elsewhere(id) {
            return quote!();
        }
        let items = match &self.g.model.get(id).kind {
            Kind::Module(_) => return self.module(id, &format!("`module {}`", self.g.model.scoped_name(id))),
            Kind::Interface(it) => self.interface(id, it),
            Kind::Typedef(it) => self.alias(id, it),
            Kind::Struct(it) => self.structure(id, it),
            Kind::Union(it) => self.union(id, it),
            Kind::Enum(it) => self.enumeration(id, it),
            Kind::Constant(it) => self.constant(id, it),
            Kind::Exception(it) => self.exception(id, it),
            Kind::Native
            | Kind::ValueType(_)
            | Kind::ValueBox(_)
            | Kind::ForwardInterface(_)
            | Kind::ForwardValueType { .. } => unreachable!("what cannot be generated is left out"),
        };
        let about = format!("What is defined inside `{}`.", self.g.model.scoped_name(id));
        let inside = self.module(id, &about);
        quote!(#items #inside)
    }

    /// The module with what a definition contains, unless there is nothing in it.
    fn module(&self, id: DefId, about: &str) -> TokenStream {
        let Some(name) = &self.g.naming.of(id).module else { return quote!() };
        let definitions = self.g.model.children(id);
        let scope = self.inner(name, definitions);
        let items: TokenStream = definitions.iter().map(|id| scope.definition(*id)).collect();
        if items.is_empty() {
            return quote!();
        }
        let definition = self.g.model.get(id);
        let source = definition.doc.as_deref().filter(|_| matches!(definition.kind, Kind::Module(_)));
        let (docs, name) = (docs(source, about), ident(name));
        let runtime = mentions(&items, "rt").then(|| {
            quote!(
                use ::throughline::rt;
            )
        });
        quote! {
            #docs
            pub mod #name {
                #runtime
                #items
            }
        }
    }

    fn interface(&self, id: DefId, interface: &Interface) -> TokenStream {
        let errors: TokenStream =
            self.g.own_calls(id).iter().filter_map(|it| self.operation_error(it)).collect();
        let servant = self.servant(id, interface);
        let served = match interface.kind {
            InterfaceKind::Local => return quote!(#errors #servant),
            // There is no object of an abstract interface alone.
            InterfaceKind::Abstract => quote!(),
            InterfaceKind::Normal => self.skeleton(id),
        };
        let descriptor = self.descriptor(id, interface);
        let (functions, reference) = (self.skeleton_functions(id), self.typed_reference(id, interface));
        quote!(#errors #servant #served #functions #descriptor #reference)
    }

    fn alias(&self, id: DefId, typedef: &Typedef) -> TokenStream {
        let definition = self.g.model.get(id);
        let about = format!("`typedef {}`", idl_declaration(self.g.model, &typedef.ty, &definition.name));
        let (docs, name) = (docs(definition.doc.as_deref(), &about), ident(&self.g.naming.of(id).item));
        let ty = self.ty(&typedef.ty);
        quote!(#docs pub type #name = #ty;)
    }
}

/// The attributes of an item that may be unused.
fn attributes(item: &mut syn::Item) -> Option<&mut Vec<syn::Attribute>> {
    match item {
        syn::Item::Const(it) => Some(&mut it.attrs),
        syn::Item::Enum(it) => Some(&mut it.attrs),
        syn::Item::Impl(it) if it.trait_.is_none() => Some(&mut it.attrs),
        syn::Item::Mod(it) => Some(&mut it.attrs),
        syn::Item::Static(it) => Some(&mut it.attrs),
        syn::Item::Struct(it) => Some(&mut it.attrs),
        syn::Item::Trait(it) => Some(&mut it.attrs),
        syn::Item::Type(it) => Some(&mut it.attrs),
        _ => None,
    }
}

/// Whether a path starts with this name, outside of nested modules. These are stepped over: what is in each was looked at
/// when it was made.
fn mentions(items: &TokenStream, name: &str) -> bool {
    let mut module = false;
    items.clone().into_iter().any(|token| match token {
        TokenTree::Ident(it) if it == "mod" => {
            module = true;
            false
        }
        TokenTree::Ident(it) => !module && it == name,
        TokenTree::Group(it) => !std::mem::take(&mut module) && contains(it.stream(), name),
        _ => false,
    })
}

fn contains(tokens: TokenStream, name: &str) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(it) => it == name,
        TokenTree::Group(it) => contains(it.stream(), name),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_modules_have_their_own() {
        assert!(mentions(&quote!(mod a { b } struct C(rt::D);), "rt"));
        assert!(mentions(&quote!(mod rt { b } type E = rt::F;), "rt"));
        assert!(!mentions(&quote!(#[doc = "rt"] pub mod a { use rt; } mod rt { rt::b } struct C;), "rt"));
    }
}
