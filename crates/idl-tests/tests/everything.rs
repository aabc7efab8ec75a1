//! Every type as an `in`, `inout` and `out` parameter and as a result, within a process, over TCP and by shared memory.

mod common;

use std::fmt::Debug;

use common::{served, wait};
use throughline::rt::{
    BoundedString, BoundedVec, BoundedWString, InOut, LongDouble, ObjectRef, SystemException, TypedReference,
    WChar, WString,
};
use throughline_idl_tests::types::types::*;

/// Returns what `b` was; `b` and `c` become `a`.
fn turn<A: ToOwned + ?Sized>(a: &A, b: &mut A::Owned) -> Result<(A::Owned, A::Owned), SystemException> {
    Ok((std::mem::replace(b, a.to_owned()), a.to_owned()))
}

macro_rules! turns {
    ($($name:ident: $a:ty, $b:ty;)*) => {
        $(fn $name(&self, a: $a, b: &mut $b) -> Result<($b, $b), SystemException> { turn(a, b) })*
    };
}

struct Turner;

impl Everything for Turner {
    turns! {
        all_numbers: &Numbers, Numbers;
        composites: &Composite, Composite;
        all_references: &References, References;
        trees: &Tree, Tree;
        woods: &[Forest], Forests;
        turn_string: &str, String;
        turn_wide_string: &WString, WString;
        turn_tag: &Tag, Tag;
        turn_list: &[String], Strings;
        turn_matrix: &Matrix, Matrix;
        turn_things: &[Option<ThingRef>], Things;
    }

    fn turn_octets(&self, a: &[u8], b: &mut InOut<'_, u8>) -> Result<(Octets, Octets), SystemException> {
        turn(a, b.to_mut())
    }

    fn colours(&self, a: Colour, b: &mut Colour) -> Result<(Colour, Colour), SystemException> {
        turn(&a, b)
    }

    fn long_doubles(
        &self,
        a: LongDouble,
        b: &mut LongDouble,
    ) -> Result<(LongDouble, LongDouble), SystemException> {
        turn(&a, b)
    }

    fn wide_chars(&self, a: WChar, b: &mut WChar) -> Result<(WChar, WChar), SystemException> {
        turn(&a, b)
    }

    fn turn_thing(
        &self,
        a: Option<&ThingRef>,
        b: &mut Option<ThingRef>,
    ) -> Result<(Option<ThingRef>, Option<ThingRef>), SystemException> {
        turn(&a.cloned(), b)
    }

    fn turn_object(
        &self,
        a: Option<&ObjectRef>,
        b: &mut Option<ObjectRef>,
    ) -> Result<(Option<ObjectRef>, Option<ObjectRef>), SystemException> {
        turn(&a.cloned(), b)
    }

    fn eight(
        &self,
        a: f64,
        b: f64,
        c: f64,
        d: f64,
        e: f64,
        f: f64,
        g: f64,
        h: f64,
    ) -> Result<f64, SystemException> {
        Ok(a + b + c + d + e + f + g + h)
    }
}

/// Calls with `a` and `b`, and sees that they have changed places.
fn turned<T: Clone + PartialEq + Debug>(
    a: T,
    b: T,
    call: impl Fn(&T, &mut T) -> Result<(T, T), SystemException>,
) {
    let mut there = b.clone();
    assert_eq!(call(&a, &mut there).unwrap(), (b, a.clone()));
    assert_eq!(there, a);
}

fn composite() -> Composite {
    Composite {
        text: "é".to_owned(),
        wide_text: WString::from("€"),
        short_tag: BoundedString::new("abcd").unwrap(),
        wide_one: BoundedWString::new("€€").unwrap(),
        names: vec!["a".to_owned(), String::new()],
        some_tables: BoundedVec::new(vec![vec![], vec!["x".to_owned()]]).unwrap(),
        cells: [[1, 2, 3], [4, 5, 6]],
        more_cells: [[[7; 3]; 2]; 4],
        all_cells: vec![[[8; 3]; 2]],
        raw: vec![9; 100],
        paints: [Colour::Blue, Colour::Green],
        few: BoundedVec::new(vec![1, 2]).unwrap(),
        lines: ["x".to_owned(), "y".to_owned()],
        digest: [3; 40],
        place: Exact { x: 1, y: 2, paint: Colour::Red },
        look: composite::Style::Plain,
    }
}

#[test]
fn values() {
    served(EverythingSkeleton(Turner), |_, it| {
        let numbers = Numbers { a_char: 'c', a_long: 7, a_double: 0.5, ..Numbers::default() };
        turned(numbers, Numbers { a_wchar: WChar('€'), ..numbers }, |a, b| it.all_numbers(a, b));
        turned(composite(), Composite { raw: vec![], ..composite() }, |a, b| it.composites(a, b));
        let leaf = Tree { value: 1, children: vec![] };
        let tree = Tree { value: 2, children: vec![leaf.clone(), leaf.clone()] };
        turned(tree.clone(), leaf, |a, b| it.trees(a, b));
        let forest = Forest { name: "f".to_owned(), smaller: vec![Forest::default()], oldest: tree };
        turned(vec![forest], vec![], |a, b| it.woods(a, b));
        turned(Colour::Red, Colour::Blue, |a, b| it.colours(*a, b));
        turned("ab".to_owned(), "é".repeat(1000), |a, b| it.turn_string(a, b));
        turned(WString::from("ab"), WString::from("€"), |a, b| it.turn_wide_string(a, b));
        turned(BoundedString::new("ab").unwrap(), BoundedString::default(), |a, b| it.turn_tag(a, b));
        turned(vec![1; 100_000], vec![], |a, b| it.turn_octets(a, b));
        turned(vec!["a".to_owned()], vec![], |a, b| it.turn_list(a, b));
        turned([[1; 3]; 2], [[2; 3]; 2], |a, b| it.turn_matrix(a, b));
        turned(LongDouble::from(1.5), LongDouble::from(-0.0), |a, b| it.long_doubles(*a, b));
        turned(WChar('€'), WChar('a'), |a, b| it.wide_chars(*a, b));
        assert_eq!(it.eight(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0).unwrap(), 36.0);
    });
}

#[test]
fn futures_return_inout_values_in_place() {
    served(EverythingSkeleton(Turner), |_, it| {
        let (a, b) = ([[1; 3]; 2], [[2; 3]; 2]);
        assert_eq!(wait(it.turn_matrix_async(&a, b)).unwrap(), (b, a, a));
        assert_eq!(wait(it.turn_thing_async(None, None)).unwrap(), (None, None, None));
    });
}

struct Nothing;

impl Thing for Nothing {}

#[test]
fn references() {
    served(ThingSkeleton(Nothing), |_, thing| {
        served(EverythingSkeleton(Turner), |_, it| references_through(it, thing));
    });
}

fn references_through(it: &EverythingRef, thing: &ThingRef) {
    let (thing, object) = (Some(thing.clone()), Some(it.as_object().clone()));
    turned(thing.clone(), None, |a, b| it.turn_thing(a.as_ref(), b));
    turned(None, object.clone(), |a, b| it.turn_object(a.as_ref(), b));
    turned(vec![thing.clone(), None], vec![], |a, b| it.turn_things(a, b));
    let all = References {
        anything: object.clone(),
        one: thing.clone(),
        many: vec![None, thing.clone()],
        pair: [thing, None],
        few: BoundedVec::new(vec![object, None]).unwrap(),
    };
    turned(all, References::default(), |a, b| it.all_references(a, b));
}
