//! Passing all records, at once or a part at a time, to take some out: how idle flows expire.

use core::ptr::NonNull;

use super::{
    FlowRecord, FlowTable, Kind,
    access::Access,
    bits::ones,
    concurrent::{FlowWriter, PlainRecord},
    place::Group,
    table::Table,
    tags::{GROUP, GROUPS},
};

/// What a part of the table without records counts as: a look at its tags is not for nothing.
pub(super) const AS_MANY: usize = 2;

/// How far sweeps have come, and where the next begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sweep {
    pub(super) next: usize,
    rounds: u64,
}

impl Sweep {
    /// How many times the end of the table was reached.
    #[must_use]
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    /// The end is reached.
    pub(super) fn turn(&mut self) {
        *self = Self { next: 0, rounds: self.rounds + 1 };
    }
}

impl<R: FlowRecord> FlowTable<R> {
    /// Looks at all records, each once, and takes out those of which `keep` says no; returns how many. Records may be changed, but
    /// not their keys. [`sweep`](Self::sweep) does as much in parts.
    pub fn retain(&mut self, keep: impl FnMut(&mut R) -> bool) -> usize {
        self.sweep(&mut Sweep::default(), usize::MAX, keep)
    }

    /// As [`retain`](Self::retain), of the next `records` records, or up to 15 more; fewer at the end of the table, where the
    /// next call begins again, and where few are left, since sixteen places count as two records at least. The last part of a
    /// table for [few](Self#few-flows) is longer by the records kept aside.
    ///
    /// So flows expire while packets come: a timer, or each packet, pays for a look at some. A record that changes to the
    /// table move between two calls may be passed over, or seen twice, in that round. A part of 32 records takes half a
    /// microsecond in a table of 8 million, and 34 at worst while it [shrinks](https://github.com/throughline/throughline/blob/main/docs/results/2026-11-26/flow-table-sweep.md).
    ///
    /// ```
    /// use throughline_demux::{FlowTable, Sweep};
    ///
    /// #[derive(Debug)]
    /// struct Flow {
    ///     last_seen: u64,
    ///     packets: u64,
    /// }
    ///
    /// let mut flows = FlowTable::<(u64, Flow)>::new(100_000, 0x5eed);
    /// let mut sweep = Sweep::default();
    /// for now in 0..10_000 {
    ///     // A packet of the flow that has this number.
    ///     let fresh = || (now / 3, Flow { last_seen: now, packets: 0 });
    ///     let (_, flow) = flows.get_or_insert_with(&(now / 3), fresh)?;
    ///     flow.last_seen = now;
    ///     flow.packets += 1;
    ///     // Each packet pays for a look at four others.
    ///     flows.sweep(&mut sweep, 4, |(_, flow)| now - flow.last_seen < 1_000);
    /// }
    /// assert!((334..1_000).contains(&flows.len()));
    /// # Ok::<(), throughline_demux::FlowInsertError<(u64, Flow)>>(())
    /// ```
    pub fn sweep(
        &mut self,
        sweep: &mut Sweep,
        records: usize,
        mut keep: impl FnMut(&mut R) -> bool,
    ) -> usize {
        // SAFETY: a record, and the table is borrowed as a whole.
        let goes = |mut record: NonNull<R>| !keep(unsafe { record.as_mut() });
        match &mut self.kind {
            Kind::Many(table) => table.sweep(sweep, records, goes),
            Kind::Few(table) => table.sweep(sweep, records, goes),
            Kind::FewSpread(table) => table.sweep(sweep, records, goes),
        }
    }
}

impl<R: PlainRecord> FlowWriter<R> {
    /// As [`FlowTable::retain`]; readers go on meanwhile.
    pub fn retain(&mut self, keep: impl FnMut(&R) -> bool) -> usize {
        self.sweep(&mut Sweep::default(), usize::MAX, keep)
    }

    /// As [`FlowTable::sweep`]; readers go on meanwhile.
    pub fn sweep(&mut self, sweep: &mut Sweep, records: usize, mut keep: impl FnMut(&R) -> bool) -> usize {
        // SAFETY: a record, to which nobody writes but us.
        self.table.sweep(sweep, records, |record| !keep(unsafe { record.as_ref() }))
    }
}

impl<R: FlowRecord, A: Access<R>> Table<R, A> {
    /// As [`FlowTable::sweep`]; `goes` says which are taken out, and is called with full places.
    pub(super) fn sweep(
        &mut self,
        sweep: &mut Sweep,
        records: usize,
        mut goes: impl FnMut(NonNull<R>) -> bool,
    ) -> usize {
        let (mut seen, before) = (0, self.len());
        let groups = (self.extent.count() * GROUPS) as usize;
        while seen < records && sweep.next < groups {
            seen += self.sweep_group(Group::numbered(sweep.next), &mut goes).max(AS_MANY);
            sweep.next += 1;
        }
        if sweep.next >= groups {
            sweep.turn();
        }
        let gone = before - self.len();
        self.shrink_after(gone);
        gone
    }

    /// How many records of a group there were.
    fn sweep_group(&mut self, group: Group, goes: &mut impl FnMut(NonNull<R>) -> bool) -> usize {
        let full = !self.empty(group) & (u16::MAX >> (16 - GROUP));
        for place in ones(full).map(|at| group.place(at)) {
            if goes(self.store.record(place)) {
                drop(self.take_out(place));
            }
        }
        full.count_ones() as usize
    }
}
