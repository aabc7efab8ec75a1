//! Changes of flow tables, of few and of many, owned and with a reader, by keys whose hashes may be alike: each does as a plain
//! map does.
#![no_main]

use std::{
    collections::HashMap,
    hash::{Hash, Hasher},
};

use bytemuck::NoUninit;
use libfuzzer_sys::fuzz_target;
use throughline_demux::{FlowInsertError, FlowReader, FlowRecord, FlowTable, FlowWriter, Sweep, flow_table};

/// Keys of which so many have the same hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, NoUninit)]
#[repr(C)]
struct Key {
    number: u32,
    alike: u32,
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u32(self.number / self.alike);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, NoUninit)]
#[repr(C, align(8))]
struct Flow {
    key: Key,
    value: u64,
}

impl FlowRecord for Flow {
    type Key = Key;

    fn key(&self) -> &Key {
        &self.key
    }
}

/// What both kinds of table do.
trait Flows {
    fn insert(&mut self, flow: Flow) -> Result<(), FlowInsertError<Flow>>;
    fn remove(&mut self, key: &Key) -> Option<Flow>;
    fn get(&self, key: &Key) -> Option<Flow>;
    fn get_batch(&self, keys: &[Key]) -> Vec<Option<Flow>>;
    fn change(&mut self, flow: Flow) -> Option<Flow>;
    fn sweep(&mut self, sweep: &mut Sweep, records: usize, keep: impl FnMut(&Flow) -> bool) -> usize;
    fn reserve(&mut self, additional: usize);
    fn prefetch(&self, keys: &[Key]);
    fn all(&self) -> Vec<Flow>;
    fn len(&self) -> usize;
}

impl Flows for FlowTable<Flow> {
    fn insert(&mut self, flow: Flow) -> Result<(), FlowInsertError<Flow>> {
        self.insert(flow)
    }

    fn remove(&mut self, key: &Key) -> Option<Flow> {
        self.remove(key)
    }

    fn get(&self, key: &Key) -> Option<Flow> {
        self.get(key).copied()
    }

    fn get_batch(&self, keys: &[Key]) -> Vec<Option<Flow>> {
        let mut found = vec![None; keys.len()];
        self.get_batch(keys, &mut found);
        found.into_iter().map(Option::<&Flow>::copied).collect()
    }

    fn change(&mut self, flow: Flow) -> Option<Flow> {
        self.get_mut(&flow.key).map(|found| std::mem::replace(found, flow))
    }

    fn sweep(&mut self, sweep: &mut Sweep, records: usize, mut keep: impl FnMut(&Flow) -> bool) -> usize {
        self.sweep(sweep, records, |flow| keep(flow))
    }

    fn reserve(&mut self, additional: usize) {
        self.reserve(additional);
    }

    fn prefetch(&self, keys: &[Key]) {
        self.prefetch(keys);
    }

    fn all(&self) -> Vec<Flow> {
        self.iter().copied().collect()
    }

    fn len(&self) -> usize {
        self.len()
    }
}

/// A table with one who looks records up.
struct Read {
    writer: FlowWriter<Flow>,
    reader: FlowReader<Flow>,
}

impl Flows for Read {
    fn insert(&mut self, flow: Flow) -> Result<(), FlowInsertError<Flow>> {
        self.writer.insert(flow)
    }

    fn remove(&mut self, key: &Key) -> Option<Flow> {
        self.writer.remove(key)
    }

    fn get(&self, key: &Key) -> Option<Flow> {
        let found = self.reader.get(key);
        assert_eq!(found, self.writer.get(key).copied());
        found
    }

    fn get_batch(&self, keys: &[Key]) -> Vec<Option<Flow>> {
        let mut found = vec![None; keys.len()];
        self.reader.get_batch(keys, &mut found);
        found
    }

    fn change(&mut self, flow: Flow) -> Option<Flow> {
        // Who replaces what is not there inserts nothing.
        self.writer.replace(flow)
    }

    fn sweep(&mut self, sweep: &mut Sweep, records: usize, keep: impl FnMut(&Flow) -> bool) -> usize {
        self.writer.sweep(sweep, records, keep)
    }

    fn reserve(&mut self, additional: usize) {
        self.writer.reserve(additional);
    }

    fn prefetch(&self, keys: &[Key]) {
        self.writer.prefetch(keys);
    }

    fn all(&self) -> Vec<Flow> {
        self.writer.iter().copied().collect()
    }

    fn len(&self) -> usize {
        self.writer.len()
    }
}

/// A table with a map that has the same records.
struct Both<T> {
    table: T,
    map: HashMap<u32, Flow>,
    limit: usize,
    alike: u32,
    sweep: Sweep,
    /// How many keys more are worth the time.
    left: u32,
}

impl<T: Flows> Both<T> {
    fn key(&self, number: u32) -> Key {
        Key { number, alike: self.alike }
    }

    fn insert(&mut self, number: u32, value: u64) {
        let flow = Flow { key: self.key(number), value };
        match self.table.insert(flow) {
            Ok(()) => assert_eq!(self.map.insert(number, flow), None),
            Err(FlowInsertError::Duplicate(back)) => {
                assert!(back == flow && self.map.contains_key(&number));
            }
            Err(FlowInsertError::Full(back)) => {
                assert!(back == flow && self.map.len() == self.limit && !self.map.contains_key(&number));
            }
            Err(FlowInsertError::Crowded(back)) => {
                assert!(back == flow && !self.map.contains_key(&number));
                assert!(self.alike > 7, "{} of {}, {} alike", self.map.len(), self.limit, self.alike);
            }
        }
    }

    fn remove(&mut self, number: u32) {
        assert_eq!(self.table.remove(&self.key(number)), self.map.remove(&number));
    }

    fn change(&mut self, number: u32, value: u64) {
        let flow = Flow { key: self.key(number), value };
        let before = self.map.get_mut(&number).map(|found| std::mem::replace(found, flow));
        assert_eq!(self.table.change(flow), before);
    }

    fn sweep(&mut self, records: usize, value: u64) {
        let mut gone = Vec::new();
        let count = self.table.sweep(&mut self.sweep, records, |flow| {
            let goes = flow.value % 8 == value % 8;
            gone.extend(goes.then_some(*flow));
            !goes
        });
        assert_eq!(count, gone.len());
        gone.iter().for_each(|flow| assert_eq!(self.map.remove(&flow.key.number), Some(*flow)));
    }

    fn look(&self, first: u32, count: u32) {
        let keys: Vec<_> = (first..first + count).map(|number| self.key(number)).collect();
        self.table.prefetch(&keys);
        for (key, found) in keys.iter().zip(self.table.get_batch(&keys)) {
            assert_eq!(found.as_ref(), self.map.get(&key.number));
            assert_eq!(found, self.table.get(key));
        }
    }

    /// Five octets: what is done, with which keys and how many.
    fn step(&mut self, [what, low, high, count, value]: [u8; 5]) {
        let first = u32::from(u16::from_le_bytes([low, high]));
        let count = (u32::from(count) * if what & 0x80 == 0 { 1 } else { 32 }).min(self.left);
        self.left -= count;
        let numbers = first..first + count;
        let value = u64::from(value);
        match what % 8 {
            0 | 1 => numbers.for_each(|number| self.insert(number, value + u64::from(number))),
            2 => numbers.for_each(|number| self.remove(number)),
            // One goes and one comes, again and again.
            3 => numbers.for_each(|number| {
                self.remove(number);
                self.insert(number + 1000, value);
            }),
            4 => numbers.for_each(|number| self.change(number, value)),
            5 => self.sweep(count as usize, value),
            6 => self.look(first, count),
            _ => self.table.reserve(count as usize),
        }
        assert_eq!(self.table.len(), self.map.len());
    }

    fn check(&self) {
        for (number, flow) in &self.map {
            assert_eq!(self.table.get(&self.key(*number)), Some(*flow));
        }
        let all = self.table.all();
        assert_eq!(all.len(), self.map.len());
        all.iter().for_each(|flow| assert_eq!(self.map.get(&flow.key.number), Some(flow)));
    }
}

fn run(table: impl Flows, limit: usize, alike: u32, steps: &[u8]) {
    // To find that no room can be made takes long.
    let left = if alike > 7 { 2_000 } else { 8_000 };
    let mut both = Both { table, map: HashMap::new(), limit, alike, sweep: Sweep::default(), left };
    steps.as_chunks::<5>().0.iter().for_each(|step| both.step(*step));
    both.check();
}

fuzz_target!(|bytes: &[u8]| {
    let [kind, seed, steps @ ..] = bytes else { return };
    let limit = [1, 3, 100, 1_500, 5_000, 16_001, 20_000, 60_000][usize::from(kind % 8)];
    let alike = [1, 1, 2, 7, 40, 200, 3_000, 70_000][usize::from(kind / 8 % 8)];
    let seed = u64::from(*seed);
    if kind & 0x40 == 0 {
        run(FlowTable::new(limit, seed), limit, alike, steps);
    } else {
        let (writer, reader) = flow_table(limit, seed);
        run(Read { writer, reader }, limit, alike, steps);
    }
});
