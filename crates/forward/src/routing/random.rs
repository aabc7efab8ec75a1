//! Random delays, so that routers don't speak all at once. Nothing secret depends on them.

use throughline_stack::smoltcp::time::Duration;

#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    /// From one time to another (Marsaglia's xorshift64*).
    pub fn between(&mut self, least: Duration, most: Duration) -> Duration {
        let Self(x) = self;
        *x ^= *x >> 12;
        *x ^= *x << 25;
        *x ^= *x >> 27;
        let random = x.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        let range = most.total_micros().saturating_sub(least.total_micros());
        least + Duration::from_micros(range * (random & 0xffff) / 0xffff)
    }
}
