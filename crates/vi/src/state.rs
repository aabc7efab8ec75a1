//! What a VI is doing.

use crate::CompletionError;

/// What a VI is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Not yet connected. Receive descriptors may be posted.
    Idle,
    /// Messages may be sent and received.
    Connected,
    /// The connection is over, for this reason, and will not come back.
    Stopped(CompletionError),
}

impl State {
    /// One comparison, where `==` would go on to the reasons.
    #[inline(always)]
    pub(crate) const fn is_connected(self) -> bool {
        matches!(self, Self::Connected)
    }
}
