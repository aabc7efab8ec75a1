//! Readers look while one side writes: versions tell them what they can't trust.

use alloc::sync::Arc;
use core::{mem::MaybeUninit, ptr::NonNull, sync::atomic::AtomicU64 as Word};

use super::{
    PlainRecord,
    access::Access,
    address::{Extent, Hash, LEAST_BUCKETS},
    group::{Group, Tags},
    table::{Candidates, Store},
};
use crate::sync::{AtomicU64, Ordering, fence, spin_loop};

/// A version that has a cache line for itself: odd while buckets whose number ends like its own change.
#[repr(align(64))]
struct Version(AtomicU64);

/// Readers look. A key's two buckets have one version each, which the key's hash names whatever the number of
/// buckets. The pairings, all with the writer on the left:
///
/// - SYNC POINT "odd": `begin` stores an odd version before the release fence that precedes all changes; a reader that
///   saw any of these sees, after its acquire fence, that version or a later one.
/// - SYNC POINT "even": `end` releases all changes with an even version; a reader that begins with it sees them all.
/// - SYNC POINT "extent": `publish` releases the number of buckets within a change; a reader that calculates with it
///   sees at least the odd version, unless the change concerns none of its buckets.
pub(super) struct Watched {
    versions: [Version; LEAST_BUCKETS as usize],
    extent: AtomicU64,
}

impl Watched {
    pub(super) fn new() -> Self {
        Self {
            versions: core::array::from_fn(|_| Version(AtomicU64::new(0))),
            extent: AtomicU64::new(Extent::LEAST.to_word()),
        }
    }

    #[inline(always)]
    fn version(&self, bits: u32) -> &AtomicU64 {
        &self.versions[(bits % LEAST_BUCKETS) as usize].0
    }

    /// Both versions of a key, when neither says that something is changing.
    #[inline(always)]
    fn settled(&self, hash: Hash) -> Option<[u64; 2]> {
        // SYNC POINT "even"
        let first = self.version(hash.first()).load(Ordering::Acquire);
        let second = self.version(hash.second()).load(Ordering::Acquire);
        ((first | second) & 1 == 0).then_some([first, second])
    }

    /// Whether what was read since [`settled`](Self::settled) can be trusted.
    #[inline(always)]
    fn unchanged(&self, hash: Hash, versions: [u64; 2]) -> bool {
        // SYNC POINT "odd"
        fence(Ordering::Acquire);
        let first = self.version(hash.first()).load(Ordering::Relaxed);
        let second = self.version(hash.second()).load(Ordering::Relaxed);
        [first, second] == versions
    }
}

impl<R: PlainRecord> Access<R> for Watched {
    type Held = Arc<Store<R, Self>>;

    fn hold(store: Store<R, Self>) -> Self::Held {
        Arc::new(store)
    }

    /// May be nested; the first of the ends then ends all, so nothing changes after it.
    fn begin(&self, bucket: u32) {
        let version = self.version(bucket);
        let now = version.load(Ordering::Relaxed);
        if now & 1 == 0 {
            version.store(now + 1, Ordering::Relaxed);
            // SYNC POINT "odd"
            fence(Ordering::Release);
        }
    }

    fn end(&self, bucket: u32) {
        let version = self.version(bucket);
        let now = version.load(Ordering::Relaxed);
        if now & 1 == 1 {
            // SYNC POINT "even"
            version.store(now + 1, Ordering::Release);
        }
    }

    fn publish(&self, extent: Extent) {
        // SYNC POINT "extent"
        self.extent.store(extent.to_word(), Ordering::Release);
    }

    #[inline(always)]
    fn tags(&self, group: &Group) -> Tags {
        group.load()
    }

    fn write(&self, to: NonNull<R>, record: R) {
        // SAFETY: a place of the table, and a record; they don't overlap.
        unsafe { write_words(to, NonNull::from(&record)) }
    }

    unsafe fn copy(&self, from: NonNull<R>, to: NonNull<R>) {
        // SAFETY: two places of one table, says the caller.
        unsafe { write_words(to, from) }
    }
}

/// Words per record; says at compile time that records can be copied by words.
const fn words<R>() -> usize {
    const { assert!(size_of::<R>().is_multiple_of(8) && align_of::<R>() >= 8, "records are whole words") };
    size_of::<R>() / 8
}

/// Copies a record to where readers may be looking.
///
/// # Safety
/// Both are places for one record, `from` holds one that nobody writes to, and nobody else writes to `to`.
unsafe fn write_words<R: PlainRecord>(to: NonNull<R>, from: NonNull<R>) {
    for n in 0..words::<R>() {
        // SAFETY: within the records, aligned; `PlainRecord` says that all bytes are initialised.
        unsafe {
            let word = from.cast::<u64>().add(n).read();
            to.cast::<Word>().add(n).as_ref().store(word, Ordering::Relaxed);
        }
    }
}

/// Copies what may be a record, or parts of several.
///
/// # Safety
/// `from` is a place of a table.
#[inline(always)]
unsafe fn read_words<R: PlainRecord>(from: NonNull<R>) -> MaybeUninit<R> {
    let mut copy = MaybeUninit::<R>::uninit();
    for n in 0..words::<R>() {
        // SAFETY: within the place and the copy, aligned; the table's memory was zeroed, so it is initialised.
        unsafe {
            let word = from.cast::<Word>().add(n).as_ref().load(Ordering::Relaxed);
            copy.as_mut_ptr().cast::<u64>().add(n).write(word);
        }
    }
    copy
}

/// A lookup that met a change in its buckets and must be begun again.
pub(super) struct Disturbed;

/// A lookup whose candidates are known.
#[derive(Clone, Copy)]
pub(super) struct Look {
    hash: Hash,
    versions: [u64; 2],
    pub(super) candidates: Candidates,
}

impl<R: PlainRecord> Store<R, Watched> {
    /// A copy of the record of a key.
    #[inline]
    pub(super) fn read(&self, key: &R::Key) -> Option<R> {
        let hash = self.hash_of(key);
        loop {
            if let Ok(found) = self.look(hash).and_then(|look| self.settle(key, look)) {
                return found;
            }
            spin_loop();
        }
    }

    /// Asks for the tags of a key. The number of buckets may be out of date: it is asked for again.
    #[inline(always)]
    pub(super) fn prefetch_groups(&self, hash: Hash, extent: Extent) {
        self.groups.prefetch(extent.bucket(hash.first()) as usize);
        self.groups.prefetch(extent.bucket(hash.second()) as usize);
    }

    #[inline(always)]
    pub(super) fn extent(&self) -> Extent {
        // SYNC POINT "extent"
        Extent::from_word(self.access.extent.load(Ordering::Acquire))
    }

    /// The places where a key's record may be.
    #[inline(always)]
    pub(super) fn look(&self, hash: Hash) -> Result<Look, Disturbed> {
        let versions = self.access.settled(hash).ok_or(Disturbed)?;
        let candidates = Candidates::new(hash, self.extent(), |bucket| self.group(bucket).load());
        Ok(Look { hash, versions, candidates })
    }

    /// Reads the places found.
    #[inline(always)]
    pub(super) fn settle(&self, key: &R::Key, look: Look) -> Result<Option<R>, Disturbed> {
        let mut matching = look.candidates.matching;
        while matching != 0 {
            let place = self.place(look.candidates.place(matching));
            // SAFETY: a place of this table.
            let record = unsafe { read_words(place) };
            if !self.access.unchanged(look.hash, look.versions) {
                return Err(Disturbed);
            }
            // SAFETY: nothing changed between the tag, which said that the place is full, and the end of copying.
            let record = unsafe { record.assume_init() };
            if record.key() == key {
                return Ok(Some(record));
            }
            matching &= matching - 1;
        }
        if self.access.unchanged(look.hash, look.versions) { Ok(None) } else { Err(Disturbed) }
    }
}

// SAFETY: the spaces hold tags, which are atomics, and plain records, which one side writes by atomic words.
unsafe impl<R: PlainRecord> Send for Store<R, Watched> {}
// SAFETY: as above.
unsafe impl<R: PlainRecord> Sync for Store<R, Watched> {}
