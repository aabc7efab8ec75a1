//! The fabric `udp`: any network, and the loopback interface.

mod socket;

use self::socket::UdpWire;
use crate::{
    MemoryHandle, ProtectionTag, ResourceError, Rights, ViAttributes, Window,
    fabric::{
        Fabric, Link, Listen,
        datagram::{DatagramLink, Door, Listener, Port},
    },
    memory::{Memory, WindowMemory},
};
use std::{
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

/// A process's door to other machines, and to processes of this one.
pub(crate) struct Udp {
    address: String,
    port: Arc<Port<UdpWire>>,
    door: Arc<UdpDoor>,
}

/// How VIs get sockets of their own to connect by.
pub(crate) struct UdpDoor {
    local: SocketAddr,
    windows: Mutex<Vec<Arc<WindowMemory>>>,
}

impl Udp {
    pub(crate) fn new(address: SocketAddr) -> Result<Self, ResourceError> {
        let wire = UdpWire::bind(address).map_err(|error| match error.kind() {
            io::ErrorKind::AddrInUse => ResourceError::AddressInUse,
            _ => error.into(),
        })?;
        let local = wire.address()?;
        let door = Arc::new(UdpDoor { local, windows: Mutex::default() });
        Ok(Self { address: local.to_string(), port: Port::new(wire)?, door })
    }
}

/// The longest frame that is tried.
const LONGEST_FRAME: u16 = 65_000;

impl Door for UdpDoor {
    type Wire = UdpWire;

    fn parse(&self, address: &str) -> Option<SocketAddr> {
        address.parse().ok()
    }

    fn wire_to(&self, address: SocketAddr) -> io::Result<UdpWire> {
        UdpWire::connect(self.local, address)
    }
}

impl Fabric for Udp {
    fn address(&self) -> &str {
        &self.address
    }

    fn link(&self, attributes: &ViAttributes) -> Result<Box<dyn Link>, ResourceError> {
        Ok(Box::new(DatagramLink::new(self.door.clone(), LONGEST_FRAME, attributes)))
    }

    fn memory(&self, count: u32, chunk: u32, tag: ProtectionTag) -> Result<Arc<Memory>, ResourceError> {
        Ok(Memory::on_heap(count, chunk, tag))
    }

    fn window(&self, len: usize, tag: ProtectionTag, rights: Rights) -> Result<Window, ResourceError> {
        let memory = WindowMemory::on_heap(len, tag, rights);
        self.door.windows.lock().unwrap_or_else(PoisonError::into_inner).push(memory.clone());
        let door = self.door.clone();
        let withdraw = move |handle: MemoryHandle| {
            door.windows
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .retain(|window| window.handle != handle);
        };
        Ok(Window::new(memory, Box::new(withdraw)))
    }

    fn listen(&self, discriminator: &[u8]) -> Result<Box<dyn Listen>, ResourceError> {
        Ok(Box::new(Listener::<UdpDoor>::new(&self.port, discriminator)?))
    }
}
