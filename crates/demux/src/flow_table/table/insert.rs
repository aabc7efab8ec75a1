//! How records get into the table.

use core::{mem::forget, ptr::NonNull};

use super::Table;
use crate::flow_table::{
    FlowInsertError, FlowRecord, Refusal,
    access::Access,
    place::{Group, Place},
    resize, room,
    tags::Tag,
};

/// Drops the record that waits, and counts it no more, when a key's own code panics.
struct Abandoned<R: FlowRecord, A: Access<R>>(*mut Table<R, A>);

impl<R: FlowRecord, A: Access<R>> Drop for Abandoned<R, A> {
    fn drop(&mut self) {
        // SAFETY: made where a record waits, and forgotten where it does no longer; nobody else has the table.
        unsafe {
            (*self.0).room += 1;
            (*self.0).waiting.at(0).drop_in_place();
        }
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
        let (hash, preferred) = self.seek(record.key());
        let (tag, home) = (hash.tag(), preferred.group());
        let tags = self.store.access.tags(self.store.tags(home));
        // Counted before it is there, and in this order, so that nothing is kept in a register for long.
        self.room -= 1;
        if self.room < 0 || tags.matching(tag) != 0 || self.has_elsewhere(home, tag) {
            return self.insert_late(record, preferred, tag, Self::insert_met);
        }
        let empty = tags.empty();
        if empty == 0 {
            return self.insert_late(record, preferred, tag, Self::insert_crowded);
        }
        let place = self.store.access.take(preferred, empty);
        self.store.access.write(self.store.record(place), record);
        self.set_tag(place, Some(tag));
        Ok(())
    }

    /// Has one of the functions below insert a record, for which what else it needs is so.
    #[inline(always)]
    fn insert_late(
        &mut self,
        record: R,
        preferred: Place,
        tag: Tag,
        insert: unsafe fn(&mut Self, Place, Tag) -> Result<(), Refusal>,
    ) -> Result<(), FlowInsertError<R>> {
        // SAFETY: nothing waits yet, so nothing is lost; and now the record does.
        let inserted = unsafe {
            self.wait(record);
            insert(self, preferred, tag)
        };
        // SAFETY: it waits no longer, if it was inserted; otherwise it still does.
        inserted.map_err(|refusal| refusal.of(unsafe { self.waiting() }))
    }

    /// Has the record that waits dropped, and counts it no more, if a key's own code panics in one of the functions below. Not
    /// in [`insert_late`](Self::insert_late), where it would have the short way keep the table in a register to be saved.
    ///
    /// # Safety
    /// A record waits until `insert` has inserted or refused it.
    #[inline(always)]
    unsafe fn guarded(
        &mut self,
        insert: impl FnOnce(&mut Self) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let table = &raw mut *self;
        let abandoned = Abandoned(table);
        // SAFETY: until it returns or panics, the table is reached by this pointer only.
        let inserted = insert(unsafe { &mut *table });
        forget(abandoned);
        inserted
    }

    /// Counts the record that waits no more.
    fn refuse(&mut self, refusal: Refusal) -> Result<(), Refusal> {
        self.room += 1;
        Err(refusal)
    }

    /// Inserts the waiting record, whose tag or kind was met or for which the table has to grow.
    ///
    /// # Safety
    /// A record waits that prefers to be there and has this tag.
    #[cold]
    #[inline(never)]
    unsafe fn insert_met(&mut self, preferred: Place, tag: Tag) -> Result<(), Refusal> {
        // SAFETY: as the caller says.
        unsafe {
            self.guarded(|table| match table.room < 0 {
                true => table.insert_grown(),
                false => table.insert_sought(preferred, tag),
            })
        }
    }

    /// Inserts the waiting record once there are more blocks.
    ///
    /// # Safety
    /// A record waits.
    #[cold]
    #[inline(never)]
    unsafe fn insert_grown(&mut self) -> Result<(), Refusal> {
        if self.len() > self.limit {
            // SAFETY: a record waits, says the caller.
            let present = self.find(unsafe { self.waiting.at(0).as_ref() }.key()).is_some();
            return self.refuse(if present { Refusal::Duplicate } else { Refusal::Full });
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
        let (hash, preferred) = self.seek(unsafe { self.waiting.at(0).as_ref() }.key());
        // SAFETY: as the caller says.
        unsafe { self.insert_sought(preferred, hash.tag()) }
    }

    /// Inserts the waiting record unless its key has a record.
    ///
    /// # Safety
    /// As for [`insert_met`](Self::insert_met).
    #[inline(always)]
    unsafe fn insert_sought(&mut self, preferred: Place, tag: Tag) -> Result<(), Refusal> {
        let home = preferred.group();
        // SAFETY: a record waits, says the caller, until it is copied.
        let key = unsafe { self.waiting.at(0).as_ref() }.key();
        let tags = self.store.access.tags(self.store.tags(home));
        let matching = tags.matching(tag);
        if self.find_among(home, matching, key, tag, &mut || ()).is_some() {
            return self.refuse(Refusal::Duplicate);
        }
        let empty = tags.empty();
        if empty == 0 {
            // SAFETY: as the caller says.
            return unsafe { self.insert_into_full(home, tag) };
        }
        let place = self.store.access.take(preferred, empty);
        // SAFETY: as the caller says; the place is empty.
        unsafe { self.fill(place, tag) };
        Ok(())
    }

    /// Inserts the waiting record, whose key is nowhere and whose group is full.
    ///
    /// # Safety
    /// As for [`insert_met`](Self::insert_met); and the group is full.
    #[cold]
    #[inline(never)]
    unsafe fn insert_crowded(&mut self, preferred: Place, tag: Tag) -> Result<(), Refusal> {
        // SAFETY: as the caller says.
        unsafe { self.guarded(|table| table.insert_into_full(preferred.group(), tag)) }
    }

    /// As [`insert_crowded`](Self::insert_crowded), if something else drops the record when a key's own code panics.
    ///
    /// # Safety
    /// As for [`insert_crowded`](Self::insert_crowded).
    #[inline(always)]
    unsafe fn insert_into_full(&mut self, home: Group, tag: Tag) -> Result<(), Refusal> {
        // SAFETY: the group is full, says the caller.
        if let Some(place) = unsafe { room::evict(self, home) } {
            self.store.access.refill(place);
            // SAFETY: as the caller says; the place is empty.
            unsafe { self.fill(place, tag) };
        } else if let Some(place) = room::in_block(self, home) {
            self.take(place, home, tag);
            // SAFETY: as above.
            unsafe { self.fill(place, tag) };
        } else {
            // SAFETY: as the caller says.
            return unsafe { self.insert_far(tag) };
        }
        Ok(())
    }

    /// As [`insert_crowded`](Self::insert_crowded), where the whole block is full.
    ///
    /// # Safety
    /// As for [`insert_met`](Self::insert_met).
    #[cold]
    #[inline(never)]
    unsafe fn insert_far(&mut self, tag: Tag) -> Result<(), Refusal> {
        // SAFETY: a record waits, says the caller.
        let hash = self.hash_of(unsafe { self.waiting.at(0).as_ref() }.key());
        let Some(place) = room::find_far(self, hash) else {
            return self.refuse(Refusal::Crowded);
        };
        self.take(place, self.extent.first(hash).group(), tag);
        // SAFETY: as the caller says; the place is empty.
        unsafe { self.fill(place, tag) };
        Ok(())
    }

    /// Inserts a copy of a record whose key is nowhere; false if there is no room. If a key's own code panics, it does so before.
    ///
    /// # Safety
    /// There is a record, which from then on is the table's, if all went well.
    #[cold]
    pub(in crate::flow_table) unsafe fn insert_copy(&mut self, from: NonNull<R>) -> bool {
        // SAFETY: as the caller says; it is not copied as long as this is in use.
        let hash = self.hash_of(unsafe { from.as_ref() }.key());
        if self.room == 0 && !resize::grow(self) {
            return false;
        }
        let Some(place) = room::find(self, hash) else { return false };
        self.room -= 1;
        // SAFETY: the place is empty, so these are two.
        self.put(place, hash, |access, to| unsafe { access.copy(from, to) });
        true
    }

    /// Puts the waiting record into an empty place, which has been taken.
    ///
    /// # Safety
    /// A record waits that has this tag. From now on it does not. The place is empty.
    #[inline(always)]
    unsafe fn fill(&mut self, place: Place, tag: Tag) {
        // SAFETY: a record, and an empty place of the table, which nobody looks at.
        unsafe { self.store.access.copy(self.waiting.at(0), self.store.record(place)) };
        self.set_tag(place, Some(tag));
    }
}
