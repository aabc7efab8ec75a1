//! NICs: a process's doors to a fabric.

use crate::{
    ConnectError, MAX_DISCRIMINATOR, ProtectionTag, Region, Reliability, ResourceError, Rights, TrustedPeers,
    Vi, ViAttributes, Window,
    attributes::chunk,
    fabric::{
        Fabric, Incoming, Listen,
        local::{Local, LocalNetwork},
        shm::Shm,
        udp::Udp,
    },
    vi::deadline,
};
use std::{
    fmt,
    net::SocketAddr,
    os::fd::{AsFd, BorrowedFd},
    sync::Arc,
    time::Duration,
};

/// A process's door to a fabric. Clones are the same door.
#[derive(Clone)]
pub struct Nic {
    fabric: Arc<dyn Fabric>,
}

impl Nic {
    /// Shared memory between the processes of this machine that belong to one user.
    ///
    /// # Errors
    ///
    /// None at present.
    pub fn shm() -> Result<Self, ResourceError> {
        Ok(Self { fabric: Arc::new(Shm::new(None)?) })
    }

    /// As [`shm`](Self::shm), under an address known beforehand, of 1 to 32 bytes without `/`.
    ///
    /// # Errors
    ///
    /// If the address is none. Whether somebody else has it is noticed on [listening](Self::listen).
    pub fn shm_at(address: &str) -> Result<Self, ResourceError> {
        Ok(Self { fabric: Arc::new(Shm::new(Some(address))?) })
    }

    /// UDP, by a socket bound to this address, where peers find it; port 0 is any. Its [address](Self::address) is
    /// `ip:port`. VIs connected from here get sockets of their own, on the same interface.
    ///
    /// # Errors
    ///
    /// If the address is taken, or the system refuses.
    pub fn udp(address: SocketAddr) -> Result<Self, ResourceError> {
        Ok(Self { fabric: Arc::new(Udp::new(address)?) })
    }

    /// A NIC of a network within this process.
    pub fn local(network: &LocalNetwork, address: &str) -> Self {
        Self { fabric: Arc::new(Local::new(network, address)) }
    }

    /// Where peers find this NIC, to be told to them.
    pub fn address(&self) -> &str {
        self.fabric.address()
    }

    /// A VI, idle.
    ///
    /// # Errors
    ///
    /// If a size is out of range, or the system has no more memory or files.
    pub fn create_vi(&self, attributes: &ViAttributes) -> Result<Vi, ResourceError> {
        Vi::new(&*self.fabric, attributes)
    }

    /// Registers new memory: `count` buffers of `size` bytes, which is rounded up to a multiple of 64. Whoever is
    /// connected to a VI of this tag may come to read all of it. Over shared memory a VI sends long messages from at most 64 regions
    /// or other VIs' own buffers at a time, as long as the region or a buffer of it is there: from another one they complete with
    /// [`CompletionError::TooMuchMemory`](crate::CompletionError::TooMuchMemory). The peer maps each anew, so regions are better kept and
    /// used again.
    ///
    /// # Errors
    ///
    /// If a size is out of range, or the system has no more memory or files.
    pub fn register(&self, count: u32, size: u32, tag: ProtectionTag) -> Result<Region, ResourceError> {
        let size = chunk(count, size, "size")?;
        Ok(Region::new(self.fabric.memory(count, size, tag)?))
    }

    /// As [`register`](Self::register), of memory that a VI can [lend](Vi::lend) to a receiver with a message that lies in it: he may
    /// change the message there ([`Vi::lent_mut`]), and the buffer comes back as he left it. A VI that [lends](Vi::lends) can also
    /// send from it as from any other; one that does not completes with
    /// [`CompletionError::Protection`](crate::CompletionError::Protection). A buffer that is lent when its VI is dropped is lost, and
    /// the region has one less, since the receiver may still change it. Where peers share no memory it is as any other.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn register_lent(
        &self,
        count: u32,
        size: u32,
        tag: ProtectionTag,
        trusted: TrustedPeers,
    ) -> Result<Region, ResourceError> {
        let size = chunk(count, size, "size")?;
        Ok(Region::new(self.fabric.lent_memory(count, size, tag, trusted)?))
    }

    /// Registers memory for remote DMA by the peers of all VIs of this tag, those connected later included. Over shared memory they
    /// are all shown it, and a connection ends whose peer is shown more than it [takes](crate::ViAttributes::peer_pieces).
    ///
    /// # Errors
    ///
    /// If the size is out of range (4 GiB at most), or the system has no more memory or files.
    pub fn register_window(
        &self,
        len: usize,
        tag: ProtectionTag,
        rights: Rights,
    ) -> Result<Window, ResourceError> {
        if len as u64 > 1 << 32 {
            return Err(ResourceError::OutOfRange("len"));
        }
        self.fabric.window(len, tag, rights)
    }

    /// Listens for connections to this discriminator, at most 64 bytes.
    ///
    /// # Errors
    ///
    /// If somebody else does, or the discriminator is too long.
    pub fn listen(&self, discriminator: &[u8]) -> Result<Listener, ResourceError> {
        if discriminator.len() > MAX_DISCRIMINATOR {
            return Err(ResourceError::OutOfRange("discriminator"));
        }
        Ok(Listener { inner: self.fabric.listen(discriminator)? })
    }
}

impl fmt::Debug for Nic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Nic({})", self.address())
    }
}

/// Where connections to a discriminator are asked for. Its file is readable when there may be a request.
pub struct Listener {
    inner: Box<dyn Listen>,
}

impl Listener {
    /// Waits for a request; for ever without a timeout.
    ///
    /// # Errors
    ///
    /// [`ConnectError::Timeout`], or what the system refuses.
    pub fn wait(&mut self, timeout: Option<Duration>) -> Result<ConnectionRequest, ConnectError> {
        let incoming = self.inner.next(deadline(timeout))?.ok_or(ConnectError::Timeout)?;
        Ok(ConnectionRequest { incoming: Some(incoming) })
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inner.fd()
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listener")
    }
}

/// A request for a connection. Dropped, it is rejected.
pub struct ConnectionRequest {
    incoming: Option<Box<dyn Incoming>>,
}

impl ConnectionRequest {
    /// The level of the VI at the other side. Only one of the same level can accept.
    pub fn reliability(&self) -> Reliability {
        self.incoming.as_ref().map_or(Reliability::Unreliable, |incoming| incoming.reliability())
    }

    /// The id of the process that asks, where it is on this machine, and not in a namespace of processes that ours cannot see into.
    pub fn process(&self) -> Option<u32> {
        self.incoming.as_ref().and_then(|incoming| incoming.process())
    }

    /// Connects this VI, which must be idle. Receives should have been posted before: a message could come at once.
    ///
    /// # Errors
    ///
    /// See [`ConnectError`]. The request is rejected then. Over datagrams one that only the system is short of something for
    /// ([`ConnectError::Io`]) comes again, as long as its sender waits.
    pub fn accept(mut self, vi: &mut Vi) -> Result<(), ConnectError> {
        self.incoming.take().map_or(Ok(()), |incoming| vi.accept(incoming))
    }

    /// Refuses.
    pub fn reject(self) {
        drop(self);
    }
}

impl Drop for ConnectionRequest {
    fn drop(&mut self) {
        if let Some(incoming) = self.incoming.take() {
            incoming.reject(false);
        }
    }
}

impl fmt::Debug for ConnectionRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ConnectionRequest(from process {:?})", self.process())
    }
}
