//! The fabric `local`: VIs of one process, and faults on purpose.

mod faults;
mod lane;
mod link;
mod listen;
mod wire;

use crate::{
    CompletionError, MemoryHandle, ProtectionTag, Reliability, ResourceError, Rights, ViAttributes, Window,
    fabric::{Fabric, Link, Listen, datagram::DatagramLink},
    memory::{Memory, WindowMemory},
};
use faults::Dice;
pub use faults::Faults;
use lane::{Lane, Packet};
use listen::LocalListener;
use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};
use wire::{EveryLevel, LocalDoor};

/// A network within this process, whose NICs find each other by address ([`Nic::local`](crate::Nic::local)). Clones are
/// the same network.
///
/// It has a time of its own, which stands still unless it is [advanced](Self::advance). With faults, VIs of the
/// reliable levels are served by the protocol of [`reliable`](crate::reliable), whose datagrams meet these faults, and
/// whose timers are those of the real clock.
#[derive(Clone)]
pub struct LocalNetwork {
    pub(crate) network: Arc<Network>,
}

/// What NICs and VIs know of their network.
pub(crate) struct Network {
    faulty: bool,
    weather: Mutex<Weather>,
    listeners: Mutex<HashMap<Name, Arc<listen::Queue>>>,
    lanes: Mutex<Vec<Watched>>,
    windows: Mutex<Vec<Arc<WindowMemory>>>,
    wires: Mutex<wire::Wires>,
}

/// Address and discriminator.
type Name = (String, Vec<u8>);

struct Weather {
    dice: Dice,
    now: Duration,
}

/// A lane and the addresses of its two ends.
struct Watched {
    lane: Weak<Lane>,
    ends: [String; 2],
}

impl LocalNetwork {
    /// A network that does this to messages.
    pub fn new(faults: Faults) -> Self {
        let weather = Weather { dice: Dice::new(faults), now: Duration::ZERO };
        let network = Network {
            faulty: !faults.none(),
            weather: Mutex::new(weather),
            listeners: Mutex::default(),
            lanes: Mutex::default(),
            windows: Mutex::default(),
            wires: Mutex::default(),
        };
        Self { network: Arc::new(network) }
    }

    /// Lets the network's time pass: what was delayed for less arrives.
    pub fn advance(&self, time: Duration) {
        let now = {
            let mut weather = lock(&self.network.weather);
            weather.now += time;
            weather.now
        };
        self.network.living_lanes().iter().for_each(|(lane, _)| lane.advance(now));
    }

    /// Cuts a NIC off: its connections are lost, at both ends.
    pub fn cut(&self, address: &str) {
        for (lane, ends) in self.network.living_lanes() {
            if ends.iter().any(|end| end == address) {
                lane.finish(CompletionError::ConnectionLost);
            }
        }
    }
}

impl fmt::Debug for LocalNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LocalNetwork({:?})", lock(&self.network.weather).dice.faults)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Network {
    fn send(&self, lane: &Lane, packet: Packet) {
        let mut weather = lock(&self.weather);
        let fate = weather.dice.roll();
        lane.send(packet, &fate, weather.now);
    }

    fn listen(&self, key: &Name) -> Result<Arc<listen::Queue>, ResourceError> {
        let mut listeners = lock(&self.listeners);
        if listeners.contains_key(key) {
            return Err(ResourceError::AddressInUse);
        }
        let queue = Arc::new(listen::Queue::new()?);
        listeners.insert(key.clone(), queue.clone());
        Ok(queue)
    }

    fn unlisten(&self, key: &Name) {
        lock(&self.listeners).remove(key);
    }

    fn listener(&self, address: &str, discriminator: &[u8]) -> Option<Arc<listen::Queue>> {
        lock(&self.listeners).get(&(address.to_owned(), discriminator.to_vec())).cloned()
    }

    fn watch(&self, lanes: &[Arc<Lane>], ends: [&str; 2]) {
        let mut watched = lock(&self.lanes);
        watched.retain(|watched| watched.lane.strong_count() != 0);
        let ends = ends.map(str::to_owned);
        watched.extend(lanes.iter().map(|lane| Watched { lane: Arc::downgrade(lane), ends: ends.clone() }));
    }

    fn living_lanes(&self) -> Vec<(Arc<Lane>, [String; 2])> {
        let lanes = lock(&self.lanes);
        lanes.iter().filter_map(|watched| Some((watched.lane.upgrade()?, watched.ends.clone()))).collect()
    }

    fn window(&self, handle: MemoryHandle) -> Option<Arc<WindowMemory>> {
        lock(&self.windows).iter().find(|window| window.handle == handle).cloned()
    }
}

/// A NIC of a network.
pub(crate) struct Local {
    network: Arc<Network>,
    address: String,
    door: Arc<LocalDoor>,
}

impl Local {
    pub(crate) fn new(network: &LocalNetwork, address: &str) -> Self {
        let (network, address) = (network.network.clone(), address.to_owned());
        let door = LocalDoor {
            network: network.clone(),
            address: address.clone(),
            port: Mutex::default(),
            windows: Arc::default(),
        };
        Self { network, address, door: Arc::new(door) }
    }
}

impl Fabric for Local {
    fn address(&self) -> &str {
        &self.address
    }

    fn link(&self, attributes: &ViAttributes) -> Result<Box<dyn Link>, ResourceError> {
        if self.network.faulty && attributes.reliability != Reliability::Unreliable {
            return Ok(Box::new(DatagramLink::new(self.door.clone(), attributes)?));
        }
        Ok(Box::new(link::LocalLink::new(self.network.clone(), &self.address, attributes)?))
    }

    fn memory(&self, count: u32, chunk: u32, tag: ProtectionTag) -> Result<Arc<Memory>, ResourceError> {
        Ok(Memory::on_heap(count, chunk, tag)?)
    }

    fn window(&self, len: usize, tag: ProtectionTag, rights: Rights) -> Result<Window, ResourceError> {
        let memory = WindowMemory::on_heap(len, tag, rights)?;
        lock(&self.network.windows).push(memory.clone());
        self.door.windows.show(memory.clone());
        let (network, windows) = (self.network.clone(), self.door.windows.clone());
        let withdraw = move |handle| {
            lock(&network.windows).retain(|window| window.handle != handle);
            windows.withdraw(handle);
        };
        Ok(Window::new(memory, Box::new(withdraw)))
    }

    fn listen(&self, discriminator: &[u8]) -> Result<Box<dyn Listen>, ResourceError> {
        if self.network.faulty {
            return Ok(Box::new(EveryLevel::new(&self.door, discriminator)?));
        }
        Ok(Box::new(LocalListener::new(&self.network, &self.address, discriminator)?))
    }
}
