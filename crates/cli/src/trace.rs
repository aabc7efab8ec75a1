//! `throughline trace`: which lookup suits a traffic.

mod page;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use throughline_lab::trace::{AnalysisError, Fault, Network, Options, Report, Source, Stopper, analyse};

use self::page::Page;
use crate::failure::{CHECK_FILE, Failure, Result};
use crate::{output, signals};

/// Tell which lookup suits the traffic in a capture
///
/// Reads pcap and pcapng, plain or compressed by gzip, zstd or xz; Ethernet with VLAN tags, SNAP, MPLS and PPPoE or without,
/// Linux cooked capture, raw IP, loopback; TCP and UDP over IPv4 and IPv6, but not in GRE or other packets that carry packets.
/// Every packet is looked up with every lookup of the library, and put in if its flow is new. Memory does not grow with the
/// file. Captures one after another, of either format, are read as one.
///
/// Recommended is the simplest lookup within 10 % or 1 ns of the fastest. The working set is an approximation, in the mean
/// over the windows that end at each packet; the first of them are not full yet.
///
/// Ctrl-c ends the reading, and there is the report of what came; another ctrl-c ends the command.
///
/// Exit status: 0 when the capture was read to its end, 3 when it is truncated or corrupt or the reading was ended (the
/// report is of what comes before), 1 when it cannot be read at all, 2 when it was asked for wrongly.
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
    /// Take the two directions of a connection for two flows, each of which its own FIN ends: also where only one was captured
    #[arg(long)]
    one_way: bool,
    /// Seconds of silence after which a flow is over
    #[arg(long, default_value_t = 300, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=31_536_000))]
    idle: u64,
    /// Flows kept at once; those longest unused are taken out, so that a sixteenth, up to 4,096, is room for new ones
    #[arg(long, default_value_t = 1 << 20, value_name = "N", value_parser = clap::value_parser!(u32).range(16..=1 << 26))]
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
    /// Write the report, with plots, as a page of its own to this file, besides the tables or numbers on standard output
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
    let page = arguments.html.as_ref().map(|page| Page::open(page, &arguments.file)).transpose()?;
    let ended = Arc::new(AtomicBool::new(false));
    let stopper = Arc::new(OnceLock::<Stopper>::new());
    let (ends, stops) = (Arc::clone(&ended), Arc::clone(&stopper));
    // Before anything has come: those who write into our pipe may do so only when the same ctrl-c ends them.
    signals::end_once(move || {
        let Some(stopper) = stops.get() else { return false };
        ends.store(true, Ordering::Relaxed);
        stopper.stop();
        true
    })?;
    let source = Source::open(&arguments.file)
        .map_err(|e| Failure::new(format!("cannot read {name}")).because(e).next(CHECK_FILE))?;
    let _ = stopper.set(source.stopper());
    let bar = progress_bar(source.size());
    let report = analyse(source, &arguments.options(), |taken| bar.set_position(taken));
    bar.finish_and_clear();
    let report = report.map_err(|e| no_report(&name, &e))?;
    // Whoever reads the tables may stop before their end, which ends us. They are there without a page: what came by a pipe
    // does not come again.
    let written = page.map_or(Ok(()), |page| page.write(&html(&report, &name)?)).map_err(|failure| {
        output::tell(failure.to_string().trim_end());
        failure.quiet()
    });
    if arguments.json {
        report.rows(&name).iter().for_each(|row| output::line(&row.to_string()));
    } else {
        print(&report);
    }
    let ended = ended.load(Ordering::Relaxed);
    report.fault.as_ref().map_or(Ok(()), |fault| Err(broken_off(&name, fault, ended))).and(written)
}

fn html(report: &Report, name: &str) -> Result<String> {
    report.html(name).map_err(|e| Failure::new("the page cannot be made").because(e))
}

fn broken_off(name: &str, fault: &Fault, ended: bool) -> Failure {
    const ANEW: &str =
        "capture or copy it anew if you need the rest; where the file is cut off, there is no more of it";
    if ended {
        return Failure::partly(format!(
            "{name} was not read to its end; the report is of what comes before"
        ))
        .because(fault);
    }
    let next = fault.command.map_or(ANEW.to_owned(), by_another);
    Failure::partly(format!("{name} cannot be read to its end; the report is of what comes before"))
        .because(fault)
        .next(next)
}

/// What to do where this command reads more of a file.
fn by_another(command: &str) -> String {
    format!("let another program read as much of it as it can: {command} < FILE | throughline trace -")
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
        AnalysisError::NoCapture(fault) => match fault.command {
            Some(command) => {
                Failure::new(format!("{name} cannot be read")).because(error).next(by_another(command))
            }
            None => Failure::new(format!("{name} is no capture"))
                .because(error)
                .next("pass a file written by tcpdump, Wireshark or the like"),
        },
        AnalysisError::Lookup(_) => Failure::usage("the lookups cannot be set up").because(error),
    }
}

fn print(report: &Report) {
    for table in report.tables() {
        output::line(&table.to_string());
    }
    if let Some(sentence) = report.nothing().or_else(|| report.recommendation().map(|best| best.sentence)) {
        output::line(&sentence);
    }
}
