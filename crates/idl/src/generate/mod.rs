//! From the checked model to Rust source.
//!
//! The output is one text for one IDL file with everything it includes. It refers to the runtime as
//! `::throughline::rt` and to nothing else, can be included at the root of a crate or in any module, and passes Clippy
//! there.
//!
//! | IDL | Rust |
//! |---|---|
//! | `module M` | `mod m`, all openings together |
//! | `interface I` | `trait I` for servants, `IRef` for clients, `ISkeleton`, `static I`, `mod i_skeleton` |
//! | types inside of `I` | `mod i` |
//! | an array | an array, in a `Box` if it takes more than 16 KiB |
//! | a member | a field; the largest in a `Box` each if all take more than 16 KiB, or 1 KiB where there are sequences of the same |
//! | `struct`, `exception` | a struct |
//! | `union` | an enum with data |
//! | an operation with `raises` | an enum `IOperationError` |
//!
//! Modules, functions, members and parameters are in snake case, types and enumerators in camel case, constants in
//! capitals. Keywords become raw identifiers. Of two names that case conversion makes one, the second gets a trailing
//! underscore, as do `self`, `super` and `crate` and operations named like a method every reference has (`clone`,
//! `narrow`, ..).
//!
//! What contains sequences of itself is read up to 64 levels deep, as all that is nested: a receiver refuses more with
//! `MARSHAL`, since its stack has an end. A list of which each element holds the next should be one sequence instead.

mod calls;
mod components;
mod constants;
mod descriptor;
mod docs;
mod enums;
mod exceptions;
mod layout;
mod modules;
mod naming;
mod records;
mod reference;
mod report;
mod scope;
mod servant;
mod skeleton;
mod support;
mod traits;
mod types;
mod unions;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{DefId, Model, Origin};

pub(crate) use report::diagnostics;

/// What to generate.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// IDL names that other Rust code provides, with the Rust path of each: `CosNaming` and
    /// `::throughline_naming::cos_naming`. A module stands for everything in it.
    pub extern_paths: BTreeMap<String, String>,
    /// Leave out what cannot be generated, with a warning, instead of refusing the file.
    pub skip_unsupported: bool,
}

/// Rust source for a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    /// The text of the file.
    pub source: String,
    /// What was left out, if [`Settings::skip_unsupported`] allows it.
    pub skipped: Vec<Unsupported>,
}

/// A construct for which no code can be generated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// Names the construct and what it is part of.
    pub message: String,
    /// Where it stands.
    pub origin: Origin,
    /// Where something needs it, if it is not in the main file itself.
    pub needed_by: Option<(String, Origin)>,
    /// What to do about it.
    pub help: String,
}

/// What every part of the generator knows.
struct Generator<'m> {
    model: &'m Model,
    naming: naming::Naming,
    facts: traits::Facts,
    externs: BTreeMap<String, String>,
    /// Definitions that are not generated.
    left_out: BTreeSet<DefId>,
}

/// Generates Rust source for a model.
///
/// # Errors
/// Everything in the main file, and what it needs from included files, that cannot be generated.
pub fn generate(model: &Model, settings: &Settings) -> Result<Generated, Vec<Unsupported>> {
    let mut generator = Generator {
        model,
        naming: naming::Naming::new(model),
        facts: traits::Facts::new(model),
        externs: settings.extern_paths.iter().map(|(idl, rust)| (idl_name(idl), rust.clone())).collect(),
        left_out: BTreeSet::new(),
    };
    let support::Findings { left_out, unsupported } = support::examine(&generator);
    if !unsupported.is_empty() && !settings.skip_unsupported {
        return Err(unsupported);
    }
    generator.left_out = left_out;
    let source = layout::format(model, generator.root());
    Ok(Generated { source, skipped: unsupported })
}

/// `::CosNaming` and `CosNaming` are the same name.
fn idl_name(written: &str) -> String {
    written.trim_start_matches("::").to_owned()
}
