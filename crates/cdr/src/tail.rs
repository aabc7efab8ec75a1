//! Octets that are not at hand yet.
#![expect(unsafe_code, reason = "vectors are not filled with zeros for what is copied into them at once")]

use std::mem::MaybeUninit;

use crate::{DecodeError, Reader};

/// The octets of a message of which a [`Reader`] has only the first: those behind are copied to where they are wanted, once.
///
/// A transport that would have to copy a message before anybody may look at it gives the reader some octets and this. A long
/// sequence of numbers then goes straight into its vector. Whatever else is read behind the first octets makes the reader ask
/// for [all](Self::all) others.
pub trait Tail {
    /// Octets in the whole message, the first ones included. Does not change.
    fn message_len(&self) -> usize;

    /// Copies octets from `offset` of the message on, and returns `into`, which is filled with them. They may have changed since
    /// they were copied before.
    ///
    /// # Panics
    /// If the message ends before that. The caller has looked at its [length](Self::message_len).
    fn copy<'i>(&self, offset: usize, into: &'i mut [MaybeUninit<u8>]) -> &'i mut [u8];

    /// As [`copy`](Self::copy), into memory that has values already.
    fn copy_over(&self, offset: usize, into: &mut [u8]);

    /// The whole message, of which those before `from` may be any octets: nobody will look at them, but for those the reader
    /// had from the beginning, which are as they were. Later calls return the same, whatever they ask for.
    fn all(&self, from: usize) -> &[u8];

    /// The octets of the message from `offset` to its end, to be changed where they lie, if the transport gets them back from there: in
    /// memory where the message begins at a multiple of 8. Given once, and not if somebody asked for [all](Self::all) others; who has
    /// them asks for nothing else.
    fn lend(&self, _offset: usize) -> Option<&mut [u8]> {
        None
    }

    /// The octets at hand and some of those behind them, if the transport would rather give a few than [all](Self::all).
    fn more(&self, _at_hand: usize) -> Option<&[u8]> {
        None
    }

    /// Whether somebody asked for [all](Self::all) others. Then nothing is copied any more, lest it differ from what he saw.
    fn has_all(&self) -> bool;
}

/// Fills memory with octets, as many, and returns it: what [`Tail::copy`] does where they are at hand.
///
/// # Panics
/// If there are more or fewer.
#[inline]
pub fn fill<'i>(into: &'i mut [MaybeUninit<u8>], octets: &[u8]) -> &'i mut [u8] {
    assert_eq!(into.len(), octets.len(), "as many octets as there is room for");
    // SAFETY: both are that long, and they do not overlap, since one is borrowed exclusively. Afterwards all octets are initialised.
    unsafe {
        std::ptr::copy_nonoverlapping(octets.as_ptr(), into.as_mut_ptr().cast(), octets.len());
        std::slice::from_raw_parts_mut(into.as_mut_ptr().cast(), octets.len())
    }
}

/// Octets of a message to be copied from its tail.
struct Distant<'a> {
    tail: &'a dyn Tail,
    start: usize,
    end: usize,
}

impl<'a> Reader<'a> {
    /// Lets this reader, which has the first octets of a message only, read on behind them.
    #[inline]
    pub fn with_tail(mut self, tail: &'a dyn Tail) -> Self {
        self.tail = Some(tail);
        self
    }

    /// Gets the octets that are not at hand; whether there are more now.
    #[cold]
    pub(crate) fn fetch(&mut self) -> bool {
        let Some(tail) = self.tail else { return false };
        if let Some(more) = tail.more(self.octets.len()) {
            self.octets = more;
            return true;
        }
        self.tail = None;
        self.octets = tail.all(self.position);
        true
    }

    /// Where the octets of `count` values are in the message, if they are not all at hand and can be copied.
    #[inline]
    fn distant<T>(&mut self, count: usize) -> Result<Option<Distant<'a>>, DecodeError> {
        let Some(tail) = self.tail else { return Ok(None) };
        if tail.has_all() {
            self.fetch();
            return Ok(None);
        }
        let start = self.position.next_multiple_of(size_of::<T>());
        let truncated = || DecodeError::truncated(start);
        let end =
            count.checked_mul(size_of::<T>()).and_then(|len| start.checked_add(len)).ok_or_else(truncated)?;
        if count == 0 || end <= self.octets.len() {
            return Ok(None);
        }
        if end > tail.message_len() {
            return Err(truncated());
        }
        Ok(Some(Distant { tail, start, end }))
    }

    /// The next `count` values where they lie, and where in the message that is, if they are its last ones and may be changed.
    #[inline]
    pub(crate) fn lend_block<T: bytemuck::Pod>(&mut self, count: usize) -> Option<(&'a mut [T], usize)> {
        let tail = self.tail.filter(|_| count > 0 && !self.order().is_foreign())?;
        let start = self.position.next_multiple_of(size_of::<T>());
        let end = count.checked_mul(size_of::<T>()).and_then(|len| start.checked_add(len))?;
        if end != tail.message_len() || tail.has_all() {
            return None;
        }
        let items = bytemuck::try_cast_slice_mut(tail.lend(start)?).ok()?;
        self.position = end;
        Some((items, start))
    }

    /// Makes these elements those that are copied there, if their octets are not all at hand. False if they are.
    #[inline]
    pub(crate) fn copy_block_over<T: bytemuck::Pod>(&mut self, items: &mut [T]) -> Result<bool, DecodeError> {
        let Some(Distant { tail, start, end }) = self.distant::<T>(items.len())? else { return Ok(false) };
        tail.copy_over(start, bytemuck::cast_slice_mut(items));
        self.position = end;
        Ok(true)
    }

    /// Makes the last elements of `items`, from `first` on, `count` values that are copied there, if their octets are not all at
    /// hand. False if they are.
    pub(crate) fn copy_block<T: bytemuck::Pod>(
        &mut self,
        items: &mut Vec<T>,
        first: usize,
        count: usize,
    ) -> Result<bool, DecodeError> {
        let Some(Distant { tail, start, end }) = self.distant::<T>(count)? else { return Ok(false) };
        items.truncate(first);
        items.reserve(count);
        // SAFETY: `count` elements were reserved; they, and so their octets, may be uninitialised.
        let into = unsafe {
            std::slice::from_raw_parts_mut(items.spare_capacity_mut().as_mut_ptr().cast(), end - start)
        };
        let (place, len) = (into.as_ptr(), into.len());
        let filled = tail.copy(start, into);
        assert!(
            std::ptr::eq(filled.as_ptr(), place.cast()) && filled.len() == len,
            "`Tail::copy` returns what it filled"
        );
        // SAFETY: they are octets of somebody's `&mut [u8]`, and any octets are values of `T`.
        unsafe { items.set_len(first + count) };
        self.position = end;
        Ok(true)
    }
}
