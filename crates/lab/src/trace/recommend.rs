//! The lookup that suits, and why.

use throughline_demux::Strategy;

use super::summary::Summary;
use crate::table::{figure, grouped};

/// A lookup that is this much slower than the fastest is as good, if it is simpler.
const AS_GOOD: f64 = 1.1;
/// Nanoseconds by which times differ from run to run.
const UNCERTAIN: f64 = 1.0;
/// Fewer packets than this say little of how long lookups take: all that they touch stays in the nearest cache.
const FEW: u64 = 1024;

/// The lookup to take.
#[derive(Clone, Debug)]
pub struct Recommendation {
    /// Which one.
    pub strategy: Strategy,
    /// In a few sentences, with the reasons.
    pub sentence: String,
}

/// What the choice rests on.
pub(super) struct Grounds<'s> {
    pub(super) summaries: &'s [Summary],
    /// Share of packets that are of the same flow as the one before.
    pub(super) same_again: f64,
    pub(super) most_live: u64,
    pub(super) packets: u64,
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
    let others = able.iter().filter(|(other, _)| other.strategy != best.strategy);
    let fastest = others.min_by(|one, other| one.1.total_cmp(&other.1));
    let sentences = [
        what(best, time, grounds),
        fastest.map_or(String::new(), |(other, other_time)| why(time, other, *other_time)),
        cache(best, grounds),
        if grounds.packets < FEW { few(grounds.packets) } else { String::new() },
    ];
    let sentences: Vec<String> = sentences.into_iter().filter(|sentence| !sentence.is_empty()).collect();
    Some(Recommendation { strategy: best.strategy, sentence: sentences.join(" ") })
}

fn what(best: &Summary, time: f64, grounds: &Grounds<'_>) -> String {
    format!(
        "Take {}: {} a packet, {} entries examined on average and {} at worst, with up to {} at once.",
        best.strategy,
        duration(time),
        figure(best.examined.mean()),
        grouped(best.examined.largest()),
        counted(grounds.most_live, "flow"),
    )
}

/// The rule, beside the fastest of the others.
fn why(time: f64, other: &Summary, other_time: f64) -> String {
    let (rule, next) = if other_time < time {
        ("It is the simplest within 10 % or 1 ns of the fastest", ", which is")
    } else {
        ("It is the fastest, and none that is simpler is within 10 % or 1 ns of it", "; the next is")
    };
    let entries = figure(other.examined.mean());
    format!("{rule}{next} {}, with {} and {entries} entries.", other.strategy, duration(other_time))
}

/// What a cache of one entry would do.
fn cache(best: &Summary, grounds: &Grounds<'_>) -> String {
    let again = again(grounds.same_again);
    match grounds.summaries.iter().find(|summary| summary.strategy == Strategy::Bsd) {
        Some(bsd) if bsd.strategy != best.strategy => format!(
            "A list with a one-entry cache would take {} and examine {}, since {again}.",
            bsd.nanoseconds_each.map_or("-".to_owned(), duration),
            figure(bsd.examined.mean()),
        ),
        _ => format!("As for caches of one entry, {again}."),
    }
}

fn again(share: f64) -> String {
    let percent = (share * 10_000.0).round() / 100.0;
    match share {
        0.0 => "no packet follows one of the same flow".to_owned(),
        _ if percent == 0.0 => "less than 0.01 % of the packets follow one of the same flow".to_owned(),
        _ => format!("{} % of the packets follow one of the same flow", figure(percent)),
    }
}

fn few(packets: u64) -> String {
    let packets = counted(packets, "packet");
    format!("With only {packets}, the times say little of heavier traffic.")
}

fn counted(count: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// Nanoseconds in a unit of their size.
fn duration(nanoseconds: f64) -> String {
    match nanoseconds {
        _ if nanoseconds < 999.5 => format!("{} ns", figure(nanoseconds)),
        _ if nanoseconds < 999_500.0 => format!("{} µs", figure(nanoseconds / 1e3)),
        _ => format!("{} ms", figure(nanoseconds / 1e6)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::by_size::BySize;
    use crate::trace::tally::Tally;

    fn summary(strategy: Strategy, time: f64) -> Summary {
        let mut examined = Tally::default();
        examined.add(2);
        Summary {
            strategy,
            examined,
            cache_hits: 0,
            nanoseconds_each: Some(time),
            bytes: 0,
            complete: true,
            replayed: false,
            by_size: BySize::default(),
        }
    }

    fn sentence(times: [f64; 3], same_again: f64, packets: u64) -> String {
        let strategies = [Strategy::Bsd, Strategy::DynamicHash, Strategy::Swiss];
        let summaries: Vec<_> = strategies.into_iter().zip(times).map(|(s, time)| summary(s, time)).collect();
        let grounds = Grounds { summaries: &summaries, same_again, most_live: packets.min(7), packets };
        recommend(&grounds).unwrap().sentence
    }

    #[test]
    fn the_rule_and_the_next() {
        assert_eq!(
            sentence([300.0, 10.9, 10.0], 0.231, 5000),
            "Take dynamic-hash: 10.9 ns a packet, 2 entries examined on average and 2 at worst, with up to 7 flows at \
             once. It is the simplest within 10 % or 1 ns of the fastest, which is swiss, with 10 ns and 2 entries. A \
             list with a one-entry cache would take 300 ns and examine 2, since 23.1 % of the packets follow one of the \
             same flow."
        );
        let fastest = sentence([30.0, 10.0, 12.0], 0.0004, 5000);
        let rule = "It is the fastest, and none that is simpler is within 10 % or 1 ns of it; the next is swiss, with 12 ns";
        assert!(fastest.contains(rule) && fastest.contains("since 0.04 % of"), "{fastest}");
    }

    #[test]
    fn few_packets_and_rare_trains() {
        let one = sentence([5.0, 10.0, 12.0], 0.0, 1);
        assert!(one.contains("up to 1 flow at once") && one.contains("only 1 packet,"), "{one}");
        assert!(one.contains("no packet follows one of the same flow"), "{one}");
        let rare = sentence([5.0, 10.0, 12.0], 1e-6, 1_000_000);
        assert!(rare.contains("less than 0.01 %") && !rare.contains("With only"), "{rare}");
    }
}
