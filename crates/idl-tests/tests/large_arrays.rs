//! Arrays that a thread's stack has no room for: they travel, and are never on one.

mod common;

use std::boxed::Box;

use common::served;
use throughline::rt::{Decode, DecodeError, Reader, SystemException};
use throughline_cdr::ByteOrder;
use throughline_idl_tests::large::large::{self, *};

/// An array of so many elements, made in its place.
fn array<T: Clone, const N: usize>(value: T) -> Box<[T; N]> {
    vec![value; N].try_into().ok().unwrap()
}

fn planes(octet: u8) -> Planes {
    [array(octet), array(octet), array(octet)]
}

struct MyTurner;

impl Turner for MyTurner {
    fn turn_matrix(&self, a: &Matrix, b: &mut Matrix) -> Result<(Matrix, Matrix), SystemException> {
        let mut next = array([a[0][0]; 512]);
        std::mem::swap(b, &mut next);
        Ok((next, array([a[511][511]; 512])))
    }

    fn turn_texts(&self, a: &Texts) -> Result<Texts, SystemException> {
        Ok(array(a[99_999].clone()))
    }

    fn turn_planes(&self, a: &Planes) -> Result<Planes, SystemException> {
        Ok(planes(a[2][1_048_575]))
    }

    fn turn_box(&self, a: &large::Box) -> Result<large::Box, SystemException> {
        Ok(a.clone())
    }

    fn count(&self, all: &[Picture]) -> Result<u32, SystemException> {
        Ok(all.len() as u32)
    }
}

#[test]
fn large_arrays_travel() {
    served(TurnerSkeleton(MyTurner), |_, reference: &TurnerRef| {
        let mut b: Matrix = array([2.0; 512]);
        let (result, c) = reference.turn_matrix(&array([1.0; 512]), &mut b).unwrap();
        assert_eq!((result[511][511], b[511][511], c[511][511]), (2.0, 1.0, 1.0));
        assert_eq!(reference.turn_texts(&array("text".to_owned())).unwrap()[99_999], "text");
        assert_eq!(reference.turn_planes(&planes(7)).unwrap()[2][1_048_575], 7);
        let given = large::Box { id: 1, pixels: array(9) };
        assert_eq!(reference.turn_box(&given).unwrap(), given);
        assert_eq!(reference.count(&[Picture::Default('x'), Picture::Pixels(planes(1))]), Ok(2));
    });
}

/// One octet brings one element, whatever the largest of its kind takes.
#[test]
fn unions_are_no_larger_than_what_is_in_them() {
    assert!(size_of::<Picture>() <= 32);
}

#[test]
fn memory_is_taken_only_for_what_arrived() {
    let octets = vec![0; 4096];
    for order in [ByteOrder::Big, ByteOrder::Little] {
        let read = Matrix::decode(&mut Reader::new(&octets, order));
        assert_eq!(read.map(drop), Err(DecodeError::Truncated { offset: 0 }));
    }
}
