//! Every object of an ORB in one arena, and the step from an object key to its skeleton.
//!
//! All adapters of an ORB share the arena. An active key is therefore complete: it leads to the record without
//! a look at the adapter. The record's tag says which adapter the object belongs to and how its operations are to
//! be looked up.

use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use throughline_demux::{
    Arena, Handle, Ref, SharedLocator, Slot,
    shared::{AnyLocator, Strategy},
};

use crate::adapter::AdapterState;
use crate::exception::SystemException;
use crate::interface::Interface;
use crate::object_key::{ActiveKey, ObjectKey};
use crate::servant::{Dispatched, ServerCall, Skeleton};

/// What the arena keeps for an object: 16 bytes, with the arena's own 16 half a cache line.
pub(crate) struct Record(Box<dyn Skeleton>);

impl Record {
    pub(crate) fn new(skeleton: Box<dyn Skeleton>) -> Self {
        Self(skeleton)
    }
}

/// A servant is dropped by whoever used it last, which may be a thread that serves others too, with an answer still to be sent. So a
/// panic there ends here.
impl Drop for Record {
    fn drop(&mut self) {
        // Not allocated: it has no size.
        let servant = std::mem::replace(&mut self.0, Box::new(Gone));
        let id = servant.interface().repository_id;
        if catch_unwind(AssertUnwindSafe(|| drop(servant))).is_err() {
            tracing::error!(interface = id, "a servant panicked when it was dropped");
        }
    }
}

/// In place of a servant that is being dropped. Nobody can find it.
struct Gone;

impl Skeleton for Gone {
    fn interface(&self) -> &'static Interface {
        unreachable!("nobody finds what is being dropped")
    }

    fn invoke(&self, _: u32, _: &mut ServerCall<'_>) -> Dispatched {
        Err(SystemException::object_not_exist())
    }
}

/// Adapter slot and operation strategy in one word, compared as a whole with the tag in the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tag(pub(crate) u32);

const STRATEGY_BITS: u32 = 3;

impl Tag {
    /// Adapter slots that fit beside the strategy.
    pub(crate) const MAX_ADAPTERS: u32 = 1 << (32 - STRATEGY_BITS);

    /// Something comes before or in place of the perfect hash.
    const MORE: u32 = 1;
    /// Names are compared, or hashed at run time.
    const COMPARES: u32 = 2;
    /// They are compared one after another.
    const IN_ORDER: u32 = 4;

    pub(crate) fn new(adapter: u32, operations: Strategy) -> Self {
        let strategy = match operations {
            Strategy::PerfectHash => 0,
            Strategy::Active => Self::MORE,
            Strategy::DynamicHash => Self::MORE | Self::COMPARES,
            Strategy::Linear => Self::MORE | Self::COMPARES | Self::IN_ORDER,
        };
        Self(adapter << STRATEGY_BITS | strategy)
    }

    /// The slot of the object's adapter.
    pub(crate) fn adapter(self) -> u32 {
        self.0 >> STRATEGY_BITS
    }

    /// How operations of the object are looked up.
    #[inline]
    pub(crate) fn operations(self) -> Strategy {
        if self.0 & Self::MORE == 0 {
            Strategy::PerfectHash
        } else if self.0 & Self::COMPARES == 0 {
            Strategy::Active
        } else if self.0 & Self::IN_ORDER == 0 {
            Strategy::DynamicHash
        } else {
            Strategy::Linear
        }
    }
}

/// An object found by its key. As long as this lives, so does the servant, even if it is deactivated meanwhile.
pub struct ActiveObject<'a> {
    record: Ref<'a, Record>,
}

impl<'a> ActiveObject<'a> {
    #[inline(always)]
    pub(crate) fn new(record: Ref<'a, Record>) -> Self {
        Self { record }
    }
}

impl ActiveObject<'_> {
    /// Whether a lookup of the handle finds this object now.
    #[inline(always)]
    pub(crate) fn is_found_by(&self, handle: Handle) -> bool {
        self.record.is_found_by(handle)
    }

    /// How the object's adapter looks operations up.
    #[inline]
    pub fn operation_strategy(&self) -> Strategy {
        Tag(self.record.tag()).operations()
    }

    /// The slot of the object's adapter.
    pub(crate) fn adapter(&self) -> u32 {
        Tag(self.record.tag()).adapter()
    }

    /// Finds an operation by its name on the wire as the adapter's strategy says; `predicted` as in
    /// [`OperationTable::find`](crate::interface::OperationTable::find).
    #[inline(always)]
    pub fn find_operation(&self, name: &[u8], predicted: u32) -> Option<u32> {
        let operations = &self.record.0.interface().operations;
        let tag = Tag(self.record.tag());
        // Bit by bit: a `match` over the four would cost a jump table.
        if tag.0 & Tag::MORE != 0 {
            if tag.0 & Tag::COMPARES != 0 {
                return operations.find_slowly(tag.operations(), name);
            }
            if operations.is(predicted, name) {
                return Some(predicted);
            }
        }
        operations.find_perfectly(name)
    }
}

impl Deref for ActiveObject<'_> {
    type Target = dyn Skeleton;

    #[inline]
    fn deref(&self) -> &(dyn Skeleton + 'static) {
        &*self.record.0
    }
}

impl std::fmt::Debug for ActiveObject<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ActiveObject").field("interface", &self.record.0.interface().repository_id).finish()
    }
}

/// The objects and adapters of one ORB.
pub(crate) struct ObjectTable {
    pub(crate) objects: Arena<Record>,
    pub(crate) adapters: Arena<Arc<AdapterState>>,
    /// Whole keys that do not say which adapter they belong to: see [`ObjectKey::Stable`].
    pub(crate) stable: AnyLocator,
}

impl std::fmt::Debug for ObjectTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} objects in {} adapters", self.objects.len(), self.adapters.len())
    }
}

impl ObjectTable {
    /// The object of a key, if the key is one that this ORB gave out and the object is still active.
    #[inline(always)]
    pub(crate) fn find(&self, key: &[u8]) -> Option<ActiveObject<'_>> {
        match ActiveKey::of(key).and_then(|key| self.objects.get_any(key.handle())) {
            Some(record) => Some(ActiveObject::new(record)),
            // Said to be of the arena that it is of: so what both ways lead to needs no test which it was.
            None => self.find_slowly(key)?.record.of(&self.objects).map(ActiveObject::new),
        }
    }

    /// The forms of key that are looked up in a locator.
    #[cold]
    #[inline(never)]
    fn find_slowly(&self, key: &[u8]) -> Option<ActiveObject<'_>> {
        match ObjectKey::parse(key) {
            ObjectKey::Active { .. } => None,
            ObjectKey::Indexed { adapter, id } => {
                let adapter = self.adapters.get(adapter, 0)?;
                adapter.find(self, id)
            }
            ObjectKey::Stable(key) => self.find_stable(key),
        }
    }

    /// A stable key is the path of the adapter, a slash, and the object id; at the root the id alone.
    fn find_stable(&self, key: &[u8]) -> Option<ActiveObject<'_>> {
        let slash = key.iter().rposition(|b| *b == b'/');
        let (path, id) = slash.map_or((&key[..0], key), |at| (&key[..at], &key[at + 1..]));
        let adapter = self.stable.locate(path, &self.adapters)?;
        adapter.find(self, id)
    }

    /// Takes an object out, if it belongs to the adapter of that tag (a key could have been made to look as if it did);
    /// calls under way finish on it. The servant is dropped with what is returned, or after.
    pub(crate) fn remove(&self, handle: Handle, tag: Tag) -> Option<Ref<'_, Record>> {
        self.objects.get(handle, tag.0).and_then(|_| self.objects.remove(handle))
    }

    /// Takes out the object in a slot.
    pub(crate) fn remove_slot(&self, slot: Slot) -> Option<Ref<'_, Record>> {
        self.objects.handle_at(slot).and_then(|handle| self.objects.remove(handle))
    }

    /// Takes out all objects of one adapter.
    pub(crate) fn remove_tagged(&self, tag: Tag) -> Vec<Ref<'_, Record>> {
        let mut handles = Vec::new();
        self.objects.visit(|handle, owner, _| handles.extend((owner == tag.0).then_some(handle)));
        handles.into_iter().filter_map(|handle| self.objects.remove(handle)).collect()
    }
}
