//! What is said of packets that went no further: by us to their senders, and by others to us.

use smoltcp::{
    time::{Duration, Instant},
    wire::IpAddress,
};

use crate::{Message, ProtocolId, Trouble, secret::Secret};

/// Why the sender of a packet is told that it went no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Nobody is at the port.
    NoPort,
    /// There is no such protocol; its number stands so many bytes behind the packet's first.
    NoProtocol(u32),
    /// Pieces of the datagram did not come in time.
    Incomplete,
}

/// A packet whose sender is to be told.
#[derive(Debug)]
pub struct Refused {
    /// The protocol of IP that it came by.
    pub ip: ProtocolId,
    /// Our address.
    pub local: IpAddress,
    /// The sender's.
    pub remote: IpAddress,
    /// Why.
    pub why: Refusal,
    /// The packet's first bytes, with room for headers in front.
    pub quote: Message,
}

/// What was said of a packet of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// The protocol of IP that it was sent by.
    pub ip: ProtocolId,
    /// The address that it was sent from.
    pub local: IpAddress,
    /// The one that it was sent to.
    pub remote: IpAddress,
    /// The number of the protocol above IP.
    pub protocol: u8,
    /// Its first bytes behind the headers of IP: as many as every error quotes.
    pub first: [u8; 8],
    /// What was said.
    pub trouble: Trouble,
}

/// The first bytes of what an error quotes behind the headers of IP, zeros where there are none.
pub(crate) fn first_bytes(bytes: &[u8]) -> [u8; 8] {
    let mut first = [0; 8];
    first.iter_mut().zip(bytes).for_each(|(first, byte)| *first = *byte);
    first
}

/// Errors that may be sent at once.
const BURST: u32 = 50;
/// After so long there may be one more.
const INTERVAL: Duration = Duration::from_millis(1);

/// How many errors may be sent: a bucket of tokens (RFC 4443, 2.4 f).
///
/// Each costs one to three tokens, at random, so that nobody learns from the errors he gets how many others got, and from that
/// which ports are open (CVE-2020-25705).
#[derive(Debug)]
pub struct Allowance {
    left: u32,
    filled: Instant,
    random: u64,
}

impl Default for Allowance {
    fn default() -> Self {
        Self { left: BURST, filled: Instant::ZERO, random: Secret::default().draw() | 1 }
    }
}

impl Allowance {
    /// Whether one more may be sent now.
    pub fn take(&mut self, now: Instant) -> bool {
        let passed = (now - self.filled).total_micros() / INTERVAL.total_micros();
        self.left = passed.saturating_add(self.left.into()).min(BURST.into()) as u32;
        self.filled += Duration::from_micros(passed * INTERVAL.total_micros());
        if self.left == 0 {
            return false;
        }
        self.left = self.left.saturating_sub(1 + (self.random() % 3) as u32);
        true
    }

    /// Xorshift (Marsaglia, 2003).
    fn random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random >> 32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_and_then_a_rate() {
        let mut allowance = Allowance::default();
        let mut now = Instant::from_millis(7);
        let granted = |allowance: &mut Allowance, now| (0..1000).filter(|_| allowance.take(now)).count();
        for _ in 0..3 {
            assert!((17..=50).contains(&granted(&mut allowance, now)));
            assert_eq!(granted(&mut allowance, now), 0);
            now += Duration::from_micros(3_500);
            assert!((1..=3).contains(&granted(&mut allowance, now)));
            // The half millisecond is made whole, so that it does not come to the next three.
            now += Duration::from_micros(500);
            now += Duration::from_secs(1000);
        }
        // The half milliseconds add up.
        let (half, now) = (Duration::from_micros(500), Instant::from_secs(5000));
        granted(&mut allowance, now);
        assert!(!allowance.take(now + half) && allowance.take(now + half + half));
    }
}
