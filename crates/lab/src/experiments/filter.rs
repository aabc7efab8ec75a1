//! Packet filters: all of them run for each packet, and the consumers of each flow kept.

mod captured;
mod measure;
mod probe;
mod report;
mod traffic;

use throughline_forward::FlowIndex;
use throughline_forward::filter::{CompileError, Libpcap};

use captured::Captured;
pub(crate) use probe::play;

use crate::{Experiment, LabError, Options, Row, Sink, Table, callgrind};

/// See the module.
pub(crate) struct Filter;

/// How consumers are found.
#[derive(Clone, Copy, PartialEq)]
enum Scheme {
    /// libpcap's interpreter, all programs.
    Libpcap,
    /// Ours, all programs.
    None,
    /// By flow, at a hash computed over the flow's headers.
    ComputedHash,
    /// By flow, at the place that the label says.
    SourceHash,
}

impl Scheme {
    const ALL: [Self; 4] = [Self::Libpcap, Self::None, Self::ComputedHash, Self::SourceHash];

    const fn name(self) -> &'static str {
        match self {
            Self::Libpcap => "libpcap",
            Self::None => "none",
            Self::ComputedHash => "computed-hash",
            Self::SourceHash => "source-hash",
        }
    }

    /// None for what is no bank of ours.
    const fn index(self) -> Option<FlowIndex> {
        match self {
            Self::Libpcap => None,
            Self::None => Some(FlowIndex::Never),
            Self::ComputedHash => Some(FlowIndex::Computed),
            Self::SourceHash => Some(FlowIndex::Carried),
        }
    }
}

/// What is measured.
#[derive(Clone, Copy, PartialEq)]
struct Case {
    filters: usize,
    /// How many of these read what differs between packets of a flow.
    per_packet: usize,
    flows: usize,
    /// Whether the packets are those of a capture.
    captured: bool,
}

/// The paper's number of filters, ours, and some between them for the plot.
const FILTERS: [usize; 6] = [1, 4, PAPER, 64, 256, MANY];
const PAPER: usize = 16;
const MANY: usize = 1000;
/// Flows, of which the cache has 65,536.
const FLOWS: usize = 1000;
const MANY_FLOWS: usize = 20_000;

/// "6-7 times faster" with 16 filters and a source hash.
const PAPER_SPEEDUP: f64 = 6.5;
/// By which factor keeping flows must shorten the time, by number of filters.
const TARGETS: [(usize, f64); 2] = [(PAPER, 6.0), (MANY, 100.0)];

/// The first ones alone have targets.
fn cases(options: &Options) -> Vec<Case> {
    let plain = |filters| Case { filters, per_packet: 0, flows: FLOWS, captured: false };
    if options.quick {
        return [PAPER, MANY].map(plain).into();
    }
    let mut cases = FILTERS.map(plain).to_vec();
    for filters in [PAPER, MANY] {
        cases.push(Case { flows: MANY_FLOWS, ..plain(filters) });
        cases.push(Case { per_packet: filters / PAPER, ..plain(filters) });
    }
    cases
}

impl Experiment for Filter {
    fn name(&self) -> &'static str {
        "filter"
    }

    fn purpose(&self) -> &'static str {
        "packet filters: all of them run for each packet, and each flow's consumers kept by hash"
    }

    fn claims(&self) -> &'static [&'static str] {
        &["HDR-1"]
    }

    fn uses(&self) -> &'static [&'static str] {
        &["--instructions", "--seed", "--plots", "--capture"]
    }

    fn run(&self, options: &Options, sink: &mut dyn Sink) -> Result<(), LabError> {
        let capture = options.capture.as_deref().map(|path| Captured::read(path, options.seed, sink));
        let capture = capture.transpose()?;
        let libpcap = match Libpcap::open() {
            Ok(libpcap) => libpcap,
            Err(error @ CompileError::Missing(_)) => {
                sink.note(&error.to_string());
                return Ok(());
            }
            Err(error) => return Err(failed(&error)),
        };
        let mut cases = cases(options);
        cases.extend(capture.iter().flat_map(|capture| [PAPER, MANY].map(|filters| capture.case(filters))));
        sink.ahead(cases.len() as u64 + u64::from(options.instructions));
        let mut rows = Vec::new();
        for case in &cases {
            sink.step(&format!("{} filters, {} flows", case.filters, case.flows));
            let captured = capture.as_ref().filter(|_| case.captured);
            for row in measure::rows(&libpcap, *case, captured, options)? {
                rows.push(row.clone());
                sink.row(row)?;
            }
        }
        if let Some(path) = report::plot(&rows).save(options, "filter.svg")? {
            sink.note(&format!("drawn: {}", path.display()));
        }
        instructions(options, sink)
    }

    fn tables(&self, rows: &[Row]) -> Vec<Table> {
        report::tables(rows)
    }
}

fn instructions(options: &Options, sink: &mut dyn Sink) -> Result<(), LabError> {
    if !options.instructions {
        return Ok(());
    }
    if let Some(missing) = callgrind::missing() {
        sink.note(missing);
        return Ok(());
    }
    sink.step("counting instructions");
    probe::rows()?.into_iter().try_for_each(|row| sink.row(row))
}

/// What libpcap or a bank says, which nobody expected.
fn failed(error: &dyn std::error::Error) -> LabError {
    LabError::Child { who: "filter".to_owned(), what: error.to_string() }
}
