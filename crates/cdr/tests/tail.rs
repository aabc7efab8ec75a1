//! Readers that have the first octets of a message only.

mod common;

use std::mem::MaybeUninit;

use common::Remote;
use throughline_cdr::{ByteOrder, Decode, DecodeError, Encode, EncodeError, Output, Reader, Tail, Writer};

/// Miri is slow.
const LENGTHS: usize = if cfg!(miri) { 4 } else { 5 };
const STEP: usize = if cfg!(miri) { 67 } else { 1 };

type Values = (u8, Vec<u32>, String, Vec<f64>, Vec<Vec<u16>>, bool, Vec<u8>, [i16; 3]);

fn values(n: usize) -> Values {
    let words = (0..n as u32 * 3).map(|word| word.wrapping_mul(0x9e37_79b9)).collect();
    let numbers = (0..n).map(|number| number as f64 / 3.0).collect();
    let nested = (0..n as u16).map(|inner| (0..inner).collect()).collect();
    (7, words, "text ".repeat(n), numbers, nested, true, vec![9; n], [-1, 2, -3])
}

fn write(v: &Values, w: &mut Writer<'_>) -> Result<(), EncodeError> {
    v.0.encode(w)?;
    v.1.encode(w)?;
    v.2.encode(w)?;
    v.3.encode(w)?;
    v.4.encode(w)?;
    v.5.encode(w)?;
    v.6.encode(w)?;
    v.7.encode(w)
}

fn read(r: &mut Reader<'_>) -> Result<Values, DecodeError> {
    let first = Decode::decode(r)?;
    // Into what holds others.
    let mut words = vec![5; 40];
    words.decode_into(r)?;
    Ok((
        first,
        words,
        Decode::decode(r)?,
        Decode::decode(r)?,
        Decode::decode(r)?,
        Decode::decode(r)?,
        Decode::decode(r)?,
        Decode::decode(r)?,
    ))
}

fn encoded(v: &Values, order: ByteOrder) -> Vec<u8> {
    let mut out = Vec::new();
    write(v, &mut Writer::to(Output::vector(&mut out), order, 0)).expect("it can be written");
    out
}

#[test]
fn however_little_is_at_hand_the_values_are_the_same() {
    for order in [ByteOrder::Little, ByteOrder::Big] {
        for n in [0, 1, 2, 9, 30].into_iter().take(LENGTHS) {
            let message = encoded(&values(n), order);
            for head in (0..=message.len()).step_by(STEP) {
                let remote = Remote::new(&message, head);
                let mut reader = remote.reader(order);
                assert_eq!(read(&mut reader), Ok(values(n)), "{head} of {} octets at hand", message.len());
                assert_eq!((reader.remaining(), reader.rest()), (0, &[][..]));
            }
        }
    }
}

#[test]
fn a_message_that_ends_too_early_is_refused_alike() {
    let message = encoded(&values(5), ByteOrder::Little);
    for len in (0..message.len()).step_by(STEP) {
        let expected = read(&mut Reader::new(&message[..len], ByteOrder::Little));
        assert!(expected.is_err());
        for head in [0, 1, 4, 12, len / 2, len] {
            let remote = Remote::new(&message[..len], head.min(len));
            let found = read(&mut remote.reader(ByteOrder::Little));
            assert!(found.is_err(), "{len} octets, {head} at hand");
        }
    }
}

#[test]
fn a_long_sequence_is_copied_once() {
    let words: Vec<u32> = (0..2000).collect();
    let mut message = Vec::new();
    let mut writer = Writer::to(Output::vector(&mut message), ByteOrder::NATIVE, 0);
    words.encode(&mut writer).expect("it can be written");
    7_u32.encode(&mut writer).expect("it can be written");
    let remote = Remote::new(&message, 100);
    let mut reader = remote.reader(ByteOrder::NATIVE);
    assert_eq!(Vec::<u32>::decode(&mut reader), Ok(words));
    assert_eq!(remote.copied(), 8000);
    assert_eq!(reader.remaining(), 4);
    assert_eq!(reader.read_u32(), Ok(7));
    assert_eq!(remote.copied(), 8004);
}

#[test]
fn a_length_that_the_message_cannot_hold_allocates_nothing() {
    let mut message = vec![0; 64];
    message[..4].copy_from_slice(&1_000_000_u32.to_ne_bytes());
    let remote = Remote::new(&message, 8);
    let refused = Vec::<u32>::decode(&mut remote.reader(ByteOrder::NATIVE));
    assert!(matches!(refused, Err(DecodeError::LengthTooLarge { length: 1_000_000, .. })), "{refused:?}");
    assert_eq!(remote.copied(), 0);
}

#[test]
fn readers_that_part_read_the_same() {
    let message = encoded(&values(9), ByteOrder::Big);
    for head in (0..message.len()).step_by(STEP) {
        let remote = Remote::new(&message, head);
        let mut reader = remote.reader(ByteOrder::Big);
        let mut early = reader.clone();
        assert_eq!(read(&mut reader), Ok(values(9)));
        assert_eq!(read(&mut early), Ok(values(9)));

        let remote = Remote::new(&message, head);
        let mut reader = remote.reader(ByteOrder::Big);
        assert_eq!((reader.read_u8(), Vec::<u32>::decode(&mut reader)), (Ok(7), Ok(values(9).1)));
        let mut late = reader.clone();
        assert_eq!(String::decode(&mut late), Ok(values(9).2));
        assert_eq!(String::decode(&mut reader), Ok(values(9).2));
        assert_eq!(reader.rest(), late.rest());
    }
}

#[test]
fn what_was_looked_at_is_not_copied_anew() {
    let message = encoded(&values(30), ByteOrder::NATIVE);
    let remote = Remote::new(&message, 20);
    let mut reader = remote.reader(ByteOrder::NATIVE);
    assert_eq!(reader.rest(), message);
    let copied = remote.copied();
    assert_eq!(read(&mut reader), Ok(values(30)));
    assert_eq!(remote.copied(), copied);
}

#[test]
#[cfg_attr(miri, ignore = "leaks")]
#[should_panic(expected = "returns what it filled")]
fn a_tail_that_fills_something_else_is_found_out() {
    struct Liar;
    impl Tail for Liar {
        fn message_len(&self) -> usize {
            100
        }
        fn copy<'i>(&self, _: usize, _: &'i mut [MaybeUninit<u8>]) -> &'i mut [u8] {
            Box::leak(Box::new([0; 40]))
        }
        fn copy_over(&self, _: usize, _: &mut [u8]) {}
        fn has_all(&self) -> bool {
            false
        }
        fn all(&self, _: usize) -> &[u8] {
            &[]
        }
    }
    let message = 10_u32.to_ne_bytes();
    let _ = Vec::<u32>::decode(&mut Reader::new(&message, ByteOrder::NATIVE).with_tail(&Liar));
}
