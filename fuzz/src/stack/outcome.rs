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
    /// Where a frame names its path, nobody looks for another: what is for another port is off the path. And it is asked first
    /// whether there is room: where there was none, only how often something was discarded is the same, since there may be
    /// more to say against it. So it is where there is a layer above ports, which never sees what was off the path.
    pub fn agrees(&self, layered: &Self) -> bool {
        let Self { delivered, sent, discarded, troubles, accepted, direct } = self;
        let seen = (delivered, sent, troubles, accepted)
            == (&layered.delivered, &layered.sent, &layered.troubles, &layered.accepted);
        let [ours, theirs] = [reasons(discarded), reasons(&layered.discarded)];
        seen && match direct {
            false => *discarded == layered.discarded,
            true if ours.contains_key(&(Discard::QueueFull as u8))
                || layered.discarded.iter().any(|(name, ..)| name == "sealed") =>
            {
                ours.values().sum::<u64>() == theirs.values().sum()
            }
            true => ours == theirs,
        }
    }
}

/// How often what was discarded for which reason; what is at nobody's port, or under nobody's key, may be off the path as well.
fn reasons(discarded: &[(String, Discard, u64)]) -> BTreeMap<u8, u64> {
    let mut reasons = BTreeMap::new();
    for (_, why, count) in discarded {
        let off = matches!(why, Discard::NoPort | Discard::UnknownKey);
        let why = if off { Discard::WrongPath } else { *why };
        *reasons.entry(why as u8).or_default() += count;
    }
    reasons
}
