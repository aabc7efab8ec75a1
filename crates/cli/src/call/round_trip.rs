//! Whatever value is printed, as an argument it is the same octets.

use throughline::Ior;
use throughline_cdr::{ByteOrder, CodeSets, LongDouble, Reader, Writer};
use throughline_giop::{IiopProfile, Version};
use throughline_idl::model::{self, FixedValue, Kind, Primitive, Type};
use throughline_idl::{Model, Options, compile_text_to_model};

use super::layout;
use crate::dynamic::{Types, Value};
use crate::output;

const IDL: &str = "
enum Colour { red, green, blue };
typedef short A; typedef long B; typedef long long C; typedef unsigned short D; typedef unsigned long E;
typedef unsigned long long F; typedef float G; typedef double H; typedef long double I; typedef boolean J;
typedef char K; typedef wchar L; typedef octet M; typedef string N; typedef wstring O; typedef string<3> P;
typedef wstring<4> Q; typedef fixed<5, 2> R; typedef fixed<31, 0> S; typedef fixed<4, 4> T; typedef fixed<31, 31> U;
typedef Object V; interface Held {}; typedef Held W; abstract interface Either {}; typedef Either X;
typedef sequence<octet> Aa; typedef sequence<octet, 3> Ab; typedef octet Ac[5]; typedef octet Ad[2][3];
typedef sequence<boolean, 2> Ae; typedef sequence<N> Af; typedef sequence<sequence<K> > Ag; typedef B Ah[2];
typedef Ah Ai[2][2]; typedef sequence<Ai, 2> Aj; typedef W Ak[2]; typedef sequence<M> Al[2]; typedef G Am[3];
struct Point { H x; G y; };
struct All { A first; Colour colour_too; Point place; Ad octets; sequence<All> more; N text; L wide; R price; X either; };
exception Wrong { long x; };
union ByLong switch (long) { case 1: long one; case -2: case 3: string few; default: Point rest; };
union ByUlonglong switch (F) { case 18446744073709551615: Ai last; case 0: sequence<ByUlonglong> more; };
union ByShort switch (short) { case -32768: octet least; default: Aa rest; };
union ByColour switch (Colour) { case red: J level; case green: sequence<string> names; };
union ByBoolean switch (boolean) { case TRUE: wstring yes; case FALSE: fixed<3, 1> no; };
union OnlyTrue switch (J) { case TRUE: Colour yes; };
union ByChar switch (char) { case 'a': octet small; case '\\0': case '\"': L odd; default: ByColour other; };
union DefaultToo switch (Colour) { case red: default: Object any_colour; case blue: K blue_one; };
";

fn model() -> Model {
    compile_text_to_model("test.idl", IDL, &Options::default()).unwrap_or_else(|e| panic!("{e}")).model
}

fn resolve(text: &str) -> Result<Ior, String> {
    text.parse().map_err(|e| format!("{e}"))
}

struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() >> 33) as usize % end
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    fn integer(&mut self, (least, greatest): (i128, i128)) -> Value {
        let any = least + i128::from(self.next()) % (greatest - least + 1);
        Value::Integer(self.pick(&[least, greatest, any, 0]))
    }

    fn single(&mut self) -> Value {
        // The shortest digits of the one with bits of its own lie between two doubles that round apart.
        let known = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, f32::MAX, f32::from_bits(1)];
        let odd = [0x15ae_43fd, 0xffc0_0000, 0x7f80_0001, 0x7fc0_0001].map(f32::from_bits);
        let any = f32::from_bits(self.next() as u32);
        let (known, odd) = (self.pick(&known), self.pick(&odd));
        Value::Single(self.pick(&[any, any, known, odd]))
    }

    fn double(&mut self) -> f64 {
        let known = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, f64::MAX, f64::from_bits(1), 3.0];
        let odd = [0xfff8 << 48, 0x7ff0 << 48 | 1, 0x7ff8 << 48 | 1].map(f64::from_bits);
        let any = f64::from_bits(self.next());
        let (known, odd) = (self.pick(&known), self.pick(&odd));
        self.pick(&[any, any, known, odd])
    }

    fn long_double(&mut self) -> LongDouble {
        let any = (u128::from(self.next()) << 64 | u128::from(self.next())).to_be_bytes();
        let double = self.double();
        self.pick(&[LongDouble(any), LongDouble::from(double)])
    }

    fn text(&mut self, most: Option<u32>, wide: bool) -> Value {
        let marks =
            ['"', '\\', '\'', '\n', '\t', '\r', '\u{1b}', '\u{7f}', ' ', '{', '[', '0', 'x', '@', '-'];
        let others = ['a', 'ß', '本', '𝄞', '\u{85}', '\u{9b}', '\u{2028}', '\u{feff}'];
        let mut text = String::new();
        for _ in 0..self.below(5) {
            let next = if self.below(2) == 0 { self.pick(&marks) } else { self.pick(&others) };
            text.push(next);
            let length = if wide { text.encode_utf16().count() } else { text.chars().count() };
            if most.is_some_and(|most| length > most as usize) {
                text.pop();
            }
        }
        let quoted = most.is_none() && self.below(4) == 0;
        Value::Text(if quoted { format!("\"{}\"", text.replace(['"', '\\'], "")) } else { text })
    }

    fn fixed(&mut self, digits: u16, scale: u16) -> Value {
        let any: i128 = (0..digits).fold(0, |sum, _| sum * 10 + self.below(10) as i128);
        let greatest = 10_i128.pow(digits.into()) - 1;
        let unscaled = self.pick(&[0, any, -any, greatest, -greatest, any % 10]);
        Value::Fixed(Box::new(FixedValue { unscaled, scale }))
    }

    fn reference(&mut self) -> Value {
        let (host, object_key) = ("localhost".to_owned(), self.next().to_be_bytes().to_vec());
        let profile =
            IiopProfile { version: Version::V1_2, host, port: 9, object_key, components: Vec::new() };
        let ior = Ior::of_iiop("IDL:Held:1.0", &profile).unwrap();
        Value::Reference(Box::new(if self.below(3) == 0 { Ior::NIL } else { ior }))
    }

    /// A value of a type; `room` ends what contains itself.
    fn value(&mut self, model: &Model, ty: &Type, room: usize) -> Value {
        match model.unalias(ty) {
            Type::Primitive(Primitive::Float) => self.single(),
            Type::Primitive(Primitive::Double) => Value::Float(self.double()),
            Type::Primitive(Primitive::LongDouble) => Value::LongDouble(self.long_double()),
            Type::Primitive(Primitive::Boolean) => Value::Boolean(self.below(2) == 0),
            Type::Primitive(Primitive::Char) => Value::Text(char::from(self.below(128) as u8).to_string()),
            Type::Primitive(Primitive::WChar) => {
                let known = self.pick(&['\0', '"', '\'', '\u{ffff}', '\n', 'ä']);
                let any = char::from_u32(self.below(0xd800) as u32).unwrap();
                Value::Text(self.pick(&[known, any]).to_string())
            }
            Type::Primitive(it) => self.integer(it.integer_range().unwrap()),
            Type::String { bound } => self.text(*bound, false),
            Type::WString { bound } => self.text(*bound, true),
            Type::Fixed { digits, scale } => self.fixed(*digits, *scale),
            Type::Sequence { element, bound } => {
                let most = if room == 0 { 0 } else { bound.unwrap_or(3).min(3) as usize };
                let length = self.below(most + 1);
                self.items(model, element, &[length as u32], room)
            }
            Type::Array { element, dimensions } => self.items(model, element, dimensions, room),
            Type::Object => self.reference(),
            Type::Named(id) => self.named(model, &model.get(*id).kind, room),
            Type::Any | Type::TypeCode | Type::ValueBase => unreachable!("not supported yet"),
        }
    }

    fn items(&mut self, model: &Model, element: &Type, dimensions: &[u32], room: usize) -> Value {
        let (length, rest) = dimensions.split_first().unwrap();
        if rest.is_empty() && matches!(model.unalias(element), Type::Primitive(Primitive::Octet)) {
            return Value::Octets((0..*length).map(|_| self.next() as u8).collect());
        }
        let items = (0..*length).map(|_| match rest {
            [] => self.value(model, element, room.saturating_sub(1)),
            _ => self.items(model, element, rest, room),
        });
        Value::List(items.collect())
    }

    fn named(&mut self, model: &Model, kind: &Kind, room: usize) -> Value {
        match kind {
            Kind::Enum(it) => Value::Enumerator(self.below(it.enumerators.len()) as u32),
            Kind::Struct(it) => {
                Value::Record(it.members.iter().map(|it| self.value(model, &it.ty, room)).collect())
            }
            Kind::Union(it) => {
                let labels: Vec<_> = it.cases.iter().flat_map(|it| &it.labels).map(label).collect();
                let any = self.value(model, &it.discriminator, room);
                let known = labels[self.below(labels.len())].clone();
                let discriminator = if self.below(3) == 0 { any } else { known };
                let labelled =
                    it.cases.iter().position(|it| it.labels.iter().any(|it| label(it) == discriminator));
                let case = labelled.or_else(|| it.cases.iter().position(|it| it.is_default));
                let member = case.map(|at| (at, Box::new(self.value(model, &it.cases[at].member.ty, room))));
                Value::Union { discriminator: Box::new(discriminator), member }
            }
            _ => self.reference(),
        }
    }
}

fn label(value: &model::Value) -> Value {
    match value {
        model::Value::Boolean(it) => Value::Boolean(*it),
        model::Value::Char(it) => Value::Text(it.to_string()),
        model::Value::Enumerator { index, .. } => Value::Enumerator(*index),
        model::Value::Integer(it) => Value::Integer(*it),
        other => unreachable!("no discriminator has {other:?}"),
    }
}

fn octets(types: Types<'_>, ty: &Type, value: &Value) -> Vec<u8> {
    let mut octets = Vec::new();
    let mut w = Writer::new(&mut octets, ByteOrder::Little);
    w.set_codesets(CodeSets::UNICODE);
    types.encode(ty, value, &mut w).unwrap_or_else(|e| panic!("{value:?}: {e}"));
    octets
}

fn received<'m>(types: Types<'m>, ty: &'m Type, octets: &[u8]) -> Value {
    let mut r = Reader::new(octets, ByteOrder::Little);
    r.set_codesets(CodeSets::UNICODE);
    types.decode(ty, &mut r).unwrap_or_else(|e| panic!("{e}"))
}

/// From the octets of a result to what is printed, for people and for programs, and back.
fn comes_back<'m>(types: Types<'m>, ty: &'m Type, sent: &[u8]) {
    let shown = types.show(ty, &received(types, ty, sent));
    for printed in [layout::text(&shown, 0), shown.to_string()] {
        let printed = output::shown(&printed);
        let given =
            types.check_text("v", ty, &printed, &resolve).unwrap_or_else(|e| panic!("{printed}: {e}"));
        assert_eq!(octets(types, ty, &given), sent, "{printed}");
    }
}

/// All types of the model, each under its name.
fn named(model: &Model) -> Vec<Type> {
    let is_type = |kind: &Kind| !matches!(kind, Kind::Exception(_) | Kind::Module(_) | Kind::Constant(_));
    model.iter().filter(|(_, it)| is_type(&it.kind)).map(|(id, _)| Type::Named(id)).collect()
}

#[test]
fn whatever_is_printed_can_be_passed_on() {
    let model = model();
    let types = Types { model: &model };
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    for ty in &named(&model) {
        for _ in 0..200 {
            let value = chance.value(&model, ty, 3);
            comes_back(types, ty, &octets(types, ty, &value));
        }
    }
}

/// As the program has, whose main thread it runs on.
fn on_a_large_stack(run: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(8 << 20).spawn_scoped(scope, run);
        thread.expect("there are threads").join().expect("a stack that suffices");
    });
}

#[test]
fn however_deep_it_is_nested() {
    let open: String = (0..7).map(|i| format!("struct B{i} {{ ")).collect();
    let close: String = (0..7).rev().map(|i| format!("}} b_{i}; ")).collect();
    let tree = format!("struct T {{ {open} sequence<T> next; {close} }};");
    let model =
        compile_text_to_model("deep.idl", &tree, &Options::default()).unwrap_or_else(|e| panic!("{e}")).model;
    let (types, ty) = (Types { model: &model }, Type::Named(model.find("T").unwrap()));
    let deep = |levels: usize| {
        let ones = [1_u32.to_le_bytes()].repeat(levels);
        [ones.concat(), 0_u32.to_le_bytes().to_vec()].concat()
    };
    on_a_large_stack(|| comes_back(types, &ty, &deep(55)));
    // What could not be passed on is not read either.
    let octets = deep(60);
    on_a_large_stack(|| {
        let mut r = Reader::new(&octets, ByteOrder::Little);
        let read = types.decode(&ty, &mut r);
        assert_eq!(read, Err(throughline_cdr::DecodeError::TooDeep));
    });
}
