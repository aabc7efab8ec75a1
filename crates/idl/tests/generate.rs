//! What is generated for the IDL files in `generate/`: for some of them compared with the text beside them. After a
//! change that is meant, run with `UPDATE_SNAPSHOTS=1` and read the difference. That the text for all of them compiles and
//! works is tested in `idl-tests`.

use std::fs;
use std::path::{Path, PathBuf};

use throughline_idl::Config;

/// Short files with a bit of everything, so that people read the differences.
const SNAPSHOTS: [&str; 2] = ["bank", "root"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/generate")
}

/// Compares with a file, or writes it.
fn expect(file: &str, text: &str) {
    let path = folder().join(file);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        return fs::write(path, text).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    let differing = expected.lines().zip(text.lines()).position(|(a, b)| a != b);
    assert!(
        expected == text,
        "{file} is not what is generated now, from line {} on; UPDATE_SNAPSHOTS=1 writes it anew",
        differing.unwrap_or(expected.lines().count().min(text.lines().count())) + 1
    );
}

/// What is generated for text in a file of its own.
fn generate(name: &str, text: &str, config: &Config) -> Result<throughline_idl::Output, String> {
    let folder = std::env::temp_dir().join(format!("throughline-generate-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    let result =
        config.generate(&path).map_err(|it| it.to_string().replace(&folder.display().to_string(), ""));
    fs::remove_file(path).unwrap();
    result
}

#[test]
fn snapshots() {
    let mut files: Vec<_> = fs::read_dir(folder()).unwrap().map(|it| it.unwrap().path()).collect();
    files.retain(|it| it.extension().is_some_and(|it| it == "idl"));
    files.sort();
    assert!(files.len() >= 7);
    for file in files {
        let stem = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let output = Config::new().generate(&file).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(output.warnings, [], "{stem}");
        if SNAPSHOTS.contains(&&*stem) {
            expect(&format!("{stem}.rs"), &output.source);
        }
    }
}

#[test]
fn the_same_text_each_time() {
    let path = folder().join("names.idl");
    let once = Config::new().generate(&path).unwrap();
    assert_eq!(once, Config::new().generate(&path).unwrap());
}

const UNSUPPORTED: &str = "\
module M {
  interface Before { void go(); };
  struct Holder { any what; long n; };
  interface Keeps { void use(in Holder h); };
  interface Direct {
    void ask(in any question);
    TypeCode tell() context(\"a\");
  };
  valuetype V { public long x; };
  native Opaque;
  const fixed PRICE = 1.50d;
  interface Derived : Direct {};
  interface After { void go(); };
};
";

#[test]
fn unsupported_constructs_are_named_with_their_place() {
    let text = UNSUPPORTED.replace("TypeCode tell", "void tell");
    let error = generate("unsupported.idl", &text, &Config::new()).unwrap_err();
    for part in [
        "`any` in member `what` of struct `M::Holder` is not supported",
        "unsupported.idl:3:",
        "`any` in parameter `question` of operation `M::Direct::ask` is not supported",
        "the `context` clause of operation `M::Direct::tell` is not supported",
        "valuetype `M::V` is not supported",
        "native type `M::Opaque` is not supported",
        "`fixed` in constant `M::PRICE` is not supported",
        "6 errors",
    ] {
        assert!(error.contains(part), "{part}\n\n{error}");
    }
}

#[test]
fn half_of_a_wide_character_is_refused_where_it_is_written() {
    let halves = r#"
const wchar HIGH = L'\uD83D';
const wstring LOW_FIRST = L"\uDE00" L"\uD83D";
const wstring MIDDLE = L"a\uD83Db";
"#;
    let error = generate("halves.idl", halves, &Config::new()).unwrap_err();
    for part in [
        "`\\uD83D` in constant `HIGH` is only half of a character",
        "`\\uDE00` in constant `LOW_FIRST` is only half of a character",
        "halves.idl:3:",
        "`\\uD83D` in constant `MIDDLE` is only half of a character",
        "3 errors",
    ] {
        assert!(error.contains(part), "{part}\n\n{error}");
    }
    let output = generate("halves.idl", halves, Config::new().skip_unsupported(true)).unwrap();
    assert!(!output.source.contains("const"), "{}", output.source);
    let whole = r#"const wstring FACE = L"\uD83D" L"\uDE00";"#;
    assert!(generate("whole.idl", whole, &Config::new()).unwrap().source.contains('\u{1f600}'));
}

#[test]
fn unsupported_constructs_can_be_skipped() {
    let text = UNSUPPORTED.replace("TypeCode tell", "void tell");
    let output = generate("skipped.idl", &text, Config::new().skip_unsupported(true)).unwrap();
    for kept in ["trait Before", "trait After"] {
        assert!(output.source.contains(kept), "{kept}\n\n{}", output.source);
    }
    for left_out in ["Holder", "trait Keeps", "Direct", "Derived", "PRICE", "Opaque"] {
        assert!(!output.source.contains(left_out), "{left_out}\n\n{}", output.source);
    }
    assert_eq!(output.warnings.len(), 6);
}

#[test]
fn what_included_files_have_and_nothing_needs_is_left_out() {
    let folder = std::env::temp_dir().join(format!("throughline-included-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let included = "struct Plain { long x; }; struct Odd { any x; }; interface Asks { any ask(); };";
    fs::write(folder.join("included.idl"), included).unwrap();
    let main = |text: &str| {
        fs::write(folder.join("main.idl"), format!("#include \"included.idl\"\n{text}\n")).unwrap();
        Config::new().generate(folder.join("main.idl")).map_err(|it| it.to_string())
    };
    let output = main("interface I { void f(in Plain p); };").unwrap();
    assert!(output.source.contains("struct Plain") && !output.source.contains("Odd"));
    assert_eq!(output.files.len(), 2);
    let error = main("interface I : Asks { void f(in Plain p); };").unwrap_err();
    assert!(error.contains("the result of operation `Asks::ask`"), "{error}");
    assert!(error.contains("needed by interface `I`"), "{error}");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn extern_paths_replace_modules_and_definitions() {
    let text = "module A { module B { interface Far { long f(); }; struct S { any a; }; }; };
                module C { struct Money { long n; }; };
                interface Near : A::B::Far { A::B::S s(in C::Money m, in A::B::Far other); };";
    let mut config = Config::new();
    config.extern_path("::A::B", "::other::b").extern_path("C::Money", "crate::Money");
    let output = generate("extern.idl", text, &config).unwrap();
    for part in [
        "pub trait Near: ::other::b::Far",
        "::other::b::far_skeleton::f(&self.0, call)",
        "crate::Money",
        "Option<&::other::b::FarRef>",
        "impl From<NearRef> for ::other::b::FarRef",
    ] {
        assert!(output.source.contains(part), "{part}\n\n{}", output.source);
    }
    assert!(!output.source.contains("pub mod a"), "{}", output.source);
}

#[test]
fn a_path_that_is_none_is_refused() {
    let mut config = Config::new();
    config.extern_path("A", "not a path");
    let error = generate("path.idl", "struct S { long x; };", &config).unwrap_err();
    assert!(error.contains("`not a path`"), "{error}");
}

#[test]
fn forward_interfaces_without_a_definition_are_refused() {
    let text = "interface Later; interface I { void f(in Later l); };";
    let error = generate("forward.idl", text, &Config::new()).unwrap_err();
    assert!(error.contains("interface `Later` is declared but not defined"), "{error}");
    let unneeded =
        generate("unneeded.idl", "interface Later; struct S { long x; };", &Config::new()).unwrap();
    assert!(!unneeded.source.contains("Later"));
}

#[test]
fn build_scripts_get_a_file_or_readable_errors() {
    let folder = std::env::temp_dir().join(format!("throughline-build-{}", std::process::id()));
    let source = folder.join("idl/two.parts.idl");
    fs::create_dir_all(source.parent().unwrap()).unwrap();
    fs::write(&source, "struct S { long x; };").unwrap();
    let mut config = Config::new();
    config.out_dir(folder.join("out"));
    config.compile(&source).unwrap();
    let target = folder.join("out/two.parts.rs");
    assert!(fs::read_to_string(&target).unwrap().contains("pub struct S"));

    // What has not changed is not written again.
    let written = fs::metadata(&target).unwrap().modified().unwrap();
    config.compile(&source).unwrap();
    assert_eq!(fs::metadata(&target).unwrap().modified().unwrap(), written);

    // `main` of a build script prints errors with `Debug`.
    fs::write(&source, "struct S { lung x; };").unwrap();
    let shown = format!("{:?}", config.compile(&source).unwrap_err());
    assert!(shown.contains("two.parts.idl:1:12") && shown.contains("1 error"), "{shown}");
    fs::remove_dir_all(folder).unwrap();
}

/// Cargo would find a file that the build script wrote newer than the script's last run, every time.
#[test]
fn what_a_build_script_wrote_is_not_watched() {
    let name = "what_a_build_script_wrote_is_not_watched";
    if let Some(out) = std::env::var_os("OUT_DIR") {
        // In the child, the build script.
        let out = Path::new(&out);
        fs::write(out.join("own.idl"), "#include \"given.idl\"\n").unwrap();
        Config::new().include_dir(out.parent().unwrap()).compile(out.join("own.idl")).unwrap();
        return;
    }
    let folder = std::env::temp_dir().join(format!("throughline-watched-{}", std::process::id()));
    fs::create_dir_all(folder.join("out")).unwrap();
    fs::write(folder.join("given.idl"), "struct S { long x; };").unwrap();
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args([name, "--exact", "--nocapture"])
        .env("OUT_DIR", folder.join("out"))
        .output()
        .unwrap();
    let said = String::from_utf8(child.stdout).unwrap();
    assert!(child.status.success() && folder.join("out/own.rs").exists(), "{said}");
    let given = format!("cargo:rerun-if-changed={}", folder.join("given.idl").display());
    assert!(said.contains(&given) && said.matches("rerun-if-changed").count() == 1, "{said}");
    fs::remove_dir_all(folder).unwrap();
}

/// Rust warns of underscores in the middle of a type's name.
#[test]
fn underscores_behind_an_interface_stay_behind_what_goes_with_it() {
    let text = "interface Self { exception No {}; void f() raises (No); }; interface foo_bar {}; interface FooBar {};";
    let source = generate("underscores.idl", text, &Config::new()).unwrap().source;
    for name in
        ["trait Self_:", "struct SelfRef(", "enum SelfFError ", "trait FooBar_:", "struct FooBarRef_("]
    {
        assert!(source.contains(name), "{name}");
    }
}

/// Each struct has two members of the one before, so that there are 2^64 ways down from the last.
#[test]
fn structs_that_double_take_no_longer_for_it() {
    let structs: String = (1..64).map(|i| format!("struct S{i} {{ S{0} a; S{0} b; }};", i - 1)).collect();
    let text = format!(
        "struct S0 {{ long a; }};{structs} exception No {{ S63 a; }}; interface I {{ void f() raises (No); }};"
    );
    generate("doubling.idl", &text, &Config::new()).unwrap();
}
