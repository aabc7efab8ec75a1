//! One pass over a capture.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, Ipv6Addr};

use throughline_capture::{
    Capture, Compression, FIN, Fault, Flow, Format, Fragments, Frame, Payload, RST, Seen, Source, Tuple,
    look, payload,
};
use throughline_demux::{Ipv4Flow, Ipv6Flow};

use super::binned::Binned;
use super::counts::{Counts, Moment};
use super::family::Family;
use super::live::{Arrival, End, LINGER};
use super::lookups::LookupError;
use super::options::Options;
use super::report::Report;
use super::summary::Summary;
use super::trains::Ride;
use super::working_set::WorkingSet;

/// Packets looked up together: few enough for their keys to stay in a cache near the processor.
pub(super) const BATCH: usize = 4096;

/// Intervals of time that the shortest capture has.
const FEWEST_INTERVALS: usize = 12;

/// Analyses a capture. `progress` is told how many octets of the file have been taken.
///
/// # Errors
/// When the octets are no capture, or a lookup cannot be configured. A capture that breaks off later has a report with
/// the fault in it.
pub fn analyse(
    source: Source,
    options: &Options,
    mut progress: impl FnMut(u64),
) -> Result<Report, AnalysisError> {
    let (taken, compression) = (source.progress(), source.compression());
    let capture = Capture::open(source)?;
    let format = capture.format();
    let mut analysis = Analysis::new(options)?;
    let mut failure = None;
    let end = capture.read(|frame| {
        analysis.go_on(&frame);
        // Before the frame: what was silent until then is over.
        if analysis.is_batch() {
            failure = failure.take().or(analysis.batch().err());
            progress(taken.taken());
        }
        analysis.frame(&frame);
    });
    if let Some(failure) = failure {
        return Err(failure.into());
    }
    progress(taken.taken());
    Ok(analysis.finish(Read { format, compression, fault: end.err() })?)
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    /// This is no capture.
    #[error("{}", .0.cause)]
    NoCapture(Fault),
    /// A lookup cannot be made.
    #[error(transparent)]
    Lookup(#[from] LookupError),
}

impl From<Fault> for AnalysisError {
    fn from(fault: Fault) -> Self {
        Self::NoCapture(fault)
    }
}

/// How the reading went.
struct Read {
    format: Format,
    compression: Compression,
    fault: Option<Fault>,
}

/// What has been seen so far.
struct Analysis<'o> {
    options: &'o Options,
    counts: Counts,
    fragments: Fragments,
    v4: Family<Ipv4Flow>,
    v6: Family<Ipv6Flow>,
    /// Whether the packets since the last batch are IPv6, and when they came.
    waiting: Vec<(bool, u64)>,
    ride: Ride,
    working_set: WorkingSet,
    over_time: Binned<Moment>,
    /// The link types of the frames.
    links: BTreeSet<u32>,
    /// Packets around others, by protocol.
    carriers: BTreeMap<u8, u64>,
    first_time: u64,
    /// Whether a frame has told the time.
    timed: bool,
    now: u64,
    /// Frames since the last batch, and when that was.
    batch_frames: usize,
    batch_time: u64,
    /// Frames until there is a batch: never more than there is room for flows.
    batch_most: usize,
}

impl<'o> Analysis<'o> {
    fn new(options: &'o Options) -> Result<Self, LookupError> {
        Ok(Self {
            options,
            counts: Counts::default(),
            fragments: Fragments::default(),
            v4: Family::new(options)?,
            v6: Family::new(options)?,
            waiting: Vec::new(),
            ride: Ride::default(),
            working_set: WorkingSet::new(),
            over_time: Binned::new(1000),
            links: BTreeSet::new(),
            carriers: BTreeMap::new(),
            first_time: 0,
            timed: false,
            now: 0,
            batch_frames: 0,
            batch_time: 0,
            batch_most: room_of(options).min(BATCH),
        })
    }

    fn frame(&mut self, frame: &Frame<'_>) {
        self.counts.frames += 1;
        self.counts.bytes += u64::from(frame.length);
        self.links.insert(frame.link);
        self.batch_frames += 1;
        let moment = self.over_time.at(self.now - self.first_time);
        moment.packets += 1;
        moment.bytes += u64::from(frame.length);
        match payload(frame) {
            Payload::Ip(packet) => match look(packet, &mut self.fragments) {
                Seen::Flow(flow, bits) => self.packet(flow, bits),
                Seen::LostFragment => self.counts.lost_fragments += 1,
                Seen::OtherProtocol => self.counts.other_protocol += 1,
                Seen::Carrier(protocol) => {
                    self.counts.other_protocol += 1;
                    *self.carriers.entry(protocol).or_default() += 1;
                }
                Seen::Broken => self.counts.broken += 1,
            },
            Payload::Other => self.counts.not_ip += 1,
            Payload::UnknownLink => {
                self.counts.unknown_link += 1;
                self.counts.last_unknown_link = frame.link;
            }
        }
    }

    /// The time of a frame has come. Clocks are set back now and then; ours waits until they have caught up.
    fn go_on(&mut self, frame: &Frame<'_>) {
        let time = frame.time;
        if self.counts.frames == 0 || (!self.timed && frame.timed) {
            self.begin_at(time);
            self.timed = frame.timed;
        }
        let counts = &mut self.counts;
        if time < self.now {
            counts.set_back += 1;
            counts.most_set_back = counts.most_set_back.max(self.now - time);
        } else {
            counts.longest_gap = counts.longest_gap.max(time - self.now);
            self.now = time;
        }
    }

    /// Those that came before, without a time, came at this one.
    fn begin_at(&mut self, time: u64) {
        self.track();
        self.v4.live.begin_at(time);
        self.v6.live.begin_at(time);
        (self.first_time, self.batch_time, self.now) = (time, time, time);
    }

    fn packet(&mut self, flow: Flow, bits: u8) {
        if self.options.to.is_some_and(|network| !network.contains(flow.receiver())) {
            self.counts.not_asked_for += 1;
            self.answer(flow, bits);
            return;
        }
        let (time, number, both) = (self.now, self.counts.packets, self.options.both_directions);
        self.counts.packets += 1;
        let (protocol, v6) = match flow {
            Flow::V4(tuple) => {
                self.v4.arrive(arrival_v4(tuple, both, (bits, time, number)));
                (tuple.protocol, false)
            }
            Flow::V6(tuple) => {
                self.v6.arrive(arrival_v6(tuple, both, (bits, time, number)));
                (tuple.protocol, true)
            }
        };
        self.counts.tcp += u64::from(protocol == 6);
        self.counts.v6 += u64::from(v6);
        self.waiting.push((v6, time));
    }

    /// Those asked for know how their connections end, though what they send is not looked up.
    fn answer(&mut self, flow: Flow, bits: u8) {
        if bits & (FIN | RST) == 0 {
            return;
        }
        // After what has come before.
        self.track();
        let (about, both) = ((bits, self.now, self.counts.packets), self.options.both_directions);
        match flow {
            Flow::V4(tuple) => self.v4.live.answer(&arrival_v4(tuple, both, about)),
            Flow::V6(tuple) => self.v6.live.answer(&arrival_v6(tuple, both, about)),
        }
    }

    /// Finds the flows of the packets since the last batch.
    fn track(&mut self) {
        let mut live = (self.v4.live.len() + self.v6.live.len()) as u64;
        let (mut v4, mut v6) = (self.v4.track().iter(), self.v6.track().iter());
        for (is_v6, time) in self.waiting.drain(..) {
            let Some(found) = (if is_v6 { v6.next() } else { v4.next() }) else {
                break;
            };
            live += u64::from(found.new);
            let moment = self.over_time.at(time - self.first_time);
            moment.begun += u64::from(found.new);
            moment.live = moment.live.max(live);
            self.counts.flows += u64::from(found.new);
            if !found.new {
                self.working_set.again(found.interval);
            }
            self.ride.on(found.new, (is_v6, found.slot));
        }
        self.counts.most_live = self.counts.most_live.max(live);
    }

    /// Whether enough packets, or enough time for flows to be over, have come since the last batch.
    fn is_batch(&self) -> bool {
        /// Flows stay at most this much longer than they should, as a share.
        const LATE: u64 = 16;
        let patience = self.options.idle.min(LINGER) / LATE;
        self.batch_frames >= self.batch_most || self.now - self.batch_time > patience
    }

    /// Looks up the packets since the last time, and lets flows go that are over.
    fn batch(&mut self) -> Result<(), LookupError> {
        self.track();
        let (now, working_set, counts) = (self.now, &mut self.working_set, &mut self.counts);
        let mut gone = |number, end| {
            working_set.last(number);
            counts.evicted += u64::from(end == End::Evicted);
        };
        self.v4.expire(now, &mut gone);
        self.v6.expire(now, &mut gone);
        let (most, room) = (self.options.flows, room_of(self.options));
        let mut over = (self.v4.live.len() + self.v6.live.len() + room).saturating_sub(most);
        while over > 0 {
            let before = over;
            let oldest = |number: Option<u64>| number.unwrap_or(u64::MAX);
            let (v4, v6) = (oldest(self.v4.live.oldest_number()), oldest(self.v6.live.oldest_number()));
            if v4 < v6 {
                self.v4.evict(over, v6, &mut gone)
            } else {
                self.v6.evict(over, v4, &mut gone)
            }
            over = (self.v4.live.len() + self.v6.live.len() + room).saturating_sub(most);
            debug_assert!(over < before);
        }
        self.batch_most = (most - self.v4.live.len() - self.v6.live.len()).min(BATCH);
        (self.batch_frames, self.batch_time) = (0, now);
        self.v4.look_up()?;
        self.v6.look_up()
    }

    fn finish(mut self, read: Read) -> Result<Report, LookupError> {
        self.track();
        let last = self.v4.live.last_numbers().chain(self.v6.live.last_numbers());
        last.for_each(|number| self.working_set.last(number));
        Ok(Report {
            duration: self.now.saturating_sub(self.first_time),
            first_time: self.first_time,
            counts: self.counts,
            working_set: self.working_set.curve(self.counts.packets, self.counts.flows),
            trains: self.ride.trains(),
            over_time: filled(self.over_time, self.counts.frames),
            links: self.links.into_iter().collect(),
            carriers: self.carriers.into_iter().collect(),
            lookups: merged(self.v4.finish()?, self.v6.finish()?),
            options: self.options.clone(),
            format: read.format,
            compression: read.compression,
            fault: read.fault,
        })
    }
}

/// Flows for which room is made after each batch: few of those kept, and no more than a batch can bring.
fn room_of(options: &Options) -> usize {
    (options.flows / 16).clamp(1, BATCH).min(options.flows)
}

/// While nothing comes that belongs to a flow, flows stay. Few frames have few intervals.
fn filled(mut over_time: Binned<Moment>, frames: u64) -> Binned<Moment> {
    over_time.limit(usize::try_from(frames).unwrap_or(usize::MAX).max(FEWEST_INTERVALS));
    let mut live = 0;
    for moment in over_time.bins_mut() {
        if moment.live == 0 {
            moment.live = live;
        }
        live = moment.live;
    }
    over_time
}

/// What lookups cost in both tables.
fn merged(mut all: Vec<Summary>, others: Vec<Summary>) -> Vec<Summary> {
    if all.is_empty() {
        return others;
    }
    all.iter_mut().zip(&others).for_each(|(one, other)| one.merge(other));
    all
}

fn directed<A: Ord + Copy>(tuple: Tuple<A>, both: bool) -> (Tuple<A>, bool) {
    if both { tuple.undirected() } else { (tuple, false) }
}

/// What comes, with the bits of its TCP header, its time and its number.
fn arrival_v4(tuple: Tuple<u32>, both: bool, (bits, time, number): (u8, u64, u64)) -> Arrival<Ipv4Flow> {
    let (tuple, reversed) = directed(tuple, both);
    Arrival { key: key_v4(&tuple), reversed, bits, time, number }
}

/// The same of IPv6.
fn arrival_v6(tuple: Tuple<u128>, both: bool, (bits, time, number): (u8, u64, u64)) -> Arrival<Ipv6Flow> {
    let (tuple, reversed) = directed(tuple, both);
    Arrival { key: key_v6(&tuple), reversed, bits, time, number }
}

fn key_v4(tuple: &Tuple<u32>) -> Ipv4Flow {
    let (from, to) = (tuple.from, tuple.to);
    Ipv4Flow::new(Ipv4Addr::from_bits(from.0), from.1, Ipv4Addr::from_bits(to.0), to.1, tuple.protocol)
}

fn key_v6(tuple: &Tuple<u128>) -> Ipv6Flow {
    let (from, to) = (tuple.from, tuple.to);
    Ipv6Flow::new(Ipv6Addr::from_bits(from.0), from.1, Ipv6Addr::from_bits(to.0), to.1, tuple.protocol)
}
