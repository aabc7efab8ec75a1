//! The lookup that suits, and why.

use throughline_demux::Strategy;

use super::summary::Summary;
use crate::table::{figure, grouped};

/// A lookup that is this much slower than the fastest is as good, if it is simpler.
const AS_GOOD: f64 = 1.1;
/// Nanoseconds by which times differ from run to run.
const UNCERTAIN: f64 = 1.0;

/// The lookup to take.
#[derive(Clone, Debug)]
pub struct Recommendation {
    /// Which one.
    pub strategy: Strategy,
    /// In one sentence, with the reason.
    pub sentence: String,
}

/// What the choice rests on.
pub(super) struct Grounds<'s> {
    pub(super) summaries: &'s [Summary],
    /// Share of packets that are of the same flow as the one before.
    pub(super) same_again: f64,
    pub(super) most_live: u64,
}

/// Chooses among the lookups that need nothing but the packet.
pub(super) fn recommend(grounds: &Grounds<'_>) -> Option<Recommendation> {
    let able: Vec<(&Summary, f64)> = grounds
        .summaries
        .iter()
        .filter(|summary| summary.condition().is_none() && summary.complete)
        .filter_map(|summary| Some((summary, summary.nanoseconds_each?)))
        .collect();
    let least = able.iter().map(|(_, time)| *time).reduce(f64::min)?;
    let as_good = (least * AS_GOOD).max(least + UNCERTAIN);
    // Strategies come from the simplest to the most elaborate.
    let (best, time) = able.iter().find(|(_, time)| *time <= as_good).copied()?;
    Some(Recommendation { strategy: best.strategy, sentence: sentence(best, time, grounds) })
}

fn sentence(best: &Summary, time: f64, grounds: &Grounds<'_>) -> String {
    let mut text = format!(
        "Take {}: {} a packet, {} entries examined on average and {} at worst, with up to {} flows at once",
        best.strategy,
        duration(time),
        figure(best.examined.mean()),
        grouped(best.examined.largest()),
        grouped(grounds.most_live),
    );
    let again = figure((grounds.same_again * 1000.0).round() / 10.0);
    let bsd = grounds.summaries.iter().find(|summary| summary.strategy == Strategy::Bsd);
    match bsd {
        Some(bsd) if bsd.strategy != best.strategy => {
            text += &format!(
                "; a list with a one-entry cache would take {} and examine {}, since {again} % of the packets follow one \
                 of the same flow",
                bsd.nanoseconds_each.map_or("-".to_owned(), duration),
                figure(bsd.examined.mean()),
            );
        }
        _ => text += &format!("; {again} % of the packets follow one of the same flow"),
    }
    text + "."
}

/// Nanoseconds in a unit of their size.
fn duration(nanoseconds: f64) -> String {
    match nanoseconds {
        _ if nanoseconds < 999.5 => format!("{} ns", figure(nanoseconds)),
        _ if nanoseconds < 999_500.0 => format!("{} µs", figure(nanoseconds / 1e3)),
        _ => format!("{} ms", figure(nanoseconds / 1e6)),
    }
}
