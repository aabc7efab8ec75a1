//! From a table of proxies to one of the records that they stand for.

use core::mem::replace;

use super::Table;
use crate::flow_table::{
    FlowRecord,
    access::{Access, Alone},
    proxy::Proxy,
    space::Space,
    store::Store,
};

impl<R: FlowRecord> Table<Proxy<R>, Alone> {
    /// The table with the records themselves. None if there is no memory for it; then nothing has happened to them.
    ///
    /// # Safety
    /// If there is such a table, the caller forgets the records where they were, and nobody looks at them there.
    pub(in crate::flow_table) unsafe fn of_records(mut self) -> Option<Table<R, Alone>> {
        // All that may fail, before a record is moved. What takes the place of what is taken out is for no record.
        let (nothing, _) = Store::new(1, self.store.keyed_by(), |_, _| Ok(Alone)).ok()?;
        let (waiting, no_counts) = (Space::new(1).ok()?, Space::new(1).ok()?);
        let store = replace(&mut self.store, Access::hold(nothing)).into_inner();
        let (store, proxies) = store.with_room_for().ok()?;
        let mut table: Table<R, Alone> = Table {
            store: Access::hold(store),
            counts: replace(&mut self.counts, no_counts),
            extent: self.extent,
            limit: self.limit,
            most: self.most,
            room: self.room,
            most_room: self.most_room,
            least: self.least,
            moved: self.moved,
            waiting,
        };
        table.store.reach(table.extent.count());
        for place in table.full_places() {
            // SAFETY: the one place holds a proxy, the other nothing yet; as the caller says.
            unsafe { proxies.at(place.0).as_ref().move_to(table.store.record(place)) };
        }
        // How many records there are before it grows depends on how large they are.
        table.set_extent(table.extent);
        Some(table)
    }
}
