//! Strangers who choose keys and handles to do harm.
#![cfg(not(loom))]

use std::{collections::hash_map::RandomState, net::Ipv4Addr};

use throughline_demux::{
    AnyLocator, Arena, CountExamined, Crc32, DynamicHash, Fnv1a, Handle, HashChains, HashKind, Ipv4Flow,
    KeyHash, Keyed, Locator, LocatorConfig, Multiplicative, Slot, Strategy, XorFold,
};

/// Keys of an attack, and as many of ordinary users.
const KEYS: usize = 1_000;
/// As many chains as a table of so many keys has when it doubles them as needed.
const CHAINS: usize = 2_048;

fn flow(n: u32) -> Ipv4Flow {
    let address = Ipv4Addr::from(0x0a00_0000 | n >> 12);
    Ipv4Flow::new(address, 0x8000 | n as u16 & 0xfff, Ipv4Addr::new(192, 0, 2, 1), 443, 6)
}

/// Flows that share a chain under a hash function that the attacker can compute.
fn colliding(hash: &impl KeyHash) -> Vec<Ipv4Flow> {
    let chain = |flow: &Ipv4Flow| hash.hash32(flow) as usize % CHAINS;
    let target = chain(&flow(0));
    let keys: Vec<_> = (0..1 << 24).map(flow).filter(|flow| chain(flow) == target).take(KEYS).collect();
    assert_eq!(keys.len(), KEYS);
    keys
}

/// Mean number of entries examined to find each of the keys once.
fn cost(locator: &mut impl Locator<Ipv4Flow>, keys: &[Ipv4Flow]) -> f64 {
    keys.iter().zip(0..).for_each(|(key, n)| locator.insert(*key, Slot(n)).unwrap());
    let _ = locator.freeze();
    let mut count = CountExamined::default();
    keys.iter().zip(0..).for_each(|(key, n)| assert_eq!(locator.find_probed(key, &mut count), Some(Slot(n))));
    count.0 as f64 / keys.len() as f64
}

fn of(strategy: Strategy, hash: HashKind, seed: u64) -> AnyLocator<Ipv4Flow> {
    strategy.locator(LocatorConfig { chains: CHAINS, hash, ..LocatorConfig::seeded(seed) }).unwrap()
}

#[test]
fn chosen_keys_cost_no_more_than_twice_those_of_chance() {
    const KNOWN: u64 = 0;
    let attacks = [
        ("keyed, seed known", colliding(&Keyed::new(KNOWN))),
        ("xor", colliding(&XorFold)),
        ("crc32", colliding(&Crc32)),
        ("fnv", colliding(&Fnv1a)),
        ("multiplicative", colliding(&Multiplicative)),
    ];
    let ordinary: Vec<Ipv4Flow> = (0..KEYS as u32).map(|n| flow(n * 7_919)).collect();
    let computes_a_hash = |strategy: &Strategy| {
        let list = matches!(strategy, Strategy::Linear | Strategy::Bsd | Strategy::MoveToFront);
        !list && !strategy.needs_index()
    };
    for strategy in Strategy::ALL.into_iter().filter(computes_a_hash) {
        let uniform = cost(&mut of(strategy, HashKind::Keyed, 0x5ec2e7), &ordinary);
        for (name, keys) in &attacks {
            let attacked = cost(&mut of(strategy, HashKind::Keyed, 0x5ec2e7), keys);
            println!("{strategy}, {name}: {attacked:.2} entries, {uniform:.2} without attack");
            assert!(attacked <= 2.0 * uniform, "{strategy}, {name}: {attacked} to {uniform}");
        }
    }
    // The attacks are real: where the function is known, they make one chain of all keys.
    let all = (KEYS / 2) as f64;
    assert!(cost(&mut of(Strategy::DynamicHash, HashKind::Keyed, KNOWN), &attacks[0].1) > all);
    let kinds = [HashKind::XorFold, HashKind::Crc32, HashKind::Fnv1a, HashKind::Multiplicative];
    for (kind, (name, keys)) in kinds.into_iter().zip(&attacks[1..]) {
        assert_eq!(kind.name(), *name);
        assert!(cost(&mut of(Strategy::ChainsMoveToFront, kind, 1), keys) > all, "{kind}");
    }
}

/// Nobody needs a seed for keys whose parts are alike: a hash function that adds products of them has seeds that suit such keys.
#[test]
fn keys_whose_parts_are_alike_cost_no_more_than_twice_those_of_chance() {
    const SEEDS: u64 = 300;
    let alike: Vec<Ipv4Flow> = (0..4_000)
        .map(|n| Ipv4Addr::from(0x0a00_0000 | n))
        .map(|address| Ipv4Flow::new(address, 443, address, 443, 6))
        .collect();
    let repeated: Vec<u64> = (0..4_000).map(|n| n << 32 | n).collect();
    let ordinary: Vec<Ipv4Flow> = (0..4_000).map(|n| flow(n * 7_919)).collect();
    fn cost_of<K: Copy + Eq + std::hash::Hash>(keys: &[K], seed: u64) -> f64 {
        let mut locator = DynamicHash::with_hash(Keyed::new(seed), usize::MAX);
        keys.iter().zip(0..).for_each(|(key, n)| locator.insert(*key, Slot(n)).unwrap());
        let mut count = CountExamined::default();
        keys.iter().for_each(|key| assert!(locator.find_probed(key, &mut count).is_some()));
        count.0 as f64 / keys.len() as f64
    }
    let seeds = || (0..SEEDS).map(|seed| seed * 0x9e37_79b9);
    let uniform = seeds().map(|seed| cost_of(&ordinary, seed)).sum::<f64>() / SEEDS as f64;
    let worst = seeds().map(|seed| cost_of(&alike, seed).max(cost_of(&repeated, seed))).fold(0.0, f64::max);
    println!("{worst:.2} entries under the worst of {SEEDS} seeds, {uniform:.2} for others");
    assert!(worst <= 2.0 * uniform, "{worst} to {uniform}");
}

#[test]
fn any_hash_function_picks_chains() {
    let mut locator = HashChains::with_chains(19, RandomState::new(), usize::MAX).unwrap();
    let keys: Vec<Ipv4Flow> = (0..1_900).map(flow).collect();
    assert!(cost(&mut locator, &keys) < 70.0);
    let mut longest = 0;
    locator.chain_lengths(|length| longest = longest.max(length));
    assert!((100..200).contains(&longest), "{longest}");
    assert_eq!(locator.chains(), 19);
}

/// A generator good enough to guess with.
struct Guesses(u64);

impl Guesses {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }
}

/// Guesses `n` handles, most of them of slots in use, and returns how many were let in.
fn forge(n: u64, mut progress: impl FnMut(u64)) -> u64 {
    const RECORDS: u32 = 1_000;
    let mut arena = Arena::<u32>::new(RECORDS + 100);
    let genuine: Vec<Handle> = (0..RECORDS).map(|n| arena.insert(7, n).unwrap()).collect();
    // Some are stale.
    genuine[..50].iter().for_each(|handle| drop(arena.remove(*handle)));
    let mut guesses = Guesses(n);
    let mut accepted = 0;
    for i in 0..n {
        let guess = guesses.next();
        let slot = Slot(guess as u32 % (RECORDS + 200));
        let known = genuine[guess as usize % genuine.len()];
        let handle = match i % 4 {
            0 | 1 => Handle { slot, nonce: guesses.next() },
            // Near a genuine one, or another record's.
            2 => Handle { nonce: known.nonce ^ 1 << (guess >> 58), ..known },
            _ => Handle { slot, nonce: if slot == known.slot { 0 } else { known.nonce } },
        };
        let found = match i % 3 {
            0 => arena.get(handle, 7).is_some(),
            1 => arena.exclusive().get(handle).is_some(),
            _ => arena.reader().get(handle).is_some(),
        };
        accepted += u64::from(found);
        if i % 100_000_000 == 99_999_999 {
            progress(i + 1);
        }
    }
    // Nothing was disturbed by it.
    assert!(genuine[50..].iter().zip(50..).all(|(handle, n)| arena.get(*handle, 7).as_deref() == Some(&n)));
    assert!(genuine[..50].iter().all(|handle| arena.get(*handle, 7).is_none()));
    accepted
}

#[test]
fn forged_handles_are_refused() {
    assert_eq!(forge(1_000_000, |_| ()), 0);
}

/// `cargo test --release -p throughline-demux --test hostile -- --ignored --nocapture`
#[test]
#[ignore = "takes a minute"]
fn a_billion_forged_handles_are_refused() {
    let accepted = forge(1_000_000_000, |tried| eprintln!("{} million handles tried", tried / 1_000_000));
    assert_eq!(accepted, 0);
}
