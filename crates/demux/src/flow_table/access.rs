//! Who may look at the table while it changes.

use core::{hint::select_unpredictable, ops::Deref, ptr::NonNull};

use super::{
    FlowRecord,
    address::Extent,
    elsewhere::Elsewhere,
    place::{Group, Place},
    space::Space,
    store::Store,
    tags::{GROUP, Tag, TagGroup, Tags},
};

/// How records are written, and what readers are told of it.
pub(super) trait Access<R: FlowRecord>: Sized {
    /// How the writing side has the store: alone or with readers.
    type Held: Deref<Target = Store<R, Self>>;

    fn hold(store: Store<R, Self>) -> Self::Held;

    /// Bytes per block for what this side has to know.
    const BLOCK_BYTES: usize;

    /// Whether lookups ask first for the place that a key prefers, so that records are better off there.
    const PREFERS: bool;

    /// This place, in which no record is found, is about to be written.
    fn refill(&self, place: Place);

    /// A record whose key prefers the group `home`, and which is found in the group `to` as well as in another place, is about
    /// to be found there only.
    fn settle(&self, to: Group, home: Group);

    /// As [`refill`](Self::refill) and [`settle`](Self::settle), for all places of a block and any record.
    fn touch_all(&self, block: u32);

    /// Which of these empty places of a group a record goes to if nothing else decides. If there is none, the place after the
    /// group's.
    fn choose(empty: u16, preferred: Place) -> Place;

    /// As [`choose`](Self::choose): there is such a place, and it is about to be written.
    fn take(&self, preferred: Place, empty: u16) -> Place;

    /// The tag of this place has been cleared.
    fn cleared(&self, place: Place);

    /// How many blocks there are from now on.
    fn publish(&self, extent: Extent);

    /// The tags as this side, the only one that writes, sees them.
    fn tags(&self, group: &TagGroup) -> Tags;

    /// Whether keys with such a tag may have their records elsewhere, as this side sees it.
    fn has(&self, elsewhere: &Elsewhere, tag: Tag) -> bool;

    /// Sets a tag after all that was written before, or clears it.
    fn set_tag(&self, tags: &Space<TagGroup>, place: Place, tag: Option<Tag>);

    /// Writes a record to a place that is empty.
    fn write(&self, to: NonNull<R>, record: R);

    /// Copies a record from a full place to an empty one.
    ///
    /// # Safety
    /// They are such places of one table.
    unsafe fn copy(&self, from: NonNull<R>, to: NonNull<R>);
}

/// Nobody looks: the table is owned, or borrowed as a whole.
pub(super) struct Alone;

/// A value that is there and nowhere else.
pub(super) struct Own<T>(T);

impl<T> Own<T> {
    pub(super) fn into_inner(self) -> T {
        self.0
    }
}

impl<T> Deref for Own<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<R: FlowRecord> Access<R> for Alone {
    type Held = Own<Store<R, Self>>;

    fn hold(store: Store<R, Self>) -> Self::Held {
        Own(store)
    }

    const BLOCK_BYTES: usize = 0;
    const PREFERS: bool = true;

    #[inline(always)]
    fn refill(&self, _: Place) {}

    #[inline(always)]
    fn settle(&self, _: Group, _: Group) {}

    #[inline(always)]
    fn touch_all(&self, _: u32) {}

    #[inline(always)]
    fn choose(empty: u16, preferred: Place) -> Place {
        // One of six is empty in a full table: nothing that a branch would foresee.
        let is_empty = empty >> preferred.at() & 1 != 0;
        let lowest = empty.trailing_zeros().min(GROUP as u32);
        preferred.group().place(select_unpredictable(is_empty, preferred.at() as u32, lowest))
    }

    #[inline(always)]
    fn take(&self, preferred: Place, empty: u16) -> Place {
        <Self as Access<R>>::choose(empty, preferred)
    }

    #[inline(always)]
    fn cleared(&self, _: Place) {}

    #[inline(always)]
    fn publish(&self, _: Extent) {}

    #[inline(always)]
    fn tags(&self, group: &TagGroup) -> Tags {
        // SAFETY: who writes has the table to itself.
        unsafe { group.load_still() }
    }

    #[inline(always)]
    fn has(&self, elsewhere: &Elsewhere, tag: Tag) -> bool {
        // SAFETY: as above.
        unsafe { elsewhere.has_still(tag) }
    }

    #[inline(always)]
    fn set_tag(&self, tags: &Space<TagGroup>, place: Place, tag: Option<Tag>) {
        // SAFETY: as above; places are those of the table.
        unsafe { TagGroup::set_still(tags.at(0), place.0, tag) }
    }

    #[inline(always)]
    fn write(&self, to: NonNull<R>, record: R) {
        // SAFETY: a place of the table, empty, so nothing is lost and nobody looks.
        unsafe { to.write(record) }
    }

    #[inline(always)]
    unsafe fn copy(&self, from: NonNull<R>, to: NonNull<R>) {
        // SAFETY: two places of one table, says the caller.
        unsafe { to.copy_from_nonoverlapping(from, 1) }
    }
}
