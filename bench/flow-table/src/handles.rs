//! What no table can do without: the record fetched, and its key compared. Where it is, is known beforehand.

use crate::flows::{Random, Record, Tuple};

pub struct Handles {
    records: Vec<Record>,
    /// Where each flow's record is: anywhere.
    places: Vec<u32>,
}

impl Handles {
    pub fn new(flows: u64) -> Self {
        let mut random = Random(flows);
        let mut places: Vec<u32> = (0..flows as u32).collect();
        for i in (1..places.len()).rev() {
            places.swap(i, random.below(i as u64 + 1) as usize);
        }
        let mut handles = Self { records: vec![Record::default(); flows as usize], places };
        handles.fill(0);
        handles
    }

    /// From now on the flows are those from `first` on.
    pub fn fill(&mut self, first: u64) {
        for flow in first..first + self.records.len() as u64 {
            let place = self.place(flow);
            self.records[place as usize] = Record::of(flow);
        }
    }

    /// The places of flows; of those that are none, the place of another.
    pub fn of(&self, flows: &[u64]) -> Vec<u32> {
        flows.iter().map(|&flow| self.place(flow)).collect()
    }

    fn place(&self, flow: u64) -> u32 {
        self.places[flow as usize % self.places.len()]
    }

    /// Records by their handles; each waits for the one before.
    pub fn single(&self, handles: &[u32]) -> u64 {
        let (mut sum, mut zero) = (0, 0);
        for i in 0..handles.len() {
            let record = &self.records[handles[i + zero as usize] as usize];
            sum += record.value;
            zero = record.zero;
        }
        sum
    }

    /// Records by their handles; none waits for another.
    pub fn independent(&self, handles: &[u32]) -> u64 {
        handles.iter().map(|&handle| self.records[handle as usize].value).sum()
    }

    /// Records by their handles, in batches.
    pub fn batch(&self, handles: &[u32], batch: usize) -> u64 {
        let mut sum = 0;
        for handles in handles.chunks(batch) {
            handles.iter().for_each(|&handle| prefetch(&self.records[handle as usize]));
            sum += handles.iter().map(|&handle| self.records[handle as usize].value).sum::<u64>();
        }
        sum
    }

    /// The record of a key whose place is known, if that is there.
    #[inline(always)]
    fn compared(&self, key: &Tuple, place: u32) -> Option<&Record> {
        let record = &self.records[place as usize];
        (record.key == *key).then_some(record)
    }

    /// As the tables do it: each lookup compares the key and waits for the one before.
    pub fn single_compared(&self, keys: &[Tuple], places: &[u32]) -> u64 {
        let (mut sum, mut zero) = (0, 0);
        for i in 0..keys.len() {
            let i = i + zero as usize;
            if let Some(record) = self.compared(&keys[i], places[i]) {
                sum += record.value;
                zero = record.zero;
            }
        }
        sum
    }

    /// As the tables do it: each lookup compares the key; none waits for another.
    pub fn independent_compared(&self, keys: &[Tuple], places: &[u32]) -> u64 {
        let found = keys.iter().zip(places).filter_map(|(key, &place)| self.compared(key, place));
        found.map(|record| record.value).sum()
    }

    /// As the tables do it: the records of a batch are found, then used.
    pub fn batch_compared(&self, keys: &[Tuple], places: &[u32], batch: usize) -> u64 {
        let mut sum = 0;
        let mut found = [None; 64];
        for (keys, places) in keys.chunks(batch).zip(places.chunks(batch)) {
            places.iter().for_each(|&place| prefetch(&self.records[place as usize]));
            for ((key, &place), found) in keys.iter().zip(places).zip(&mut found) {
                *found = self.compared(key, place);
            }
            sum += found[..keys.len()].iter().flatten().map(|record| record.value).sum::<u64>();
        }
        sum
    }
}

fn prefetch(record: &Record) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86_64 has SSE; a prefetch changes nothing.
    unsafe {
        core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T0 }>(
            core::ptr::from_ref(record).cast(),
        );
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = record;
}
