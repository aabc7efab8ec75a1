//! Connecting over datagrams: whoever wants a connection asks again and again until he is answered, and his first frame
//! may carry messages.

use super::{Door, Port, Wire, link::DatagramLink};
use crate::{
    ConnectError, Reliability, ResourceError,
    fabric::{self, Link, Listen, Posted, readable},
    reliable::{Incoming, Level, Reason},
};
use rustix::event::EventfdFlags;
use std::{
    collections::{HashMap, VecDeque},
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

/// Openings that wait for a listener; those in excess must come again.
const MOST_WAITING: usize = 256;
/// Beyond these an opener must have shown that it is where it says.
const MOST_UNPROVED: usize = MOST_WAITING / 2;
/// A longer datagram of an opening is not kept: it comes again.
const MOST_KEPT: usize = 2048;

/// The listeners of a port.
pub(super) struct Listeners<A> {
    queues: HashMap<Box<[u8]>, Arc<Queue<A>>>,
}

impl<A> Default for Listeners<A> {
    fn default() -> Self {
        Self { queues: HashMap::new() }
    }
}

impl<A: Copy + Eq> Listeners<A> {
    /// Hands an opening to whoever listens.
    pub(super) fn offer(&self, incoming: &Incoming<A>, datagram: &[u8]) -> Offered {
        match self.queues.get(incoming.name()) {
            Some(queue) => queue.offer(incoming, datagram),
            None => Offered::NobodyListens,
        }
    }
}

/// What becomes of an opening.
pub(super) enum Offered {
    /// The listener will have it, or has it.
    Kept,
    NobodyListens,
    /// It is to come again: there are too many of those who may be nobody, or too many altogether.
    NoRoom,
}

/// Somebody who wants a connection.
struct Opening<A> {
    incoming: Incoming<A>,
    /// The datagram that says so, until the listener has it.
    datagram: Option<Box<[u8]>>,
}

/// Openings to one name.
pub(super) struct Queue<A> {
    /// Those who wait and those the listener thinks about: who asks again meanwhile is not asked for twice.
    waiting: Mutex<VecDeque<Opening<A>>>,
    /// Readable while there are any the listener has not seen.
    bell: OwnedFd,
}

impl<A: Copy + Eq> Queue<A> {
    fn new() -> io::Result<Self> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK | EventfdFlags::SEMAPHORE;
        Ok(Self { waiting: Mutex::default(), bell: rustix::event::eventfd(0, flags)? })
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<Opening<A>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn offer(&self, incoming: &Incoming<A>, datagram: &[u8]) -> Offered {
        let mut waiting = self.waiting();
        if waiting.iter().any(|other| other.incoming.is_same_connection(incoming)) {
            return Offered::Kept;
        }
        let most = if incoming.is_proved() { MOST_WAITING } else { MOST_UNPROVED };
        if waiting.len() >= most || datagram.len() > MOST_KEPT {
            return Offered::NoRoom;
        }
        waiting.push_back(Opening { incoming: *incoming, datagram: Some(datagram.into()) });
        let _ = rustix::io::write(&self.bell, &1_u64.to_ne_bytes());
        Offered::Kept
    }

    fn take(&self) -> Option<(Incoming<A>, Box<[u8]>)> {
        let taken = self
            .waiting()
            .iter_mut()
            .find_map(|opening| Some((opening.incoming, opening.datagram.take()?)))?;
        let _ = rustix::io::read(&self.bell, &mut [0; 8]);
        Some(taken)
    }

    /// This one has its answer.
    pub(super) fn forget(&self, answered: &Incoming<A>) {
        self.waiting().retain(|opening| !opening.incoming.is_same_connection(answered));
    }
}

/// Where requests come in.
pub(crate) struct Listener<D: Door> {
    port: Arc<Port<D::Wire>>,
    name: Box<[u8]>,
    queue: Arc<Queue<<D::Wire as Wire>::Address>>,
}

impl<D: Door> Listener<D> {
    pub(crate) fn new(port: &Arc<Port<D::Wire>>, name: &[u8]) -> Result<Self, ResourceError> {
        let queue = Arc::new(Queue::new()?);
        let mut state = port.lock();
        if state.listeners.queues.contains_key(name) {
            return Err(ResourceError::AddressInUse);
        }
        state.listeners.queues.insert(name.into(), queue.clone());
        state.touch();
        Ok(Self { port: port.clone(), name: name.into(), queue })
    }
}

impl<D: Door> Listen for Listener<D> {
    fn next(&mut self, deadline: Option<Instant>) -> Result<Option<Box<dyn fabric::Incoming>>, ConnectError> {
        // What came while nobody looked. Later the keeper looks, or whoever polls a VI.
        let mut state = self.port.lock();
        state.take_turn(&self.port.sleepers);
        state.flush(&self.port.sleepers, None);
        drop(state);
        loop {
            if let Some((incoming, datagram)) = self.queue.take() {
                let (port, queue) = (self.port.clone(), self.queue.clone());
                return Ok(Some(Box::new(Request::<D> { port, queue, incoming, datagram })));
            }
            if !readable(self.queue.bell.as_fd(), deadline)? {
                return Ok(None);
            }
        }
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.queue.bell.as_fd()
    }
}

impl<D: Door> Drop for Listener<D> {
    fn drop(&mut self) {
        let mut state = self.port.lock();
        state.listeners.queues.remove(&self.name);
        while let Some((incoming, _)) = self.queue.take() {
            state.endpoint.refuse(&incoming, Reason::NobodyListens);
        }
        state.flush(&self.port.sleepers, None);
    }
}

/// A request for a connection, and the datagram that brought it.
pub(super) struct Request<D: Door> {
    pub(super) port: Arc<Port<D::Wire>>,
    pub(super) queue: Arc<Queue<<D::Wire as Wire>::Address>>,
    pub(super) incoming: Incoming<<D::Wire as Wire>::Address>,
    pub(super) datagram: Box<[u8]>,
}

impl<D: Door> fabric::Incoming for Request<D> {
    fn reliability(&self) -> Reliability {
        match self.incoming.level {
            Level::Unreliable => Reliability::Unreliable,
            // The last is for providers.
            Level::Delivery | Level::Remote => Reliability::ReliableDelivery,
            Level::Reception => Reliability::ReliableReception,
        }
    }

    fn process(&self) -> Option<u32> {
        None
    }

    fn accept(self: Box<Self>, link: &mut dyn Link, posted: &mut Posted) -> Result<(), ConnectError> {
        match link.as_any().downcast_mut::<DatagramLink<D>>() {
            Some(link) => link.accept(&self, posted),
            None => {
                self.reject(false);
                Err(ConnectError::OtherFabric)
            }
        }
    }

    fn reject(self: Box<Self>, mismatch: bool) {
        let reason = if mismatch { Reason::OtherLevel } else { Reason::Refused };
        let mut state = self.port.lock();
        self.queue.forget(&self.incoming);
        state.endpoint.refuse(&self.incoming, reason);
        state.flush(&self.port.sleepers, None);
    }
}

#[cfg(all(test, not(loom), not(miri)))]
mod tests {
    use super::super::{Reception, Windows};
    use super::*;
    use crate::reliable::{Ecn, batch::Run};
    use std::{
        sync::{
            atomic::{AtomicBool, Ordering},
            mpsc,
        },
        time::Duration,
    };

    /// A wire where datagrams of nobody's come faster than they are taken in, until it is over.
    struct Flood(Arc<AtomicBool>);

    impl Wire for Flood {
        type Address = u8;

        fn receive(&mut self, into: &mut [u8], _: bool) -> Option<Reception<u8>> {
            into[..64].fill(0);
            let reception = Reception { from: 0, ecn: Ecn::NotCapable, len: 64, each: 64 };
            (!self.0.load(Ordering::Relaxed)).then_some(reception)
        }

        fn send(&mut self, _: &Run<u8>, _: &[u8]) -> bool {
            true
        }

        fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
            std::iter::empty()
        }
    }

    /// Nobody connects by it.
    struct Flooded(Arc<Windows>);

    impl Door for Flooded {
        type Wire = Flood;

        fn parse(&self, _: &str) -> Option<u8> {
            None
        }

        fn wire_to(&self, _: u8) -> io::Result<Flood> {
            Err(io::ErrorKind::Unsupported.into())
        }

        fn frames(&self, _: u8) -> [u16; 2] {
            [1_200; 2]
        }

        fn windows(&self) -> &Arc<Windows> {
            &self.0
        }
    }

    #[test]
    fn a_listener_waits_no_longer_than_it_was_asked_to_while_datagrams_come_without_a_pause() {
        let over = Arc::new(AtomicBool::new(false));
        let port = Port::new(Flood(over.clone()), Arc::default()).unwrap();
        let mut listener = Listener::<Flooded>::new(&port, b"flooded").unwrap();
        let (sender, waited) = mpsc::channel();
        let waiting = std::thread::spawn(move || {
            let found = listener.next(Some(Instant::now())).map(|request| request.is_some());
            sender.send(found.unwrap()).unwrap();
        });
        let in_time = waited.recv_timeout(Duration::from_secs(2));
        over.store(true, Ordering::Relaxed);
        waiting.join().unwrap();
        assert_eq!(in_time, Ok(false));
    }
}
