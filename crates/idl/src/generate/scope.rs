//! Where generated code stands, and how it names what stands elsewhere.
//!
//! All paths are relative, so that the same text works at the root of a crate and inside any module.

use std::collections::HashSet;

use proc_macro2::TokenStream;
use quote::quote;

use super::Generator;
use super::words::{Names, ident};
use crate::model::DefId;

/// One Rust module of the output.
pub(super) struct Scope<'g> {
    pub(super) g: &'g Generator<'g>,
    /// From the root of the generated code.
    modules: Vec<String>,
    /// Items of this module that are named after definitions.
    items: HashSet<String>,
}

/// Where a definition's items are.
struct Home {
    /// The path that replaces the leading modules, if code elsewhere provides them.
    elsewhere: Option<Vec<String>>,
    modules: Vec<String>,
}

impl<'g> Scope<'g> {
    /// The module at `modules` that holds these definitions.
    pub(super) fn new(g: &'g Generator<'g>, modules: Vec<String>, definitions: &[DefId]) -> Self {
        let items = definitions.iter().map(|id| g.naming.of(*id).item.clone()).collect();
        Self { g, modules, items }
    }

    /// A module inside this one.
    pub(super) fn inner(&self, module: &str, definitions: &[DefId]) -> Scope<'g> {
        let modules = self.modules.iter().map(String::as_str).chain([module]).map(str::to_owned).collect();
        Scope::new(self.g, modules, definitions)
    }

    /// Whether this is where the user includes the output: the only scope that may hold items of the user's.
    pub(super) fn is_root(&self) -> bool {
        self.modules.is_empty()
    }

    /// The runtime: modules import it, the root must not.
    pub(super) fn rt(&self) -> TokenStream {
        if self.is_root() { quote!(::throughline::rt) } else { quote!(rt) }
    }

    /// An item of Rust's prelude, in full if a definition here has its name.
    pub(super) fn prelude(&self, name: &str) -> TokenStream {
        let short = ident(name);
        if !self.items.contains(name) {
            return quote!(#short);
        }
        match name {
            "Result" => quote!(::std::result::Result),
            "Ok" | "Err" => quote!(::std::result::Result::#short),
            "Option" => quote!(::std::option::Option),
            "Some" | "None" => quote!(::std::option::Option::#short),
            "Vec" => quote!(::std::vec::Vec),
            "Box" => quote!(::std::boxed::Box),
            "String" => quote!(::std::string::String),
            "From" => quote!(::std::convert::From),
            "Send" | "Sync" | "Sized" => quote!(::std::marker::#short),
            _ => unreachable!("no other names of the prelude are used: {name}"),
        }
    }

    /// A name for a type parameter that hides no type of this module.
    pub(super) fn type_parameter(&self, wanted: &str) -> proc_macro2::Ident {
        let mut names = Names::default();
        names.reserve(self.items.iter().map(String::as_str));
        ident(&names.claim(wanted.to_owned()))
    }

    /// The definition's own item.
    pub(super) fn item(&self, id: DefId) -> TokenStream {
        self.beside(id, &self.g.naming.of(id).item)
    }

    /// The typed reference of an interface.
    pub(super) fn reference(&self, id: DefId) -> TokenStream {
        self.beside(id, &self.g.naming.interface(id).reference)
    }

    /// An item that is generated in the same module as the definition's own.
    pub(super) fn beside(&self, id: DefId, name: &str) -> TokenStream {
        let Home { elsewhere, modules } = self.g.home(id);
        let (start, modules) = match elsewhere {
            Some(path) => (quote!(), path.into_iter().chain(modules).collect()),
            None => (quote!(), self.relative(&modules)),
        };
        let last = ident(name);
        let path = modules.iter().map(|it| segment(it));
        quote!(#start #(#path)* #last)
    }

    /// Steps from this module to another of the output.
    fn relative(&self, target: &[String]) -> Vec<String> {
        let common = self.modules.iter().zip(target).take_while(|(a, b)| a == b).count();
        let up = std::iter::repeat_n("super".to_owned(), self.modules.len() - common);
        up.chain(target[common..].iter().cloned()).collect()
    }
}

/// `name::`; an empty name is the root of absolute paths.
fn segment(name: &str) -> TokenStream {
    match name {
        "" => quote!(::),
        "super" => quote!(super::),
        "crate" => quote!(crate::),
        _ => {
            let name = ident(name.trim_start_matches("r#"));
            quote!(#name::)
        }
    }
}

impl Generator<'_> {
    /// Whether code elsewhere provides a definition.
    pub(super) fn is_elsewhere(&self, id: DefId) -> bool {
        self.home(id).elsewhere.is_some()
    }

    fn home(&self, id: DefId) -> Home {
        let mut modules = Vec::new();
        if let Some(path) = self.externs.get(&self.model.scoped_name(id)) {
            // The path names the item itself; companions stand beside it.
            let parent = path.rsplit_once("::").map_or("", |(parent, _)| parent);
            return Home { elsewhere: Some(split(parent)), modules };
        }
        let mut parent = self.model.get(id).parent;
        while let Some(id) = parent {
            if let Some(path) = self.externs.get(&self.model.scoped_name(id)) {
                modules.reverse();
                return Home { elsewhere: Some(split(path)), modules };
            }
            modules.extend(self.naming.of(id).module.clone());
            parent = self.model.get(id).parent;
        }
        modules.reverse();
        Home { elsewhere: None, modules }
    }
}

fn split(path: &str) -> Vec<String> {
    path.split("::").map(str::to_owned).collect()
}
