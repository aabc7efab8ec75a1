//! Sequences of numbers that lie in the reply while a servant changes them.

mod common;

use std::fmt::Debug;

use common::Remote;
use throughline_cdr::{
    ByteOrder, DecodeError, Encode, EncodeError, InOut, Number, Output, Reader, ReplyPlace, Writer,
};

/// What is in the memory before anything is written, and behind the end of what may be.
const OLD: u8 = 0xEE;

/// Octets of a reply before its first result, with those before the reply itself.
const BASE: usize = 8;
const FRONT: usize = 5;

/// Miri is slow.
const LENGTHS: usize = if cfg!(miri) { 2 } else { 5 };
const ROOMS: usize = if cfg!(miri) { 2 } else { 7 };
const HEADS: usize = if cfg!(miri) { 2 } else { 5 };

/// Memory that begins where numbers of every kind may lie.
#[repr(align(64))]
struct Memory([u8; 1024]);

/// Runs a servant as a skeleton does, with so much room for the reply: what was written, and whether a vector had to be.
fn serve<T: Number + Debug>(
    r: &mut Reader<'_>,
    room: usize,
    servant: impl Fn(&mut InOut<'_, T>),
) -> Result<(Vec<u8>, bool), DecodeError> {
    let mut memory = Memory([OLD; 1024]);
    let (mut used, mut overflow) = (0, Vec::new());
    let mut output = Output::memory(&mut memory.0[..room], &mut used, &mut overflow);
    Writer::to(output.reborrow(), ByteOrder::NATIVE, 0).write_bytes(&[1; BASE + FRONT]);
    let mut data = InOut::read(r, Some(ReplyPlace::new(output.reborrow(), BASE)))?;
    servant(&mut data);
    let data = data.finish();
    // As often as the reply is written.
    for _ in 0..2 {
        output.truncate(BASE + FRONT);
        let mut writer = Writer::to(output.reborrow(), ByteOrder::NATIVE, BASE);
        results(&data, &mut writer).expect("it is short");
    }
    let written = output.octets().to_vec();
    let spilled = !overflow.is_empty();
    assert!(memory.0[room..].iter().all(|octet| *octet == OLD));
    Ok((written, spilled))
}

/// The sequence and another result.
fn results(data: &dyn Encode, w: &mut Writer<'_>) -> Result<(), EncodeError> {
    data.encode(w)?;
    "behind".encode(w)
}

/// What is written where the sequence is in a vector all the time.
fn expected<T: Number>(items: &[T]) -> Vec<u8> {
    let mut out = vec![1; BASE + FRONT];
    results(&items.to_vec(), &mut Writer::with_base(&mut out, ByteOrder::NATIVE, BASE)).expect("it is short");
    out
}

/// A request that begins with an octet.
fn request<T: Encode>(items: &[T], order: ByteOrder) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out, order);
    writer.write_u8(7);
    writer.write_length(items.len()).expect("it is short");
    T::encode_slice(items, &mut writer).expect("it is short");
    out
}

fn check<T: Number + Debug + PartialEq>(items: &[T]) {
    let reversed: Vec<T> = items.iter().rev().copied().collect();
    for order in [ByteOrder::Little, ByteOrder::Big] {
        let message = request(items, order);
        for room in [40, 1024, BASE + FRONT, BASE + FRONT + 3, 41, 64, 100].into_iter().take(ROOMS) {
            for head in [8, message.len(), 1, 5, 16].into_iter().take(HEADS) {
                let remote = Remote::new(&message, head.min(message.len()));
                let mut reader = remote.reader(order);
                assert_eq!(reader.read_u8(), Ok(7));
                let served = serve::<T>(&mut reader, room, |data| {
                    assert_eq!(*data, items);
                    data.reverse();
                });
                let (written, spilled) = served.expect("it is whole");
                assert_eq!(written, expected(&reversed), "{} values, room for {room}", items.len());
                assert_eq!(spilled, written.len() > room);
                assert_eq!(reader.remaining(), 0);
            }
        }
    }
}

#[test]
fn wherever_it_lies_the_reply_is_the_same() {
    for n in [0, 7, 1, 2, 30].into_iter().take(LENGTHS) {
        check(&(0..n).map(|n| n as u8 * 3).collect::<Vec<_>>());
        check(&(0..n).map(|n| (n as i16).wrapping_mul(-3000)).collect::<Vec<_>>());
        check(&(0..n).map(|n| 0x9e37_79b9_u32.wrapping_mul(n)).collect::<Vec<_>>());
        check(&(0..n).map(|n| f64::from(n) / 3.0).collect::<Vec<_>>());
    }
}

#[test]
fn what_becomes_longer_or_is_replaced_goes_into_a_vector() {
    let message = request(&[1_u32, 2, 3], ByteOrder::NATIVE);
    let served = |servant: fn(&mut InOut<'_, u32>)| {
        let mut reader = Reader::starting_at(&message, ByteOrder::NATIVE, 1);
        serve(&mut reader, 1024, servant).expect("it is whole").0
    };
    let longer = served(|data| {
        data[1] = 9;
        data.to_mut().push(4);
        data[0] = 8;
    });
    assert_eq!(longer, expected(&[8_u32, 9, 3, 4]));
    assert_eq!(served(|data| data.to_mut().clear()), expected::<u32>(&[]));
    assert_eq!(served(|data| *data = vec![5].into()), expected(&[5_u32]));
}

#[test]
fn it_is_copied_once_and_into_the_reply() {
    let items: Vec<u32> = (0..100).collect();
    let message = request(&items, ByteOrder::NATIVE);
    let remote = Remote::new(&message, 8);
    let mut memory = Memory([OLD; 1024]);
    let within = memory.0.as_ptr_range();
    let (mut used, mut overflow) = (4, Vec::new());
    let output = Output::memory(&mut memory.0, &mut used, &mut overflow);
    let mut reader = remote.reader(ByteOrder::NATIVE);
    assert_eq!(reader.read_u8(), Ok(7));
    let data = InOut::<u32>::read(&mut reader, Some(ReplyPlace::new(output, 0))).expect("it is whole");
    assert_eq!(data, items);
    assert_eq!(data.as_ptr().cast(), within.start.wrapping_add(8));
    assert_eq!(remote.copied(), 400);
}

/// What a skeleton reads alone, of a request in memory that is lent, and what is written when the servant has reversed it. The message
/// ends with so many octets more than the sequence.
fn serve_alone<T: Number + Debug + PartialEq>(
    items: &[T],
    order: ByteOrder,
    more: usize,
    servant: impl Fn(&mut InOut<'_, T>),
) -> (Vec<u8>, Option<usize>, Vec<u8>) {
    let mut memory = Memory([OLD; 1024]);
    let message = request(items, order);
    let place = &mut memory.0[..message.len() + more];
    place[..message.len()].copy_from_slice(&message);
    let (mut used, mut overflow, mut reply) = (0, Vec::new(), Memory([OLD; 1024]));
    let mut output = Output::memory(&mut reply.0, &mut used, &mut overflow);
    let remote = Remote::lent(place, 8);
    let mut reader = remote.reader(order);
    assert_eq!(reader.read_u8(), Ok(7));
    let read = InOut::<T>::read_alone(&mut reader, Some(ReplyPlace::new(output.reborrow(), 0)));
    let mut data = read.expect("it is whole");
    assert_eq!(data, items);
    servant(&mut data);
    let data = data.finish();
    assert!(reader.read_u64().is_err() || more >= 8);
    data.encode(&mut Writer::to(output.reborrow(), ByteOrder::NATIVE, 0)).expect("it is short");
    let written = output.octets().to_vec();
    (written, data.in_request(), memory.0[..message.len()].to_vec())
}

#[test]
fn what_is_lent_is_changed_where_it_lies() {
    fn check<T: Number + Debug + PartialEq>(items: &[T]) {
        let reversed: Vec<T> = items.iter().rev().copied().collect();
        let (written, start, message) = serve_alone(items, ByteOrder::NATIVE, 0, |data| data.reverse());
        let start = start.expect("it was lent");
        assert_eq!(message, request(&reversed, ByteOrder::NATIVE));
        assert_eq!(start, message.len() - size_of_val(items));
        // The reply and what lies in the request are together what it would be otherwise.
        let mut whole = Vec::new();
        reversed.encode(&mut Writer::new(&mut whole, ByteOrder::NATIVE)).expect("it is short");
        assert_eq!([&written[..], &message[start..]].concat(), whole);
    }
    check(&[1_u8, 2, 3, 4]);
    check(&(0..40).collect::<Vec<i16>>());
    check(&(0..40).collect::<Vec<u32>>());
    check(&[1.5, 2.5, 3.5]);
}

#[test]
fn what_cannot_stay_in_the_request_is_in_the_reply() {
    let items: Vec<u64> = (0..40).collect();
    let mut expected = Vec::new();
    items.encode(&mut Writer::new(&mut expected, ByteOrder::NATIVE)).expect("it is short");
    let foreign = if ByteOrder::NATIVE == ByteOrder::Big { ByteOrder::Little } else { ByteOrder::Big };
    let to_vector = |data: &mut InOut<'_, u64>| assert_eq!(data.to_mut().len(), 40);
    let nothing = |_: &mut InOut<'_, u64>| {};
    // It is not the last, or of another order.
    for (order, more) in [(ByteOrder::NATIVE, 8), (foreign, 0)] {
        let (written, start, _) = serve_alone(&items, order, more, nothing);
        assert_eq!((written == expected, start), (true, None), "{more} octets more");
    }
    let (written, start, _) = serve_alone(&items, ByteOrder::NATIVE, 0, to_vector);
    assert_eq!((written == expected, start), (true, None));
    let (written, start, _) = serve_alone::<u64>(&[], ByteOrder::NATIVE, 0, nothing);
    assert_eq!((written, start), (vec![0; 4], None));
}

#[test]
fn an_exception_leaves_nothing_of_it() {
    let message = request(&[1_u16, 2], ByteOrder::NATIVE);
    let mut memory = Memory([OLD; 1024]);
    let (mut used, mut overflow) = (0, Vec::new());
    let mut output = Output::memory(&mut memory.0, &mut used, &mut overflow);
    let mut reader = Reader::starting_at(&message, ByteOrder::NATIVE, 1);
    let data = InOut::<u16>::read(&mut reader, Some(ReplyPlace::new(output.reborrow(), 0)));
    assert_eq!(data.expect("it is whole"), [1, 2]);
    assert!(output.is_empty());
}

#[test]
fn a_length_that_the_message_cannot_hold_is_refused() {
    for head in [4, 8] {
        let mut message = 1_000_000_u32.to_ne_bytes().to_vec();
        message.extend([0; 60]);
        let remote = Remote::new(&message, head);
        let refused = serve::<u64>(&mut remote.reader(ByteOrder::NATIVE), 1024, |_| panic!("it is refused"));
        assert!(matches!(refused, Err(DecodeError::LengthTooLarge { .. })), "{refused:?}");
        assert_eq!(remote.copied(), 0);
    }
    // As long as the message, but for what aligns it.
    let mut message = vec![0; 4];
    message.extend(2_u32.to_ne_bytes());
    message.extend([0; 16]);
    let mut cut = Reader::starting_at(&message[..23], ByteOrder::NATIVE, 4);
    assert!(serve::<u64>(&mut cut, 1024, |_| panic!("it is refused")).is_err());
    let mut whole = Reader::starting_at(&message, ByteOrder::NATIVE, 4);
    assert_eq!(serve::<u64>(&mut whole, 1024, |_| ()).map(|it| it.0), Ok(expected(&[0_u64; 2])));
}

#[test]
#[should_panic(expected = "lies behind what was written")]
fn nothing_may_be_written_where_it_lies() {
    let message = request(&[1_u32], ByteOrder::NATIVE);
    let mut memory = Memory([OLD; 1024]);
    let (mut used, mut overflow) = (0, Vec::new());
    let mut output = Output::memory(&mut memory.0, &mut used, &mut overflow);
    let mut reader = Reader::starting_at(&message, ByteOrder::NATIVE, 1);
    let data = InOut::<u32>::read(&mut reader, Some(ReplyPlace::new(output.reborrow(), 0)));
    let data = data.expect("it is whole").finish();
    let mut writer = Writer::to(output, ByteOrder::NATIVE, 0);
    writer.write_u8(1);
    let _ = data.encode(&mut writer);
}
