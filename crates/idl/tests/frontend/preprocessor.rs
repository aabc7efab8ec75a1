//! What the preprocessor makes of its input, seen through constants and through its text.

use throughline_idl::model::{Kind, Value};
use throughline_idl::{Options, compile_text_to_model, preprocess_to_text};

/// The value of the string or integer constant `x` in a text.
fn value(text: &str) -> String {
    let checked =
        compile_text_to_model("t.idl", text, &Options::default()).unwrap_or_else(|it| panic!("{text}\n{it}"));
    let id = checked.model.find("x").unwrap();
    match &checked.model.get(id).kind {
        Kind::Constant(it) => match &it.value {
            Value::String(it) => it.clone(),
            Value::Integer(it) => it.to_string(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

/// Whether a condition holds.
fn holds(condition: &str) -> bool {
    value(&format!("#define ONE 1\n#if {condition}\nconst long x = 1;\n#else\nconst long x = 0;\n#endif\n"))
        == "1"
}

#[test]
fn conditions() {
    for condition in [
        "1",
        "ONE",
        "!0",
        "!NOT_DEFINED",
        "defined ONE && defined(ONE) && !defined(TWO)",
        "1 + 2 * 3 == 7",
        "(1 + 2) * 3 == 9",
        "7 / 2 == 3 && 7 % 2 == 1 && -7 / 2 == -3",
        "1 << 4 == 16 && 256 >> 4 == 16 && -1 >> 1 == -1",
        "(6 & 3) == 2 && (6 | 3) == 7 && (6 ^ 3) == 5 && ~0 == -1",
        "1 ? 2 : 0",
        "0 ? 0 : 1 ? 1 : 0",
        "0x10 == 16 && 010 == 8 && 10L == 10 && 10ul == 10",
        "-1 < 0 && -1 > 0u",
        "0xffffffffffffffff > 0",
        "'a' == 97 && '\\n' == 10",
        "0 && 1 / 0 || 1 || 1 % 0",
        "1 < 2 && 2 <= 2 && 3 > 2 && 3 >= 3 && 1 != 2",
        "- - 1 == 1 && +1 == 1",
    ] {
        assert!(holds(condition), "{condition}");
        assert!(!holds(&format!("!({condition})")), "{condition}");
    }
}

#[test]
fn macros() {
    let cases = [
        ("#define A 3\nconst long x = A;", "3"),
        ("#define A B\n#define B 4\nconst long x = A;", "4"),
        ("#define A() 5\n#define B A\nconst long x = B();", "5"),
        ("#define SUM(a, b) (a + b)\nconst long x = SUM(1, SUM(2, 3)) * 2;", "12"),
        ("#define CAT(a, b) a ## b\nconst long x = CAT(1, CAT(2, 3));", "error"),
        ("#define CAT(a, b) a ## b\n#define X(a, b) CAT(a, b)\nconst long x = X(1, X(2, 3));", "123"),
        ("#define STR(a) #a\nconst string x = STR( a  +  \"q\\n\" );", "a + \"q\\n\""),
        ("#define STR(a) #a\n#define V 3\nconst string x = STR(V);", "V"),
        ("#define STR(a) #a\n#define X(a) STR(a)\n#define V 3\nconst string x = X(V);", "3"),
        ("#define ALL(...) __VA_ARGS__\nconst long x = ALL(7);", "7"),
        ("#define REST(a, ...) a __VA_ARGS__\nconst long x = REST(8);", "8"),
        (
            "#define PAIR (3, 4)\n#define FST(a, b) a\n#define CALL(f, p) f p\nconst long x = CALL(FST, PAIR);",
            "3",
        ),
        ("#define f(x) x + f(x)\n#define g 1\ntypedef long f;\nconst long x = g;", "1"),
        ("#define E\n#define OPT(a) 1 a\nconst long x = OPT() E;", "1"),
        ("#define A 1\n#undef A\n#ifdef A\n#error\n#endif\nconst long x = 2;", "2"),
        ("#define EQ(a) =a\nconst long x EQ(9);", "9"),
        ("#define LONG lo\\\nng\nconst LONG x = 1\\\n0;", "10"),
        ("#define Q \"a\" 'b'\n#define S(x) #x\n#define T(x) S(x)\nconst string x = T(Q);", "\"a\" 'b'"),
    ];
    for (text, expected) in cases {
        if expected == "error" {
            assert!(compile_text_to_model("t.idl", text, &Options::default()).is_err(), "{text}");
        } else {
            assert_eq!(value(text), expected, "{text}");
        }
    }
}

#[test]
fn lines_and_files() {
    assert_eq!(value("\n\nconst long x = __LINE__;"), "3");
    assert_eq!(value("#line 70\nconst long x = __LINE__;"), "70");
    assert_eq!(value("# 70 \"other.idl\" 2\n\nconst long x = __LINE__;"), "71");
    assert_eq!(value("#define L __LINE__\n\nconst long x = L;"), "3");
    assert_eq!(value("const string x = __FILE__;"), "t.idl");
    let error =
        compile_text_to_model("t.idl", "#line 70 \"o.idl\"\n\nX y;", &Options::default()).unwrap_err();
    let location = error.iter().next().unwrap().location.clone().unwrap();
    assert_eq!((location.file.as_str(), location.line), ("o.idl", 71));
}

#[test]
fn comments() {
    assert_eq!(value("const/* a */long/**/x /* \n*/ = // end\\\nstill\n 1;"), "1");
    assert_eq!(value("#define A 1 /* spans\nlines */ + 1\nconst long x = A;"), "2");
    assert_eq!(value("const string x = \"/* no */ // comment\";"), "/* no */ // comment");
    assert_eq!(value("#if 0 /* \n#else */\n don't \" \n#else\nconst long x = 3;\n#endif"), "3");
}

#[test]
fn text_output() {
    let text = preprocess_to_text("tests/good/preprocessor.idl", &Options::default()).unwrap();
    assert!(
        text.starts_with("#line 1 \"tests/good/included/more.idl\"\n") || text.contains("more.idl"),
        "{text}"
    );
    assert!(text.contains("module Mod3 {"), "{text}");
    assert!(text.contains("struct Point { long x; long y; };"), "{text}");
    assert!(!text.contains("#define") && !text.contains("#if"), "{text}");
    // What comes out means the same.
    let again = compile_text_to_model("again.idl", &text, &Options::default())
        .unwrap_or_else(|it| panic!("{text}\n{it}"));
    assert!(again.model.find("Mod3::Point").is_some());
}

/// A prefix ends with its file, also where another preprocessor has put all files into one and left only marks of them.
#[test]
fn borders_of_files_that_were_put_together() {
    let id = |text: &str| {
        let checked = compile_text_to_model("whole.idl", text, &Options::default()).unwrap();
        let id = checked.model.find("Last").unwrap();
        checked.model.get(id).repository_id.clone()
    };
    let included = "#pragma prefix \"omg.org\"\nmodule A { interface I {}; };\n";
    let last = "interface Last {};\n";
    assert_eq!(
        id(&format!("# 1 \"main.idl\"\n# 1 \"a.idl\" 1\n{included}# 2 \"main.idl\" 2\n{last}")),
        "IDL:Last:1.0"
    );
    // These do not say that a file ends.
    assert_eq!(id(&format!("# 1 \"a.idl\"\n{included}# 2 \"main.idl\"\n{last}")), "IDL:omg.org/Last:1.0");
    assert_eq!(id(&format!("#pragma prefix \"p\"\n# 2 \"main.idl\" 2\n{last}")), "IDL:p/Last:1.0");
    let text = preprocess_to_text("tests/good/repository_ids.idl", &Options::default()).unwrap();
    let ids = |checked: throughline_idl::Checked| {
        checked.model.iter().map(|(_, it)| it.repository_id.clone()).collect::<Vec<_>>()
    };
    let direct = throughline_idl::compile_to_model("tests/good/repository_ids.idl", &Options::default());
    let again = compile_text_to_model("again.idl", &text, &Options::default());
    assert_eq!(ids(again.unwrap()), ids(direct.unwrap()), "{text}");
}
