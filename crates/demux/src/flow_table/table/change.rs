//! How records get into the table and out of it.

use core::ptr::NonNull;

use super::Table;
use crate::flow_table::{
    FlowInsertError, FlowRecord,
    access::Access,
    bits::Bits,
    hash::Hash,
    place::{Group, Place},
    resize, room,
    tags::Tag,
};

/// Why a record is not inserted.
enum Refusal {
    Duplicate,
    Full,
    /// The table is to be made anew first.
    Askew,
}

impl<R: FlowRecord, A: Access<R>> Table<R, A> {
    /// Puts a record into a place, unless its key has one.
    ///
    /// Who removes and inserts waits for the records that are removed, for as many at once as the processor sees ahead:
    /// so instructions count, and what is rare is elsewhere, behind one branch.
    #[inline(always)]
    pub(in crate::flow_table) fn insert_new(&mut self, record: R) -> Result<(), FlowInsertError<R>> {
        let (mut hash, home) = self.extent.seek_in_short(self.store.keyed(record.key()));
        let tags = self.store.access.tags(self.store.tags(home));
        let empty = tags.empty();
        let compared = (tags.matching(hash.tag()) != 0) | self.store.elsewhere(home).has(hash.tag());
        let mut place = if compared | (self.len >= self.most) {
            self.place_late(record.key(), home, hash).map(Place::in_group)
        } else if empty == 0 {
            self.place_crowded(home, hash).map(Place::in_group)
        } else {
            Ok((home, self.store.access.take(home, empty)))
        };
        if let Err(Refusal::Askew) = place {
            self.spread_once_more();
            hash = self.hash_of(record.key());
            place = self.place_late(record.key(), self.extent.first(hash), hash).map(Place::in_group);
        }
        match place {
            Ok((group, at)) => {
                self.store.access.write(self.store.record(group.place(at)), record);
                self.store.access.set_tag(self.store.tags(group), at as usize, Some(hash.tag()));
                self.len += 1;
                Ok(())
            }
            Err(Refusal::Duplicate) => Err(FlowInsertError::Duplicate(record)),
            Err(Refusal::Full | Refusal::Askew) => Err(FlowInsertError::Full(record)),
        }
    }

    /// A place for the record of a key, which is about to be written, if it has none.
    #[cold]
    #[inline(never)]
    fn place_late(&mut self, key: &R::Key, mut home: Group, hash: Hash) -> Result<Place, Refusal> {
        if self.len >= self.most {
            if self.len == self.limit {
                return Err(if self.find(key).is_some() { Refusal::Duplicate } else { Refusal::Full });
            }
            resize::grow(self);
            home = self.extent.first(hash);
        }
        let tags = self.store.access.tags(self.store.tags(home));
        let matching = tags.matching(hash.tag());
        if self.find_from(home, matching, key, hash, || (), |_, _| ()).is_some() {
            return Err(Refusal::Duplicate);
        }
        if self.doubts(matching.count_ones()) {
            return Err(Refusal::Askew);
        }
        match tags.empty() {
            0 => self.place_crowded(home, hash),
            empty => Ok(home.place(self.store.access.take(home, empty))),
        }
    }

    /// As [`place_late`](Self::place_late), where the key is nowhere and the group it prefers is full.
    #[cold]
    #[inline(never)]
    fn place_crowded(&mut self, home: Group, hash: Hash) -> Result<Place, Refusal> {
        if self.doubts(1) {
            return Err(Refusal::Askew);
        }
        let Some(place) = room::find_elsewhere(self, home, hash) else {
            return Err(if self.despairs() { Refusal::Askew } else { Refusal::Full });
        };
        if place.block() != home.block() {
            self.met_full_block();
        }
        self.take(place, self.extent.first(hash), hash);
        Ok(place)
    }

    /// Fills an empty place in one of the two blocks of a hash.
    #[inline(always)]
    pub(super) fn put(&mut self, to: Place, hash: Hash, write: impl FnOnce(&A, NonNull<R>)) {
        self.take(to, self.extent.first(hash), hash);
        write(&self.store.access, self.store.record(to));
        self.set_tag(to, Some(hash.tag()));
    }

    /// Says that an empty place in one of the two blocks of a hash is about to be filled, and counts its record.
    #[inline(always)]
    fn take(&mut self, place: Place, home: Group, hash: Hash) {
        self.store.access.touch(place.block());
        if place.group() != home {
            self.store.elsewhere(home).leaves(hash.tag());
            self.set_stranger(place, true);
        }
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
        self.store.access.touch(to.block());
        self.set_stranger(to, stranger);
        // SAFETY: `from` is full and `to` empty, so these are two places, and the record has one owner afterwards.
        unsafe { self.store.access.copy(self.store.record(from), self.store.record(to)) };
        self.set_tag(to, Some(hash.tag()));
        self.store.access.touch(to.block());
        self.set_tag(from, None);
        self.set_stranger(from, false);
        self.store.elsewhere(home).returns_if(!stranger, hash.tag());
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

    /// Takes out the record of a key. Always inlined: who has no use for the record does not read it then.
    #[inline(always)]
    pub(in crate::flow_table) fn remove(&mut self, key: &R::Key) -> Option<R> {
        let (hash, home) = self.extent.seek_in_short(self.store.keyed(key));
        let place = match self.matching(home, hash.tag()).lowest() {
            // SAFETY: the tag matches, so the place is full; the reference ends here.
            Some(at) if unsafe { self.record(home.place(at)) }.key() == key => {
                self.store.access.set_tag(self.store.tags(home), at as usize, None);
                self.store.access.cleared(home.place(at));
                home.place(at)
            }
            _ => {
                let place = self.clear_late(key, home, hash)?;
                // SAFETY: as below. The next removal will see whether there are too few.
                return Some(unsafe { self.store.record(place).read() });
            }
        };
        self.len -= 1;
        // SAFETY: the place held a record and is empty now, so the record is ours alone.
        let record = unsafe { self.store.record(place).read() };
        if self.len < self.least {
            resize::shrink(self);
        }
        Some(record)
    }

    /// Empties the place of a key whose record is not in the first matching place of the group it prefers. The record is
    /// the caller's.
    #[cold]
    #[inline(never)]
    fn clear_late(&mut self, key: &R::Key, home: Group, hash: Hash) -> Option<Place> {
        let matching = self.matching(home, hash.tag());
        let place = self.find_late(home, matching.others(), key, hash, &mut || ())?;
        self.clear(place, home, hash);
        self.len -= 1;
        Some(place)
    }
}
