//! `throughline idl`.

mod common;

use common::{Folder, failure_of, run, stdout_of};

const GOOD: &str =
    "module Bank { exception Poor {}; interface Account { readonly attribute long long balance;
  void draw(in long long amount) raises (Poor); }; };";
const BAD: &str = "interface A {\n  void f(in Foo x);\n  oneway long g();\n};";

fn folder() -> Folder {
    let folder = Folder::new(&format!("idl-{:?}", std::thread::current().id()));
    std::fs::write(folder.file("good.idl"), GOOD).unwrap();
    std::fs::write(folder.file("bad.idl"), BAD).unwrap();
    folder
}

#[test]
fn good_files_are_listed() {
    let folder = folder();
    let text = stdout_of(&["idl", &folder.file("good.idl")]);
    assert!(text.contains("no errors") && text.contains("IDL:Bank/Account:1.0  2 operations"), "{text}");
    let json: serde_json::Value =
        serde_json::from_str(&stdout_of(&["idl", "--json", &folder.file("good.idl")])).unwrap();
    assert_eq!((&json["ok"], &json["interfaces"][0]["operations"]), (&true.into(), &2.into()));
}

#[test]
fn errors_are_shown_in_place() {
    let folder = folder();
    let (status, message) = failure_of(&["idl", &folder.file("bad.idl"), &folder.file("good.idl")]);
    assert_eq!(status, 1);
    for part in ["bad.idl:2:13", "`Foo`", "^^^", "bad.idl:3:", "2 errors"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    let output = run(&["idl", "--json", &folder.file("bad.idl"), &folder.file("good.idl")]);
    let lines = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<serde_json::Value> = lines.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!((&rows[0]["line"], &rows[0]["column"]), (&2.into(), &13.into()));
    assert_eq!((&rows[2]["ok"], &rows[3]["ok"]), (&false.into(), &true.into()));
    let (_, missing) = failure_of(&["idl", &folder.file("none.idl")]);
    assert!(missing.contains("none.idl"), "{missing}");
}

#[test]
fn output_is_written_and_compared() {
    let folder = folder();
    let (good, out) = (folder.file("good.idl"), folder.file("out"));
    stdout_of(&["idl", "--check", &good]);
    let (status, message) = failure_of(&["idl", "--check", "-o", &out, &good]);
    assert_eq!(status, 1);
    assert!(message.contains("next:"), "{message}");
    assert!(stdout_of(&["idl", "-o", &out, &good]).contains("written"));
    assert!(stdout_of(&["idl", "--check", "-o", &out, &good]).contains("up to date"));
    let source = std::fs::read_to_string(folder.file("out/good.rs")).unwrap();
    assert!(source.contains("pub trait Account"));
    std::fs::write(folder.file("good.idl"), GOOD.replace("draw", "pull")).unwrap();
    assert!(failure_of(&["idl", "--check", "-o", &out, &good]).1.contains("out of date"));
}

/// What was written, or what was given, is not written over.
#[test]
fn one_file_is_written_for_one() {
    let folder = folder();
    std::fs::create_dir(folder.file("other")).unwrap();
    let (one, other) = (folder.file("good.idl"), folder.file("other/good.idl"));
    std::fs::write(&other, "interface Other {};").unwrap();
    let (status, message) = failure_of(&["idl", "-o", &folder.file("out"), &one, &other]);
    assert!(status == 2 && message.contains("other/good.idl has one name"), "{message}");
    assert!(!std::path::Path::new(&folder.file("out")).exists());
    let odd = folder.file("good.rs");
    std::fs::write(&odd, GOOD).unwrap();
    let (status, message) = failure_of(&["idl", "-o", &folder.file("."), &odd]);
    assert!(status == 2 && message.contains("would overwrite"), "{message}");
    assert_eq!(std::fs::read_to_string(&odd).unwrap(), GOOD);
}

#[test]
fn macros_and_folders() {
    let folder = folder();
    std::fs::create_dir(folder.file("inc")).unwrap();
    std::fs::write(folder.file("inc/base.idl"), "interface Base {};").unwrap();
    let text = "#include <base.idl>\n#ifdef WIDE\ninterface Wide : Base {};\n#endif\n";
    std::fs::write(folder.file("main.idl"), text).unwrap();
    let (inc, main) = (folder.file("inc"), folder.file("main.idl"));
    assert!(!run(&["idl", &main]).status.success());
    assert!(!stdout_of(&["idl", "-I", &inc, &main]).contains("Wide"));
    let text = stdout_of(&["idl", "-I", &inc, "-D", "WIDE", &main]);
    assert!(text.contains("IDL:Wide:1.0") && text.contains("1 included file"), "{text}");
}
