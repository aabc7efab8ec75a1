//! The table for millions of flows.

mod access;
mod address;
#[cfg(all(feature = "huge-pages", target_os = "linux", not(miri)))]
mod ahead;
mod batch;
mod bits;
mod concurrent;
mod elsewhere;
mod hash;
mod locator;
mod place;
mod resize;
mod room;
mod some;
mod space;
mod store;
mod table;
mod tags;
#[cfg(all(test, not(loom)))]
mod tests;
mod watched;

use core::{fmt, hash::Hash};

pub use self::concurrent::{FlowReader, FlowWriter, PlainRecord, flow_table};
use self::{access::Alone, table::Table};
use crate::probe::{NoProbe, Probe};

/// What a [`FlowTable`] keeps: something that holds its key.
pub trait FlowRecord {
    /// What it is found by.
    type Key: Eq + Hash;

    /// The key, which must not change while the record is in a table.
    fn key(&self) -> &Self::Key;
}

impl<K: Eq + Hash, V> FlowRecord for (K, V) {
    type Key = K;

    #[inline(always)]
    fn key(&self) -> &K {
        &self.0
    }
}

/// Why a record was not inserted; the record comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlowInsertError<R> {
    /// There is a record with this key already; it is unchanged.
    #[error("the key is already present")]
    Duplicate(R),
    /// The table's limit is reached.
    #[error("the table's limit is reached")]
    Full(R),
    /// No place is left where this key's record may be, and none can be made: more than a hundred keys have the same hash, or
    /// some have changed theirs.
    #[error("too many keys have the same hash")]
    Crowded(R),
}

/// Millions of flows: records placed by their keys, behind one byte of tag for each.
///
/// ```
/// use throughline_demux::FlowTable;
///
/// let mut flows = FlowTable::new(1_000_000, 0x5eed);
/// flows.insert((*b"10.0.0.1:80", "a connection"))?;
/// assert_eq!(flows.get(b"10.0.0.1:80").map(|flow| flow.1), Some("a connection"));
/// assert!(flows.insert((*b"10.0.0.1:80", "another")).is_err());
/// assert_eq!(flows.remove(b"10.0.0.1:80").map(|flow| flow.1), Some("a connection"));
/// # Ok::<(), throughline_demux::FlowInsertError<([u8; 11], &str)>>(())
/// ```
///
/// # How it works
///
/// Records lie in blocks of 64, their tags (8 bits of the keyed hash each) in one cache line apart from the records. A key
/// prefers a group of 16 places in one block, whose tags are compared in one SIMD instruction; there 95 % of the records
/// are in a full table, and 92 % after long churn, since who comes takes the place of one that prefers another group. The
/// others are elsewhere in the block or in a second one, and the group they prefer counts them, apart for sixteen kinds of
/// keys, so that a lookup knows whether to go on. So it fetches one line of tags, which decides, and if it hits one
/// record: the tags say where it is, no index does. One hit in 40 compares a record in vain, and one miss in 13.
///
/// Of the 16 places a key prefers one. More than half of the records are there in a table just filled, and a sixth after long churn; a
/// lookup or removal by itself asks for that place at once, while the tags that decide are on their way. (With readers beside a
/// writer what they may be looking at decides which place is taken, and nobody asks for one ahead.)
///
/// Tables of up to 512 blocks, 2 MiB of records of 64 bytes, have all of them from the beginning. Larger ones grow by one
/// block at a time (linear hashing): the new block takes its share of one other and of that one's neighbour, and brings
/// home records that found no room before, some hundred at most; those that stay may come to the place they prefer. So no
/// insertion waits for a table to be rebuilt. A record that finds both blocks full makes room by moving others (cuckoo
/// hashing, breadth first), which keeps 83 % of the places in use: 64-byte records take 80 bytes, but 87 to 174 in tables
/// for less than 16,384, whose number of blocks is a power of two, so that there is less to calculate. The blocks are
/// equally likely at the limit, and at its halves, quarters and so on. Between them blocks yet to be split hold up to half
/// more than their share, and a tenth of the records are not where they prefer to be; changes take half as long again or
/// more. Removing clears a tag: there are no tombstones, and the table shrinks as it grew.
///
/// A hash is spread by one more product, so that keys which differ in few bits lie as if by chance. Tables of up to 64 blocks and
/// 300 KiB, unless they have readers, go without it, which saves a tenth of a lookup, until their keys are found to lie badly.
/// Then one insertion makes the table anew, in about 50 us.
///
/// Records with keys of their own, [`FlowRecord`]s, are found with one line fetched. With a [`Slot`](crate::Slot) as
/// the record the table is a [`Locator`](crate::Locator) for an arena, which costs the arena's line besides. Records
/// move within the table when it changes: who needs a place that stays takes an arena.
///
/// # When to take another
///
/// Batches gain most, and tables that outgrow the caches. With a few thousand records hashbrown's table is nearly as fast, and
/// where records come and go one at a time in larger ones. See the
/// [results](https://github.com/throughline/throughline/blob/main/docs/results/2026-11-26/flow-table-sizes.md) beside other
/// tables.
///
/// # Memory and threads
///
/// With readers beside one writer, see [`flow_table`]. Address space for the limit is reserved at once and backed with memory
/// as the table grows, if the system does so; 64 to 128 blocks are the least of one that grows. Who has the memory to spare
/// takes it at the beginning, see [`reserve`](Self::reserve).
pub struct FlowTable<R: FlowRecord> {
    table: Table<R, Alone>,
}

// SAFETY: the table owns its records, and reaches them through `&mut self` or lends them through `&self` only.
unsafe impl<R: FlowRecord + Send> Send for FlowTable<R> {}
// SAFETY: as above; shared borrows lend shared borrows of records.
unsafe impl<R: FlowRecord + Sync> Sync for FlowTable<R> {}

impl<R: FlowRecord> FlowTable<R> {
    /// An empty table for at most `limit` records. Strangers who choose keys must not guess the seed: make it of 64
    /// random bits.
    ///
    /// # Panics
    /// If the limit is more than the address space, or the table's own 3.4 billion, allows.
    #[must_use]
    pub fn new(limit: usize, seed: u64) -> Self {
        Self { table: Table::new(limit, seed, |_, _| Alone) }
    }

    /// Takes the memory for `additional` more records at once, as far as the limit allows, and keeps it when they are gone;
    /// as much as the limit needs, or a half of it, a quarter and so on, so that all blocks are equally likely. With the
    /// feature `huge-pages`, on Linux, it returns when the memory is there; otherwise the system gives what is used.
    ///
    /// For tables whose size is known, or that have memory to spare: they fill several times as fast, no insertion splits a
    /// block, and records come and go in half the time that they take in a table which has grown to a size between those.
    ///
    /// ```
    /// # use throughline_demux::FlowTable;
    /// let mut flows = FlowTable::<(u64, u64)>::new(1_000_000, 0x5eed);
    /// flows.reserve(600_000);
    /// let bytes = flows.bytes();
    /// (0..600_000).for_each(|n| flows.insert((n, n)).expect("there is room"));
    /// assert_eq!(flows.bytes(), bytes);
    /// ```
    pub fn reserve(&mut self, additional: usize) {
        self.table.reserve(additional);
    }

    /// The record of a key.
    #[inline]
    pub fn get(&self, key: &R::Key) -> Option<&R> {
        self.get_probed(key, &mut NoProbe)
    }

    /// As [`get`](Self::get); `probe` sees each record compared.
    #[inline]
    pub fn get_probed(&self, key: &R::Key, probe: &mut impl Probe) -> Option<&R> {
        self.table.get(key, || probe.examined())
    }

    /// The record of a key, to be changed; its key must stay.
    #[inline]
    pub fn get_mut(&mut self, key: &R::Key) -> Option<&mut R> {
        let place = self.table.find(key)?;
        // SAFETY: the place was found full, and `&mut self` is exclusive.
        Some(unsafe { self.table.store.record(place).as_mut() })
    }

    /// The records of many keys, in batches whose waits for memory overlap.
    ///
    /// # Panics
    /// If `records` is shorter than `keys`.
    #[inline]
    pub fn get_batch<'a>(&'a self, keys: &[R::Key], records: &mut [Option<&'a R>]) {
        let records = &mut records[..keys.len()];
        self.table.find_batch(keys, |n, record| records[n] = record);
    }

    /// As [`get_batch`](Self::get_batch), but hands each record out when it is there: `visit` is called with the number
    /// and the record of each key, in order.
    #[inline]
    pub fn visit_batch<'a>(&'a self, keys: &[R::Key], visit: impl FnMut(usize, Option<&'a R>)) {
        self.table.find_batch(keys, visit);
    }

    /// Asks for the memory that removals and insertions of these keys need, which then wait for it together. Worth it before
    /// a few dozen changes, whose memory the nearest cache has room for; [`get_batch`](Self::get_batch) does as much for
    /// lookups. Does nothing in a table of less than 1 MiB, for which the caches are fast enough.
    #[inline]
    pub fn prefetch(&self, keys: &[R::Key]) {
        self.table.prefetch(keys);
    }

    /// Adds a record.
    ///
    /// # Errors
    /// See [`FlowInsertError`]; the table is unchanged.
    #[inline(always)]
    pub fn insert(&mut self, record: R) -> Result<(), FlowInsertError<R>> {
        self.table.insert_new(record)
    }

    /// Takes a record out.
    #[inline(always)]
    pub fn remove(&mut self, key: &R::Key) -> Option<R> {
        self.table.remove(key)
    }

    /// All records, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &R> {
        // SAFETY: the places are full, and `&self` keeps writers away.
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

    /// How many records there may be.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.table.limit()
    }

    /// Bytes of memory in use, the records and the places kept free among them included; not what the feature `huge-pages` has made
    /// ready ahead.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.table.bytes()
    }

    /// Records moved within the table since it was made: what growing, shrinking and making room have cost.
    #[must_use]
    pub fn moved(&self) -> u64 {
        self.table.moved()
    }
}

impl<R: FlowRecord> fmt::Debug for FlowTable<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlowTable")
            .field("len", &self.len())
            .field("limit", &self.limit())
            .finish_non_exhaustive()
    }
}
