//! The IDL files of Debian's package `omniorb-idl`: what omniidl accepts we accept, what it refuses we refuse.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use throughline_idl::model::{Feature, Kind, Model};
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

/// A back end of omniidl that prints the repository id of everything that has one.
const LISTER: &str = r#"
from omniidl import idlast
def show(node):
    parts = [node]
    if isinstance(node, (idlast.Typedef, idlast.Attribute)): parts += node.declarators()
    for part in parts:
        # It has a module once per opening, each with an id of its own: ours is the last.
        if hasattr(part, "repoId") and not isinstance(part, idlast.Module) and "Forward" not in part.__class__.__name__:
            print(part.repoId())
    for of in ("definitions", "contents"):
        for child in getattr(node, of, lambda: [])(): show(child)
def run(tree, args):
    for node in tree.declarations(): show(node)
"#;

fn ids(model: &Model) -> BTreeSet<String> {
    let own = model.definitions().iter().map(|it| it.repository_id.clone());
    let features = model.definitions().iter().flat_map(|it| match &it.kind {
        Kind::Interface(it) => &it.features[..],
        Kind::ValueType(it) => &it.features[..],
        _ => &[],
    });
    let features = features.map(|it| match it {
        Feature::Operation(it) => it.repository_id.clone(),
        Feature::Attribute(it) => it.repository_id.clone(),
    });
    own.chain(features).collect()
}

/// Every repository id that omniidl prints is one of ours.
#[test]
fn repository_ids_as_omniidl_computes_them() {
    if files().is_empty() || Command::new("omniidl").arg("-V").output().is_err() {
        eprintln!("SKIPPED: omniidl or the package omniorb-idl is not installed");
        return;
    }
    let folder = std::env::temp_dir().join(format!("throughline-lister-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("throughline_lister.py"), LISTER).unwrap();
    let mut compared = 0;
    let own = ["repository_ids", "bank", "unions", "valuetypes", "names", "inheritance"];
    let own = own.map(|it| PathBuf::from(format!("tests/good/{it}.idl")));
    for file in files().into_iter().chain(own) {
        let Ok(checked) = compile_to_model(&file, &options()) else { continue };
        let ours = ids(&checked.model);
        let path = [format!("-p{}", folder.display()), format!("-I{FOLDER}"), format!("-I{FOLDER}/COS")];
        let output =
            Command::new("omniidl").args(path).arg("-bthroughline_lister").arg(&file).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        for id in String::from_utf8(output.stdout).unwrap().lines() {
            assert!(ours.contains(id), "{}: omniidl has {id}", file.display());
            compared += 1;
        }
    }
    std::fs::remove_dir_all(folder).unwrap();
    eprintln!("{compared} ids compared");
    assert!(compared > 1000);
}
