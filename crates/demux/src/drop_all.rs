//! The end of all records of a table.

use core::{marker::PhantomData, ptr::NonNull};

/// Drops records; when a destructor panics, the others all the same, as [`Vec`](alloc::vec::Vec) does.
///
/// # Safety
/// Each is a record, named once, that nobody looks at afterwards.
pub(crate) unsafe fn drop_all<R>(records: impl Iterator<Item = NonNull<R>>) {
    let mut rest = Rest { records, owns: PhantomData };
    rest.drop_each();
}

struct Rest<R, I: Iterator<Item = NonNull<R>>> {
    records: I,
    owns: PhantomData<R>,
}

impl<R, I: Iterator<Item = NonNull<R>>> Rest<R, I> {
    fn drop_each(&mut self) {
        // SAFETY: made by `drop_all`, and the iterator names none again.
        self.records.by_ref().for_each(|record| unsafe { record.drop_in_place() });
    }
}

impl<R, I: Iterator<Item = NonNull<R>>> Drop for Rest<R, I> {
    fn drop(&mut self) {
        self.drop_each();
    }
}
