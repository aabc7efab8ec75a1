//! How records get into the table.

use core::mem::{MaybeUninit, forget, needs_drop};

use super::Table;
use crate::flow_table::{
    FlowInsertError, FlowRecord,
    access::Access,
    place::{Group, Place},
    resize, room,
    tags::Tag,
};

/// Why a record is not inserted.
enum Refusal {
    Duplicate,
    Full,
}

/// Drops the record that waits, when a key's own code panics.
struct Abandoned<R: FlowRecord, A: Access<R>>(*mut Table<R, A>);

impl<R: FlowRecord, A: Access<R>> Drop for Abandoned<R, A> {
    fn drop(&mut self) {
        // SAFETY: made where a record waits, and forgotten where it does no longer; nobody else has the table.
        unsafe { (*self.0).waiting.at(0).drop_in_place() }
    }
}

/// Who removes and inserts waits for the records that are removed, for as many at once as the processor sees ahead: so
/// instructions count. What three insertions of ten need besides is in functions apart, to which a record goes by way of
/// [`Table::waiting`]: to give them a record in a register the short way would have to save registers, and one on the stack
/// would be written there by all.
impl<R: FlowRecord, A: Access<R>> Table<R, A> {
    /// Puts a record into a place, unless its key has one.
    #[inline(always)]
    pub(in crate::flow_table) fn insert_new(&mut self, record: R) -> Result<(), FlowInsertError<R>> {
        let (hash, home) = self.seek(record.key());
        let tag = hash.tag();
        let tags = self.store.access.tags(self.store.tags(home));
        // In this order nothing is kept in a register for long.
        if tags.matching(tag) != 0 || self.has_elsewhere(home, tag) || self.len >= self.most {
            return self.insert_late(record, home, tag, Self::insert_met);
        }
        let empty = tags.empty();
        if empty == 0 {
            return self.insert_late(record, home, tag, Self::insert_crowded);
        }
        let at = self.store.access.take(home, empty);
        self.store.access.write(self.store.record(home.place(at)), record);
        self.store.access.set_tag(self.store.tags(home), at as usize, Some(tag));
        self.len += 1;
        Ok(())
    }

    /// Has one of the functions below insert a record.
    #[inline(always)]
    fn insert_late(
        &mut self,
        record: R,
        home: Group,
        tag: Tag,
        insert: unsafe fn(&mut Self, Group, Tag) -> Result<(), Refusal>,
    ) -> Result<(), FlowInsertError<R>> {
        let table = &raw mut *self;
        // SAFETY: nothing waits yet, so nothing is lost; and now the record does. Until it does no longer, the table is reached
        // by this pointer only.
        let inserted = unsafe {
            (*table).waiting.at(0).write(record);
            let abandoned = needs_drop::<R>().then(|| Abandoned(table));
            let inserted = insert(&mut *table, home, tag);
            forget(abandoned);
            inserted
        };
        // SAFETY: it waits no longer, if it was inserted; otherwise it still does.
        inserted.map_err(|refusal| match (refusal, unsafe { self.waiting.at(0).read() }) {
            (Refusal::Duplicate, record) => FlowInsertError::Duplicate(record),
            (Refusal::Full, record) => FlowInsertError::Full(record),
        })
    }

    /// Inserts the waiting record, whose tag or kind was met or for which the table has to grow.
    ///
    /// # Safety
    /// A record waits that prefers this group and has this tag.
    #[cold]
    #[inline(never)]
    unsafe fn insert_met(&mut self, home: Group, tag: Tag) -> Result<(), Refusal> {
        // SAFETY: as the caller says, here and below.
        unsafe { if self.len >= self.most { self.insert_grown() } else { self.insert_sought(home, tag) } }
    }

    /// Inserts the waiting record once there are more blocks.
    ///
    /// # Safety
    /// A record waits.
    #[cold]
    #[inline(never)]
    unsafe fn insert_grown(&mut self) -> Result<(), Refusal> {
        if self.len == self.limit {
            // SAFETY: a record waits, says the caller.
            let present = self.find(unsafe { self.waiting.at(0).as_ref() }.key()).is_some();
            return Err(if present { Refusal::Duplicate } else { Refusal::Full });
        }
        resize::grow(self);
        // SAFETY: as the caller says.
        unsafe { self.insert_anew() }
    }

    /// Inserts the waiting record, whose group is to be calculated anew.
    ///
    /// # Safety
    /// A record waits.
    unsafe fn insert_anew(&mut self) -> Result<(), Refusal> {
        // SAFETY: as the caller says.
        let (hash, home) = self.seek(unsafe { self.waiting.at(0).as_ref() }.key());
        // SAFETY: as the caller says.
        unsafe { self.insert_sought(home, hash.tag()) }
    }

    /// Inserts the waiting record unless its key has a record.
    ///
    /// # Safety
    /// As for [`insert_met`](Self::insert_met).
    #[inline(always)]
    unsafe fn insert_sought(&mut self, home: Group, tag: Tag) -> Result<(), Refusal> {
        // SAFETY: a record waits, says the caller, until it is copied.
        let key = unsafe { self.waiting.at(0).as_ref() }.key();
        let tags = self.store.access.tags(self.store.tags(home));
        let matching = tags.matching(tag);
        if self.find_among(home, matching, key, tag, &mut || ()).is_some() {
            return Err(Refusal::Duplicate);
        }
        if self.doubts(matching.count_ones()) {
            // SAFETY: as the caller says.
            return unsafe { self.insert_spread() };
        }
        let empty = tags.empty();
        if empty == 0 {
            // SAFETY: as the caller says.
            return unsafe { self.insert_crowded(home, tag) };
        }
        let place = home.place(self.store.access.take(home, empty));
        // SAFETY: as the caller says; the place is empty.
        unsafe { self.fill(place, tag) };
        Ok(())
    }

    /// Inserts the waiting record, whose key is nowhere and whose group is full.
    ///
    /// # Safety
    /// As for [`insert_met`](Self::insert_met).
    #[cold]
    #[inline(never)]
    unsafe fn insert_crowded(&mut self, home: Group, tag: Tag) -> Result<(), Refusal> {
        if self.doubts(1) {
            // SAFETY: as the caller says.
            return unsafe { self.insert_spread() };
        }
        if let Some(place) = room::evict(self, home) {
            self.store.access.touch(place.block());
            // SAFETY: as the caller says; the place is empty.
            unsafe { self.fill(place, tag) };
        } else if let Some(place) = room::in_block(self, home) {
            self.take(place, home, tag);
            // SAFETY: as above.
            unsafe { self.fill(place, tag) };
        } else {
            // SAFETY: as the caller says.
            return unsafe { self.insert_far(home, tag) };
        }
        Ok(())
    }

    /// As [`insert_crowded`](Self::insert_crowded), where the whole block is full.
    ///
    /// # Safety
    /// As for [`insert_met`](Self::insert_met).
    #[cold]
    #[inline(never)]
    unsafe fn insert_far(&mut self, home: Group, tag: Tag) -> Result<(), Refusal> {
        // SAFETY: a record waits, says the caller.
        let hash = self.hash_of(unsafe { self.waiting.at(0).as_ref() }.key());
        let Some(place) = room::find_far(self, hash) else {
            // SAFETY: as the caller says.
            return if self.despairs() { unsafe { self.insert_spread() } } else { Err(Refusal::Full) };
        };
        if place.block() != home.block() {
            self.met_full_block();
        }
        self.take(place, self.extent.first(hash), tag);
        // SAFETY: as the caller says; the place is empty.
        unsafe { self.fill(place, tag) };
        Ok(())
    }

    /// Makes the table anew and inserts the waiting record then.
    ///
    /// # Safety
    /// A record waits.
    #[cold]
    #[inline(never)]
    unsafe fn insert_spread(&mut self) -> Result<(), Refusal> {
        // SAFETY: a record waits, says the caller. If this goes wrong it still does; otherwise it waits again, perhaps in
        // another table.
        unsafe {
            let record = self.waiting.at(0).cast::<MaybeUninit<R>>().read();
            self.spread_once_more();
            self.waiting.at(0).cast().write(record);
            self.insert_anew()
        }
    }

    /// Puts the waiting record into an empty place, which has been taken.
    ///
    /// # Safety
    /// A record waits that has this tag. From now on it does not. The place is empty.
    #[inline(always)]
    unsafe fn fill(&mut self, place: Place, tag: Tag) {
        // SAFETY: a record, and an empty place of the table, which nobody looks at.
        unsafe { self.store.access.copy(self.waiting.at(0), self.store.record(place)) };
        self.store.access.set_tag(self.store.tags(place.group()), place.at(), Some(tag));
        self.len += 1;
    }
}
