//! The lookup that suits, and why.

use throughline_demux::Strategy;

use super::summary::Summary;
use super::which::Which;

/// A lookup that is this much slower than the fastest is as good, if it is simpler.
const AS_GOOD: f64 = 1.1;
/// With fewer packets than this, times are those of cold caches.
const ENOUGH: u64 = 10_000;

/// The lookup to take.
#[derive(Clone, Debug)]
pub struct Recommendation {
    /// Which one.
    pub which: Which,
    /// In one sentence, with the reason.
    pub sentence: String,
}

/// What the choice rests on.
pub(super) struct Grounds<'s> {
    pub(super) summaries: &'s [Summary],
    pub(super) packets: u64,
    /// Share of packets that are of the same flow as the one before.
    pub(super) same_again: f64,
    pub(super) most_live: u64,
}

/// Chooses among the lookups that need nothing but the packet.
pub(super) fn recommend(grounds: &Grounds<'_>) -> Option<Recommendation> {
    let able: Vec<(&Summary, f64)> = grounds
        .summaries
        .iter()
        .filter(|summary| !summary.which.needs_index() && !summary.which.must_freeze() && summary.complete)
        .filter_map(|summary| Some((summary, summary.nanoseconds_each()?)))
        .collect();
    let least = able.iter().map(|(_, time)| *time).reduce(f64::min)?;
    // Strategies come from the simplest to the most elaborate.
    let (best, time) = able.iter().find(|(_, time)| *time <= least * AS_GOOD).copied()?;
    Some(Recommendation { which: best.which, sentence: sentence(best, time, grounds) })
}

fn sentence(best: &Summary, time: f64, grounds: &Grounds<'_>) -> String {
    let mut text = format!(
        "Take {}: {time:.0} ns a packet, {:.2} entries examined on average and {} at worst, with up to {} flows at once",
        best.which,
        best.examined.mean(),
        best.examined.largest(),
        grounds.most_live,
    );
    let again = grounds.same_again * 100.0;
    let bsd = grounds.summaries.iter().find(|summary| summary.which == Which::Strategy(Strategy::Bsd));
    match bsd {
        Some(bsd) if bsd.which != best.which => {
            text += &format!(
                "; a list with a one-entry cache would examine {:.1}, since {again:.0} % of the packets follow one of the same flow",
                bsd.examined.mean()
            )
        }
        _ => text += &format!("; {again:.0} % of the packets follow one of the same flow"),
    }
    if grounds.packets < ENOUGH {
        text += &format!(" (times of so few packets, {}, are uncertain)", grounds.packets);
    }
    text + "."
}
