//! Values of every type, there and back; what does not fit; what strangers send.

use serde_json::{Value as Json, json};
use throughline::Ior;
use throughline_cdr::{ByteOrder, CodeSets, DecodeError, Reader, Writer};
use throughline_giop::{IiopProfile, Version};
use throughline_idl::model::{Kind, Type};
use throughline_idl::{Model, Options, compile_text_to_model};

use super::{Types, Value};

const IDL: &str = "
enum Colour { red, green, blue };
struct Point { short x; short y; };
struct Person { string name; unsigned long age; Point place; sequence<Colour> likes; octet key[4]; };
struct Tree { long value; sequence<Tree> children; };
union Choice switch (long) { case 1: long number; case -2: case 3: string text; default: Point place; };
union Perhaps switch (Colour) { case red: short level; case green: sequence<string> names; };
union Letter switch (char) { case 'a': octet small; };
abstract interface Either { };
interface Service { void f(); };
typedef fixed<5, 2> Price;
typedef fixed<4, 0> Even;
typedef long Matrix[2][3];
typedef octet Digests[2][4];
typedef long Pair[2];
typedef Pair Corners[2][2];
typedef sequence<octet> Octets;
typedef sequence<short, 2> Few;
typedef string<3> Tag;
typedef wstring<3> Wide;
typedef sequence<sequence<boolean>> Table;
typedef sequence<Either> Eithers;
typedef sequence<Service> Services;
typedef float Single;
typedef double Wider;
typedef long double Widest;
typedef unsigned long long Big;
typedef char Letters[2];
typedef wchar Runes[2];
typedef any Whatever;
";

fn reference() -> String {
    let (host, object_key) = ("localhost".to_owned(), b"key".to_vec());
    let profile = IiopProfile { version: Version::V1_2, host, port: 9, object_key, components: Vec::new() };
    Ior::of_iiop("IDL:Service:1.0", &profile).unwrap().to_string()
}

fn model() -> Model {
    compile_text_to_model("test.idl", IDL, &Options::default()).unwrap_or_else(|e| panic!("{e}")).model
}

fn resolve(text: &str) -> Result<Ior, String> {
    text.parse().map_err(|e| format!("{e}"))
}

/// The type of a name.
fn ty(model: &Model, name: &str) -> Type {
    Type::Named(model.find(name).unwrap())
}

fn write(types: Types<'_>, ty: &Type, value: &Value, order: ByteOrder) -> Vec<u8> {
    let mut octets = Vec::new();
    let mut w = Writer::new(&mut octets, order);
    w.set_codesets(CodeSets::UNICODE);
    types.encode(ty, value, &mut w).unwrap();
    octets
}

fn read(types: Types<'_>, name: &str, octets: &[u8], order: ByteOrder) -> Result<Value, DecodeError> {
    let ty = ty(types.model, name);
    let mut r = Reader::new(octets, order);
    r.set_codesets(CodeSets::UNICODE);
    // The type is one of the model's, whatever its lifetime here.
    match &types.model.get(types.model.find(name).unwrap()).kind {
        Kind::Typedef(it) => types.decode(&it.ty, &mut r),
        _ => types.decode(Box::leak(Box::new(ty)), &mut r),
    }
}

/// From JSON to octets and back: the JSON must be the same, or `shown`.
fn round_trip(name: &str, json: &Json, shown: &Json) {
    let model = model();
    let (types, ty) = (Types { model: &model }, ty(&model, name));
    let value = types.check("v", &ty, json, &resolve).unwrap_or_else(|e| panic!("{name}: {e}"));
    for order in [ByteOrder::Little, ByteOrder::Big] {
        let octets = write(types, &ty, &value, order);
        let back = read(types, name, &octets, order).unwrap();
        assert_eq!(types.show(&ty, &back), *shown, "{name}");
        // Whatever is cut off is missed, and no length makes anything else of it.
        for cut in 0..octets.len() {
            assert!(read(types, name, &octets[..cut], order).is_err(), "{name} at {cut}");
        }
    }
}

#[test]
fn every_type_comes_back() {
    for (name, json) in [
        ("Colour", json!("blue")),
        (
            "Person",
            json!({"name": "Ünal", "age": 4_294_967_295_u32, "place": {"x": -1, "y": 2}, "likes": ["red", "blue"], "key": "0x00ff1020"}),
        ),
        (
            "Tree",
            json!({"value": 1, "children": [{"value": 2, "children": []}, {"value": 3, "children": []}]}),
        ),
        ("Choice", json!({"number": 7})),
        ("Choice", json!({"_d": 3, "text": "x"})),
        ("Choice", json!({"_d": -7, "place": {"x": 1, "y": 1}})),
        ("Perhaps", json!({"names": ["a", ""]})),
        ("Perhaps", json!({"_d": "blue"})),
        ("Letter", json!({"_d": "z"})),
        ("Price", json!("-123.45")),
        ("Even", json!("1234")),
        ("Matrix", json!([[1, 2, 3], [4, 5, 6]])),
        ("Digests", json!(["0x00010203", "0xfffefdfc"])),
        ("Octets", json!("0x0001ff")),
        ("Octets", json!("0x")),
        ("Few", json!([-32768, 32767])),
        ("Tag", json!("äöü")),
        ("Wide", json!("日本")),
        ("Table", json!([[true, false], [], [true]])),
        ("Eithers", json!([null, reference()])),
        ("Services", json!([reference(), null])),
        ("Single", json!(0.1)),
        ("Wider", json!(0.1)),
        ("Wider", json!("NaN")),
        ("Wider", json!("-Infinity")),
        ("Widest", json!(1.5)),
        ("Widest", json!("0x3ffd5555555555555555555555555555")),
        ("Big", json!(u64::MAX)),
        ("Letters", json!(["a", "z"])),
        ("Runes", json!(["ß", "本"])),
        ("Letters", json!(["\0", "z"])),
        ("Runes", json!(["\0", "本"])),
        ("Letter", json!({"_d": "\0"})),
    ] {
        round_trip(name, &json, &json);
    }
}

#[test]
fn several_ways_to_say_the_same() {
    for (name, json, shown) in [
        ("Octets", json!([0, 1, 255]), json!("0x0001ff")),
        ("Choice", json!({"text": "x"}), json!({"_d": -2, "text": "x"})),
        ("Choice", json!({"_d": 1, "number": 1}), json!({"number": 1})),
        ("Perhaps", json!({}), json!({"_d": "blue"})),
        ("Price", json!(1.5), json!("1.50")),
        ("Wider", json!(3), json!(3.0)),
    ] {
        round_trip(name, &json, &shown);
    }
}

#[test]
fn what_does_not_fit_is_told_with_its_place() {
    let model = model();
    let types = Types { model: &model };
    let person =
        json!({"name": "x", "age": 1, "place": {"x": 0, "y": 40_000}, "likes": [], "key": "0x00000000"});
    for (name, json, wanted) in [
        ("Person", person, "v.place.y: wants short, from -32768 to 32767, got 40000"),
        ("Person", json!({"name": "x"}), "v: lacks the member `age`, which is unsigned long"),
        ("Point", json!({"x": 1, "z": 2}), "v: has no member `z`, only x, y"),
        ("Point", json!([1, 2]), "v: wants Point, got [1,2]"),
        ("Colour", json!("gren"), "v: wants one of red, green, blue, got \"gren\""),
        (
            "Tree",
            json!({"value": 1, "children": [{"value": 2}]}),
            "v.children[0]: lacks the member `children`",
        ),
        ("Choice", json!({"number": 1, "text": "x"}), "v: wants one member of a union, got several"),
        ("Choice", json!({"_d": 3, "number": 1}), "v: wants the member `text` for that _d"),
        ("Choice", json!({}), "v: wants one of the members number, text, place"),
        ("Perhaps", json!({"_d": "blue", "level": 1}), "v: wants no member for that _d"),
        ("Matrix", json!([[1, 2, 3], [4, 5]]), "v[1]: wants 3 elements, got 2"),
        ("Matrix", json!(5), "v: wants Matrix, that is long[2][3], got 5"),
        ("Matrix", json!([1, 2]), "v[0]: wants long[3], got 1"),
        ("Digests", json!([1, 2]), "v[0]: wants octet[4], got 1"),
        ("Digests", json!(["x", "y"]), "v[0]: wants octet[4]: an array of numbers, or 0x"),
        ("Corners", json!([[[1, 2]]]), "v[0]: wants 2 elements, got 1"),
        ("Corners", json!([1, 2]), "v[0]: wants Pair[2], got 1"),
        ("Corners", json!([[1, 2], [3, 4]]), "v[0][0]: wants Pair, that is long[2], got 1"),
        ("Few", json!([1, 2, 3]), "v: has 3 elements, more than 2"),
        ("Few", json!([1, 2.5]), "v[1]: wants short, from -32768 to 32767, got 2.5"),
        ("Tag", json!("four"), "v: has 4 characters, more than 3"),
        ("Tag", json!("a\0"), "v: has a NUL in it"),
        ("Wide", json!("𝄞𝄞"), "v: has 4 characters, more than 3"),
        ("Octets", json!("00"), "v: wants Octets, that is sequence<octet>: an array of numbers, or 0x"),
        ("Price", json!("1.234"), "v: wants Price, that is fixed<5, 2>, got \"1.234\""),
        ("Single", json!(1e39), "v: wants Single, that is float, got 1e+39"),
        ("Services", json!(["IOR:00"]), "v[0]: wants a reference, got \"IOR:00\": not a reference"),
        ("Letters", json!(["ab", "c"]), "v[0]: wants char, got \"ab\""),
        ("Big", json!(-1), "from 0 to 18446744073709551615, got -1"),
        ("Whatever", json!(1), "v: Whatever, that is any is not supported yet"),
    ] {
        let error = types.check("v", &ty(&model, name), &json, &resolve).unwrap_err().to_string();
        assert!(error.contains(wanted), "{name}: {error}");
    }
    let error = types.check("v", &ty(&model, "Colour"), &json!("gren"), &resolve).unwrap_err();
    assert_eq!(error.hint.as_deref(), Some("did you mean `green`?"));
}

#[test]
fn text_on_the_command_line() {
    let model = model();
    let types = Types { model: &model };
    let check = |name: &str, text: &str| {
        let ty = ty(&model, name);
        types
            .check_text("v", &ty, text, &resolve)
            .map(|value| types.show(&ty, &value))
            .map_err(|e| e.to_string())
    };
    assert_eq!(check("Tag", "5"), Ok(json!("5")));
    assert_eq!(check("Tag", "\"5\""), Ok(json!("5")));
    assert_eq!(check("Tag", "\"5"), Ok(json!("\"5")));
    assert_eq!(check("Colour", "red"), Ok(json!("red")));
    assert_eq!(check("Price", "1.2"), Ok(json!("1.20")));
    assert_eq!(check("Single", "NaN"), Ok(json!("NaN")));
    assert_eq!(check("Octets", "0x01"), Ok(json!("0x01")));
    assert_eq!(check("Big", "17"), Ok(json!(17)));
    assert!(check("Big", "x").unwrap_err().contains("got \"x\""));
    assert!(check("Point", "{\"x\": 1").unwrap_err().contains("v: is no JSON: EOF while parsing an object"));
}

#[test]
fn decimals_lie_as_the_standard_says() {
    let model = model();
    let types = Types { model: &model };
    let octets = |name: &str, text: &str| {
        let ty = ty(&model, name);
        let value = types.check("v", &ty, &json!(text), &resolve).unwrap();
        write(types, &ty, &value, ByteOrder::Big)
    };
    assert_eq!(octets("Price", "-123.45"), [0x12, 0x34, 0x5D]);
    assert_eq!(octets("Even", "1234"), [0x01, 0x23, 0x4C]);
    // The last has a digit where an even number of them leaves a zero.
    for (name, wrong) in
        [("Price", [0x12, 0x34, 0x5B]), ("Price", [0x1A, 0x34, 0x5C]), ("Even", [0x12, 0x34, 0x5C])]
    {
        assert!(matches!(read(types, name, &wrong, ByteOrder::Big), Err(DecodeError::Invalid { .. })));
    }
}

#[test]
fn what_strangers_send() {
    let model = model();
    let types = Types { model: &model };
    let read = |name, octets: &[u8]| read(types, name, octets, ByteOrder::Big).unwrap_err();
    assert_eq!(read("Colour", &[0, 0, 0, 3]), DecodeError::InvalidEnum { value: 3 });
    assert!(matches!(read("Table", &[255; 8]), DecodeError::LengthTooLarge { .. }));
    assert!(matches!(read("Octets", &[127, 255, 255, 255, 0]), DecodeError::LengthTooLarge { .. }));
    assert!(matches!(
        read("Few", &[0, 0, 0, 3, 0, 0, 0, 0, 0, 0]),
        DecodeError::BoundExceeded { bound: 2, .. }
    ));
    // A tree of one branch, deeper than anybody needs.
    let deep: Vec<u8> = [[0, 0, 0, 0], [0, 0, 0, 1]].concat().repeat(100_000);
    assert_eq!(read("Tree", &deep), DecodeError::TooDeep);
}

#[test]
fn any_octets_are_a_value_or_an_error() {
    let model = model();
    let types = Types { model: &model };
    let names: Vec<_> = model.iter().map(|(_, it)| it.name.as_str()).filter(|name| *name != "f").collect();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut values = 0;
    for _ in 0..2_000 {
        // Mostly small numbers, so that lengths and discriminators mean something.
        let octets: Vec<u8> = (0..40)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                if state >> 62 == 0 { (state >> 32) as u8 } else { (state >> 32) as u8 & 3 }
            })
            .collect();
        for name in &names {
            for order in [ByteOrder::Little, ByteOrder::Big] {
                let Ok(value) = read(types, name, &octets, order) else { continue };
                values += 1;
                // What was read can be shown, and passed on unless a reference is malformed in a way of its own.
                let shown = types.show(&ty(&model, name), &value);
                if let Ok(again) = types.check("v", &ty(&model, name), &shown, &resolve) {
                    assert_eq!(types.show(&ty(&model, name), &again), shown, "{name}");
                }
            }
        }
    }
    assert!(values > 1_000, "{values}");
}

#[test]
fn a_chain_of_types_is_no_matter_of_the_stack() {
    let chain = |first: &str| {
        let next = |text: String, i: u32| text + &format!("struct S{i} {{ S{} a; }};\n", i - 1);
        let text = (1..20_000).fold(format!("struct S0 {{ {first} x; }};\n"), next);
        compile_text_to_model("chain.idl", &text, &Options::default()).unwrap().model
    };
    for (first, wanted) in [("long", None), ("any", Some(&Type::Any))] {
        let model = chain(first);
        assert_eq!(Types { model: &model }.unsupported(&ty(&model, "S19999")), wanted, "{first}");
    }
}

/// How long this thread works, whatever else the machine does.
fn processor_time() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("the kernel counts");
    text.split_whitespace().next().and_then(|n| n.parse().ok()).expect("nanoseconds")
}

/// The work for a member does not grow with the number of members.
#[test]
fn a_struct_of_many_members() {
    const MEMBERS: usize = 256_000;
    let each = |members: usize| {
        let text: String = (0..members).map(|i| format!("octet member_{i};\n")).collect();
        let text = format!("struct S {{ {text} }};");
        let model = compile_text_to_model("many.idl", &text, &Options::default()).unwrap().model;
        let fields = (0..members).map(|i| (format!("member_{i}"), json!(1)));
        let (json, ty) = (Json::Object(fields.collect()), ty(&model, "S"));
        let start = processor_time();
        // The kernel counts in ticks, of which some must pass.
        for _ in 0..MEMBERS / members {
            let value = Types { model: &model }.check("v", &ty, &json, &resolve).unwrap();
            assert!(matches!(value, Value::Record(of) if of.len() == members));
        }
        (processor_time() - start) / MEMBERS as u64
    };
    let (few, many) = (each(1_000), each(16_000));
    assert!(many < 6 * few, "{many} ns for a member, not {few}");
}

#[test]
fn values_of_which_there_are_millions_are_small() {
    assert!(size_of::<Value>() <= 32, "{}", size_of::<Value>());
}
