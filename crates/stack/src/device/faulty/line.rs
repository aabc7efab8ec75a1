//! One direction of a bad wire.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use smoltcp::time::{Duration, Instant};

use crate::{Message, Pool};

/// What happens to the frames of one direction; by default, nothing.
///
/// Probabilities are from 0 to 1, of each frame, and independent of each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Faults {
    /// The frame is lost.
    pub loss: f64,
    /// It comes twice.
    pub duplication: f64,
    /// One of its bits is changed.
    pub corruption: f64,
    /// It is held back for [`hold`](Self::hold), so that those behind it overtake it.
    pub reordering: f64,
    /// For how long frames are held back that are to be overtaken.
    pub hold: Duration,
    /// What every frame takes.
    pub latency: Duration,
    /// What a frame takes more, at most, drawn evenly; frames overtake each other by it.
    pub jitter: Duration,
    /// Bits a second; `None` when frames take no time beside the latency.
    pub bandwidth: Option<u64>,
    /// Frames on their way, at most. Those that come while there are so many are lost.
    pub queue: usize,
}

impl Default for Faults {
    fn default() -> Self {
        Self {
            loss: 0.0,
            duplication: 0.0,
            corruption: 0.0,
            reordering: 0.0,
            hold: Duration::from_millis(1),
            latency: Duration::ZERO,
            jitter: Duration::ZERO,
            bandwidth: None,
            queue: 1024,
        }
    }
}

/// How many frames met which fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultCounts {
    /// Frames that entered the wire.
    pub entered: u64,
    /// Frames lost by chance.
    pub lost: u64,
    /// Frames that came twice.
    pub duplicated: u64,
    /// Frames with a changed bit.
    pub corrupted: u64,
    /// Frames held back.
    pub reordered: u64,
    /// Frames lost because there was no place.
    pub overflowed: u64,
}

/// The frames on their way.
#[derive(Debug)]
pub(super) struct Line {
    faults: Faults,
    random: Random,
    frames: BinaryHeap<Held>,
    /// The number of the frame that enters next: of those due at the same time, the first to enter leaves first.
    number: u64,
    /// Until when the wire is busy with the frames before, in nanoseconds.
    busy: i64,
    counts: FaultCounts,
}

/// Ethernet's preamble, checksum and gap, which take time as the bytes do.
const AROUND: usize = 24;
/// No frame on the wire is shorter, without its checksum.
const SHORTEST: usize = 60;

impl Line {
    pub(super) fn new(faults: Faults, seed: u64) -> Self {
        let frames = BinaryHeap::with_capacity(faults.queue);
        Self { faults, random: Random(seed), frames, number: 0, busy: 0, counts: FaultCounts::default() }
    }

    pub(super) fn set_faults(&mut self, faults: Faults) {
        self.faults = faults;
    }

    pub(super) fn counts(&self) -> FaultCounts {
        self.counts
    }

    /// When the first frame is due.
    pub(super) fn next(&self) -> Option<Instant> {
        self.frames.peek().map(|held| held.due)
    }

    /// A frame that is due.
    pub(super) fn due(&mut self, now: Instant) -> Option<Message> {
        self.next().filter(|due| *due <= now)?;
        self.frames.pop().map(|held| held.frame)
    }

    /// A frame begins its way, or is lost. A lost one takes its time on the wire all the same.
    pub(super) fn enter(&mut self, now: Instant, mut frame: Message, pool: &mut Pool) {
        self.counts.entered += 1;
        if self.frames.len() >= self.faults.queue {
            self.counts.overflowed += 1;
            return pool.give(frame);
        }
        let sent = self.transmit(now, frame.len());
        if self.random.chance(self.faults.loss) {
            self.counts.lost += 1;
            return pool.give(frame);
        }
        if self.random.chance(self.faults.duplication)
            && self.frames.len() + 1 < self.faults.queue
            && let Some(twin) = copy(&frame, pool)
        {
            self.counts.duplicated += 1;
            self.keep(sent, twin);
        }
        if self.random.chance(self.faults.corruption) && !frame.is_empty() {
            self.counts.corrupted += 1;
            frame.verified = false;
            let bit = self.random.below(frame.len() as u64 * 8);
            frame.bytes_mut()[(bit / 8) as usize] ^= 1 << (bit % 8);
        }
        self.keep(sent, frame);
    }

    /// When the last bit of a frame has been sent that is handed over now.
    fn transmit(&mut self, now: Instant, len: usize) -> Instant {
        let Some(bandwidth) = self.faults.bandwidth else { return now };
        let bits = (len.max(SHORTEST) + AROUND) as u64 * 8;
        let takes = bits.saturating_mul(1_000_000_000).div_ceil(bandwidth.max(1));
        let begins = self.busy.max(now.total_micros().saturating_mul(1000));
        self.busy = begins.saturating_add_unsigned(takes);
        Instant::from_micros(self.busy.saturating_add(999) / 1000)
    }

    fn keep(&mut self, sent: Instant, frame: Message) {
        let mut due = sent + self.faults.latency;
        due += Duration::from_micros(self.random.below(self.faults.jitter.total_micros().saturating_add(1)));
        if self.random.chance(self.faults.reordering) {
            self.counts.reordered += 1;
            due += self.faults.hold;
        }
        self.frames.push(Held { due, number: self.number, frame });
        self.number += 1;
    }
}

/// A copy, with as much room for headers as messages of the pool have; none where it does not fit.
fn copy(frame: &Message, pool: &mut Pool) -> Option<Message> {
    let mut twin = pool.take();
    if twin.append(frame.bytes()).is_err() {
        pool.give(twin);
        return None;
    }
    Some(twin)
}

#[derive(Debug)]
struct Held {
    due: Instant,
    number: u64,
    frame: Message,
}

/// What is due first is the greatest, as the heap wants it.
impl Ord for Held {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.due, other.number).cmp(&(self.due, self.number))
    }
}

impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Held {}

/// SplitMix64 (Steele, Lea, Flood 2014).
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Less than `n`, which is not 0.
    fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    fn chance(&mut self, probability: f64) -> bool {
        ((self.next() >> 11) as f64) < probability * (1_u64 << 53) as f64
    }
}
