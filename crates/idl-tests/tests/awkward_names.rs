//! Calls whose names collide with keywords, with each other, and with what generated code uses inside.

mod common;

use std::sync::Mutex;

use common::{served, wait};
use throughline::rt::{Skeleton, SystemException};
use throughline_idl_tests::names::names as n;

type Answer<T = i32> = Result<T, SystemException>;

struct Sums;

impl n::Hygiene for Sums {
    fn servant(&self, servant: i32, call: i32, r: i32, w: i32, result: i32, error: i32) -> Answer {
        Ok(servant + 10 * (call + 10 * (r + 10 * (w + 10 * (result + 10 * error)))))
    }

    fn arguments(
        &self,
        self_: &str,
        operation: &str,
        data: &mut String,
        w: &mut i32,
    ) -> Answer<(String, i32, i32)> {
        data.push_str(self_);
        *w += 1;
        Ok((operation.to_owned(), 7, 8))
    }

    fn super_(
        &self,
        crate_: &[n::Option],
        rt: &mut n::Vec,
        r: &mut n::Vec,
    ) -> Result<n::Vec, n::HygieneSuperError> {
        if crate_.is_empty() {
            return Err(n::Box { why: n::Result::None }.into());
        }
        std::mem::swap(rt, r);
        Ok(crate_.to_vec())
    }

    fn ok(&self) -> Answer {
        Ok(9)
    }

    fn a_b(&self, a_b: i32, a_b_: i32) -> Answer {
        Ok(a_b - a_b_)
    }
}

#[test]
fn parameters_do_not_hide_what_the_generated_code_uses() {
    served(n::HygieneSkeleton(Sums), |_, it| {
        assert_eq!(it.servant(1, 2, 3, 4, 5, 6).unwrap(), 654_321);
        let (mut data, mut w) = ("a".to_owned(), 1);
        let results = it.arguments("b", "c", &mut data, &mut w).unwrap();
        assert_eq!((results, data.as_str(), w), (("c".to_owned(), 7, 8), "ab", 2));
        let (one, two) = (vec![n::Option { some: 1 }], vec![n::Option { some: 2 }]);
        let (mut rt, mut r) = (one.clone(), two.clone());
        assert_eq!(it.super_(&one, &mut rt, &mut r).unwrap(), one);
        assert_eq!((&rt, &r), (&two, &one));
        let refused = n::HygieneSuperError::Box(n::Box { why: n::Result::None });
        assert_eq!(it.super_(&[], &mut rt, &mut r).unwrap_err(), refused);
        assert_eq!((it.ok().unwrap(), it.a_b(5, 3).unwrap()), (9, 2));
        assert_eq!(wait(it.arguments_async("b", "c", "a".to_owned(), 1)).unwrap().1, "ab");
    });
}

#[derive(Default)]
struct Words(Mutex<(i32, i32)>);

impl n::Keywords for Words {
    fn r#type(&self, r#fn: i32) -> Answer {
        Ok(r#fn + 1)
    }
    fn r#match(&self, r#ref: i32) -> Answer {
        Ok(r#ref + 2)
    }
    fn r#async(&self, r#await: i32) -> Answer {
        Ok(r#await + 3)
    }
    fn self_(&self, self_: i32) -> Answer {
        Ok(self_ + 4)
    }
    fn crate_(&self, r#use: i32, r#where: i32) -> Answer {
        Ok(r#use + r#where)
    }
    fn r#dyn(&self, r#box: i32) -> Answer {
        Ok(r#box + 5)
    }
    fn r#loop(&self) -> Answer {
        Ok(self.0.lock().unwrap().0)
    }
    fn set_loop(&self, value: i32) -> Answer<()> {
        self.0.lock().unwrap().0 = value;
        Ok(())
    }
    fn r#while(&self) -> Answer {
        Ok(self.0.lock().unwrap().1)
    }
    fn set_while(&self, value: i32) -> Answer<()> {
        self.0.lock().unwrap().1 = value;
        Ok(())
    }
    fn r#impl(&self) -> Answer {
        Ok(6)
    }
    fn interface(&self, r#in: i32) -> Answer {
        Ok(r#in + 7)
    }
}

#[test]
fn keywords() {
    served(n::KeywordsSkeleton(Words::default()), |_, it| {
        let sums = [
            it.r#type(0),
            it.r#match(0),
            it.r#async(0),
            it.self_(0),
            it.r#dyn(0),
            it.r#impl(),
            it.interface(0),
        ];
        assert_eq!(sums.map(Result::unwrap), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(it.crate_(1, 2).unwrap(), 3);
        it.set_loop(8).unwrap();
        it.set_while(9).unwrap();
        assert_eq!((it.r#loop().unwrap(), it.r#while().unwrap()), (8, 9));
        assert_eq!(wait(it.type_async(1)).unwrap(), 2);
    });
    let names = n::KeywordsSkeleton(Words::default()).interface().operations.names();
    for wire in ["type", "self", "crate", "_get_loop", "_set_loop", "interface"] {
        assert!(names.contains(&wire), "{wire}");
    }
}

struct Bases;

impl n::Left for Bases {
    fn foo_bar(&self) -> Answer {
        Ok(1)
    }
}

impl n::Right for Bases {
    fn foo_bar(&self) -> Answer {
        Ok(2)
    }
}

impl n::Both for Bases {
    fn foo_bar_(&self) -> Answer {
        Ok(3)
    }
}

#[test]
fn bases_whose_operations_have_one_name_in_rust() {
    served(n::BothSkeleton(Bases), |_, it| {
        let left = n::LeftRef::from(it.clone());
        let right = n::RightRef::from(it.clone());
        assert_eq!((left.foo_bar().unwrap(), right.foo_bar().unwrap()), (1, 2));
        assert_eq!([it.foo_bar(), it.foo_bar__(), it.foo_bar_()].map(Result::unwrap), [1, 2, 3]);
    });
}
