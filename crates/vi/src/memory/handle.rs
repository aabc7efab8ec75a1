//! Names of memory, given to peers.

/// Names registered memory to a peer. Plain bytes: send it in a message.
///
/// It is no secret that protects anything: what a peer may do follows from the protection tag and the rights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryHandle(pub(crate) u64);

impl MemoryHandle {
    /// As bytes, to be sent to the peer.
    pub fn to_bytes(self) -> [u8; 8] {
        self.0.to_le_bytes()
    }

    /// From the bytes a peer sent.
    pub fn from_bytes(bytes: [u8; 8]) -> Self {
        Self(u64::from_le_bytes(bytes))
    }
}
