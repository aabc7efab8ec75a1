//! Small tables, whose keyed hashes are taken as they are for as long as their records lie well.
//!
//! The second product of a hash takes a tenth of a lookup where nothing waits for memory. Without it keys that differ in few
//! bits lie badly under one seed in twenty, and under the others as well as by chance; and a stranger who tries keys has more
//! of a chance to find some that do. So insertions count what they meet. When that may have added half a record to each
//! lookup, all records are looked at; and if they lie as chance would not let them, the table is made anew with the second
//! product, for good. It is so small that no insertion waits for that longer than others wait for a table that grows.

use alloc::boxed::Box;

use super::Table;
use crate::flow_table::{
    FlowRecord, access::Access, address::Shape, bits::ones, place::Place, room, store::Store,
};

/// Bytes of a table that is made anew at once, at most.
const MOST_BYTES: usize = 300 << 10;

/// Its blocks, at most.
const MOST_BLOCKS: u32 = 64;

/// What insertions may meet before a table's records are looked at, besides half their number.
const LEAST_TRUST: u32 = 64;

/// What a full block counts for.
const FULL_BLOCK: u32 = 16;

/// Blocks whose memory is made ready at once.
const BLOCKS_AT_ONCE: usize = 8;

/// A table that could not be made anew is not tried again.
const BLIND: u32 = u32::MAX;

impl<R: FlowRecord, A: Access<R>> Table<R, A> {
    /// An empty table becomes plain if it has all its blocks, and is small enough to be made anew at once.
    pub(super) fn be_plain_if_small(&mut self) {
        let small =
            self.most == self.limit && self.bytes() <= MOST_BYTES && self.extent.count() <= MOST_BLOCKS;
        if small && A::anew().is_some() {
            self.extent = self.extent.plain();
            self.trust = LEAST_TRUST;
        }
    }

    /// Told how many records a new one met with its tag, or that it found its group full: whether the table is to be made
    /// anew before.
    #[inline(always)]
    pub(super) fn doubts(&mut self, met: u32) -> bool {
        self.extent.shape == Shape::Plain && self.doubts_plainly(met)
    }

    #[cold]
    #[inline(never)]
    fn doubts_plainly(&mut self, met: u32) -> bool {
        if self.trust == BLIND {
            return false;
        }
        if let Some(next) = &mut self.next {
            return next.is_ready();
        }
        self.trust = self.trust.saturating_sub(met);
        if self.trust == 0 && self.is_askew() {
            self.next = self.next();
        }
        false
    }

    /// Told that a new record found its block full, which by chance is rare: where it is not, there will soon be no room.
    #[inline(always)]
    pub(super) fn met_full_block(&mut self) {
        if self.despairs() {
            self.trust = self.trust.saturating_sub(FULL_BLOCK);
        }
    }

    /// Whether a record that found no room may find some once the table is made anew.
    pub(super) fn despairs(&self) -> bool {
        self.extent.shape == Shape::Plain && self.trust != BLIND
    }

    /// Looks at all records: whether more than a sixth of them are away from the group they prefer or meet another of their
    /// tag there. Of hashes that know nothing of each other up to a tenth do after long churn, with a deviation of one in a
    /// hundred.
    #[cold]
    fn is_askew(&mut self) -> bool {
        let looks: u32 = self.full_places().map(|place| self.looks_at(place)).sum();
        self.trust = LEAST_TRUST + self.len() as u32 / 2;
        looks as usize > self.len() + self.len() / 6 + LEAST_TRUST as usize / 2
    }

    /// How many records and other groups a lookup of this one may look at.
    fn looks_at(&self, place: Place) -> u32 {
        let hash = self.hash_at(place);
        let home = self.extent.first(hash);
        self.matching(home, hash.tag()).count_ones() + 2 * u32::from(place.group() != home)
    }

    /// Makes a plain table anew, such that all hashes are spread once more; or, if they don't find room like that, lets it be.
    pub(in crate::flow_table) fn spread_once_more(&mut self) {
        match self.next.take().or_else(|| self.next()).and_then(|next| self.copy_to(next)) {
            // From now on the old table has the copies.
            Some(mut next) => core::mem::swap(self, &mut next.table),
            None => self.trust = BLIND,
        }
    }

    /// An empty table like this one, but not plain.
    fn next(&self) -> Option<Box<Next<R, A>>> {
        let access = A::anew()?;
        let (store, extent) = Store::new(self.limit, self.store.function().clone(), |_, _| access);
        Some(Box::new(Next { table: Self::of(store, extent, self.limit), ready: 0 }))
    }

    /// Copies all records to a table that is empty, if it has room for them.
    fn copy_to(&self, mut next: Box<Next<R, A>>) -> Option<Box<Next<R, A>>> {
        let table = &mut next.table;
        for from in self.full_places() {
            // SAFETY: the place is full, and nobody writes to this table meanwhile.
            let hash = table.hash_of(unsafe { self.record(from) }.key());
            let to = room::find(table, hash)?;
            let record = self.store.record(from);
            // SAFETY: a full place and an empty one; of the two records one is forgotten.
            table.put(to, hash, |access, to| unsafe { access.copy(record, to) });
            table.room -= 1;
        }
        table.moved += self.moved + table.len() as u64;
        Some(next)
    }
}

/// A table that is to take the place of another: empty, or with copies of the other's records, which it forgets.
pub(super) struct Next<R: FlowRecord, A: Access<R>> {
    table: Table<R, A>,
    /// Blocks whose memory is there.
    ready: u32,
}

impl<R: FlowRecord, A: Access<R>> Next<R, A> {
    /// Has the system make a little more of the memory ready, which for all of it takes longer than an insertion may; says
    /// whether all is ready.
    fn is_ready(&mut self) -> bool {
        let blocks = self.table.extent.count();
        for block in (self.ready..blocks).take(BLOCKS_AT_ONCE) {
            // SAFETY: the table is empty, and nobody else has it.
            unsafe { self.table.store.touch(block) };
            self.ready += 1;
        }
        self.ready == blocks
    }
}

impl<R: FlowRecord, A: Access<R>> Drop for Next<R, A> {
    fn drop(&mut self) {
        for block in 0..self.table.extent.count() {
            for at in ones(self.table.full(block)) {
                self.table.set_tag(Place::new(block, at), None);
            }
        }
    }
}
