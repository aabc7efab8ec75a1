//! References: made, passed, compared, forged, forwarded.

use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

use throughline::{ObjectRef, TypedReference as _};
use throughline_giop::profile::IiopProfile;

use super::answers::within_two_seconds;
use super::{Context, Failed, some};
use crate::interop::{CallbackRef, CallbackSkeleton, CounterRef, Entry, Found};
use crate::objects::CallbackServant;

/// The reference with the last octet of its object key inverted.
fn forged(c: &Context, object: &ObjectRef) -> Result<ObjectRef, Failed> {
    let mut ior = object.ior().clone();
    for tagged in &mut ior.profiles {
        let mut profile = IiopProfile::from_octets(&tagged.data)?;
        let last = profile.object_key.last_mut().ok_or_else(|| Failed("an empty object key".to_owned()))?;
        *last ^= 0xff;
        *tagged = profile.to_tagged()?;
    }
    Ok(c.orb.reference(ior))
}

/// An object of this process.
fn callback(c: &Context) -> Result<CallbackRef, Failed> {
    Ok(c.orb.root().activate(CallbackSkeleton(CallbackServant::default()))?)
}

fn hash(object: &ObjectRef) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(object)
}

fn repository_id(interface: &str) -> String {
    format!("IDL:throughline/Interop/{interface}:1.0")
}

checks! {
    "reference.result" Nothing |c| {
        let counter = c.counter(5)?;
        expect_same!(counter.value()?, 5);
        expect_same!(counter.add(-7)?, -2);
        expect_same!(counter.value()?, -2);
    }

    "reference.argument" Nothing |c| {
        let all = [Some(c.counter(10)?), None, Some(c.counter(-3)?)];
        expect_same!(c.suite.sum_counters(&all)?, 7);
    }

    "reference.turned" Nothing |c| {
        let a = c.counter(1)?;
        let mut b = Some(c.counter(2)?);
        let (result, out) = c.suite.turn_counter(Some(&a), &mut b)?;
        expect_same!(some(result)?.value()?, 2);
        expect_same!(some(b)?.value()?, 1);
        expect_same!(some(out)?.add(1)?, 2);
        expect_same!(a.value()?, 2);
    }

    "reference.nil" Nothing |c| {
        expect!(c.suite.is_nil(None)?);
        expect!(!c.suite.is_nil(Some(c.suite.as_object()))?);
        expect!(c.suite.echo_object(None)?.is_none());
        let mut nothing = None;
        let (result, out) = c.suite.turn_counter(None, &mut nothing)?;
        expect!(result.is_none() && nothing.is_none() && out.is_none());
    }

    "reference.object" Nothing |c| {
        let counter = c.counter(8)?;
        let object = some(c.suite.echo_object(Some(counter.as_object()))?)?;
        expect!(object.is_equivalent(counter.as_object()));
        expect_same!(some(CounterRef::narrow(&object)?)?.value()?, 8);
    }

    "reference.foreign" Nothing |c| {
        let sent = callback(c)?;
        let object = some(c.suite.echo_object(Some(sent.as_object()))?)?;
        expect!(object.is_equivalent(sent.as_object()));
        expect_same!(some(CallbackRef::narrow(&object)?)?.notify(1)?, 2);
    }

    "reference.narrow" Nothing |c| {
        let counter = c.counter(9)?;
        let narrowed = some(c.suite.narrow_(Some(counter.as_object()))?)?;
        expect_same!(narrowed.value()?, 9);
        expect!(c.suite.narrow_(Some(callback(c)?.as_object()))?.is_none());
        expect!(c.suite.narrow_(None)?.is_none());
        expect!(CallbackRef::narrow(counter.as_object())?.is_none());
    }

    "reference.in_struct" Nothing |c| {
        let both = Entry {
            name: "both".to_owned(),
            who: Some(c.counter(3)?),
            anything: Some(c.suite.as_object().clone()),
        };
        let neither = Entry { name: "neither".to_owned(), who: None, anything: None };
        let back = c.suite.echo_entries(&[both, neither])?;
        let [both, neither] = &back[..] else { return Err(Failed(format!("{} entries", back.len()))) };
        expect_same!(both.name, "both".to_owned());
        expect_same!(some(both.who.clone())?.value()?, 3);
        expect!(some(both.anything.clone())?.is_equivalent(c.suite.as_object()));
        expect!(neither.who.is_none() && neither.anything.is_none());
    }

    "reference.in_union" Nothing |c| {
        match c.suite.echo_found(&Found::Who(Some(c.counter(4)?)))? {
            Found::Who(Some(counter)) => expect_same!(counter.value()?, 4),
            other => return Err(Failed(format!("{other:?}"))),
        }
        expect!(matches!(c.suite.echo_found(&Found::Who(None))?, Found::Who(None)));
        expect!(matches!(c.suite.echo_found(&Found::Default(false))?, Found::Default(false)));
    }

    "reference.destroyed" Nothing |c| {
        let counter = c.counter(1)?;
        let again = CounterRef::from_object(c.fresh(counter.as_object())?);
        counter.destroy()?;
        // omniORB's object exists until the call that destroys it has ended, which is after its reply.
        within_two_seconds(|| Ok(counter.value().is_err()))?;
        expect_exception!(counter.value(), ObjectNotExist);
        expect_exception!(again.value(), ObjectNotExist);
        expect!(counter.as_object().non_existent()?);
        expect!(!c.suite.as_object().non_existent()?);
    }

    "reference.forged" Nothing |c| {
        let counter = c.counter(1)?;
        let forged = forged(c, counter.as_object())?;
        expect!(forged.non_existent()?);
        expect_exception!(CounterRef::from_object(forged).value(), ObjectNotExist);
        expect_same!(counter.value()?, 1);
    }

    "reference.string" Nothing |c| {
        let counter = c.counter(12)?;
        expect_same!(CounterRef::from_object(c.fresh(counter.as_object())?).value()?, 12);
    }

    "reference.located" Nothing |c| {
        for i in 0..10 {
            let fresh = c.fresh(c.counter(i)?.as_object())?;
            expect!(!fresh.non_existent()?);
            expect_same!(some(CounterRef::narrow(&fresh)?)?.value()?, i);
        }
    }

    "reference.equivalent" Nothing |c| {
        let (a, b) = (c.counter(1)?, c.counter(1)?);
        let again = c.fresh(a.as_object())?;
        expect!(a.as_object().is_equivalent(a.as_object()));
        expect!(a.as_object().is_equivalent(&again));
        expect!(!a.as_object().is_equivalent(b.as_object()));
        expect_same!(hash(a.as_object()), hash(&again));
    }

    "reference.is_a" Nothing |c| {
        let bases =
            ["Suite", "Basics", "Composites", "Caller", "Bouncer", "Both", "Left", "Right", "Named", "Maker"];
        for base in bases {
            expect!(c.fresh(c.suite.as_object())?.is_a(&repository_id(base))?);
        }
        let counter = c.counter(0)?;
        let counter = counter.as_object();
        expect!(counter.is_a("IDL:omg.org/CORBA/Object:1.0")?);
        expect!(!counter.is_a(&repository_id("Suite"))?);
        expect!(!counter.is_a("IDL:Interop/Counter:1.0")?);
        expect!(!counter.is_a("")?);
    }

    "forward.followed" Nothing |c| {
        let counter = c.counter(100)?;
        let forwarder = some(c.suite.forwarder(Some(counter.as_object()))?)?;
        let forwarded = CounterRef::from_object(forwarder);
        for i in 1..=3 {
            expect_same!(forwarded.add(1)?, 100 + i);
        }
        expect_same!(counter.value()?, 103);
    }

    "forward.narrowed" Nothing |c| {
        let counter = c.counter(7)?;
        let forwarder = some(c.suite.forwarder(Some(counter.as_object()))?)?;
        expect_same!(some(CounterRef::narrow(&forwarder)?)?.value()?, 7);
        expect!(!forwarder.non_existent()?);
    }

    "forward.chain" Nothing |c| {
        let counter = c.counter(50)?;
        let mut forwarder = counter.as_object().clone();
        for _ in 0..4 {
            forwarder = some(c.suite.forwarder(Some(&forwarder))?)?;
        }
        expect_same!(some(CounterRef::narrow(&forwarder)?)?.add(5)?, 55);
    }

    // To an object of this process.
    "forward.elsewhere" Nothing |c| {
        let mine = callback(c)?;
        let forwarder = some(c.suite.forwarder(Some(mine.as_object()))?)?;
        expect_same!(some(CallbackRef::narrow(&forwarder)?)?.notify(41)?, 42);
    }
}
