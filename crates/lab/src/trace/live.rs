//! The flows that are alive: what an end system or a middlebox would keep a record of.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::hint::black_box;

use throughline_capture::{FIN, RST, SYN};

use super::order::Order;

/// No slot.
const NOWHERE: u32 = u32::MAX;
/// Packets looked up together.
const STRIDE: usize = 32;
/// How long a closed connection is kept, as TCP's TIME-WAIT, in nanoseconds.
pub const LINGER: u64 = 60_000_000_000;

/// What the flow table may keep.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Flows at once.
    pub flows: usize,
    /// Nanoseconds after which a silent flow is taken for over.
    pub idle: u64,
    /// Whether both directions are one flow, closed when both have ended.
    pub both_directions: bool,
}

/// A packet as the table of flows sees it.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<K> {
    /// Its flow.
    pub key: K,
    /// Whether it goes from the flow's second end to its first.
    pub reversed: bool,
    /// `FIN`, `SYN`, `RST`.
    pub bits: u8,
    /// When it came, in nanoseconds.
    pub time: u64,
    /// Which packet it is, counted over all flows.
    pub number: u64,
}

/// What was found when a packet came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The flow's slot.
    pub slot: u32,
    /// Whether the flow begins here.
    pub new: bool,
    /// Packets since the flow's last one; 0 for a new flow.
    pub interval: u64,
    /// The flow's place by last use, or for a new one how many there were.
    pub recency: usize,
    /// The flow's place by age, newest first, or for a new one how many there were.
    pub age: usize,
}

#[derive(Clone, Copy, Debug)]
struct Record<K> {
    key: K,
    last_time: u64,
    last_number: u64,
    /// Which directions have ended: bits 1 and 2.
    ended: u8,
    /// When the last of them did; 0 while the flow is open.
    closed_at: u64,
}

/// Why a flow left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It was silent.
    Idle,
    /// It was closed.
    Closed,
    /// There was no room.
    Evicted,
}

/// All flows of one address family.
#[derive(Debug)]
pub struct Live<K> {
    limits: Limits,
    index: HashMap<K, u32, foldhash::fast::RandomState>,
    records: Vec<Record<K>>,
    free: Vec<u32>,
    recency: Order,
    age: Order,
    /// Flows in the order of their being closed.
    closing: VecDeque<(u32, u64)>,
}

impl<K: Copy + Eq + Hash> Live<K> {
    /// No flows.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            index: HashMap::default(),
            records: Vec::new(),
            free: Vec::new(),
            recency: Order::new(),
            age: Order::new(),
            closing: VecDeque::new(),
        }
    }

    /// How many flows are alive.
    pub fn len(&self) -> usize {
        self.age.len()
    }

    /// The keys of all flows with their slots.
    pub fn iter(&self) -> impl Iterator<Item = (K, u32)> {
        self.index.iter().map(|(key, slot)| (*key, *slot))
    }

    /// Numbers of the last packets of all flows.
    pub fn last_numbers(&self) -> impl Iterator<Item = u64> {
        self.index.values().map(|slot| self.records[*slot as usize].last_number)
    }

    /// Packets have come: appends what was found for each.
    pub fn arrive(&mut self, packets: &[Arrival<K>], found: &mut Vec<Found>) {
        let mut slots = [NOWHERE; STRIDE];
        for some in packets.chunks(STRIDE) {
            // Lookups and touches that do not depend on one another wait for memory together.
            for (slot, packet) in slots.iter_mut().zip(some) {
                *slot = self.index.get(&packet.key).copied().unwrap_or(NOWHERE);
            }
            for slot in &slots[..some.len()] {
                if let Some(record) = self.records.get(*slot as usize) {
                    black_box((record.last_number, self.recency.peek(*slot), self.age.peek(*slot)));
                }
            }
            for (slot, packet) in slots.iter().zip(some) {
                let slot = if *slot == NOWHERE { self.index.get(&packet.key).copied() } else { Some(*slot) };
                let seen = self.see(slot, packet);
                self.note(seen.slot, packet);
                found.push(seen);
            }
        }
    }

    #[inline]
    fn see(&mut self, slot: Option<u32>, packet: &Arrival<K>) -> Found {
        let live = self.len();
        let Some(slot) = slot else {
            return Found { slot: self.begin(packet), new: true, interval: 0, recency: live, age: live };
        };
        let interval = packet.number - self.records[slot as usize].last_number;
        let recency = self.recency.place(slot);
        if recency > 1 {
            self.recency.move_to_front(slot);
        }
        Found { slot, new: false, interval, recency, age: self.age.place(slot) }
    }

    fn begin(&mut self, packet: &Arrival<K>) -> u32 {
        let record =
            Record { key: packet.key, last_time: 0, last_number: packet.number, ended: 0, closed_at: 0 };
        let slot = match self.free.pop() {
            Some(slot) => {
                self.records[slot as usize] = record;
                slot
            }
            None => {
                self.records.push(record);
                self.records.len() as u32 - 1
            }
        };
        self.index.insert(packet.key, slot);
        self.recency.move_to_front(slot);
        self.age.move_to_front(slot);
        slot
    }

    fn note(&mut self, slot: u32, packet: &Arrival<K>) {
        let record = &mut self.records[slot as usize];
        (record.last_time, record.last_number) = (packet.time, packet.number);
        if packet.bits == 0 {
            return;
        }
        if packet.bits & SYN != 0 {
            (record.ended, record.closed_at) = (0, 0);
        }
        if packet.bits & FIN != 0 {
            record.ended |= 1 << u8::from(packet.reversed);
        }
        let over = if self.limits.both_directions { record.ended == 3 } else { record.ended != 0 };
        if (over || packet.bits & RST != 0) && record.closed_at == 0 {
            record.closed_at = packet.time.max(1);
            self.closing.push_back((slot, record.closed_at));
        }
    }

    /// Lets flows go that are over at a time, and the longest unused as long as there is no room for `room` more.
    pub fn expire(&mut self, now: u64, room: usize, mut gone: impl FnMut(K, u32, u64, End)) {
        while let Some((slot, since)) = self.closing.front().copied() {
            let record = self.records[slot as usize];
            let current = record.closed_at == since;
            // Connections opened and closed again and again must not fill the queue.
            if current && since + LINGER > now && self.closing.len() <= self.limits.flows {
                break;
            }
            self.closing.pop_front();
            if current {
                self.remove(slot);
                gone(record.key, slot, record.last_number, End::Closed);
            }
        }
        while let Some(slot) = self.recency.oldest() {
            let record = self.records[slot as usize];
            let end = match () {
                () if record.last_time.saturating_add(self.limits.idle) <= now => End::Idle,
                () if self.len() + room > self.limits.flows.max(room) => End::Evicted,
                () => break,
            };
            self.remove(slot);
            gone(record.key, slot, record.last_number, end);
        }
    }

    fn remove(&mut self, slot: u32) {
        self.index.remove(&self.records[slot as usize].key);
        self.recency.take(slot);
        self.age.take(slot);
        self.records[slot as usize].closed_at = 0;
        self.free.push(slot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn live(flows: usize) -> Live<u32> {
        Live::new(Limits { flows, idle: 300 * SECOND, both_directions: true })
    }

    fn packet(key: u32, second: u64, bits: u8, reversed: bool) -> Arrival<u32> {
        Arrival { key, reversed, bits, time: second * SECOND, number: second }
    }

    fn arrive(live: &mut Live<u32>, packet: Arrival<u32>) -> Found {
        let mut found = Vec::new();
        live.arrive(&[packet], &mut found);
        found[0]
    }

    fn gone(live: &mut Live<u32>, second: u64, room: usize) -> Vec<(u32, End)> {
        let mut all = Vec::new();
        live.expire(second * SECOND, room, |key, _, _, end| all.push((key, end)));
        all
    }

    #[test]
    fn places() {
        let mut live = live(100);
        for key in 0..4 {
            let found = arrive(&mut live, packet(key, u64::from(key), 0, false));
            assert_eq!((found.new, found.recency, found.age), (true, key as usize, key as usize));
        }
        let found = arrive(&mut live, packet(0, 10, 0, false));
        assert_eq!((found.new, found.interval, found.recency, found.age), (false, 10, 4, 4));
        let found = arrive(&mut live, packet(0, 11, 0, false));
        assert_eq!((found.interval, found.recency, found.age), (1, 1, 4));
        assert_eq!(arrive(&mut live, packet(3, 12, 0, false)).recency, 2);
    }

    #[test]
    fn silent_flows_leave() {
        let mut live = live(100);
        arrive(&mut live, packet(1, 1, 0, false));
        arrive(&mut live, packet(2, 200, 0, false));
        assert_eq!(gone(&mut live, 300, 0), []);
        assert_eq!(gone(&mut live, 301, 0), [(1, End::Idle)]);
        assert!(arrive(&mut live, packet(1, 302, 0, false)).new);
    }

    #[test]
    fn closed_connections_linger() {
        let mut live = live(100);
        arrive(&mut live, packet(1, 1, FIN, false));
        assert_eq!(gone(&mut live, 100, 0), []);
        arrive(&mut live, packet(1, 100, FIN, true));
        arrive(&mut live, packet(2, 100, RST, true));
        arrive(&mut live, packet(3, 101, RST, true));
        arrive(&mut live, packet(3, 102, SYN, false));
        assert_eq!(gone(&mut live, 159, 0), []);
        assert_eq!(gone(&mut live, 170, 0), [(1, End::Closed), (2, End::Closed)]);
        assert_eq!(live.len(), 1);
    }

    #[test]
    fn the_longest_unused_makes_room() {
        let mut live = live(10);
        (0..10).for_each(|key| assert!(arrive(&mut live, packet(key, 1, 0, false)).new));
        arrive(&mut live, packet(0, 2, 0, false));
        assert_eq!(gone(&mut live, 2, 2), [(1, End::Evicted), (2, End::Evicted)]);
        assert_eq!(live.len(), 8);
    }
}
