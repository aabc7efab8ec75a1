//! `throughline idl`: check IDL files, or compile them to Rust.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use serde_json::json;
use throughline_idl::model::Kind;
use throughline_idl::{Config, Diagnostic, Diagnostics, Model, Options, compile_to_model};

use crate::failure::{Failure, Result};
use crate::output;

/// Check OMG IDL files, or compile them to Rust
///
/// Without -o every file is checked, with all that it includes, and what it defines is listed. With -o each F.idl becomes
/// F.rs in that folder: what `throughline_idl::compile` makes in a build script.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  throughline idl bank.idl\n  throughline idl -I /usr/share/idl/omniORB -D DEBUG -o src/generated bank.idl"
)]
pub struct Arguments {
    /// The files
    #[arg(required = true, value_name = "F.idl")]
    files: Vec<PathBuf>,
    /// Search this folder for included files; may be repeated
    #[arg(short = 'I', value_name = "DIR")]
    include: Vec<PathBuf>,
    /// Predefine a macro: NAME, which means 1, or NAME=TEXT
    #[arg(short = 'D', value_name = "MACRO")]
    define: Vec<String>,
    /// Write Rust source to this folder
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Check what would be generated without writing it: with -o, fail if a file there is missing or different
    #[arg(long)]
    check: bool,
    /// Leave out what cannot be generated yet, with a warning, instead of refusing the file
    #[arg(long)]
    skip_unsupported: bool,
    /// Print one JSON object per line: diagnostics, then a summary for each file
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result {
    check_targets(arguments)?;
    let mut failed = 0;
    for file in &arguments.files {
        let done = if arguments.check || arguments.output.is_some() {
            generate(arguments, file)
        } else {
            check(arguments, file)
        };
        match done {
            Ok(()) => {}
            Err(Problem::Input(diagnostics)) => {
                failed += 1;
                print_diagnostics(arguments, diagnostics.iter());
                if arguments.json {
                    output::json_line(&json!({"file": file.display().to_string(), "ok": false,
                        "errors": diagnostics.errors(), "warnings": diagnostics.warnings()}));
                } else {
                    let more = if diagnostics.is_truncated() { " or more" } else { "" };
                    output::tell(&format!(
                        "{}: {}{more}",
                        file.display(),
                        count(diagnostics.errors(), "error")
                    ));
                }
            }
            Err(Problem::Other(failure)) => return Err(failure),
        }
    }
    if failed == 0 { Ok(()) } else { Err(Failure::told()) }
}

/// Where the Rust of a file goes.
fn target(arguments: &Arguments, file: &Path) -> Option<PathBuf> {
    let folder = arguments.output.as_ref()?;
    Some(folder.join(file.with_extension("rs").file_name().unwrap_or_default()))
}

/// Nothing that was given or written may be written over.
fn check_targets(arguments: &Arguments) -> Result {
    let mut targets = BTreeMap::new();
    for file in &arguments.files {
        let Some(target) = target(arguments, file) else { return Ok(()) };
        let is_target = |file: &Path| {
            fs::canonicalize(file).is_ok_and(|it| fs::canonicalize(&target).is_ok_and(|t| t == it))
        };
        if let Some(input) = arguments.files.iter().find(|file| is_target(file)) {
            return Err(Failure::usage(format!(
                "the Rust of {} would overwrite {}",
                file.display(),
                input.display()
            ))
            .next("choose another folder with -o, or give the file the ending .idl"));
        }
        if let Some(other) = targets.insert(target, file).filter(|other| *other != file) {
            return Err(Failure::usage(format!(
                "the Rust of {} and {} has one name",
                other.display(),
                file.display()
            ))
            .next("compile them one by one, each to a folder of its own with -o"));
        }
    }
    Ok(())
}

/// Why a file was not compiled.
enum Problem {
    /// The file is wrong: the messages say where.
    Input(Diagnostics),
    Other(Failure),
}

impl From<Diagnostics> for Problem {
    fn from(diagnostics: Diagnostics) -> Self {
        Self::Input(diagnostics)
    }
}

fn check(arguments: &Arguments, file: &Path) -> std::result::Result<(), Problem> {
    let options = Options {
        include_dirs: arguments.include.clone(),
        defines: arguments.define.clone(),
        ..Options::default()
    };
    let checked = compile_to_model(file, &options)?;
    print_diagnostics(arguments, checked.warnings.iter());
    let census = Census::of(&checked.model);
    if arguments.json {
        let interfaces: Vec<_> = census
            .interfaces
            .iter()
            .map(|(id, operations)| json!({"repository_id": id, "operations": operations}))
            .collect();
        output::json_line(&json!({"file": file.display().to_string(), "ok": true, "errors": 0,
            "warnings": checked.warnings.warnings(), "files_read": checked.model.files().len(),
            "interfaces": interfaces, "types": census.types, "constants": census.constants,
            "exceptions": census.exceptions}));
        return Ok(());
    }
    let included = checked.model.files().len() - 1;
    let with =
        if included > 0 { format!(", with {}", count(included, "included file")) } else { String::new() };
    output::line(&format!("{}: no errors{with}", file.display()));
    let parts = [
        count(census.interfaces.len(), "interface"),
        count(census.types, "type"),
        count(census.exceptions, "exception"),
        count(census.constants, "constant"),
    ];
    output::line(&format!("  defines {}", parts.join(", ")));
    for (id, operations) in &census.interfaces {
        output::line(&format!("  {id}  {}", count(*operations, "operation and attribute")));
    }
    Ok(())
}

/// What the main file defines.
#[derive(Default)]
struct Census {
    /// Repository id, and the number of operations and attributes, inherited ones included.
    interfaces: Vec<(String, usize)>,
    types: usize,
    constants: usize,
    exceptions: usize,
}

impl Census {
    fn of(model: &Model) -> Self {
        let mut census = Self::default();
        for (id, definition) in model.iter().filter(|(_, d)| d.is_in_main_file()) {
            match &definition.kind {
                Kind::Interface(_) => {
                    census.interfaces.push((definition.repository_id.clone(), model.features(id).count()));
                }
                Kind::Constant(_) => census.constants += 1,
                Kind::Exception(_) => census.exceptions += 1,
                Kind::Module(_) | Kind::ForwardInterface(_) | Kind::ForwardValueType { .. } => {}
                _ => census.types += 1,
            }
        }
        census
    }
}

fn generate(arguments: &Arguments, file: &Path) -> std::result::Result<(), Problem> {
    let mut config = Config::new();
    config.skip_unsupported(arguments.skip_unsupported);
    arguments.include.iter().for_each(|dir| _ = config.include_dir(dir));
    arguments.define.iter().for_each(|text| _ = config.define(text));
    let made = config.generate(file)?;
    print_diagnostics(arguments, made.warnings.iter());
    let target = target(arguments, file);
    let verb = match &target {
        None => "compiles",
        Some(target) if arguments.check => {
            compare(target, &made.source)?;
            "up to date"
        }
        Some(target) => {
            write(target, &made.source)?;
            "written"
        }
    };
    let shown = target.as_deref().unwrap_or(file).display().to_string();
    let lines = made.source.lines().count();
    if arguments.json {
        let output = target.map(|t| t.display().to_string());
        output::json_line(&json!({"file": file.display().to_string(), "ok": true, "errors": 0,
            "warnings": made.warnings.len(), "output": output, "lines": lines}));
    } else {
        output::line(&format!("{shown}: {verb}, {}", count(lines, "line")));
    }
    Ok(())
}

fn compare(target: &Path, source: &str) -> std::result::Result<(), Problem> {
    let there = fs::read_to_string(target);
    if there.as_ref().is_ok_and(|text| text == source) {
        return Ok(());
    }
    let what = if there.is_ok() { "is out of date" } else { "cannot be read" };
    let failure = Failure::new(format!("{} {what}", target.display()))
        .next("run the same command without --check to write it");
    Err(Problem::Other(failure))
}

fn write(target: &Path, source: &str) -> std::result::Result<(), Problem> {
    let folder = target.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).and_then(|()| fs::write(target, source)).map_err(|e| {
        let failure = Failure::new(format!("cannot write {}", target.display())).because(e);
        Problem::Other(failure.next("choose another folder with -o, or make this one writable"))
    })
}

fn print_diagnostics<'d>(arguments: &Arguments, all: impl Iterator<Item = &'d Diagnostic>) {
    for diagnostic in all {
        if arguments.json {
            output::line(&diagnostic.to_json());
        } else {
            let _ = writeln!(io::stderr(), "{}\n", diagnostic.render(io::stderr().is_terminal()));
        }
    }
}

/// `1 line`, `2 lines`, `2 operations and attributes`.
fn count(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}").replace(" and attribute", " or attribute"),
        _ => format!("{number} {}s", noun.replace(" and", "s and")),
    }
}
