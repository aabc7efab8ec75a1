//! The table for millions of flows.

mod access;
mod address;
#[cfg(all(feature = "huge-pages", target_os = "linux", not(miri)))]
mod ahead;
mod batch;
mod bits;
mod concurrent;
mod elsewhere;
mod few;
mod hash;
mod locator;
mod place;
mod proxy;
mod resize;
mod room;
mod some;
mod space;
mod store;
mod sweep;
mod table;
mod tags;
#[cfg(all(test, not(loom)))]
mod tests;
mod watched;

use core::{fmt, hash::Hash, ptr::NonNull};

use self::{
    access::Alone,
    few::{Few, Spot, are_few},
    table::Table,
};
pub use self::{
    concurrent::{FlowReader, FlowWriter, PlainRecord, flow_table, try_flow_table},
    sweep::Sweep,
};
use crate::{ConfigError, hashes::Keyed, probe::Probe};

/// Bytes that a record may take besides itself in a table at its limit.
const BESIDES: usize = 16;

/// What a [`FlowTable`] keeps: something that holds its key, aligned to 64 bytes at most.
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
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FlowInsertError<R> {
    /// There is a record with this key already; it is unchanged.
    #[error("the key is already present")]
    Duplicate(R),
    /// The table's limit is reached.
    #[error("the table's limit is reached")]
    Full(R),
    /// No place is left where this key's record may be, and none can be made: too many keys have the same hash, some have changed
    /// theirs, or there is no memory. More than a hundred keys of one hash are too many; where all hashes are those of many keys,
    /// fewer are: of 300,000 flows some 20 of each if room for all is [reserved](FlowTable::reserve), and a dozen if the table grows.
    #[error("too many keys have the same hash")]
    Crowded(R),
}

impl<R> fmt::Debug for FlowInsertError<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Duplicate(_) => "Duplicate",
            Self::Full(_) => "Full",
            Self::Crowded(_) => "Crowded",
        };
        f.debug_tuple(name).finish_non_exhaustive()
    }
}

/// Why a record is not inserted.
#[derive(Clone, Copy)]
enum Refusal {
    Duplicate,
    Full,
    Crowded,
}

impl Refusal {
    /// With the record.
    fn of<R>(self, record: R) -> FlowInsertError<R> {
        match self {
            Self::Duplicate => FlowInsertError::Duplicate(record),
            Self::Full => FlowInsertError::Full(record),
            Self::Crowded => FlowInsertError::Crowded(record),
        }
    }

    /// And the record.
    fn apart<R>(error: FlowInsertError<R>) -> (Self, R) {
        match error {
            FlowInsertError::Duplicate(record) => (Self::Duplicate, record),
            FlowInsertError::Full(record) => (Self::Full, record),
            FlowInsertError::Crowded(record) => (Self::Crowded, record),
        }
    }
}

/// Flows by the dozen or by the million: records placed by their keys, behind one byte of tag for each.
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
/// Flows that are idle expire by [`sweep`](Self::sweep), a few at a time.
///
/// Records with keys of their own, [`FlowRecord`]s, are found with one line fetched. With a [`Slot`](crate::Slot) as
/// the record the table is a [`Locator`](crate::Locator) for an arena, which costs the arena's line besides. Records
/// move within the table when it changes: who needs a place that stays takes an arena.
///
/// # Many flows
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
/// hashing, breadth first), which keeps 82 % of the places in use: 64-byte records take 80 bytes (with readers, from 2,000
/// records on: then a block more or less does not matter). The blocks are
/// equally likely at the limit, and at its halves, quarters and so on. Between them blocks yet to be split hold up to half
/// more than their share, and a tenth of the records are not where they prefer to be; changes take half as long again or
/// more. So a table of up to 8 MiB of records hurries from one such size to the next, with a block for every nine records
/// instead of 53; unless that is its limit, it takes up to 160 bytes for a record of 64. Removing clears a tag: there are no
/// tombstones, and the table shrinks as it grew.
///
/// # Few flows
///
/// Up to 16,000 records of 1 MiB at most, if they have no readers, lie in the caches: what counts there is how many steps a
/// lookup takes. So they are found by hash and displace. Keys fall into buckets, three to six for each record. Of a bucket the
/// table keeps where its window of 128 places begins and how many records it has, in two bytes; where in the window a key lies
/// its hash says. A lookup reads the one, adds the other, sees by the tag whether there is a record of this bucket, and compares
/// it: one record for each hit, one for each 2,000 hits in vain.
///
/// A record that comes into an empty bucket goes anywhere. One that comes into a bucket with others, as one in five does, sends
/// away who is in its place, if that one is alone in its bucket; or the bucket moves to another window. If two of a
/// bucket want the same place, all of it is kept in a list aside: one record of 200 or more on average. Up to 98.4 % of the places
/// are in use; memory for the limit is taken at the beginning, 16 bytes a record and the record, and there is nothing to grow.
///
/// One that goes and one that comes take 20 to 40 ns, as two lookups one at a time do.
///
/// # Keys
///
/// Hashes are keyed by the seed, and spread by one more product, so that keys which differ in few bits lie as if by chance.
/// Tables for few go without it, which saves a tenth of a lookup, until their keys are found to lie badly, as those that
/// differ in few bits do for one seed in twelve. Then one insertion makes the table anew, which takes up to a millisecond
/// for 16,000 records. In the same way a table becomes one for many if more than a hundred of its records share their hashes with
/// others, since their keys' own [`Hash`] leaves out what they differ in.
///
/// # When to take another
///
/// Batches gain most, and tables that outgrow the caches. The limit decides between memory and the time of changes: at the limit
/// a table takes 16 bytes besides a record, where hashbrown's takes up to 70 besides one of 64, and changes take up to a fifth
/// longer than there. With a limit 60 % above the flows, [reserved](Self::reserve), it takes as much as one of hashbrown's that
/// is half full, and lookups, changes one at a time and changes in batches are as fast or faster; see the
/// [results](https://github.com/throughline/throughline/blob/main/docs/results/2026-11-27/flow-table-memory.md). With a few
/// thousand records hashbrown's table is nearly as fast. It is faster by up to two fifths in batches where so few are in a table
/// for [many](#many-flows), whose limit is more than 16,000
/// ([results](https://github.com/throughline/throughline/blob/main/docs/results/2026-11-26/flow-table-limits.md)).
///
/// # Memory and threads
///
/// With readers beside one writer, see [`flow_table`]. Address space for the limit is reserved at once and backed with memory
/// as a table of [many](#many-flows) grows, if the system does so; 64 to 128 blocks are the least. Who has the memory to spare
/// takes it at the beginning, see [`reserve`](Self::reserve); who has to go on without, see [`try_new`](Self::try_new).
pub struct FlowTable<R: FlowRecord> {
    kind: Kind<R>,
}

/// How many records there may be decides how they are found.
enum Kind<R: FlowRecord> {
    Many(Table<R, Alone>),
    Few(Few<R, false>),
    /// Few whose keys lie badly otherwise.
    FewSpread(Few<R, true>),
}

/// Does the same with whatever kind of table it is.
macro_rules! with {
    ($kind:expr, $table:ident => $work:expr) => {
        match $kind {
            Kind::Many($table) => $work,
            Kind::Few($table) => $work,
            Kind::FewSpread($table) => $work,
        }
    };
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
    /// Where [`try_new`](Self::try_new) fails.
    #[must_use]
    pub fn new(limit: usize, seed: u64) -> Self {
        Self::try_new(limit, seed).unwrap_or_else(|error| panic!("a table for {limit} records: {error}"))
    }

    /// As [`new`](Self::new), for who has to go on without the table.
    ///
    /// # Errors
    /// [`ConfigError::TooLarge`] if the limit is more than the address space, or the table's own 3.4 billion, allows;
    /// [`ConfigError::OutOfMemory`]. Afterwards an insertion that lacks memory is refused as [`Crowded`](FlowInsertError::Crowded).
    /// As with any collection, the process ends when there are not even the few hundred bytes that a thread of the feature
    /// `huge-pages` takes.
    pub fn try_new(limit: usize, seed: u64) -> Result<Self, ConfigError> {
        let kind = match are_few::<R>(limit) {
            true => Kind::Few(Few::new(limit, Keyed::new(seed))?),
            false => Kind::Many(Table::new(limit, Keyed::new(seed), |_, _| Ok(Alone))?),
        };
        Ok(Self { kind })
    }

    /// Takes the memory for `additional` more records at once, as far as the limit allows, and keeps it when they are gone;
    /// as much as the limit needs, or a half of it, a quarter and so on, so that all blocks are equally likely. With the
    /// feature `huge-pages`, on Linux, it returns when the memory is there; otherwise the system gives what is used. Tables
    /// for [few](Self#few-flows) records have all their memory from the beginning, and here it is made ready.
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
        match &mut self.kind {
            Kind::Many(table) => table.reserve(additional),
            Kind::Few(table) => table.make_ready_for(additional),
            Kind::FewSpread(table) => table.make_ready_for(additional),
        }
    }

    /// The record of a key.
    // Called as a function it would fetch anew what a loop keeps in registers: lookups that do not wait for one another would take
    // up to half as long again.
    #[inline(always)]
    pub fn get(&self, key: &R::Key) -> Option<&R> {
        with!(&self.kind, table => table.get(key, || ()))
    }

    /// As [`get`](Self::get); `probe` sees each record compared.
    #[inline]
    pub fn get_probed(&self, key: &R::Key, probe: &mut impl Probe) -> Option<&R> {
        with!(&self.kind, table => table.get(key, || probe.examined()))
    }

    /// The record of a key, to be changed; its key must stay.
    #[inline(always)]
    pub fn get_mut(&mut self, key: &R::Key) -> Option<&mut R> {
        match &mut self.kind {
            // SAFETY: the place was found full, and nobody else looks at it.
            Kind::Many(table) => table.find(key).map(|place| unsafe { table.store.record(place).as_mut() }),
            Kind::Few(table) => table.get_mut(key),
            Kind::FewSpread(table) => table.get_mut(key),
        }
    }

    /// The record of a key, to be changed; if there is none, the one that `new` makes for it.
    ///
    /// ```
    /// # use throughline_demux::FlowTable;
    /// let mut packets = FlowTable::<(u32, u64)>::new(1_000, 0x5eed);
    /// for flow in [7, 8, 7] {
    ///     packets.get_or_insert_with(&flow, || (flow, 0))?.1 += 1;
    /// }
    /// assert_eq!(packets.get(&7), Some(&(7, 2)));
    /// # Ok::<(), throughline_demux::FlowInsertError<(u32, u64)>>(())
    /// ```
    ///
    /// # Errors
    /// See [`FlowInsertError`]; the table is unchanged.
    ///
    /// # Panics
    /// If the new record has another key.
    #[inline]
    pub fn get_or_insert_with(
        &mut self,
        key: &R::Key,
        new: impl FnOnce() -> R,
    ) -> Result<&mut R, FlowInsertError<R>> {
        let found = match self.get_mut(key).map(NonNull::from) {
            Some(found) => found,
            None => self.insert_for(key, new())?,
        };
        // SAFETY: a record, and the table is borrowed as a whole.
        Ok(unsafe { { found }.as_mut() })
    }

    /// Where the new record of a key is.
    #[inline(never)]
    fn insert_for(&mut self, key: &R::Key, record: R) -> Result<NonNull<R>, FlowInsertError<R>> {
        assert!(record.key() == key, "the new record has another key");
        self.insert(record)?;
        Ok(self.get_mut(key).map(NonNull::from).expect("it was inserted, and its key is still the same"))
    }

    /// The records of many keys, in batches of 32 whose waits for memory overlap. Those left over are a smaller batch, or are looked
    /// up one by one if they are fewer than twelve, or than 20 in a table of less than 16 MiB.
    ///
    /// # Panics
    /// If `records` is shorter than `keys`.
    #[inline]
    pub fn get_batch<'a>(&'a self, keys: &[R::Key], records: &mut [Option<&'a R>]) {
        let records = &mut records[..keys.len()];
        self.visit_batch(keys, |n, record| records[n] = record);
    }

    /// As [`get_batch`](Self::get_batch), but hands each record out when it is there: `visit` is called with the number
    /// and the record of each key, in order.
    #[inline]
    pub fn visit_batch<'a>(&'a self, keys: &[R::Key], visit: impl FnMut(usize, Option<&'a R>)) {
        with!(&self.kind, table => table.find_batch(keys, visit));
    }

    /// Asks for the memory that removals and insertions of these keys need, which then wait for it together. Worth it before
    /// a few dozen changes, whose memory the nearest cache has room for; [`get_batch`](Self::get_batch) does as much for
    /// lookups. Does nothing in a table for [few](Self#few-flows), or of less than 1 MiB: the caches are fast enough.
    #[inline]
    pub fn prefetch(&self, keys: &[R::Key]) {
        if let Kind::Many(table) = &self.kind {
            table.prefetch(keys);
        }
    }

    /// Adds a record.
    ///
    /// # Errors
    /// See [`FlowInsertError`]; the table is unchanged.
    #[inline(always)]
    pub fn insert(&mut self, record: R) -> Result<(), FlowInsertError<R>> {
        // Those that are not inserted at once are in a function apart, for which nothing is kept in registers.
        let spot = match &mut self.kind {
            Kind::Many(table) => return table.insert_new(record),
            Kind::Few(table) => match table.insert_at_once(record) {
                None => return Ok(()),
                Some(spot) => spot,
            },
            Kind::FewSpread(table) => match table.insert_at_once(record) {
                None => return Ok(()),
                Some(spot) => spot,
            },
        };
        // SAFETY: it waits.
        match unsafe { self.insert_waiting(spot) } {
            Ok(()) => Ok(()),
            // SAFETY: it waits still.
            Err(refusal) => Err(unsafe { self.refused(refusal) }),
        }
    }

    /// Inserts the record that waits in a table for few. If its keys lie badly, their hashes are spread once more before; and if
    /// they lie badly even so, it becomes a table for many.
    ///
    /// # Safety
    /// A record waits, which belongs there. Afterwards it does only if it is refused.
    #[inline(never)]
    unsafe fn insert_waiting(&mut self, spot: Spot) -> Result<(), Refusal> {
        match &mut self.kind {
            // SAFETY: as the caller says.
            Kind::Few(table) => match unsafe { table.insert_waiting(spot) } {
                // SAFETY: it was refused, so it waits still.
                Err(Refusal::Crowded) => unsafe { self.insert_spread() },
                done => done,
            },
            // SAFETY: as above.
            Kind::FewSpread(table) => match unsafe { table.insert_waiting(spot) } {
                // SAFETY: as above.
                Err(Refusal::Crowded) => unsafe { self.insert_among_many() },
                done => done,
            },
            Kind::Many(_) => unreachable!("they are few"),
        }
    }

    /// Spreads hashes once more, and inserts the record that waits.
    ///
    /// # Safety
    /// A record waits in a table whose keys lie badly. Afterwards it does only if it is refused.
    #[cold]
    #[inline(never)]
    unsafe fn insert_spread(&mut self) -> Result<(), Refusal> {
        let Kind::Few(table) = &mut self.kind else { unreachable!("its hashes are not spread yet") };
        // SAFETY: a record waits, says the caller.
        let record = unsafe { table.waiting() };
        let Some(spread) = table.spread() else {
            table.wait(record);
            // SAFETY: it waits again.
            return unsafe { self.insert_among_many() };
        };
        self.kind = Kind::FewSpread(spread);
        let Kind::FewSpread(table) = &mut self.kind else { unreachable!("just made") };
        match table.insert_at_once(record) {
            None => Ok(()),
            // SAFETY: it waits.
            Some(spot) => unsafe { self.insert_waiting(spot) },
        }
    }

    /// Makes it a table for many, and inserts the record that waits.
    ///
    /// # Safety
    /// As for [`insert_spread`](Self::insert_spread).
    #[cold]
    #[inline(never)]
    unsafe fn insert_among_many(&mut self) -> Result<(), Refusal> {
        // SAFETY: a record waits, says the caller.
        let many = unsafe {
            match &mut self.kind {
                Kind::Few(table) => table.as_many(),
                Kind::FewSpread(table) => table.as_many(),
                Kind::Many(_) => unreachable!("they are few"),
            }
        };
        let (many, record) = many.ok_or(Refusal::Crowded)?;
        self.kind = Kind::Many(many);
        let Kind::Many(table) = &mut self.kind else { unreachable!("just made") };
        table.insert_new(record).map_err(|error| {
            let (refusal, record) = Refusal::apart(error);
            table.wait(record);
            refusal
        })
    }

    /// Gives a record back that waits.
    ///
    /// # Safety
    /// One does; from now on it does not.
    #[cold]
    unsafe fn refused(&mut self, refusal: Refusal) -> FlowInsertError<R> {
        // SAFETY: as the caller says.
        refusal.of(unsafe {
            match &mut self.kind {
                Kind::Few(table) => table.waiting(),
                Kind::FewSpread(table) => table.waiting(),
                // It has become one.
                Kind::Many(table) => table.waiting(),
            }
        })
    }

    /// Takes a record out.
    #[inline(always)]
    pub fn remove(&mut self, key: &R::Key) -> Option<R> {
        let record = with!(&mut self.kind, table => table.unlink(key))?;
        // SAFETY: it is ours, and nothing was done since it was taken out.
        Some(unsafe { record.read() })
    }

    /// All records, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &R> {
        let (few, spread, many) = match &self.kind {
            Kind::Few(table) => (Some(table.iter()), None, None),
            Kind::FewSpread(table) => (None, Some(table.iter()), None),
            Kind::Many(table) => (None, None, Some(table.iter())),
        };
        few.into_iter().flatten().chain(spread.into_iter().flatten()).chain(many.into_iter().flatten())
    }

    /// How many records there are.
    #[must_use]
    pub fn len(&self) -> usize {
        with!(&self.kind, table => table.len())
    }

    /// Whether there is no record.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many records there may be.
    #[must_use]
    pub fn limit(&self) -> usize {
        with!(&self.kind, table => table.limit())
    }

    /// Bytes of memory in use, the records and the places kept free among them included; not what the feature `huge-pages` has made
    /// ready ahead.
    #[must_use]
    pub fn bytes(&self) -> usize {
        with!(&self.kind, table => table.bytes())
    }

    /// Records moved within the table since it was made: what growing, shrinking and making room have cost.
    #[must_use]
    pub fn moved(&self) -> u64 {
        with!(&self.kind, table => table.moved())
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
