//! Instructions per packet.

use throughline_forward::filter::Libpcap;

use super::measure::{find, frames, row};
use super::traffic::{Traffic, bank, programs};
use super::{Case, FLOWS, MANY, PAPER, Scheme, failed};
use crate::callgrind::{self, counted, dump, start};
use crate::{LabError, Row};

/// Packets counted.
const PACKETS: usize = 200;

const CASES: [Case; 2] = [
    Case { filters: PAPER, per_packet: 0, flows: FLOWS, captured: false },
    Case { filters: MANY, per_packet: 0, flows: FLOWS, captured: false },
];
const SCHEMES: [Scheme; 3] = [Scheme::None, Scheme::ComputedHash, Scheme::SourceHash];

fn label(case: Case, scheme: Scheme) -> String {
    format!("{} {}", case.filters, scheme.name())
}

/// Counts, in a process under callgrind.
pub(super) fn rows() -> Result<Vec<Row>, LabError> {
    let counts = callgrind::run("filter-probe", &[])?;
    let mut rows = Vec::new();
    for case in CASES {
        for scheme in SCHEMES {
            let label = label(case, scheme);
            if let Some((_, counts)) = counts.iter().find(|(name, _)| *name == label) {
                let instructions = counts.instructions / PACKETS as f64;
                rows.push(row("instructions", "instructions", instructions, case, scheme));
            }
        }
    }
    Ok(rows)
}

/// The part that runs under callgrind.
///
/// # Errors
/// When there is no libpcap.
pub(crate) fn play(_arguments: &[String]) -> Result<(), LabError> {
    let libpcap = Libpcap::open().map_err(|error| failed(&error))?;
    for case in CASES {
        let programs = programs(&libpcap, case)?;
        let traffic = Traffic::new(case, 1);
        for scheme in SCHEMES {
            let mut bank = bank(&programs, scheme.index().unwrap_or_default())?;
            let frames = &frames(&traffic, scheme)[..PACKETS];
            frames.iter().for_each(|frame| _ = find(&mut bank, frame));
            start();
            for frame in frames {
                counted(|| find(&mut bank, frame));
            }
            dump(&label(case, scheme));
        }
    }
    Ok(())
}
