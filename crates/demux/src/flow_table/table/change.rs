//! How records get into the table and out of it.

use core::ptr::NonNull;

use super::Table;
use crate::flow_table::{
    FlowInsertError, FlowRecord,
    access::Access,
    hash::Hash,
    place::{Group, Place},
    resize, room,
    tags::Tag,
};

impl<R: FlowRecord, A: Access<R>> Table<R, A> {
    /// Puts a record into a place, unless its key has one.
    #[inline]
    pub(in crate::flow_table) fn insert_new(&mut self, record: R) -> Result<(), FlowInsertError<R>> {
        let hash = self.hash_of(record.key());
        if self.len >= self.most {
            if self.len == self.limit {
                return Err(self.refuse(record));
            }
            resize::grow(self);
        }
        let home = self.extent.first(hash);
        let tags = self.store.access.tags(self.store.tags(home));
        if self.find_from(home, tags.matching(hash.tag()), record.key(), hash, || (), |_, _| ()).is_some() {
            return Err(FlowInsertError::Duplicate(record));
        }
        let empty = tags.empty();
        if empty == 0 {
            return self.insert_elsewhere(record, hash);
        }
        let place = self.store.access.take(home, empty);
        self.store.access.write(self.store.record(place), record);
        self.set_tag(place, Some(hash.tag()));
        self.len += 1;
        Ok(())
    }

    /// Puts a new record into a place, the group it prefers being full.
    #[cold]
    #[inline(never)]
    fn insert_elsewhere(&mut self, record: R, hash: Hash) -> Result<(), FlowInsertError<R>> {
        let Some(place) = room::find_elsewhere(self, hash) else { return Err(FlowInsertError::Full(record)) };
        self.put(place, hash, |access, to| access.write(to, record));
        self.len += 1;
        Ok(())
    }

    /// Why there is no room for a record in a table that is full.
    #[cold]
    fn refuse(&self, record: R) -> FlowInsertError<R> {
        match self.get(record.key(), || ()) {
            Some(_) => FlowInsertError::Duplicate(record),
            None => FlowInsertError::Full(record),
        }
    }

    /// Fills an empty place in one of the two blocks of a hash.
    #[inline(always)]
    fn put(&mut self, to: Place, hash: Hash, write: impl FnOnce(&A, NonNull<R>)) {
        let home = self.extent.first(hash);
        self.store.access.touch(to.block());
        write(&self.store.access, self.store.record(to));
        if to.group() != home {
            self.store.elsewhere(home).leaves(hash.tag());
            self.set_stranger(to, true);
        }
        self.set_tag(to, Some(hash.tag()));
    }

    /// Empties a place. Its record is the caller's.
    #[inline(always)]
    fn clear(&mut self, from: Place, home: Group, hash: Hash) {
        self.set_tag(from, None);
        if from.group() != home {
            self.came_back(from, home, hash);
        }
    }

    /// Counts of a record that was not in the group it prefers, and is in no place any more.
    #[cold]
    fn came_back(&mut self, from: Place, home: Group, hash: Hash) {
        self.store.elsewhere(home).returns(hash.tag());
        self.set_stranger(from, false);
    }

    #[inline(always)]
    pub(in crate::flow_table) fn set_tag(&self, place: Place, tag: Option<Tag>) {
        self.store.access.set_tag(self.store.tags(place.group()), place.at(), tag);
        if tag.is_none() {
            self.store.access.cleared(place);
        }
    }

    /// Moves a record from a full place to an empty one of its two blocks. It can be found at every moment: first it is
    /// in both.
    pub(in crate::flow_table) fn relocate(&mut self, from: Place, to: Place, hash: Hash) {
        let record = self.store.record(from);
        // SAFETY: `from` is full and `to` empty, so these are two places, and the record has one owner afterwards.
        self.put(to, hash, |access, to| unsafe { access.copy(record, to) });
        self.store.access.touch(to.block());
        self.clear(from, self.extent.first(hash), hash);
        self.moved += 1;
    }

    /// Puts a record in the place of the one with the same key, which it returns. One of the two can be found at every
    /// moment, if there is room for both.
    pub(in crate::flow_table) fn replace(&mut self, record: R) -> Option<R> {
        let hash = self.hash_of(record.key());
        self.find(record.key(), hash)?;
        let room = room::find(self, hash);
        // Making room may have moved it.
        let from = self.find(record.key(), hash)?;
        // SAFETY: the place is full; its tag is cleared below, so the record has one owner.
        let old = unsafe { self.store.record(from).read() };
        match room {
            Some(to) => {
                self.put(to, hash, |access, to| access.write(to, record));
                self.store.access.touch(to.block());
                self.clear(from, self.extent.first(hash), hash);
            }
            None => {
                self.clear(from, self.extent.first(hash), hash);
                self.put(from, hash, |access, to| access.write(to, record));
            }
        }
        Some(old)
    }

    /// Takes out the record of a key.
    #[inline]
    pub(in crate::flow_table) fn remove(&mut self, key: &R::Key) -> Option<R> {
        let hash = self.hash_of(key);
        let home = self.extent.first(hash);
        let matching = self.matching(home, hash.tag());
        let place = self.find_from(home, matching, key, hash, || (), |place, _| place)?;
        self.clear(place, home, hash);
        self.len -= 1;
        // SAFETY: the place held a record and is empty now, so the record is ours alone.
        let record = unsafe { self.store.record(place).read() };
        if self.len < self.least {
            resize::shrink(self);
        }
        Some(record)
    }
}
