//! The `use` lines of a generated program: which names it needs, and what to call those that clash.

use std::collections::BTreeMap;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::visit_mut::{self, VisitMut};

use super::interfaces::{Generated, Path};

/// Names that mean something else in every Rust file, or in the programs that are made here.
const TAKEN: [&str; 18] = [
    "Result",
    "Option",
    "Some",
    "None",
    "Ok",
    "Err",
    "Vec",
    "String",
    "Box",
    "Send",
    "Sync",
    "Clone",
    "Into",
    "From",
    "Orb",
    "Address",
    "TypedReference",
    "Kind",
];

/// Names of the generated crate in use, each with its place.
pub struct Imports<'g> {
    generated: &'g Generated,
    krate: String,
    own: BTreeMap<String, Path>,
    runtime: Vec<String>,
    taken: Vec<String>,
}

impl<'g> Imports<'g> {
    pub fn new(generated: &'g Generated, krate: &str) -> Self {
        Self {
            generated,
            krate: krate.to_owned(),
            own: BTreeMap::new(),
            runtime: Vec::new(),
            taken: Vec::new(),
        }
    }

    /// How to call a definition of the IDL file: by its bare name if that is free.
    pub fn own(&mut self, path: &Path) -> syn::Path {
        let name = path.last().cloned().unwrap_or_default();
        let free = !TAKEN.contains(&name.as_str())
            && ![&self.runtime, &self.taken].iter().any(|names| names.contains(&name));
        if free && self.own.entry(name.clone()).or_insert_with(|| path.clone()) == path {
            return path_of(&[name]);
        }
        path_of(&[std::slice::from_ref(&self.krate), &path[..]].concat())
    }

    /// How to call something of the runtime.
    pub fn runtime(&mut self, name: &str) -> syn::Path {
        if self.own.contains_key(name) {
            return path_of(&["throughline".to_owned(), name.to_owned()]);
        }
        if !self.runtime.iter().any(|other| other == name) {
            self.runtime.push(name.to_owned());
        }
        path_of(&[name.to_owned()])
    }

    /// Says that the program defines something of this name itself.
    pub fn take(&mut self, name: String) {
        self.taken.push(name);
    }

    /// Adds names of the runtime, which must be free.
    pub fn need(&mut self, names: &[&str]) {
        self.runtime.extend(names.iter().map(|name| (*name).to_owned()));
    }

    /// Rewrites the types of a signature that was written in `module` to what they are called here.
    pub fn rewrite(&mut self, signature: &mut syn::Signature, module: &[String]) {
        Rewriter { imports: self, module }.visit_signature_mut(signature);
    }

    /// The `use` items.
    pub fn items(&self) -> TokenStream {
        let mut modules: BTreeMap<Path, Vec<&String>> = BTreeMap::new();
        for path in self.own.values() {
            if let Some((name, module)) = path.split_last() {
                modules.entry(module.to_vec()).or_default().push(name);
            }
        }
        let mut runtime: Vec<_> = self.runtime.iter().collect();
        runtime.sort();
        let from = |module: &[String], names: &[&String]| {
            let module = path_of(module);
            let names = names.iter().map(|name| ident(name));
            quote! { use #module::{#(#names),*}; }
        };
        let own = modules
            .iter()
            .map(|(module, names)| from(&[std::slice::from_ref(&self.krate), &module[..]].concat(), names));
        let own: TokenStream = own.collect();
        let runtime = from(&["throughline".to_owned()], &runtime);
        quote! { #own #runtime }
    }
}

struct Rewriter<'i, 'g> {
    imports: &'i mut Imports<'g>,
    module: &'i [String],
}

impl VisitMut for Rewriter<'_, '_> {
    fn visit_path_mut(&mut self, path: &mut syn::Path) {
        visit_mut::visit_path_mut(self, path);
        let arguments = path.segments.last().map(|last| last.arguments.clone()).unwrap_or_default();
        let names: Vec<_> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let renamed = match &names[..] {
            // The types of the runtime are at the root of its crate as well.
            ["rt", name] | ["throughline", "rt", name] => Some(self.imports.runtime(name)),
            _ => self.imports.generated.resolve(path, self.module).map(|own| self.imports.own(&own)),
        };
        if let Some(mut renamed) = renamed {
            if let Some(last) = renamed.segments.last_mut() {
                last.arguments = arguments;
            }
            *path = renamed;
        }
    }
}

/// A name as Rust has it, raw or not.
pub fn ident(name: &str) -> Ident {
    match name.strip_prefix("r#") {
        Some(raw) => Ident::new_raw(raw, Span::call_site()),
        None => Ident::new(name, Span::call_site()),
    }
}

fn path_of(names: &[String]) -> syn::Path {
    let segments = names.iter().map(|name| syn::PathSegment::from(ident(name)));
    syn::Path { leading_colon: None, segments: segments.collect() }
}
