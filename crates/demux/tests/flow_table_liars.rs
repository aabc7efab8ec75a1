//! Each record of a `FlowTable` has one owner, whatever its key says of itself: keys may change while they are in a table, and
//! their own code may answer as it likes, or panic. Then records are not found; but none is dropped twice, looked at when it is
//! gone, or lost.

use std::{
    cell::{Cell, RefCell},
    hash::{Hash, Hasher},
    panic::{AssertUnwindSafe, catch_unwind},
    rc::Rc,
};

use throughline_demux::{FlowInsertError, FlowTable, KeyHash, Keyed, Sweep};

/// When keys lie, and when they panic: once in so many answers, or never.
#[derive(Clone, Copy)]
struct Manners {
    lies: u64,
    panics: u64,
}

const HONEST: Manners = Manners { lies: u64::MAX, panics: u64::MAX };

thread_local! {
    static MANNERS: Cell<Manners> = const { Cell::new(HONEST) };
    static RANDOM: Cell<u64> = const { Cell::new(1) };
}

fn random(below: u64) -> u64 {
    let next = RANDOM.get().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    RANDOM.set(next);
    (next >> 33) % below
}

/// Whether a key is alive; what went wrong with any of them; and the names there are.
#[derive(Default)]
struct Lives {
    alive: Vec<bool>,
    wrong: usize,
    names: Vec<u64>,
}

impl Lives {
    fn name(&self) -> u64 {
        self.names[random(self.names.len() as u64) as usize]
    }
}

struct Key {
    name: u64,
    number: usize,
    lives: Rc<RefCell<Lives>>,
}

impl Key {
    fn new(lives: &Rc<RefCell<Lives>>) -> Self {
        let name = lives.borrow().name();
        lives.borrow_mut().alive.push(true);
        Self { name, number: lives.borrow().alive.len() - 1, lives: Rc::clone(lives) }
    }

    /// Its name, or another, or none.
    fn answer(&self) -> u64 {
        let alive = self.lives.borrow().alive[self.number];
        self.lives.borrow_mut().wrong += usize::from(!alive);
        let manners = MANNERS.get();
        assert!(random(manners.panics) != 1, "a key that panics");
        if random(manners.lies) == 1 { self.lives.borrow().name() } else { self.name }
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        let mut lives = self.lives.borrow_mut();
        let alive = std::mem::replace(&mut lives.alive[self.number], false);
        lives.wrong += usize::from(!alive);
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Of what it answers, the lower half: keys may differ and have one hash.
        u64::from(self.answer() as u32).hash(state);
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.answer() == other.answer()
    }
}

impl Eq for Key {}

type Table = FlowTable<(Key, u64)>;

/// One step of a table's life, at random.
fn step(table: &mut Table, sweep: &mut Sweep, grows: bool, lives: &Rc<RefCell<Lives>>) {
    let key = Key::new(lives);
    match random(16) {
        0..9 if grows => match table.insert((key, 0)) {
            Ok(()) => {}
            Err(
                FlowInsertError::Duplicate((key, _))
                | FlowInsertError::Full((key, _))
                | FlowInsertError::Crowded((key, _)),
            ) => drop(key),
        },
        9 => _ = table.get(&key),
        10 => {
            if let Some(record) = table.get_mut(&key) {
                record.0.name = lives.borrow().name();
            }
        }
        11 => {
            let mut found = [None; 33];
            let keys: Vec<Key> = (0..if cfg!(miri) { 3 } else { 33 }).map(|_| Key::new(lives)).collect();
            table.get_batch(&keys, &mut found);
            assert!(found.iter().flatten().all(|record| record.1 == 0));
        }
        12 => {
            table.sweep(sweep, 20, |record| {
                assert!(lives.borrow().alive[record.0.number]);
                if random(20) == 0 {
                    record.0.name = lives.borrow().name();
                }
                random(8) != 0
            });
        }
        13 if random(table.limit() as u64) == 0 => _ = table.retain(|record| record.0.number % 2 == 0),
        _ => _ = table.remove(&key),
    }
}

/// A table that grows, shrinks and grows again among keys of such manners, with names enough for all of them.
fn live(manners: Manners, limit: u64, seed: u64) {
    live_among((0..limit).collect(), manners, limit, seed);
}

/// As [`live`], among keys of these names.
fn live_among(names: Vec<u64>, manners: Manners, limit: u64, seed: u64) {
    RANDOM.set(seed);
    let lives = Rc::new(RefCell::new(Lives { names, ..Lives::default() }));
    let mut table = Table::new(limit as usize, seed);
    let mut sweep = Sweep::default();
    for grows in [true, false, true, false].into_iter().take(PHASES) {
        for _ in 0..if cfg!(miri) { limit } else { 2 * limit } {
            MANNERS.set(manners);
            // What a panic leaves is what the next step finds.
            let _ = catch_unwind(AssertUnwindSafe(|| step(&mut table, &mut sweep, grows, &lives)));
            MANNERS.set(HONEST);
        }
        assert_eq!(table.iter().count(), table.len());
        assert!(table.iter().all(|(key, _)| lives.borrow().alive[key.number]));
    }
    drop(table);
    assert!(lives.borrow().alive.iter().all(|alive| !alive), "what is lost was never dropped");
    assert_eq!(lives.borrow().wrong, 0, "seed {seed}");
}

/// Two for few records, one that has all its blocks at once, and one that grows.
const LIMITS: &[u64] = if cfg!(miri) { &[100, 200] } else { &[300, 2_000, 20_000, 40_000] };

const PHASES: usize = if cfg!(miri) { 2 } else { 4 };

const MANNERS_TRIED: usize = if cfg!(miri) { 1 } else { 3 };

#[test]
fn keys_that_change() {
    LIMITS.iter().for_each(|&limit| live(HONEST, limit, limit));
}

#[test]
fn keys_that_lie() {
    for &limit in LIMITS {
        for (lies, seed) in [(20, 1), (200, 2), (2, 3)].into_iter().take(MANNERS_TRIED) {
            live(Manners { lies, panics: u64::MAX }, limit, seed);
        }
    }
}

/// Names that fall into so many buckets of a table for so few records, several for each of few hashes.
fn neighbours(limit: u64, buckets: u64, seed: u64) -> Vec<u64> {
    let keyed = Keyed::new(seed);
    let all = (limit * 3).next_power_of_two().max(4);
    let is_near = |name: &u64| keyed.hash(name) >> 7 & (all - 1) < buckets;
    let near: Vec<u64> = (0..1 << 16).filter(is_near).take(4 + seed as usize % 60).collect();
    near.iter().flat_map(|name| (0..4).map(move |other| name | other << 32)).collect()
}

#[test]
fn neighbours_that_lie() {
    quietly();
    for seed in 0..if cfg!(miri) { 4 } else { 4_000 } {
        let (limit, buckets) = (1 + seed * 7 % 29, 1 + seed % 6);
        let lies = [3, 20, 200][seed as usize % 3];
        let panics = if seed % 4 == 0 { 100 } else { u64::MAX };
        live_among(neighbours(limit, buckets, seed), Manners { lies, panics }, limit, seed);
    }
}

/// Panics that are meant are not shown.
fn quietly() {
    std::panic::set_hook(Box::new(|info| {
        let told = info.payload_as_str().unwrap_or("");
        if told != "a key that panics" {
            eprintln!("{info}");
        }
    }));
}

#[test]
fn keys_that_lie_and_panic() {
    quietly();
    for &limit in LIMITS {
        for (lies, seed) in [(30, 4), (300, 5), (3, 6)].into_iter().take(MANNERS_TRIED) {
            live(Manners { lies, panics: 300 }, limit, seed);
        }
    }
}

/// A key that renews what it owns whenever it is hashed: a record must not be where it could be renewed in two places.
struct Restless {
    id: u64,
    note: RefCell<Box<u64>>,
    hashes: u64,
}

impl Restless {
    fn new(id: u64, hashes: u64) -> Self {
        Self { id, note: RefCell::new(Box::new(0)), hashes }
    }
}

impl PartialEq for Restless {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Restless {}

impl Hash for Restless {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let renewed = Box::new(**self.note.borrow() + 1);
        drop(self.note.replace(renewed));
        // With few bits in which keys differ, or with few hashes for all of them.
        state.write_u64(if self.hashes == 0 { self.id << 40 } else { self.id % self.hashes });
        assert!(random(MANNERS.get().panics) != 1, "a key that panics");
    }
}

/// Whether hashes are spread once more, whether the table becomes one for many, and whether it can't, what a key owns is its own.
#[test]
fn keys_that_change_what_they_own_when_they_are_hashed() {
    quietly();
    let most = if cfg!(miri) { 130 } else { 2_000 };
    // As many hashes as make a table for many of it, and so few that there is no room in any.
    for (hashes, all) in [(0, true), (most / 5, true), (most / 20, true), (1, cfg!(miri))] {
        for panics in [u64::MAX, 3_000] {
            MANNERS.set(Manners { lies: u64::MAX, panics });
            let mut table = FlowTable::<(Restless, u64)>::new(most as usize, 1);
            let mut refused = 0;
            for id in 0..most {
                let insert = AssertUnwindSafe(|| table.insert((Restless::new(id, hashes), id)).is_ok());
                refused += u64::from(!catch_unwind(insert).unwrap_or(false));
            }
            MANNERS.set(HONEST);
            assert!(panics < u64::MAX || (refused == 0) == all, "{hashes}: {refused} of {most}");
            assert_eq!((table.iter().count(), table.len() as u64), (table.len(), most - refused));
            assert!(table.iter().all(|(key, id)| key.id == *id && **key.note.borrow() > 0));
            for id in 0..most {
                let removed = table.remove(&Restless::new(id, hashes));
                assert!(removed.is_none_or(|(key, removed)| removed == id && **key.note.borrow() > 0));
            }
            assert!(table.is_empty());
        }
    }
}

/// As with a vector: the others are dropped all the same.
#[test]
fn a_destructor_that_panics_at_the_end_of_a_table_leaves_no_other_undropped() {
    struct PanicsOnce(Rc<Cell<u32>>);
    impl Drop for PanicsOnce {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
            assert_ne!(self.0.get(), 2, "a key that panics");
        }
    }
    quietly();
    for &limit in LIMITS {
        let drops = Rc::new(Cell::new(0));
        let mut table = FlowTable::new(limit as usize, limit);
        for n in 0..50 {
            assert!(table.insert((n, PanicsOnce(drops.clone()))).is_ok());
        }
        assert!(catch_unwind(AssertUnwindSafe(|| drop(table))).is_err());
        assert_eq!(drops.get(), 50);
    }
}
