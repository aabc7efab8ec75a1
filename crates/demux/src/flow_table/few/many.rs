//! Tables for few whose keys lie so badly that they are better off in one for many.

use core::ptr::NonNull;

use super::Few;
use crate::flow_table::{FlowRecord, access::Alone, proxy::Proxy, table::Table};

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
        match self.moved_to_many() {
            Some(many) => Some((many, waiting)),
            None => {
                self.wait(waiting);
                None
            }
        }
    }

    /// A table for many with these records; this one is empty then.
    fn moved_to_many(&mut self) -> Option<Table<R, Alone>> {
        if self.stays {
            return None;
        }
        let mut trial =
            Table::<Proxy<R>, Alone>::new(self.limit, self.hash.clone(), |_, _| Ok(Alone)).ok()?;
        let all = self.iter().all(|record| {
            // SAFETY: the record stays there until it is moved below, when there are no proxies any more.
            let proxy = unsafe { Proxy::of(record) };
            // SAFETY: it is one, and nothing is dropped with it.
            unsafe { trial.insert_copy(NonNull::from(&proxy)) }
        });
        self.stays = !all;
        if self.stays {
            return None;
        }
        // SAFETY: the records are forgotten here in the next step.
        let mut many = unsafe { trial.of_records()? };
        many.count_moves(self.moved + self.len as u64);
        self.forget_all();
        Some(many)
    }
}
