//! Datagrams within the process, with all faults of the network: what VIs of the reliable levels are built on where
//! messages are lost.

use super::{LocalListener, Network, lane::Lane, lock};
use crate::{
    ConnectError, ResourceError,
    fabric::{
        Incoming, Listen,
        datagram::{Door, Listener, Port, Reception, Windows, Wire},
        readable,
    },
    reliable::{Ecn, batch::Run},
};
use rustix::event::epoll;
use std::{
    collections::HashMap,
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::{Arc, Mutex, Weak},
    time::Instant,
};

/// The wires of a network by their addresses: those of NICs, which have names, and others.
#[derive(Default)]
pub(super) struct Wires {
    names: Vec<String>,
    /// How many wires without a name there have been.
    nameless: u64,
    lanes: HashMap<LocalAddress, Weak<Lane>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LocalAddress {
    Named(usize),
    Nameless(u64),
}

impl Wires {
    fn named(&mut self, name: &str) -> LocalAddress {
        let known = self.names.iter().position(|other| other == name);
        LocalAddress::Named(known.unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        }))
    }
}

/// See the module.
pub(crate) struct LocalWire {
    network: Arc<Network>,
    address: LocalAddress,
    lane: Arc<Lane>,
    refused: bool,
}

impl LocalWire {
    /// The wire of a NIC, or another one.
    fn new(network: &Arc<Network>, nic: &str, is_named: bool) -> io::Result<Self> {
        let lane = Arc::new(Lane::new()?);
        // Its file tells of everything that arrives.
        lane.arm();
        network.watch(std::slice::from_ref(&lane), [nic, nic]);
        let mut wires = lock(&network.wires);
        let address = if is_named {
            wires.named(nic)
        } else {
            wires.nameless += 1;
            LocalAddress::Nameless(wires.nameless)
        };
        wires.lanes.insert(address, Arc::downgrade(&lane));
        drop(wires);
        Ok(Self { network: network.clone(), address, lane, refused: false })
    }
}

impl Wire for LocalWire {
    type Address = LocalAddress;

    fn receive(&mut self, into: &mut [u8], _: bool) -> Option<Reception<LocalAddress>> {
        let mut taken = self.lane.take();
        if let Ok(None) = taken {
            self.lane.drain();
            taken = self.lane.take();
        }
        // Damage is found by whoever reads the frame.
        let Ok(Some(packet)) = taken.inspect_err(|_| self.refused = true) else { return None };
        let len = packet.bytes.len().min(into.len());
        into[..len].copy_from_slice(&packet.bytes[..len]);
        let from = packet.from;
        self.lane.taken(packet);
        Some(Reception { from: from?, ecn: Ecn::NotCapable, len, each: len })
    }

    fn send(&mut self, run: &Run<LocalAddress>, octets: &[u8]) -> bool {
        let lane = lock(&self.network.wires).lanes.get(&run.to).and_then(Weak::upgrade);
        let Some(lane) = lane else {
            self.refused = true;
            return true;
        };
        let is_cut = lane.end().or(self.lane.end()).is_some();
        if is_cut || !lane.has_room() {
            return true;
        }
        let mut packet = lane.blank();
        packet.bytes.extend_from_slice(octets);
        packet.from = Some(self.address);
        self.network.send(&lane, packet);
        true
    }

    fn is_refused(&mut self) -> bool {
        // NICs hear of it from all those that are gone.
        std::mem::take(&mut self.refused) && matches!(self.address, LocalAddress::Nameless(_))
    }

    fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        std::iter::once(self.lane.fd())
    }
}

impl Drop for LocalWire {
    fn drop(&mut self) {
        lock(&self.network.wires).lanes.remove(&self.address);
    }
}

/// A NIC's door to wires.
pub(super) struct LocalDoor {
    pub(super) network: Arc<Network>,
    pub(super) address: String,
    /// The NIC's own, once it listens.
    pub(super) port: Mutex<Option<Arc<Port<LocalWire>>>>,
    pub(super) windows: Arc<Windows>,
}

impl LocalDoor {
    fn port(&self) -> io::Result<Arc<Port<LocalWire>>> {
        let mut port = lock(&self.port);
        if let Some(port) = &*port {
            return Ok(port.clone());
        }
        let made = Port::new(LocalWire::new(&self.network, &self.address, true)?, self.windows.clone())?;
        *port = Some(made.clone());
        Ok(made)
    }
}

impl Door for LocalDoor {
    type Wire = LocalWire;

    fn parse(&self, address: &str) -> Option<LocalAddress> {
        Some(lock(&self.network.wires).named(address))
    }

    fn wire_to(&self, _: LocalAddress) -> io::Result<LocalWire> {
        LocalWire::new(&self.network, &self.address, false)
    }

    fn frames(&self, _: LocalAddress) -> [u16; 2] {
        [8_972; 2]
    }

    fn windows(&self) -> &Arc<Windows> {
        &self.windows
    }
}

/// Listens for VIs of all levels.
pub(super) struct EveryLevel {
    unreliable: LocalListener,
    reliable: Listener<LocalDoor>,
    /// Readable if either is.
    both: OwnedFd,
}

impl EveryLevel {
    pub(super) fn new(door: &LocalDoor, discriminator: &[u8]) -> Result<Self, ResourceError> {
        let unreliable = LocalListener::new(&door.network, &door.address, discriminator)?;
        let reliable = Listener::new(&door.port()?, discriminator)?;
        let both = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        for file in [unreliable.fd(), reliable.fd()] {
            epoll::add(&both, file, epoll::EventData::new_u64(0), epoll::EventFlags::IN)?;
        }
        Ok(Self { unreliable, reliable, both })
    }
}

impl Listen for EveryLevel {
    fn next(&mut self, deadline: Option<Instant>) -> Result<Option<Box<dyn Incoming>>, ConnectError> {
        loop {
            let now = Some(Instant::now());
            let found = match self.unreliable.next(now)? {
                Some(incoming) => Some(incoming),
                None => self.reliable.next(now)?,
            };
            if found.is_some() || !readable(self.both.as_fd(), deadline)? {
                return Ok(found);
            }
        }
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.both.as_fd()
    }
}
