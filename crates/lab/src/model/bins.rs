//! Keys thrown into bins at random: how full the bins get, and what that means for chains, buckets and caches.

/// The probability that a Poisson variable of that mean is at least `k`.
pub fn poisson_tail(mean: f64, k: u32) -> f64 {
    // In units of the probability of k, since e^-mean may be too small for a double: the tail, and all below it. Only that of
    // the two in which the mean lies can grow too large for one.
    let (mut tail, mut below) = (0.0, 0.0);
    let (mut term, mut i) = (1.0, f64::from(k));
    while term > tail * f64::EPSILON {
        tail += term;
        i += 1.0;
        term *= mean / i;
    }
    term = 1.0;
    for i in (1..=k).rev() {
        term *= f64::from(i) / mean;
        below += term;
        if term <= below * f64::EPSILON {
            break;
        }
    }
    1.0 / (1.0 + below / tail)
}

/// How many of `bins` have at least one of `keys`: m (1 - (1 - 1/m)^n).
pub fn bins_used(keys: f64, bins: f64) -> f64 {
    if keys == 0.0 {
        // With a single bin 0 times infinity otherwise.
        return 0.0;
    }
    -bins * (keys * (-1.0 / bins).ln_1p()).exp_m1()
}

/// The part of `keys` that finds its bin taken: 1 - used / n. What a cache without chains cannot keep.
pub fn collided_fraction(keys: f64, bins: f64) -> f64 {
    1.0 - bins_used(keys, bins) / keys
}

/// The part of the keys that does not fit when each bucket has `places` and `load` keys come per bucket, with a
/// single bucket to choose from: E[max(X - b, 0)] / load, X Poisson.
pub fn overflow_fraction(load: f64, places: u32) -> f64 {
    // E[(X - b)+] = load P(X >= b) - b P(X >= b + 1).
    let kept = f64::from(places) / load;
    (poisson_tail(load, places) - kept * poisson_tail(load, places + 1)).max(0.0)
}

/// The length that the longest of `bins` chains exceeds with a probability of at most one half, `keys` thrown in; `u32::MAX` if it is
/// more than that.
pub fn longest_chain(keys: f64, bins: f64) -> u32 {
    let load = keys / bins;
    let mut length = load as u32;
    while length < u32::MAX && bins * (-poisson_tail(load, length + 1)).ln_1p() < -std::f64::consts::LN_2 {
        length += 1;
    }
    length
}
