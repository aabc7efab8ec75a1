//! Octets worked out by hand from section 9.3 of the standard.

use std::borrow::Cow;

use throughline_cdr::*;

fn encoded(order: ByteOrder, codesets: CodeSets, value: &dyn Encode) -> Result<Vec<u8>, EncodeError> {
    let mut octets = Vec::new();
    let mut w = Writer::new(&mut octets, order);
    w.set_codesets(codesets);
    value.encode(&mut w)?;
    Ok(octets)
}

fn decoded<'a, T: Decode<'a>>(
    octets: &'a [u8],
    order: ByteOrder,
    codesets: CodeSets,
) -> Result<T, DecodeError> {
    let mut r = Reader::new(octets, order);
    r.set_codesets(codesets);
    let value = T::decode(&mut r)?;
    assert_eq!(r.remaining(), 0, "octets left over");
    Ok(value)
}

use ByteOrder::{Big, Little};

const LATIN1: CodeSets = CodeSets::DEFAULT;
const UNICODE: CodeSets = CodeSets::UNICODE;
const UNICODE_1_1: CodeSets = CodeSets { wide_encoding: WideEncoding::Giop11, ..UNICODE };

/// Both directions.
fn same<T>(value: T, order: ByteOrder, codesets: CodeSets, octets: &[u8])
where
    T: Encode + for<'a> Decode<'a> + PartialEq + std::fmt::Debug,
{
    assert_eq!(encoded(order, codesets, &value).unwrap(), octets, "{value:?} as {order:?}");
    assert_eq!(decoded::<T>(octets, order, codesets).unwrap(), value, "{octets:02x?} as {order:?}");
}

#[test]
fn numbers() {
    same(0x1234_i16, Big, LATIN1, &[0x12, 0x34]);
    same(0x1234_i16, Little, LATIN1, &[0x34, 0x12]);
    same(-2_i32, Big, LATIN1, &[0xFF, 0xFF, 0xFF, 0xFE]);
    same(0x0102_0304_0506_0708_u64, Big, LATIN1, &[1, 2, 3, 4, 5, 6, 7, 8]);
    same(0x0102_0304_0506_0708_u64, Little, LATIN1, &[8, 7, 6, 5, 4, 3, 2, 1]);
    same(1.5_f32, Big, LATIN1, &[0x3F, 0xC0, 0, 0]);
    same(-2.0_f64, Little, LATIN1, &[0, 0, 0, 0, 0, 0, 0, 0xC0]);
    same(true, Big, LATIN1, &[1]);
    same(-1_i8, Big, LATIN1, &[0xFF]);
}

#[test]
fn alignment_counts_from_the_base() {
    let mut octets = vec![9; 3];
    let mut w = Writer::new(&mut octets, Big);
    w.write_u8(1);
    w.write_u64(2);
    w.write_u8(3);
    w.write_u16(4);
    assert_eq!(octets[3..], [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 3, 0, 0, 4]);

    let mut r = Reader::new(&octets[3..], Big);
    assert_eq!((r.read_u8(), r.read_u64(), r.read_u8(), r.read_u16()), (Ok(1), Ok(2), Ok(3), Ok(4)));
    let mut r = Reader::starting_at(&octets[3..], Big, 8);
    assert_eq!(r.read_u64(), Ok(2));
}

#[test]
fn long_doubles() {
    let one = [0x3F, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(LongDouble::from(1.0), LongDouble(one));
    same(LongDouble(one), Big, LATIN1, &one);
    same(LongDouble(one), Little, LATIN1, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0x3F]);
    let smallest = f64::from_bits(1);
    for value in [0.0, -0.0, 1.0, -1.5, f64::MAX, f64::MIN_POSITIVE, smallest, f64::INFINITY, 1e-310] {
        assert_eq!(LongDouble::from(value).to_f64().to_bits(), value.to_bits(), "{value}");
    }
    assert!(LongDouble::from(f64::NAN).to_f64().is_nan());
    // 2^-1075 is half the smallest f64: to even, that is 0. The next larger value is nearer to the smallest.
    let half = |low: u8| {
        let mut octets = ((16383u128 - 1075) << 112).to_be_bytes();
        octets[15] = low;
        LongDouble(octets).to_f64()
    };
    assert_eq!(half(0), 0.0);
    assert_eq!(half(1), smallest);
    // The largest long double is beyond any f64, and a bit over f64::MAX rounds up to infinity too.
    assert_eq!(LongDouble((((0x7FFF_u128) << 112) - 1).to_be_bytes()).to_f64(), f64::INFINITY);
}

#[test]
fn strings() {
    same("hi".to_owned(), Big, LATIN1, b"\0\0\0\x03hi\0");
    same(String::new(), Little, LATIN1, b"\x01\0\0\0\0");
    same("é".to_owned(), Big, LATIN1, b"\0\0\0\x02\xE9\0");
    same("é".to_owned(), Big, UNICODE, b"\0\0\0\x03\xC3\xA9\0");
    assert_eq!(decoded::<String>(b"\0\0\0\0", Big, LATIN1).as_deref(), Ok(""), "no NUL at all");
    assert!(matches!(decoded::<Cow<'_, str>>(b"\0\0\0\x03hi\0", Big, UNICODE), Ok(Cow::Borrowed("hi"))));
}

#[test]
fn bad_strings() {
    let read = |octets, codesets| decoded::<String>(octets, Big, codesets).unwrap_err();
    assert_eq!(read(b"\0\0\0\x02hi", LATIN1), DecodeError::InvalidTerminator { offset: 4 });
    assert_eq!(read(b"\0\0\0\x03h\0\0", LATIN1), DecodeError::InvalidTerminator { offset: 4 });
    assert_eq!(read(b"\0\0\0\x04hi\0", LATIN1), DecodeError::LengthTooLarge { offset: 0, length: 4 });
    assert_eq!(read(b"\xFF\xFF\xFF\xFFhi\0", LATIN1), DecodeError::LengthTooLarge { offset: 0, length: !0 });
    assert_eq!(read(b"\0\0\0\x02\xE9\0", UNICODE), DecodeError::InvalidText { offset: 4 });
    assert_eq!(read(b"\0\0\0", LATIN1), DecodeError::Truncated { offset: 0 });
    assert_eq!(DecodeError::InvalidText { offset: 0 }.class(), ErrorClass::DataConversion);

    assert_eq!(encoded(Big, UNICODE, &"a\0b"), Err(EncodeError::EmbeddedNul));
    assert_eq!(encoded(Big, LATIN1, &"€"), Err(EncodeError::Unrepresentable('€')));
    assert_eq!(EncodeError::Unrepresentable('€').class(), ErrorClass::DataConversion);
}

#[test]
fn chars() {
    same('A', Big, UNICODE, b"A");
    same('\0', Big, UNICODE, b"\0");
    same('é', Big, LATIN1, b"\xE9");
    assert!(encoded(Big, UNICODE, &'é').is_err(), "two octets in UTF-8");
    assert!(encoded(Big, LATIN1, &'€').is_err());
    assert!(decoded::<char>(b"\xE9", Big, UNICODE).is_err());
}

#[test]
fn wide_text_in_giop_1_2() {
    same(WString::from("hé"), Big, UNICODE, &[0, 0, 0, 4, 0, b'h', 0, 0xE9]);
    same(WString::from("h"), Little, UNICODE, &[2, 0, 0, 0, 0, b'h']);
    same(WString::from(""), Little, UNICODE, &[0, 0, 0, 0]);
    same(WString::from("𝄞"), Big, UNICODE, &[0, 0, 0, 4, 0xD8, 0x34, 0xDD, 0x1E]);
    same(WString::from("\u{FEFF}h"), Big, UNICODE, &[0, 0, 0, 6, 0xFE, 0xFF, 0xFE, 0xFF, 0, b'h']);
    same(WChar('h'), Little, UNICODE, &[2, 0, b'h']);
    same(WChar('\0'), Little, UNICODE, &[2, 0, 0]);
    same(WChar('\u{FEFF}'), Little, UNICODE, &[2, 0xFE, 0xFF]);
    same(WChar('𝄞'), Big, UNICODE, &[4, 0xD8, 0x34, 0xDD, 0x1E]);
    // Marked, as omniORB marks strings.
    assert_eq!(decoded::<WString>(&[4, 0, 0, 0, 0xFF, 0xFE, b'h', 0], Little, UNICODE).unwrap(), "h");
    assert_eq!(decoded::<WString>(&[4, 0, 0, 0, 0xFE, 0xFF, 0, b'h'], Little, UNICODE).unwrap(), "h");
    assert_eq!(decoded::<WChar>(&[4, 0xFF, 0xFE, b'h', 0], Big, UNICODE), Ok(WChar('h')));
}

#[test]
fn wide_text_in_giop_1_1() {
    same(WString::from("h"), Big, UNICODE_1_1, &[0, 0, 0, 2, 0, b'h', 0, 0]);
    same(WString::from("h"), Little, UNICODE_1_1, &[2, 0, 0, 0, b'h', 0, 0, 0]);
    same(WChar('h'), Little, UNICODE_1_1, b"h\0");
    assert!(encoded(Big, UNICODE_1_1, &WChar('𝄞')).is_err(), "a single unit");
    assert_eq!(decoded::<WString>(&[0, 0, 0, 0], Big, UNICODE_1_1).unwrap(), "");
    assert!(decoded::<WString>(&[0, 0, 0, 1, 0, b'h'], Big, UNICODE_1_1).is_err(), "no NUL");
}

#[test]
fn bad_wide_text() {
    let text = |octets| decoded::<WString>(octets, Big, UNICODE).unwrap_err();
    assert_eq!(text(&[0, 0, 0, 3, 0, b'h', 0]), DecodeError::InvalidWideLength { offset: 4, length: 3 });
    assert_eq!(text(&[0, 0, 0, 2, 0xD8, 0x34]), DecodeError::InvalidText { offset: 4 });
    assert_eq!(text(&[0, 0, 0, 2, 0, 0]), DecodeError::InvalidTerminator { offset: 4 });
    let wchar = |octets| decoded::<WChar>(octets, Big, UNICODE).unwrap_err();
    // No character, half of one, one and a half, two: no fault of the code set, but of the encoding.
    for octets in [&[0][..], &[1, 0], &[3, 0, 0, 0], &[4, 0, b'h', 0, b'i'], &[6, 0xFF, 0xFE, 1, 0, 2, 0]] {
        let length = octets[0].into();
        assert_eq!(wchar(octets), DecodeError::InvalidWideLength { offset: 0, length }, "{octets:?}");
    }
    assert_eq!(wchar(&[2, 0xD8, 0x34]), DecodeError::InvalidText { offset: 0 });
    assert_eq!(wchar(&[4, 0xD8, 0x34, 0, b'h']), DecodeError::InvalidText { offset: 0 });
    assert_eq!(decoded::<WString>(&[0; 4], Big, LATIN1), Err(DecodeError::NoWideCharSet));
    assert_eq!(encoded(Big, LATIN1, &WString::default()), Err(EncodeError::NoWideCharSet));
}

#[test]
fn sequences_and_arrays() {
    same(vec![1_u16, 2], Big, LATIN1, &[0, 0, 0, 2, 0, 1, 0, 2]);
    same(vec![1_u64], Big, LATIN1, &[0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    same(Vec::<u64>::new(), Big, LATIN1, &[0, 0, 0, 0]);
    same([1_u16, 2], Little, LATIN1, &[1, 0, 2, 0]);
    same([[1_u8, 2], [3, 4]], Little, LATIN1, &[1, 2, 3, 4]);
    same(vec![[1_u16], [2]], Big, LATIN1, &[0, 0, 0, 2, 0, 1, 0, 2]);
    same(vec!["a".to_owned(), "b".to_owned()], Big, LATIN1, b"\0\0\0\x02\0\0\0\x02a\0\0\0\0\0\0\x02b\0");
    same(["a".to_owned()], Big, LATIN1, b"\0\0\0\x02a\0");
    same(vec![true, false], Big, LATIN1, &[0, 0, 0, 2, 1, 0]);
    same(vec!['a', 'b'], Big, LATIN1, b"\0\0\0\x02ab");
    same(vec![vec![7_u8]], Little, LATIN1, &[1, 0, 0, 0, 1, 0, 0, 0, 7]);
}

#[test]
fn slices_are_borrowed_where_they_can_be() {
    #[repr(align(8))]
    struct Aligned([u8; 24]);
    let mut octets = Aligned([0; 24]);
    octets.0[..4].copy_from_slice(&2_u32.to_ne_bytes());
    octets.0[8..16].copy_from_slice(&5_u64.to_ne_bytes());
    octets.0[16..].copy_from_slice(&6_u64.to_ne_bytes());
    let mut r = Reader::new(&octets.0, ByteOrder::NATIVE);
    assert!(matches!(r.read_slice::<u64>(), Ok(Cow::Borrowed(&[5, 6]))));

    let foreign = ByteOrder::from_flag(ByteOrder::NATIVE == Big);
    let mut r = Reader::starting_at(&octets.0, foreign, 8);
    assert_eq!(u64::read_many(&mut r, 2).unwrap(), [5_u64.swap_bytes(), 6_u64.swap_bytes()].as_slice());

    let mut moved = vec![0];
    moved.extend_from_slice(&octets.0);
    let mut r = Reader::new(&moved[1..], ByteOrder::NATIVE);
    assert_eq!(r.read_slice::<u64>().unwrap(), [5, 6].as_slice());

    let mut r = Reader::new(&[0, 0, 0, 3, 1, 0, 2], Big);
    assert_eq!(r.read_slice::<bool>(), Err(DecodeError::InvalidBoolean { offset: 6 }));
    let mut r = Reader::new(&[0, 0, 0, 2, 1, 0], Big);
    assert!(matches!(r.read_slice::<bool>(), Ok(Cow::Borrowed(&[true, false]))));
}

#[test]
fn decode_into_reuses_memory() {
    let octets = [0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2];
    let mut numbers: Vec<u32> = Vec::with_capacity(64);
    let place = numbers.as_ptr();
    numbers.decode_into(&mut Reader::new(&octets, Big)).unwrap();
    assert_eq!((numbers.as_slice(), numbers.as_ptr()), ([1, 2].as_slice(), place));
}

#[test]
fn bounds() {
    type Short = BoundedString<2>;
    same(Short::new("é€").unwrap(), Big, UNICODE, b"\0\0\0\x06\xC3\xA9\xE2\x82\xAC\0");
    assert_eq!(Short::new("abc"), Err(BoundExceeded { length: 3, bound: 2 }));
    let long = decoded::<Short>(b"\0\0\0\x04abc\0", Big, LATIN1);
    assert_eq!(long, Err(DecodeError::BoundExceeded { length: 3, bound: 2 }));
    same(BoundedWString::<1>::new("h").unwrap(), Big, UNICODE, &[0, 0, 0, 2, 0, b'h']);
    assert!(BoundedWString::<1>::new("𝄞").is_err(), "two units");
    same(BoundedVec::<u8, 2>::new(vec![1, 2]).unwrap(), Big, LATIN1, &[0, 0, 0, 2, 1, 2]);
    assert!(decoded::<BoundedVec<u8, 1>>(&[0, 0, 0, 2, 1, 2], Big, LATIN1).is_err());
    let mut items = BoundedVec::<u8, 1>::default();
    assert!(items.push(1).is_ok() && items.push(2).is_err());
}

#[test]
fn encapsulations_have_their_own_order_and_alignment() {
    let mut octets = vec![0xAA];
    let mut w = Writer::with_base(&mut octets, Little, 0);
    w.write_encapsulation(|w| {
        w.write_u32(7);
        w.write_encapsulation(|w| {
            w.write_u8(8);
            Ok(())
        })
    })
    .unwrap();
    w.write_u16(9);
    let expected =
        [&[0xAA, 0, 0, 0, 14, 0, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0][..], &[2, 0, 0, 0, 1, 8, 9, 0]].concat();
    assert_eq!(octets, expected);

    let mut r = Reader::starting_at(&octets, Little, 1);
    let mut inner = r.read_encapsulation().unwrap();
    assert_eq!(inner.read_u32(), Ok(7));
    assert_eq!(inner.read_encapsulation().unwrap().rest(), [8]);
    assert_eq!(r.read_u16(), Ok(9));

    // Aligned to 8 in the encapsulation, not outside.
    let mut octets = vec![];
    let write = |w: &mut Writer<'_>| {
        w.write_u64(7);
        Ok(())
    };
    Writer::new(&mut octets, Big).write_encapsulation(write).unwrap();
    assert_eq!(octets, [&[0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0][..], &7_u64.to_be_bytes()].concat());
    assert_eq!(Reader::new(&octets, Big).read_encapsulation().unwrap().read_u64(), Ok(7));

    // Big-endian inside little-endian.
    let mut r = Reader::new(&[8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7], Little);
    assert_eq!(r.read_encapsulation().unwrap().read_u32(), Ok(7));
    for bad in [&[0, 0, 0, 0][..], &[1, 0, 0, 0, 2]] {
        let error = Reader::new(bad, Little).read_encapsulation().unwrap_err();
        assert_eq!(error, DecodeError::InvalidEncapsulation { offset: 0 });
    }
}

#[test]
fn booleans_are_0_or_1() {
    assert_eq!(decoded::<bool>(&[2], Big, LATIN1), Err(DecodeError::InvalidBoolean { offset: 0 }));
}

#[test]
fn the_context_reaches_decoders() {
    let orb = "the ORB".to_owned();
    let r = Reader::new(&[5, 0, 0, 0, 1, 0, 0, 0, 0], Little).with_context(&orb);
    assert_eq!(r.context::<String>(), Some(&orb));
    assert_eq!(r.context::<u32>(), None);
    let mut r = r;
    assert_eq!(r.read_encapsulation().unwrap().context::<String>(), Some(&orb));
}
