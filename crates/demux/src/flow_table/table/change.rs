//! How records get from one place to another.

use core::ptr::NonNull;

use super::Table;
use crate::flow_table::{
    FlowRecord,
    access::Access,
    hash::Hash,
    place::{Group, Place},
    room,
    tags::Tag,
};

impl<R: FlowRecord, A: Access<R>> Table<R, A> {
    /// Fills an empty place in one of the two blocks of a hash.
    #[inline(always)]
    pub(super) fn put(&mut self, to: Place, hash: Hash, write: impl FnOnce(&A, NonNull<R>)) {
        self.take(to, self.extent.first(hash).group(), hash.tag());
        write(&self.store.access, self.store.record(to));
        self.set_tag(to, Some(hash.tag()));
    }

    /// Says that an empty place in one of the two blocks of a hash is about to be filled, and counts its record.
    #[inline(always)]
    pub(super) fn take(&mut self, place: Place, home: Group, tag: Tag) {
        self.store.access.refill(place);
        if place.group() != home {
            self.leaves(home, tag);
            self.set_stranger(place, true);
        }
    }

    /// Empties a place. Its record is the caller's.
    #[inline(always)]
    pub(super) fn clear(&mut self, from: Place, home: Group, tag: Tag) {
        self.set_tag(from, None);
        if from.group() != home {
            self.returns(home, tag);
            self.set_stranger(from, false);
        }
    }

    /// Says what the tag of a place is, or that the place is empty.
    #[inline(always)]
    pub(in crate::flow_table) fn set_tag(&self, place: Place, tag: Option<Tag>) {
        self.store.access.set_tag(self.store.all_tags(), place, tag);
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
        let home = self.extent.first(hash).group();
        self.store.access.settle(to.group(), home);
        self.clear(from, home, hash.tag());
        self.moved += 1;
    }

    /// As [`relocate`](Self::relocate), of a record that is not in the group it prefers, which is `home`. Whether it gets
    /// there nobody foresees.
    #[inline(always)]
    pub(in crate::flow_table) fn relocate_stranger(
        &mut self,
        from: Place,
        to: Place,
        home: Group,
        hash: Hash,
    ) {
        let stranger = to.group() != home;
        self.store.access.refill(to);
        self.set_stranger(to, stranger);
        // SAFETY: `from` is full and `to` empty, so these are two places, and the record has one owner afterwards.
        unsafe { self.store.access.copy(self.store.record(from), self.store.record(to)) };
        self.set_tag(to, Some(hash.tag()));
        self.store.access.settle(to.group(), home);
        self.set_tag(from, None);
        self.set_stranger(from, false);
        self.returns_if(!stranger, home, hash.tag());
        self.moved += 1;
    }

    /// Puts a record in the place of the one with the same key, which it returns. One of the two can be found at every
    /// moment, if there is room for both.
    pub(in crate::flow_table) fn replace(&mut self, record: R) -> Option<R> {
        let hash = self.hash_of(record.key());
        self.find(record.key())?;
        let room = room::find(self, hash);
        // Making room may have moved it.
        let from = self.find(record.key())?;
        // SAFETY: the place is full; its tag is cleared below, so the record has one owner.
        let old = unsafe { self.store.record(from).read() };
        match room {
            Some(to) => {
                self.put(to, hash, |access, to| access.write(to, record));
                let home = self.extent.first(hash).group();
                self.store.access.settle(to.group(), home);
                self.clear(from, home, hash.tag());
            }
            None => {
                self.clear(from, self.extent.first(hash).group(), hash.tag());
                self.put(from, hash, |access, to| access.write(to, record));
            }
        }
        Some(old)
    }
}
