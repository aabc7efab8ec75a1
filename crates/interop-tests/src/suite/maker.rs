//! References, made and passed on, and calls back.

use std::sync::atomic::Ordering;

use throughline::{Kind, ObjectRef, SystemException};

use super::{KEY, SuiteServant, turn};
use crate::interop::{
    Bouncer, BouncerRef, CallbackRef, CallbackRefuseError, Caller, CallerCallBackRefusedError, CounterRef,
    Entries, Entry, Found, Maker,
};
use crate::objects::{CounterServant, bounce};

impl Maker for SuiteServant {
    fn make_counter(&self, start: i32) -> Result<Option<CounterRef>, SystemException> {
        Ok(Some(CounterServant::activate(&self.objects, start)?))
    }

    fn sum_counters(&self, all: &[Option<CounterRef>]) -> Result<i32, SystemException> {
        all.iter().flatten().map(CounterRef::value).sum()
    }

    fn turn_counter(
        &self,
        a: Option<&CounterRef>,
        b: &mut Option<CounterRef>,
    ) -> Result<(Option<CounterRef>, Option<CounterRef>), SystemException> {
        turn(a.cloned(), b)
    }

    fn echo_object(&self, v: Option<&ObjectRef>) -> Result<Option<ObjectRef>, SystemException> {
        Ok(v.cloned())
    }

    fn is_nil(&self, v: Option<&ObjectRef>) -> Result<bool, SystemException> {
        Ok(v.is_none())
    }

    fn narrow_(&self, v: Option<&ObjectRef>) -> Result<Option<CounterRef>, SystemException> {
        v.map_or(Ok(None), CounterRef::narrow)
    }

    fn echo_entries(&self, v: &[Entry]) -> Result<Entries, SystemException> {
        Ok(v.to_vec())
    }

    fn echo_found(&self, v: &Found) -> Result<Found, SystemException> {
        Ok(v.clone())
    }

    fn forwarder(&self, target: Option<&ObjectRef>) -> Result<Option<ObjectRef>, SystemException> {
        let target = target.ok_or(Kind::BadParam)?;
        let number = self.forwarders.fetch_add(1, Ordering::Relaxed);
        Ok(Some(self.root.forward(&format!("forwarder-{number}"), target)?))
    }

    fn hundred(&self) -> Result<Option<ObjectRef>, SystemException> {
        Ok(Some(self.hundred.clone()))
    }

    fn awkward(&self) -> Result<Option<ObjectRef>, SystemException> {
        Ok(Some(self.awkward.clone()))
    }
}

impl Bouncer for SuiteServant {
    fn bounce(&self, back: Option<&BouncerRef>, depth: i32) -> Result<i32, SystemException> {
        let own: BouncerRef = self.root.reference_for_id(KEY)?;
        bounce(Some(&own), back, depth)
    }
}

/// A call through nil is the caller's mistake.
fn not_nil(target: Option<&CallbackRef>) -> Result<&CallbackRef, SystemException> {
    target.ok_or_else(|| Kind::BadParam.into())
}

impl Caller for SuiteServant {
    fn call_back(&self, target: Option<&CallbackRef>, n: i32) -> Result<i32, SystemException> {
        Ok(not_nil(target)?.notify(n)? + 1)
    }

    fn call_back_often(&self, target: Option<&CallbackRef>, times: u32) -> Result<i64, SystemException> {
        let target = not_nil(target)?;
        (0..times).map(|i| target.notify(i.cast_signed()).map(i64::from)).sum()
    }

    fn call_back_refused(
        &self,
        target: Option<&CallbackRef>,
        code: i32,
    ) -> Result<(), CallerCallBackRefusedError> {
        not_nil(target)?.refuse(code).map_err(|error| match error {
            CallbackRefuseError::Refused(refused) => refused.into(),
            CallbackRefuseError::System(exception) => exception.into(),
        })
    }

    fn poke_back(&self, target: Option<&CallbackRef>, times: u32) -> Result<(), SystemException> {
        let target = not_nil(target)?;
        (0..times).try_for_each(|i| target.poke(i))
    }
}
