//! Contexts and their bindings: the data of the service, apart from any ORB.
//!
//! Readers look at memory only. A change is checked, written to the store and then made in memory, one at a time; readers
//! wait for the last of these steps alone.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound::{Excluded, Unbounded};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use throughline::Ior;

use crate::label::Label;
use crate::store::{Store, StoreError};

/// The identity of a context of this service: drawn at random, so that one that was destroyed never returns as another.
pub(crate) type ContextId = u64;
/// The context that is always there.
pub(crate) const ROOT: ContextId = 0;

/// A page of a listing ends with the name that makes it so long, in octets: strangers choose names, and whoever lists them must
/// be able to take the answer (omniORB's limit for a message is 2 MiB).
const MAX_PAGE: usize = 1024 * 1024;

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// Any object; names do not lead through it even if it is a context.
    Object(Ior),
    /// A context of this service.
    Own(ContextId),
    /// A context elsewhere.
    Foreign(Ior),
}

impl Target {
    pub(crate) fn is_context(&self) -> bool {
        !matches!(self, Self::Object(_))
    }

    /// Bytes of what a stranger chose the size of.
    fn size(&self) -> usize {
        match self {
            Self::Own(_) => 0,
            Self::Object(ior) | Self::Foreign(ior) => size_of_reference(ior),
        }
    }
}

/// Bytes that a reference takes, nearly.
pub(crate) fn size_of_reference(ior: &Ior) -> usize {
    ior.type_id.len() + ior.profiles.iter().map(|profile| profile.data.len() + 32).sum::<usize>()
}

fn size_of_binding(label: &Label, target: &Target) -> usize {
    label.id.len() + label.kind.len() + target.size()
}

/// A change, as the store records it.
#[derive(Debug)]
pub(crate) enum Change<'a> {
    Create(ContextId),
    Destroy(ContextId),
    Bind(ContextId, &'a Label, &'a Target),
    Unbind(ContextId, &'a Label),
}

/// Why the tree stays as it is.
#[derive(Debug)]
pub(crate) enum Refused {
    /// The context was destroyed.
    NoContext,
    /// Nothing is bound to the name.
    Missing,
    /// The name is taken.
    Bound,
    /// The name is taken by something of the other type.
    OtherType,
    /// The context has bindings.
    NotEmpty,
    /// A limit of the configuration is reached.
    Full,
    Store(StoreError),
}

/// What to do about a binding that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Refuse.
    New,
    /// Replace it, if it is of the same type.
    Replace,
}

type Bindings = BTreeMap<Label, Target>;

#[derive(Debug, Default)]
struct Contents {
    contexts: HashMap<ContextId, Bindings>,
    bindings: usize,
    /// Of all bindings together.
    bytes: usize,
}

/// How much is kept at most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) contexts: usize,
    pub(crate) bindings: usize,
    pub(crate) bytes: usize,
}

/// All contexts.
#[derive(Debug)]
pub(crate) struct Tree {
    contents: RwLock<Contents>,
    store: Mutex<Store>,
    limits: Limits,
}

impl Tree {
    /// What the store has, with the root at least.
    pub(crate) fn load(store: Store, limits: Limits) -> Result<Self, StoreError> {
        let mut contents = Contents::default();
        contents.contexts.insert(ROOT, Bindings::new());
        store.load(|entry| contents.apply(&entry))?;
        Ok(Self { contents: RwLock::new(contents), store: Mutex::new(store), limits })
    }

    fn contents(&self) -> RwLockReadGuard<'_, Contents> {
        self.contents.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whoever holds the store is the only one to change anything.
    fn writer(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn commit(&self, store: &mut Store, changes: &[Change<'_>]) -> Result<(), Refused> {
        store.record(changes).map_err(Refused::Store)?;
        let mut contents = self.contents.write().unwrap_or_else(PoisonError::into_inner);
        changes.iter().for_each(|change| contents.apply(change));
        Ok(())
    }

    /// All contexts.
    pub(crate) fn contexts(&self) -> Vec<ContextId> {
        self.contents().contexts.keys().copied().collect()
    }

    pub(crate) fn has(&self, context: ContextId) -> bool {
        self.contents().contexts.contains_key(&context)
    }

    pub(crate) fn lookup(&self, context: ContextId, label: &Label) -> Result<Target, Refused> {
        let contents = self.contents();
        let bindings = contents.contexts.get(&context).ok_or(Refused::NoContext)?;
        bindings.get(label).cloned().ok_or(Refused::Missing)
    }

    /// Binds a name; with `create`, to a new context that is made in the same step.
    pub(crate) fn bind(
        &self,
        context: ContextId,
        label: &Label,
        target: &Target,
        mode: Mode,
        create: bool,
    ) -> Result<(), Refused> {
        let mut store = self.writer();
        {
            let contents = self.contents();
            let bindings = contents.contexts.get(&context).ok_or(Refused::NoContext)?;
            let old = bindings.get(label);
            let freed = old.map_or(0, |old| size_of_binding(label, old));
            let bytes = contents.bytes - freed + size_of_binding(label, target);
            match old {
                Some(_) if mode == Mode::New => return Err(Refused::Bound),
                Some(old) if old.is_context() != target.is_context() => return Err(Refused::OtherType),
                _ if bytes > self.limits.bytes => return Err(Refused::Full),
                Some(_) => {}
                None if contents.bindings >= self.limits.bindings => return Err(Refused::Full),
                None => {}
            }
            if create && contents.contexts.len() >= self.limits.contexts {
                return Err(Refused::Full);
            }
        }
        let bind = Change::Bind(context, label, target);
        match target {
            Target::Own(id) if create => self.commit(&mut store, &[Change::Create(*id), bind]),
            _ => self.commit(&mut store, &[bind]),
        }
    }

    pub(crate) fn unbind(&self, context: ContextId, label: &Label) -> Result<(), Refused> {
        let mut store = self.writer();
        self.lookup(context, label)?;
        self.commit(&mut store, &[Change::Unbind(context, label)])
    }

    pub(crate) fn create(&self, context: ContextId) -> Result<(), Refused> {
        let mut store = self.writer();
        if self.contents().contexts.len() >= self.limits.contexts {
            return Err(Refused::Full);
        }
        self.commit(&mut store, &[Change::Create(context)])
    }

    pub(crate) fn destroy(&self, context: ContextId) -> Result<(), Refused> {
        let mut store = self.writer();
        match self.contents().contexts.get(&context) {
            None => return Err(Refused::NoContext),
            Some(bindings) if !bindings.is_empty() => return Err(Refused::NotEmpty),
            Some(_) => {}
        }
        self.commit(&mut store, &[Change::Destroy(context)])
    }

    /// Up to `count` bindings behind `after` in their order, or fewer if their names are long; true for contexts. And whether
    /// there are more.
    pub(crate) fn page(
        &self,
        context: ContextId,
        after: Option<&Label>,
        count: usize,
    ) -> Result<(Vec<(Label, bool)>, bool), Refused> {
        let contents = self.contents();
        let bindings = contents.contexts.get(&context).ok_or(Refused::NoContext)?;
        let from = after.map_or(Unbounded, Excluded);
        let mut rest = bindings.range((from, Unbounded));
        let (mut page, mut octets) = (Vec::new(), 0);
        while page.len() < count
            && octets < MAX_PAGE
            && let Some((label, target)) = rest.next()
        {
            octets += label.id.len() + label.kind.len();
            page.push((label.clone(), target.is_context()));
        }
        Ok((page, rest.next().is_some()))
    }
}

impl Contents {
    fn apply(&mut self, change: &Change<'_>) {
        match change {
            Change::Create(context) => {
                self.contexts.entry(*context).or_default();
            }
            Change::Destroy(context) => {
                self.contexts.remove(context);
            }
            Change::Bind(context, label, target) => {
                let bindings = self.contexts.entry(*context).or_default();
                let old = bindings.insert((*label).clone(), (*target).clone());
                self.bindings += usize::from(old.is_none());
                self.bytes -= old.map_or(0, |old| size_of_binding(label, &old));
                self.bytes += size_of_binding(label, target);
            }
            Change::Unbind(context, label) => {
                let old = self.contexts.get_mut(context).and_then(|bindings| bindings.remove(label));
                self.bindings -= usize::from(old.is_some());
                self.bytes -= old.map_or(0, |old| size_of_binding(label, &old));
            }
        }
    }
}
