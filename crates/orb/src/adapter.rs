//! Object adapters: where servants become objects, found by the strategy that the adapter was given.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use throughline_demux::{
    Arena, FreezeError, Handle, LocatorConfig, Ref, SharedLocator, Slot,
    shared::{AnyLocator, InsertError, Strategy},
};

use crate::clients::Held;
use crate::exception::{Kind, SystemException, minor};
use crate::lanes::Lanes;
use crate::members::Members;
use crate::object_key::ObjectKey;
use crate::object_table::{ActiveObject, ObjectTable, Record, Tag};
use crate::orb::{Orb, WeakOrb};
use crate::reference::{ObjectRef, TypedReference};
use crate::servant::{Forwarder, Skeleton, TypedSkeleton};

/// How an adapter looks up objects and operations, and what its keys look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdapterConfig {
    /// From object key to object. Default: `active`.
    pub objects: Strategy,
    /// From operation name to skeleton. Default: `active`, that is the perfect hash behind a prediction.
    pub operations: Strategy,
    /// Whether keys are readable text, the same after a restart: `path/of/adapter/object-id`. Needs a strategy
    /// that looks ids up: `linear`, `dynamic-hash` or `perfect-hash`.
    pub stable_keys: bool,
}

impl Default for AdapterConfig {
    fn default() -> Self {
        Self { objects: Strategy::Active, operations: Strategy::Active, stable_keys: false }
    }
}

/// Why an adapter refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AdapterError {
    /// The name is taken at this place of the tree.
    #[error("an adapter `{0}` exists already")]
    AdapterExists(String),
    /// A name that could not be told apart in a stable key.
    #[error(
        "`{0}` cannot be an adapter's name or a stable object id: it is empty, has a slash or begins with `TLa1` or `TLk1`"
    )]
    BadName(String),
    /// The strategy cannot do what the configuration asks.
    #[error("objects found by `{0}` have no stable keys; choose linear, dynamic-hash or perfect-hash")]
    NoStableKeys(Strategy),
    /// Active keys carry a handle, no id.
    #[error(
        "objects found by `active` have no id of the user's choice; choose linear, dynamic-hash or perfect-hash"
    )]
    NoUserIds,
    /// The id is in use.
    #[error("an object with this id is active already")]
    ObjectExists,
    /// `perfect-hash`: the set of objects was frozen.
    #[error("the adapter's objects are frozen; `perfect-hash` takes new objects only before `freeze`")]
    Frozen,
    /// `freeze` makes sense for `perfect-hash` only.
    #[error("only an adapter that finds objects by `perfect-hash` can be frozen, not one by `{0}`")]
    NotFreezable(Strategy),
    /// No perfect hash was found over the objects' ids.
    #[error("no perfect hash was found over the ids of the objects")]
    NoPerfectHash,
    /// Ids have at most 65,535 bytes.
    #[error("the object id is too long")]
    IdTooLong,
    /// The table has no room.
    #[error("the object table is full")]
    Full,
    /// No such object, or it belongs to another adapter.
    #[error("no such object is active in this adapter")]
    NotActive,
    /// The adapter was destroyed.
    #[error("the adapter was destroyed")]
    Destroyed,
    /// The adapter serves in lanes already.
    #[error("the adapter serves in lanes already")]
    HasLanes,
    /// The lanes belong to another ORB.
    #[error("the lanes are another ORB's")]
    ForeignLanes,
    /// Nobody calls whose life could be watched.
    #[error(
        "no client's call is being carried out whose process could be watched: only those by shared memory can"
    )]
    NoCaller,
}

impl From<InsertError> for AdapterError {
    fn from(e: InsertError) -> Self {
        match e {
            InsertError::Duplicate => Self::ObjectExists,
            InsertError::Frozen => Self::Frozen,
            InsertError::Full => Self::Full,
            InsertError::KeyTooLong => Self::IdTooLong,
            InsertError::ReservedSlot => Self::Full,
        }
    }
}

impl From<FreezeError> for AdapterError {
    fn from(e: FreezeError) -> Self {
        match e {
            FreezeError::AlreadyFrozen => Self::Frozen,
            FreezeError::Unsupported | FreezeError::NoPerfectHash => Self::NoPerfectHash,
        }
    }
}

/// An adapter's part that the object table refers to.
pub(crate) struct AdapterState {
    name: String,
    path: String,
    config: AdapterConfig,
    handle: OnceLock<Handle>,
    /// From object id to slot; none under `active`, where the key is the handle.
    locator: Option<AnyLocator>,
    next_id: AtomicU64,
    destroyed: AtomicBool,
    children: Mutex<Vec<Adapter>>,
    parent: Option<Handle>,
    /// Whose threads carry out its requests, if not those that receive them.
    lanes: OnceLock<Lanes>,
    /// Held while the adapter is changed, by activation and deactivation only.
    writer: Mutex<Members>,
}

impl AdapterState {
    fn tag(&self) -> Tag {
        Tag::new(self.handle.get().map_or(0, |h| h.slot.0), self.config.operations)
    }

    /// Finds an object by its id.
    pub(crate) fn find<'t>(&self, table: &'t ObjectTable, id: &[u8]) -> Option<ActiveObject<'t>> {
        self.locate(table, id).map(ActiveObject::new)
    }

    /// Ids stay where they are looked up when the adapter is destroyed: what comes to their objects' places then is others'.
    fn locate<'t>(&self, table: &'t ObjectTable, id: &[u8]) -> Option<Ref<'t, Record>> {
        let record = self.locator.as_ref()?.locate(id, &table.objects)?;
        // Set before the first of the places was free.
        (!self.destroyed.load(Ordering::Acquire)).then_some(record)
    }

    /// The handle of the object that has an id at present.
    fn handle_of(&self, table: &ObjectTable, id: &[u8]) -> Option<Handle> {
        self.locate(table, id).map(|record| record.handle())
    }

    /// The lanes that its requests take.
    pub(crate) fn lanes(&self) -> Option<&Lanes> {
        self.lanes.get()
    }

    fn writer(&self) -> MutexGuard<'_, Members> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn children(&self) -> MutexGuard<'_, Vec<Adapter>> {
        self.children.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An object adapter: a node of the tree of adapters of an [`Orb`]. Cheap to clone.
///
/// Objects are activated, deactivated and called from any number of threads at once; calls under way finish on
/// the object they found.
pub struct Adapter {
    orb: Link,
    state: Arc<AdapterState>,
}

/// An adapter that a user holds keeps its ORB alive; one in the tree, which the ORB holds, does not.
enum Link {
    Held(Orb),
    InTree(WeakOrb),
}

impl Clone for Adapter {
    fn clone(&self) -> Self {
        let orb = self.orb().map_or_else(|_| Link::InTree(WeakOrb::default()), Link::Held);
        Self { orb, state: Arc::clone(&self.state) }
    }
}

impl std::fmt::Debug for Adapter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Adapter").field("path", &self.path()).field("config", &self.state.config).finish()
    }
}

impl Adapter {
    /// The root of the tree. Its path is empty: its stable keys are the bare object ids.
    pub(crate) fn root(orb: &Orb, config: AdapterConfig) -> Result<Self, AdapterError> {
        Self::make(orb, None, "", config)
    }

    fn make(
        orb: &Orb,
        parent: Option<&Self>,
        name: &str,
        config: AdapterConfig,
    ) -> Result<Self, AdapterError> {
        if config.stable_keys && config.objects == Strategy::Active {
            return Err(AdapterError::NoStableKeys(config.objects));
        }
        let path = match parent.map(Self::path) {
            None | Some("") => name.to_owned(),
            Some(above) => format!("{above}/{name}"),
        };
        let state = Arc::new(AdapterState {
            name: name.to_owned(),
            path,
            config,
            handle: OnceLock::new(),
            locator: config.objects.locator(LocatorConfig::random()),
            next_id: AtomicU64::new(0),
            destroyed: AtomicBool::new(false),
            children: Mutex::default(),
            parent: parent.and_then(|p| p.state.handle.get().copied()),
            lanes: parent.map(|above| above.state.lanes.clone()).unwrap_or_default(),
            writer: Mutex::default(),
        });
        let table = orb.table();
        let handle = table.adapters.insert(0, Arc::clone(&state)).map_err(|_| AdapterError::Full)?;
        let _ = state.handle.set(handle);
        if handle.slot.0 >= Tag::MAX_ADAPTERS {
            table.adapters.remove(handle);
            return Err(AdapterError::Full);
        }
        if config.stable_keys
            && let Err(e) = table.stable.insert(state.path.as_bytes(), handle.slot)
        {
            table.adapters.remove(handle);
            return Err(e.into());
        }
        Ok(Self { orb: Link::Held(orb.clone()), state })
    }

    /// The adapter as the tree keeps it.
    pub(crate) fn in_tree(&self) -> Self {
        let orb = match &self.orb {
            Link::Held(orb) => orb.downgrade(),
            Link::InTree(orb) => orb.clone(),
        };
        Self { orb: Link::InTree(orb), state: Arc::clone(&self.state) }
    }

    fn orb(&self) -> Result<Orb, AdapterError> {
        match &self.orb {
            Link::Held(orb) => Ok(orb.clone()),
            // Reached through the ORB or an adapter that is held, so it is there.
            Link::InTree(orb) => orb.upgrade().ok_or(AdapterError::Destroyed),
        }
    }

    /// Makes an adapter below this one.
    ///
    /// # Errors
    /// [`AdapterError`] when the name is taken or unfit, or when the strategy cannot serve the configuration.
    pub fn create_child(&self, name: &str, config: AdapterConfig) -> Result<Self, AdapterError> {
        check_name(name)?;
        let mut children = self.state.children();
        if self.state.destroyed.load(Ordering::Acquire) {
            return Err(AdapterError::Destroyed);
        }
        if children.iter().any(|c| c.name() == name) {
            return Err(AdapterError::AdapterExists(name.to_owned()));
        }
        let child = Self::make(&self.orb()?, Some(self), name, config)?;
        children.push(child.in_tree());
        Ok(child)
    }

    /// The adapter of that name right below this one.
    pub fn child(&self, name: &str) -> Option<Self> {
        self.state.children().iter().find(|c| c.name() == name).cloned()
    }

    /// From now on requests of this adapter's objects are carried out by the threads of these [lanes](crate::lanes), and so are
    /// those of adapters that are made below it later.
    ///
    /// # Errors
    /// [`AdapterError::HasLanes`] when it serves in lanes already, [`AdapterError::ForeignLanes`] when these belong to another
    /// ORB.
    pub fn serve_in(&self, lanes: &Lanes) -> Result<(), AdapterError> {
        let orb = self.orb()?;
        if !orb.has_lanes(lanes) {
            return Err(AdapterError::ForeignLanes);
        }
        self.state.lanes.set(lanes.clone()).map_err(|_| AdapterError::HasLanes)?;
        orb.use_lanes();
        Ok(())
    }

    /// The adapter's own name.
    pub fn name(&self) -> &str {
        &self.state.name
    }

    /// The names from the root to here, joined by slashes.
    pub fn path(&self) -> &str {
        &self.state.path
    }

    /// What the adapter was configured to do.
    pub fn config(&self) -> AdapterConfig {
        self.state.config
    }

    /// How many objects are active in this adapter.
    pub fn len(&self) -> usize {
        self.state.writer().len()
    }

    /// Whether no object is active.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Makes the servant an object that can be called, and returns the reference to it.
    ///
    /// Its id is the next of `object_0`, `object_1` and so on that nobody has. After a restart, stable keys with such ids lead to
    /// whatever was activated in the same turn: objects that are remembered for longer need ids of their own.
    ///
    /// # Errors
    /// [`AdapterError::Frozen`], [`AdapterError::Full`] or [`AdapterError::Destroyed`].
    pub fn activate<S: TypedSkeleton>(&self, skeleton: S) -> Result<S::Reference, AdapterError> {
        let object = self.insert(None, Box::new(skeleton))?;
        Ok(S::Reference::from_object(object))
    }

    /// Activates a servant that lives no longer than the client whose call this thread carries out: once that process has ended,
    /// in order or not, the object is deactivated. For what a client opens: sessions, iterators, locks.
    ///
    /// # Errors
    /// [`AdapterError::NoCaller`] unless a servant is running that was called over shared memory, for only there the system
    /// tells that a client is gone; and as [`activate`](Self::activate).
    pub fn activate_for_caller<S: TypedSkeleton>(&self, skeleton: S) -> Result<S::Reference, AdapterError> {
        let process = crate::transport::native::server::caller().ok_or(AdapterError::NoCaller)?;
        let reference = self.activate(skeleton)?;
        let held = Held { adapter: self.in_tree(), key: reference.as_object().object_key() };
        let orb = self.orb()?;
        if orb.clients().hold(&orb, process, held).is_err() {
            let _ = self.deactivate(&reference);
            return Err(AdapterError::NoCaller);
        }
        Ok(reference)
    }

    /// Activates a servant under an id of the caller's choice; with stable keys the reference is the same after
    /// a restart.
    ///
    /// # Errors
    /// [`AdapterError::NoUserIds`] under `active`, [`AdapterError::ObjectExists`], and as
    /// [`activate`](Self::activate).
    pub fn activate_with_id<S: TypedSkeleton>(
        &self,
        id: &str,
        skeleton: S,
    ) -> Result<S::Reference, AdapterError> {
        self.check_id(id)?;
        let object = self.insert(Some(id.as_bytes()), Box::new(skeleton))?;
        Ok(S::Reference::from_object(object))
    }

    /// Activates, under an id of the caller's choice, an object that sends every client on to `to`
    /// (`LOCATION_FORWARD`).
    ///
    /// # Errors
    /// As [`activate_with_id`](Self::activate_with_id).
    pub fn forward<R: TypedReference>(&self, id: &str, to: &R) -> Result<R, AdapterError> {
        self.check_id(id)?;
        let skeleton = Forwarder { interface: R::interface(), to: to.as_object().ior().clone() };
        Ok(R::from_object(self.insert(Some(id.as_bytes()), Box::new(skeleton))?))
    }

    fn check_id(&self, id: &str) -> Result<(), AdapterError> {
        match self.state.config.objects {
            Strategy::Active => Err(AdapterError::NoUserIds),
            _ if self.state.config.stable_keys => check_name(id),
            _ => Ok(()),
        }
    }

    /// Activates an object under a chosen id, or one that nobody has.
    fn insert(&self, chosen: Option<&[u8]>, skeleton: Box<dyn Skeleton>) -> Result<ObjectRef, AdapterError> {
        let interface = skeleton.interface();
        interface.operations.prepare(self.state.config.operations);
        let mut members = self.state.writer();
        if self.state.destroyed.load(Ordering::Acquire) {
            return Err(AdapterError::Destroyed);
        }
        let tag = self.state.tag();
        let orb = self.orb()?;
        let table = orb.table();
        let handle = table.objects.insert(tag.0, Record::new(skeleton)).map_err(|_| AdapterError::Full)?;
        let id = match self.locate_at(handle.slot, chosen) {
            Ok(id) => id,
            Err(e) => {
                drop(members);
                table.remove(handle, tag);
                return Err(e.into());
            }
        };
        // Only natively an object is told by its handle alone.
        let by_handle = self.state.locator.is_some() && orb.serves_natively();
        members.add(by_handle.then_some((handle.slot, &*id)));
        drop(members);
        Ok(orb.reference_to_own(&self.key(tag, handle, &id), Some(handle), interface.repository_id))
    }

    /// Has the object in a slot found by its id.
    fn locate_at<'i>(&self, slot: Slot, chosen: Option<&'i [u8]>) -> Result<Cow<'i, [u8]>, InsertError> {
        let next = || system_id(self.state.next_id.fetch_add(1, Ordering::Relaxed));
        loop {
            let id = chosen.map_or_else(|| Cow::Owned(next()), Cow::Borrowed);
            match self.state.locator.as_ref().map_or(Ok(()), |locator| locator.insert(&id, slot)) {
                // Somebody has chosen it.
                Err(InsertError::Duplicate) if chosen.is_none() => {}
                located => return located.map(|()| id),
            }
        }
    }

    fn key(&self, tag: Tag, handle: Handle, id: &[u8]) -> Vec<u8> {
        if self.state.config.objects == Strategy::Active {
            return ObjectKey::Active { tag: tag.0, handle }.to_bytes();
        }
        if self.state.config.stable_keys {
            let path = self.state.path.as_bytes();
            return if path.is_empty() { id.to_vec() } else { [path, b"/", id].concat() };
        }
        let adapter = self.state.handle.get().copied().unwrap_or(handle);
        ObjectKey::Indexed { adapter, id }.to_bytes()
    }

    /// Takes the object of a reference out of service. Calls under way finish on it; later ones get
    /// `OBJECT_NOT_EXIST`.
    ///
    /// # Errors
    /// [`AdapterError::NotActive`] when the reference is not one of this adapter's active objects, as none is after it was
    /// destroyed.
    pub fn deactivate(&self, reference: &impl TypedReference) -> Result<(), AdapterError> {
        self.deactivate_key(&reference.as_object().object_key())
    }

    /// As [`deactivate`](Self::deactivate), of the object with this key.
    pub(crate) fn deactivate_key(&self, key: &[u8]) -> Result<(), AdapterError> {
        let orb = self.orb()?;
        let mut members = self.state.writer();
        if self.state.destroyed.load(Ordering::Acquire) {
            return Err(AdapterError::NotActive);
        }
        let (slot, removed) = match ObjectKey::parse(key) {
            ObjectKey::Active { handle, tag } if tag == self.state.tag().0 => {
                self.forget_id(orb.table(), handle, &members);
                let removed = orb.table().remove(handle, self.state.tag()).ok_or(AdapterError::NotActive)?;
                (handle.slot, Some(removed))
            }
            ObjectKey::Indexed { adapter, id } if Some(&adapter) == self.state.handle.get() => {
                self.remove_by_id(orb.table(), id)?
            }
            ObjectKey::Stable(key) => {
                let id = self.id_of_stable(key).ok_or(AdapterError::NotActive)?;
                self.remove_by_id(orb.table(), id)?
            }
            _ => return Err(AdapterError::NotActive),
        };
        members.remove(slot);
        drop(members);
        // The servant may be dropped now, and may use the adapter one last time.
        drop(removed);
        Ok(())
    }

    /// The id of an object that is told by its handle, as in references that have been elsewhere, of servers without IIOP.
    fn forget_id(&self, table: &ObjectTable, handle: Handle, members: &Members) {
        if let Some(locator) = &self.state.locator
            && table.objects.get(handle, self.state.tag().0).is_some()
            && let Some(id) = members.id_of(handle.slot)
        {
            let _ = locator.remove(id);
        }
    }

    fn id_of_stable<'k>(&self, key: &'k [u8]) -> Option<&'k [u8]> {
        match self.path() {
            _ if !self.state.config.stable_keys => None,
            "" => Some(key),
            path => key.strip_prefix(path.as_bytes())?.strip_prefix(b"/"),
        }
    }

    fn remove_by_id<'t>(
        &self,
        table: &'t ObjectTable,
        id: &[u8],
    ) -> Result<(Slot, Option<Ref<'t, Record>>), AdapterError> {
        let locator = self.state.locator.as_ref().ok_or(AdapterError::NotActive)?;
        // First from the locator, then from the arena: see `SharedLocator::find_with`.
        let slot = locator.remove(id).ok_or(AdapterError::NotActive)?;
        Ok((slot, table.remove_slot(slot)))
    }

    /// `perfect-hash`: computes the hash over the objects activated so far. From now on they can be called and
    /// [deactivated](Self::deactivate), and no other can be added.
    ///
    /// # Errors
    /// [`AdapterError::NotFreezable`] for other strategies.
    pub fn freeze(&self) -> Result<(), AdapterError> {
        match &self.state.locator {
            Some(locator) if self.state.config.objects == Strategy::PerfectHash => {
                locator.freeze().map_err(AdapterError::from)
            }
            _ => Err(AdapterError::NotFreezable(self.state.config.objects)),
        }
    }

    /// The reference that an object with this id has, or would have. With stable keys it needs no object yet; but ways by the
    /// native protocol are in it only if there is one.
    ///
    /// # Errors
    /// [`AdapterError::NoUserIds`] under `active`; [`AdapterError::BadName`].
    pub fn reference_for_id<R: TypedReference>(&self, id: &str) -> Result<R, AdapterError> {
        self.check_id(id)?;
        let unused = Handle { slot: Slot(0), nonce: 0 };
        let key = self.key(self.state.tag(), unused, id.as_bytes());
        let orb = self.orb()?;
        let handle = self.state.handle_of(orb.table(), id.as_bytes());
        Ok(R::from_object(orb.reference_to_own(&key, handle, R::REPOSITORY_ID)))
    }

    /// Deactivates every object of this adapter and of those below it, and removes them from the tree.
    pub fn destroy(&self) {
        self.state.destroyed.store(true, Ordering::Release);
        let children = std::mem::take(&mut *self.state.children());
        children.iter().for_each(Self::destroy);
        let Ok(orb) = self.orb() else { return };
        let table = orb.table();
        let mut members = self.state.writer();
        let handle = self.state.handle.get().filter(|handle| table.adapters.get(**handle, 0).is_some());
        // Once it was destroyed, its path and its tag may be another's.
        let Some(handle) = handle else { return };
        if self.state.config.stable_keys {
            let _ = table.stable.remove(self.state.path.as_bytes());
        }
        let removed = table.remove_tagged(self.state.tag());
        // Last: whoever is made next has its slot, and so its tag.
        table.adapters.remove(*handle);
        *members = Members::default();
        drop(members);
        drop(removed);
        if let Some(parent) = self.state.parent.and_then(|p| table.adapters.get(p, 0)) {
            parent.children().retain(|c| !Arc::ptr_eq(&c.state, &self.state));
        }
    }

    /// Bytes that the adapter's tables take per active object, servants aside: the record, what the locator keeps, and, where
    /// the native protocol is served, which has handles only, the ids.
    pub fn bytes_per_object(&self) -> f64 {
        let members = self.state.writer();
        let located = self.state.locator.as_ref().map_or(0, SharedLocator::bytes) + members.bytes();
        Arena::<Record>::bytes_per_record() as f64 + located as f64 / members.len().max(1) as f64
    }
}

/// Object ids that the adapter makes: the number in text, so that every strategy works on keys like a user's.
fn system_id(number: u64) -> Vec<u8> {
    format!("object_{number}").into_bytes()
}

fn check_name(name: &str) -> Result<(), AdapterError> {
    let reserved = name.starts_with("TLa1") || name.starts_with("TLk1");
    if name.is_empty() || name.contains('/') || reserved {
        return Err(AdapterError::BadName(name.to_owned()));
    }
    Ok(())
}

impl From<AdapterError> for SystemException {
    fn from(e: AdapterError) -> Self {
        let exception = match e {
            AdapterError::Full => Self::new(Kind::NoResources, minor::TOO_MANY_OBJECTS),
            AdapterError::NotActive | AdapterError::Destroyed => Self::object_not_exist(),
            _ => Self::bad_param(),
        };
        exception.detail(e.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_is_full_is_not_taken_for_a_connection_that_is() {
        let orb = Orb::start(crate::OrbConfig { max_objects: 4, ..crate::OrbConfig::default() }).unwrap();
        let to = orb.string_to_object("corbaloc::127.0.0.1:9/elsewhere").unwrap();
        let full = (0..5).find_map(|n| orb.root().forward(&n.to_string(), &to).err()).unwrap();
        assert_eq!(full, AdapterError::Full);
        let exception = SystemException::from(full);
        assert_eq!((exception.kind, exception.minor), (Kind::NoResources, minor::TOO_MANY_OBJECTS));
        orb.shutdown(std::time::Duration::ZERO);
    }

    #[test]
    fn nothing_is_left_of_an_adapter_whose_path_is_too_long() {
        let orb = Orb::client().unwrap();
        let adapters = || orb.table().adapters.len();
        let (before, name) = (adapters(), "x".repeat(70_000));
        let config =
            AdapterConfig { stable_keys: true, objects: Strategy::Linear, ..AdapterConfig::default() };
        assert_eq!(orb.root().create_child(&name, config).unwrap_err(), AdapterError::IdTooLong);
        assert!(adapters() == before && orb.root().child(&name).is_none());
        orb.shutdown(std::time::Duration::ZERO);
    }

    #[test]
    fn who_still_looks_an_id_up_where_an_adapter_was_destroyed_finds_nobody_else() {
        let orb = Orb::client().unwrap();
        let to = orb.string_to_object("corbaloc::127.0.0.1:9/elsewhere").unwrap();
        let config = AdapterConfig { objects: Strategy::DynamicHash, ..AdapterConfig::default() };
        let adapter = orb.root().create_child("a", config).unwrap();
        adapter.forward("id", &to).unwrap();
        assert!(adapter.state.find(orb.table(), b"id").is_some());
        adapter.destroy();
        // In the place of the old one.
        orb.root().forward("other", &to).unwrap();
        assert!(adapter.state.find(orb.table(), b"id").is_none());
        orb.shutdown(std::time::Duration::ZERO);
    }
}
