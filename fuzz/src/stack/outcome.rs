//! What became of frames, and whether that is the same.

use std::collections::BTreeMap;

use throughline_stack::{Discard, Trouble};

/// What can be seen from outside.
#[derive(Debug, Default)]
pub struct Outcome {
    pub delivered: Vec<Vec<u8>>,
    /// Lengths, and who they were sent to: numbers that a host draws are its own.
    pub sent: Vec<(usize, [u8; 6])>,
    pub discarded: Vec<(String, Discard, u64)>,
    pub troubles: Vec<Trouble>,
    pub accepted: usize,
    /// Whether the lowest layer led to paths.
    pub direct: bool,
}

impl Outcome {
    /// Whether all is the same.
    ///
    /// There may be more than one thing to say against a message, and the architectures may say another one first, so that only
    /// how often something was discarded is the same: where a frame names its path and there was no room there, which is asked
    /// first; and where messages are sealed, whose sums are looked at when they are opened. Where a frame names its path nobody
    /// looks for another, so what is for another port is off the path.
    pub fn agrees(&self, layered: &Self) -> bool {
        let Self { delivered, sent, discarded, troubles, accepted, direct } = self;
        let seen = (delivered, sent, troubles, accepted)
            == (&layered.delivered, &layered.sent, &layered.troubles, &layered.accepted);
        let [ours, theirs] = [reasons(discarded), reasons(&layered.discarded)];
        let crowded = *direct && ours.contains_key(&(Discard::QueueFull as u8));
        let sealed = discarded.iter().chain(&layered.discarded).any(|(name, ..)| name == "sealed");
        seen && match direct {
            _ if crowded || sealed => ours.values().sum::<u64>() == theirs.values().sum(),
            false => *discarded == layered.discarded,
            true => ours == theirs,
        }
    }
}

/// How often what was discarded for which reason; what is at nobody's port may be off the path as well.
fn reasons(discarded: &[(String, Discard, u64)]) -> BTreeMap<u8, u64> {
    let mut reasons = BTreeMap::new();
    for (_, why, count) in discarded {
        let why = if *why == Discard::NoPort { Discard::WrongPath } else { *why };
        *reasons.entry(why as u8).or_default() += count;
    }
    reasons
}
