//! For build scripts: from an IDL file to a Rust file in `OUT_DIR`.
//!
//! ```no_run
//! // build.rs
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     throughline_idl::compile("idl/bank.idl")?;
//!     Ok(())
//! }
//! ```
//!
//! The crate then has the module, and needs no dependency but `throughline`:
//!
//! ```ignore
//! include!(concat!(env!("OUT_DIR"), "/bank.rs"));
//! ```

use std::env;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::diagnostic::{Report, Severity, Sink};
use crate::generate::{self, Generated, Settings};
use crate::source::SourceMap;
use crate::{Diagnostic, Diagnostics, Disk, Model, Options};

/// Compiles an IDL file in a build script: `idl/bank.idl` becomes `bank.rs` in `OUT_DIR`.
///
/// # Errors
/// See [`CompileError`].
pub fn compile(path: impl AsRef<Path>) -> Result<(), CompileError> {
    Config::new().compile(path)
}

/// How to compile.
#[derive(Clone, Debug, Default)]
pub struct Config {
    options: Options,
    settings: Settings,
    out_dir: Option<PathBuf>,
}

/// Rust source for an IDL file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The text.
    pub source: String,
    /// What is doubtful about the input, and what was left out.
    pub warnings: Vec<Diagnostic>,
    /// All files that were read.
    pub files: Vec<PathBuf>,
}

impl Config {
    /// No included folders, no macros, output to `OUT_DIR`.
    pub fn new() -> Self {
        Self::default()
    }

    /// Searches a folder for included files, after those given before.
    pub fn include_dir(&mut self, dir: impl Into<PathBuf>) -> &mut Self {
        self.options.include_dirs.push(dir.into());
        self
    }

    /// Predefines a macro: `NAME`, which means 1, or `NAME=TEXT`.
    pub fn define(&mut self, definition: impl Into<String>) -> &mut Self {
        self.options.defines.push(definition.into());
        self
    }

    /// Writes to this folder instead of `OUT_DIR`.
    pub fn out_dir(&mut self, dir: impl Into<PathBuf>) -> &mut Self {
        self.out_dir = Some(dir.into());
        self
    }

    /// Takes an IDL module, or one definition, from other Rust code instead of generating it:
    /// `extern_path("::CosNaming", "::throughline_naming::cos_naming")`. That code must come from this compiler.
    pub fn extern_path(&mut self, idl: impl Into<String>, rust: impl Into<String>) -> &mut Self {
        self.settings.extern_paths.insert(idl.into(), rust.into());
        self
    }

    /// Whether to leave out what cannot be generated, with a warning, instead of refusing the file.
    pub fn skip_unsupported(&mut self, skip: bool) -> &mut Self {
        self.settings.skip_unsupported = skip;
        self
    }

    /// Compiles without writing anything.
    ///
    /// # Errors
    /// Everything that is wrong with the input, and what cannot be generated, ready to print.
    pub fn generate(&self, path: impl AsRef<Path>) -> Result<Output, Diagnostics> {
        self.check_extern_paths()?;
        let checked = crate::compile_to_model(path, &self.options)?;
        let Generated { source, skipped } = self.source(&checked.model)?;
        let left_out = generate::diagnostics(&checked.model, &skipped, Severity::Warning, &Disk);
        let warnings = checked.warnings.iter().chain(left_out.iter()).cloned().collect();
        let files = checked.model.files().iter().map(|it| it.path.clone()).collect();
        Ok(Output { source, warnings, files })
    }

    fn source(&self, model: &Model) -> Result<Generated, Diagnostics> {
        generate::generate(model, &self.settings)
            .map_err(|all| generate::diagnostics(model, &all, Severity::Error, &Disk))
    }

    fn check_extern_paths(&self) -> Result<(), Diagnostics> {
        let mut sink = Sink::new(self.options.error_limit);
        for (idl, rust) in &self.settings.extern_paths {
            if syn::parse_str::<syn::Path>(rust).is_err() {
                sink.push(Report::general(format!("`{rust}`, given for `{idl}`, is no path in Rust")));
            }
        }
        if sink.has_errors() { Err(sink.finish(&SourceMap::default())) } else { Ok(()) }
    }

    /// Compiles an IDL file to a Rust file of the same name, and tells Cargo which files to watch.
    ///
    /// # Errors
    /// See [`CompileError`].
    pub fn compile(&self, path: impl AsRef<Path>) -> Result<(), CompileError> {
        let path = path.as_ref();
        // Said first: it holds after a failure as well.
        watch(path);
        let output = self.generate(path)?;
        output.files.iter().for_each(|file| watch(file));
        for warning in &output.warnings {
            tell_cargo("warning", one_line(warning));
        }
        let folder = self.out_dir.clone().or_else(|| env::var_os("OUT_DIR").map(PathBuf::from));
        let folder = folder.ok_or(CompileError::NoOutDir)?;
        let mut name = path.file_stem().unwrap_or_default().to_owned();
        name.push(".rs");
        let file = folder.join(name);
        write(&file, &output.source).map_err(|error| CompileError::Write { file, error })
    }
}

/// Writes a file unless it has this content, so that nothing built from it is built again.
fn write(file: &Path, text: &str) -> io::Result<()> {
    if fs::read(file).is_ok_and(|old| old == text.as_bytes()) {
        return Ok(());
    }
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(file, text)
}

/// Has Cargo watch a file, but none that the build script itself wrote: that is always newer than the script's last run,
/// and everything would be built again every time.
fn watch(file: &Path) {
    let own = env::var_os("OUT_DIR").is_some_and(|folder| file.starts_with(folder));
    if !own {
        tell_cargo("rerun-if-changed", file.display());
    }
}

/// A line for Cargo, in a build script.
fn tell_cargo(what: &str, value: impl fmt::Display) {
    if env::var_os("OUT_DIR").is_some() {
        println!("cargo:{what}={value}");
    }
}

fn one_line(warning: &Diagnostic) -> String {
    match &warning.location {
        Some(at) => format!("{}:{}:{}: {}", at.file, at.line, at.column, warning.message),
        None => warning.message.clone(),
    }
}

/// Why an IDL file was not compiled. `Debug` prints what `Display` does, as that is what a build script's `main` shows.
#[non_exhaustive]
pub enum CompileError {
    /// The input is wrong, or has something that cannot be generated.
    Source(Diagnostics),
    /// There is no `OUT_DIR`, as there is in a build script, and no folder was given.
    NoOutDir,
    /// The output cannot be written.
    Write {
        /// The Rust file.
        file: PathBuf,
        /// What went wrong.
        error: io::Error,
    },
}

impl From<Diagnostics> for CompileError {
    fn from(diagnostics: Diagnostics) -> Self {
        Self::Source(diagnostics)
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source(diagnostics) => write!(f, "the IDL file was not compiled\n\n{diagnostics}"),
            Self::NoOutDir => {
                f.write_str("OUT_DIR is not set: call this from a build script, or give a folder")
            }
            Self::Write { file, error } => write!(f, "cannot write {}: {error}", file.display()),
        }
    }
}

impl fmt::Debug for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for CompileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Write { error, .. } => Some(error),
            _ => None,
        }
    }
}
