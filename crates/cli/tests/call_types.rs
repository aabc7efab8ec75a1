//! `throughline call` with every type of the dialect: at a server of this ORB over each transport, and at omniORB's.

mod common;

use std::path::Path;

use common::{failure_of, run, stdout_of};
use serde_json::{Value, json};
use throughline::{AdapterConfig, ObjectRef, Orb};
use throughline_interop_tests::missing;
use throughline_interop_tests::peers::{Server, folder, omniorb};
use throughline_interop_tests::suite::SuiteServant;

/// Operations that return their argument, and arguments.
const ECHOES: &[(&str, &str)] = &[
    ("echo_string", r#""grüße, \"you\"""#),
    ("echo_short_string", r#""sixteen letters.""#),
    ("echo_strings", r#"["", "a", "bc"]"#),
    ("echo_short_wstring", r#""日本 wide""#),
    ("echo_wchars", r#"["ß", "本"]"#),
    ("echo_wstrings", r#"["", "𝄞"]"#),
    ("echo_by_colour", r#"{"names": ["x"]}"#),
    ("echo_by_colour", r#"{"_d": "blue"}"#),
    ("echo_by_boolean", r#"{"none": 0.5}"#),
    ("echo_by_char", r#"{"_d": "c", "numbers": [1, -1]}"#),
    ("echo_by_char", r#"{"_d": "z", "other": true}"#),
    ("echo_by_short", r#"{"inner": {"_d": 3, "text": "deep"}}"#),
    ("echo_by_short", r#"{"cells": [[1, 2, 3], [4, 5, 6]]}"#),
    ("echo_by_longlong", r#"{"near": "0x000102030405060708090a0b0c0d0e0f"}"#),
    ("echo_choices", r#"[{"number": 1}, {"_d": 9, "place": {"x": 1, "y": 2}}]"#),
    ("echo_tree", r#"{"value": 1, "children": [{"value": 2, "children": [{"value": 3, "children": []}]}]}"#),
    ("echo_booleans", "[true, false]"),
    ("echo_chars", r#"["a", "b"]"#),
    ("echo_shorts", "[-32768, 32767]"),
    ("echo_longlongs", "[-9223372036854775808, 9223372036854775807]"),
    ("echo_floats", r#"[0.1, "Infinity"]"#),
    ("echo_doubles", r#"[0.1, "-Infinity", 1e300]"#),
    ("echo_colours", r#"["red", "blue"]"#),
    ("echo_table", r#"[["a"], [], ["b", "c"]]"#),
    ("echo_few_tags", r#"["four", ""]"#),
    ("echo_corners", r#"[[{"x": 1, "y": 2}, {"x": 3, "y": 4}], [{"x": 5, "y": 6}, {"x": 7, "y": 8}]]"#),
    ("echo_triple", "[0.5, 1.5, 2.5]"),
    ("echo_matrices", "[[[1, 2, 3], [4, 5, 6]]]"),
    ("echo_octets", r#""0x0001ff""#),
    ("echo_object", "null"),
    ("echo_found", r#"{"_d": false}"#),
    ("echo_entries", r#"[{"name": "n", "who": null, "anything": null}]"#),
];

/// Operations that return `b`, and set `b` and `c` to `a`.
const TURNS: &[(&str, &str, &str)] = &[
    ("turn_boolean", "true", "false"),
    ("turn_octet", "0", "255"),
    ("turn_char", r#""a""#, r#""z""#),
    ("turn_short", "-1", "32767"),
    ("turn_ushort", "1", "65535"),
    ("turn_long", "-2147483648", "5"),
    ("turn_ulong", "4294967295", "0"),
    ("turn_longlong", "-9223372036854775808", "1"),
    ("turn_ulonglong", "18446744073709551615", "1"),
    ("turn_float", "0.1", "-1.5"),
    ("turn_double", "0.1", "1e-300"),
    ("turn_colour", r#""blue""#, r#""red""#),
    ("turn_string", r#""""#, r#""b""#),
    ("turn_wchar", r#""本""#, r#""a""#),
    ("turn_wstring", r#""日本""#, r#""""#),
    ("turn_point", r#"{"x": 1, "y": -1}"#, r#"{"x": 0, "y": 0}"#),
    (
        "turn_padded",
        r#"{"a": 1, "b": 0.5, "c": true, "d": -1, "e": "e", "f": 6, "g": 7, "h": 8}"#,
        r#"{"a": 0, "b": 0.0, "c": false, "d": 0, "e": "x", "f": 0, "g": 0, "h": 0}"#,
    ),
    (
        "turn_person",
        r#"{"name": "A", "age": 1, "address": {"x": 1, "y": 2}, "aliases": ["b"], "favourite": "green", "tag": "t", "flags": "0x010203"}"#,
        r#"{"name": "", "age": 0, "address": {"x": 0, "y": 0}, "aliases": [], "favourite": "red", "tag": "", "flags": "0x000000"}"#,
    ),
    ("turn_choice", r#"{"number": 1}"#, r#"{"_d": -2, "text": "x"}"#),
    ("turn_longs", "[]", "[1, 2]"),
    ("turn_matrix", "[[1, 2, 3], [4, 5, 6]]", "[[0, 0, 0], [0, 0, 0]]"),
    ("turn_lines", r#"["a", "b", "c"]"#, r#"["", "", ""]"#),
];

/// A server, and what may carry the calls.
struct Suite<'s> {
    reference: &'s str,
    ways: &'static str,
}

impl Suite<'_> {
    fn arguments<'a>(&'a self, idl: &'a str, reference: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        [&["call", reference, "--idl", idl, "--transport", self.ways], more].concat()
    }

    /// What a call brings.
    fn call(&self, more: &[&str]) -> Value {
        let idl = idl();
        let text = stdout_of(&[&self.arguments(&idl, self.reference, more)[..], &["--json"]].concat());
        let outcome: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(outcome["transport"], self.ways, "{more:?}");
        outcome
    }

    /// What a call of another object of the server prints.
    fn at(&self, reference: &str, more: &[&str]) -> String {
        stdout_of(&self.arguments(&idl(), reference, more)).trim().to_owned()
    }

    fn all(&self) {
        self.values();
        self.attributes();
        self.exceptions();
        self.references();
        self.oneways();
    }

    fn values(&self) {
        for (operation, argument) in ECHOES {
            let expected: Value = serde_json::from_str(argument).unwrap();
            assert_eq!(self.call(&[operation, argument])["result"], expected, "{operation}");
        }
        for (operation, a, b) in TURNS {
            let [first, second]: [Value; 2] = [a, b].map(|it| serde_json::from_str(it).unwrap());
            let outcome = self.call(&[operation, a, b]);
            assert_eq!(outcome["result"], second, "{operation}");
            assert_eq!(outcome["out"], json!({"b": first, "c": first}), "{operation}");
        }
        assert_eq!(
            self.call(&["sum", "1", "2", "3", "4", "5", "600000000000"])["result"],
            600_000_000_015_u64
        );
        assert_eq!(self.call(&["code_points", "aä"])["result"], json!([97, 228]));
        // Larger than a registered buffer, and than what a single message of omniORB's takes.
        let made = self.call(&["make_octets", "200000"]);
        let octets = made["result"].as_str().unwrap();
        assert_eq!((octets.len(), &octets[..12]), (2 + 400_000, "0x001f3e5d7c"));
    }

    fn attributes(&self) {
        self.call(&["label", "a new one"]);
        assert_eq!(self.call(&["label"])["result"], "a new one");
        self.call(&["_set_values", "[3, 4]"]);
        assert_eq!(self.call(&["_get_values"])["result"], json!([3, 4]));
        assert_eq!(self.call(&["version"])["result"], 7);
        // Inherited, twice.
        assert_eq!(self.call(&["name"])["result"], "both");
    }

    fn exceptions(&self) {
        let idl = idl();
        let raised = |which: &str| {
            let output = run(&self.arguments(&idl, self.reference, &["raise_beside", which, "x", "--json"]));
            assert_eq!(output.status.code(), Some(4));
            serde_json::from_slice::<Value>(&output.stdout).unwrap()
        };
        assert_eq!(raised("1")["exception"], "IDL:throughline/Interop/Empty:1.0");
        assert_eq!(raised("1")["members"], json!({}));
        let refused = json!({"code": 77, "reason": "refused", "paint": "green", "details": ["a", ""], "place": {"x": 1, "y": -1}});
        assert_eq!(raised("2")["members"], refused);
        assert_eq!(raised("3")["members"], json!({"choice": {"names": ["n"]}, "crowd": []}));
        let (status, message) = failure_of(&self.arguments(
            &idl,
            self.reference,
            &["raise_system", "NO_PERMISSION", "5", "completed_yes"],
        ));
        assert_eq!(status, 1);
        assert!(message.contains("NO_PERMISSION (minor 0x00000005, completed)"), "{message}");
    }

    fn references(&self) {
        let counter = self.call(&["make_counter", "5"])["result"].as_str().unwrap().to_owned();
        assert_eq!(self.at(&counter, &["add", "-7"]), "-2");
        let both = json!([counter, counter]).to_string();
        assert_eq!(self.call(&["sum_counters", &both])["result"], -4);
        assert_eq!(self.call(&["turn_counter", "null", &counter])["out"], json!({"b": null, "c": null}));
        assert_eq!(self.call(&["is_nil", "null"])["result"], true);
        // Every request is answered by a forward; native forwards keep to their way.
        let forwarder = self.call(&["forwarder", &counter])["result"].as_str().unwrap().to_owned();
        assert_eq!(self.at(&forwarder, &["add", "1", "--interface", "Counter"]), "-1");
        assert_eq!(self.at(&counter, &["destroy"]), "");
        assert_eq!(self.at(&counter, &["_non_existent"]), "true");
        let (status, message) = failure_of(&self.arguments(&idl(), &counter, &["value"]));
        assert!(status == 1 && message.contains("OBJECT_NOT_EXIST"), "{message}");
    }

    fn oneways(&self) {
        self.call(&["clear"]);
        assert_eq!(self.call(&["post", "17", "--count", "3"])["result"], Value::Null);
        self.call(&["note", "a line", r#"{"x": 1, "y": 2}"#]);
        let posted = (0..100).map(|_| self.call(&["posted"])["result"].clone());
        let posted = posted.inspect(|_| std::thread::sleep(std::time::Duration::from_millis(10)));
        assert!(posted.into_iter().any(|it| it == json!([17, 17, 17])));
    }
}

fn idl() -> String {
    folder().join("idl/interop.idl").to_str().unwrap().to_owned()
}

#[test]
fn our_server() {
    let listen = ["127.0.0.1:0", "shm:", "udp://127.0.0.1:0"].map(|it| it.parse().unwrap());
    let orb = Orb::listening_at(&listen).unwrap();
    let suite = ObjectRef::from(SuiteServant::activate(&orb, AdapterConfig::default()).unwrap()).to_string();
    for ways in ["iiop", "shm", "udp"] {
        let suite = Suite { reference: &suite, ways };
        suite.all();
        // omniORB carries ten of the sixteen octets.
        assert_eq!(suite.call(&["echo_longdouble", "0.1"])["result"], 0.1);
    }
    orb.shutdown(std::time::Duration::from_secs(1));
}

#[test]
fn omniorbs_server() {
    // Where the tests of interoperability keep them, too.
    let peers = match omniorb(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("peers")) {
        Ok(peers) => peers,
        Err(why) => missing!("{why}"),
    };
    let server = Server::start(peers.join("interop_server"), &[]);
    Suite { reference: &server.reference, ways: "iiop" }.all();
    server.end();
}
