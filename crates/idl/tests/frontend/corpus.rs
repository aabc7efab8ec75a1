//! The IDL files of Debian's package `omniorb-idl`: what omniidl accepts we accept, what it refuses we refuse.

use std::path::{Path, PathBuf};
use std::process::Command;

use throughline_idl::{Options, compile_to_model};

const FOLDER: &str = "/usr/share/idl/omniORB";

/// What omniidl 4.3 refuses of them: names that no file defines, or files that do not exist.
const REFUSED: [&str; 10] = [
    "CosTSPortability.idl",
    "DCE_CIOPSecurity.idl",
    "NRService.idl",
    "SECIOP.idl",
    "SSLIOP.idl",
    "Security.idl",
    "SecurityAdmin.idl",
    "SecurityLevel1.idl",
    "SecurityLevel2.idl",
    "SecurityReplaceable.idl",
];

fn files() -> Vec<PathBuf> {
    let folders = [PathBuf::from(FOLDER), Path::new(FOLDER).join("COS")];
    let entries = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten();
    let mut files: Vec<_> = entries.filter_map(|it| Some(it.ok()?.path())).collect();
    files.retain(|it| it.extension().is_some_and(|it| it == "idl"));
    files.sort();
    files
}

fn options() -> Options {
    let include_dirs = vec![FOLDER.into(), Path::new(FOLDER).join("COS")];
    Options { include_dirs, ..Options::default() }
}

#[test]
fn corba_services() {
    let files = files();
    if files.is_empty() {
        eprintln!("SKIPPED: the package omniorb-idl is not installed, so its IDL files are not read");
        return;
    }
    let mut wrong = Vec::new();
    for file in &files {
        let name = file.file_name().unwrap().to_str().unwrap();
        let result = compile_to_model(file, &options());
        if result.is_err() != REFUSED.contains(&name) {
            wrong
                .push(format!("{name}: {}", result.err().map_or("accepted".to_owned(), |it| it.to_string())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    eprintln!("{} files read, {} of them refused", files.len(), REFUSED.len());
}

/// The list above is checked against the tool itself where it is at hand.
#[test]
fn corba_services_as_omniidl_sees_them() {
    if files().is_empty() || Command::new("omniidl").arg("-V").output().is_err() {
        eprintln!("SKIPPED: omniidl or the package omniorb-idl is not installed");
        return;
    }
    for file in files() {
        let includes = [format!("-I{FOLDER}"), format!("-I{FOLDER}/COS")];
        let output = Command::new("omniidl").args(includes).arg("-bdump").arg(&file).output().unwrap();
        let name = file.file_name().unwrap().to_str().unwrap();
        assert_eq!(output.status.success(), !REFUSED.contains(&name), "{name}");
    }
}

/// Repository ids as omniidl computes them.
#[test]
fn repository_ids_of_the_name_service() {
    let Ok(checked) = compile_to_model(Path::new(FOLDER).join("COS/CosNaming.idl"), &options()) else {
        eprintln!("SKIPPED: the package omniorb-idl is not installed");
        return;
    };
    let model = checked.model;
    let id = |name: &str| model.get(model.find(name).unwrap()).repository_id.clone();
    assert_eq!(id("CosNaming::NamingContextExt"), "IDL:omg.org/CosNaming/NamingContextExt:1.0");
    assert_eq!(id("CosNaming::NamingContext::NotFound"), "IDL:omg.org/CosNaming/NamingContext/NotFound:1.0");
    let context = model.find("CosNaming::NamingContextExt").unwrap();
    assert!(model.features(context).count() > model.interface(context).unwrap().features.len());
}
