//! The users of TPC/A as the paper models them: equations 2 to 4.

/// Equation 2: the probability that a user has entered at least one transaction in an interval of `time` seconds,
/// when users enter `rate` transactions a second each and think for exponentially distributed times:
/// F(T) = 1 - e^(-aT).
pub fn active_in(rate: f64, time: f64) -> f64 {
    -(-rate * time).exp_m1()
}

/// Equation 3: how many of the `users - 1` others are expected to enter a transaction in an interval of `time`.
///
/// The paper's weighted average over the number i of those who do,
/// sum of i C(N-1, i) (1 - e^(-aT))^i e^(-aT(N-1-i)), is the mean of a binomial distribution: (N - 1)(1 - e^(-aT)).
pub fn users_active_in(users: f64, rate: f64, time: f64) -> f64 {
    (users - 1.0) * active_in(rate, time)
}

/// Equation 4 without its dT: the density of the think time at `time`, a e^(-aT), per second.
pub fn think_density(rate: f64, time: f64) -> f64 {
    rate * (-rate * time).exp()
}
