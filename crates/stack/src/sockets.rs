//! Streams of a graph as sockets, for programs that wait for file descriptors.
//!
//! A thread drives the graph, and carries what passes between its streams and pairs of connected Unix sockets. That costs a
//! copy, and waking a thread, each way; whoever can do without asks the graph itself ([`Graph::read`](crate::Graph::read),
//! [`Graph::write`](crate::Graph::write)).

mod relay;

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use rustix::event::{EventfdFlags, eventfd};

use self::relay::Relays;
use crate::{Device, Driver, Metrics};

/// TCP of a graph that a thread drives, by sockets.
///
/// A Unix socket does not say why it has ended: a connection that was reset, or whose other end is no longer heard of, ends for
/// who reads as one whose other end has said all. Who must tell them apart needs lengths, or an end, in what he reads.
///
/// ```no_run
/// use std::io::Write;
/// use std::os::unix::net::UnixStream;
/// use std::time::Duration;
/// use throughline_stack::smoltcp::wire::{IpCidr, Ipv4Address};
/// use throughline_stack::{Config, Driver, Graph, Host, Packet, PacketConfig, Sockets};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Packet::open("veth0", &PacketConfig::default())?;
/// let host = Host::at(&device, IpCidr::new(Ipv4Address::new(10, 0, 0, 2).into(), 24));
/// let graph = Graph::compose("tcp > ipv4 > eth; icmp > ipv4; arp > eth", host, Config::default())?;
/// let sockets = Sockets::start(Driver::new(graph, device))?;
/// let socket = sockets.connect("10.0.0.1:80".parse()?, Duration::from_secs(5))?;
/// UnixStream::from(socket).write_all(b"GET / HTTP/1.0\r\n\r\n")?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Sockets {
    orders: Mutex<mpsc::Sender<Order>>,
    bell: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

/// What the thread is asked to do.
enum Order {
    Connect(SocketAddr, SyncSender<io::Result<OwnedFd>>),
    Listen(u16, SyncSender<io::Result<OwnedFd>>),
    Metrics(Vec<(String, String)>, SyncSender<io::Result<Metrics>>),
}

impl Sockets {
    /// Begins to drive a graph in which there is `tcp`.
    ///
    /// # Errors
    /// Those of the system.
    pub fn start<D: Device + 'static>(driver: Driver<D>) -> io::Result<Self> {
        let bell = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let (orders, taken) = mpsc::channel();
        let mut relays = Relays::new(driver, Arc::clone(&bell))?;
        let work = move || {
            while !obey(&mut relays, &taken) {
                // An interface may be down for a while.
                if relays.turn().is_err() {
                    std::thread::sleep(relay::NAP);
                }
            }
        };
        let thread = Builder::new().name("throughline-sockets".to_owned()).spawn(work)?;
        Ok(Self { orders: Mutex::new(orders), bell, thread: Some(thread) })
    }

    /// A connection to this address: a Unix stream socket whose other end is there.
    ///
    /// # Errors
    /// `ConnectionRefused`; `TimedOut` when nobody has answered in time; `HostUnreachable` when the graph has no
    /// route; `NotConnected` when it has no TCP.
    pub fn connect(&self, to: SocketAddr, timeout: Duration) -> io::Result<OwnedFd> {
        self.order(timeout, |reply| Order::Connect(to, reply))
    }

    /// A Unix socket that listens at a name of its own: connections to it are those of strangers to this TCP port. When it is
    /// closed, the port refuses the next stranger, and is free.
    ///
    /// Processes of this machine can connect to it too, past the graph.
    ///
    /// # Errors
    /// `AddrInUse`; those of the system; `NotConnected` when the graph has no TCP.
    pub fn listen(&self, port: u16) -> io::Result<OwnedFd> {
        self.order(Duration::from_secs(10), |reply| Order::Listen(port, reply))
    }

    /// What the graph and the device have counted, with these labels.
    ///
    /// # Errors
    /// Those of the system.
    pub fn metrics(&self, labels: &[(&str, &str)]) -> io::Result<Metrics> {
        let labels = labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        self.order(Duration::from_secs(10), |reply| Order::Metrics(labels, reply))
    }

    fn order<T>(
        &self,
        timeout: Duration,
        order: impl FnOnce(SyncSender<io::Result<T>>) -> Order,
    ) -> io::Result<T> {
        let (reply, answer) = sync_channel(1);
        let orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        orders.send(order(reply)).map_err(|_| io::Error::from(io::ErrorKind::NotConnected))?;
        drop(orders);
        rustix::io::write(&*self.bell, &1_u64.to_ne_bytes())?;
        match answer.recv_timeout(timeout) {
            Ok(result) => result,
            Err(mpsc::RecvTimeoutError::Timeout) => Err(io::ErrorKind::TimedOut.into()),
            Err(mpsc::RecvTimeoutError::Disconnected) => Err(io::ErrorKind::NotConnected.into()),
        }
    }
}

/// Does what was asked; whether nobody can ask any more.
fn obey<D: Device>(relays: &mut Relays<D>, orders: &Receiver<Order>) -> bool {
    loop {
        match orders.try_recv() {
            Ok(Order::Connect(to, reply)) => relays.connect(to, reply),
            Ok(Order::Listen(port, reply)) => {
                // Nobody waits any more if that fails.
                let _ = reply.send(relays.listen(port));
            }
            Ok(Order::Metrics(labels, reply)) => {
                let labels: Vec<_> = labels.iter().map(|(name, value)| (&name[..], &value[..])).collect();
                let _ = reply.send(Ok(relays.metrics(&labels)));
            }
            Err(TryRecvError::Empty) => return false,
            Err(TryRecvError::Disconnected) => return true,
        }
    }
}

impl Drop for Sockets {
    /// Ends the thread; connections break.
    fn drop(&mut self) {
        // Without the sender the thread finds that nobody can ask any more.
        let (nobody, _) = mpsc::channel();
        *self.orders.get_mut().unwrap_or_else(PoisonError::into_inner) = nobody;
        let _ = rustix::io::write(&*self.bell, &1_u64.to_ne_bytes());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
