//! Compiler for OMG IDL in CORBA's dialect (IDL as of CORBA 2.x and 3.x): from source text to a checked [`model`], and
//! from there to Rust.
//!
//! The way of a file: preprocessor, lexer, parser, resolution of names with all checks, model, generator. Errors carry
//! file, line, column and a hint, and one run reports as many as it can find.
#![forbid(unsafe_code)]

mod diagnostic;
pub mod generate;
pub mod model;

use std::path::{Path, PathBuf};

pub use diagnostic::{Diagnostics, Severity};
pub use model::Model;

/// How to read the input.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Folders searched for included files, in this order; `#include "x"` looks beside the including file first.
    pub include_dirs: Vec<PathBuf>,
    /// Predefined macros as `NAME` (meaning 1) or `NAME=TEXT`.
    pub defines: Vec<String>,
}

/// What a run without errors leaves.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The model.
    pub model: Model,
    /// Warnings; empty for most input.
    pub warnings: Diagnostics,
}

/// Reads an IDL file with everything it includes, checks it, and returns its model.
///
/// # Errors
/// Everything that is wrong with the input, ready to print, warnings included; also when the file cannot be read.
pub fn compile_to_model(_path: impl AsRef<Path>, _options: &Options) -> Result<Checked, Diagnostics> {
    Err(Diagnostics::default())
}

/// As [`compile_to_model`], of text in memory under a made-up file name; includes come from the options' folders.
///
/// # Errors
/// As [`compile_to_model`].
pub fn compile_text_to_model(_name: &str, _text: &str, _options: &Options) -> Result<Checked, Diagnostics> {
    Err(Diagnostics::default())
}
