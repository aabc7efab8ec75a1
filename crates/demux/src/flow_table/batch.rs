//! Many lookups at once: what one waits for in memory, all wait for together.

use super::{
    FlowRecord,
    access::Access,
    address::{Extent, Hash},
    place::{Group, Place},
    table::Table,
    tags::Tag,
};

/// Keys looked up together; more would not be waited for at once.
const TOGETHER: usize = 32;

/// Where a key is sought: its group and its tag, in words.
type Sought = (Group, u32);

/// Lookups whose keys are not in the groups they prefer, by number.
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
    /// Calls `visit` with the number and the record of each key, in order.
    #[inline(always)]
    pub(super) fn find_batch<'a>(&'a self, keys: &[R::Key], mut visit: impl FnMut(usize, Option<&'a R>)) {
        let (batches, rest) = keys.as_chunks::<TOGETHER>();
        for (n, keys) in batches.iter().enumerate() {
            self.find_together(keys, |at, found| visit(n * TOGETHER + at, found));
        }
        for (n, key) in rest.iter().enumerate() {
            visit(batches.len() * TOGETHER + n, self.get(key, || ()));
        }
    }

    /// The steps of each lookup, among those of the others, so that the memory is never idle. The last step is as short as
    /// can be: the processor waits for records there, and should see the next batch from where it waits.
    #[inline(always)]
    fn find_together<'a>(&'a self, keys: &[R::Key; TOGETHER], mut visit: impl FnMut(usize, Option<&'a R>)) {
        let mut sought = [(Group::NONE, 0); TOGETHER];
        let mut found = [None; TOGETHER];
        let mut late = Late { numbers: [0; TOGETHER], count: 0 };
        if self.extent.is_whole() {
            self.seek_tags(keys, &mut sought, Extent::first_of_whole);
        } else {
            self.seek_tags(keys, &mut sought, Extent::first);
        }
        in_fours(|n| found[n] = self.seek_record(sought[n], n, &mut late));
        for n in late.numbers.iter().take(late.count).map(|&n| usize::from(n)) {
            found[n % TOGETHER] = self.seek_elsewhere(&keys[n % TOGETHER], sought[n % TOGETHER]);
        }
        for (n, (key, &found)) in keys.iter().zip(&found).enumerate() {
            visit(n, self.settle(key, found));
        }
    }

    /// Asks for the tags of the keys' groups; and what their own are.
    #[inline(always)]
    fn seek_tags(
        &self,
        keys: &[R::Key; TOGETHER],
        sought: &mut [Sought; TOGETHER],
        first: impl Fn(Extent, Hash) -> Group,
    ) {
        in_fours(|n| {
            let hash = self.hash_of(&keys[n]);
            let group = first(self.extent, hash);
            self.store.prefetch_tags(group);
            sought[n] = (group, hash.tag().to_word());
        });
    }

    /// The first record whose tag matches, which it asks for; or else for what tells where to look next.
    #[inline(always)]
    fn seek_record(&self, (group, tag): Sought, n: usize, late: &mut Late) -> Option<&R> {
        let matching = self.matching(group, Tag::from_word(tag));
        if matching == 0 {
            self.store.prefetch_elsewhere(group);
            late.push(n);
            return None;
        }
        Some(self.prefetched(group.place(matching.trailing_zeros())))
    }

    /// As [`seek_record`](Self::seek_record), for a key that is not in the group it prefers.
    #[inline(always)]
    fn seek_elsewhere(&self, key: &R::Key, (group, tag): Sought) -> Option<&R> {
        let tag = Tag::from_word(tag);
        if !self.store.elsewhere(group).has(tag) {
            return None;
        }
        let matching = self.matching_in_others(group, tag);
        if matching == 0 {
            return self.find_anew(key);
        }
        Some(self.prefetched(Place::new(group.block(), matching.trailing_zeros())))
    }

    /// The record of a place whose tag matches; it is on its way.
    #[inline(always)]
    fn prefetched(&self, place: Place) -> &R {
        self.store.prefetch_record(place);
        // SAFETY: its tag matches, so the place is full; only `&mut self` writes to records.
        unsafe { self.record(place) }
    }

    /// The record of a key, which is likely to be this one.
    #[inline(always)]
    fn settle<'a>(&'a self, key: &R::Key, found: Option<&'a R>) -> Option<&'a R> {
        if found.is_some_and(|record| record.key() != key) { self.find_anew(key) } else { found }
    }

    #[cold]
    #[inline(never)]
    fn find_anew(&self, key: &R::Key) -> Option<&R> {
        self.get(key, || ())
    }
}

/// Calls `step` with the number of each lookup; four by four, which saves a tenth of the instructions.
#[inline(always)]
fn in_fours(mut step: impl FnMut(usize)) {
    for n in (0..TOGETHER).step_by(4) {
        step(n);
        step(n + 1);
        step(n + 2);
        step(n + 3);
    }
}
