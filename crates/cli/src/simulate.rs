//! `throughline simulate`: traffic to try lookups with, as a capture.

use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use throughline_lab::traffic::{Mix, Traffic};

use crate::failure::{Failure, Result};
use crate::signals;

/// Make traffic, as a capture for `trace` and others
///
/// Writes a pcap file of TCP packets over IPv4, without data, as a server receives them. Several kinds of traffic come at the same
/// time. The same seed gives the same file.
///
/// Since what the server sends is not there, `trace` takes connections for closed only with --one-way.
#[derive(clap::Args)]
#[command(arg_required_else_help = true, after_help = after_help())]
pub struct Arguments {
    /// What comes: KIND or KIND:NAME=VALUE,...
    #[arg(value_name = "TRAFFIC", required = true)]
    traffic: Vec<Traffic>,
    /// How many packets
    #[arg(long, default_value_t = 100_000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    packets: u64,
    /// What makes one run differ from another
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Where to write; standard output if left out, or -
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

fn after_help() -> String {
    format!(
        "Kinds of traffic, and their parameters:
{}
Examples:
  throughline simulate tpc-a:users=5000,response=0.5 | throughline trace -
  throughline simulate tpc-a trains:flows=10,rate=6 --packets 1000000 -o transactions-and-bulk.pcap
  throughline simulate tpc-a flood:rate=2000 --seed 7 -o attacked.pcap",
        Traffic::kinds()
    )
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result {
    let mix = Mix::new(arguments.traffic.clone())
        .map_err(|e| Failure::usage("too much traffic at once").because(e).next("make several files"))?;
    match arguments.output.as_deref().filter(|file| *file != Path::new("-")) {
        Some(file) => {
            let (out, is_new) = create(file).map_err(|e| not_written(file, &e))?;
            // What is written to a pipe or a device cannot be taken back.
            let ended = if is_file(out.as_fd()) { signals::told()? } else { Arc::default() };
            let going_on = || !ended.load(Ordering::Relaxed);
            let bar = progress_bar(arguments.packets);
            let written = write(&mix, arguments, &out, going_on, |n| bar.set_position(n));
            bar.finish_and_clear();
            if written.is_err() || !going_on() {
                withdraw(file, &out, is_new);
            }
            if !going_on() {
                process::exit(signals::STATUS);
            }
            written.map_err(|e| not_written(file, &e))
        }
        None if io::stdout().is_terminal() => Err(Failure::usage("a capture is nothing for a terminal")
            .next("name a file with -o, or pass it on with | throughline trace -")),
        None => {
            let bar = if is_file(io::stdout().as_fd()) {
                progress_bar(arguments.packets)
            } else {
                ProgressBar::hidden()
            };
            let written = write(&mix, arguments, io::stdout().lock(), || true, |n| bar.set_position(n));
            bar.finish_and_clear();
            match written {
                // The reader has seen enough.
                Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
                written => written.map_err(|e| not_written("standard output".as_ref(), &e)),
            }
        }
    }
}

/// A file to write to, and whether it was not there before.
fn create(path: &Path) -> io::Result<(File, bool)> {
    match File::create_new(path) {
        Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok((File::create(path)?, false)),
        made => Ok((made?, true)),
    }
}

/// Takes back what was written to a file: part of a capture is not the one that was asked for, and what reads it may not see that
/// it ends early. Where that fails as well, nothing can be done.
fn withdraw(path: &Path, file: &File, is_new: bool) {
    if is_new {
        let _ = fs::remove_file(path);
    } else if is_file(file.as_fd()) {
        let _ = file.set_len(0);
    }
}

/// Whether what is written goes to a file: who reads from a pipe shows his own progress.
fn is_file(output: BorrowedFd<'_>) -> bool {
    let about = output.try_clone_to_owned().and_then(|file| File::from(file).metadata());
    about.is_ok_and(|about| about.is_file())
}

/// Writes all packets, or as many as there are until it is not to go on.
fn write(
    mix: &Mix,
    arguments: &Arguments,
    out: impl Write,
    going_on: impl Fn() -> bool,
    told: impl FnMut(u64),
) -> io::Result<()> {
    let packets = usize::try_from(arguments.packets).unwrap_or(usize::MAX);
    let events = mix.events(arguments.seed).take(packets).take_while(|_| going_on());
    mix.write(events, BufWriter::new(out), told)
}

fn not_written(file: &Path, error: &io::Error) -> Failure {
    let failure = Failure::new(format!("cannot write {}", file.display()));
    match error.kind() {
        // The capture says so, not the system, which means names or contents that the place does not take.
        ErrorKind::InvalidInput if error.raw_os_error().is_none() => failure
            .because("packets so far apart come after the year 2106, which a capture cannot tell")
            .next("let more come in a second, or fewer packets"),
        _ => failure.because(error).next("choose another place"),
    }
}

/// Packets so far; on standard error, and only if that is a terminal.
fn progress_bar(packets: u64) -> ProgressBar {
    let bar = ProgressBar::new(packets);
    let style = "{elapsed:>4} [{bar:30}] {human_pos}/{human_len} packets, {eta} left";
    let style = ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style.progress_chars("=> "));
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}
