//! The standard's own IDL files, as Debian's `omniorb-idl` has them: each compiles to Rust that compiles.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use throughline_idl::Config;

const IDL: &str = "/usr/share/idl/omniORB";

/// What the compiler says of what is beyond the dialect; other errors are those of files that omniidl refuses as well.
const BEYOND: [&str; 2] = ["is not supported", "is declared but not defined"];

#[test]
fn all_files_within_the_dialect_generate_rust_that_compiles() {
    if !Path::new(IDL).is_dir() {
        println!("SKIPPED: {IDL} is missing; install Debian's omniorb-idl");
        return;
    }
    let crate_dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("omniorb-files");
    let mut source = String::from("//! Standard IDL files.\n");
    let (mut whole, mut in_part) = (Vec::new(), Vec::new());
    for path in idl_files() {
        let name = path.file_stem().unwrap().to_string_lossy().replace('-', "_").to_lowercase();
        match compile(&path, false) {
            Ok(text) => whole.push((name, text)),
            Err(error) if BEYOND.iter().any(|it| error.contains(it)) => match compile(&path, true) {
                Ok(text) => in_part.push((name, text)),
                Err(error) => panic!("{}: {error}", path.display()),
            },
            Err(error) => println!("{}: {error}", path.display()),
        }
    }
    println!("{} files whole, {} in part", whole.len(), in_part.len());
    let _ = fs::remove_dir_all(crate_dir.join("src"));
    fs::create_dir_all(crate_dir.join("src")).unwrap();
    for (name, text) in whole.iter().chain(&in_part) {
        fs::write(crate_dir.join(format!("src/{name}.rs")), text).unwrap();
        writeln!(source, "/// From the file of that name.\npub mod m_{name} {{ include!(\"{name}.rs\"); }}")
            .unwrap();
    }
    fs::write(crate_dir.join("src/lib.rs"), source).unwrap();
    check(&crate_dir);
    assert!(whole.len() >= 18 && whole.len() + in_part.len() >= 61, "fewer files than before");
}

fn idl_files() -> Vec<PathBuf> {
    let folders = [PathBuf::from(IDL), Path::new(IDL).join("COS")];
    let entries = folders.iter().flat_map(|it| fs::read_dir(it).unwrap()).map(|it| it.unwrap().path());
    let mut files: Vec<_> = entries.filter(|it| it.extension().is_some_and(|it| it == "idl")).collect();
    files.sort();
    files
}

fn compile(path: &Path, skip: bool) -> Result<String, String> {
    let mut config = Config::new();
    config.include_dir(IDL).include_dir(Path::new(IDL).join("COS")).skip_unsupported(skip);
    config.generate(path).map(|it| it.source).map_err(|it| it.to_string())
}

/// Clippy if it is installed, else the compiler alone; warnings are errors.
fn check(crate_dir: &Path) {
    let orb = Path::new(env!("CARGO_MANIFEST_DIR")).join("../orb").canonicalize().unwrap();
    let manifest = format!(
        "[package]\nname = \"omniorb-files\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n\
         throughline = {{ path = {:?} }}\n\n[lints.rust]\nwarnings = \"deny\"\nmissing_docs = \"deny\"\n\n[workspace]\n",
        orb.display().to_string()
    );
    fs::write(crate_dir.join("Cargo.toml"), manifest).unwrap();
    // The versions that the workspace has, so that nothing is fetched.
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
    fs::copy(lock, crate_dir.join("Cargo.lock")).unwrap();
    let has_clippy = Command::new(env!("CARGO")).args(["clippy", "--version"]).output();
    let subcommand = if has_clippy.is_ok_and(|it| it.status.success()) { "clippy" } else { "check" };
    let output = Command::new(env!("CARGO"))
        .args([subcommand, "--offline", "--quiet", "--target-dir"])
        .arg(crate_dir.join("target"))
        .current_dir(crate_dir)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}", errors.chars().take(20_000).collect::<String>());
}
