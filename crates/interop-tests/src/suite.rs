//! `Interop::Suite`, served: everything that one ORB must carry for another.

mod composites;
mod failures;
mod maker;
mod state;
mod values;

pub(crate) use failures::refused;
pub(crate) use values::octets;

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use throughline::{Adapter, AdapterConfig, AdapterError, ObjectRef, Orb, SystemException};

use crate::awkward::OperationsSkeleton;
use crate::interop::{Both, Left, Named, Right, Suite, SuiteRef, SuiteSkeleton};
use crate::objects::{AwkwardServant, HundredServant};
use crate::wide::HundredSkeleton;
use state::State;

/// The plain key that the suite is served under, for `corbaloc`.
pub const KEY: &str = "suite";

/// Serves the suite and all that it makes.
pub struct SuiteServant {
    /// Where the suite itself is, and what forwards.
    root: Adapter,
    /// Where what it makes is.
    objects: Adapter,
    hundred: ObjectRef,
    awkward: ObjectRef,
    forwarders: AtomicUsize,
    state: Mutex<State>,
    total: AtomicI64,
}

impl SuiteServant {
    /// Activates a suite under [`KEY`]; the objects that it makes are found as `config` says.
    ///
    /// # Errors
    /// When there is one already.
    pub fn activate(orb: &Orb, config: AdapterConfig) -> Result<SuiteRef, AdapterError> {
        let root = orb.root().clone();
        let objects = root.create_child("objects", config)?;
        let suite = Self {
            hundred: objects.activate(HundredSkeleton(HundredServant))?.into(),
            awkward: objects.activate(OperationsSkeleton(AwkwardServant::default()))?.into(),
            forwarders: AtomicUsize::new(0),
            state: Mutex::default(),
            total: AtomicI64::new(0),
            root: root.clone(),
            objects,
        };
        root.activate_with_id(KEY, SuiteSkeleton(Arc::new(suite)))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a `turn_` operation does: returns what `b` was, and `a` for the out parameter.
#[expect(clippy::unnecessary_wraps, reason = "it is the whole of operations that may fail")]
fn turn<T: Clone>(a: T, b: &mut T) -> Result<(T, T), SystemException> {
    Ok((std::mem::replace(b, a.clone()), a))
}

impl Named for SuiteServant {
    fn name(&self) -> Result<String, SystemException> {
        Ok("both".to_owned())
    }
}

impl Left for SuiteServant {
    fn left_name(&self) -> Result<String, SystemException> {
        Ok("left".to_owned())
    }
}

impl Right for SuiteServant {
    fn right_name(&self) -> Result<String, SystemException> {
        Ok("right".to_owned())
    }
}

impl Both for SuiteServant {
    fn both_names(&self) -> Result<String, SystemException> {
        Ok("left+right".to_owned())
    }
}

impl Suite for SuiteServant {
    fn accumulate(&self, n: i32) -> Result<(), SystemException> {
        self.total.fetch_add(n.into(), Ordering::SeqCst);
        Ok(())
    }

    fn total(&self) -> Result<i64, SystemException> {
        Ok(self.total.load(Ordering::SeqCst))
    }
}
