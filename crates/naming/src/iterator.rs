//! Binding iterators: a place in a listing that a client comes back to.
//!
//! An iterator remembers the last name it gave out and reads on from there: it costs the same whatever the size of the
//! listing. There are only so many at a time; the one that was unused the longest makes way for a new one.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use throughline::{Adapter, Kind, SystemException};

use crate::cos_naming::{
    Binding, BindingIterator, BindingIteratorRef, BindingIteratorSkeleton, BindingList, BindingType,
    NameComponent,
};
use crate::label::Label;
use crate::tree::{ContextId, Tree};

/// All iterators of a server.
#[derive(Debug)]
pub(crate) struct Iterators {
    adapter: Adapter,
    limits: IteratorLimits,
    /// The least recently made first.
    alive: Mutex<Vec<Arc<Cursor>>>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct IteratorLimits {
    /// How many there are at most.
    pub(crate) count: usize,
    /// One that is not used for so long may go.
    pub(crate) idle: Duration,
    /// How many bindings one answer has at most.
    pub(crate) batch: usize,
}

/// The servant's part that the table refers to as well.
#[derive(Debug)]
struct Cursor {
    place: Mutex<Place>,
    reference: OnceLock<BindingIteratorRef>,
}

#[derive(Debug)]
struct Place {
    last: Option<Label>,
    used: Instant,
}

impl Cursor {
    fn place(&self) -> MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Iterators {
    pub(crate) fn new(adapter: Adapter, limits: IteratorLimits) -> Self {
        Self { adapter, limits, alive: Mutex::default() }
    }

    pub(crate) fn batch(&self, wanted: u32) -> usize {
        usize::try_from(wanted).unwrap_or(usize::MAX).min(self.limits.batch)
    }

    fn alive(&self) -> MutexGuard<'_, Vec<Arc<Cursor>>> {
        self.alive.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An iterator over a context's bindings behind `last`.
    pub(crate) fn start(
        self: &Arc<Self>,
        tree: &Arc<Tree>,
        context: ContextId,
        last: Option<Label>,
    ) -> Result<BindingIteratorRef, SystemException> {
        let place = Mutex::new(Place { last, used: Instant::now() });
        let cursor = Arc::new(Cursor { place, reference: OnceLock::new() });
        let servant = Servant {
            cursor: Arc::clone(&cursor),
            context,
            tree: Arc::clone(tree),
            iterators: Arc::clone(self),
        };
        let reference = self.adapter.activate(BindingIteratorSkeleton(servant))?;
        let _ = cursor.reference.set(reference.clone());
        self.admit(cursor);
        Ok(reference)
    }

    /// Ends idle iterators for a new one, and those idle for longest if there are still too many: several may come at once.
    fn admit(&self, new: Arc<Cursor>) {
        let mut alive = self.alive();
        let mut gone: Vec<_> =
            alive.extract_if(.., |c| c.place().used.elapsed() > self.limits.idle).collect();
        alive.push(new);
        while alive.len() > self.limits.count.max(1)
            && let Some(oldest) = (0..alive.len()).min_by_key(|at| alive[*at].place().used)
        {
            gone.push(alive.swap_remove(oldest));
        }
        drop(alive);
        gone.iter().for_each(|cursor| self.deactivate(cursor));
    }

    fn deactivate(&self, cursor: &Cursor) {
        if let Some(reference) = cursor.reference.get() {
            // It may be gone already: two may want its end at the same time.
            let _ = self.adapter.deactivate(reference);
        }
    }

    fn end(&self, cursor: &Arc<Cursor>) {
        self.alive().retain(|other| !Arc::ptr_eq(other, cursor));
        self.deactivate(cursor);
    }
}

struct Servant {
    cursor: Arc<Cursor>,
    context: ContextId,
    tree: Arc<Tree>,
    iterators: Arc<Iterators>,
}

impl Servant {
    /// The next bindings; none when the context has no more, or is gone.
    fn next(&self, count: usize) -> BindingList {
        let mut place = self.cursor.place();
        place.used = Instant::now();
        let page = self.tree.page(self.context, place.last.as_ref(), count).map(|(page, _)| page);
        let page = page.unwrap_or_default();
        if let Some((last, _)) = page.last() {
            place.last = Some(last.clone());
        }
        to_bindings(&page)
    }
}

impl BindingIterator for Servant {
    fn next_one(&self) -> Result<(bool, Binding), SystemException> {
        let nothing =
            || Binding { binding_name: vec![NameComponent::default()], binding_type: BindingType::Nobject };
        Ok(self.next(1).pop().map_or_else(|| (false, nothing()), |binding| (true, binding)))
    }

    fn next_n(&self, how_many: u32) -> Result<(bool, BindingList), SystemException> {
        if how_many == 0 {
            return Err(SystemException::from(Kind::BadParam).detail("next_n of no bindings"));
        }
        let bindings = self.next(self.iterators.batch(how_many));
        Ok((!bindings.is_empty(), bindings))
    }

    fn destroy(&self) -> Result<(), SystemException> {
        self.iterators.end(&self.cursor);
        Ok(())
    }
}

/// A page of a listing as clients get it.
pub(crate) fn to_bindings(page: &[(Label, bool)]) -> BindingList {
    let binding = |(label, is_context): &(Label, bool)| Binding {
        binding_name: vec![label.into()],
        binding_type: if *is_context { BindingType::Ncontext } else { BindingType::Nobject },
    };
    page.iter().map(binding).collect()
}
