//! The front end against small files: those in `good/` with a dump of their model, those in `bad/` with what is said about
//! them. After a change that is meant, run with `UPDATE_SNAPSHOTS=1` and read the difference.
//!
//! Where omniidl is installed, its verdict on every file must be the same, unless the file's first line says otherwise.

#[path = "frontend/corpus.rs"]
mod corpus;
#[path = "frontend/dump.rs"]
mod dump;
#[path = "frontend/entry.rs"]
mod entry;
#[path = "frontend/hostile.rs"]
mod hostile;
#[path = "frontend/preprocessor.rs"]
mod preprocessor;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use throughline_idl::{Options, compile_to_model};

/// IDL files of a folder beside this file, as paths that messages show alike on every machine.
fn files(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(Path::new("tests").join(folder)).expect("tests run in the crate's folder");
    let mut files: Vec<_> = entries.filter_map(|it| Some(it.ok()?.path())).collect();
    files.retain(|it| it.extension().is_some_and(|it| it == "idl"));
    files.sort();
    assert!(files.len() > 10, "{folder}: the test files are missing");
    files
}

/// Compares with a snapshot, or writes it; what differs goes to `failures`.
fn expect(path: &Path, text: &str, failures: &mut Vec<String>) {
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        return fs::write(path, text).expect("snapshots can be written");
    }
    let expected = fs::read_to_string(path).unwrap_or_default();
    if expected != text {
        failures.push(format!("==== {} should be\n{expected}\n==== but is\n{text}", path.display()));
    }
}

#[test]
fn good_files_have_their_model() {
    let mut failures = Vec::new();
    for file in files("good") {
        match compile_to_model(&file, &Options::default()) {
            Ok(checked) => {
                let text = dump::dump(&checked.model) + &dump::warnings(&checked.warnings);
                expect(&file.with_extension("model"), &text, &mut failures);
            }
            Err(diagnostics) => failures.push(format!("{} is refused:\n{diagnostics}", file.display())),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn bad_files_get_their_messages() {
    let mut failures = Vec::new();
    for file in files("bad") {
        match compile_to_model(&file, &Options::default()) {
            Ok(_) => failures.push(format!("{} is accepted", file.display())),
            Err(diagnostics) => {
                expect(&file.with_extension("stderr"), &diagnostics.render(false), &mut failures)
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Messages must stand at a place inside their file, and in reading order.
#[test]
fn messages_have_their_place() {
    for file in files("bad") {
        let Err(diagnostics) = compile_to_model(&file, &Options::default()) else { continue };
        let text = fs::read(&file).unwrap();
        let lines = text.split(|c| *c == b'\n').count() as u32;
        let mut last = 0;
        for it in diagnostics.iter() {
            let location = it.location.as_ref().expect("every message here has a place");
            if Path::new(&location.file) == file {
                assert!(
                    location.line >= last && location.line <= lines,
                    "{}: {}",
                    file.display(),
                    it.message
                );
                last = location.line;
            }
            assert!(it.to_json().starts_with("{\"severity\":\""), "{}", it.to_json());
        }
    }
}

#[test]
fn omniidl_agrees() {
    if Command::new("omniidl").arg("-V").output().is_err() {
        eprintln!("SKIPPED: omniidl is not installed, so its verdicts are not compared");
        return;
    }
    let mut differing = Vec::new();
    for (folder, ours) in [("good", true), ("bad", false)] {
        for file in files(folder) {
            let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
            let excused = text.lines().next().is_some_and(|line| line.starts_with("// omniidl:"));
            let theirs = Command::new("omniidl").arg("-bdump").arg(&file).output().unwrap().status.success();
            if (theirs == ours) == excused {
                differing.push(format!("{}: omniidl says {theirs}", file.display()));
            }
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}
