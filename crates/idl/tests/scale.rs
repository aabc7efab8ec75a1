//! The work for a file grows with its length and with that of what comes out, whatever leads to what in it.

use std::time::Duration;

use throughline_idl::generate::{Settings, generate};
use throughline_idl::{Model, Options, compile_text_to_model};

/// As often as much work for an octet as in a file of definitions that have nothing to do with each other: what took the square
/// of the length took far more.
const MORE: u64 = 6;

/// How long this thread works, whatever else the machine does.
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("the kernel counts");
    let nanoseconds = text.split_whitespace().next().and_then(|n| n.parse().ok());
    Duration::from_nanos(nanoseconds.expect("nanoseconds"))
}

fn model(text: &str) -> Model {
    compile_text_to_model("scale.idl", text, &Options::default()).unwrap_or_else(|it| panic!("{it}")).model
}

fn generated(model: &Model) -> String {
    let settings = Settings { skip_unsupported: true, ..Settings::default() };
    generate(model, &settings).expect("what is not supported is skipped").source
}

/// `first`, and then what `next` makes of each number and the one before it.
fn chain(n: usize, first: &str, next: impl Fn(usize, usize) -> String) -> String {
    (1..n).fold(first.to_owned(), |text, i| text + &next(i, i - 1) + "\n")
}

/// Nanoseconds for an octet of what comes out of a file, or of the file if it is longer.
fn generating(text: &str) -> u64 {
    let model = model(text);
    let start = processor_time();
    let source = generated(&model);
    (processor_time() - start).as_nanos() as u64 / source.len().max(text.len()) as u64
}

/// The same for reading it.
fn reading(text: &str) -> u64 {
    let start = processor_time();
    model(text);
    (processor_time() - start).as_nanos() as u64 / text.len() as u64
}

#[test]
fn what_inherits_from_the_one_before() {
    let empty = |i, last| format!("interface I{i} : I{last} {{}};");
    let plain = generating(&chain(100, "", |i, _| format!("interface I{i} {{ void f(); }};")));
    let took = generating(&chain(100, "interface I0 {};", empty));
    assert!(took < MORE * plain, "{took} ns for an octet, not {plain}");
    let plain = reading(&chain(2000, "", |i, _| format!("valuetype V{i} {{ public long a{i}; }};")));
    let shapes = [
        chain(3000, "valuetype V0 { public long a; };", |i, last| {
            format!("valuetype V{i} : V{last} {{ public long a{i}; }};")
        }),
        chain(3000, "abstract valuetype V0 {};", |i, last| {
            format!("abstract valuetype V{i} : V{last} {{ void f{i}(); }};")
        }),
    ];
    for text in shapes {
        let took = reading(&text);
        assert!(took < MORE * plain, "{took} ns for an octet, not {plain}: {}..", &text[..100]);
    }
}

#[test]
fn what_contains_the_one_before() {
    let plain =
        generating(&chain(300, "struct S0 { long x; };", |i, _| format!("struct S{i} {{ long a; }};")));
    let shapes = [
        chain(2500, "struct S0 { long x; };", |i, last| format!("struct S{i} {{ S{last} a; }};")),
        chain(1500, "struct S0 { string x[50]; };", |i, last| {
            format!("struct S{i} {{ S{last} a; sequence<S{i}> b; }};")
        }),
        chain(300, "struct U0 { long x; };", |i, last| {
            format!("union U{i} switch (boolean) {{ case TRUE: U{last} a; }};")
        }),
        chain(300, "struct S0 { long x; };", |i, last| format!("struct S{i} {{ S{last} a[2]; }};")),
    ];
    for text in shapes {
        let took = generating(&text);
        assert!(took < MORE * plain, "{took} ns for an octet, not {plain}: {}..", &text[..100]);
    }
}

#[test]
fn what_names_the_one_before() {
    let plain = reading(&chain(5000, "", |i, _| format!("typedef long T{i};")));
    let shapes = [
        chain(30_000, "typedef long T0;", |i, last| format!("typedef T{last} T{i};")),
        chain(30_000, "typedef long T0;", |i, last| format!("typedef sequence<T{last}> T{i};")),
    ];
    for text in shapes {
        let took = reading(&text);
        assert!(took < MORE * plain, "{took} ns for an octet, not {plain}: {}..", &text[..100]);
    }
}

#[test]
fn what_needs_something_that_is_not_supported() {
    let plain = generating(&chain(2000, "", |i, _| format!("typedef any T{i};")));
    let backwards = (0..2000).map(|i| format!("struct S{i}; typedef sequence<S{i}> Q{i};\n"));
    let contents = (0..2000).map(|i| if i == 0 { "any".to_owned() } else { format!("Q{}", 2000 - i) });
    let structs = contents.enumerate().map(|(i, it)| format!("struct S{} {{ {it} a; }};\n", 1999 - i));
    let shapes = [
        chain(2000, "typedef any T0;", |i, last| format!("typedef T{last} T{i};")),
        backwards.chain(structs).collect(),
    ];
    for text in shapes {
        let took = generating(&text);
        assert!(took < MORE * plain, "{took} ns for an octet, not {plain}: {}..", &text[..100]);
    }
}

#[test]
fn modules_in_modules() {
    let nested = |depth: usize| {
        let structs = chain(300, "", |i, _| format!("struct S{i} {{ long x; }};"));
        let modules: String = (0..depth).map(|i| format!("module M{i} {{ ")).collect();
        modules + &structs + &"};".repeat(depth)
    };
    let plain = generating(&nested(1));
    let took = generating(&nested(60));
    assert!(took < MORE * plain, "{took} ns for an octet, not {plain}");
}

#[test]
fn names_that_are_types_elsewhere() {
    let uses = |name: &str| {
        let before = chain(12_000, "", |i, _| format!("typedef long T{i};"));
        before
            + &format!("typedef long {name};\n")
            + &chain(12_000, "", |i, _| format!("typedef {name} U{i};"))
    };
    let (plain, took) = (reading(&uses("int33")), reading(&uses("int32")));
    assert!(took < MORE * plain, "{took} ns for an octet, not {plain}");
}

/// The stack of a thread is much shorter than the chain.
#[test]
fn chains_are_no_matter_of_the_stack() {
    let shapes = [
        chain(4000, "struct S0 { long x; };", |i, last| format!("struct S{i} {{ S{last} a; }};")),
        chain(4000, "typedef long T0;", |i, last| format!("typedef T{last} T{i}[1];")),
        chain(4000, "typedef long T0;", |i, last| format!("typedef sequence<T{last}> T{i};"))
            + "interface I { void f(in T3999 x); };",
    ];
    let run = || shapes.iter().for_each(|text| assert!(!generated(&model(text)).is_empty()));
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(512 << 10).spawn_scoped(scope, run);
        thread.expect("there are threads").join().expect("a stack that suffices");
    });
}
