//! The interfaces in generated Rust: found by reading what the IDL compiler wrote, so that names need no second rule.

use std::collections::{BTreeMap, BTreeSet};

use syn::{Item, ItemTrait, Type, TypeParamBound};

/// Names from the root of the generated file.
pub type Path = Vec<String>;

/// A servant trait with its place.
pub struct Trait {
    pub path: Path,
    pub item: ItemTrait,
    /// The interfaces it is derived from, as far as they are in the same file.
    pub bases: Vec<Path>,
}

/// An interface that can be served.
pub struct Served {
    pub servant: Path,
    pub skeleton: Path,
    pub reference: Path,
}

/// What is defined where.
#[derive(Default)]
pub struct Generated {
    /// The names in each module.
    names: BTreeMap<Path, BTreeSet<String>>,
    pub traits: Vec<Trait>,
    /// In the order of the IDL.
    pub served: Vec<Served>,
}

impl Generated {
    /// Reads a generated file.
    pub fn read(source: &str) -> syn::Result<Self> {
        let file = syn::parse_file(source)?;
        let mut generated = Self::default();
        generated.collect_names(&file.items, &[]);
        generated.collect_interfaces(&file.items, &[]);
        Ok(generated)
    }

    fn collect_names(&mut self, items: &[Item], module: &[String]) {
        let names = items.iter().filter_map(name_of).collect();
        self.names.insert(module.to_vec(), names);
        for (inner, name) in modules(items) {
            self.collect_names(inner, &join(module, &name));
        }
    }

    fn collect_interfaces(&mut self, items: &[Item], module: &[String]) {
        for item in items {
            match item {
                Item::Trait(item) => {
                    let bases = item.supertraits.iter().filter_map(|bound| match bound {
                        TypeParamBound::Trait(bound) => self.resolve(&bound.path, module),
                        _ => None,
                    });
                    let bases = bases.collect();
                    let path = join(module, &item.ident.to_string());
                    self.traits.push(Trait { path, item: item.clone(), bases });
                }
                Item::Impl(item) => self.served.extend(self.typed_skeleton(item, module)),
                _ => {}
            }
        }
        for (inner, name) in modules(items) {
            self.collect_interfaces(inner, &join(module, &name));
        }
    }

    /// Reads `impl<S: Account> rt::TypedSkeleton for AccountSkeleton<S> { type Reference = AccountRef; }`.
    fn typed_skeleton(&self, item: &syn::ItemImpl, module: &[String]) -> Option<Served> {
        let implemented = &item.trait_.as_ref()?.0;
        if implemented.segments.last()?.ident != "TypedSkeleton" {
            return None;
        }
        let servant = item.generics.type_params().find_map(|parameter| match parameter.bounds.first() {
            Some(TypeParamBound::Trait(bound)) => self.resolve(&bound.path, module),
            _ => None,
        });
        let reference = item.items.iter().find_map(|inner| match inner {
            syn::ImplItem::Type(inner) => self.resolve(type_path(&inner.ty)?, module),
            _ => None,
        });
        let skeleton = self.resolve(type_path(&item.self_ty)?, module)?;
        Some(Served { servant: servant?, skeleton, reference: reference? })
    }

    /// The definition that a path in a module means, if it is in this file.
    pub fn resolve(&self, path: &syn::Path, module: &[String]) -> Option<Path> {
        if path.leading_colon.is_some() {
            return None;
        }
        let mut place = module.to_vec();
        let mut parts = path.segments.iter().map(|s| s.ident.to_string()).peekable();
        while let Some("super" | "self") = parts.peek().map(String::as_str) {
            if parts.next().as_deref() == Some("super") {
                place.pop()?;
            }
        }
        let known = self.names.get(&place)?.contains(parts.peek()?);
        place.extend(parts);
        known.then_some(place)
    }

    /// A trait by its place.
    pub fn find(&self, path: &[String]) -> Option<&Trait> {
        self.traits.iter().find(|t| t.path == path)
    }

    /// A trait and all it is derived from, each once, the basic ones first.
    pub fn lineage(&self, path: &[String]) -> Vec<&Trait> {
        let mut all: Vec<&Trait> = Vec::new();
        self.add_lineage(path, &mut all);
        all
    }

    fn add_lineage<'g>(&'g self, path: &[String], all: &mut Vec<&'g Trait>) {
        let Some(found) = self.find(path) else { return };
        found.bases.iter().for_each(|base| self.add_lineage(base, all));
        if !all.iter().any(|other| other.path == path) {
            all.push(found);
        }
    }
}

pub fn join(module: &[String], name: &str) -> Path {
    [module, &[name.to_owned()]].concat()
}

fn modules(items: &[Item]) -> impl Iterator<Item = (&[Item], String)> {
    items.iter().filter_map(|item| match item {
        Item::Mod(module) => Some((&module.content.as_ref()?.1[..], module.ident.to_string())),
        _ => None,
    })
}

fn name_of(item: &Item) -> Option<String> {
    Some(match item {
        Item::Const(item) => item.ident.to_string(),
        Item::Enum(item) => item.ident.to_string(),
        Item::Mod(item) => item.ident.to_string(),
        Item::Static(item) => item.ident.to_string(),
        Item::Struct(item) => item.ident.to_string(),
        Item::Trait(item) => item.ident.to_string(),
        Item::Type(item) => item.ident.to_string(),
        _ => return None,
    })
}

fn type_path(ty: &Type) -> Option<&syn::Path> {
    match ty {
        Type::Path(path) => Some(&path.path),
        _ => None,
    }
}
