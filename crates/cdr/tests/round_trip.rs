//! Whatever is written is read back the same, in both byte orders, at every alignment; cut short, it is an error.

use std::fmt::Debug;

use proptest::prelude::*;
use throughline_cdr::*;

fn check<T>(value: &T, order: ByteOrder, offset: usize, codesets: CodeSets) -> Result<(), TestCaseError>
where
    T: Encode + for<'a> Decode<'a> + PartialEq + Debug,
{
    let mut octets = vec![0; offset];
    let mut w = Writer::with_base(&mut octets, order, 0);
    w.set_codesets(codesets);
    value.encode(&mut w).unwrap();
    let reader = |length: usize| {
        let mut r = Reader::starting_at(&octets[..length], order, offset);
        r.set_codesets(codesets);
        r
    };
    let mut r = reader(octets.len());
    prop_assert_eq!(&T::decode(&mut r).unwrap(), value);
    prop_assert_eq!(r.remaining(), 0);
    prop_assert!(octets.len() - offset >= T::MIN_SIZE);
    for length in offset..octets.len() {
        prop_assert!(T::decode(&mut reader(length)).is_err(), "cut to {}", length);
    }
    Ok(())
}

/// Text without NUL.
fn text() -> impl Strategy<Value = String> {
    "[^\0]{0,12}"
}

macro_rules! round_trips {
    ($($name:ident: $strategy:expr;)*) => {
        proptest! {
            $(
                #[test]
                fn $name(value in $strategy, little in any::<bool>(), offset in 0..9_usize, old in any::<bool>()) {
                    let wide_encoding = if old { WideEncoding::Giop11 } else { WideEncoding::Giop12 };
                    let codesets = CodeSets { wide_encoding, ..CodeSets::UNICODE };
                    check(&value, ByteOrder::from_flag(little), offset, codesets)?;
                }
            )*
        }
    };
}

round_trips! {
    numbers: prop::array::uniform3(any::<i64>());
    octets: prop::collection::vec(any::<u8>(), 0..30);
    shorts: prop::collection::vec(any::<i16>(), 0..30);
    longs: prop::collection::vec(any::<u32>(), 0..30);
    doubles: prop::collection::vec(any::<f64>().prop_filter("a number", |f| !f.is_nan()), 0..30);
    booleans: prop::collection::vec(any::<bool>(), 0..30);
    characters: prop::collection::vec((0_u8..128).prop_map(char::from), 0..30);
    strings: prop::collection::vec(text(), 0..5);
    wide_strings: prop::collection::vec(text().prop_map(WString), 0..5);
    wide_chars: prop::collection::vec((0..0xD800_u16).prop_map(|c| WChar(char::from_u32(c.into()).unwrap())), 0..5);
    nested: prop::collection::vec(prop::collection::vec(any::<u64>(), 0..4), 0..4);
    arrays: prop::array::uniform4(text());
    bounded: prop::collection::vec(any::<u32>(), 0..9).prop_map(|v| BoundedVec::<_, 9>::new(v).unwrap());
}

proptest! {
    #[test]
    fn latin1(value in "[\u{1}-\u{FF}]{0,12}", little in any::<bool>(), offset in 0..9_usize) {
        check(&value, ByteOrder::from_flag(little), offset, CodeSets::DEFAULT)?;
    }

    #[test]
    fn long_doubles_hold_any_f64(bits in any::<u64>()) {
        let value = f64::from_bits(bits);
        let back = LongDouble::from(value).to_f64();
        prop_assert!(back.to_bits() == bits || value.is_nan() && back.is_nan());
    }

    /// Rounding to the nearest, compared with what integer arithmetic knows: integers of up to 113 bits.
    #[test]
    fn long_doubles_round_like_integers(value in any::<u128>(), shift in 15_u32..127) {
        let value = value >> shift;
        prop_assume!(value > 0);
        let exponent = 127 - value.leading_zeros();
        let fraction = (value << (127 - exponent) << 1) >> 16;
        let octets = ((u128::from(16383 + exponent) << 112) | fraction).to_be_bytes();
        prop_assert_eq!(LongDouble(octets).to_f64(), value as f64);
    }
}
