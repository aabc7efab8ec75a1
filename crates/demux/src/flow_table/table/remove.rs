//! How records get out of the table.

use core::ptr::NonNull;

use super::Table;
use crate::flow_table::{
    FlowRecord,
    access::Access,
    bits::Bits,
    place::{Group, Place},
    resize,
    tags::Tag,
};

impl<R: FlowRecord, A: Access<R>> Table<R, A> {
    /// Takes out the record of a key. Always inlined: who has no use for the record does not read it then.
    #[inline(always)]
    pub(in crate::flow_table) fn remove(&mut self, key: &R::Key) -> Option<R> {
        // SAFETY: nothing is done before.
        self.unlink(key).map(|record| unsafe { record.read() })
    }

    /// As [`remove`](Self::remove), but the record is to be read before anything else is done.
    #[inline(always)]
    pub(in crate::flow_table) fn unlink(&mut self, key: &R::Key) -> Option<NonNull<R>> {
        let (hash, preferred) = self.seek(key);
        self.prefetch_preferred(preferred);
        let home = preferred.group();
        let place = match self.matching(home, hash.tag()).lowest() {
            // SAFETY: the tag matches, so the place is full; the reference ends here.
            Some(at) if unsafe { self.record(home.place(at)) }.key() == key => {
                self.set_tag(home.place(at), None);
                home.place(at)
            }
            _ => {
                let place = self.clear_late(home, key, hash.tag())?;
                // The next removal will see whether there are too few.
                return Some(self.store.record(place));
            }
        };
        self.room += 1;
        if self.room > self.most_room { self.shrink_without(place) } else { Some(self.store.record(place)) }
    }

    /// Shrinks the table after a record was taken out, which is put where those are that wait.
    #[cold]
    #[inline(never)]
    fn shrink_without(&mut self, place: Place) -> Option<NonNull<R>> {
        // SAFETY: the place held a record and is empty now, so the record is ours alone; and none waits.
        unsafe {
            let record = self.store.record(place).read();
            resize::shrink(self);
            self.wait(record);
            Some(self.waiting.at(0))
        }
    }

    /// Empties the place of a key whose record is not in the first matching place of the group it prefers. The record is
    /// the caller's.
    #[cold]
    #[inline(never)]
    fn clear_late(&mut self, home: Group, key: &R::Key, tag: Tag) -> Option<Place> {
        let others = self.matching(home, tag).others();
        let place = self.find_among(home, others, key, tag, &mut || ())?;
        self.clear(place, home, tag);
        self.room += 1;
        Some(place)
    }

    /// Takes out the record of a full place; no block is given up.
    pub(in crate::flow_table) fn take_out(&mut self, place: Place) -> R {
        let hash = self.hash_at(place);
        // SAFETY: the place is full and is cleared at once, so the record has one owner.
        let record = unsafe { self.store.record(place).read() };
        self.clear(place, self.extent.first(hash).group(), hash.tag());
        self.room += 1;
        record
    }

    /// Gives up blocks, if there are too many, after so many records were [taken out](Self::take_out): one, and another for each 16
    /// records, since where a table shrinks a block has 24.
    pub(in crate::flow_table) fn shrink_after(&mut self, gone: usize) {
        for _ in 0..=gone / 16 {
            let blocks = self.extent.count();
            if self.room > self.most_room {
                resize::shrink(self);
            }
            if self.extent.count() == blocks {
                return;
            }
        }
    }
}
