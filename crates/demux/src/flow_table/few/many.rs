//! Tables for few whose keys lie so badly that they are better off in one for many.

use core::{mem::forget, ptr::NonNull};

use super::Few;
use crate::flow_table::{FlowRecord, access::Alone, table::Table};

impl<R: FlowRecord, const SPREAD: bool> Few<R, SPREAD> {
    /// A table for many with these records, and the record that waits; this one is empty then. None if they don't find room
    /// there, which is not tried again, or there is no memory for it.
    ///
    /// # Safety
    /// A record waits. Afterwards it does only if there is no such table.
    #[cold]
    #[inline(never)]
    pub(in crate::flow_table) unsafe fn as_many(&mut self) -> Option<(Table<R, Alone>, R)> {
        // So that it is dropped if a key's own code panics.
        // SAFETY: as the caller says.
        let waiting = unsafe { self.waiting() };
        match self.copied_to_many() {
            Some(many) => {
                self.forget_all();
                Some((many, waiting))
            }
            None => {
                self.wait(waiting);
                None
            }
        }
    }

    /// A table for many with copies of these records, of which one or the other is to be forgotten.
    fn copied_to_many(&mut self) -> Option<Table<R, Alone>> {
        if self.stays {
            return None;
        }
        let mut many = Table::new(self.limit, self.hash.clone(), |_, _| Ok(Alone)).ok()?;
        let copies = Copies(&mut many);
        // SAFETY: there is one, and if not all went well its copy is forgotten.
        let all = self.iter().all(|record| unsafe { copies.0.insert_copy(NonNull::from(record)) });
        self.stays = !all;
        if self.stays {
            return None;
        }
        forget(copies);
        many.count_moves(self.moved + self.len as u64);
        Some(many)
    }
}

/// A table with copies of another's records, which are forgotten.
struct Copies<'t, R: FlowRecord>(&'t mut Table<R, Alone>);

impl<R: FlowRecord> Drop for Copies<'_, R> {
    fn drop(&mut self) {
        self.0.forget_all();
    }
}
