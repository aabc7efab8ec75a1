//! The entry points: files in memory, options, diagnostics as data.

use throughline_idl::{
    Memory, Options, Severity, compile_files_to_model, compile_text_to_model, compile_to_model,
};

#[test]
fn files_in_memory() {
    let mut files = Memory::default();
    files.insert("a/main.idl", "#include \"sub/one.idl\"\n#include <two.idl>\nstruct S { One a; Two b; };");
    files.insert("a/sub/one.idl", "#include \"../three.idl\"\ntypedef Three One;");
    files.insert("a/three.idl", "typedef long Three;");
    files.insert("lib/two.idl", "#include \"../a/three.idl\"\ntypedef long Two;");
    let options = Options { include_dirs: vec!["lib".into()], ..Options::default() };
    let error = compile_files_to_model("a/main.idl", &options, &files).unwrap_err();
    assert!(error.to_string().contains("`Three` is defined twice"), "{error}");
    files.insert("a/three.idl", "#pragma once\ntypedef long Three;");
    let checked = compile_files_to_model("a/main.idl", &options, &files).unwrap();
    let paths: Vec<_> = checked.model.files().iter().map(|it| it.path.to_str().unwrap()).collect();
    assert_eq!(paths, ["a/main.idl", "a/sub/one.idl", "a/three.idl", "lib/two.idl"]);
    let chain = checked.model.files()[2].included_from.unwrap();
    assert_eq!((chain.file.index(), chain.line, chain.column), (1, 1, 10));
    assert_eq!(checked.model.roots().len(), 4);
}

#[test]
fn no_such_file() {
    let error = compile_to_model("nowhere/to/be/found.idl", &Options::default()).unwrap_err();
    assert_eq!(error.to_string(), "error: cannot read nowhere/to/be/found.idl: no such file\n\n1 error\n");
    assert!(compile_to_model("tests", &Options::default()).unwrap_err().to_string().contains("folder"));
}

#[test]
fn defines() {
    let text = "#if WIDTH == 3 && defined(ON) && ON\ntypedef long T[WIDTH];\n#else\n#error off\n#endif";
    let defines = vec!["WIDTH=3".to_owned(), "ON".to_owned()];
    compile_text_to_model("t.idl", text, &Options { defines, ..Options::default() }).unwrap();
    let defines = vec!["1X=3".to_owned()];
    let error = compile_text_to_model("t.idl", text, &Options { defines, ..Options::default() }).unwrap_err();
    assert!(error.to_string().contains("`1X` is no name for a macro"));
}

#[test]
fn a_define_from_outside_with_an_error_in_it() {
    let defines = vec!["TYPE=lang".to_owned()];
    let options = Options { defines, ..Options::default() };
    let error = compile_text_to_model("t.idl", "struct S { TYPE x; };", &options).unwrap_err();
    assert_eq!(error.iter().next().unwrap().location.as_ref().unwrap().column, 12);
}

#[test]
fn diagnostics_as_data() {
    let text = "struct S { long x; long x; };\nconst short y = \"\\\"\";\n";
    let diagnostics = compile_text_to_model("dir/t.idl", text, &Options::default()).unwrap_err();
    assert_eq!((diagnostics.errors(), diagnostics.warnings()), (2, 0));
    let first = diagnostics.iter().next().unwrap();
    assert_eq!(first.severity, Severity::Error);
    assert_eq!(first.notes[0].location.column, 17);
    let json = first.to_json();
    let expected = "{\"severity\":\"error\",\"message\":\"`x` is defined twice in this scope\",\
                    \"file\":\"dir/t.idl\",\"line\":1,\"column\":25,\"width\":1,\"label\":\"\",\"notes\":[{";
    assert!(json.starts_with(expected), "{json}");
    assert!(json.contains("\"help\":[],\"included_from\":[],\"rendered\":\"error: `x`"), "{json}");
    assert!(first.render(true).contains('\u{1b}') && !first.render(false).contains('\u{1b}'));
}

#[test]
fn the_number_of_errors_is_limited() {
    let text: String = (0..500).map(|i| format!("typedef Missing{i} T{i};\n")).collect();
    let error = compile_text_to_model("t.idl", &text, &Options::default()).unwrap_err();
    assert!(error.is_truncated());
    assert_eq!(error.errors(), 50);
    assert!(error.to_string().ends_with("50 errors; more errors not shown\n"));
    let options = Options { error_limit: 3, ..Options::default() };
    assert_eq!(compile_text_to_model("t.idl", &text, &options).unwrap_err().errors(), 3);
}

#[test]
fn text_that_is_not_utf_8() {
    let mut files = Memory::default();
    files.insert("latin.idl", &b"// caf\xe9\nconst string s = \"caf\xe9\";\n"[..]);
    let checked = compile_files_to_model("latin.idl", &Options::default(), &files).unwrap();
    let text = format!("{:?}", checked.model.definitions()[0].kind);
    assert!(text.contains("café"), "{text}");
    files.insert("bom.idl", "\u{feff}typedef long T;\r\n");
    compile_files_to_model("bom.idl", &Options::default(), &files).unwrap();
}
