//! `throughline trace`: which lookup suits a traffic.

use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use throughline_lab::trace::{AnalysisError, Network, Options, Report, Source, analyse};

use crate::failure::{Failure, Result};
use crate::output;

/// Tell which lookup suits the traffic in a capture
///
/// Reads pcap and pcapng, plain or compressed by gzip, zstd or xz; Ethernet with or without VLAN tags, Linux cooked
/// capture, raw IP, loopback; TCP and UDP over IPv4 and IPv6. Every packet is looked up with every lookup of the library,
/// and put in if its flow is new. Memory does not grow with the file.
///
/// Exit status: 0 when the capture was read to its end, 3 when it is truncated or corrupt (the report is of what comes
/// before), 1 when it cannot be read at all, 2 when it was asked for wrongly.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  throughline trace capture.pcap
  throughline trace --to 192.0.2.10 --html report.html server.pcapng.zst
  zcat *.pcap.gz | throughline trace --json - > report.jsonl
  tcpdump -i eth0 -s 96 -c 1000000 -w - | throughline trace -")]
pub struct Arguments {
    /// The capture, or - to read it from standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Count only packets to this address or network, as the host or the network there would
    #[arg(long, value_name = "ADDRESS[/BITS]")]
    to: Option<Network>,
    /// Take the two directions of a connection for two flows
    #[arg(long)]
    one_way: bool,
    /// Seconds of silence after which a flow is over
    #[arg(long, default_value_t = 300, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=31_536_000))]
    idle: u64,
    /// Flows kept at once; beyond that the longest unused is taken out
    #[arg(long, default_value_t = 1 << 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 26))]
    flows: u32,
    /// Chains of the lookups `sequent` and `chains-move-to-front`
    #[arg(long, default_value_t = 19, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 24))]
    chains: u32,
    /// Seed of the hash functions
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// One JSON object per number instead of tables
    #[arg(long)]
    json: bool,
    /// Write the report, with plots, as a page of its own to this file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

impl Arguments {
    fn options(&self) -> Options {
        Options {
            both_directions: !self.one_way,
            to: self.to,
            flows: self.flows as usize,
            idle: self.idle * 1_000_000_000,
            chains: self.chains as usize,
            seed: self.seed,
        }
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result {
    let name = name_of(&arguments.file);
    let source = Source::open(&arguments.file).map_err(|e| {
        Failure::new(format!("cannot read {name}")).because(e).next("check the name and the permissions")
    })?;
    let bar = progress_bar(source.size());
    let report = analyse(source, &arguments.options(), |taken| bar.set_position(taken));
    bar.finish_and_clear();
    let report = report.map_err(|e| no_report(&name, &e))?;
    if arguments.json {
        report.rows().iter().for_each(|row| output::line(&row.to_string()));
    } else {
        print(&report);
    }
    if let Some(file) = &arguments.html {
        let written = report.html(&name).and_then(|page| std::fs::write(file, page));
        written.map_err(|e| {
            Failure::new(format!("cannot write {}", file.display())).because(e).next("choose another place")
        })?;
    }
    match &report.fault {
        Some(fault) => Err(Failure::partly(format!(
            "{name} cannot be read to its end; the report is of what comes before"
        ))
        .because(fault)),
        None => Ok(()),
    }
}

fn name_of(file: &Path) -> String {
    if file == Path::new("-") { "standard input".to_owned() } else { file.display().to_string() }
}

/// Octets of the file as it lies there; on standard error, and only if that is a terminal.
fn progress_bar(size: Option<u64>) -> ProgressBar {
    let (bar, style) = match size {
        Some(size) => (
            ProgressBar::new(size),
            "{elapsed:>4} [{bar:30}] {bytes}/{total_bytes} {bytes_per_sec}, {eta} left",
        ),
        None => (ProgressBar::new_spinner(), "{elapsed:>4} {bytes} {bytes_per_sec}"),
    };
    let style = ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style.progress_chars("=> "));
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}

fn no_report(name: &str, error: &AnalysisError) -> Failure {
    match error {
        AnalysisError::NoCapture(_) => Failure::new(format!("{name} is no capture"))
            .because(error)
            .next("pass a file written by tcpdump, Wireshark or the like"),
        AnalysisError::Lookup(_) => Failure::usage("the lookups cannot be set up").because(error),
    }
}

fn print(report: &Report) {
    for table in report.tables() {
        output::line(&table.to_string());
    }
    match report.recommendation() {
        Some(recommendation) => output::line(&recommendation.sentence),
        None => output::line("There are no packets of TCP or UDP in it, so no lookup to recommend."),
    }
}
