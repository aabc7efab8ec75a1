//! Calls back, inheritance, many operations, awkward names.

use std::sync::Arc;

use throughline::rt::TypedReference as _;

use super::answers::within_two_seconds;
use super::{Context, Failed, some};
use crate::awkward::{self, Box as Boxed, Keywords, OperationsRef, OperationsWrappedError};
use crate::interop::{
    CallbackRef, CallbackSkeleton, CallerCallBackRefusedError, Colour, LeftRef, NamedRef, RightRef,
};
use crate::objects::{BouncerServant, CallbackServant, HUNDRED};
use crate::wide::HundredRef;

fn callback(c: &Context) -> Result<(Arc<CallbackServant>, CallbackRef), Failed> {
    let servant = Arc::new(CallbackServant::default());
    let reference = c.orb.root().activate(CallbackSkeleton(Arc::clone(&servant)))?;
    Ok((servant, reference))
}

fn awkward(c: &Context) -> Result<OperationsRef, Failed> {
    some(OperationsRef::narrow(&some(c.suite.awkward()?)?)?)
}

type PlusOne = fn(&OperationsRef, i32) -> Result<i32, throughline::SystemException>;

/// Those of the awkward operations that return their argument plus one.
const PLUS_ONE: [PlusOne; 34] = [
    |o, n| o.r#type(n),
    |o, n| o.r#fn(n),
    |o, n| o.r#match(n),
    |o, n| o.r#impl(n),
    |o, n| o.r#move(n),
    |o, n| o.r#ref(n),
    |o, n| o.r#loop(n),
    |o, n| o.r#async(n),
    |o, n| o.r#await(n),
    |o, n| o.r#yield(n),
    |o, n| o.self_(n),
    |o, n| o.super_(n),
    |o, n| o.crate_(n),
    |o, n| o.class(n),
    |o, n| o.delete(n),
    |o, n| o.new(n),
    |o, n| o.operator(n),
    |o, n| o.template(n),
    |o, n| o.r#virtual(n),
    |o, n| o.r#return(n),
    |o, n| o.r#while(n),
    |o, n| o.int(n),
    |o, n| o.clone_(n),
    |o, n| o.drop(n),
    |o, n| o.from_(n),
    |o, n| o.invoke(n),
    |o, n| o.call(n),
    |o, n| o.interface(n),
    |o, n| o.attribute(n),
    |o, n| o.any(n),
    |o, n| o.foo_bar(n),
    |o, n| o.foo_bar_(n),
    |o, n| o.set_value(n),
    |o, n| o.an_operation_whose_name_is_exactly_fifty_four_letters(n),
];

checks! {
    "callback.nested" Nothing |c| {
        let (_, mine) = callback(c)?;
        expect_same!(c.suite.call_back(Some(&mine), 40)?, 42);
    }

    "callback.often" Nothing |c| {
        let (_, mine) = callback(c)?;
        expect_same!(c.suite.call_back_often(Some(&mine), 500)?, 500 * 501 / 2_i64);
    }

    "callback.exception" Nothing |c| {
        let (_, mine) = callback(c)?;
        let Err(CallerCallBackRefusedError::Refused(e)) = c.suite.call_back_refused(Some(&mine), -9) else {
            return Err(Failed("no Refused".to_owned()));
        };
        expect_same!((e.code, &*e.reason, e.paint), (-9, "from the callback", Colour::Blue));
    }

    "callback.oneway" Nothing |c| {
        let (servant, mine) = callback(c)?;
        c.suite.poke_back(Some(&mine), 100)?;
        within_two_seconds(|| Ok(servant.poked() == 100))?;
    }

    "callback.bounce" Nothing |c| {
        let mine = BouncerServant::activate(c.orb.root())?;
        for depth in [0, 1, 2, 7, 20] {
            expect_same!(c.suite.bounce(Some(&mine), depth)?, depth);
        }
    }

    "callback.at_once" Nothing |c| {
        let (_, mine) = callback(c)?;
        std::thread::scope(|scope| {
            let call = |n| scope.spawn({ let mine = &mine; move || c.suite.call_back(Some(mine), n) });
            let calls: Vec<_> = (0..8).map(call).collect();
            for (n, call) in (0..8).zip(calls) {
                expect!(matches!(call.join(), Ok(Ok(result)) if result == n + 2));
            }
            Ok(())
        })?;
    }

    "inheritance.diamond" Nothing |c| {
        let left = some(LeftRef::narrow(&c.fresh(c.suite.as_object())?)?)?;
        let right = some(RightRef::narrow(&c.fresh(c.suite.as_object())?)?)?;
        let named = some(NamedRef::narrow(&c.fresh(c.suite.as_object())?)?)?;
        let got = [left.left_name()?, right.right_name()?, c.suite.both_names()?];
        expect_same!(got, ["left", "right", "left+right"].map(str::to_owned));
        for name in [named.name()?, left.name()?, right.name()?, NamedRef::from(left).name()?] {
            expect_same!(name, "both".to_owned());
        }
    }

    "hundred.operations" Nothing |c| {
        let hundred = some(HundredRef::narrow(&some(c.suite.hundred()?)?)?)?;
        for (i, operation) in (0..).zip(HUNDRED) {
            expect_same!(operation(&hundred, 1000)?, 1000 + i);
        }
    }

    "awkward.operations" Nothing |c| {
        let o = awkward(c)?;
        let n = PLUS_ONE.iter().try_fold(0, |n, operation| operation(&o, n))?;
        expect_same!(n, 34);
    }

    "awkward.attribute" Nothing |c| {
        let o = awkward(c)?;
        o.set_value_(5)?;
        expect_same!(o.set_value(70)?, 71);
        expect_same!(o.value()?, 5);
    }

    "awkward.arguments" Nothing |c| {
        let o = awkward(c)?;
        expect_same!(o.arguments(1, 20, 300, 4000, 50_000, 600_000)?, 654_321);
        let sent = Keywords { r#type: 1, r#fn: 2, self_: 3, class: 4, namespace: 5, interface: 6 };
        let wanted = Keywords { r#type: 2, r#fn: 3, self_: 4, class: 5, namespace: 6, interface: 7 };
        expect_same!(o.members(&sent)?, wanted);
    }

    "awkward.types" Nothing |c| {
        let o = awkward(c)?;
        let sent = vec![awkward::Option { some: 1 }, awkward::Option { some: -1 }];
        expect_same!(o.wrapped(&sent, awkward::Result::Ok)?, sent);
        let raised = o.wrapped(&sent, awkward::Result::Err);
        expect_same!(raised, Err::<Vec<_>, _>(OperationsWrappedError::Box(Boxed { why: awkward::Result::Err })));
    }
}
