//! Many lookups at once: what one waits for in memory, all wait for together.

use super::{FlowRecord, access::Access, address::Half, table::Table};

/// Keys looked up together; more would not be waited for at once.
const TOGETHER: usize = 32;

/// Lookups whose keys are not in the halves they prefer, by number.
struct Late {
    numbers: [u8; TOGETHER],
    count: usize,
}

impl Late {
    #[inline(always)]
    fn push(&mut self, n: usize) {
        // There are never more than it holds; this way the compiler knows it too.
        self.numbers[self.count % TOGETHER] = n as u8;
        self.count += 1;
    }
}

impl<R: FlowRecord, A: Access<R>> Table<R, A> {
    /// Sets `found` to the record of each key.
    #[inline(always)]
    pub(super) fn find_batch<'a>(&'a self, keys: &[R::Key], found: &mut [Option<&'a R>]) {
        let (batches, rest) = keys.as_chunks::<TOGETHER>();
        let (in_batches, found) = found.split_at_mut(batches.len() * TOGETHER);
        for (keys, found) in batches.iter().zip(in_batches.as_chunks_mut().0) {
            self.find_together(keys, found);
        }
        for (key, found) in rest.iter().zip(found) {
            *found = self.get(key, || ());
        }
    }

    /// The steps of each lookup, among those of the others, so that the memory is never idle. The last step is as short as
    /// can be: the processor waits for records there, and should see the next batch from where it waits.
    #[inline(always)]
    fn find_together<'a>(&'a self, keys: &[R::Key; TOGETHER], found: &mut [Option<&'a R>; TOGETHER]) {
        let mut sought = [(Half(0), 0); TOGETHER];
        let mut late = Late { numbers: [0; TOGETHER], count: 0 };
        for (key, sought) in keys.iter().zip(&mut sought) {
            *sought = self.seek_tags(key);
        }
        for n in 0..TOGETHER {
            found[n] = self.seek_record(sought[n], n, &mut late);
        }
        for n in late.numbers.into_iter().take(late.count).map(usize::from) {
            found[n] = self.seek_elsewhere(&keys[n], sought[n]);
        }
        for (key, found) in keys.iter().zip(found) {
            if found.is_some_and(|record| record.key() != key) {
                *found = self.find_anew(key);
            }
        }
    }

    /// Asks for the tags of a key's half; and what its own is: as a word, as it will be loaded, since the processor must
    /// not wait until a shorter one is out of its store buffer.
    #[inline(always)]
    fn seek_tags(&self, key: &R::Key) -> (Half, u32) {
        let hash = self.hash_of(key);
        let half = self.extent.first(hash);
        self.store.prefetch_tags(half);
        (half, hash.tag().into())
    }

    /// The first place whose tag matches; asks for its record, or else for what tells where to look next.
    #[inline(always)]
    fn seek_record(&self, (half, tag): (Half, u32), n: usize, late: &mut Late) -> Option<&R> {
        let matching = self.matching(half, tag as u16);
        if matching == 0 {
            self.store.prefetch_tags(half.other());
            self.store.prefetch_elsewhere(half);
            late.push(n);
            return None;
        }
        Some(self.prefetched(half, matching))
    }

    /// As [`seek_record`](Self::seek_record), for a key that is not in the half it prefers.
    #[inline(always)]
    fn seek_elsewhere(&self, key: &R::Key, (half, tag): (Half, u32)) -> Option<&R> {
        if !self.store.elsewhere(half).has(tag as u16) {
            return None;
        }
        let matching = self.matching(half.other(), tag as u16);
        if matching == 0 {
            return self.find_anew(key);
        }
        Some(self.prefetched(half.other(), matching))
    }

    /// The first record of these, which is on its way.
    #[inline(always)]
    fn prefetched(&self, half: Half, matching: u32) -> &R {
        let place = half.place(matching.trailing_zeros());
        self.store.prefetch_record(place);
        // SAFETY: its tag matches, so the place is full; only `&mut self` writes to records.
        unsafe { self.record(place) }
    }

    #[cold]
    #[inline(never)]
    fn find_anew(&self, key: &R::Key) -> Option<&R> {
        self.get(key, || ())
    }
}
