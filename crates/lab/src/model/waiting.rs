//! The same users when they wait for their responses, as TPC/A has it: what the paper leaves out, exactly.
//!
//! The paper lets a user enter transactions at rate a however long the responses take. Users who wait enter one in
//! 1/a + R seconds, alternating between thinking (exponential) and waiting (R). A user who waits at the beginning of
//! an interval at least as long as R sends an acknowledgement in it for certain; one who thinks sends a packet with
//! the probability of equation 2.

use super::sequent::per_chain;
use super::{active_in, users_active_in};

/// The probability that a user sends at least one packet in an interval of `time`, seen at a random moment:
/// ((1 - e^(-aT))/a + min(R, T)) / (1/a + R).
pub fn waiting_active_in(rate: f64, response: f64, time: f64) -> f64 {
    (active_in(rate, time) / rate + response.min(time)) / (1.0 / rate + response)
}

/// The probability that he sends none: one less the other, to more digits where it is small.
fn waiting_silent_in(rate: f64, response: f64, time: f64) -> f64 {
    ((-rate * time).exp() / rate + (response - time).max(0.0)) / (1.0 / rate + response)
}

/// Entries ahead of a user's when the acknowledgement arrives, move-to-front: compare N(2R) of the paper.
pub fn waiting_acknowledgement(users: f64, rate: f64, response: f64) -> f64 {
    (users - 1.0) * waiting_active_in(rate, response, response)
}

/// Entries ahead of a user's when a transaction is entered, move-to-front: compare equation 5.
///
/// The integral of a e^(-aT) times [`waiting_active_in`] over all think times T.
pub fn waiting_entry(users: f64, rate: f64, response: f64) -> f64 {
    let beyond = response - users_active_in(2.0, rate, response) / rate;
    (users - 1.0) * (1.0 - (0.5 / rate + beyond) / (1.0 / rate + response))
}

/// The probability that nobody else of the same chain sends a packet between a transaction and the acknowledgement
/// of its response: compare equation 9.
pub fn waiting_undisturbed(users: f64, chains: f64, rate: f64, response: f64) -> f64 {
    waiting_silent_in(rate, response, response).powf(per_chain(users, chains) - 1.0)
}
