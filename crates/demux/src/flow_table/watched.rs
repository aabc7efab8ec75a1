//! Readers look while one side writes: versions tell them what they can't trust.

use alloc::sync::Arc;
use core::{mem::MaybeUninit, ptr::NonNull, sync::atomic::AtomicU64 as Word};

use super::{
    PlainRecord,
    access::Access,
    address::Extent,
    batch::AWAY,
    elsewhere::Elsewhere,
    hash::{Columns, Hash},
    place::{Group, Place},
    space::{Cache, Space},
    store::Store,
    tags::{BLOCK, GROUPS, Tag, TagGroup, Tags},
};
use crate::{
    ConfigError,
    sync::{AtomicU64, Ordering, fence, spin_loop},
};

/// How often something has been touched.
struct Version(AtomicU64);

impl Version {
    /// Counts a touch, before what the caller does next if a release fence follows.
    #[inline(always)]
    fn count(&self) {
        self.0.store(self.0.load(Ordering::Relaxed) + 1, Ordering::Release);
    }

    /// As it is before a reader looks.
    #[inline(always)]
    fn before(&self) -> u64 {
        // SYNC POINT "touch"
        self.0.load(Ordering::Acquire)
    }

    /// Whether what was read since it was `before` can be trusted.
    #[inline(always)]
    fn is_still(&self, before: u64) -> bool {
        // SYNC POINT "touch"
        fence(Ordering::Acquire);
        self.0.load(Ordering::Relaxed) == before
    }
}

/// Those of the groups that are in one place of their rows; and, with the first group of a column, that of all groups of the
/// column. Those of a column are a cache line.
#[repr(align(16))]
struct Versions {
    group: Version,
    column: Version,
}

const _: () = assert!(cfg!(loom) || size_of::<[Versions; GROUPS as usize]>() == 64);

/// Readers look. The group that a key prefers has a version, and its two blocks have one each; which, the key's hash tells,
/// whatever the number of blocks. Who finds a record in the group, or is told there that it is nowhere, verifies the group's;
/// who looks elsewhere, those of the blocks, which change with those of their groups.
///
/// No reader waits for the writer, even if that is stopped half way: what is being written can't be found yet, and
/// what is found stays until the version has changed. The pairings, all with the writer on the left:
///
/// - SYNC POINT "touch": a touch comes between the tag that lets a record be found in a new place and the one that ends
///   its being found in the old; and between the clearing of a tag and the next writing to its place. A reader that saw what
///   comes after sees, after its acquire fence, another version than before; a reader that begins with the new
///   version sees what came before. Where a record moves to is touched, where it was need not be: readers look at places
///   in one order, in the group first, then in the rest of the first block, then in the second. What moves on in this order is
///   met in its new place, and that it may be elsewhere was said before it went. What moves back moves to the group, which is
///   touched; or to the first block, whose version all who look elsewhere verify; or stays in the second, and whoever looks
///   there verifies both.
/// - SYNC POINT "tag": a tag is set after the record was written, and after its key was counted among those that are
///   elsewhere; a count is lowered after the tag was cleared.
/// - SYNC POINT "extent": the number of blocks is published between two touches, the new block being complete; a
///   reader that calculates with the old number finds all records in their old places, or another version.
pub(super) struct Watched {
    versions: Space<Versions>,
    columns: Columns,
    extent: AtomicU64,
    /// Which places of a block were cleared since their group was last touched, a bit each. Only the writer knows them.
    cleared: Space<Word>,
    most_blocks: u32,
    words: Words,
}

/// Stands for the words of all records where interleavings are modelled, in which they are not modelled themselves: who reads a word
/// sees all that were written before, so that the fences do what they do.
struct Words(#[cfg(loom)] AtomicU64);

impl Words {
    fn new() -> Self {
        Self(
            #[cfg(loom)]
            AtomicU64::new(0),
        )
    }

    /// Before a word is read.
    #[inline(always)]
    fn read(&self) {
        #[cfg(loom)]
        self.0.fetch_add(0, Ordering::Relaxed);
    }

    /// Before words are written.
    #[inline(always)]
    fn write(&self) {
        #[cfg(loom)]
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Watched {
    pub(super) fn new(extent: Extent, most_blocks: u32) -> Result<Self, ConfigError> {
        let groups = (extent.columns().count() * GROUPS) as usize;
        let versions = Space::new(groups)?;
        // Loom's atomics can't be made of zeroes.
        #[cfg(loom)]
        for group in 0..groups {
            let none = || Version(AtomicU64::new(0));
            // SAFETY: within the space just made.
            unsafe { versions.at(group).write(Versions { group: none(), column: none() }) };
        }
        Ok(Self {
            versions,
            columns: extent.columns(),
            extent: AtomicU64::new(extent.to_word()),
            cleared: Space::new(most_blocks as usize)?,
            most_blocks,
            words: Words::new(),
        })
    }

    #[inline(always)]
    fn known(&self) -> Known {
        // SYNC POINT "extent"
        self.calculated(self.extent.load(Ordering::Acquire))
    }

    /// The places of a block that were cleared since their group was touched.
    fn cleared_in(&self, block: u32) -> &Word {
        debug_assert!(block < self.most_blocks);
        // SAFETY: there is a word for each block, made of zeroes.
        unsafe { self.cleared.at(block as usize).as_ref() }
    }

    fn calculated(&self, word: u64) -> Known {
        Known { word, extent: Extent::from_word(word, self.columns) }
    }

    /// The number of blocks if it is another by now.
    #[inline(always)]
    fn other_extent(&self, known: &Known) -> Option<Extent> {
        // SYNC POINT "extent"
        let word = self.extent.load(Ordering::Acquire);
        (word != known.word).then(|| self.extent_anew(word))
    }

    #[cold]
    #[inline(never)]
    fn extent_anew(&self, word: u64) -> Extent {
        self.calculated(word).extent
    }

    /// Those of a group of a row, whichever that is.
    #[inline(always)]
    fn versions(&self, in_row: usize) -> &Versions {
        debug_assert!(in_row < (self.columns.count() * GROUPS) as usize);
        // SAFETY: there are some for each group of a row, made in `new`.
        unsafe { self.versions.at(in_row).as_ref() }
    }

    /// The version of a group of a row.
    #[inline(always)]
    fn of_group(&self, in_row: usize) -> &Version {
        &self.versions(in_row).group
    }

    /// The version of a column.
    #[inline(always)]
    fn of_column(&self, column: u32) -> &Version {
        &self.versions((column * GROUPS) as usize).column
    }

    #[inline(always)]
    fn prefetch_version(&self, in_row: usize) {
        self.versions.prefetch(in_row, Cache::First);
    }

    /// Touches a group, and so its column.
    fn touch(&self, group: Group) {
        let in_row = group.block() % self.columns.count() * GROUPS + group.in_block();
        // SYNC POINT "touch"
        self.of_group(in_row as usize).count();
        self.touch_column(group.block());
        let cleared = self.cleared_in(group.block());
        cleared.store(cleared.load(Ordering::Relaxed) & !group.all_places(), Ordering::Relaxed);
    }

    /// Touches the column of a block, for those who look elsewhere than in the group they prefer.
    fn touch_column(&self, block: u32) {
        // SYNC POINT "touch"
        self.of_column(block % self.columns.count()).count();
        fence(Ordering::Release);
    }
}

impl<R: PlainRecord> Access<R> for Watched {
    type Held = Arc<Store<R, Self>>;

    fn hold(store: Store<R, Self>) -> Self::Held {
        Arc::new(store)
    }

    const BLOCK_BYTES: usize = size_of::<Word>();
    // What readers may be looking at decides which place is taken.
    const PREFERS: bool = false;

    #[inline(always)]
    fn refill(&self, place: Place) {
        if self.cleared_in(place.block()).load(Ordering::Relaxed) & place.bit() != 0 {
            self.touch(place.group());
        }
    }

    #[inline(always)]
    fn settle(&self, to: Group, home: Group) {
        if to == home { self.touch(to) } else { self.touch_column(to.block()) }
    }

    fn touch_all(&self, block: u32) {
        Group::of_block(block).for_each(|group| self.touch(group));
    }

    #[inline(always)]
    fn choose(empty: u16, preferred: Place) -> Place {
        preferred.group().first_of(empty)
    }

    /// Places that were cleared need no touch if their group had one since; so these are taken first.
    #[inline(always)]
    fn take(&self, preferred: Place, empty: u16) -> Place {
        let group = preferred.group();
        let cleared = self.cleared_in(group.block()).load(Ordering::Relaxed);
        let others = empty & !((cleared >> group.shift()) as u16);
        if others == 0 {
            self.touch(group);
        }
        group.first_of(if others == 0 { empty } else { others })
    }

    #[inline(always)]
    fn cleared(&self, place: Place) {
        let cleared = self.cleared_in(place.block());
        cleared.store(cleared.load(Ordering::Relaxed) | place.bit(), Ordering::Relaxed);
    }

    fn publish(&self, extent: Extent) {
        // SYNC POINT "extent"
        self.extent.store(extent.to_word(), Ordering::Release);
    }

    #[inline(always)]
    fn tags(&self, group: &TagGroup) -> Tags {
        group.load()
    }

    #[inline(always)]
    fn has(&self, elsewhere: &Elsewhere, tag: Tag) -> bool {
        elsewhere.has(tag)
    }

    #[inline(always)]
    fn set_tag(&self, tags: &Space<TagGroup>, place: Place, tag: Option<Tag>) {
        // SYNC POINT "tag"
        // SAFETY: places are those of the table, whose groups these are.
        unsafe { tags.at(place.group().index()).as_ref() }.set(place.at(), tag);
    }

    fn write(&self, to: NonNull<R>, record: R) {
        self.words.write();
        // SAFETY: a place of the table, and a record; they don't overlap.
        unsafe { write_words(to, NonNull::from(&record)) }
    }

    unsafe fn copy(&self, from: NonNull<R>, to: NonNull<R>) {
        self.words.write();
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
        // SAFETY: within the records, aligned; `NoUninit` says that all bytes are initialised.
        unsafe {
            let word = from.cast::<u64>().add(n).read();
            to.cast::<Word>().add(n).as_ref().store(word, Ordering::Relaxed);
        }
    }
}

/// Copies what may be a record, or parts of several. `between` is called between two words.
///
/// # Safety
/// `from` is a place of a table.
#[inline(always)]
unsafe fn read_words<R: PlainRecord>(from: NonNull<R>, between: impl Fn()) -> MaybeUninit<R> {
    let mut copy = MaybeUninit::<R>::uninit();
    for n in 0..words::<R>() {
        if n > 0 {
            between();
        }
        // SAFETY: within the place and the copy, aligned; the table's memory was zeroed, so it is initialised.
        unsafe {
            let word = from.cast::<Word>().add(n).as_ref().load(Ordering::Relaxed);
            copy.as_mut_ptr().cast::<u64>().add(n).write(word);
        }
    }
    copy
}

/// The number of blocks at some moment, as it was published and as it is used.
pub(super) struct Known {
    word: u64,
    extent: Extent,
}

/// A lookup during which something changed in its blocks: it must be begun again.
pub(super) struct Disturbed;

/// A lookup on its way.
#[derive(Clone, Copy)]
pub(super) struct Look {
    hash: Hash,
    /// The group of a row that the key prefers.
    in_row: usize,
    /// The places where the record is most likely.
    matching: u16,
    group: Group,
    version: u64,
}

impl Look {
    pub(super) const NONE: Self =
        Self { hash: Hash::NONE, in_row: 0, matching: 0, group: Group::NONE, version: 0 };
}

impl<R: PlainRecord> Store<R, Watched> {
    /// A copy of the record of a key. `examined` sees each record compared, and those again that are when the lookup is
    /// begun again.
    #[inline]
    pub(super) fn read(&self, key: &R::Key, mut examined: impl FnMut()) -> Option<R> {
        let known = self.known();
        let mut look = self.aim(key, &known);
        self.look(&mut look, &known);
        let mut found = None;
        match self.settle(key, &look, &mut examined, &mut found) {
            Ok(()) => found,
            Err(Disturbed) => self.read_anywhere(key, &look, &mut examined),
        }
    }

    /// The number of blocks, for lookups that follow.
    #[inline(always)]
    pub(super) fn known(&self) -> Known {
        self.access.known()
    }

    /// Whether most of so many blocks' records come from memory.
    #[inline(always)]
    pub(super) fn has_far_records(&self, known: &Known) -> bool {
        known.extent.count() as usize * BLOCK * size_of::<R>() >= AWAY
    }

    /// Where a key is sought, if the number of blocks is the one that is known.
    #[inline(always)]
    fn aim(&self, key: &R::Key, known: &Known) -> Look {
        let hash = Hash::of(self.keyed(key));
        let (in_row, group) = (self.access.columns.preferred_group(hash), known.extent.first(hash).group());
        Look { hash, in_row, group, ..Look::NONE }
    }

    /// As [`aim`](Self::aim); asks for the version and the tags of the key.
    #[inline(always)]
    pub(super) fn prefetch_key(&self, key: &R::Key, known: &Known) -> Look {
        let look = self.aim(key, known);
        self.access.prefetch_version(look.in_row);
        self.prefetch_tags(look.group, Cache::First);
        look
    }

    /// Finds the places where a key's record is most likely.
    #[inline(always)]
    pub(super) fn look(&self, look: &mut Look, known: &Known) {
        look.version = self.access.of_group(look.in_row).before();
        // Only now, so that it is no older than the version.
        if let Some(extent) = self.access.other_extent(known) {
            look.group = extent.first(look.hash).group();
        }
        look.matching = self.matching(look.group, look.hash);
    }

    /// Asks for the record that is most likely the one.
    #[inline(always)]
    pub(super) fn prefetch_look(&self, look: &Look) {
        self.prefetch_record(look.group.place(look.matching.trailing_zeros()), Cache::First);
    }

    /// As [`prefetch_look`](Self::prefetch_look), and says whether its group has one that may be it; if not, asks for what tells
    /// whether it may be elsewhere.
    #[inline(always)]
    pub(super) fn prefetch_likely(&self, look: &Look) -> bool {
        let absent = look.matching == 0;
        self.prefetch_record_or_elsewhere(
            look.group.first_of(look.matching),
            look.group,
            absent,
            Cache::First,
        );
        !absent
    }

    /// Asks for the record of a key that its group does not have, if another group of its block may; else for the tags of its
    /// second block.
    #[inline(always)]
    pub(super) fn prefetch_late(&self, look: &Look, known: &Known) {
        if !self.elsewhere(look.group).has(look.hash.tag()) {
            return;
        }
        let first_of = |group: Group| {
            let matching = self.matching(group, look.hash);
            (matching != 0).then(|| group.place(matching.trailing_zeros()))
        };
        match look.group.others().find_map(first_of) {
            Some(place) => _ = self.prefetch_record(place, Cache::First),
            None => self.prefetch_tags(known.extent.second(look.hash).group(), Cache::First),
        }
    }

    #[inline(always)]
    fn matching(&self, group: Group, hash: Hash) -> u16 {
        self.tags(group).load().matching(hash.tag())
    }

    /// Reads the places found. Also disturbed if the record may be in none of them.
    #[inline(always)]
    pub(super) fn settle(
        &self,
        key: &R::Key,
        look: &Look,
        examined: &mut impl FnMut(),
        to: &mut Option<R>,
    ) -> Result<(), Disturbed> {
        let unchanged = || self.access.of_group(look.in_row).is_still(look.version);
        if !self.compare(look.group, look.matching, key, unchanged, examined, to)? {
            if self.elsewhere(look.group).has(look.hash.tag()) || !unchanged() {
                return Err(Disturbed);
            }
            *to = None;
        }
        Ok(())
    }

    /// Whether the record of `key` is among these places of a group, and a copy of it.
    #[inline(always)]
    fn compare(
        &self,
        group: Group,
        mut matching: u16,
        key: &R::Key,
        unchanged: impl Fn() -> bool,
        examined: &mut impl FnMut(),
        to: &mut Option<R>,
    ) -> Result<bool, Disturbed> {
        while matching != 0 {
            let place = self.record(group.place(matching.trailing_zeros()));
            // SAFETY: a place of this table.
            let record = unsafe { read_words(place, || self.access.words.read()) };
            if !unchanged() {
                return Err(Disturbed);
            }
            // SAFETY: nothing was written between the tag, which said that the place is full, and the end of copying.
            let record = unsafe { record.assume_init() };
            examined();
            if record.key() == key {
                *to = Some(record);
                return Ok(true);
            }
            matching &= matching - 1;
        }
        Ok(false)
    }

    /// A copy of the record of a key, whatever group of whatever block it is in.
    #[cold]
    #[inline(never)]
    pub(super) fn read_anywhere(&self, key: &R::Key, look: &Look, examined: &mut impl FnMut()) -> Option<R> {
        let mut found = None;
        while self.look_anywhere(key, look, examined, &mut found).is_err() {
            spin_loop();
        }
        found
    }

    /// The key's group first, then the rest of its first block, then its second.
    fn look_anywhere(
        &self,
        key: &R::Key,
        look: &Look,
        examined: &mut impl FnMut(),
        to: &mut Option<R>,
    ) -> Result<(), Disturbed> {
        let column = self.access.of_column(look.in_row as u32 / GROUPS);
        let before = column.before();
        let unchanged = || column.is_still(before);
        let home = self.access.known().extent.first(look.hash).group();
        if self.compare(home, self.matching(home, look.hash), key, unchanged, examined, to)? {
            return Ok(());
        }
        if self.elsewhere(home).has(look.hash.tag()) {
            for group in home.others() {
                if self.compare(group, self.matching(group, look.hash), key, unchanged, examined, to)? {
                    return Ok(());
                }
            }
            return self.look_in_second(key, look, unchanged, examined, to);
        }
        if unchanged() { Ok(()) } else { Err(Disturbed) }
    }

    /// In the second block, once a key was not met in its first, which must be `unchanged`.
    fn look_in_second(
        &self,
        key: &R::Key,
        look: &Look,
        first_unchanged: impl Fn() -> bool,
        examined: &mut impl FnMut(),
        to: &mut Option<R>,
    ) -> Result<(), Disturbed> {
        let column = self.access.of_column(self.access.columns.second(look.hash));
        let before = column.before();
        let unchanged = || first_unchanged() && column.is_still(before);
        // Anew, so that it is no older than this version; the first block is the same, or its version is another.
        let second = self.access.known().extent.second(look.hash).group();
        for group in core::iter::once(second).chain(second.others()) {
            if self.compare(group, self.matching(group, look.hash), key, unchanged, examined, to)? {
                return Ok(());
            }
        }
        if unchanged() { Ok(()) } else { Err(Disturbed) }
    }
}

// SAFETY: the spaces hold tags and counts, which are atomics, and plain records, which one side writes by atomic words.
unsafe impl<R: PlainRecord> Send for Store<R, Watched> {}
// SAFETY: as above.
unsafe impl<R: PlainRecord> Sync for Store<R, Watched> {}
