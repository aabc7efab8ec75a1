//! No input makes the compiler panic or hang.

use std::time::Duration;

use proptest::prelude::*;
use throughline_idl::{Memory, Options, compile_files_to_model, compile_text_to_model};

/// Words and signs of the language and its preprocessor.
const SOUP: [&str; 94] = [
    "module",
    "interface",
    "struct",
    "union",
    "switch",
    "case",
    "default",
    "enum",
    "typedef",
    "const",
    "exception",
    "attribute",
    "readonly",
    "oneway",
    "void",
    "in",
    "out",
    "inout",
    "raises",
    "context",
    "long",
    "short",
    "unsigned",
    "float",
    "double",
    "fixed",
    "char",
    "wchar",
    "string",
    "wstring",
    "sequence",
    "any",
    "Object",
    "octet",
    "boolean",
    "valuetype",
    "abstract",
    "custom",
    "truncatable",
    "supports",
    "public",
    "private",
    "factory",
    "local",
    "native",
    "TRUE",
    "FALSE",
    "ValueBase",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ">>",
    "<<",
    ";",
    ",",
    ":",
    "::",
    "=",
    "+",
    "-",
    "*",
    "/",
    "%",
    "~",
    "|",
    "A",
    "B",
    "C",
    "a",
    "b",
    "_any",
    "M",
    "0",
    "1",
    "0xff",
    "1.5",
    "2.5d",
    "'c'",
    "\"s\"",
    "L\"w\"",
    "\n#define A",
    "\n#define F(x) x\n",
    "F(",
    "\n#if",
    "\n#endif\n",
    "\n#pragma prefix \"p\"\n",
    "\n#pragma ID A \"IDL:A:1.0\"\n",
    "typeid",
    "component",
];

fn read(text: &str) {
    let started = processor_time();
    let result = compile_text_to_model("soup.idl", text, &Options::default());
    if let Err(diagnostics) = result {
        assert!(!diagnostics.is_empty());
        assert!(diagnostics.errors() > 0, "refused without an error");
    }
    assert!(processor_time() - started < Duration::from_secs(5), "too slow");
}

/// How long this thread has run: unlike the time on the clock it doesn't depend on what else the machine does.
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("the kernel counts");
    let nanoseconds = text.split_whitespace().next().and_then(|n| n.parse().ok());
    Duration::from_nanos(nanoseconds.expect("nanoseconds"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn token_soup(words in prop::collection::vec(prop::sample::select(&SOUP[..]), 0..120)) {
        read(&words.join(" "));
    }

    #[test]
    fn any_text(text in "\\PC{0,200}") {
        read(&text);
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut files = Memory::default();
        files.insert("b.idl", bytes);
        let _ = compile_files_to_model("b.idl", &Options::default(), &files);
    }

    /// A good file with a piece cut out, doubled, or moved.
    #[test]
    fn damaged_files(file in 0usize..8, from in 0usize..2000, length in 0usize..60, to in 0usize..2000, how in 0..3) {
        let files = super::files("good");
        let text = std::fs::read_to_string(&files[file % files.len()]).unwrap();
        let place = |at: usize| (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let (start, end, to) = (place(from), place(from + length), place(to));
        let piece = &text[start..end];
        read(&match how {
            0 => format!("{}{}", &text[..start], &text[end..]),
            1 => format!("{}{piece}{piece}{}", &text[..start], &text[end..]),
            _ => format!("{}{piece}{}", &text[..to], &text[to..]),
        });
    }
}

#[test]
fn deep_nesting() {
    const N: usize = 20_000;
    let around =
        |open: &str, inner: &str, close: &str| format!("{}{inner}{}", open.repeat(N), close.repeat(N));
    read(&around("module M { ", "typedef long T;", "};"));
    read(&format!("const long a = {};", around("(", "1", ")")));
    read(&format!("const long a = {}1;", "-".repeat(N)));
    read(&format!("const long a = {}1;", "1 + ".repeat(N)));
    read(&format!("typedef {} T;", around("sequence<", "long", ">")));
    read(&around("struct S { ", "long x;", " m; };"));
    read(&format!("#if {}\n#endif", around("(", "1", ")")));
    read(&format!("#if {}1\n#endif", "!".repeat(N)));
    read(&around("#if 1\n", "", "#endif\n"));
    read(&format!("#define F(x) x\nconst long a = {};", around("F(", "1", ")")));
    read(&format!("typedef long T{};", "[2]".repeat(N)));
    read(&"{".repeat(N));
    read(&"@a(".repeat(N));
    read(&"/*".repeat(N));
    read(&"struct ".repeat(N));
}

/// A macro's name need not be as long as what it stands for, and what is left of it is shown in messages.
#[test]
fn angle_brackets_out_of_macros() {
    read("#define \u{4e00} >>\ntypedef sequence<long \u{4e00} T;");
    read("#define \u{4e00} >>\ntypedef sequence<sequence<long \u{4e00} \u{4e00}");
}

/// As programs write it that write IDL.
#[test]
fn much_in_one_line() {
    let line: String = (0..150_000).map(|i| format!("typedef long T{i}; ")).collect();
    read(&line);
}

#[test]
fn explosions() {
    let chain: String = (0..40).map(|i| format!("#define A{} A{i} A{i} A{i}\n", i + 1)).collect();
    read(&format!("{chain}A40"));
    let calls: String = (0..40).map(|i| format!("#define F{}(x) F{i}(x) F{i}(x) F{i}(x)\n", i + 1)).collect();
    read(&format!("{calls}F40(a b c)"));
    let long: String = (0..5000).map(|i| format!("#define B{} B{i}\n", i + 1)).collect();
    read(&format!("{long}B5000"));
    let strings: String = (0..30).map(|i| format!("#define S{}(x) S{i}(#x #x)\n", i + 1)).collect();
    read(&format!("{strings}S30(a)"));
    let text: String =
        (0..5).map(|i| format!("#define T{} {}\n", i + 1, format!("T{i} ").repeat(8))).collect();
    let start = format!("#define T0 \"{}\"\n", "x".repeat(60_000));
    let text =
        compile_text_to_model("soup.idl", &format!("{start}{text}const string a = T5;"), &Options::default());
    assert!(text.unwrap_err().render(false).contains("macros expand to too much text"));
    let mut files = Memory::default();
    files.insert("main.idl", "#include \"main.idl\"\n#include \"main.idl\"\ntypedef long T;\n");
    let started = processor_time();
    assert!(compile_files_to_model("main.idl", &Options::default(), &files).is_err());
    assert!(processor_time() - started < Duration::from_secs(5));
}

#[test]
fn many_definitions() {
    let structs: String =
        (1..4000).map(|i| format!("struct S{i} {{ S{} a; sequence<S{0}> b; }};\n", i - 1)).collect();
    read(&format!("struct S0 {{ long x; }};\n{structs}"));
    let aliases: String = (1..4000).map(|i| format!("typedef sequence<T{}> T{i};\n", i - 1)).collect();
    read(&format!("typedef long T0;\n{aliases}"));
    let bases: String =
        (1..300).map(|i| format!("interface I{i} : I{} {{ void f{i}(); }};\n", i - 1)).collect();
    read(&format!("interface I0 {{}};\n{bases}"));
    let forward: String = (0..4000).map(|i| format!("struct F{i};\n")).collect();
    let defined: String = (0..4000).map(|i| format!("struct F{i} {{ long x; }};\n")).collect();
    read(&format!("{forward}{defined}"));
}
