//! The floor: records fetched by handle, no search at all.

use crate::flows::{Random, Record};

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
        Self { records: (0..flows).map(Record::of).collect(), places }
    }

    pub fn of(&self, flows: &[u64]) -> Vec<u32> {
        flows.iter().map(|&flow| self.places[flow as usize % self.places.len()]).collect()
    }

    pub fn single(&self, handles: &[u32]) -> u64 {
        let (mut sum, mut zero) = (0, 0);
        for i in 0..handles.len() {
            let record = &self.records[handles[i + zero as usize] as usize];
            sum += record.value;
            zero = record.zero;
        }
        sum
    }

    pub fn batch(&self, handles: &[u32], batch: usize) -> u64 {
        let mut sum = 0;
        for handles in handles.chunks(batch) {
            for &handle in handles {
                prefetch(&self.records[handle as usize]);
            }
            sum += handles.iter().map(|&handle| self.records[handle as usize].value).sum::<u64>();
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
