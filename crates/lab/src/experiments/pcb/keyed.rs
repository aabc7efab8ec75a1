//! How much 100 chains depend on the key of their hash function. The paper's "under 9" assumes that all have the same length,
//! which the XOR fold of terminals numbered through gives them, and a hash function with a secret key does not.

use super::models::{Packet, beside_paper, describe};
use super::settings::{Choice, RESPONSES, Setting, Traffic, USERS};
use super::{row, simulate};
use crate::random::Random;
use crate::{LabError, Options, Row};

/// So many keys are tried.
const KEYS: usize = 10;

/// Entries examined with the best and with the worst of the keys.
pub(crate) fn rows(options: &Options) -> Result<Vec<Row>, LabError> {
    let choice = Choice::sequent(100).keyed();
    let setting = Setting {
        traffic: Traffic::TpcA,
        users: USERS,
        response: RESPONSES[0],
        packets: if options.quick { 50_000 } else { 1_000_000 },
        choices: Vec::new(),
    };
    let mut random = Random::new(options.seed);
    let keys: Vec<u64> = (0..KEYS).map(|_| random.next()).collect();
    let tried = simulate::simulate_keys(&setting, choice, &keys)?;
    let means = tried.iter().map(|subject| simulate::mean(subject, Packet::Both));
    let (least, most) =
        means.fold((f64::MAX, 0.0_f64), |(least, most), mean| (mean.min(least), mean.max(most)));
    let of = |metric, value| {
        let row = describe(row(metric, "entries", value), choice, setting.traffic, USERS, setting.response);
        let row = row.with("packet", Packet::Both.name()).with("source", "simulation").with("keys", KEYS);
        beside_paper(row, choice, setting.traffic, setting.response, Packet::Both)
    };
    Ok(vec![of("examined_mean_least", least), of("examined_mean_most", most)])
}
