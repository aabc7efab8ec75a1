//! One list whose entries move to the front when they are found (Crowcroft): equations 5 and 6.

use super::users_active_in;

/// Equation 5: entries ahead of a user's when a transaction is entered, `response` seconds being the response time.
///
/// A think time T longer than the response time R lets through everybody who entered a transaction in T or in R
/// before it, N(T + R); a shorter one lets through N(2T). Weighted with the density of the think time and integrated,
/// from 0 to R and from R on, that is (N - 1)(2/3 - e^(-3aR) / 6).
pub fn move_to_front_entry(users: f64, rate: f64, response: f64) -> f64 {
    (users - 1.0) * (2.0 / 3.0 - (-3.0 * rate * response).exp() / 6.0)
}

/// Entries examined when a transaction is entered and all users think for the same time: all of them, since
/// everybody else has had a turn.
pub fn move_to_front_entry_fixed(users: f64) -> f64 {
    users
}

/// Entries ahead of a user's when the acknowledgement of the response arrives: N(2R), equation 3 over twice the
/// response time, since whoever entered a transaction in the R before has sent an acknowledgement since.
pub fn move_to_front_acknowledgement(users: f64, rate: f64, response: f64) -> f64 {
    users_active_in(users, rate, 2.0 * response)
}

/// Equation 6: the mean over both kinds of packets.
pub fn move_to_front(users: f64, rate: f64, response: f64) -> f64 {
    f64::midpoint(
        move_to_front_entry(users, rate, response),
        move_to_front_acknowledgement(users, rate, response),
    )
}
