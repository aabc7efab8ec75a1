//! Generated types, written and read again in both byte orders.

use std::fmt::Debug;

use throughline::rt::{
    BoundedString, BoundedVec, BoundedWString, Decode, DecodeError, Encode, EncodeError, LongDouble, Reader,
    UserException, WChar, WString, Writer,
};
use throughline_cdr::ByteOrder;
use throughline_idl_tests::names::names as n;
use throughline_idl_tests::types::types as t;
use throughline_idl_tests::unions::unions as u;

const ORDERS: [ByteOrder; 2] = [ByteOrder::Big, ByteOrder::Little];

/// Wide text needs a wide code set, as it does on the wire.
fn octets(value: &impl Encode, order: ByteOrder) -> Result<Vec<u8>, EncodeError> {
    let mut buffer = Vec::new();
    let mut w = Writer::new(&mut buffer, order);
    w.set_codesets(wide());
    value.encode(&mut w)?;
    Ok(buffer)
}

fn wide() -> throughline_cdr::CodeSets {
    throughline_cdr::CodeSets {
        wide: Some(throughline_cdr::WideCharSet::Utf16),
        wide_encoding: throughline_cdr::WideEncoding::Giop12,
        ..throughline_cdr::CodeSets::DEFAULT
    }
}

fn read<T: for<'a> Decode<'a>>(octets: &[u8], order: ByteOrder) -> Result<T, DecodeError> {
    let mut r = Reader::new(octets, order);
    r.set_codesets(wide());
    let value = T::decode(&mut r)?;
    assert_eq!(r.remaining(), 0);
    Ok(value)
}

/// Comes back equal, takes at least its smallest size, and is refused when anything is missing.
fn round_trip<T: Encode + for<'a> Decode<'a> + PartialEq + Debug>(value: &T) {
    for order in ORDERS {
        let octets = octets(value, order).unwrap();
        assert!(octets.len() >= T::MIN_SIZE, "{value:?}");
        assert_eq!(&read::<T>(&octets, order).unwrap(), value);
        for short in 0..octets.len() {
            assert!(T::decode(&mut Reader::new(&octets[..short], order)).is_err());
        }
    }
}

fn numbers() -> t::Numbers {
    t::Numbers {
        a_boolean: true,
        an_octet: 0xFE,
        a_char: 'x',
        a_wchar: WChar('€'),
        a_short: i16::MIN,
        an_unsigned_short: u16::MAX,
        a_long: i32::MIN,
        an_unsigned_long: u32::MAX,
        a_long_long: i64::MIN,
        an_unsigned_long_long: u64::MAX,
        a_float: -0.5,
        a_double: 1e300,
        a_long_double: LongDouble::from(0.1),
    }
}

fn composite() -> t::Composite {
    let cells = [[1, -2, 3], [4, 5, i32::MAX]];
    t::Composite {
        text: "text".to_owned(),
        wide_text: WString::from("weiter €"),
        short_tag: BoundedString::new("abcd").unwrap(),
        wide_one: BoundedWString::new("€").unwrap(),
        names: vec![String::new(), "b".to_owned()],
        some_tables: BoundedVec::new(vec![vec!["x".to_owned()], vec![]]).unwrap(),
        cells,
        more_cells: [cells; 4],
        all_cells: vec![cells, cells],
        raw: vec![0, 1, 255],
        paints: [t::Colour::Blue, t::Colour::Red],
        few: BoundedVec::new(vec![7; 8]).unwrap(),
        lines: ["one".to_owned(), String::new()],
        digest: [9; 40],
        place: t::Exact { x: 1, y: -1, paint: t::Colour::Green },
        look: t::composite::Style::Fancy,
    }
}

#[test]
fn structs() {
    round_trip(&numbers());
    round_trip(&composite());
    round_trip(&t::References {
        anything: None,
        one: None,
        many: vec![None; 3],
        pair: [None, None],
        few: BoundedVec::default(),
    });
    round_trip(&n::Members { a_b: 1, a_b_: 2, r#struct: 3, r#type: 4, self_: 5, crate_: 6 });
}

#[test]
fn recursive_structs_up_to_a_limit() {
    let leaf = t::Tree { value: 1, children: vec![] };
    let tree = t::Tree { value: 2, children: vec![leaf.clone(), t::Tree { value: 3, children: vec![leaf] }] };
    round_trip(&tree);
    let small = t::Forest { name: "small".to_owned(), smaller: vec![], oldest: tree.clone() };
    round_trip(&t::Forest { name: String::new(), smaller: vec![small.clone(), small], oldest: tree });
    let deep = (0..1000).fold(t::Tree::default(), |tree, value| t::Tree { value, children: vec![tree] });
    let octets = octets(&deep, ByteOrder::Big).unwrap();
    assert_eq!(read::<t::Tree>(&octets, ByteOrder::Big), Err(DecodeError::TooDeep));
}

#[test]
fn enums_refuse_what_they_lack() {
    for (colour, ordinal) in [(t::Colour::Red, 0), (t::Colour::Green, 1), (t::Colour::Blue, 2)] {
        round_trip(&colour);
        assert_eq!(octets(&colour, ByteOrder::Big).unwrap(), [0, 0, 0, ordinal]);
    }
    assert_eq!(read::<t::Colour>(&[0, 0, 0, 3], ByteOrder::Big), Err(DecodeError::InvalidEnum { value: 3 }));
}

#[test]
fn bounds_hold_on_the_wire() {
    let tag = octets(&"abcde", ByteOrder::Big).unwrap();
    assert!(matches!(
        read::<t::Tag>(&tag, ByteOrder::Big),
        Err(DecodeError::BoundExceeded { length: 5, bound: 4 })
    ));
    let three: Vec<t::Strings> = vec![vec![]; 3];
    let tables = octets(&three, ByteOrder::Big).unwrap();
    assert!(matches!(
        read::<t::Tables>(&tables, ByteOrder::Big),
        Err(DecodeError::BoundExceeded { length: 3, bound: 2 })
    ));
}

#[test]
fn unions_with_one_label_each() {
    round_trip(&u::ByLong::Number(5));
    round_trip(&u::ByLong::Text("two".to_owned()));
    round_trip(&u::ByLong::Default(0));
    assert_eq!(u::ByLong::Text(String::new()).discriminator(), -2);
    assert!(octets(&u::ByLong::Default(1), ByteOrder::Big).is_err());
    round_trip(&u::ByUnsignedShort::Default(1));
    round_trip(&u::ByLongLong::Low(4));
    round_trip(&u::ByUnsignedLongLong::High(4));
    round_trip(&u::ByUnsignedLongLong::Default(4));
}

#[test]
fn unions_keep_which_of_several_labels_it_was() {
    for discriminator in [1, 2] {
        let value = u::ByShort::Number { discriminator, value: 9 };
        round_trip(&value);
        assert_eq!(value.discriminator(), discriminator);
    }
    for discriminator in [3, 0, i16::MIN] {
        round_trip(&u::ByShort::Place { discriminator, value: u::Point { x: 1, y: 2 } });
    }
    round_trip(&u::ByShort::List(vec![1, 2]));
    let wrong = [
        u::ByShort::Number { discriminator: 3, value: 1 },
        u::ByShort::Place { discriminator: 1, value: u::Point::default() },
        u::ByShort::Place { discriminator: -1, value: u::Point::default() },
    ];
    for value in wrong {
        assert!(matches!(octets(&value, ByteOrder::Big), Err(EncodeError::Invalid(_))), "{value:?}");
    }
    round_trip(&u::ByUnsignedShort::Edge { discriminator: u16::MAX, value: 3 });
    round_trip(&u::ByUnsignedLong::Other { discriminator: 0, value: true });
}

#[test]
fn unions_over_characters_booleans_and_enums() {
    round_trip(&u::ByChar::Small(1));
    round_trip(&u::ByChar::Odd { discriminator: '\'', value: 1 });
    round_trip(&u::ByChar::Odd { discriminator: '\n', value: 1 });
    round_trip(&u::ByChar::Other { discriminator: 'z', value: 1 });
    round_trip(&u::ByBoolean::Yes("yes".to_owned()));
    round_trip(&u::ByBoolean::No(0.5));
    round_trip(&u::ByTrue::Default(false));
    round_trip(&u::ByEither::Either { discriminator: false, value: "either".to_owned() });
    round_trip(&u::ByColour::Other(u::Colour::Blue));
    round_trip(&u::ByColour::Default(u::Colour::Blue));
    round_trip(&u::ByAllColours::Level { discriminator: u::Colour::Green, value: 1 });
    round_trip(&u::ByAllColours::Shade(0.25));
    round_trip(&u::ByDefault::Other { discriminator: u::Colour::Blue, value: u::Colour::Red });
    assert!(
        octets(&u::ByAllColours::Level { discriminator: u::Colour::Blue, value: 1 }, ByteOrder::Big).is_err()
    );
    assert!(read::<u::ByColour>(&[0, 0, 0, 9], ByteOrder::Big).is_err());
}

#[test]
fn unions_with_anything_inside() {
    round_trip(&u::Inside::How(u::inside::Weight::Heavy));
    round_trip(&u::Inside::Names(["a".to_owned(), "b".to_owned()]));
    round_trip(&u::Inside::More(vec![u::Inside::How(u::inside::Weight::Light), u::Inside::Default(77)]));
    round_trip(&u::Uneven::Small(1));
    round_trip(&u::Named::Default(1));
    round_trip(&u::Named::Default_(9));
    round_trip(&u::Named::Self_ { discriminator: 5, value: 1 });
}

#[test]
fn exceptions_travel_as_their_members_and_print_their_idl_names() {
    let why = n::Box { why: n::Result::Err };
    round_trip(&why);
    assert_eq!(n::Box::REPOSITORY_ID, "IDL:Names/Box:1.0");
    assert_eq!(why.to_string(), "Names::Box { why: Err }");
    assert_eq!(n::Some.to_string(), "Names::Some");
    assert!(octets(&n::Some, ByteOrder::Big).unwrap().is_empty());
}

#[test]
fn constants_have_their_values() {
    assert_eq!((t::A_SHORT, t::A_LONG, t::A_LONG_LONG), (i16::MIN, i32::MIN, i64::MIN));
    assert_eq!((t::AN_UNSIGNED_SHORT, t::AN_UNSIGNED_LONG), (u16::MAX, 1 << 31));
    assert_eq!((t::AN_UNSIGNED_LONG_LONG, t::AN_OCTET), (u64::MAX, u8::MAX));
    assert_eq!((t::A_CHAR, t::A_LATIN_CHAR, t::A_WCHAR), ('\'', 'é', WChar('€')));
    assert_eq!((t::A_STRING, t::A_WSTRING), ("say \"hi\"\n", "€ 5"));
    assert_eq!((t::A_FLOAT, t::A_DOUBLE, t::NEGATIVE), (0.1, 2.5e-300, -1.5));
    assert_eq!(t::A_LONG_DOUBLE, LongDouble::from(1.5));
    assert_eq!((t::FAVOURITE, n::SECOND), (t::Colour::Green, n::Alike::OneTwo_));
    const { assert!(t::A_BOOLEAN) };
}

#[test]
fn types_derive_what_their_members_allow() {
    fn copy_eq_hash<T: Copy + Eq + std::hash::Hash>() {}
    fn eq_hash_default<T: Eq + std::hash::Hash + Default>() {}
    fn default<T: Default>() {}
    copy_eq_hash::<t::Colour>();
    copy_eq_hash::<t::Exact>();
    eq_hash_default::<t::Tree>();
    eq_hash_default::<t::Forest>();
    eq_hash_default::<t::References>();
    eq_hash_default::<u::Large>();
    default::<t::Numbers>();
}
