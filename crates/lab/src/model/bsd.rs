//! One list with a cache of the entry found last (4.3BSD-Reno): equation 1.

/// The probability that the cache has the entry: 1/N, since each of the N users is as likely as any other to send
/// the next packet.
pub fn bsd_hit_rate(users: f64) -> f64 {
    1.0 / users
}

/// Equation 1: entries examined per packet, 1 + (N^2 - 1) / 2N: the cache, and on a miss half of the list.
pub fn bsd(users: f64) -> f64 {
    1.0 + (users * users - 1.0) / (2.0 * users)
}
