//! Data manipulations in one pass, and one after another: where fusing pays and where it does not.

use std::hint::black_box;
use std::time::Duration;

use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use throughline_stack::manipulate::{
    Checksum, Cipher, Crc32c, Manipulation, Opener, Pass, Program, Stage, Swap, TAG, copy, in_place, look,
    open,
};

use crate::plot::{Plot, Series};
use crate::table::{figure, targets};
use crate::timing::{Work, in_turns};
use crate::{Experiment, LabError, Options, Row, Sink, Table};

/// See the module.
pub(crate) struct Ilp;

const SIZES: [usize; 9] = [64, 256, 576, 1_400, 4_096, 16_384, 65_536, 262_144, 1_048_576];
const FEW_SIZES: [usize; 3] = [64, 1_400, 65_536];
/// The data of a datagram begins behind headers of Ethernet, IPv4 and UDP.
const HEADERS: usize = 42;
/// Memory that no cache holds, each for sources and for destinations.
const COLD: usize = 192 << 20;
/// Bytes of a sealed record, at most: that of TLS.
const RECORD: usize = 16_384;
/// Copy and checksum of a packet's data in one pass beside two.
const TARGET: f64 = 1.3;
const TARGET_BYTES: usize = 1_400;

const KEY: [u8; 32] = [3; 32];
const NONCE: [u8; 12] = [7; 12];

/// Where the data comes from and goes to.
#[derive(Clone, Copy, PartialEq)]
enum Memory {
    /// The same places again and again.
    Warm,
    /// Places that were last used when all others have been used since.
    Cold,
}

impl Memory {
    const fn name(self) -> &'static str {
        match self {
            Self::Warm => "warm",
            Self::Cold => "cold",
        }
    }
}

impl Experiment for Ilp {
    fn name(&self) -> &'static str {
        "ilp"
    }

    fn purpose(&self) -> &'static str {
        "copy, checksum, CRC, byte swap and ciphers in one pass and one after another, 64 B to 1 MiB"
    }

    fn claims(&self) -> &'static [&'static str] {
        &[]
    }

    fn uses(&self) -> &'static [&'static str] {
        &["--plots"]
    }

    fn run(&self, options: &Options, sink: &mut dyn Sink) -> Result<(), LabError> {
        let sizes: &[usize] = if options.quick { &FEW_SIZES } else { &SIZES };
        sink.ahead(2 * sizes.len() as u64);
        let mut rows = Vec::new();
        for memory in [Memory::Warm, Memory::Cold] {
            let mut places = Places::new(memory, options);
            for bytes in sizes {
                sink.step(&format!("{bytes} bytes, {} memory", memory.name()));
                for row in measure(&mut places, *bytes, memory, options) {
                    rows.push(row.clone());
                    sink.row(row)?;
                }
            }
        }
        for (memory, name) in [(Memory::Warm, "ilp.svg"), (Memory::Cold, "ilp-cold.svg")] {
            if let Some(path) = plot(&rows, memory).save(options, name)? {
                sink.note(&format!("drawn: {}", path.display()));
            }
        }
        Ok(())
    }

    fn tables(&self, rows: &[Row]) -> Vec<Table> {
        let mut tables: Vec<Table> = [Memory::Warm, Memory::Cold]
            .into_iter()
            .flat_map(|memory| [table(rows, memory), alone(rows, memory)])
            .collect();
        tables.push(targets(rows, |row| {
            let bytes = figure(row.number("bytes").unwrap_or(f64::NAN));
            format!("{}, one pass: gain at {bytes} bytes, {}", row.text("stages"), row.text("memory"))
        }));
        tables.retain(|table| !table.is_empty());
        tables
    }
}

// --- What is measured ---

/// A way to do the same to data on its way from one place to another.
struct Way {
    stages: &'static str,
    /// `alone`, `fused`, `separate`, or `library` where the other passes are not ours.
    way: &'static str,
    run: Run,
}

type Run = Box<dyn FnMut(&[u8], &mut [u8])>;

fn way(stages: &'static str, way: &'static str, run: impl FnMut(&[u8], &mut [u8]) + 'static) -> Way {
    Way { stages, way, run: Box::new(run) }
}

/// All that needs no key.
fn plain_ways() -> Vec<Way> {
    vec![
        way("copy", "alone", |from, to| to.copy_from_slice(from)),
        way("copy by stages", "alone", |from, to| copy(&mut (), from, to)),
        way("checksum", "alone", |from, _| sum(Checksum::default(), from)),
        way("crc32c", "alone", |from, _| sum(Crc32c::default(), from)),
        way("swap32", "alone", |_, to| in_place(&mut Swap::<4>, to)),
        way("copy+checksum", "fused", |from, to| fused(Checksum::default(), from, to)),
        way("copy+checksum", "separate", |from, to| {
            sum(Checksum::default(), from);
            to.copy_from_slice(from);
        }),
        way("copy+crc32c", "fused", |from, to| fused(Crc32c::default(), from, to)),
        way("copy+crc32c", "separate", |from, to| {
            sum(Crc32c::default(), from);
            to.copy_from_slice(from);
        }),
        way("copy+crc32c", "library", |from, to| {
            black_box(crc32c::crc32c(from));
            to.copy_from_slice(from);
        }),
        way("copy+swap32", "fused", |from, to| fused(Swap::<4>, from, to)),
        way("copy+swap32", "separate", |from, to| {
            to.copy_from_slice(from);
            in_place(&mut Swap::<4>, to);
        }),
        way("copy+checksum+swap32", "fused", |from, to| fused((Checksum::default(), Swap::<4>), from, to)),
        way("copy+checksum+swap32", "separate", |from, to| {
            sum(Checksum::default(), from);
            to.copy_from_slice(from);
            in_place(&mut Swap::<4>, to);
        }),
        way("copy+checksum+crc32c+swap32", "fused", |from, to| {
            fused((Checksum::default(), Crc32c::default(), Swap::<4>), from, to);
        }),
        way("copy+checksum+crc32c+swap32", "separate", |from, to| {
            sum(Checksum::default(), from);
            to.copy_from_slice(from);
            sum(Crc32c::default(), to);
            in_place(&mut Swap::<4>, to);
        }),
    ]
}

/// Decryption, with a checksum before it and swapped numbers behind it: in pieces, or records, that stay in the nearest cache.
fn cipher_ways(bytes: usize) -> Vec<Way> {
    let mut program = Program::new(&[
        Manipulation::Checksum,
        Manipulation::ChaCha20 { key: KEY, nonce: NONCE },
        Manipulation::Swap32,
    ]);
    let mut cipher = Cipher::new(&KEY, &NONCE);
    let sealed = [seal(bytes), seal(bytes)];
    let [mut once, mut again] = sealed.map(|sealed| {
        let mut opener = Opener::new(key(), NONCE);
        move |to: &mut [u8], fused: bool| {
            opener.seek(0);
            let mut stages = (Checksum::default(), Swap::<4>);
            let done = if fused {
                open(&mut opener, RECORD, &mut stages, &sealed, to)
            } else {
                let done = open(&mut opener, RECORD, &mut (), &sealed, to);
                look(&mut stages.0, to);
                in_place(&mut stages.1, to);
                done
            };
            black_box((stages.0.sum(), done.is_ok()));
        }
    });
    vec![
        way("checksum+chacha20+swap32", "fused", move |from, to| {
            program.copy(from, to);
            black_box(program.sums());
        }),
        way("checksum+chacha20+swap32", "separate", move |from, to| {
            sum(Checksum::default(), from);
            cipher.copy(from, to);
            in_place(&mut Swap::<4>, to);
        }),
        way("aes-128-gcm+checksum+swap32", "fused", move |_, to| once(to, true)),
        way("aes-128-gcm+checksum+swap32", "separate", move |_, to| again(to, false)),
    ]
}

fn sum<S: Stage>(mut stage: S, data: &[u8]) {
    look(&mut stage, data);
    black_box(stage);
}

fn fused<S: Stage>(mut stages: S, from: &[u8], to: &mut [u8]) {
    copy(&mut stages, from, to);
    black_box(stages);
}

fn key() -> LessSafeKey {
    LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &KEY[..16]).expect("keys of AES-128 have 16 bytes"))
}

/// So many bytes as sealed records.
fn seal(bytes: usize) -> Vec<u8> {
    let mut sealed = Vec::with_capacity(bytes + bytes.div_ceil(RECORD) * TAG);
    for (number, record) in (0_u64..).zip(vec![9; bytes].chunks(RECORD)) {
        let mut nonce = NONCE;
        nonce[4..].iter_mut().zip(number.to_be_bytes()).for_each(|(byte, number)| *byte ^= number);
        let mut record = record.to_vec();
        let nonce = Nonce::assume_unique_for_key(nonce);
        key().seal_in_place_append_tag(nonce, Aad::empty(), &mut record).expect("a record is short enough");
        sealed.extend(record);
    }
    sealed
}

// --- Where it is measured ---

struct Places {
    from: Vec<u8>,
    to: Vec<u8>,
}

impl Places {
    fn new(memory: Memory, options: &Options) -> Self {
        let bytes = match memory {
            Memory::Warm => SIZES[SIZES.len() - 1] + 4096,
            Memory::Cold if options.quick => COLD / 3,
            Memory::Cold => COLD,
        };
        Self { from: vec![1; bytes], to: vec![2; bytes] }
    }

    /// As many places as there are for so many bytes, each a whole number of cache lines.
    fn slots(&self, bytes: usize, memory: Memory) -> Slots {
        let size = (HEADERS + bytes).next_multiple_of(64);
        let count = if memory == Memory::Warm { 1 } else { self.from.len() / size };
        Slots { size, count, next: 0, step: coprime(count) }
    }
}

/// Places in an order in which they are not neighbours.
#[derive(Clone)]
struct Slots {
    size: usize,
    count: usize,
    next: usize,
    step: usize,
}

impl Slots {
    fn next(&mut self) -> usize {
        self.next += self.step;
        if self.next >= self.count {
            self.next -= self.count;
        }
        self.next * self.size
    }
}

/// About 0.618 of it, and no factor of it, so that all places have their turn.
fn coprime(count: usize) -> usize {
    let divides = |mut a: usize, mut b: usize| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let about = (count as f64 * 0.618) as usize;
    (about..=count).find(|step| divides(*step, count) == 1).unwrap_or(0)
}

fn measure(places: &mut Places, bytes: usize, memory: Memory, options: &Options) -> Vec<Row> {
    let mut ways = plain_ways();
    // Sealed records come from memory of their own, which is always warm.
    ways.extend(
        cipher_ways(bytes).into_iter().filter(|way| memory == Memory::Warm || !way.stages.starts_with("aes")),
    );
    let slots = places.slots(bytes, memory);
    let (from, to) = (&places.from, std::cell::RefCell::new(&mut places.to));
    let to = &to;
    let works = ways.iter_mut().map(|way| {
        let mut slots = slots.clone();
        let work: Work<'_> = Box::new(move |count| {
            let mut to = to.borrow_mut();
            for _ in 0..count {
                let at = slots.next();
                let (from, to) = (&from[at + HEADERS..][..bytes], &mut to[at..at + bytes]);
                (way.run)(black_box(from), black_box(to));
            }
        });
        work
    });
    let mut works: Vec<Work<'_>> = works.collect();
    let (rounds, batch) = if options.quick { (5, 1) } else { (15, 3) };
    let times = in_turns(&mut works, rounds, Duration::from_millis(batch));
    drop(works);
    let mut rows = Vec::new();
    for (way, time) in ways.iter().zip(&times) {
        rows.push(row("time", "ns", time.median, way, bytes, memory));
    }
    for (way, time) in ways.iter().zip(&times).filter(|(way, _)| way.way == "fused") {
        let others = ways.iter().zip(&times).filter(|(other, _)| other.stages == way.stages);
        // The best of those that go one after another.
        let separate = others.filter(|(other, _)| other.way != "fused").map(|(_, time)| time.median);
        let gain =
            row("gain", "ratio", separate.fold(f64::INFINITY, f64::min) / time.median, way, bytes, memory);
        let aimed = (way.stages, bytes, memory) == ("copy+checksum", TARGET_BYTES, Memory::Warm);
        rows.push(if aimed { gain.at_least(TARGET) } else { gain });
    }
    rows
}

fn row(metric: &str, unit: &str, value: f64, way: &Way, bytes: usize, memory: Memory) -> Row {
    let row = Row::new("ilp", metric, unit, (value * 1000.0).round() / 1000.0);
    row.with("stages", way.stages).with("way", way.way).with("bytes", bytes).with("memory", memory.name())
}

// --- What is shown ---

fn time(rows: &[Row], stages: &str, way: &str, bytes: f64, memory: Memory) -> Option<f64> {
    let wanted = |row: &&Row| {
        row.text("metric") == "time"
            && (row.text("stages"), row.text("way"), row.text("memory")) == (stages, way, memory.name())
            && row.number("bytes") == Some(bytes)
    };
    rows.iter().find(wanted).map(Row::value)
}

fn table(rows: &[Row], memory: Memory) -> Table {
    let title = match memory {
        Memory::Warm => "The same memory again and again; ns",
        Memory::Cold => "Memory that is in no cache; ns",
    };
    let mut table = Table::new(title, ["stages", "bytes", "separate", "one pass", "gain"]).remark(
        "separate: the best of the ways that take a pass for each; gain: how many times as fast one pass is",
    );
    for row in rows.iter().filter(|row| row.text("metric") == "gain" && row.text("memory") == memory.name()) {
        let (stages, bytes) = (row.text("stages"), row.number("bytes").unwrap_or(f64::NAN));
        let fused = time(rows, stages, "fused", bytes, memory).unwrap_or(f64::NAN);
        let separate =
            ["separate", "library"].into_iter().filter_map(|way| time(rows, stages, way, bytes, memory));
        let separate = separate.fold(f64::INFINITY, f64::min);
        table.line([stages.to_owned(), figure(bytes), figure(separate), figure(fused), figure(row.value())]);
    }
    table
}

fn alone(rows: &[Row], memory: Memory) -> Table {
    let of = |row: &&Row| row.text("way") == "alone" && row.text("memory") == memory.name();
    let rows: Vec<&Row> = rows.iter().filter(of).collect();
    Table::pivot(format!("Each pass alone, {} memory; ns by bytes", memory.name()), rows, ("stages", "bytes"))
}

fn plot(rows: &[Row], memory: Memory) -> Plot {
    let mut series: Vec<Series> = Vec::new();
    for row in rows.iter().filter(|row| row.text("metric") == "gain" && row.text("memory") == memory.name()) {
        let name = row.text("stages");
        let at = series.iter().position(|series| series.name == name).unwrap_or_else(|| {
            series.push(Series { name: name.to_owned(), ..Series::default() });
            series.len() - 1
        });
        series[at].line.extend(row.number("bytes").map(|bytes| (bytes, row.value())));
    }
    let title = format!("One pass beside one for each stage, {} memory", memory.name());
    let y = "times as fast".to_owned();
    Plot { title, x: "bytes".to_owned(), y, logarithmic: true, series, ..Plot::default() }
}
