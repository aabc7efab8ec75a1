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

impl Change<'_> {
    fn place(&self) -> Place {
        match self {
            Self::Create(context) | Self::Destroy(context) => Place::Context(*context),
            Self::Bind(context, label, _) | Self::Unbind(context, label) => {
                Place::Binding(*context, (*label).clone())
            }
        }
    }
}

/// What a change is about.
#[derive(Debug)]
enum Place {
    Context(ContextId),
    Binding(ContextId, Label),
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
    writer: Mutex<Writer>,
    limits: Limits,
}

/// Whoever has this is the only one to change anything.
#[derive(Debug)]
struct Writer {
    store: Store,
    /// Where the store may have changes that failed, and were not made in memory.
    doubtful: Vec<Place>,
}

impl Tree {
    /// What the store has, with the root at least.
    pub(crate) fn load(mut store: Store, limits: Limits) -> Result<Self, StoreError> {
        let mut contents = Contents::default();
        contents.contexts.insert(ROOT, Bindings::new());
        store.load(|entry| contents.apply(&entry))?;
        let writer = Mutex::new(Writer { store, doubtful: Vec::new() });
        Ok(Self { contents: RwLock::new(contents), writer, limits })
    }

    fn contents(&self) -> RwLockReadGuard<'_, Contents> {
        self.contents.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn commit(&self, writer: &mut Writer, changes: &[Change<'_>]) -> Result<(), Refused> {
        self.settle(writer)?;
        writer.store.record(changes).map_err(|error| {
            writer.doubtful = changes.iter().map(Change::place).collect();
            Refused::Store(error)
        })?;
        let mut contents = self.contents.write().unwrap_or_else(PoisonError::into_inner);
        changes.iter().for_each(|change| contents.apply(change));
        Ok(())
    }

    /// The store gets what is in memory where the two may differ.
    fn settle(&self, writer: &mut Writer) -> Result<(), Refused> {
        if writer.doubtful.is_empty() {
            return Ok(());
        }
        let contents = self.contents();
        let changes: Vec<_> = writer.doubtful.iter().map(|place| contents.at(place)).collect();
        writer.store.record(&changes).map_err(Refused::Store)?;
        writer.doubtful.clear();
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
        let mut writer = self.writer();
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
            Target::Own(id) if create => self.commit(&mut writer, &[Change::Create(*id), bind]),
            _ => self.commit(&mut writer, &[bind]),
        }
    }

    pub(crate) fn unbind(&self, context: ContextId, label: &Label) -> Result<(), Refused> {
        let mut writer = self.writer();
        self.lookup(context, label)?;
        self.commit(&mut writer, &[Change::Unbind(context, label)])
    }

    pub(crate) fn create(&self, context: ContextId) -> Result<(), Refused> {
        let mut writer = self.writer();
        if self.contents().contexts.len() >= self.limits.contexts {
            return Err(Refused::Full);
        }
        self.commit(&mut writer, &[Change::Create(context)])
    }

    pub(crate) fn destroy(&self, context: ContextId) -> Result<(), Refused> {
        let mut writer = self.writer();
        match self.contents().contexts.get(&context) {
            None => return Err(Refused::NoContext),
            Some(bindings) if !bindings.is_empty() => return Err(Refused::NotEmpty),
            Some(_) => {}
        }
        self.commit(&mut writer, &[Change::Destroy(context)])
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
    /// The change after which the store has what is here.
    fn at<'a>(&'a self, place: &'a Place) -> Change<'a> {
        match place {
            Place::Context(context) if self.contexts.contains_key(context) => Change::Create(*context),
            Place::Context(context) => Change::Destroy(*context),
            Place::Binding(context, label) => {
                let target = self.contexts.get(context).and_then(|bindings| bindings.get(label));
                target.map_or(Change::Unbind(*context, label), |target| Change::Bind(*context, label, target))
            }
        }
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { contexts: 10, bindings: 10, bytes: 1000 };

    fn label(id: &str) -> Label {
        Label { id: id.to_owned(), kind: String::new() }
    }

    #[test]
    fn what_failed_and_was_stored_all_the_same_is_taken_back() {
        let path =
            std::env::temp_dir().join(format!("throughline-naming-doubtful-{}.redb", std::process::id()));
        let load = || Tree::load(Store::open(Some(&path)).unwrap(), LIMITS).unwrap();
        let (tree, nil) = (load(), Target::Object(Ior::NIL));
        let [a, b, c] = ["a", "b", "c"].map(label);
        tree.bind(ROOT, &a, &nil, Mode::New, false).unwrap();
        tree.bind(ROOT, &b, &Target::Own(5), Mode::New, true).unwrap();
        {
            let failed = [
                Change::Create(7),
                Change::Bind(7, &a, &nil),
                Change::Unbind(ROOT, &a),
                Change::Bind(ROOT, &b, &Target::Own(7)),
                Change::Destroy(5),
            ];
            let mut writer = tree.writer();
            writer.store.record(&failed).unwrap();
            writer.doubtful = failed.iter().map(Change::place).collect();
        }
        tree.bind(ROOT, &c, &nil, Mode::New, false).unwrap();
        drop(tree);

        let tree = load();
        assert_eq!(tree.lookup(ROOT, &a).unwrap(), nil);
        assert_eq!(tree.lookup(ROOT, &b).unwrap(), Target::Own(5));
        assert_eq!(tree.lookup(ROOT, &c).unwrap(), nil);
        assert!(tree.has(5) && !tree.has(7));
        drop(tree);
        std::fs::remove_file(&path).unwrap();
    }
}
