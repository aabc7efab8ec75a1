//! What can be configured.

use std::time::Duration;

use super::{
    congestion::{Cubic, Dctcp, MakeCongestion},
    mtu,
    received::AckPolicy,
};

/// How connections behave. Both ends need not be configured alike.
#[derive(Clone, Debug)]
pub struct Config {
    /// Round trip assumed before the first is measured.
    pub initial_rtt: Duration,
    /// How late the caller's timers may be; no timeout is shorter.
    pub granularity: Duration,
    /// An acknowledgement leaves after so many packets at the latest,
    pub ack_every: u32,
    /// or after so much time.
    pub ack_delay: Duration,
    /// The delay that the peer is told to reckon with: longer, where the caller may be late. At most 524 ms.
    pub ack_promise: Duration,
    /// Messages that the opener sends before the peer said how many it has buffers for. Those in excess are sent again.
    pub initial_credit: u32,
    /// Sends outstanding on a connection.
    pub max_sends: usize,
    /// Receives posted on a connection; at most 2^16 are used.
    pub max_receives: usize,
    /// The longest frame ever tried, in octets of the datagram's payload. The path is searched for it.
    pub max_frame: u16,
    /// The longest frame of an unreliable message, which no search tells of.
    pub unreliable_frame: u16,
    /// After so long a silence of the peer it is asked whether it is alive. Without, its death goes unnoticed as long as
    /// nothing is sent.
    pub keep_alive: Option<Duration>,
    /// A peer that has been asked and is silent for so long is dead, or for four round trips where those are so long; and so is
    /// an opener that has not shown by then that it is where it says, whatever it sends.
    pub death: Duration,
    /// Whether packets are spread over the round trip.
    pub pacing: bool,
    /// The controller of congestion.
    pub congestion: MakeCongestion,
}

impl Config {
    /// For data centres: round trips of microseconds, switches that mark; DCTCP.
    pub fn data_center() -> Self {
        Self {
            initial_rtt: Duration::from_millis(2),
            granularity: Duration::from_micros(500),
            ack_every: 4,
            ack_delay: Duration::from_micros(500),
            ack_promise: Duration::from_micros(500),
            initial_credit: 16,
            max_sends: 1 << 16,
            max_receives: 1 << 16,
            max_frame: 8_972,
            unreliable_frame: mtu::BASE,
            keep_alive: None,
            death: Duration::from_secs(5),
            pacing: false,
            congestion: Dctcp::boxed,
        }
    }

    /// For ordinary networks: CUBIC.
    pub fn internet() -> Self {
        Self {
            initial_rtt: Duration::from_millis(333),
            granularity: Duration::from_millis(1),
            ack_every: 2,
            ack_delay: Duration::from_millis(10),
            ack_promise: Duration::from_millis(10),
            initial_credit: 16,
            max_sends: 1 << 16,
            max_receives: 1 << 16,
            max_frame: 1_472,
            unreliable_frame: mtu::BASE,
            keep_alive: None,
            death: Duration::from_secs(30),
            pacing: true,
            congestion: Cubic::boxed,
        }
    }

    pub(super) fn ack_policy(&self) -> AckPolicy {
        AckPolicy { every: self.ack_every, delay: self.ack_delay }
    }

    /// What the peer is told of the delay of acknowledgements.
    pub(super) fn promise(&self) -> u16 {
        u16::try_from(self.ack_promise.as_micros().div_ceil(8)).unwrap_or(u16::MAX)
    }

    pub(super) fn first_frame(&self) -> u16 {
        mtu::BASE.min(self.max_frame)
    }
}
