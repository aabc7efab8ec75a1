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

    fn turn_wide(&self, a: &Wide) -> Result<Wide, TurnerTurnWideError> {
        match a.a.a[0] {
            0 => Err(Full { what: a.clone() }.into()),
            _ => Ok(a.clone()),
        }
    }

    fn turn_node(&self, a: &Node) -> Result<Node, SystemException> {
        Ok(a.clone())
    }

    fn turn_branch(&self, a: &Branch) -> Result<Branch, SystemException> {
        Ok(a.clone())
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

/// Each of the arrays is small, and what holds them is not: as many as make two megabytes.
#[test]
fn many_small_arrays_travel() {
    let octets = |first: u8| [&[first][..], &vec![7; 8 * 16 * 16_000 - 1]].concat();
    let wide = |first| Wide::decode(&mut Reader::new(&octets(first), ByteOrder::Big)).unwrap();
    served(TurnerSkeleton(MyTurner), |_, reference: &TurnerRef| {
        assert!(reference.turn_wide(&wide(1)).unwrap() == wide(1));
        let full = reference.turn_wide(&wide(0)).unwrap_err();
        assert!(full == Full { what: wide(0) }.into());
    });
    assert!(size_of::<Wide>() <= 16 << 10 && size_of::<Sixteen>() <= 16 << 10);
}

/// As deep as values may be, with an array at each level that has room on a stack by itself.
#[test]
fn arrays_in_what_contains_itself_travel() {
    let mut node = Node { data: array(0), inner: Vec::new() };
    let mut branch = Branch::Leaf(array(1));
    for level in 1..64 {
        node = Node { data: array(level), inner: vec![node] };
        branch = Branch::Inner(vec![branch]);
    }
    served(TurnerSkeleton(MyTurner), |_, reference: &TurnerRef| {
        assert!(reference.turn_node(&node).unwrap() == node);
        assert!(reference.turn_branch(&branch).unwrap() == branch);
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
