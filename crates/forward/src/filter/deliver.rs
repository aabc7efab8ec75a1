//! Frames to consumers in other processes, through shared memory.
//!
//! A [`Subscriber`] connects to the [`Delivery`] of a port and sends its program, as text. From then on it gets each frame
//! that the program wants, without label, in a message. Who does not keep up loses frames, is told how many, and holds up
//! nobody.

use super::{
    bank::FilterBank,
    consumers::{Consumer, Consumers},
    program::{MAX_INSTRUCTIONS, Program},
    view::View,
};
use std::time::{Duration, Instant};
use throughline_vi::{
    Bell, CompletionError, ConnectError, ConnectionRequest, Listener, Nic, Reliability, ResourceError,
    SendDescriptor, Vi, ViAttributes, WaitError,
};

/// How frames are delivered.
#[derive(Clone, Copy, Debug)]
pub struct DeliveryConfig {
    /// The most consumers at a time. Further ones are refused.
    pub consumers: u16,
    /// Frames that wait for a consumer besides those in its ring, of 64 KiB; memory for as many is there for each.
    pub waiting: u32,
    /// Bytes of a frame that are delivered; of longer ones the beginning is.
    pub snapshot: u32,
}

impl Default for DeliveryConfig {
    /// 1,024 consumers, 64 frames, 2,048 bytes.
    fn default() -> Self {
        Self { consumers: 1024, waiting: 64, snapshot: 2048 }
    }
}

/// What became of the frames that consumers wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeliveryCounts {
    /// Handed to the fabric.
    pub sent: u64,
    /// Not delivered, since the consumer was behind with its frames.
    pub lost: u64,
    /// Connections refused: too many, no program in time, or none that is one.
    pub refused: u64,
}

/// A connection must bring its program within this time.
const PATIENCE: Duration = Duration::from_secs(2);
/// So many callers are taken in at a time: frames do not wait until there are no more.
const AT_A_TIME: usize = 16;
/// Bytes of the longest program as text: four numbers in a line.
const LONGEST: usize = (MAX_INSTRUCTIONS + 1) * 26;
/// Lines of 64 bytes of a ring.
const RING_LINES: u32 = 1024;

/// The consumers of a port's frames.
pub struct Delivery {
    nic: Nic,
    listener: Listener,
    config: DeliveryConfig,
    /// By number of consumer.
    connections: Vec<Option<Connection>>,
    counts: DeliveryCounts,
}

struct Connection {
    vi: Vi,
    bell: Bell,
    phase: Phase,
    lost: u32,
}

enum Phase {
    /// Connected, and to send its program until then.
    Asked(Instant),
    Subscribed,
    /// The peer is gone.
    Over,
}

impl Delivery {
    /// Waits for consumers under a name: the discriminator at this NIC.
    ///
    /// # Errors
    /// See [`Nic::listen`].
    pub fn listen(nic: &Nic, name: &[u8], config: DeliveryConfig) -> Result<Self, ResourceError> {
        let listener = nic.listen(name)?;
        let counts = DeliveryCounts::default();
        Ok(Self { nic: nic.clone(), listener, config, connections: Vec::new(), counts })
    }

    /// Lets go of consumers that have left and takes in new ones, 16 at most; frames that waited for a consumer go on. To be called
    /// now and then: it asks the system whether anybody has called, and looks at each consumer.
    ///
    /// # Errors
    /// What the system refuses. A consumer that breaks the protocol is let go, which is no error.
    pub fn poll(&mut self, bank: &mut FilterBank) -> Result<(), ConnectError> {
        // First, since whoever has left has files open that the next one needs.
        for at in 0..self.connections.len() {
            let Some(connection) = &mut self.connections[at] else { continue };
            if let Err(Ended { refused }) = connection.look(Consumer(at as u16), bank) {
                self.connections[at] = None;
                self.counts.refused += u64::from(refused);
                bank.remove_consumer(Consumer(at as u16));
            }
        }
        for _ in 0..AT_A_TIME {
            match self.listener.wait(Some(Duration::ZERO)) {
                Ok(request) => self.take_in(request),
                Err(ConnectError::Timeout) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn take_in(&mut self, request: ConnectionRequest) {
        let free = self.connections.iter().position(Option::is_none).unwrap_or(self.connections.len());
        let connection =
            (free < usize::from(self.config.consumers)).then(|| self.connected(request)).flatten();
        let Some(connection) = connection else {
            self.counts.refused += 1;
            return;
        };
        if free == self.connections.len() {
            self.connections.push(None);
        }
        self.connections[free] = Some(connection);
    }

    fn connected(&self, request: ConnectionRequest) -> Option<Connection> {
        let attributes = ViAttributes {
            send_buffers: self.config.waiting,
            send_buffer_size: self.config.snapshot,
            inline_limit: self.config.snapshot,
            receive_buffers: 1,
            receive_buffer_size: LONGEST as u32,
            ..attributes()
        };
        let mut vi = self.nic.create_vi(&attributes).ok()?;
        vi.post_own_receives();
        request.accept(&mut vi).ok()?;
        let bell = vi.bell()?;
        Some(Connection { vi, bell, phase: Phase::Asked(Instant::now() + PATIENCE), lost: 0 })
    }

    /// Sends a frame to its consumers.
    #[inline]
    pub fn deliver(&mut self, to: Consumers<'_>, frame: &View<'_>) {
        for consumer in to.iter() {
            if let Some(Some(connection)) = self.connections.get_mut(usize::from(consumer.0)) {
                let sent = connection.send(frame);
                self.counts.sent += u64::from(sent);
                self.counts.lost += u64::from(!sent);
            }
        }
    }

    /// Where consumers connect.
    pub fn address(&self) -> &str {
        self.nic.address()
    }

    /// Consumers at present.
    pub fn consumers(&self) -> usize {
        let subscribed = |connection: &&Connection| matches!(connection.phase, Phase::Subscribed);
        self.connections.iter().flatten().filter(subscribed).count()
    }

    /// What was done so far.
    pub fn counts(&self) -> DeliveryCounts {
        self.counts
    }
}

/// The connection is over; or never became one.
struct Ended {
    refused: bool,
}

impl Connection {
    fn look(&mut self, consumer: Consumer, bank: &mut FilterBank) -> Result<(), Ended> {
        // Whether the peer is gone, is asked only so.
        self.bell.drain();
        self.vi.reclaim();
        let refused = matches!(self.phase, Phase::Asked(_));
        let Some(message) = self.vi.receive_done() else {
            return match self.phase {
                Phase::Asked(until) if Instant::now() < until => Ok(()),
                Phase::Subscribed => Ok(()),
                Phase::Asked(_) | Phase::Over => Err(Ended { refused }),
            };
        };
        // One message comes from a consumer: its program.
        if !refused || message.result.is_err() {
            return Err(Ended { refused });
        }
        let text = std::str::from_utf8(&message.buffer).ok();
        let program: Program = text.and_then(|text| text.parse().ok()).ok_or(Ended { refused })?;
        // So that the end of the connection is noticed, which completes it.
        self.vi.post_receive(message.buffer).map_err(|_| Ended { refused })?;
        bank.add(program, consumer);
        self.phase = Phase::Subscribed;
        if self.greet() { Ok(()) } else { Err(Ended { refused }) }
    }

    /// An empty message: the filter is there.
    fn greet(&mut self) -> bool {
        self.post(|_| 0)
    }

    /// Whether the frame was sent.
    #[inline]
    fn send(&mut self, frame: &View<'_>) -> bool {
        let sent = self.post(|buffer| frame.copy_to(buffer));
        self.lost = self.lost.wrapping_add(u32::from(!sent));
        sent
    }

    /// A message, filled in and cut to its length. What was lost before comes with it.
    #[inline]
    fn post(&mut self, fill: impl FnOnce(&mut [u8]) -> usize) -> bool {
        if let Phase::Over = self.phase {
            return false;
        }
        let Some(mut buffer) = self.vi.send_buffer() else { return false };
        let len = fill(&mut buffer);
        buffer.set_len(len);
        let sent = self.vi.post_send(SendDescriptor::new(buffer).immediate(self.lost).unsignaled());
        if sent.is_err() {
            self.phase = Phase::Over;
        }
        sent.is_ok()
    }
}

/// Messages that find no receive posted are lost, and end no connection.
fn attributes() -> ViAttributes {
    ViAttributes { ring_lines: RING_LINES, ..ViAttributes::new(Reliability::Unreliable) }
}

/// Why there are no frames.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SubscribeError {
    /// There is no connection.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The VI could not be made.
    #[error(transparent)]
    Resource(#[from] ResourceError),
    /// The time is over.
    #[error(transparent)]
    Wait(#[from] WaitError),
    /// The other side let go: there are too many consumers, it does not take the program, or it has ended.
    #[error("the connection is over: {0}")]
    Ended(#[from] CompletionError),
}

/// The other end: one filter, and the frames that it wants.
#[derive(Debug)]
pub struct Subscriber {
    vi: Vi,
    lost: u32,
}

impl Subscriber {
    /// Connects to the [`Delivery`] of that name at an address, and waits until its filter is there.
    ///
    /// # Errors
    /// See [`SubscribeError`].
    pub fn new(
        nic: &Nic,
        address: &str,
        name: &[u8],
        program: &Program,
        timeout: Duration,
    ) -> Result<Self, SubscribeError> {
        let attributes = ViAttributes {
            send_buffers: 1,
            send_buffer_size: LONGEST as u32,
            inline_limit: RING_LINES * 32,
            receive_buffers: 256,
            ..attributes()
        };
        let mut vi = nic.create_vi(&attributes)?;
        vi.post_own_receives();
        vi.connect(address, name, Some(timeout))?;
        let text = program.to_string();
        let mut buffer = vi.send_buffer().ok_or(CompletionError::ConnectionLost)?;
        buffer.set_len(text.len());
        buffer.copy_from_slice(text.as_bytes());
        vi.post_send(SendDescriptor::new(buffer).unsignaled())
            .map_err(|_| CompletionError::ConnectionLost)?;
        let mut subscriber = Self { vi, lost: 0 };
        subscriber.receive(Some(timeout), |_| ())?;
        Ok(subscriber)
    }

    /// Waits for the next frame, and looks at it; for ever without a timeout.
    ///
    /// # Errors
    /// See [`SubscribeError`].
    pub fn receive<T>(
        &mut self,
        timeout: Option<Duration>,
        look: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, SubscribeError> {
        let message = self.vi.receive_wait(timeout)?;
        message.result?;
        self.lost = message.immediate.unwrap_or(self.lost);
        let seen = look(&message.buffer);
        // If it can't be posted the connection is over, which the next call tells.
        let _ = self.vi.post_receive(message.buffer);
        Ok(seen)
    }

    /// How many frames were lost before the last one received; counts to 2^32 and begins anew.
    pub fn lost(&self) -> u32 {
        self.lost
    }
}

impl std::fmt::Debug for Delivery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Delivery({} consumers, {:?})", self.consumers(), self.counts)
    }
}
