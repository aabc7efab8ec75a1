//! Our side of the comparisons: a server and a client of `idl/bench.idl`.

use std::collections::VecDeque;
use std::io::{BufRead, Write};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use throughline::rt::{Decode, Encode, Reader, Writer};
use throughline::{
    Address, Begun, InOut, Orb, OrbConfig, SystemException, TrustedPeers, TypedReference, Wait,
};
use throughline_cdr::{ByteOrder, Output};

use super::{failure, outstanding};
use crate::LabError;

#[allow(missing_docs)]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/bench.rs"));
}
use generated::bench;

/// Where many calls or messages are under way one of so many is timed: reading the clock takes a good part of the time of one.
pub(super) const SAMPLED: usize = 16;

/// Longer than any pause within a measurement.
const SPIN: Duration = Duration::from_millis(200);

#[derive(Debug, Default)]
struct Target {
    posted: AtomicU32,
}

impl bench::Target for Target {
    fn ping(&self) -> Result<(), SystemException> {
        Ok(())
    }
    fn echo(&self, n: u32) -> Result<u32, SystemException> {
        Ok(n)
    }
    fn move_data(&self, _data: &mut InOut<'_, u32>) -> Result<(), SystemException> {
        Ok(())
    }
    fn post(&self, n: u32) {
        self.posted.fetch_add(n, Ordering::Relaxed);
    }
    fn posted(&self) -> Result<u32, SystemException> {
        Ok(self.posted.load(Ordering::Relaxed))
    }
}

/// How to wait: `spin` on both protocols, `block` without looking first, or `adapt` as is the default. `trusted` is `spin` among
/// peers that trust each other.
fn config(name: &str) -> OrbConfig {
    let mut config = OrbConfig::default();
    match name {
        "spin" => (config.wait, config.native_spin) = (Wait::Spin(SPIN), SPIN),
        "trusted" => {
            // SAFETY: the peers are parts of this program, which use the library's safe interface.
            config.trusted_peers = Some(unsafe { TrustedPeers::promise() });
            (config.wait, config.native_spin) = (Wait::Spin(SPIN), SPIN);
        }
        "block" => config.native_spin = Duration::ZERO,
        _ => {}
    }
    config
}

/// The server part: `OBJECTS block|spin|adapt|trusted [ADDRESS [FILE]]`. Prints the reference of the last object, or writes those
/// of all into the file and prints `@FILE`.
///
/// # Errors
/// When the ORB cannot be started or is out of room.
pub(crate) fn serve(arguments: &[String]) -> Result<(), LabError> {
    let [objects, waiting, more @ ..] = arguments else {
        return Err(failure("bench-server", "bad arguments"));
    };
    let address = more.first().map_or("iiop://127.0.0.1:0", String::as_str);
    let address: Address = address.parse().map_err(|_| failure("bench-server", "bad address"))?;
    let objects: u32 = objects.parse().map_err(|_| failure("bench-server", "bad number of objects"))?;
    let orb = Orb::start(OrbConfig { listen: vec![address], ..config(waiting) })?;
    let adapter = orb.root().create_child("bench", throughline::AdapterConfig::default())?;
    let mut all = Vec::new();
    for _ in 0..objects {
        all.push(adapter.activate(bench::TargetSkeleton(Target::default()))?);
    }
    match more.get(1) {
        Some(file) => {
            let text: String = all.iter().map(|object| format!("{}\n", object.as_object())).collect();
            std::fs::write(file, text)?;
            println!("@{file}");
        }
        None => {
            println!("{}", all.last().ok_or_else(|| failure("bench-server", "no objects"))?.as_object());
        }
    }
    std::io::stdin().lock().lines().for_each(drop);
    orb.shutdown(Duration::from_secs(1));
    Ok(())
}

/// The client part: `REFERENCE CONNECTIONS block|spin|adapt|trusted`, and rounds on standard input. In place of a reference,
/// `@FILE` with one per line; `ping` then calls one object after the other.
///
/// # Errors
/// When a call fails or a round is malformed.
pub(crate) fn call(arguments: &[String]) -> Result<(), LabError> {
    let [reference, connections, waiting] = arguments else {
        return Err(failure("bench-client", "bad arguments"));
    };
    let connections_per_server =
        connections.parse().map_err(|_| failure("bench-client", "bad number of connections"))?;
    let orb = Orb::start(OrbConfig { connections_per_server, ..config(waiting) })?;
    let text = match reference.strip_prefix('@') {
        Some(file) => std::fs::read_to_string(file)?,
        None => reference.clone(),
    };
    let target = |line| Ok(bench::TargetRef::from_object(orb.string_to_object(line)?));
    let targets = text.lines().map(target).collect::<Result<Vec<_>, SystemException>>()?;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let answer = round(&targets, &line)?;
        println!("{answer}");
        std::io::stdout().flush()?;
    }
    Ok(())
}

fn round(targets: &[bench::TargetRef], line: &str) -> Result<String, LabError> {
    let target = targets.first().ok_or_else(|| failure("bench-client", "no objects"))?;
    let bad = || failure("bench-client", "expected OP BYTES COUNT WARMUP THREADS");
    let words: Vec<&str> = line.split_whitespace().collect();
    let [op, numbers @ ..] = &words[..] else { return Err(bad()) };
    let numbers: Vec<usize> =
        numbers.iter().map(|n| n.parse()).collect::<Result<_, _>>().map_err(|_| bad())?;
    let [bytes, count, warmup, threads] = numbers[..] else { return Err(bad()) };
    let (times, wall) = match *op {
        "ping-async" => {
            let target = target.clone();
            let call = move || target.ping_async();
            outstanding::run(call.clone(), warmup, threads)?;
            outstanding::run(call, count, threads)?
        }
        "ping-begun" => {
            begun(target, warmup, threads)?;
            begun(target, count, threads)?
        }
        "ping" => {
            let call = || {
                let mut all = targets.iter().cycle();
                move || all.next().unwrap_or(target).ping()
            };
            threaded((count, warmup, threads), call)?
        }
        "echo" => {
            let call = || {
                let mut numbers = 0_u32..;
                move || {
                    let number = numbers.next().unwrap_or_default();
                    let same = target.echo(number)? == number;
                    if same { Ok(()) } else { Err(other_number()) }
                }
            };
            threaded((count, warmup, threads), call)?
        }
        "move" => {
            let words: Vec<u32> = (0..bytes as u32 / 4).collect();
            let call = || {
                let mut words = words.clone();
                move || target.move_data(&mut words)
            };
            threaded((count, warmup, threads), call)?
        }
        _ => return Err(bad()),
    };
    Ok(report(times, count, wall))
}

/// One thread that always has so many calls under way, and waits for the oldest. Of [`SAMPLED`] calls one is timed.
fn begun(
    target: &bench::TargetRef,
    count: usize,
    window: usize,
) -> Result<(Vec<u64>, Duration), SystemException> {
    let mut times = Vec::with_capacity(count / SAMPLED + 1);
    let mut pending: VecDeque<(Option<Instant>, Begun<'_, (), _>)> = VecDeque::with_capacity(window);
    let start = Instant::now();
    for n in 0..count + window {
        if n >= window
            && let Some((begun, call)) = pending.pop_front()
        {
            call.wait()?;
            times.extend(begun.map(|begun| begun.elapsed().as_nanos() as u64));
        }
        if n < count {
            let begun = n.is_multiple_of(SAMPLED).then(Instant::now);
            pending.push_back((begun, target.ping_begin()));
        }
    }
    Ok((times, start.elapsed()))
}

#[cold]
fn other_number() -> SystemException {
    SystemException::new(throughline::Kind::Internal, 0).detail("another number came back")
}

/// Divides the calls among threads; each call is timed by itself, as `bench_client` does.
fn threaded<C>(
    (count, warmup, threads): (usize, usize, usize),
    make: impl Fn() -> C + Sync,
) -> Result<(Vec<u64>, Duration), LabError>
where
    C: FnMut() -> Result<(), SystemException>,
{
    let (gate, started) = (Barrier::new(threads + 1), Barrier::new(threads + 1));
    let share = |n: usize| (n + 1) * count / threads - n * count / threads;
    let work = |calls: usize| {
        let mut call = make();
        let warm = (0..warmup).try_for_each(|_| call());
        gate.wait();
        started.wait();
        warm?;
        let mut times = Vec::with_capacity(calls);
        for _ in 0..calls {
            let start = Instant::now();
            call()?;
            times.push(start.elapsed().as_nanos() as u64);
        }
        Ok::<_, SystemException>(times)
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (1..threads).map(|n| scope.spawn(move_share(&work, share(n)))).collect();
        let opener = scope.spawn(|| {
            gate.wait();
            let start = Instant::now();
            started.wait();
            start
        });
        let mut times = work(share(0))?;
        for worker in workers {
            times.extend(worker.join().map_err(|_| failure("bench-client", "a thread panicked"))??);
        }
        let start = opener.join().map_err(|_| failure("bench-client", "a thread panicked"))?;
        Ok((times, start.elapsed()))
    })
}

fn move_share<T>(work: &(impl Fn(usize) -> T + Sync), calls: usize) -> impl FnOnce() -> T {
    move || work(calls)
}

/// Writing and reading that many bytes as an argument of `MoveData`, with the codecs that its stub and its skeleton use.
pub(crate) struct Marshaling {
    words: bench::Words,
    memory: Vec<u8>,
    overflow: Vec<u8>,
}

impl Marshaling {
    pub(crate) fn new(bytes: u32) -> Self {
        let words = (0..bytes / 4).collect();
        Self { words, memory: vec![0; bytes as usize + 64], overflow: Vec::new() }
    }

    /// What a request costs: the caller writes, the skeleton reads into new memory.
    pub(crate) fn request(&mut self) {
        let used = self.write();
        let read = bench::Words::decode(&mut Reader::new(&self.memory[..used], ByteOrder::NATIVE));
        std::hint::black_box(read.is_ok());
    }

    /// What a reply costs: the skeleton writes, the caller reads into the memory it has.
    pub(crate) fn reply(&mut self) {
        let used = self.write();
        let read = self.words.decode_into(&mut Reader::new(&self.memory[..used], ByteOrder::NATIVE));
        std::hint::black_box(read.is_ok());
    }

    fn write(&mut self) -> usize {
        let mut used = 0;
        let output = Output::memory(&mut self.memory, &mut used, &mut self.overflow);
        let written = self.words.encode(&mut Writer::to(output, ByteOrder::NATIVE, 0));
        std::hint::black_box((written.is_ok(), &self.memory));
        used
    }
}

/// The line that answers a round: the times of those of its calls that were timed, in nanoseconds, and of all of them.
pub fn report(mut times: Vec<u64>, count: usize, wall: Duration) -> String {
    times.sort_unstable();
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or(0);
    let rate = count as f64 / wall.as_secs_f64();
    format!(r#"{{"median_ns":{},"p99_ns":{},"rate_per_s":{rate:.1}}}"#, at(50), at(99))
}
