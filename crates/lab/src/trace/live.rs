//! The flows that are alive: what an end system or a middlebox would keep a record of.

use std::collections::VecDeque;
use std::hash::BuildHasher;
use std::hint::black_box;

use hashbrown::HashTable;
use throughline_capture::{FIN, RST, SYN};
use throughline_demux::{ChainsMoveToFront, ConfigError, HashKind, Key, prefetch};

use super::list::{List, Members, Places, Walk};
use super::options::Options;

/// Packets looked up together.
const STRIDE: usize = 32;
/// How long a closed connection is kept, as TCP's TIME-WAIT, in nanoseconds.
pub(super) const LINGER: u64 = 60_000_000_000;
/// Chains of fewer flows than this, in the mean, are not counted by distance: they can be walked.
const LONG: usize = 16;

/// A packet as the table of flows sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival<K> {
    /// Its flow.
    pub(super) key: K,
    /// Whether it goes from the flow's second end to its first.
    pub(super) reversed: bool,
    /// `FIN`, `SYN`, `RST`.
    pub(super) bits: u8,
    /// When it came, in nanoseconds.
    pub(super) time: u64,
    /// Which packet it is, counted over all flows.
    pub(super) number: u64,
}

/// What was found when a packet came. Small: as many as a batch has are written, and read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The flow's slot.
    pub(super) slot: u32,
    /// Whether the flow begins here.
    pub(super) new: bool,
    /// Packets since the flow's last one; 0 for a new flow.
    pub(super) interval: u64,
    /// How many flows there are now.
    pub(super) flows: u32,
    /// In a list of all flows.
    pub(super) whole: Walk,
    /// In the list of the flow's chain, if [chains are counted](Live::counts_chains).
    pub(super) chain: Walk,
}

/// What looking for a packet's flow came to so far.
#[derive(Clone, Copy, Default)]
struct Sought {
    slot: u32,
    /// Whether the flow had no slot before.
    new: bool,
}

/// A flow; one line of a cache, if its key is one of IPv4.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Record<K> {
    key: K,
    last_time: u64,
    last_number: u64,
    /// When the last direction ended; 0 while the flow is open.
    closed_at: u64,
    whole: Places,
    chain: Places,
    chain_number: u32,
    /// Which directions have ended: bits 1 and 2.
    ended: u8,
}

/// The records, as members of the list of all flows.
struct OfAll<'r, K>(&'r mut [Record<K>]);

impl<K> Members for OfAll<'_, K> {
    #[inline]
    fn places(&mut self, slot: u32) -> &mut Places {
        &mut self.0[slot as usize].whole
    }
}

/// The records, as members of chains.
struct OfChain<'r, K>(&'r mut [Record<K>]);

impl<K> Members for OfChain<'_, K> {
    #[inline]
    fn places(&mut self, slot: u32) -> &mut Places {
        &mut self.0[slot as usize].chain
    }
}

/// Why a flow left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It was silent.
    Idle,
    /// It was closed.
    Closed,
    /// There was no room.
    Evicted,
}

/// All flows of one address family.
pub(super) struct Live<K> {
    /// Flows at once.
    limit: usize,
    /// Nanoseconds after which a silent flow is taken for over.
    idle: u64,
    /// Whether both directions are one flow, closed when both have ended.
    both_directions: bool,
    /// Slots by keys, which the records have.
    index: HashTable<u32>,
    hash: foldhash::fast::RandomState,
    records: Vec<Record<K>>,
    free: Vec<u32>,
    all: List,
    /// Without any, chains are not counted.
    chains: Vec<List>,
    /// Knows which chain a key is on, as the lookups do.
    pick: ChainsMoveToFront<K>,
    /// Flows in the order of their being closed.
    closing: VecDeque<(u32, u64)>,
}

impl<K: Key + Copy> Live<K> {
    /// No flows.
    ///
    /// # Errors
    /// When there cannot be so many chains.
    pub(super) fn new(options: &Options) -> Result<Self, ConfigError> {
        let pick =
            ChainsMoveToFront::with_chains(options.chains, HashKind::default().with_seed(options.seed), 0)?;
        let counted = if options.flows / options.chains < LONG { 0 } else { options.chains };
        Ok(Self {
            limit: options.flows,
            idle: options.idle,
            both_directions: options.both_directions,
            index: HashTable::new(),
            hash: foldhash::fast::RandomState::default(),
            records: Vec::new(),
            free: Vec::new(),
            all: List::default(),
            chains: (0..counted).map(|_| List::default()).collect(),
            pick,
            closing: VecDeque::new(),
        })
    }

    /// How many flows are alive.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether walks of chains are counted: they may be too long to walk.
    pub(super) fn counts_chains(&self) -> bool {
        !self.chains.is_empty()
    }

    /// Numbers of the last packets of all flows.
    pub(super) fn last_numbers(&self) -> impl Iterator<Item = u64> {
        self.index.iter().map(|slot| self.records[*slot as usize].last_number)
    }

    /// Packets have come: appends what was found for each.
    pub(super) fn arrive(&mut self, packets: &[Arrival<K>], found: &mut Vec<Found>) {
        let mut sought = [Sought::default(); STRIDE];
        for some in packets.chunks(STRIDE) {
            // Whatever is found in the place of a packet's flow is found again for the next one of the same flow: nothing moves.
            let hash = |slot: &u32| self.hash.hash_one(self.records[*slot as usize].key);
            self.index.reserve(STRIDE, hash);
            // Lookups and touches that do not depend on one another wait for memory together.
            for (sought, packet) in sought.iter_mut().zip(some) {
                *sought = self.seek(packet);
            }
            for Sought { slot, .. } in &sought[..some.len()] {
                let record = &self.records[*slot as usize];
                let chain = self.chains.get(record.chain_number as usize);
                black_box((self.all.peek(record.whole), chain.map(|chain| chain.peek(record.chain))));
            }
            for (sought, packet) in sought.iter().zip(some) {
                let seen = self.find(*sought, packet);
                self.note(seen.slot, packet);
                found.push(seen);
            }
        }
    }

    /// Where a packet's flow is likely to be: there, or nowhere, in which case it has a slot from now on. Its record is on its way, and
    /// has not been waited for.
    #[inline]
    fn seek(&mut self, packet: &Arrival<K>) -> Sought {
        match self.index.find(self.hash.hash_one(packet.key), |_| true) {
            Some(slot) => {
                prefetch(&self.records[*slot as usize]);
                Sought { slot: *slot, new: false }
            }
            None => Sought { slot: self.give_slot(packet), new: true },
        }
    }

    #[inline]
    fn find(&mut self, Sought { slot, new }: Sought, packet: &Arrival<K>) -> Found {
        if new {
            return self.begin(slot);
        }
        if self.records[slot as usize].key == packet.key {
            return self.again(slot, packet);
        }
        // The hash of another one begins like this one's.
        match self.slot_of(&packet.key) {
            Some(slot) => self.again(slot, packet),
            None => {
                let slot = self.give_slot(packet);
                self.begin(slot)
            }
        }
    }

    #[inline]
    fn slot_of(&self, key: &K) -> Option<u32> {
        let same = |slot: &u32| self.records[*slot as usize].key == *key;
        self.index.find(self.hash.hash_one(key), same).copied()
    }

    #[inline]
    fn again(&mut self, slot: u32, packet: &Arrival<K>) -> Found {
        let record = &self.records[slot as usize];
        let (interval, chain_number) = (packet.number - record.last_number, record.chain_number);
        let whole = self.all.find(slot, &mut OfAll(&mut self.records));
        let chain = self.chains.get_mut(chain_number as usize);
        let chain = chain.map(|chain| chain.find(slot, &mut OfChain(&mut self.records))).unwrap_or_default();
        Found { slot, new: false, interval, flows: self.len() as u32, whole, chain }
    }

    /// A record for a flow that has none.
    fn give_slot(&mut self, packet: &Arrival<K>) -> u32 {
        let record = Record {
            key: packet.key,
            last_time: 0,
            last_number: packet.number,
            closed_at: 0,
            whole: Places::default(),
            chain: Places::default(),
            chain_number: self.pick.chain_of(&packet.key) as u32,
            ended: 0,
        };
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
        let hash = |slot: &u32| self.hash.hash_one(self.records[*slot as usize].key);
        self.index.insert_unique(hash(&slot), slot, hash);
        slot
    }

    /// The first packet of a flow.
    #[inline]
    fn begin(&mut self, slot: u32) -> Found {
        let chain_number = self.records[slot as usize].chain_number;
        let whole = self.all.begin(slot, &mut OfAll(&mut self.records));
        let chain = self.chains.get_mut(chain_number as usize);
        let chain = chain.map(|chain| chain.begin(slot, &mut OfChain(&mut self.records))).unwrap_or_default();
        Found { slot, new: true, interval: 0, flows: self.len() as u32, whole, chain }
    }

    /// A packet has gone the other way, which is not looked up: it may end its flow.
    pub(super) fn answer(&mut self, packet: &Arrival<K>) {
        if let Some(slot) = self.slot_of(&packet.key) {
            self.note_bits(slot, packet);
        }
    }

    fn note(&mut self, slot: u32, packet: &Arrival<K>) {
        let record = &mut self.records[slot as usize];
        (record.last_time, record.last_number) = (packet.time, packet.number);
        if packet.bits != 0 {
            self.note_bits(slot, packet);
        }
    }

    fn note_bits(&mut self, slot: u32, packet: &Arrival<K>) {
        let record = &mut self.records[slot as usize];
        if packet.bits & SYN != 0 {
            (record.ended, record.closed_at) = (0, 0);
        }
        if packet.bits & FIN != 0 {
            record.ended |= 1 << u8::from(packet.reversed);
        }
        let over = if self.both_directions { record.ended == 3 } else { record.ended != 0 };
        if (over || packet.bits & RST != 0) && record.closed_at == 0 {
            record.closed_at = packet.time.max(1);
            self.closing.push_back((slot, record.closed_at));
        }
    }

    /// When the time of the packets that came is known, which was taken to be 0.
    pub(super) fn begin_at(&mut self, time: u64) {
        for record in &mut self.records {
            record.last_time = time;
            if record.closed_at != 0 {
                record.closed_at = time;
            }
        }
        self.closing.iter_mut().for_each(|(_, since)| *since = time);
    }

    /// Lets flows go that are over at a time.
    pub(super) fn expire(&mut self, now: u64, mut gone: impl FnMut(K, u32, u64, End)) {
        while let Some((slot, since)) = self.closing.front().copied() {
            let record = self.records[slot as usize];
            let current = record.closed_at == since;
            // Connections opened and closed again and again must not fill the queue.
            if current && now.saturating_sub(since) < LINGER && self.closing.len() <= self.limit {
                break;
            }
            self.closing.pop_front();
            if current {
                self.remove(slot);
                gone(record.key, slot, record.last_number, End::Closed);
            }
        }
        let idle = self.idle;
        self.let_go(|record| now.saturating_sub(record.last_time) >= idle, End::Idle, gone);
    }

    /// The number of the packet that is the last of the flow unused longest.
    pub(super) fn oldest_number(&mut self) -> Option<u64> {
        self.all.oldest().map(|slot| self.records[slot as usize].last_number)
    }

    /// Takes out flows unused longest, as many at most, whose last packets came before one.
    pub(super) fn evict(&mut self, mut most: usize, before: u64, gone: impl FnMut(K, u32, u64, End)) {
        let more = |record: &Record<K>| {
            let some = most > 0;
            most = most.saturating_sub(1);
            some && record.last_number < before
        };
        self.let_go(more, End::Evicted, gone);
    }

    /// Takes the flow out that is unused longest, as long as `is_over` says so.
    fn let_go(
        &mut self,
        mut is_over: impl FnMut(&Record<K>) -> bool,
        end: End,
        mut gone: impl FnMut(K, u32, u64, End),
    ) {
        // Of those that were looked at together.
        let mut left = 0;
        while let Some(slot) = self.all.oldest() {
            let record = self.records[slot as usize];
            if !is_over(&record) {
                break;
            }
            if left == 0 {
                left = STRIDE;
                self.peek_oldest();
            }
            left -= 1;
            self.remove(slot);
            gone(record.key, slot, record.last_number, end);
        }
    }

    /// Reads what taking out those unused longest will need: their waits for memory overlap.
    fn peek_oldest(&self) {
        for slot in self.all.oldest_few().take(STRIDE) {
            let record = &self.records[slot as usize];
            let entry = self.index.find(self.hash.hash_one(record.key), |other| *other == slot);
            let chain = self.chains.get(record.chain_number as usize);
            black_box((entry, self.all.peek(record.whole), chain.map(|chain| chain.peek(record.chain))));
        }
    }

    fn remove(&mut self, slot: u32) {
        let record = self.records[slot as usize];
        let entry = self.index.find_entry(self.hash.hash_one(record.key), |other| *other == slot);
        entry.expect("every flow is in the index").remove();
        self.all.remove(slot, record.whole);
        if let Some(chain) = self.chains.get_mut(record.chain_number as usize) {
            chain.remove(slot, record.chain);
        }
        self.records[slot as usize].closed_at = 0;
        self.free.push(slot);
    }
}

#[cfg(test)]
mod tests {
    use super::super::list::Cached;
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn live(flows: usize) -> Live<u32> {
        Live::new(&Options { flows, chains: 1, idle: 300 * SECOND, ..Options::default() }).unwrap()
    }

    fn packet(key: u32, second: u64, bits: u8, reversed: bool) -> Arrival<u32> {
        Arrival { key, reversed, bits, time: second * SECOND, number: second }
    }

    fn arrive(live: &mut Live<u32>, packet: Arrival<u32>) -> Found {
        let mut found = Vec::new();
        live.arrive(&[packet], &mut found);
        found[0]
    }

    fn gone(live: &mut Live<u32>, second: u64) -> Vec<(u32, End)> {
        let mut all = Vec::new();
        live.expire(second * SECOND, |key, _, _, end| all.push((key, end)));
        all
    }

    #[test]
    fn places() {
        let mut live = live(100);
        for key in 0..4 {
            let Found { new, flows, whole, .. } = arrive(&mut live, packet(key, u64::from(key), 0, false));
            assert_eq!((new, flows, whole.by_use, whole.by_age), (true, key + 1, key, key));
        }
        let mut again = |key, second| {
            let Found { new, interval, whole, chain, .. } = arrive(&mut live, packet(key, second, 0, false));
            assert!(!new && chain == whole, "one chain is a list of all");
            (interval, whole.by_use, whole.by_age, whole.cached)
        };
        assert_eq!(again(0, 10), (10, 4, 4, Cached::Nothing));
        assert_eq!(again(0, 11), (1, 1, 4, Cached::This));
        assert_eq!(again(3, 12), (9, 2, 1, Cached::Another));
        assert_eq!(arrive(&mut live, packet(9, 13, 0, false)).whole.cached, Cached::Another);
    }

    /// Also while the index grows, and where hashes begin alike.
    #[test]
    fn packets_that_come_together_find_what_they_would_one_by_one() {
        for round in 0..20 {
            let (mut together, mut alone) = (live(5000), live(5000));
            // Each flow comes twice: among the next ones, as a rule.
            let keys =
                (0..2000).flat_map(|n| [n, n.max(8) - 8]).map(|n: u32| n.wrapping_mul(0x9e37_79b9) + round);
            let packets: Vec<_> = keys.zip(0..).map(|(key, second)| packet(key, second, 0, false)).collect();
            let mut found = Vec::new();
            packets.chunks(500).for_each(|some| together.arrive(some, &mut found));
            for (packet, found) in packets.iter().zip(found) {
                let other = arrive(&mut alone, *packet);
                // Slots are given in another order.
                assert_eq!(Found { slot: other.slot, ..found }, other);
            }
        }
    }

    #[test]
    fn short_chains_are_not_counted() {
        let chains = |flows, chains| {
            Live::<u32>::new(&Options { flows, chains, ..Options::default() })
                .map(|live| live.counts_chains())
        };
        assert_eq!((chains(160, 10), chains(159, 10)), (Ok(true), Ok(false)));
        assert_eq!(chains(160, 0), Err(ConfigError::ZeroChains));
    }

    #[test]
    fn silent_flows_leave() {
        let mut live = live(100);
        arrive(&mut live, packet(1, 1, 0, false));
        arrive(&mut live, packet(2, 200, 0, false));
        assert_eq!(gone(&mut live, 300), []);
        assert_eq!(gone(&mut live, 301), [(1, End::Idle)]);
        assert!(arrive(&mut live, packet(1, 302, 0, false)).new);
    }

    #[test]
    fn closed_connections_linger() {
        let mut live = live(100);
        arrive(&mut live, packet(1, 1, FIN, false));
        assert_eq!(gone(&mut live, 100), []);
        arrive(&mut live, packet(1, 100, FIN, true));
        arrive(&mut live, packet(2, 100, RST, true));
        arrive(&mut live, packet(3, 101, RST, true));
        arrive(&mut live, packet(3, 102, SYN, false));
        assert_eq!(gone(&mut live, 159), []);
        assert_eq!(gone(&mut live, 170), [(1, End::Closed), (2, End::Closed)]);
        assert_eq!(live.len(), 1);
    }

    #[test]
    fn the_longest_unused_makes_room() {
        let mut live = live(10);
        (0..10).for_each(|key| assert!(arrive(&mut live, packet(key, 1, 0, false)).new));
        arrive(&mut live, packet(0, 2, 0, false));
        let evicted = |live: &mut Live<u32>, most, before| {
            let mut all = Vec::new();
            live.evict(most, before, |key, _, _, end| all.push((key, end)));
            all
        };
        assert_eq!(evicted(&mut live, 2, u64::MAX), [(1, End::Evicted), (2, End::Evicted)]);
        assert_eq!(live.len(), 8);
        assert_eq!((live.oldest_number(), evicted(&mut live, 2, 1)), (Some(1), vec![]));
        assert_eq!(evicted(&mut live, 10, 2).len(), 7);
        assert_eq!((live.oldest_number(), live.len()), (Some(2), 1));
        assert_eq!((evicted(&mut live, 10, 3).len(), live.oldest_number()), (1, None));
    }
}
