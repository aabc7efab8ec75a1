//! How records get out of the table.

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
        let (hash, home) = self.seek(key);
        self.prefetch_preferred(home, hash.tag());
        let place = match self.matching(home, hash.tag()).lowest() {
            // SAFETY: the tag matches, so the place is full; the reference ends here.
            Some(at) if unsafe { self.record(home.place(at)) }.key() == key => {
                self.set_tag(home.place(at), None);
                home.place(at)
            }
            _ => {
                let place = self.clear_late(home, key, hash.tag())?;
                // SAFETY: as below. The next removal will see whether there are too few.
                return Some(unsafe { self.store.record(place).read() });
            }
        };
        self.room += 1;
        // SAFETY: the place held a record and is empty now, so the record is ours alone.
        let record = unsafe { self.store.record(place).read() };
        if self.room > self.most_room {
            resize::shrink(self);
        }
        Some(record)
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
}
