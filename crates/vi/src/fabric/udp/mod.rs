//! The fabric `udp`: any network, and the loopback interface.

mod direct;
mod socket;

use self::socket::UdpWire;
use crate::{
    ProtectionTag, ResourceError, Rights, ViAttributes, Window,
    fabric::{
        Fabric, Link, Listen,
        datagram::{DatagramLink, Door, Listener, Port, Windows},
    },
    memory::{Memory, WindowMemory},
    reliable::congestion::{Dctcp, MakeCongestion},
};
use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
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
    windows: Arc<Windows>,
}

impl Udp {
    pub(crate) fn new(address: SocketAddr) -> Result<Self, ResourceError> {
        let wire = UdpWire::bind(address).map_err(|error| match error.kind() {
            io::ErrorKind::AddrInUse => ResourceError::AddressInUse,
            _ => error.into(),
        })?;
        let local = wire.address()?;
        let windows = Arc::<Windows>::default();
        let port = Port::new(wire, windows.clone())?;
        Ok(Self { address: local.to_string(), port, door: Arc::new(UdpDoor { local, windows }) })
    }
}

/// Frames on the loopback interface.
const LONGEST_FRAME: u16 = 65_000;

/// Whether the address is on this machine.
fn is_loopback(address: SocketAddr) -> bool {
    match address.ip() {
        IpAddr::V4(ip) => ip.is_loopback(),
        IpAddr::V6(ip) => ip.is_loopback(),
    }
}

impl Door for UdpDoor {
    type Wire = UdpWire;

    fn parse(&self, address: &str) -> Option<SocketAddr> {
        address.parse().ok()
    }

    fn wire_to(&self, address: SocketAddr) -> io::Result<UdpWire> {
        UdpWire::connect(self.local, address)
    }

    fn frames(&self, address: SocketAddr) -> [u16; 2] {
        if is_loopback(address) { [LONGEST_FRAME; 2] } else { [8_972, 1_200] }
    }

    fn congestion(&self, address: SocketAddr) -> MakeCongestion {
        if is_loopback(address) { Dctcp::boxed_near } else { Dctcp::boxed }
    }

    fn windows(&self) -> &Arc<Windows> {
        &self.windows
    }
}

impl Fabric for Udp {
    fn address(&self) -> &str {
        &self.address
    }

    fn link(&self, attributes: &ViAttributes) -> Result<Box<dyn Link>, ResourceError> {
        Ok(Box::new(DatagramLink::new(self.door.clone(), attributes)?))
    }

    fn memory(&self, count: u32, chunk: u32, tag: ProtectionTag) -> Result<Arc<Memory>, ResourceError> {
        Ok(Memory::on_heap(count, chunk, tag)?)
    }

    fn window(&self, len: usize, tag: ProtectionTag, rights: Rights) -> Result<Window, ResourceError> {
        let memory = WindowMemory::on_heap(len, tag, rights)?;
        self.door.windows.show(memory.clone());
        let windows = self.door.windows.clone();
        Ok(Window::new(memory, Box::new(move |handle| windows.withdraw(handle))))
    }

    fn listen(&self, discriminator: &[u8]) -> Result<Box<dyn Listen>, ResourceError> {
        Ok(Box::new(Listener::<UdpDoor>::new(&self.port, discriminator)?))
    }
}
