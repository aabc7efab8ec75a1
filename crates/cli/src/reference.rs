//! References as commands take them: any textual form, or a file that has one.

use std::borrow::Cow;

use throughline::{ObjectRef, Orb};

use crate::failure::{Failure, Result};

/// The object that a text refers to: `IOR:`, `corbaloc:`, `corbaname:`, or `@` and the name of a file.
pub fn object(orb: &Orb, text: &str) -> Result<ObjectRef> {
    let text = told(text)?;
    orb.string_to_object(&text).map_err(|e| {
        let shown: String = text.chars().take(60).collect();
        Failure::usage(format!("`{shown}` leads to no object"))
            .because(e.detail_text().map_or_else(|| e.to_string(), str::to_owned))
            .next("pass the whole text that the server printed, or @FILE for a file that has it")
    })
}

/// The text of a reference: what was given, or what is in the file that was named after an `@`.
pub fn told(text: &str) -> Result<Cow<'_, str>> {
    Ok(match text.strip_prefix('@') {
        Some(path) => first_in(path)?.into(),
        None => text.into(),
    })
}

/// The first word of a file that is a reference: servers print other words beside it.
fn first_in(path: &str) -> Result<String> {
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|e| Failure::usage(format!("cannot read {path}")).because(e))?;
    let is_reference = |word: &&str| {
        word.split_once(':').is_some_and(|(scheme, _)| {
            ["ior", "corbaloc", "corbaname"].contains(&scheme.to_ascii_lowercase().as_str())
        })
    };
    let found = text.split_whitespace().find(is_reference);
    found.map(str::to_owned).ok_or_else(|| {
        Failure::usage(format!("{path} has no reference in it"))
            .because("no word of it begins with IOR:, corbaloc: or corbaname:")
    })
}
