//! The smaller objects: counters, an interface of a hundred operations, awkward names, callbacks.

use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use throughline::{Adapter, AdapterError, Kind, SystemException};

use crate::awkward::{self, Box as Boxed, Keywords, Operations, OperationsWrappedError};
use crate::interop::{
    Bouncer, BouncerRef, BouncerSkeleton, Callback, CallbackRefuseError, Colour, Counter, CounterRef,
    CounterSkeleton, Point, Refused,
};
use crate::wide::Hundred;

/// A number that outlives its calls.
pub struct CounterServant {
    adapter: Adapter,
    /// Known once the counter is active.
    own: OnceLock<CounterRef>,
    value: AtomicI32,
}

impl CounterServant {
    /// A new counter in an adapter.
    ///
    /// # Errors
    /// Those of [`Adapter::activate`].
    pub fn activate(adapter: &Adapter, start: i32) -> Result<CounterRef, AdapterError> {
        let counter = Arc::new(Self { adapter: adapter.clone(), own: OnceLock::new(), value: start.into() });
        let reference = adapter.activate(CounterSkeleton(Arc::clone(&counter)))?;
        // Nobody else has the reference yet.
        let _ = counter.own.set(reference.clone());
        Ok(reference)
    }
}

impl Counter for CounterServant {
    fn value(&self) -> Result<i32, SystemException> {
        Ok(self.value.load(Ordering::SeqCst))
    }

    fn add(&self, n: i32) -> Result<i32, SystemException> {
        Ok(self.value.fetch_add(n, Ordering::SeqCst).wrapping_add(n))
    }

    fn destroy(&self) -> Result<(), SystemException> {
        let own = self.own.get().ok_or(Kind::ObjectNotExist)?;
        Ok(self.adapter.deactivate(own)?)
    }
}

/// What another ORB's suite calls back.
#[derive(Debug, Default)]
pub struct CallbackServant {
    poked: AtomicU32,
}

impl CallbackServant {
    /// How many pokes have arrived.
    pub fn poked(&self) -> u32 {
        self.poked.load(Ordering::SeqCst)
    }
}

impl Callback for CallbackServant {
    fn notify(&self, n: i32) -> Result<i32, SystemException> {
        Ok(n + 1)
    }

    fn refuse(&self, code: i32) -> Result<(), CallbackRefuseError> {
        let reason = "from the callback".to_owned();
        let place = Point::default();
        Err(Refused { code, reason, paint: Colour::Blue, details: Vec::new(), place }.into())
    }

    fn poke(&self, _n: u32) {
        self.poked.fetch_add(1, Ordering::SeqCst);
    }
}

/// Calls back who calls it, until the depth is used up.
#[derive(Debug, Default)]
pub struct BouncerServant {
    own: OnceLock<BouncerRef>,
}

impl BouncerServant {
    /// A new bouncer in an adapter.
    ///
    /// # Errors
    /// Those of [`Adapter::activate`].
    pub fn activate(adapter: &Adapter) -> Result<BouncerRef, AdapterError> {
        let bouncer = Arc::new(Self::default());
        let reference = adapter.activate(BouncerSkeleton(Arc::clone(&bouncer)))?;
        let _ = bouncer.own.set(reference.clone());
        Ok(reference)
    }
}

impl Bouncer for BouncerServant {
    fn bounce(&self, back: Option<&BouncerRef>, depth: i32) -> Result<i32, SystemException> {
        bounce(self.own.get(), back, depth)
    }
}

/// The bouncer's rule, for all that are one.
pub(crate) fn bounce(
    own: Option<&BouncerRef>,
    back: Option<&BouncerRef>,
    depth: i32,
) -> Result<i32, SystemException> {
    match (depth, back) {
        (0, _) => Ok(0),
        (_, None) => Err(Kind::BadParam.into()),
        (_, Some(back)) => Ok(1 + back.bounce(own, depth - 1)?),
    }
}

/// `opNN(n)` is `n + NN`.
#[derive(Clone, Copy, Debug, Default)]
pub struct HundredServant;

macro_rules! hundred {
    ($($operation:ident $number:literal),* $(,)?) => {
        impl Hundred for HundredServant {
            $(fn $operation(&self, n: u32) -> Result<u32, SystemException> {
                Ok(n.wrapping_add($number))
            })*
        }

        /// All operations of a reference, in the order of their numbers.
        pub const HUNDRED: [fn(&crate::wide::HundredRef, u32) -> Result<u32, SystemException>; 100] =
            [$(|h, n| h.$operation(n)),*];
    };
}

hundred! {
    op00 0, op01 1, op02 2, op03 3, op04 4, op05 5, op06 6, op07 7, op08 8, op09 9,
    op10 10, op11 11, op12 12, op13 13, op14 14, op15 15, op16 16, op17 17, op18 18, op19 19,
    op20 20, op21 21, op22 22, op23 23, op24 24, op25 25, op26 26, op27 27, op28 28, op29 29,
    op30 30, op31 31, op32 32, op33 33, op34 34, op35 35, op36 36, op37 37, op38 38, op39 39,
    op40 40, op41 41, op42 42, op43 43, op44 44, op45 45, op46 46, op47 47, op48 48, op49 49,
    op50 50, op51 51, op52 52, op53 53, op54 54, op55 55, op56 56, op57 57, op58 58, op59 59,
    op60 60, op61 61, op62 62, op63 63, op64 64, op65 65, op66 66, op67 67, op68 68, op69 69,
    op70 70, op71 71, op72 72, op73 73, op74 74, op75 75, op76 76, op77 77, op78 78, op79 79,
    op80 80, op81 81, op82 82, op83 83, op84 84, op85 85, op86 86, op87 87, op88 88, op89 89,
    op90 90, op91 91, op92 92, op93 93, op94 94, op95 95, op96 96, op97 97, op98 98, op99 99,
}

/// Names that get in the way.
#[derive(Debug, Default)]
pub struct AwkwardServant {
    value: AtomicI32,
}

macro_rules! plus_one {
    ($($operation:ident),* $(,)?) => {
        $(fn $operation(&self, n: i32) -> Result<i32, SystemException> {
            Ok(n + 1)
        })*
    };
}

impl Operations for AwkwardServant {
    plus_one! {
        r#type, r#fn, r#match, r#impl, r#move, r#ref, r#loop, r#async, r#await, r#yield, self_, super_, crate_,
        class, delete, new, operator, template, r#virtual, r#return, r#while, int, clone_, drop, from_, invoke,
        call, interface, attribute, any, foo_bar, foo_bar_, set_value,
        an_operation_whose_name_is_exactly_fifty_four_letters,
    }

    fn value(&self) -> Result<i32, SystemException> {
        Ok(self.value.load(Ordering::SeqCst))
    }

    fn set_value_(&self, value: i32) -> Result<(), SystemException> {
        self.value.store(value, Ordering::SeqCst);
        Ok(())
    }

    fn arguments(&self, a: i32, b: i32, c: i32, d: i32, e: i32, f: i32) -> Result<i32, SystemException> {
        Ok(a + b + c + d + e + f)
    }

    fn members(&self, k: &Keywords) -> Result<Keywords, SystemException> {
        Ok(Keywords {
            r#type: k.r#type + 1,
            r#fn: k.r#fn + 1,
            self_: k.self_ + 1,
            class: k.class + 1,
            namespace: k.namespace + 1,
            interface: k.interface + 1,
        })
    }

    fn wrapped(
        &self,
        items: &[awkward::Option],
        outcome: awkward::Result,
    ) -> Result<awkward::Vec, OperationsWrappedError> {
        match outcome {
            awkward::Result::Err => Err(Boxed { why: outcome }.into()),
            _ => Ok(items.to_vec()),
        }
    }
}
