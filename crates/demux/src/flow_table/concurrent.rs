//! One writer and any number of readers, without locks.

use alloc::sync::Arc;
use core::fmt;

use bytemuck::NoUninit;

use super::{
    FlowInsertError, FlowRecord,
    bits::ones,
    store::Store,
    table::Table,
    watched::{Disturbed, Known, Look, Watched},
};
use crate::{
    ConfigError,
    hashes::Keyed,
    probe::{NoProbe, Probe},
};

/// A record that can be copied while it is being overwritten, and the copy thrown away: without padding and pointers, as
/// the derive macro of [bytemuck](https://docs.rs/bytemuck)'s `NoUninit` sees to. This crate's keys of addresses, and
/// [`Slot`](crate::Slot)s, can be part of it. Its size is a multiple of 8 and its alignment 8 at least, or a program with
/// such a table does not compile.
pub trait PlainRecord: FlowRecord + NoUninit + Send + Sync {}

impl<R: FlowRecord + NoUninit + Send + Sync> PlainRecord for R {}

/// An empty table for at most `limit` records, as the one who changes it and those who look records up see it; see
/// [`FlowTable`](super::FlowTable).
///
/// ```
/// use bytemuck::NoUninit; // with the feature `derive`
/// use throughline_demux::{FlowRecord, Ipv4Flow, flow_table};
///
/// #[derive(Clone, Copy, Debug, NoUninit)]
/// #[repr(C, align(8))]
/// struct Connection {
///     key: Ipv4Flow,
///     socket: u32,
///     mark: u32,
/// }
///
/// impl FlowRecord for Connection {
///     type Key = Ipv4Flow;
///     fn key(&self) -> &Ipv4Flow {
///         &self.key
///     }
/// }
///
/// let key = Ipv4Flow::new([10, 0, 0, 1].into(), 40_000, [10, 0, 0, 2].into(), 80, 6);
/// let (mut writer, reader) = flow_table(1_000, 0x5eed);
/// writer.insert(Connection { key, socket: 7, mark: 0 })?;
/// let found = std::thread::spawn(move || reader.get(&key)).join().expect("it looks");
/// assert_eq!(found.map(|connection| connection.socket), Some(7));
/// # Ok::<(), throughline_demux::FlowInsertError<Connection>>(())
/// ```
///
/// # Panics
/// As [`FlowTable::new`](super::FlowTable::new).
#[must_use]
pub fn flow_table<R: PlainRecord>(limit: usize, seed: u64) -> (FlowWriter<R>, FlowReader<R>) {
    try_flow_table(limit, seed).unwrap_or_else(|error| panic!("a table for {limit} records: {error}"))
}

/// As [`flow_table`].
///
/// # Errors
/// As [`FlowTable::try_new`](super::FlowTable::try_new); what writer and readers have in common is a few hundred bytes more of that
/// kind.
pub fn try_flow_table<R: PlainRecord>(
    limit: usize,
    seed: u64,
) -> Result<(FlowWriter<R>, FlowReader<R>), ConfigError> {
    let table = Table::new(limit, Keyed::new(seed), Watched::new)?;
    let store = Arc::clone(&table.store);
    Ok((FlowWriter { table }, FlowReader { store }))
}

/// Keys looked up together.
const TOGETHER: usize = 32;

/// Finds records while a [`FlowWriter`] changes the table. Clones are further readers of the same table.
///
/// What a lookup returns was true at one moment during the call. It takes no lock, makes nobody wait and waits for
/// nobody, even if the writer is stopped half way through a change; it looks again when the writer has meanwhile filled a
/// place anew that had been emptied, or moved a record, in the key's group of 16 places or one that shares its version, of which a
/// large table has 256 to 512.
pub struct FlowReader<R: PlainRecord> {
    store: Arc<Store<R, Watched>>,
}

impl<R: PlainRecord> FlowReader<R> {
    /// A copy of the record of a key.
    #[inline]
    pub fn get(&self, key: &R::Key) -> Option<R> {
        self.get_probed(key, &mut NoProbe)
    }

    /// As [`get`](Self::get); `probe` sees each record compared, those of lookups that were begun again too.
    #[inline]
    pub fn get_probed(&self, key: &R::Key, probe: &mut impl Probe) -> Option<R> {
        self.store.read(key, || probe.examined())
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
        let mut looks = [Look::NONE; TOGETHER];
        let known = self.store.known();
        for (key, look) in keys.iter().zip(&mut looks) {
            *look = self.store.prefetch_key(key, &known);
        }
        if self.store.has_far_records(&known) {
            self.look_far(&mut looks[..keys.len()], &known);
        } else {
            for look in &mut looks[..keys.len()] {
                self.store.look(look, &known);
                self.store.prefetch_look(look);
            }
        }
        for ((key, look), record) in keys.iter().zip(&looks).zip(records) {
            if let Err(Disturbed) = self.store.settle(key, look, &mut || (), record) {
                *record = self.store.read_anywhere(key, look, &mut || ());
            }
        }
    }

    /// Asks for the record of each key, also of those that are not in their groups.
    #[inline(always)]
    fn look_far(&self, looks: &mut [Look], known: &Known) {
        let mut absent = 0_u32;
        for (n, look) in looks.iter_mut().enumerate() {
            self.store.look(look, known);
            absent |= u32::from(!self.store.prefetch_likely(look)) << n;
        }
        for n in ones(absent) {
            self.store.prefetch_late(&looks[n as usize], known);
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
    pub(super) table: Table<R, Watched>,
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
        self.get_probed(key, &mut NoProbe)
    }

    /// As [`get`](Self::get); `probe` sees each record compared.
    #[inline]
    pub fn get_probed(&self, key: &R::Key, probe: &mut impl Probe) -> Option<&R> {
        self.table.get(key, || probe.examined())
    }

    /// As [`FlowTable::prefetch`](super::FlowTable::prefetch).
    #[inline]
    pub fn prefetch(&self, keys: &[R::Key]) {
        self.table.prefetch(keys);
    }

    /// As [`FlowTable::reserve`](super::FlowTable::reserve); readers go on meanwhile.
    pub fn reserve(&mut self, additional: usize) {
        self.table.reserve(additional);
    }

    /// Adds a record.
    ///
    /// # Errors
    /// See [`FlowInsertError`]; the table is unchanged.
    pub fn insert(&mut self, record: R) -> Result<(), FlowInsertError<R>> {
        self.table.insert_new(record)
    }

    /// Puts a record in the place of the one with the same key, and returns that; or nothing, if there was none.
    pub fn replace(&mut self, record: R) -> Option<R> {
        self.table.replace(record)
    }

    /// Takes a record out.
    pub fn remove(&mut self, key: &R::Key) -> Option<R> {
        self.table.remove(key)
    }

    /// All records, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &R> {
        self.table.iter()
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

    /// As [`FlowTable::moved`](super::FlowTable::moved).
    #[must_use]
    pub fn moved(&self) -> u64 {
        self.table.moved()
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
