//! Congestion control: how much may be under way.

mod cubic;
mod dctcp;

use std::time::Duration;

pub use self::{cubic::Cubic, dctcp::Dctcp};

/// What an acknowledgement tells a controller.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    /// Octets newly acknowledged.
    pub octets: u64,
    /// Packets newly acknowledged.
    pub packets: u64,
    /// How many of these passed a congested queue, as far as the peer says (ECN). At most `packets`.
    pub marked: u64,
    /// Whether the path carries ECN marks at all.
    pub ecn: bool,
    /// When the latest of these packets was sent.
    pub sent: Duration,
    /// The round trip of the latest of them, without the peer's delay.
    pub latest: Duration,
    /// The smoothed round trip.
    pub smoothed: Duration,
    /// The least round trip.
    pub least: Duration,
    /// Whether the window, and nothing else, kept more from being sent.
    pub limited_by_window: bool,
}

/// What losses tell a controller.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    /// When the latest of the lost packets was sent.
    pub sent: Duration,
    /// Whether nothing has arrived for several timeouts: the window then starts again from its least.
    pub persistent: bool,
}

/// An algorithm that decides how many octets may be under way. All times are of the caller's clock.
pub trait Congestion: Send {
    /// Octets that may be under way, at least two packets.
    fn window(&self) -> u64;
    /// Whether the window still doubles every round trip.
    fn is_starting(&self) -> bool;
    /// Whether packets should be sent with ECT, so that queues mark instead of dropping.
    fn wants_marks(&self) -> bool;
    /// Packets arrived.
    fn acknowledged(&mut self, now: Duration, acked: &Acked);
    /// Packets were lost.
    fn lost(&mut self, now: Duration, lost: &Lost);
    /// Frames may be this long from now on.
    fn set_packet(&mut self, octets: u16);
}

/// Makes a controller, for frames of so many octets.
pub type MakeCongestion = fn(packet: u16) -> Box<dyn Congestion>;

/// The initial window: ten packets (RFC 6928, RFC 9002).
fn initial_window(packet: u64) -> u64 {
    10 * packet
}

/// The least window: two packets.
fn least_window(packet: u64) -> u64 {
    2 * packet
}
