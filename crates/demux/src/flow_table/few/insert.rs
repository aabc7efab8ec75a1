//! How records get into a table for few.

use core::{
    mem::{MaybeUninit, forget},
    ptr::NonNull,
};

use super::{Few, Spot, free::offsets, window::Window};
use crate::flow_table::{FlowRecord, Refusal, proxy::Proxy};

/// Whether a record of such a size and alignment consists of words. Some processors align those to half of their size.
#[inline(always)]
pub(super) fn consists_of_words([size, align]: [usize; 2], word_align: usize) -> bool {
    align >= word_align && size.is_multiple_of(size_of::<u64>())
}

/// Copies a record that has just been written, word by word: the processor hands on what was written in words to who asks for
/// words, but has who asks for more at once wait until it is in the cache.
///
/// # Safety
/// These are two places that do not overlap.
#[inline(always)]
unsafe fn copy_by_words<R>(from: NonNull<R>, to: NonNull<R>) {
    type Word = MaybeUninit<u64>;
    let is_whole = consists_of_words([size_of::<R>(), align_of::<R>()], align_of::<Word>());
    if !is_whole || size_of::<R>() > 128 {
        // SAFETY: as the caller says.
        return unsafe { to.copy_from_nonoverlapping(from, 1) };
    }
    let (from, to) = (from.cast::<Word>(), to.cast::<Word>());
    for n in 0..size_of::<R>() / size_of::<Word>() {
        // SAFETY: words of the two places, which consist of such.
        unsafe { to.add(n).write(from.add(n).read_volatile()) };
    }
}

/// Drops the record that waits when a key's own code panics.
struct Abandoned<R>(NonNull<R>);

impl<R> Drop for Abandoned<R> {
    fn drop(&mut self) {
        // SAFETY: made where a record waits, and forgotten where it does no longer.
        unsafe { self.0.drop_in_place() }
    }
}

impl<R: FlowRecord, const SPREAD: bool> Few<R, SPREAD> {
    /// Puts a record where it waits until it is inserted.
    #[inline(always)]
    pub(in crate::flow_table) fn wait(&mut self, record: R) {
        // SAFETY: a place for one, and none waits yet.
        unsafe { self.waiting.at(0).write(record) };
    }

    /// Inserts a record if its bucket has no others and a free place is known. Otherwise the record waits, and the answer is
    /// where it belongs. Nothing is called here, so that no registers need to be kept.
    #[inline(always)]
    pub(in crate::flow_table) fn insert_at_once(&mut self, record: R) -> Option<Spot> {
        let spot = self.spot(record.key());
        if self.window(spot.bucket) == Window::NOWHERE
            && self.len < self.limit
            && let Some(place) = self.recent_free()
        {
            self.set_window(spot.bucket, Window::new(place - spot.offset, 1));
            // SAFETY: the place is free.
            unsafe { self.put(spot, place, |to| to.write(record)) };
            return None;
        }
        self.wait(record);
        Some(spot)
    }

    /// The record that waits.
    ///
    /// # Safety
    /// One does; from now on it does not.
    pub(in crate::flow_table) unsafe fn waiting(&mut self) -> R {
        // SAFETY: as the caller says.
        unsafe { self.waiting.at(0).read() }
    }

    /// Inserts the record that waits.
    ///
    /// # Safety
    /// One does, which belongs there. Afterwards it does only if it is refused.
    #[inline(never)]
    pub(in crate::flow_table) unsafe fn insert_waiting(&mut self, spot: Spot) -> Result<(), Refusal> {
        // SAFETY: there is a place for one.
        let waiting = unsafe { self.waiting.at(0) };
        let abandoned = Abandoned(waiting);
        // SAFETY: a record waits, says the caller.
        let inserted = unsafe { self.insert_from(spot, waiting) };
        forget(abandoned);
        inserted
    }

    /// Fills a place in the window of a bucket, which counts it already.
    ///
    /// # Safety
    /// The place is free, and `write` writes a record to it, which from now on is the table's.
    #[inline(always)]
    unsafe fn put(&mut self, spot: Spot, place: usize, write: impl FnOnce(NonNull<R>)) {
        write(self.record(place));
        self.occupy(place, spot.bucket);
        self.len += 1;
    }

    /// As [`put`](Self::put), of a copy.
    ///
    /// # Safety
    /// The place is free. There is a record, which from now on is the table's.
    #[inline(always)]
    unsafe fn put_copy(&mut self, spot: Spot, place: usize, from: NonNull<R>) {
        // SAFETY: as the caller says; what is not in the table overlaps none of its places.
        unsafe { self.put(spot, place, |to| copy_by_words(from, to)) };
    }

    /// Inserts a copy of a record. If a key's own code panics, it does so before.
    ///
    /// # Safety
    /// There is a record, which from then on is the table's, if all went well.
    #[inline(always)]
    unsafe fn insert_from(&mut self, spot: Spot, from: NonNull<R>) -> Result<(), Refusal> {
        // SAFETY: as the caller says; it is not copied as long as this is in use.
        let key = unsafe { from.as_ref() }.key();
        if self.len >= self.limit {
            return Err(if self.get(key, || ()).is_some() { Refusal::Duplicate } else { Refusal::Full });
        }
        let window = self.window(spot.bucket);
        if window == Window::NOWHERE {
            let place = self.any();
            self.set_window(spot.bucket, Window::new(place - spot.offset, 1));
            // SAFETY: as the caller says; the place is free.
            unsafe { self.put_copy(spot, place, from) };
            return Ok(());
        }
        if window == self.aside_window() {
            // SAFETY: as the caller says.
            return unsafe { self.insert_aside(spot, from) };
        }
        let start = window.start();
        let place = start + spot.offset;
        // SAFETY: dummies have no such tags, and places that do hold records.
        if self.tag(place) == spot.tag() && unsafe { self.key(place) } == key {
            return Err(Refusal::Duplicate);
        }
        if self.is_free(place) || self.clear(place, spot.bucket) {
            self.set_window(spot.bucket, window.more());
            // SAFETY: as the caller says; the place is free.
            unsafe { self.put_copy(spot, place, from) };
            return Ok(());
        }
        let members = self.members(spot.bucket, start);
        let Some(new) = self.other_window(spot, members, start) else {
            // SAFETY: as the caller says.
            return unsafe { self.lay_aside(spot, members, start, from) };
        };
        self.shift(spot.bucket, members, start, new);
        self.set_window(spot.bucket, Window::new(new, members.count_ones() as usize + 1));
        // SAFETY: as the caller says; all places that the bucket wants were free.
        unsafe { self.put_copy(spot, new + spot.offset, from) };
        Ok(())
    }

    /// Moves the members of a bucket to another window, where their places are free.
    fn shift(&mut self, bucket: usize, members: u128, from: usize, to: usize) {
        for offset in offsets(members) {
            // SAFETY: the first holds a record and the second is empty, and the record has one owner afterwards.
            unsafe { self.record(to + offset).copy_from_nonoverlapping(self.record(from + offset), 1) };
            self.occupy(to + offset, bucket);
            self.empty(from + offset);
            self.moved += 1;
        }
    }

    /// Says that a free place holds a record of this bucket now.
    #[inline(always)]
    pub(super) fn occupy(&mut self, place: usize, bucket: usize) {
        self.set_tag(place, super::tag(bucket));
    }

    /// Keeps a copy of a record aside whose bucket is.
    ///
    /// # Safety
    /// As for [`insert_from`](Self::insert_from).
    #[cold]
    #[inline(never)]
    unsafe fn insert_aside(&mut self, spot: Spot, from: NonNull<R>) -> Result<(), Refusal> {
        // SAFETY: as the caller says.
        if self.aside.find(spot, unsafe { from.as_ref() }.key(), &mut || ()).is_some() {
            return Err(Refusal::Duplicate);
        }
        if !self.aside.make_room(1) {
            return Err(Refusal::Crowded);
        }
        // SAFETY: as the caller says.
        self.aside.push(spot, unsafe { from.read() });
        self.len += 1;
        Ok(())
    }

    /// Keeps a copy of a record aside, and its bucket's others from now on.
    ///
    /// # Safety
    /// As for [`insert_from`](Self::insert_from); these are the bucket's members.
    #[cold]
    #[inline(never)]
    unsafe fn lay_aside(
        &mut self,
        spot: Spot,
        members: u128,
        start: usize,
        from: NonNull<R>,
    ) -> Result<(), Refusal> {
        let all = members.count_ones() as usize + 1;
        if !self.aside.make_room(all) {
            return Err(Refusal::Crowded);
        }
        for offset in offsets(members) {
            // SAFETY: the place holds a record, which is the list's now; in between nothing fails, since there is room.
            let member = unsafe { self.record(start + offset).read() };
            self.empty(start + offset);
            self.aside.push(Spot { offset, ..spot }, member);
        }
        self.set_window(spot.bucket, self.aside_window());
        // SAFETY: as the caller says.
        self.aside.push(spot, unsafe { from.read() });
        self.len += 1;
        Ok(())
    }

    /// Returns what is left of a bucket that is kept aside to the table, if its keys want places of their own and there is
    /// room.
    pub(super) fn bring_back(&mut self, bucket: usize) {
        let Some(offsets) = self.aside.offsets(bucket) else { return };
        let start = match offsets.count_ones() {
            0 => return self.set_window(bucket, Window::NOWHERE),
            1 => self.any() - offsets.trailing_zeros() as usize,
            _ => match self.fit(offsets, |_, _| false) {
                Some(fit) => fit.start,
                None => return,
            },
        };
        self.set_window(bucket, Window::new(start, offsets.count_ones() as usize));
        while let Some((offset, record)) = self.aside.take_of(bucket) {
            self.len -= 1;
            // SAFETY: the place is free, and the record is the table's from now on.
            unsafe { self.put(Spot { bucket, offset }, start + offset, |to| to.write(record)) };
        }
    }
}

impl<R: FlowRecord> Few<R, false> {
    /// A table with these records whose hashes are spread once more; this one is empty then. None if they don't find room
    /// like that, or there is no memory for it.
    #[cold]
    #[inline(never)]
    pub(in crate::flow_table) fn spread(&mut self) -> Option<Few<R, true>> {
        let mut trial = Few::<Proxy<R>, true>::with_end(self.limit, self.hash.clone(), self.end).ok()?;
        for record in self.iter() {
            // SAFETY: the record stays there until it is moved below, when there are no proxies any more.
            let proxy = unsafe { Proxy::of(record) };
            let spot = trial.spot(proxy.key());
            // SAFETY: it is one, and nothing is dropped with it.
            unsafe { trial.insert_from(spot, NonNull::from(&proxy)) }.ok()?;
        }
        // SAFETY: the records are forgotten here in the next step.
        let mut other = unsafe { trial.of_records()? };
        self.forget_all();
        other.moved += self.moved + other.len as u64;
        Some(other)
    }
}

impl<R, const SPREAD: bool> Few<R, SPREAD> {
    /// Is empty from now on. The records are the caller's.
    pub(super) fn forget_all(&mut self) {
        // SAFETY: as many tags as there are.
        unsafe { self.tags.at(0).write_bytes(0, self.end) };
        self.aside.forget_all();
        self.len = 0;
    }
}
