//! How much work it is to analyse captures, and in how much memory. The work is that of release builds: `cargo test --release`.

use std::collections::HashMap;
use std::io::{self, Read};
use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};
use throughline_capture::{Capture, Flow, Fragments, Frame, Payload, Seen, look, payload};
use throughline_lab::trace::{Counts, Options, Source, analyse};

/// A pcap file of packets whose flows are drawn evenly, made as it is read.
struct Even {
    flows: u32,
    packets: u32,
    /// Microseconds from one packet to the next.
    apart: u64,
    record: [u8; RECORD],
    /// Octets of the record that are to be handed out.
    left: usize,
    made: u32,
    state: u64,
}

const HEADER: [u8; 24] =
    [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 1, 0, 0, 0];
/// Octets of a frame of Ethernet, and of a record with it.
const FRAME: usize = 74;
const RECORD: usize = 16 + FRAME;

impl Even {
    fn new(flows: u32, packets: u32, apart: u64) -> Self {
        let mut record = [0; RECORD];
        let length = (FRAME as u32).to_le_bytes();
        record[8..12].copy_from_slice(&length);
        record[12..16].copy_from_slice(&length);
        record[28..32].copy_from_slice(&[8, 0, 0x45, 0]);
        record[33] = FRAME as u8 - 14;
        (record[38], record[39]) = (64, 6);
        record[46..50].copy_from_slice(&[192, 0, 2, 1]);
        record[52..54].copy_from_slice(&443_u16.to_be_bytes());
        record[62..64].copy_from_slice(&[0x50, 16]);
        Self { flows, packets, apart, record, left: 0, made: 0, state: 1 }
    }

    fn make(&mut self) {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let flow = (((self.state >> 32) * u64::from(self.flows)) >> 32) as u32;
        let time = u64::from(self.made) * self.apart;
        let (second, microsecond) = ((time / 1_000_000) as u32, (time % 1_000_000) as u32);
        self.record[..4].copy_from_slice(&second.to_le_bytes());
        self.record[4..8].copy_from_slice(&microsecond.to_le_bytes());
        self.record[42..46].copy_from_slice(&(0x0a00_0000 + flow / 16).to_be_bytes());
        self.record[50..52].copy_from_slice(&(1024 + (flow % 50_000) as u16).to_be_bytes());
        self.made += 1;
    }
}

impl Read for Even {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() && (self.left > 0 || self.made < self.packets) {
            if self.left == 0 {
                self.make();
                self.left = RECORD;
            }
            let count = self.left.min(buffer.len() - filled);
            let from = RECORD - self.left;
            buffer[filled..filled + count].copy_from_slice(&self.record[from..from + count]);
            (filled, self.left) = (filled + count, self.left - count);
        }
        Ok(filled)
    }
}

fn analysed(flows: u32, packets: u32) -> Counts {
    analysed_slow(flows, packets, 1)
}

/// Of packets that are so many microseconds apart.
fn analysed_slow(flows: u32, packets: u32, apart: u64) -> Counts {
    let source = Source::new(HEADER.chain(Even::new(flows, packets, apart))).unwrap();
    let report = analyse(source, &Options::default(), |_| {}).unwrap();
    assert_eq!(report.fault, None);
    assert!(report.lookups.iter().all(|lookup| lookup.nanoseconds_each.is_some()));
    report.counts
}

/// Seconds that all threads of this process have run.
fn processor_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// The most octets that this process has had in memory.
fn most_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim_end_matches("kB").trim().parse::<u64>().unwrap() << 10
}

/// What any reader does: the packets of each flow, counted in a map of the standard library.
fn plainly_counted(flows: u32, packets: u32) -> usize {
    let (mut counts, mut fragments) = (HashMap::<_, u64>::new(), Fragments::default());
    let source = Source::new(HEADER.chain(Even::new(flows, packets, 1))).unwrap();
    let count = |frame: Frame<'_>| {
        let Payload::Ip(packet) = payload(&frame) else { return };
        if let Seen::Flow(Flow::V4(tuple), _) = look(packet, &mut fragments) {
            *counts.entry(tuple).or_default() += 1;
        }
    };
    Capture::open(source).unwrap().read(count).unwrap();
    counts.len()
}

/// What it returns, and the seconds of processor time that it takes.
fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let begin = processor_seconds();
    let result = work();
    (result, processor_seconds() - begin)
}

/// One test, since both look at the whole process.
#[test]
fn rate_and_memory() {
    // More batches than may be under way at once.
    analysed(2000, 500_000);
    let short = most_memory();
    analysed(2000, 1_000_000);
    let long = most_memory();
    assert!(long < short + (8 << 20), "memory grows with the file: {short} octets, then {long}");
    // Each is looked up by itself, since the one before has left.
    analysed_slow(2000, 60_000, 600_000_000);
    let slow = most_memory();
    assert!(slow < long + (32 << 20), "packets far apart take {slow} octets, others {long}");
    if cfg!(debug_assertions) {
        eprintln!("SKIPPED: the rate is that of release builds");
        return;
    }
    // Of two pieces of work in turns the ratio, since a busy machine may take thrice as long for both; the least of five,
    // since one of a pair may meet a pause that the other does not. A quiet machine has 3.1, 3.6 to 5.4, and 3.2.
    for (flows, packets, most) in
        [(2000, 2_000_000, 6.0), (100_000, 2_000_000, 8.0), (1_000_000, 4_000_000, 6.0)]
    {
        let attempt = |_| {
            let begin = Instant::now();
            let (counts, work) = timed(|| analysed(flows, packets));
            let rate = f64::from(packets) / begin.elapsed().as_secs_f64() / 1e6;
            let (counted, plain) = timed(|| plainly_counted(flows, packets));
            assert_eq!((counts.packets, counts.tcp), (packets.into(), packets.into()));
            assert_eq!(counts.flows, counted as u64);
            eprintln!("{flows} flows: {rate:.2} M packets/s, {:.2} times a plain count", work / plain);
            work / plain
        };
        let ratio = (0..5).map(attempt).find(|ratio| *ratio <= most);
        assert!(
            ratio.is_some(),
            "{flows} flows: more than {most} times the work of a plain count, five times in turn"
        );
    }
}
