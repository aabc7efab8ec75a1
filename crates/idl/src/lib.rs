//! Compiler for OMG IDL in CORBA's dialect (IDL as of CORBA 2.x and 3.x): from source text to a checked [`model`], and
//! from there to Rust.
//!
//! The way of a file: preprocessor, lexer, parser, resolution of names with all checks, model, generator. Errors carry
//! file, line, column and a hint, and one run reports as many as it can find.
#![forbid(unsafe_code)]

pub mod build;
mod diagnostic;
pub mod generate;
mod lex;
pub mod model;
mod nearest;
mod parse;
mod preprocess;
mod resolve;
mod source;
mod syntax;

use std::io;
use std::path::{Path, PathBuf};

pub use build::{CompileError, Config, Output, compile};
pub use diagnostic::{Diagnostic, Diagnostics, Location, Note, Severity};
pub use model::Model;
pub use nearest::nearest;
pub use source::{Disk, Files, Memory};

use diagnostic::Sink;
use source::SourceMap;

/// How to read the input.
#[derive(Clone, Debug)]
pub struct Options {
    /// Folders searched for included files, in this order; `#include "x"` looks beside the including file first.
    pub include_dirs: Vec<PathBuf>,
    /// Predefined macros as `NAME` (meaning 1) or `NAME=TEXT`.
    pub defines: Vec<String>,
    /// Errors to report before giving up, at least 1. The default is 50.
    pub error_limit: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options { include_dirs: Vec::new(), defines: Vec::new(), error_limit: 50 }
    }
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
pub fn compile_to_model(path: impl AsRef<Path>, options: &Options) -> Result<Checked, Diagnostics> {
    compile_files_to_model(path, options, &Disk)
}

/// As [`compile_to_model`], of text in memory under a made-up file name; includes come from the options' folders.
///
/// # Errors
/// As [`compile_to_model`].
pub fn compile_text_to_model(name: &str, text: &str, options: &Options) -> Result<Checked, Diagnostics> {
    compile_files_to_model(name, options, &Overlay { name: Path::new(name), text })
}

/// As [`compile_to_model`], with files from anywhere.
///
/// # Errors
/// As [`compile_to_model`].
pub fn compile_files_to_model(
    path: impl AsRef<Path>,
    options: &Options,
    files: &dyn Files,
) -> Result<Checked, Diagnostics> {
    let mut sources = SourceMap::default();
    let mut sink = Sink::new(options.error_limit);
    let model = run(path.as_ref(), options, files, &mut sources, &mut sink);
    let failed = sink.has_errors();
    let diagnostics = sink.finish(&sources);
    match model {
        Some(model) if !failed => Ok(Checked { model, warnings: diagnostics }),
        _ => Err(diagnostics),
    }
}

/// The text of a file after preprocessing, with `#line` directives that say where it comes from.
///
/// # Errors
/// What is wrong with the file and its directives.
pub fn preprocess_to_text(path: impl AsRef<Path>, options: &Options) -> Result<String, Diagnostics> {
    let mut sources = SourceMap::default();
    let mut sink = Sink::new(options.error_limit);
    let preprocessed = preprocess::preprocess(path.as_ref(), options, &Disk, &mut sources, &mut sink);
    match preprocessed {
        Some(preprocessed) if !sink.has_errors() => Ok(preprocess::to_text(&preprocessed, &sources)),
        _ => Err(sink.finish(&sources)),
    }
}

fn run(
    path: &Path,
    options: &Options,
    files: &dyn Files,
    sources: &mut SourceMap,
    sink: &mut Sink,
) -> Option<Model> {
    let preprocessed = preprocess::preprocess(path, options, files, sources, sink)?;
    let incomplete = preprocessed.incomplete;
    let lexed = lex::lex(preprocessed, sink);
    let parsed = parse::parse(lexed, sources, sink);
    Some(resolve::resolve(parsed, incomplete, sources, sink))
}

/// One file in memory over the disk.
struct Overlay<'a> {
    name: &'a Path,
    text: &'a str,
}

impl Files for Overlay<'_> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        if path == self.name { Ok(self.text.as_bytes().to_vec()) } else { Disk.read(path) }
    }
}
