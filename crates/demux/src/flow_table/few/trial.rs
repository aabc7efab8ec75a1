//! From a table of proxies to one of the records that they stand for.

use core::mem::replace;

use super::{Few, WIDE, free::Recent, records::Records};
use crate::flow_table::{FlowRecord, proxy::Proxy, space::Space};

impl<R: FlowRecord, const SPREAD: bool> Few<Proxy<R>, SPREAD> {
    /// The table with the records themselves. None if there is no memory for it; then nothing has happened to them.
    ///
    /// # Safety
    /// If there is such a table, the caller forgets the records where they were, and nobody looks at them there.
    pub(super) unsafe fn of_records(mut self) -> Option<Few<R, SPREAD>> {
        // All that may fail, before a record is moved.
        let records = Records::new(self.end - WIDE).ok()?;
        let (waiting, no_windows, no_tags) = (Space::new(1).ok()?, Space::new(1).ok()?, Space::new(1).ok()?);
        // SAFETY: as the caller says.
        let aside = unsafe { self.aside.of_records()? };
        for place in self.full_places() {
            // SAFETY: the one place holds a proxy, the other nothing yet; as the caller says.
            unsafe { self.record(place).as_ref().move_to(records.at(place)) };
        }
        Some(Few {
            windows: replace(&mut self.windows, no_windows),
            tags: replace(&mut self.tags, no_tags),
            records,
            recent: replace(&mut self.recent, Recent::new()),
            aside,
            waiting,
            hash: self.hash.clone(),
            buckets: self.buckets,
            end: self.end,
            len: self.len,
            limit: self.limit,
            moved: self.moved,
            stays: self.stays,
        })
    }
}
