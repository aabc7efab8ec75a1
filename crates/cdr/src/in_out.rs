//! An `inout` sequence of numbers that lies in its reply while the servant changes it.

use std::ops::{Deref, DerefMut};

use crate::primitive::Number;
use crate::{DecodeError, Encode, EncodeError, Output, Reader, Writer};

/// An `inout` sequence of numbers, as a servant has it: a slice to be read and changed, and a vector once it is to be
/// [longer or shorter](Self::to_mut), or is replaced by one (`*data = vector.into()`).
///
/// Where the reply goes straight into memory of a fixed size, as that of a transport with registered memory does, the elements are
/// copied once, from the request to where the reply has them, and the servant changes them there. Elsewhere they are in a vector
/// from the beginning.
///
/// ```
/// use throughline_cdr::InOut;
///
/// fn servant(data: &mut InOut<'_, u32>) {
///     data.reverse();
///     data[0] += 1;
///     data.to_mut().push(7);
/// }
///
/// let mut data = InOut::from(vec![1, 2, 3]);
/// servant(&mut data);
/// assert_eq!(data, [4, 2, 1, 7]);
/// ```
#[derive(Debug)]
pub struct InOut<'m, T>(Held<'m, T>);

#[derive(Debug)]
enum Held<'m, T> {
    Reply {
        items: &'m mut [T],
        written: Written,
    },
    /// In the request, where `start` is their first octet.
    Request {
        items: &'m mut [T],
        start: usize,
    },
    Own(Vec<T>),
}

/// Where in an output the sequence lies.
#[derive(Clone, Copy, Debug)]
struct Written {
    start: usize,
    end: usize,
}

/// Where the first result of a reply goes.
#[derive(Debug)]
pub struct ReplyPlace<'m> {
    output: Output<'m>,
    base: usize,
}

impl<'m> ReplyPlace<'m> {
    /// Behind what is in `output`, with alignment counting from the index `base`.
    #[inline]
    pub fn new(output: Output<'m>, base: usize) -> Self {
        Self { output, base }
    }

    /// Writes the length of a sequence; the place of its elements, unless there are none, or they fit nowhere.
    #[inline]
    fn of_sequence<T: Number>(self, count: usize) -> Option<(&'m mut [T], Written)> {
        let start = self.output.len();
        let aligned = |position: usize, to: usize| self.base + (position - self.base).next_multiple_of(to);
        let length = aligned(start, 4);
        let first = aligned(length + 4, size_of::<T>());
        let end = count.checked_mul(size_of::<T>())?.checked_add(first)?;
        let memory = self.output.into_memory()?.get_mut(start..end).filter(|_| count > 0)?;
        let (front, items) = memory.split_at_mut(first - start);
        front.fill(0);
        let length = &mut front[length - start..][..4];
        length.copy_from_slice(&u32::try_from(count).ok()?.to_ne_bytes());
        Some((bytemuck::try_cast_slice_mut(items).ok()?, Written { start, end }))
    }
}

impl<'m, T: Number> InOut<'m, T> {
    /// Reads a sequence, straight into `place` if that is given and has room for it. It is the first result then.
    #[inline]
    pub fn read(r: &mut Reader<'_>, place: Option<ReplyPlace<'m>>) -> Result<Self, DecodeError> {
        let count = r.read_length(size_of::<T>())?;
        Self::read_counted(r, count, place)
    }

    #[inline]
    fn read_counted(
        r: &mut Reader<'_>,
        count: usize,
        place: Option<ReplyPlace<'m>>,
    ) -> Result<Self, DecodeError> {
        match place.and_then(|place| place.of_sequence(count)) {
            Some((items, written)) => {
                T::read_into(r, items)?;
                Ok(Self(Held::Reply { items, written }))
            }
            None => T::decode_vec(r, count).map(|items| Self(Held::Own(items))),
        }
    }

    /// As [`read`](Self::read), of the last argument, which is the only result: where the request lies in memory that comes back to the
    /// caller, it is changed there, and not copied at all. The reply then has to say so: what is [encoded](FinishedInOut) lacks the
    /// elements, and the ORB's `ServerCall::reply_in_out` sees to the rest.
    #[inline]
    pub fn read_alone<'r: 'm>(
        r: &mut Reader<'r>,
        place: Option<ReplyPlace<'m>>,
    ) -> Result<Self, DecodeError> {
        let count = r.read_length(size_of::<T>())?;
        match r.lend_block(count) {
            Some((items, start)) => Ok(Self(Held::Request { items, start })),
            None => Self::read_counted(r, count, place),
        }
    }

    /// The elements in a vector, which may become longer or shorter. From the reply, if they lie there, they are copied into one, and
    /// the vector is copied into the reply at the end.
    pub fn to_mut(&mut self) -> &mut Vec<T> {
        if let Held::Reply { items, .. } | Held::Request { items, .. } = &self.0 {
            self.0 = Held::Own(items.to_vec());
        }
        match &mut self.0 {
            Held::Own(items) => items,
            Held::Reply { .. } | Held::Request { .. } => unreachable!("they have just been copied"),
        }
    }

    /// What remains to be encoded when the servant has returned.
    #[inline]
    pub fn finish(self) -> FinishedInOut<T> {
        FinishedInOut(match self.0 {
            Held::Reply { written, .. } => Finished::Reply(written),
            Held::Request { items, start } => Finished::Request { count: items.len(), start },
            Held::Own(items) => Finished::Own(items),
        })
    }
}

impl<T> From<Vec<T>> for InOut<'_, T> {
    fn from(items: Vec<T>) -> Self {
        Self(Held::Own(items))
    }
}

impl<T> Deref for InOut<'_, T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        match &self.0 {
            Held::Reply { items, .. } | Held::Request { items, .. } => items,
            Held::Own(items) => items,
        }
    }
}

impl<T> DerefMut for InOut<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.0 {
            Held::Reply { items, .. } | Held::Request { items, .. } => items,
            Held::Own(items) => items,
        }
    }
}

impl<T: PartialEq, U: AsRef<[T]>> PartialEq<U> for InOut<'_, T> {
    fn eq(&self, other: &U) -> bool {
        **self == *other.as_ref()
    }
}

/// An [`InOut`] after its servant has returned: encoded as the first result, it counts what is in the reply already as written, or
/// writes the vector.
#[derive(Debug)]
pub struct FinishedInOut<T>(Finished<T>);

#[derive(Debug)]
enum Finished<T> {
    Reply(Written),
    Request { count: usize, start: usize },
    Own(Vec<T>),
}

impl<T> FinishedInOut<T> {
    /// Where in the request the elements lie, if they were not copied from there. They are all that is behind that, and all that the
    /// encoding does not contain.
    #[inline]
    pub fn in_request(&self) -> Option<usize> {
        match self.0 {
            Finished::Request { start, .. } => Some(start),
            Finished::Reply(_) | Finished::Own(_) => None,
        }
    }
}

impl<T: Number> Encode for FinishedInOut<T> {
    /// # Panics
    /// If something else was written where the sequence lies.
    #[inline]
    fn encode(&self, w: &mut Writer<'_>) -> Result<(), EncodeError> {
        match &self.0 {
            Finished::Reply(written) => {
                w.keep(written.start, written.end);
                Ok(())
            }
            Finished::Request { count, .. } => {
                w.write_length(*count)?;
                w.align(size_of::<T>());
                Ok(())
            }
            Finished::Own(items) => items.encode(w),
        }
    }
}
