//! Short captures are looked up again and again: the first time, caches are cold, and memory is not there yet.

use std::time::Instant;

use throughline_demux::Key;

use super::by_size::{BySize, Cost, step};
use super::clock::processor_time;
use super::driven::{Driven, Looked, Operation, entries};
use super::lookups::Work;

/// Rounds that are not timed.
const COLD: u32 = 2;
/// Rounds at least: in one of them, others may be at work.
const LEAST: u32 = 3;
/// Rounds at most.
const MOST: u32 = 4096;
/// Nanoseconds of work after which no other round begins.
const ENOUGH: u64 = 2_000_000;
/// Packets timed together.
const TOGETHER: usize = 256;

/// What lookups cost when a recording comes again and again to a locator that is empty at first each time.
pub(super) fn replay<K: Key>(locator: &mut dyn Driven<K>, recorded: &[Work<K>]) -> BySize {
    rounds(|stopwatch| {
        for work in recorded {
            stopwatch.drive(locator, &work.operations);
            for (key, _) in &work.gone {
                locator.remove(key);
            }
        }
        empty(locator);
    })
}

/// The same if nothing is to be put in or taken out.
pub(super) fn replay_known<K: Key>(locator: &mut dyn Driven<K>, operations: &[Operation<K>]) -> BySize {
    rounds(|stopwatch| stopwatch.drive(locator, operations))
}

/// Takes out all that is in a locator.
pub(super) fn empty<K: Key>(locator: &mut dyn Driven<K>) {
    for (key, _) in entries(locator) {
        locator.remove(&key);
    }
}

/// The times of a round.
fn rounds(mut round: impl FnMut(&mut Stopwatch)) -> BySize {
    let begin = processor_time();
    (0..COLD).for_each(|_| round(&mut Stopwatch::new()));
    let mut stopwatch = Stopwatch::new();
    for number in 0..MOST {
        if number >= LEAST && processor_time() - begin > ENOUGH {
            break;
        }
        stopwatch.next = 0;
        round(&mut stopwatch);
    }
    stopwatch.times()
}

/// Packets of a round that are timed together.
struct Lap {
    /// Of the flows there are.
    step: usize,
    packets: usize,
    /// Nanoseconds, round by round.
    times: Vec<u64>,
}

/// Times rounds of the same laps. It reads the wall's clock, which is read in less time than the thread's own; of the
/// rounds in which others were at work, the median knows nothing.
struct Stopwatch {
    laps: Vec<Lap>,
    next: usize,
    /// What it takes to read the clock.
    overhead: u64,
    looked: Vec<Looked>,
}

impl Stopwatch {
    fn new() -> Self {
        let overhead = median((0..201).map(|_| time(|| ())).collect());
        Self { laps: Vec::new(), next: 0, overhead, looked: Vec::with_capacity(TOGETHER) }
    }

    fn drive<K: Key>(&mut self, locator: &mut dyn Driven<K>, operations: &[Operation<K>]) {
        for some in operations.chunks(TOGETHER) {
            self.looked.clear();
            let time = time(|| locator.drive_in_turn(some, &mut self.looked)).saturating_sub(self.overhead);
            if self.next == self.laps.len() {
                let (step, packets) = (step(locator.len()), some.len());
                self.laps.push(Lap { step, packets, times: Vec::new() });
            }
            self.laps[self.next].times.push(time);
            self.next += 1;
        }
    }

    fn times(self) -> BySize {
        let mut times = BySize::default();
        for lap in self.laps {
            let (timed, nanoseconds) = (lap.packets as u64, median(lap.times));
            times.add(lap.step, Cost { timed, nanoseconds, ..Cost::default() });
        }
        times
    }
}

/// Nanoseconds that something takes.
fn time(something: impl FnOnce()) -> u64 {
    let begin = Instant::now();
    something();
    begin.elapsed().as_nanos() as u64
}

/// The lower one of two.
fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or(0)
}
