//! The tables under one trait. Each looks up in a loop of its own language; no row pays for a foreign call per key.

use crate::flows::{Record, Tuple};
use throughline_demux::FlowTable;

pub trait Table {
    fn name(&self) -> &'static str;
    /// Adds records of these keys. The value of the first is `value`, of each other one more than that of the one before.
    fn fill(&mut self, keys: &[Tuple], value: u64);
    /// So many flows go, then as many come, until all have: all the memory that a batch of several needs is asked for first,
    /// if the table has a way to.
    fn change(&mut self, gone: &[Tuple], come: &[Tuple], value: u64, batch: usize);
    /// The sum of the values found; each lookup waits for the one before.
    fn single(&self, keys: &[Tuple]) -> u64;
    /// The sum of the values found; no lookup waits for another.
    fn independent(&self, keys: &[Tuple]) -> u64;
    /// The sum of the values found, in batches.
    fn batch(&self, keys: &[Tuple], batch: usize) -> u64;
}

/// What [`Table::change`] says, of tables in this language.
#[inline(always)]
fn change_each<T>(
    table: &mut T,
    (gone, come): (&[Tuple], &[Tuple]),
    value: u64,
    batch: usize,
    ask: impl Fn(&T, &[Tuple]),
    remove: impl Fn(&mut T, &Tuple),
    insert: impl Fn(&mut T, Tuple, u64),
) {
    if batch == 1 {
        for ((gone, &come), value) in gone.iter().zip(come).zip(value..) {
            remove(table, gone);
            insert(table, come, value);
        }
        return;
    }
    for ((gone, come), value) in gone.chunks(batch).zip(come.chunks(batch)).zip((value..).step_by(batch)) {
        ask(table, gone);
        ask(table, come);
        gone.iter().for_each(|gone| remove(table, gone));
        come.iter().zip(value..).for_each(|(&come, value)| insert(table, come, value));
    }
}

pub struct Ours(FlowTable<Record>);

impl Ours {
    pub fn new(limit: usize, reserved: usize) -> Self {
        let mut table = FlowTable::new(limit, 0x5eed_5eed_1234_4321);
        table.reserve(reserved);
        Self(table)
    }

    pub fn bytes(&self) -> usize {
        self.0.bytes()
    }

    #[inline(always)]
    fn add(&mut self, key: Tuple, value: u64) {
        self.0.insert(Record::with(key, value)).expect("there is room");
    }
}

impl Table for Ours {
    fn name(&self) -> &'static str {
        "FlowTable"
    }

    fn fill(&mut self, keys: &[Tuple], value: u64) {
        keys.iter().zip(value..).for_each(|(&key, value)| self.add(key, value));
    }

    fn change(&mut self, gone: &[Tuple], come: &[Tuple], value: u64, batch: usize) {
        let ask = |table: &Self, keys: &[Tuple]| table.0.prefetch(keys);
        let remove = |table: &mut Self, key: &Tuple| _ = table.0.remove(key).expect("it is there");
        change_each(self, (gone, come), value, batch, ask, remove, Self::add);
    }

    fn single(&self, keys: &[Tuple]) -> u64 {
        let (mut sum, mut zero) = (0, 0);
        for i in 0..keys.len() {
            if let Some(record) = self.0.get(&keys[i + zero as usize]) {
                sum += record.value;
                zero = record.zero;
            }
        }
        sum
    }

    fn independent(&self, keys: &[Tuple]) -> u64 {
        keys.iter().filter_map(|key| self.0.get(key)).map(|record| record.value).sum()
    }

    fn batch(&self, keys: &[Tuple], batch: usize) -> u64 {
        let mut sum = 0;
        for keys in keys.chunks(batch) {
            self.0.visit_batch(keys, |_, record| sum += record.map_or(0, |record| record.value));
        }
        sum
    }
}

pub struct Hashbrown(hashbrown::HashMap<Tuple, [u64; 6], foldhash::fast::FixedState>);

impl Hashbrown {
    pub fn new(reserved: usize) -> Self {
        let hasher = foldhash::fast::FixedState::with_seed(0x5eed);
        Self(hashbrown::HashMap::with_capacity_and_hasher(reserved, hasher))
    }

    /// Takes out the flows of whose values `keep` says no.
    pub fn retain(&mut self, mut keep: impl FnMut(u64) -> bool) {
        self.0.retain(|_, record| keep(record[0]));
    }

    pub fn bytes(&self) -> usize {
        self.0.allocation_size()
    }

    #[inline(always)]
    fn add(&mut self, key: Tuple, value: u64) {
        assert!(self.0.insert(key, [value, 0, 0, 0, 0, 0]).is_none());
    }
}

impl Table for Hashbrown {
    fn name(&self) -> &'static str {
        "hashbrown"
    }

    fn fill(&mut self, keys: &[Tuple], value: u64) {
        keys.iter().zip(value..).for_each(|(&key, value)| self.add(key, value));
    }

    fn change(&mut self, gone: &[Tuple], come: &[Tuple], value: u64, batch: usize) {
        let remove = |table: &mut Self, key: &Tuple| _ = table.0.remove(key).expect("it is there");
        change_each(self, (gone, come), value, batch, |_, _| (), remove, Self::add);
    }

    fn single(&self, keys: &[Tuple]) -> u64 {
        let (mut sum, mut zero) = (0, 0);
        for i in 0..keys.len() {
            if let Some(record) = self.0.get(&keys[i + zero as usize]) {
                sum += record[0];
                zero = record[1];
            }
        }
        sum
    }

    fn independent(&self, keys: &[Tuple]) -> u64 {
        keys.iter().filter_map(|key| self.0.get(key)).map(|record| record[0]).sum()
    }

    fn batch(&self, keys: &[Tuple], batch: usize) -> u64 {
        let mut sum = 0;
        for keys in keys.chunks(batch) {
            sum += keys.iter().filter_map(|key| self.0.get(key)).map(|record| record[0]).sum::<u64>();
        }
        sum
    }
}

#[cfg(absl)]
pub mod absl {
    use super::{Table, Tuple};
    use std::ffi::c_void;

    unsafe extern "C" {
        fn absl_new(reserved: usize) -> *mut c_void;
        fn absl_free(map: *mut c_void);
        fn absl_fill(map: *mut c_void, keys: *const Tuple, count: usize, value: u64) -> bool;
        fn absl_change(
            map: *mut c_void,
            gone: *const Tuple,
            come: *const Tuple,
            count: usize,
            value: u64,
            batch: usize,
        ) -> bool;
        fn absl_single(map: *const c_void, keys: *const Tuple, count: usize) -> u64;
        fn absl_independent(map: *const c_void, keys: *const Tuple, count: usize) -> u64;
        fn absl_batch(
            map: *const c_void,
            keys: *const Tuple,
            count: usize,
            batch: usize,
            prefetch: bool,
        ) -> u64;
    }

    pub struct Absl(*mut c_void);

    impl Absl {
        pub fn new(reserved: usize) -> Self {
            // SAFETY: makes a map that `drop` frees.
            Self(unsafe { absl_new(reserved) })
        }
    }

    impl Table for Absl {
        fn name(&self) -> &'static str {
            "absl"
        }

        fn fill(&mut self, keys: &[Tuple], value: u64) {
            // SAFETY: the map lives, the keys are read during the call, as many as there are.
            assert!(unsafe { absl_fill(self.0, keys.as_ptr(), keys.len(), value) });
        }

        fn change(&mut self, gone: &[Tuple], come: &[Tuple], value: u64, batch: usize) {
            let count = gone.len().min(come.len());
            // SAFETY: as above.
            assert!(unsafe { absl_change(self.0, gone.as_ptr(), come.as_ptr(), count, value, batch) });
        }

        fn single(&self, keys: &[Tuple]) -> u64 {
            // SAFETY: as above.
            unsafe { absl_single(self.0, keys.as_ptr(), keys.len()) }
        }

        fn independent(&self, keys: &[Tuple]) -> u64 {
            // SAFETY: as above.
            unsafe { absl_independent(self.0, keys.as_ptr(), keys.len()) }
        }

        fn batch(&self, keys: &[Tuple], batch: usize) -> u64 {
            // SAFETY: as above.
            unsafe { absl_batch(self.0, keys.as_ptr(), keys.len(), batch, true) }
        }
    }

    impl Drop for Absl {
        fn drop(&mut self) {
            // SAFETY: made by `absl_new`, not used afterwards.
            unsafe { absl_free(self.0) }
        }
    }
}

#[cfg(dpdk)]
pub mod dpdk {
    use super::{Record, Table, Tuple};
    use std::ffi::c_void;

    unsafe extern "C" {
        fn dpdk_start() -> i32;
        fn dpdk_new(entries: u32, records: *mut Record, huge: bool) -> *mut c_void;
        fn dpdk_free(table: *mut c_void);
        fn dpdk_fill(table: *mut c_void, keys: *const Tuple, count: usize, value: u64) -> bool;
        fn dpdk_change(
            table: *mut c_void,
            gone: *const Tuple,
            come: *const Tuple,
            count: usize,
            value: u64,
            batch: usize,
        ) -> bool;
        fn dpdk_single(table: *const c_void, keys: *const Tuple, count: usize) -> u64;
        fn dpdk_independent(table: *const c_void, keys: *const Tuple, count: usize) -> u64;
        fn dpdk_batch(table: *const c_void, keys: *const Tuple, count: usize, batch: usize) -> u64;
    }

    /// Whether DPDK runs here.
    pub fn start() -> bool {
        // SAFETY: called once, before any table.
        unsafe { dpdk_start() >= 0 }
    }

    pub struct Dpdk {
        table: *mut c_void,
        #[expect(dead_code, reason = "the table writes to it")]
        records: Vec<Record>,
    }

    impl Dpdk {
        pub fn new(entries: u32, huge: bool) -> Option<Self> {
            let mut records = vec![Record::default(); entries as usize + 64];
            // SAFETY: positions are below `entries + 1`; the records live as long as the table.
            let table = unsafe { dpdk_new(entries, records.as_mut_ptr(), huge) };
            (!table.is_null()).then_some(Self { table, records })
        }
    }

    impl Table for Dpdk {
        fn name(&self) -> &'static str {
            "rte_hash"
        }

        fn fill(&mut self, keys: &[Tuple], value: u64) {
            // SAFETY: the table lives, the keys are read during the call, as many as there are.
            assert!(unsafe { dpdk_fill(self.table, keys.as_ptr(), keys.len(), value) });
        }

        fn change(&mut self, gone: &[Tuple], come: &[Tuple], value: u64, batch: usize) {
            let count = gone.len().min(come.len());
            // SAFETY: as above.
            assert!(unsafe { dpdk_change(self.table, gone.as_ptr(), come.as_ptr(), count, value, batch) });
        }

        fn single(&self, keys: &[Tuple]) -> u64 {
            // SAFETY: as above.
            unsafe { dpdk_single(self.table, keys.as_ptr(), keys.len()) }
        }

        fn independent(&self, keys: &[Tuple]) -> u64 {
            // SAFETY: as above.
            unsafe { dpdk_independent(self.table, keys.as_ptr(), keys.len()) }
        }

        fn batch(&self, keys: &[Tuple], batch: usize) -> u64 {
            // SAFETY: as above.
            unsafe { dpdk_batch(self.table, keys.as_ptr(), keys.len(), batch) }
        }
    }

    impl Drop for Dpdk {
        fn drop(&mut self) {
            // SAFETY: made by `dpdk_new`, not used afterwards.
            unsafe { dpdk_free(self.table) }
        }
    }
}
