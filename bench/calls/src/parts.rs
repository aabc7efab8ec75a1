//! The parts of this comparison that run in processes of their own: this binary, started again.

use std::{
    io::{self, BufRead, Write},
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use crate::{Failure, exchange, iceoryx, line};

/// Set in a process that is to play a part: its name. The arguments are the part's own.
const PART: &str = "CALLS_BENCH_PART";

/// When this process was started to play a part, plays it.
pub fn play() -> Option<Result<(), Failure>> {
    let name = std::env::var(PART).ok()?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    Some(match name.as_str() {
        "line-server" => line::serve(),
        "line-client" => line::call(&arguments),
        "exchange-server" => exchange::serve(),
        "exchange-client" => exchange::call(&arguments),
        "iceoryx-server" => iceoryx::serve(&arguments),
        "iceoryx-client" => iceoryx::call(&arguments),
        other => Err(format!("no part {other}").into()),
    })
}

/// A command that starts this binary again in the part given.
pub fn command(part: &str) -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.env(PART, part);
    Ok(command)
}

pub fn say(line: &str) -> io::Result<()> {
    println!("{line}");
    io::stdout().flush()
}

/// Whether standard input has ended, which ends a server that polls.
pub fn ended() -> &'static AtomicBool {
    static ENDED: AtomicBool = AtomicBool::new(false);
    std::thread::spawn(|| {
        io::stdin().lock().lines().for_each(drop);
        ENDED.store(true, Ordering::Relaxed);
    });
    &ENDED
}

/// One line of a client's standard input: `OP BYTES COUNT WARMUP WIDTH`.
#[cfg_attr(not(feature = "iceoryx2"), allow(dead_code, reason = "only iceoryx2 has several under way here"))]
pub struct Round {
    pub bytes: usize,
    pub count: usize,
    /// Calls under way at any time.
    pub width: usize,
}

/// Answers rounds until standard input ends. `exchange` makes that many calls and says how long each took, or how long it
/// was from one answer to the next if several are under way; in nanoseconds.
pub fn rounds(mut exchange: impl FnMut(&Round) -> Result<Vec<u64>, Failure>) -> Result<(), Failure> {
    for line in io::stdin().lock().lines() {
        let line = line?;
        let numbers: Vec<usize> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let [bytes, count, warmup, width] = numbers[..] else { return Err(line.into()) };
        exchange(&Round { bytes, count: warmup, width })?;
        let begin = Instant::now();
        let times = exchange(&Round { bytes, count, width })?;
        say(&throughline_lab::peers::report(times, count, begin.elapsed()))?;
    }
    Ok(())
}

/// What reading the clock adds to a time taken with it, in nanoseconds.
pub fn clock_reading() -> f64 {
    let mut readings: Vec<Duration> = (0..10_001).map(|_| Instant::now().elapsed()).collect();
    readings.sort_unstable();
    readings[readings.len() / 2].as_nanos() as f64
}
