//! Reads CDR values from anything. The first octets choose byte order, code sets and types, the rest is the data; what
//! was read must survive being written and read again.
#![no_main]

use std::fmt::Debug;

use libfuzzer_sys::fuzz_target;
use throughline_cdr::*;

/// A recursive type, as generated code has it.
#[derive(Debug, PartialEq)]
struct Tree(Vec<Tree>, Option<u8>);

impl Encode for Tree {
    fn encode(&self, w: &mut Writer<'_>) -> Result<(), EncodeError> {
        self.0.encode(w)?;
        self.1.is_some().encode(w)?;
        self.1.map_or(Ok(()), |value| value.encode(w))
    }
}

impl<'a> Decode<'a> for Tree {
    const MIN_SIZE: usize = 5;
    fn decode(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let branches = Decode::decode(r)?;
        let value = if r.read_bool()? { Some(r.read_u8()?) } else { None };
        Ok(Self(branches, value))
    }
}

fn check<T>(r: &mut Reader<'_>) -> Result<(), DecodeError>
where
    T: Encode + for<'a> Decode<'a> + Debug,
{
    let (order, codesets) = (r.order(), r.codesets());
    let value = T::decode(r)?;
    let mut octets = vec![];
    let mut w = Writer::new(&mut octets, order);
    w.set_codesets(codesets);
    value.encode(&mut w).expect("what was read can be written");
    let mut again = Reader::new(&octets, order);
    again.set_codesets(codesets);
    let read = T::decode(&mut again).expect("what was written can be read");
    assert_eq!(format!("{read:?}"), format!("{value:?}"));
    assert_eq!(again.remaining(), 0);
    Ok(())
}

fuzz_target!(|input: (u8, Vec<u8>, Vec<u8>)| {
    let (settings, script, octets) = input;
    let mut r =
        Reader::starting_at(&octets, ByteOrder::from_flag(settings & 1 != 0), usize::from(settings >> 5));
    r.set_codesets(CodeSets {
        narrow: if settings & 2 != 0 { CharSet::Utf8 } else { CharSet::Latin1 },
        wide: (settings & 4 != 0).then_some(WideCharSet::Utf16),
        wide_encoding: if settings & 8 != 0 { WideEncoding::Giop11 } else { WideEncoding::Giop12 },
    });
    for step in script {
        let result = match step % 24 {
            0 => check::<u8>(&mut r),
            1 => check::<bool>(&mut r),
            2 => check::<i16>(&mut r),
            3 => check::<u32>(&mut r),
            4 => check::<f64>(&mut r),
            5 => check::<LongDouble>(&mut r),
            6 => check::<char>(&mut r),
            7 => check::<String>(&mut r),
            8 => check::<WChar>(&mut r),
            9 => check::<WString>(&mut r),
            10 => check::<Vec<u8>>(&mut r),
            11 => check::<Vec<u64>>(&mut r),
            12 => check::<Vec<bool>>(&mut r),
            13 => check::<Vec<char>>(&mut r),
            14 => check::<Vec<String>>(&mut r),
            15 => check::<Vec<Vec<u16>>>(&mut r),
            16 => check::<[[f32; 2]; 3]>(&mut r),
            17 => check::<[String; 2]>(&mut r),
            18 => check::<BoundedString<4>>(&mut r),
            19 => check::<BoundedVec<BoundedWString<4>, 3>>(&mut r),
            20 => check::<Tree>(&mut r),
            21 => r.read_slice::<u32>().map(drop),
            22 => r.read_encapsulation().map(|inner| r = inner),
            _ => r.align(8),
        };
        if result.is_err() {
            break;
        }
    }
});
