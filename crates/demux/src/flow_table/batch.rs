//! Many lookups at once: what one waits for in memory, all wait for together.

use core::{hint::select_unpredictable, ptr::NonNull};

use super::{
    FlowRecord,
    access::Access,
    address::{Extent, Shape},
    bits::{Bits, ones},
    hash::Hash,
    place::{Group, Place},
    room,
    some::{Matching, Some32, TOGETHER},
    space::Cache,
    table::Table,
    tags::Tag,
};

/// Bytes of a table from which on it pays to ask for what changes need: a cache that is large enough for less is nearly as
/// fast as asking.
const FAR: usize = 1 << 20;

/// Bytes of a table from which on most of its records come from memory.
pub(super) const AWAY: usize = 16 << 20;

/// Bytes of a table from which on its tags do so too, and waiting for two records takes longer than being wrong about one.
const FARTHER: usize = 128 << 20;

/// Fewer lookups than these are made one by one: what they would wait for together is less than what it takes to begin.
const FEWEST: usize = 12;

/// The same where records do not come from memory.
const FEWEST_NEAR: usize = 20;

/// Keys that are compared with the next, to see whether the batch asks for the same ones again and again.
const LOOKED_AT: [usize; 4] = [0, TOGETHER / 4, TOGETHER / 2, TOGETHER * 3 / 4];

/// What a batch waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waits {
    /// What is not far.
    Little,
    /// Records from memory; tags are not far.
    ForRecords,
    /// Few lines from memory, which are asked for again and again: there is room for records that may be the wrong ones to
    /// be on their way while tags are.
    ForFew,
    /// More lines from memory than can be on their way to the first cache. Of few, asked for again and again, some
    /// processors do not fetch all to the second.
    ForMany,
}

impl Waits {
    fn cache(self) -> Cache {
        if self == Self::ForMany { Cache::Second } else { Cache::First }
    }
}

/// Where a key is sought: its group and its tag.
type Sought = (Group, Tag);

impl<R: FlowRecord, A: Access<R>> Table<R, A> {
    /// Calls `visit` with the number and the record of each key, in order.
    #[inline(always)]
    pub(super) fn find_batch<'a>(&'a self, keys: &[R::Key], visit: impl FnMut(usize, Option<&'a R>)) {
        if keys.len() < self.fewest() {
            self.find_each(keys, visit);
        } else if let Ok(keys) = keys.try_into() {
            self.find_whole(keys, visit);
        } else {
            self.find_many(keys, visit);
        }
    }

    /// Looks up one key after the other.
    #[inline(always)]
    fn find_each<'a>(&'a self, keys: &[R::Key], mut visit: impl FnMut(usize, Option<&'a R>)) {
        keys.iter().enumerate().for_each(|(n, key)| visit(n, self.get(key, || ())));
    }

    /// A whole batch. Apart, so that few keys, looked up where the caller is, have the registers for themselves.
    #[inline(never)]
    fn find_whole<'a>(&'a self, keys: &[R::Key; TOGETHER], visit: impl FnMut(usize, Option<&'a R>)) {
        self.find_some(keys, visit);
    }

    /// Whole batches and part of one, or only that.
    #[inline(never)]
    fn find_many<'a>(&'a self, keys: &[R::Key], mut visit: impl FnMut(usize, Option<&'a R>)) {
        let (batches, rest) = keys.as_chunks::<TOGETHER>();
        for (n, keys) in batches.iter().enumerate() {
            self.find_whole(keys, |at, found| visit(n * TOGETHER + at, found));
        }
        let visit = |n: usize, found| visit(batches.len() * TOGETHER + n, found);
        if rest.len() < self.fewest() {
            self.find_each(rest, visit);
        } else {
            self.find_some(rest, visit);
        }
    }

    /// Fewer lookups than these are made one by one.
    #[inline(always)]
    fn fewest(&self) -> usize {
        if self.bytes() < AWAY { FEWEST_NEAR } else { FEWEST }
    }

    /// A batch, or part of one.
    #[inline(always)]
    fn find_some<'a>(&'a self, keys: &[R::Key], visit: impl FnMut(usize, Option<&'a R>)) {
        // As constants: there is code for each, which need not ask.
        match self.waits_for(keys) {
            Waits::Little => self.find_together(keys, Waits::Little, visit),
            Waits::ForRecords => self.find_together(keys, Waits::ForRecords, visit),
            Waits::ForFew => self.find_together(keys, Waits::ForFew, visit),
            Waits::ForMany => self.find_together(keys, Waits::ForMany, visit),
        }
    }

    /// What these keys' lookups wait for.
    #[inline(always)]
    fn waits_for(&self, keys: &[R::Key]) -> Waits {
        if self.bytes() < FARTHER {
            return if self.bytes() < AWAY { Waits::Little } else { Waits::ForRecords };
        }
        let are_same = |n: usize| keys.get(n + 1).is_some_and(|next| keys[n] == *next);
        let same = LOOKED_AT.iter().filter(|&&n| are_same(n)).count();
        if same < LOOKED_AT.len() / 2 { Waits::ForMany } else { Waits::ForFew }
    }

    /// Asks for what lookups, removals and insertions of these keys will need.
    pub(super) fn prefetch(&self, keys: &[R::Key]) {
        if self.bytes() >= FAR {
            keys.chunks(TOGETHER).for_each(|keys| self.prefetch_together(keys));
        }
    }

    /// Tags and counts first; then the record of each key, or the place for it; then what will be moved for its sake.
    #[inline(always)]
    fn prefetch_together(&self, keys: &[R::Key]) {
        let mut sought = [(Place::NONE, Tag::of(0)); TOGETHER];
        let from = |bytes| if self.bytes() < bytes { Cache::First } else { Cache::Second };
        let (tags_to, records_to) = (from(FARTHER), from(AWAY));
        for (key, sought) in keys.iter().zip(&mut sought) {
            let (hash, preferred) = self.seek(key);
            self.store.prefetch_tags(preferred.group(), tags_to);
            self.prefetch_counts(preferred.group(), tags_to);
            *sought = (preferred, hash.tag());
        }
        let mut crowded = 0;
        for (n, &(preferred, tag)) in sought[..keys.len()].iter().enumerate() {
            let group = preferred.group();
            let tags = self.store.access.tags(self.store.tags(group));
            let (matching, empty) = (tags.matching(tag), tags.empty());
            // As many keys come as go: nothing that a branch would foresee.
            let free = A::choose(empty, preferred);
            // The place after the group's, if neither is there.
            let place = select_unpredictable(matching == 0, free, group.first_of(matching));
            self.store.prefetch_record(place, records_to);
            crowded |= u64::from(matching | empty == 0) << n;
        }
        for n in ones(crowded) {
            room::prefetch(self, sought[n as usize % TOGETHER].0.group(), records_to);
        }
    }

    /// The steps of each lookup, among those of the others, so that the memory is never idle. The last step is as short as
    /// can be: the processor waits for records there, and should see the next batch from where it waits.
    #[inline(always)]
    fn find_together<'a>(
        &'a self,
        keys: &[R::Key],
        waits: Waits,
        mut visit: impl FnMut(usize, Option<&'a R>),
    ) {
        // Here, so that what follows need not look.
        assert!(keys.len() <= TOGETHER, "a batch at most");
        let to = waits.cache();
        let mut sought = [(Group::NONE, Tag::of(0)); TOGETHER];
        match self.extent.shape {
            Shape::Whole => self.seek_tags(keys, &mut sought, waits, Extent::seek_in_whole),
            Shape::Split => self.seek_tags(keys, &mut sought, waits, Extent::seek_in_split),
        }
        let mut found = [None; TOGETHER];
        let mut matching = Matching([0; TOGETHER]);
        let (len, sought) = (keys.len(), &sought[..keys.len()]);
        in_fours(sought, &mut matching.0[..len], &mut found[..len], |&(group, tag), matching, found| {
            *matching = self.matching(group, tag);
            *found = Some(self.seek_record(group, *matching, waits));
        });
        // Apart, so that each loop does one thing.
        let [absent, several] = matching.none_and_several(keys.len());
        let next = |n: usize| sought[n].0.first_of(matching.0[n].others());
        for n in several.iter() {
            self.store.prefetch_record(next(n), to);
        }
        let mut second = Some32::NONE;
        for n in absent.iter() {
            found[n] = self.seek_late(&keys[n], sought[n], n, &mut second);
        }
        for n in second.iter() {
            found[n] = self.seek_second(&keys[n]);
        }
        // Who waits for these does not see the next batch meanwhile.
        if self.bytes() < FARTHER {
            for n in several.iter() {
                found[n] = found[n].map(|first| self.either(&keys[n], first, next(n)));
            }
        }
        for (n, (key, &found)) in keys.iter().zip(&found).enumerate() {
            visit(n, self.settle(key, found));
        }
    }

    /// Asks for the tags of the keys' groups; and what their own are.
    #[inline(always)]
    fn seek_tags(
        &self,
        keys: &[R::Key],
        sought: &mut [Sought; TOGETHER],
        waits: Waits,
        seek: impl Fn(Extent, u64) -> (Hash, Place),
    ) {
        in_fours(keys, &mut sought[..keys.len()], &mut [(); TOGETHER][..keys.len()], |key, sought, ()| {
            let (hash, preferred) = seek(self.extent, self.store.keyed(key));
            self.store.prefetch_tags(preferred.group(), waits.cache());
            if waits == Waits::ForFew {
                self.prefetch_preferred(preferred);
            }
            *sought = (preferred.group(), hash.tag());
        });
    }

    /// Asks for the first of the records whose tags match, and says where it is. If there is none it is that of another place,
    /// not to be looked at: where records are far, what tells whether the key may be elsewhere is asked for instead.
    #[inline(always)]
    fn seek_record(&self, group: Group, matching: u16, waits: Waits) -> NonNull<R> {
        let first = group.first_of(matching);
        if waits == Waits::Little {
            return self.store.prefetch_record(first, waits.cache());
        }
        self.store.prefetch_record_or_elsewhere(first, group, matching == 0, waits.cache())
    }

    /// The first of two records if it is that of the key, else the other: both are on their way, and nobody foresees which
    /// it is.
    #[inline(always)]
    fn either(&self, key: &R::Key, first: NonNull<R>, next: Place) -> NonNull<R> {
        // SAFETY: a place whose tag matched, which is full; only `&mut self` writes to records.
        let same = unsafe { first.as_ref() }.key() == key;
        select_unpredictable(same, first, self.store.record(next))
    }

    /// Asks for what tells where the record may be if it is not in its group.
    #[inline(always)]
    fn seek_late(
        &self,
        key: &R::Key,
        (group, tag): Sought,
        n: usize,
        second: &mut Some32,
    ) -> Option<NonNull<R>> {
        if !self.has_elsewhere(group, tag) {
            return None;
        }
        let others = self.matching_in_others(group, tag).lowest();
        if others.is_none() {
            second.insert(n);
            self.seek_second_tags(key);
        }
        others.map(|at| self.store.prefetch_record(Place::new(group.block(), at), Cache::First))
    }

    /// Asks for the tags of the key's second block.
    #[cold]
    #[inline(never)]
    fn seek_second_tags(&self, key: &R::Key) {
        self.store.prefetch_tags(self.extent.second(self.hash_of(key)).group(), Cache::First);
    }

    /// Asks for the first record of the second block whose tag matches.
    #[cold]
    #[inline(never)]
    fn seek_second(&self, key: &R::Key) -> Option<NonNull<R>> {
        let hash = self.hash_of(key);
        let second = self.extent.second(hash).group();
        let matching = self.matching_in_block(second, hash.tag()).lowest();
        matching.map(|at| self.store.prefetch_record(second.first_of_block().place(at), Cache::First))
    }

    /// The record of a key, which is likely to be this one.
    #[inline(always)]
    fn settle<'a>(&'a self, key: &R::Key, found: Option<NonNull<R>>) -> Option<&'a R> {
        // SAFETY: a place whose tag matched, which is full; only `&mut self` writes to records.
        let found = found.map(|record| unsafe { record.as_ref() });
        if found.is_some_and(|record| record.key() != key) { self.find_anew(key) } else { found }
    }

    #[cold]
    #[inline(never)]
    fn find_anew(&self, key: &R::Key) -> Option<&R> {
        self.get(key, || ())
    }
}

/// Calls `step` for each lookup, with what is known of it and two things to be known; four by four, which saves a tenth of the
/// instructions.
#[inline(always)]
fn in_fours<A, B, C>(from: &[A], to: &mut [B], and_to: &mut [C], mut step: impl FnMut(&A, &mut B, &mut C)) {
    let (from, from_rest) = from.as_chunks::<4>();
    let (to, to_rest) = to.as_chunks_mut::<4>();
    let (and_to, and_to_rest) = and_to.as_chunks_mut::<4>();
    for ((from, to), and_to) in from.iter().zip(to).zip(and_to) {
        step(&from[0], &mut to[0], &mut and_to[0]);
        step(&from[1], &mut to[1], &mut and_to[1]);
        step(&from[2], &mut to[2], &mut and_to[2]);
        step(&from[3], &mut to[3], &mut and_to[3]);
    }
    for ((from, to), and_to) in from_rest.iter().zip(to_rest).zip(and_to_rest) {
        step(from, to, and_to);
    }
}
