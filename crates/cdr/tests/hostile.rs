//! What a peer must not be able to do, whatever it sends.

use proptest::prelude::*;
use throughline_cdr::*;

/// A recursive type, as generated code has it: recursion goes through a sequence.
#[derive(Debug)]
struct Tree(Vec<Tree>);

impl<'a> Decode<'a> for Tree {
    const MIN_SIZE: usize = 4;
    fn decode(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Decode::decode(r).map(Tree)
    }
}

fn depth(tree: &Tree) -> usize {
    1 + tree.0.iter().map(depth).max().unwrap_or(0)
}

#[test]
fn nesting_is_limited() {
    let one = 1_u32.to_be_bytes();
    let endless = one.repeat(100_000);
    assert_eq!(Tree::decode(&mut Reader::new(&endless, ByteOrder::Big)).unwrap_err(), DecodeError::TooDeep);

    let deep = [one.repeat(63), vec![0; 4]].concat();
    let tree = Tree::decode(&mut Reader::new(&deep, ByteOrder::Big)).unwrap();
    assert_eq!(depth(&tree), 64, "the default limit");

    let mut r = Reader::new(&deep, ByteOrder::Big);
    r.set_depth_limit(10);
    assert_eq!(Tree::decode(&mut r).unwrap_err(), DecodeError::TooDeep);
}

#[test]
fn siblings_do_not_count_as_nesting() {
    let mut octets = 1000_u32.to_be_bytes().to_vec();
    octets.extend(std::iter::repeat_n(0, 4000));
    assert_eq!(Tree::decode(&mut Reader::new(&octets, ByteOrder::Big)).unwrap().0.len(), 1000);
}

#[test]
fn encapsulations_count_as_nesting() {
    let mut octets = vec![0];
    for _ in 0..200 {
        let mut outer = vec![];
        Writer::new(&mut outer, ByteOrder::Big)
            .write_encapsulation(|w| {
                w.write_octets(&octets).unwrap();
                Ok(())
            })
            .unwrap();
        octets = outer[4..].to_vec();
    }
    let mut r = Reader::encapsulation(&octets).unwrap();
    let levels = std::iter::from_fn(|| {
        r = r.read_encapsulation().ok()?;
        Some(())
    });
    assert_eq!(levels.count(), usize::from(DEFAULT_DEPTH));
}

#[test]
fn lengths_are_checked_before_memory_is_taken() {
    let octets = [0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0];
    let read = |octets| Reader::new(octets, ByteOrder::Big);
    let expected = DecodeError::LengthTooLarge { offset: 0, length: 0x7FFF_FFFF };
    assert_eq!(Vec::<u64>::decode(&mut read(&octets)).unwrap_err(), expected);
    assert_eq!(Vec::<String>::decode(&mut read(&octets)).unwrap_err(), expected);
    assert_eq!(Vec::<()>::decode(&mut read(&octets)).unwrap_err(), expected, "elements of no size");
    const HUGE: usize = 1 << (if usize::BITS == 64 { 40 } else { 25 });
    assert_eq!(
        Vec::<[u64; HUGE]>::decode(&mut read(&octets)).unwrap_err(),
        expected,
        "elements of huge size"
    );
}

/// Reads everything there is to read, over and over, until nothing is left or nothing fits.
fn read_all(octets: &[u8], order: ByteOrder, codesets: CodeSets, script: &[u8]) {
    let mut r = Reader::new(octets, order);
    r.set_codesets(codesets);
    for step in script {
        let before = r.position();
        let _ = match step % 20 {
            0 => r.read_u8().map(drop),
            1 => r.read_bool().map(drop),
            2 => r.read_i16().map(drop),
            3 => r.read_u32().map(drop),
            4 => r.read_f64().map(drop),
            5 => r.read_long_double().map(drop),
            6 => r.read_string().map(drop),
            7 => r.read_wstring().map(drop),
            8 => r.read_char().map(drop),
            9 => r.read_wchar().map(drop),
            10 => r.read_slice::<u64>().map(drop),
            11 => r.read_slice::<bool>().map(drop),
            12 => Vec::<String>::decode(&mut r).map(drop),
            13 => Vec::<Vec<u16>>::decode(&mut r).map(drop),
            14 => <[[u32; 2]; 3]>::decode(&mut r).map(drop),
            15 => BoundedVec::<WString, 3>::decode(&mut r).map(drop),
            16 => BoundedString::<4>::decode(&mut r).map(drop),
            17 => r.read_encapsulation().map(|inner| r = inner),
            18 => Tree::decode(&mut r).map(drop),
            _ => r.align(8),
        };
        assert!(r.position() <= octets.len() && (r.position() >= before || step % 20 == 17));
    }
}

fn any_codesets() -> impl Strategy<Value = CodeSets> {
    let narrow = prop_oneof![Just(CharSet::Utf8), Just(CharSet::Latin1)];
    let wide = prop_oneof![Just(None), Just(Some(WideCharSet::Utf16))];
    let layout = prop_oneof![Just(WideEncoding::Giop11), Just(WideEncoding::Giop12)];
    (narrow, wide, layout).prop_map(|(narrow, wide, wide_encoding)| CodeSets { narrow, wide, wide_encoding })
}

fn any_order() -> impl Strategy<Value = ByteOrder> {
    any::<bool>().prop_map(ByteOrder::from_flag)
}

proptest! {
    #[test]
    fn random_octets_never_panic(
        octets in prop::collection::vec(prop_oneof![3 => 0_u8..4, 1 => any::<u8>()], 0..200),
        order in any_order(),
        codesets in any_codesets(),
        script in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        read_all(&octets, order, codesets, &script);
    }
}
