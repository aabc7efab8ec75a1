//! How full a cuckoo table gets before it can no longer place a key.

use super::bins::poisson_tail;

/// Some limits, to two more digits than anyone should rely on: choices of bucket, places per bucket, load.
pub const CUCKOO_LIMITS: [(u32, u32, f64); 8] = [
    (2, 1, 0.5),
    (3, 1, 0.9179),
    (4, 1, 0.9768),
    (2, 2, 0.8970),
    (2, 3, 0.9592),
    (2, 4, 0.9804),
    (3, 2, 0.9882),
    (3, 3, 0.9973),
];

/// The load up to which keys with `choices` buckets of `places` each can all be placed in a large table (the
/// orientability of random hypergraphs: Dietzfelbinger et al. 2010, Fountoulakis, Khosla and Panagiotou 2011).
///
/// With Q(x, y) the probability that a Poisson variable of mean x is at least y, and x the solution of
/// choices * places = x Q(x, places) / Q(x, places + 1), the limit is x / (choices * places * Q(x, places)^(choices -
/// 1)). One choice has the limit 0: some bucket of a large table always overflows.
pub fn cuckoo_limit(choices: u32, places: u32) -> f64 {
    if choices < 2 || places == 0 {
        return 0.0;
    }
    if (choices, places) == (2, 1) {
        return 0.5;
    }
    let wanted = f64::from(choices) * f64::from(places);
    let ratio = |x: f64| x * poisson_tail(x, places) / poisson_tail(x, places + 1);
    // The ratio grows with x, from places + 1 at 0 and never less than x.
    let (mut low, mut high) = (1e-3, wanted);
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if ratio(middle) < wanted { low = middle } else { high = middle }
    }
    let full = poisson_tail(low, places).powi(choices as i32 - 1);
    low / (wanted * full)
}
