//! A graph and its device, driven by one thread at a time.

use std::{fmt, io};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use smoltcp::{
    time::{Duration, Instant},
    wire::IpCidr,
};

use crate::{Device, Graph, Host, Message, Metrics, PathId, is_passing};

/// Frames taken from the device before anything else is looked at.
const BATCH: usize = 64;
/// As many where messages wait in a queue: what is urgent may be behind others in the device, and only their paths are looked
/// for. Not without end, so that work is done in a flood too.
const SORTED: usize = 256;
/// How often what nobody tells of is looked at.
const LOOK: std::time::Duration = std::time::Duration::from_millis(1);

/// A [`Graph`] at work on a [`Device`], on the thread that calls [`poll`](Self::poll).
///
/// ```no_run
/// use std::time::Duration;
/// use throughline_stack::{Config, Driver, Graph, Host, Packet, PacketConfig, Participants};
/// use throughline_stack::smoltcp::wire::{IpCidr, Ipv4Address};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Packet::open("veth0", &PacketConfig::default())?;
/// let host = Host::at(&device, IpCidr::new(Ipv4Address::new(10, 0, 0, 2).into(), 24));
/// let graph = Graph::compose("udp > ipv4 > eth; icmp > ipv4; arp > eth", host, Config::default())?;
/// let mut driver = Driver::new(graph, device);
/// driver.graph.enable("udp", Participants::at(7))?;
/// loop {
///     driver.poll()?;
///     while let Some(path) = driver.graph.ready() {
///         while let Some(message) = driver.graph.receive(path) {
///             driver.graph.send(path, message)?;
///         }
///     }
///     driver.wait(Duration::from_secs(1))?;
/// }
/// # }
/// ```
pub struct Driver<D> {
    /// The graph, for its users.
    pub graph: Graph,
    pub(crate) device: D,
    begun: std::time::Instant,
    /// A frame that the device had no place for.
    held: Option<Message>,
    /// The device has frames that the wire had no place for.
    collected: bool,
    /// When something is due without any frame.
    next: Option<Instant>,
}

impl Host {
    /// The host at a device, with this address.
    pub fn at(device: &(impl Device + ?Sized), address: IpCidr) -> Self {
        Self { mtu: device.mtu(), ..Self::new(device.hardware(), address) }
    }
}

impl<D: Device> Driver<D> {
    /// A graph whose frames go to and come from this device.
    pub fn new(graph: Graph, device: D) -> Self {
        Self {
            graph,
            device,
            begun: std::time::Instant::now(),
            held: None,
            collected: false,
            next: Some(Instant::ZERO),
        }
    }

    /// The device.
    pub fn device(&mut self) -> &mut D {
        &mut self.device
    }

    /// What the graph and the device have counted, with these labels.
    pub fn metrics(&mut self, labels: &[(&str, &str)]) -> Metrics {
        let mut metrics = Metrics::default();
        metrics.add_graph(&self.graph, labels);
        metrics.add_device(self.device.counts(), labels);
        metrics
    }

    /// The time since the driver was made, as the graph knows it.
    pub fn now(&self) -> Instant {
        Instant::from_micros(self.begun.elapsed().as_micros() as i64)
    }

    /// Takes in frames that have arrived, processes them, and sends what there is to send. With a
    /// [scheduling](crate::Config::scheduling) only the most urgent message is processed: call again, after its user has had it,
    /// until there is nothing to do. Whether there was.
    ///
    /// # Errors
    /// Those of the device.
    pub fn poll(&mut self) -> io::Result<bool> {
        let now = self.now();
        let mut busy = self.take_in(now)?;
        busy |= self.graph.run(now);
        self.settle(now, busy)
    }

    /// As [`poll`](Self::poll), until there is something for a user: of which path, and its message if it is one.
    pub(crate) fn advance(&mut self) -> io::Result<Option<(PathId, Option<Message>)>> {
        let now = self.now();
        let mut busy = false;
        let claimed = loop {
            // What has come meanwhile may be more urgent.
            busy |= self.take_in(now)?;
            if let Some(claimed) = self.graph.claim() {
                break Some(claimed);
            }
            if !self.graph.run(now) {
                break None;
            }
            busy = true;
        };
        self.settle(now, busy)?;
        Ok(claimed)
    }

    /// Takes in frames that have arrived. Whether there were any.
    fn take_in(&mut self, now: Instant) -> io::Result<bool> {
        self.device.clock(now);
        self.graph.gather();
        let taken = self.take_batch(now);
        self.graph.gathered();
        taken
    }

    fn take_batch(&mut self, now: Instant) -> io::Result<bool> {
        let most = if self.graph.queue.is_some() { SORTED } else { BATCH };
        for taken in 0..most {
            let frame = match self.device.receive(&mut self.graph.cx.pool) {
                Ok(Some(frame)) => frame,
                Ok(None) => return Ok(taken > 0),
                Err(error) if is_passing(&error) => return Ok(taken > 0),
                Err(error) => return Err(error),
            };
            self.graph.arrive_gathered(frame, now);
        }
        Ok(true)
    }

    /// Does what is due, and sends what there is to send. Whether there was anything; `busy` if there was before.
    fn settle(&mut self, now: Instant, busy: bool) -> io::Result<bool> {
        if busy || self.graph.is_stirred() || self.next.is_some_and(|next| next <= now) {
            self.next = self.graph.tick(now);
        }
        Ok(self.flush()? || busy)
    }

    /// After a user's work: sends what there is to send. When something is due.
    pub(crate) fn used(&mut self) -> io::Result<Option<Instant>> {
        self.settle(self.now(), true)?;
        Ok(self.next)
    }

    /// Sends what users have handed to the graph. Whether there was anything. What an interface that is down was to send is lost, as
    /// on every wire.
    ///
    /// # Errors
    /// Those of the device.
    pub fn flush(&mut self) -> io::Result<bool> {
        let mut any = false;
        while let Some(frame) = self.held.take().or_else(|| self.graph.transmit()) {
            match self.device.send(frame, &mut self.graph.cx.pool) {
                Ok(()) => any = true,
                Err((frame, error)) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.held = Some(frame);
                    break;
                }
                Err((frame, error)) => {
                    self.graph.release(frame);
                    if !is_passing(&error) {
                        return Err(error);
                    }
                }
            }
        }
        if any || self.collected {
            self.collected = false;
            match self.device.flush() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.collected = true,
                Err(error) if !is_passing(&error) => return Err(error),
                _ => {}
            }
        }
        Ok(any)
    }

    /// The system has something to say of the device that is no frame, and says so until somebody has heard.
    pub(crate) fn hear(&mut self) {
        self.device.is_up();
    }

    /// For how long there is nothing to do, unless frames arrive.
    pub(crate) fn pause(&self, at_most: std::time::Duration) -> std::time::Duration {
        if self.graph.is_busy() {
            return std::time::Duration::ZERO;
        }
        let due = [self.next, self.device.poll_at()].into_iter().flatten().min();
        let now = self.now();
        let left = due.map_or(Duration::MAX, |due| if due > now { due - now } else { Duration::ZERO });
        // Neither when a full device has room, nor what comes to one without a descriptor, is told.
        let blind = self.held.is_some() || self.collected || self.device.fd().is_none();
        let most = if blind { at_most.min(LOOK) } else { at_most };
        std::time::Duration::from(left).min(most)
    }

    /// Sleeps until a frame arrives, something is due, or the time is over. Returns at once if there is something to do
    /// already.
    ///
    /// # Errors
    /// Those of the system.
    pub fn wait(&mut self, at_most: std::time::Duration) -> io::Result<()> {
        let left = self.pause(at_most);
        let Some(fd) = self.device.fd() else {
            std::thread::sleep(left);
            return Ok(());
        };
        let time = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        let mut fds = [PollFd::new(&fd, PollFlags::IN)];
        let polled = poll(&mut fds, Some(&time));
        if fds[0].revents().contains(PollFlags::ERR) {
            self.hear();
        }
        match polled {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

impl<D> fmt::Debug for Driver<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Driver(since {:?}, next due at {:?})", self.begun, self.next)
    }
}
