//! Typed calls over shared memory beside what others offer on the same machine: one cache line that two processes bounce,
//! a bare ring, iceoryx2's request-response, omniORB. Server and client are processes, each on a processor of its own; all
//! ways take turns in every round; medians of the rounds.

mod copies;
mod exchange;
#[cfg(feature = "iceoryx2")]
mod iceoryx;
#[cfg(not(feature = "iceoryx2"))]
#[path = "without_iceoryx.rs"]
mod iceoryx;
mod line;
mod measure;
mod parts;
mod plot;
mod report;
mod targets;
mod ways;

use std::{path::PathBuf, process::ExitCode, time::Duration};

use clap::Parser;
use report::Report;

/// Whatever goes wrong.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A run that takes longer is stuck: a peer does not answer.
const LIMIT: Duration = Duration::from_secs(15 * 60);

#[derive(Parser)]
#[command(about)]
struct Options {
    /// Rounds; the median counts.
    #[arg(long, default_value_t = 9)]
    rounds: usize,
    /// Few rounds, short ones.
    #[arg(long)]
    quick: bool,
    /// Ways whose name contains this.
    #[arg(long, default_value = "")]
    only: String,
    /// Results as JSON.
    #[arg(long)]
    json: bool,
    /// Results of an earlier run, written with `--json`, instead of measuring.
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Draws round trips against sizes.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

fn main() -> ExitCode {
    // This binary plays all parts but omniORB's.
    if let Some(status) = throughline_lab::child() {
        return ExitCode::from(status as u8);
    }
    let result = parts::play().unwrap_or_else(|| run(&Options::parse()));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), Failure> {
    let report = match &options.from {
        Some(file) => serde_json::from_str(&std::fs::read_to_string(file)?)?,
        None => measured(options)?,
    };
    if options.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        report.print();
    }
    if let Some(file) = &options.svg {
        plot::draw(file, &report)?;
    }
    Ok(())
}

fn measured(options: &Options) -> Result<Report, Failure> {
    std::thread::spawn(|| {
        std::thread::sleep(LIMIT);
        eprintln!("a peer does not answer");
        // The peers end with their standard input.
        std::process::exit(1);
    });
    let rows = measure::all(options)?;
    let targets = targets::judge(&rows);
    Ok(Report { rows, targets })
}
