//! Threads that take turns at a driver.
//!
//! One of them holds the graph at a time: it takes frames in, takes the most urgent message through the layers, lets go of the
//! graph, and calls the user's handler. Meanwhile the next one holds the graph, so that a handler that takes long keeps
//! nobody waiting as long as there is another thread. When there is nothing to do, one thread sleeps at the device, without
//! the graph, and the others at a condition. After the leaders and followers of Schmidt et al. (2000).

use std::io;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use smoltcp::time::Instant;

use crate::{Device, Driver, Graph, Message, PathId, SendError};

/// What has come for the user of a path.
#[derive(Debug)]
pub struct Arrival {
    /// The path.
    pub path: PathId,
    /// The message. `None` where streams are, and there is something to read or room to write; where there is
    /// [trouble](Graph::trouble); or where the message turned out to be damaged. A handler may take it out; if it does not,
    /// its memory goes back to the graph's pool.
    pub message: Option<Message>,
}

/// The workers have been told to stop, or the device failed them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the workers have stopped")]
pub struct Stopped;

/// Threads that drive a graph and handle what comes, the most urgent first.
///
/// Messages of one path are handled one at a time and in the order in which they came. Those of different paths are handled in
/// parallel, as many as there are threads. What is urgent begins to be handled as soon as a thread is free: there
/// should be one more than there are slow handlers at a time.
///
/// ```no_run
/// use std::time::Duration;
/// use throughline_stack::{Architecture, Arrival, Config, Driver, Graph, Host, Packet, PacketConfig};
/// use throughline_stack::{Participants, Urgency, Workers};
/// use throughline_stack::smoltcp::wire::{IpCidr, Ipv4Address};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Packet::open("veth0", &PacketConfig::default())?;
/// let host = Host::at(&device, IpCidr::new(Ipv4Address::new(10, 0, 0, 2).into(), 24));
/// let config = Config {
///     architecture: Architecture::Integrated,
///     scheduling: Some(Urgency::Priority),
///     sending: Urgency::Priority,
///     ..Config::default()
/// };
/// let mut graph = Graph::compose("udp > ipv4 > eth; icmp > ipv4; arp > eth", host, config)?;
/// graph.enable("udp", Participants::at(7))?;
/// let workers = Workers::start(Driver::new(graph, device), 4, |access, arrival: &mut Arrival| {
///     if let Some(message) = arrival.message.take() {
///         // Whoever sent it may be gone by now.
///         let _ = access.send(arrival.path, message);
///     }
/// })?;
/// std::thread::sleep(Duration::from_secs(60));
/// let _ = workers.stop(Duration::from_secs(1));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Workers<D: Device + Send + 'static> {
    access: Access<D>,
    threads: Vec<JoinHandle<()>>,
}

/// The graph of [`Workers`], for their handlers and for all other threads. Clones are of the same graph.
#[derive(Debug)]
pub struct Access<D>(Arc<Shared<D>>);

#[derive(Debug)]
struct Shared<D> {
    state: Mutex<State<D>>,
    /// Threads that have nothing to do while another one is at the device.
    idle: Condvar,
    /// Told when the last thread ends.
    ended: Condvar,
    /// Wakes the one at the device.
    bell: OwnedFd,
    device: Option<OwnedFd>,
}

struct State<D> {
    /// Taken by whoever stops the workers, when none is left.
    driver: Option<Driver<D>>,
    /// Until when a thread sleeps at the device, if one does.
    asleep: Option<Instant>,
    idle: usize,
    running: usize,
    stopping: bool,
    error: Option<io::Error>,
}

impl<D: Device + Send + 'static> Workers<D> {
    /// Starts so many threads, at least one. A handler that panics loses its message and nothing else.
    ///
    /// # Errors
    /// Those of the system: no threads, no descriptors.
    pub fn start(
        driver: Driver<D>,
        threads: usize,
        handler: impl Fn(&Access<D>, &mut Arrival) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let device = driver.device.fd().map(|fd| fd.try_clone_to_owned()).transpose()?;
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let state =
            State { driver: Some(driver), asleep: None, idle: 0, running: 0, stopping: false, error: None };
        let shared =
            Shared { state: Mutex::new(state), idle: Condvar::new(), ended: Condvar::new(), bell, device };
        let mut workers = Self { access: Access(Arc::new(shared)), threads: Vec::new() };
        let handler = Arc::new(handler);
        for number in 0..threads.max(1) {
            let (access, handler) = (workers.access(), handler.clone());
            workers.access.0.lock().running += 1;
            let thread =
                Builder::new().name(format!("worker {number}")).spawn(move || access.work(&*handler));
            workers.threads.push(thread.inspect_err(|_| workers.access.0.lock().running -= 1)?);
        }
        Ok(workers)
    }

    /// The graph, for other threads.
    pub fn access(&self) -> Access<D> {
        self.access.clone()
    }

    /// Ends the threads as soon as the messages that are being handled have been. Gives back the driver, and the device's
    /// error if one has ended them before. When handlers take longer than this, the workers; they begin nothing new.
    ///
    /// # Errors
    /// When the time is over.
    pub fn stop(mut self, at_most: Duration) -> Result<(Driver<D>, Option<io::Error>), Self> {
        let shared = self.access.0.clone();
        let mut state = shared.lock();
        shared.end(&mut state);
        let ended = shared.ended.wait_timeout_while(state, at_most, |state| state.running > 0);
        state = ended.unwrap_or_else(PoisonError::into_inner).0;
        if state.running > 0 {
            return Err(self);
        }
        let (driver, error) = (state.driver.take(), state.error.take());
        drop(state);
        for thread in self.threads.drain(..) {
            // It catches the panics of handlers, and is about to end.
            let _ = thread.join();
        }
        driver.map(|driver| (driver, error)).ok_or(self)
    }
}

/// The threads end as soon as the messages that are being handled have been; nobody waits for them.
impl<D: Device + Send + 'static> Drop for Workers<D> {
    fn drop(&mut self) {
        let mut state = self.access.0.lock();
        self.access.0.end(&mut state);
    }
}

impl<D: Device> Access<D> {
    /// Uses the graph, and sends what there is to send. Threads that handle messages wait meanwhile.
    ///
    /// # Errors
    /// When there is no graph any more.
    pub fn with<R>(&self, operation: impl FnOnce(&mut Graph) -> R) -> Result<R, Stopped> {
        let mut state = self.0.lock();
        let driver = state.driver.as_mut().ok_or(Stopped)?;
        let result = operation(&mut driver.graph);
        let settled = driver.used();
        let is_ready = driver.graph.is_ready();
        match settled {
            // Whoever sleeps may sleep too long.
            Ok(next)
                if state.asleep.is_some_and(|until| is_ready || next.is_some_and(|next| next < until)) =>
            {
                self.0.ring();
            }
            Ok(_) => {}
            Err(error) => self.0.fail(&mut state, error),
        }
        Ok(result)
    }

    /// Sends a message to the other end of a path.
    ///
    /// # Errors
    /// See [`SendError`]; [`NoPath`](SendError::NoPath) when the workers have stopped. The message is lost then.
    pub fn send(&self, path: PathId, message: Message) -> Result<(), SendError> {
        self.with(|graph| graph.send(path, message)).unwrap_or(Err(SendError::NoPath))
    }

    /// What a thread does.
    fn work(&self, handler: &impl Fn(&Self, &mut Arrival)) {
        let shared = &*self.0;
        let mut state = shared.lock();
        while !state.stopping {
            match state.next() {
                Ok(Some(mut arrival)) => {
                    shared.hand_over(&state);
                    drop(state);
                    // The message is what a panic can have left half done, and nobody sees it again.
                    let _ = catch_unwind(AssertUnwindSafe(|| handler(self, &mut arrival)));
                    state = shared.lock();
                    state.done(arrival);
                }
                Ok(None) if state.asleep.is_some() => {
                    state.idle += 1;
                    state = shared.idle.wait(state).unwrap_or_else(PoisonError::into_inner);
                    state.idle -= 1;
                }
                Ok(None) => state = shared.sleep(state),
                Err(error) => shared.fail(&mut state, error),
            }
        }
        state.running -= 1;
        if state.running == 0 {
            shared.ended.notify_all();
        }
    }
}

impl<D> Clone for Access<D> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<D> Shared<D> {
    fn lock(&self) -> MutexGuard<'_, State<D>> {
        // The graph is left between two operations by whatever panics.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ring(&self) {
        // A bell that has been rung very often rings anyway.
        let _ = rustix::io::write(&self.bell, &1_u64.to_ne_bytes());
    }

    fn end(&self, state: &mut State<D>) {
        state.stopping = true;
        self.idle.notify_all();
        self.ring();
    }

    fn fail(&self, state: &mut State<D>, error: io::Error) {
        state.error.get_or_insert(error);
        self.end(state);
    }
}

impl<D: Device> Shared<D> {
    /// Has another thread do what there is to do, or look for it, while this one handles something.
    fn hand_over(&self, state: &State<D>) {
        match state.asleep {
            // It will not find the frames that are in the run queue now.
            Some(_) if state.driver.as_ref().is_some_and(|driver| driver.graph.is_ready()) => self.ring(),
            Some(_) => {}
            None if state.idle > 0 => self.idle.notify_one(),
            None => {}
        }
    }

    /// Sleeps at the device, without the graph, until there is something to do.
    fn sleep<'a>(&'a self, mut state: MutexGuard<'a, State<D>>) -> MutexGuard<'a, State<D>> {
        let Some(driver) = &state.driver else { return state };
        let (now, pause) = (driver.now(), driver.pause(Duration::from_secs(3600)));
        state.asleep = Some(now + pause.into());
        drop(state);
        let time = Timespec { tv_sec: pause.as_secs() as i64, tv_nsec: pause.subsec_nanos().into() };
        let bell = PollFd::new(&self.bell, PollFlags::IN);
        let mut fault = false;
        let slept = match &self.device {
            Some(device) => {
                let mut fds = [bell, PollFd::new(device, PollFlags::IN)];
                let slept = poll(&mut fds, Some(&time));
                fault = fds[1].revents().contains(PollFlags::ERR);
                slept
            }
            None => poll(&mut [bell], Some(&time)),
        };
        let _ = rustix::io::read(&self.bell, &mut [0_u8; 8]);
        let mut state = self.lock();
        state.asleep = None;
        if let Some(driver) = state.driver.as_mut().filter(|_| fault) {
            driver.hear();
        }
        match slept {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => self.fail(&mut state, error.into()),
        }
        state
    }
}

impl<D: Device> State<D> {
    /// The most urgent of what there is to handle.
    fn next(&mut self) -> io::Result<Option<Arrival>> {
        let Some(driver) = &mut self.driver else { return Ok(None) };
        Ok(driver.advance()?.map(|(path, message)| Arrival { path, message }))
    }

    /// An arrival was handled: the next one of its path may be.
    fn done(&mut self, arrival: Arrival) {
        let Some(driver) = &mut self.driver else { return };
        arrival.message.into_iter().for_each(|message| driver.graph.release(message));
        driver.graph.handled(arrival.path);
    }
}

impl<D> std::fmt::Debug for State<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { asleep, running, stopping, error, .. } = self;
        write!(f, "State({running} run, asleep {asleep:?}, stopping {stopping}, {error:?})")
    }
}
