//! One writer and any number of readers, without locks.

use alloc::sync::Arc;
use core::fmt;

use super::{
    FlowInsertError, FlowRecord,
    address::Hash,
    table::{Store, Table},
    watched::{Disturbed, Look, Watched},
};

/// A record that can be copied while it is being overwritten, and the copy thrown away.
///
/// # Safety
/// It has no padding: every byte of it is initialised. (Its size is a multiple of 8 and its alignment 8 at least,
/// which is checked when it is used.)
pub unsafe trait PlainRecord: FlowRecord + Copy + Send + Sync {}

/// An empty table for at most `limit` records, as the one who changes it and those who look records up see it; see
/// [`FlowTable`](super::FlowTable).
///
/// # Panics
/// As [`FlowTable::new`](super::FlowTable::new).
#[must_use]
pub fn flow_table<R: PlainRecord>(limit: usize, seed: u64) -> (FlowWriter<R>, FlowReader<R>) {
    let table = Table::new(limit, seed, Watched::new());
    let store = Arc::clone(&table.store);
    (FlowWriter { table }, FlowReader { store })
}

/// Keys looked up together.
const TOGETHER: usize = 32;

/// Finds records while a [`FlowWriter`] changes the table. Clones are further readers of the same table.
///
/// What a lookup returns was true at one moment during the call. It takes no lock and makes nobody wait; it
/// looks again when the writer has changed one of the key's buckets meanwhile, or a bucket that shares one of their 64
/// versions.
pub struct FlowReader<R: PlainRecord> {
    store: Arc<Store<R, Watched>>,
}

impl<R: PlainRecord> FlowReader<R> {
    /// A copy of the record of a key.
    #[inline]
    pub fn get(&self, key: &R::Key) -> Option<R> {
        self.store.read(key)
    }

    /// Copies of the records of many keys, in batches whose waits for memory overlap.
    ///
    /// # Panics
    /// If `records` is shorter than `keys`.
    pub fn get_batch(&self, keys: &[R::Key], records: &mut [Option<R>]) {
        let records = &mut records[..keys.len()];
        for (keys, records) in keys.chunks(TOGETHER).zip(records.chunks_mut(TOGETHER)) {
            self.get_together(keys, records);
        }
    }

    #[inline(always)]
    fn get_together(&self, keys: &[R::Key], records: &mut [Option<R>]) {
        let mut hashes = [Hash(0); TOGETHER];
        let mut looks: [Option<Look>; TOGETHER] = [None; TOGETHER];
        let extent = self.store.extent();
        for (key, hash) in keys.iter().zip(&mut hashes) {
            *hash = self.store.hash_of(key);
            self.store.prefetch_groups(*hash, extent);
        }
        for (hash, look) in hashes[..keys.len()].iter().zip(&mut looks) {
            *look = self.store.look(*hash).ok();
            if let Some(look) = look {
                self.store.prefetch(look.candidates.place(look.candidates.matching));
            }
        }
        for ((key, look), record) in keys.iter().zip(looks).zip(records) {
            let found = look.ok_or(Disturbed).and_then(|look| self.store.settle(key, look));
            *record = found.unwrap_or_else(|Disturbed| self.store.read(key));
        }
    }
}

impl<R: PlainRecord> Clone for FlowReader<R> {
    fn clone(&self) -> Self {
        Self { store: Arc::clone(&self.store) }
    }
}

impl<R: PlainRecord> fmt::Debug for FlowReader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlowReader").finish_non_exhaustive()
    }
}

/// The one who changes a table that [`FlowReader`]s look into.
pub struct FlowWriter<R: PlainRecord> {
    table: Table<R, Watched>,
}

impl<R: PlainRecord> FlowWriter<R> {
    /// One more reader.
    #[must_use]
    pub fn reader(&self) -> FlowReader<R> {
        FlowReader { store: Arc::clone(&self.table.store) }
    }

    /// The record of a key.
    #[inline]
    pub fn get(&self, key: &R::Key) -> Option<&R> {
        let place = self.table.find(key, self.table.hash_of(key), || ())?;
        // SAFETY: the place was found full, and `&self` keeps the only writer from writing.
        Some(unsafe { self.table.record(place) })
    }

    /// Adds a record.
    ///
    /// # Errors
    /// See [`FlowInsertError`]; the table is unchanged.
    pub fn insert(&mut self, record: R) -> Result<(), FlowInsertError<R>> {
        self.table.insert_new(record).map(|_| ())
    }

    /// Puts a record in the place of the one with the same key, and returns that; or nothing, if there was none.
    pub fn replace(&mut self, record: R) -> Option<R> {
        let place = self.table.find(record.key(), self.table.hash_of(record.key()), || ())?;
        Some(self.table.replace(place, record))
    }

    /// Takes a record out.
    pub fn remove(&mut self, key: &R::Key) -> Option<R> {
        let place = self.table.find(key, self.table.hash_of(key), || ())?;
        Some(self.table.remove(place))
    }

    /// All records, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &R> {
        // SAFETY: the places are full, and `&self` keeps the only writer from writing.
        self.table.full_places().map(|place| unsafe { self.table.record(place) })
    }

    /// How many records there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether there is no record.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of memory in use, as of [`FlowTable::bytes`](super::FlowTable::bytes).
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.table.bytes()
    }
}

impl<R: PlainRecord> fmt::Debug for FlowWriter<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlowWriter").field("len", &self.len()).finish_non_exhaustive()
    }
}
