//! What an opener must repeat to show that it is where it says. Nothing is kept of those who are asked (RFC 4987, section 3.6,
//! for TCP; RFC 9000, section 8.1.2, for QUIC).

use std::{
    hash::{BuildHasher, Hash, RandomState},
    time::Duration,
};

/// A cookie is good for at least so long, and for twice as long at most.
const LIFE: Duration = Duration::from_secs(16);

/// A keyed hash, SipHash with a key that nobody knows: whoever has not got a cookie cannot guess it.
#[derive(Default)]
pub struct Cookies(RandomState);

impl Cookies {
    /// The cookies of an opener that are good now, the latest first.
    pub fn recent<A: Hash>(&self, now: Duration, from: &A, connection: u64) -> [u64; 2] {
        let age = now.as_secs() / LIFE.as_secs();
        [age, age.wrapping_sub(1)].map(|age| self.0.hash_one((from, connection, age)))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn of_one_opener_and_for_a_while() {
        let (cookies, now) = (Cookies::default(), Duration::from_secs(100));
        let [given, _] = cookies.recent(now, &1, 7);
        assert!(cookies.recent(now + LIFE, &1, 7).contains(&given));
        assert!(!cookies.recent(now + 2 * LIFE, &1, 7).contains(&given));
        for (from, connection) in [(2, 7), (1, 8)] {
            assert!(!cookies.recent(now, &from, connection).contains(&given));
        }
        assert!(!Cookies::default().recent(now, &1, 7).contains(&given));
    }
}
