//! The classical models (Knuth, *The Art of Computer Programming*, volume 3, section 6.4): entries examined, `load`
//! being keys per place, with hash functions as good as random.

use super::bins::poisson_tail;

/// Chaining, the key is there: 1 + load/2. Exactly, for n keys in m chains, 1 + (n - 1) / 2m.
pub fn chaining_hit(load: f64) -> f64 {
    1.0 + load / 2.0
}

/// Chaining, the key is not there: the whole chain, `load` entries.
pub fn chaining_miss(load: f64) -> f64 {
    load
}

/// Linear probing, the key is there: (1 + 1/(1 - load)) / 2. For large tables below the load of 1.
pub fn linear_probing_hit(load: f64) -> f64 {
    f64::midpoint(1.0, 1.0 / (1.0 - load))
}

/// Linear probing, the key is not there: (1 + 1/(1 - load)^2) / 2, the empty place at the end included.
pub fn linear_probing_miss(load: f64) -> f64 {
    f64::midpoint(1.0, 1.0 / ((1.0 - load) * (1.0 - load)))
}

/// [`linear_probing_hit`] of a table of any size and load: (1 + Q0(m, n - 1)) / 2.
pub fn linear_probing_hit_exact(keys: u64, places: u64) -> f64 {
    f64::midpoint(1.0, knuth_q(0, places, keys.saturating_sub(1)))
}

/// [`linear_probing_miss`] of a table of any size and load: (1 + Q1(m, n)) / 2.
pub fn linear_probing_miss_exact(keys: u64, places: u64) -> f64 {
    f64::midpoint(1.0, knuth_q(1, places, keys))
}

/// Knuth's Q_r(m, n): the sum over k of C(r + k, k) n(n - 1)...(n - k + 1) / m^k.
fn knuth_q(r: u64, places: u64, keys: u64) -> f64 {
    let (mut sum, mut term) = (0.0, 1.0);
    for k in 0..=keys {
        let before = sum;
        sum += term;
        if sum == before {
            break;
        }
        let grows = (r + k + 1) as f64 / (k + 1) as f64;
        term *= grows * (keys - k) as f64 / places as f64;
    }
    sum
}

/// Double hashing or any probing as good as random, the key is there: ln(1/(1 - load)) / load.
pub fn uniform_probing_hit(load: f64) -> f64 {
    -(-load).ln_1p() / load
}

/// Double hashing or any probing as good as random, the key is not there: 1 / (1 - load).
pub fn uniform_probing_miss(load: f64) -> f64 {
    1.0 / (1.0 - load)
}

/// Buckets of `places` entries beside tags of `tag_bits`, one bucket to choose from: entries whose key is compared
/// when the key is there. That is one, and the false matches among the others that come before it: half of them.
///
/// A bucket is looked into in proportion to its keys: with B keys in a bucket a key has `E[B(B - 1)] / E[B]` others,
/// both of which are sums of P(B >= k).
pub fn bucketized_hit(load: f64, places: u32, tag_bits: u32) -> f64 {
    let (mut keys, mut before) = (0.0, 0.0);
    for k in 1..=places {
        let reached = poisson_tail(load * f64::from(places), k);
        keys += reached;
        before += f64::from(k - 1) * reached;
    }
    let before = if keys > 0.0 { before / keys } else { 0.0 };
    1.0 + before / 2f64.powi(tag_bits as i32)
}

/// The least bits per key that a perfect hash function of that load needs:
/// log2 e + (1/load - 1) log2(1 - load); 1.44 when every place is taken (Mehlhorn).
pub fn perfect_hash_bits(load: f64) -> f64 {
    let spare = if load < 1.0 { (1.0 / load - 1.0) * (-load).ln_1p() } else { 0.0 };
    (1.0 + spare) * std::f64::consts::LOG2_E
}

/// The probability that a random function of `keys` into `places` is perfect: m(m - 1)...(m - n + 1) / m^n. One over
/// it is the number of functions to try.
pub fn random_is_perfect(keys: u64, places: u64) -> f64 {
    if keys > places {
        return 0.0;
    }
    let logarithm: f64 = (0..keys).map(|k| (-(k as f64) / places as f64).ln_1p()).sum();
    logarithm.exp()
}
