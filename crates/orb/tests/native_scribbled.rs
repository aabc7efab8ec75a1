//! Processes that connect as they should, and then write whatever they like to the memory that they show. They are this test
//! binary, run again.

mod common;
#[path = "common/process.rs"]
mod process;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use common::{Echo, EchoRef, client, seen_by, server_with};
use process::Process;
use throughline::Address;

/// The longest that any call may take beside such a process, or to one.
const SOON: Duration = Duration::from_secs(8);

/// How long each of them writes. There are as many as `THROUGHLINE_SCRIBBLES` says.
const ATTACK: Duration = Duration::from_millis(400);

/// Where the ring begins in a file, and its lines.
const RING: usize = 4096;
const LINES: u64 = 256;
const LINE: usize = 64;

struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 ^ self.0 >> 29
    }
    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
    fn any<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }
}

/// What this process shows its peers, as it can write there.
fn shown() -> Vec<&'static [AtomicU64]> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let own = maps.lines().filter(|line| line.contains("rw-s") && line.contains("/memfd:throughline-vi"));
    own.map(|line| {
        let (from, to) = line.split_whitespace().next().unwrap().split_once('-').unwrap();
        let [from, to] = [from, to].map(|at| usize::from_str_radix(at, 16).unwrap());
        // SAFETY: mapped to be written, and reached by atomics here. The links are never closed, so that it stays. This process may
        // be ruined by what is written, and nothing depends on it.
        unsafe { std::slice::from_raw_parts(from as *const AtomicU64, (to - from) / 8) }
    })
    .collect()
}

/// Writes something to the memory of a link.
fn scribble(memory: &[AtomicU64], dice: &mut Dice) {
    let words = memory.len() as u64;
    if words < RING as u64 / 8 + LINES * 8 {
        return memory[dice.below(words) as usize].store(dice.next(), Ordering::Relaxed);
    }
    let head = |line: u64| &memory[RING / 8 + (line % LINES) as usize * LINE / 8];
    match dice.below(8) {
        // How far we are, whether we sleep, what we show.
        0 => {
            let word = &memory[dice.any(&[0, 8, 8, 16])];
            let value =
                [0, 1, 2, 3, u64::MAX, word.load(Ordering::Relaxed).wrapping_add(dice.below(5)), dice.next()];
            word.store(dice.any(&value), Ordering::Release);
        }
        // A frame, mostly where one is expected.
        1..=4 => {
            let newest = (0..LINES).map(|line| head(line).load(Ordering::Relaxed) >> 32).max().unwrap_or(0);
            let position = (newest + dice.below(4)).wrapping_sub(dice.below(2));
            for word in 1..8 {
                let segment = dice.any(&[0, 1, u64::from(u32::MAX)])
                    | dice.any(&[0, 40, 4096, 100_000, u64::from(u32::MAX)]) << 32;
                let value =
                    [0, dice.below(1 << 20), segment, 1 << 40 | 64, u64::MAX - dice.below(100), dice.next()];
                if dice.below(2) == 0 {
                    memory[RING / 8 + (position % LINES) as usize * LINE / 8 + word]
                        .store(dice.any(&value), Ordering::Relaxed);
                }
            }
            let len = [dice.below(57), dice.below(200), dice.below(17) * 16, dice.below(1 << 24)];
            let flags = dice.any(&[0x80, 0x80, 0x80, 0xc0, 0xa0, 0x90, 0x00]) | dice.below(6);
            let word = (position + 1) << 32 | flags << 24 | dice.any(&len);
            head(position).store(word, Ordering::Release);
        }
        // A bit of a message.
        5 | 6 => {
            let word = &memory[RING / 8 + dice.below(LINES * 8) as usize];
            word.fetch_xor(1 << dice.below(64), Ordering::Relaxed);
        }
        _ => {
            let word = &memory[dice.below(words) as usize];
            word.store(dice.next(), Ordering::Relaxed);
        }
    }
}

/// Calls, and scribbles meanwhile; for a while.
fn scribble_beside(seed: u64, work: impl Fn(u64) + Sync) {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (mut dice, started) = (Dice(seed), Instant::now());
            let burst = dice.any(&[1, 30, 1000]);
            while started.elapsed() < ATTACK {
                for memory in shown() {
                    (0..burst).for_each(|_| scribble(memory, &mut dice));
                }
                std::thread::sleep(Duration::from_micros(dice.any(&[0, 50, 2000])));
            }
            stop.store(true, Ordering::Relaxed);
        });
        for round in 0.. {
            if stop.load(Ordering::Relaxed) {
                return;
            }
            work(round);
        }
    });
}

/// What clients ask of a server, whatever becomes of it.
fn ask(echo: &EchoRef, round: u64) {
    let echo = echo.clone();
    let numbers = |count: u32| (0..count).collect::<Vec<u32>>();
    match round % 6 {
        0 => drop(echo.ping()),
        1 => drop(
            echo.shout("what a small message has no room for, and yet is in the ring: sixty octets or more"),
        ),
        2 => drop(echo.sum(0, &numbers(2_000))),
        3 => drop(echo.move_data(&mut numbers(4_000))),
        4 => drop(echo.change(0, &mut numbers(100_000))),
        _ => drop(echo.post(7)),
    }
}

/// Not a test of its own: what the child processes run.
#[test]
fn child() {
    let Some(given) = process::given() else { return };
    let (seed, reference) = given.split_once(' ').unwrap();
    let seed = seed.parse().unwrap();
    if reference.is_empty() {
        let server = server_with(|c| c.listen = vec![Address::Shm(String::new())]);
        let echo = server.root().activate(Echo::default()).unwrap();
        println!("\nREADY {}", echo.0);
        scribble_beside(seed, |_| std::thread::sleep(Duration::from_millis(1)));
    } else {
        let client = client();
        let echo =
            EchoRef(client.string_to_object(reference).unwrap().with_timeout(Duration::from_millis(50)));
        println!("\nREADY calling");
        scribble_beside(seed, |round| ask(&echo, round));
    }
    // No destructor is to trip over what was written.
    std::process::exit(0);
}

/// Descriptors, and mappings of links.
fn held() -> [usize; 2] {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let descriptors = std::fs::read_dir("/proc/self/fd").unwrap().count();
    [descriptors, maps.lines().filter(|line| line.contains("memfd:throughline-vi")).count()]
}

fn seeds() -> std::ops::Range<u64> {
    let many = std::env::var("THROUGHLINE_SCRIBBLES").ok().and_then(|many| many.parse().ok());
    0..many.unwrap_or(6)
}

#[test]
fn a_client_that_scribbles_disturbs_nobody_else() {
    if process::given().is_some() {
        return;
    }
    let server = server_with(|c| c.listen = vec![Address::Shm(String::new())]);
    let own = server.root().activate(Echo::default()).unwrap();
    let stop = AtomicBool::new(false);
    let client = client();
    let echo = seen_by(&client, &own);
    echo.ping().unwrap();
    let before = held();
    std::thread::scope(|scope| {
        let honest = scope.spawn(|| {
            let mut longest = Duration::ZERO;
            while !stop.load(Ordering::Relaxed) {
                let begin = Instant::now();
                assert_eq!(echo.shout("text").unwrap(), "TEXT");
                let mut data: Vec<u32> = (0..3_000).collect();
                echo.move_data(&mut data).unwrap();
                assert!(data.iter().copied().eq(0..3_000));
                longest = longest.max(begin.elapsed());
            }
            longest
        });
        for seed in seeds() {
            let (mut attacker, _) = Process::start(&format!("{seed} {}", own.0));
            // What it writes may keep it from ending by itself.
            std::thread::sleep(ATTACK);
            attacker.kill();
        }
        stop.store(true, Ordering::Relaxed);
        let longest = honest.join().unwrap();
        assert!(longest < SOON, "{longest:?}");
    });
    // What the attackers had is given back.
    let begin = Instant::now();
    while held().iter().zip(before).any(|(now, before)| *now > before + 6) {
        assert!(begin.elapsed() < SOON, "{:?} were {before:?}", held());
        echo.ping().unwrap();
        std::thread::sleep(Duration::from_millis(20));
    }
    server.shutdown(SOON);
}

#[test]
fn a_server_that_scribbles_is_called_without_harm() {
    if process::given().is_some() {
        return;
    }
    for seed in seeds() {
        let client = client();
        let (_server, reference) = Process::start(&format!("{seed} "));
        let echo =
            EchoRef(client.string_to_object(&reference).unwrap().with_timeout(Duration::from_millis(50)));
        let begin = Instant::now();
        for round in 0.. {
            let begun = Instant::now();
            ask(&echo, round);
            assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
            if begin.elapsed() > ATTACK {
                break;
            }
        }
        client.shutdown(SOON);
    }
}
