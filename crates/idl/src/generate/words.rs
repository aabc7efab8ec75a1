//! From IDL identifiers to Rust ones: case, keywords, collisions.

use std::collections::HashSet;

use heck::{ToShoutySnakeCase, ToSnakeCase, ToUpperCamelCase};
use proc_macro2::{Ident, Span};

/// Words that cannot be identifiers even in raw form.
const NEVER: &[&str] = &["self", "Self", "super", "crate", "_"];

/// Reserved words of Rust up to edition 2024.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait",
    "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Module names that would hide a type or the runtime in the paths that generated code uses.
const MODULES: &[&str] = &[
    "rt", "bool", "char", "str", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64",
    "i128", "isize", "f32", "f64",
];

/// The name of a function, field, parameter or module.
pub(super) fn snake(idl: &str) -> String {
    or_as_written(idl.to_snake_case(), idl)
}

/// The name of a type, trait or variant.
pub(super) fn camel(idl: &str) -> String {
    or_as_written(idl.to_upper_camel_case(), idl)
}

/// The name of a constant or static.
pub(super) fn screaming(idl: &str) -> String {
    or_as_written(idl.to_shouty_snake_case(), idl)
}

/// Case conversion drops underscores; nothing may be left of a name that had only those.
fn or_as_written(converted: String, idl: &str) -> String {
    if converted.is_empty() { format!("u{idl}") } else { converted }
}

/// An identifier, raw where the name is a keyword.
pub(super) fn ident(name: &str) -> Ident {
    if KEYWORDS.contains(&name) {
        Ident::new_raw(name, Span::call_site())
    } else {
        Ident::new(name, Span::call_site())
    }
}

/// Names taken in one Rust scope.
///
/// Who comes first keeps the name that the conversion gives it; a later one gets as many trailing underscores as it
/// needs. The order of claims follows the order of the source, so that the result is the same in each run.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    taken: HashSet<String>,
}

impl Names {
    /// Takes a name, or the next free one with trailing underscores.
    pub(super) fn claim(&mut self, wanted: String) -> String {
        let mut name = wanted;
        while NEVER.contains(&name.as_str()) || !self.taken.insert(name.clone()) {
            name.push('_');
        }
        name
    }

    /// Takes a name for a module.
    pub(super) fn claim_module(&mut self, wanted: String) -> String {
        let reserved = MODULES.contains(&wanted.as_str());
        self.claim(if reserved { wanted + "_" } else { wanted })
    }

    /// Keeps names from being given to anything else.
    pub(super) fn reserve<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) {
        self.taken.extend(names.into_iter().map(str::to_owned));
    }
}

/// Claims a name for each identifier of one list: members, parameters, enumerators.
pub(super) fn claim_all<'n>(
    idl: impl IntoIterator<Item = &'n str>,
    convert: fn(&str) -> String,
) -> Vec<String> {
    let mut names = Names::default();
    idl.into_iter().map(|name| names.claim(convert(name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_follows_the_kind_of_name() {
        assert_eq!(snake("addPersonToList"), "add_person_to_list");
        assert_eq!(snake("CosNaming"), "cos_naming");
        assert_eq!(camel("NT_ACCESS_DENIED"), "NtAccessDenied");
        assert_eq!(camel("red"), "Red");
        assert_eq!(screaming("maxUsers"), "MAX_USERS");
        assert_eq!(snake("__"), "u__");
    }

    #[test]
    fn keywords_become_raw_and_the_rest_of_them_longer() {
        assert_eq!(ident("type").to_string(), "r#type");
        assert_eq!(ident("kind").to_string(), "kind");
        let mut names = Names::default();
        assert_eq!(names.claim("self".into()), "self_");
        assert_eq!(names.claim("Self".into()), "Self_");
        assert_eq!(names.claim("crate".into()), "crate_");
    }

    #[test]
    fn later_claims_get_underscores() {
        let mut names = Names::default();
        assert_eq!(names.claim("foo_bar".into()), "foo_bar");
        assert_eq!(names.claim("foo_bar".into()), "foo_bar_");
        assert_eq!(names.claim("foo_bar".into()), "foo_bar__");
        assert_eq!(names.claim_module("rt".into()), "rt_");
        assert_eq!(names.claim_module("bank".into()), "bank");
    }
}
