//! Each record of a `FlowTable` has one owner, whatever its key says of itself: keys may change while they are in a table, and
//! their own code may answer as it likes, or panic. Then records are not found; but none is dropped twice, looked at when it is
//! gone, or lost.

use std::{
    cell::{Cell, RefCell},
    hash::{Hash, Hasher},
    panic::{AssertUnwindSafe, catch_unwind},
    rc::Rc,
};

use throughline_demux::{FlowInsertError, FlowTable, Sweep};

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

/// Whether a key is alive; and what went wrong with any of them.
#[derive(Default)]
struct Lives {
    alive: Vec<bool>,
    wrong: usize,
}

struct Key {
    name: u64,
    number: usize,
    lives: Rc<RefCell<Lives>>,
}

impl Key {
    fn new(name: u64, lives: &Rc<RefCell<Lives>>) -> Self {
        lives.borrow_mut().alive.push(true);
        Self { name, number: lives.borrow().alive.len() - 1, lives: Rc::clone(lives) }
    }

    /// Its name, or another, or none.
    fn answer(&self) -> u64 {
        let alive = self.lives.borrow().alive[self.number];
        self.lives.borrow_mut().wrong += usize::from(!alive);
        let manners = MANNERS.get();
        assert!(random(manners.panics) != 1, "a key that panics");
        if random(manners.lies) == 1 { random(1 << 20) } else { self.name }
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
        self.answer().hash(state);
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
fn step(table: &mut Table, sweep: &mut Sweep, names: u64, grows: bool, lives: &Rc<RefCell<Lives>>) {
    let key = Key::new(random(names), lives);
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
                record.0.name = random(names);
            }
        }
        11 => {
            let mut found = [None; 33];
            let keys: Vec<Key> =
                (0..if cfg!(miri) { 3 } else { 33 }).map(|_| Key::new(random(names), lives)).collect();
            table.get_batch(&keys, &mut found);
            assert!(found.iter().flatten().all(|record| record.1 == 0));
        }
        12 => {
            table.sweep(sweep, 20, |record| {
                assert!(lives.borrow().alive[record.0.number]);
                if random(20) == 0 {
                    record.0.name = random(names);
                }
                random(8) != 0
            });
        }
        13 if random(names) == 0 => _ = table.retain(|record| record.0.number % 2 == 0),
        _ => _ = table.remove(&key),
    }
}

/// A table that grows, shrinks and grows again among keys of such manners.
fn live(manners: Manners, limit: u64, seed: u64) {
    RANDOM.set(seed);
    let lives = Rc::new(RefCell::new(Lives::default()));
    let mut table = Table::new(limit as usize, seed);
    let mut sweep = Sweep::default();
    for grows in [true, false, true, false].into_iter().take(PHASES) {
        for _ in 0..if cfg!(miri) { limit } else { 2 * limit } {
            MANNERS.set(manners);
            // What a panic leaves is what the next step finds.
            let _ = catch_unwind(AssertUnwindSafe(|| step(&mut table, &mut sweep, limit, grows, &lives)));
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

#[test]
fn keys_that_lie_and_panic() {
    std::panic::set_hook(Box::new(|info| {
        let told = info.payload_as_str().unwrap_or("");
        if told != "a key that panics" {
            eprintln!("{info}");
        }
    }));
    for &limit in LIMITS {
        for (lies, seed) in [(30, 4), (300, 5), (3, 6)].into_iter().take(MANNERS_TRIED) {
            live(Manners { lies, panics: 300 }, limit, seed);
        }
    }
}
