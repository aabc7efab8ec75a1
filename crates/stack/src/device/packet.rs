//! A network interface of the kernel, shared with it (AF_PACKET).
//!
//! Frames come through a ring in shared memory (`packet_mmap`, version 2, which shows each frame at once), and leave many
//! by one system call.

mod offload;
mod ring;
mod segments;
mod socket;
mod transmit;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::sockopt::socket_error;
use rustix::net::{RecvFlags, recv};
use smoltcp::wire::EthernetAddress;

use self::offload::{OFFLOAD, Offload, Tag};
use self::ring::{Arrived, Ring};
use self::segments::Segments;
use self::transmit::Transmit;
use super::interface::Interface;
use super::{Device, DeviceCounts, is_carried, is_gone, too_long};
use crate::{Message, Pool};

/// The longest frame that the kernel hands over in one piece, tags and all.
const LONGEST: usize = 65_536 + 64;
/// Frames skipped in one call, at most.
const SKIPPED: usize = 64;

/// How a [`Packet`] device is set up.
#[derive(Clone, Copy, Debug)]
pub struct PacketConfig {
    /// Places of the receive ring, of 2 KiB each with the usual MTU; what comes while all are taken is dropped and counted.
    pub ring: usize,
    /// Frames that are collected before a system call sends them; [`Device::flush`] sends them before that.
    pub batch: usize,
    /// Whether frames are sent past the kernel's queueing discipline, so that neither its shaping nor other sockets (such as
    /// tcpdump's) see them. Over veth, which has no queues, that was not measurably faster.
    pub bypass_queues: bool,
    /// Whether frames for others are received too, as bridges need.
    pub promiscuous: bool,
    /// An address of our own instead of the interface's. The kernel's protocols then leave frames for it alone, which saves what
    /// they would spend on them: with veth, in the sender's system call. Implies `promiscuous`, since cards let only their own
    /// through.
    pub hardware: Option<EthernetAddress>,
}

impl Default for PacketConfig {
    /// 1,024 places, batches of 32, through the kernel's queues, nothing that is for others, the interface's address.
    fn default() -> Self {
        Self { ring: 1024, batch: 32, bypass_queues: false, promiscuous: false, hardware: None }
    }
}

/// An interface that exists, such as a network card or one end of a veth pair.
///
/// The kernel's own protocols see what arrives too, so the interface should have no addresses of theirs. What they, or others,
/// send on the interface is not received here.
///
/// The kernel leaves work to hardware that is done here for frames that never saw any: checksums are completed, and
/// segments of TCP and UDP that came as one piece are cut to the length they were meant to have. A VLAN tag that was taken
/// off is put back. Thus all frames are as they would be on the wire.
#[derive(Debug)]
pub struct Packet {
    interface: Interface,
    socket: OwnedFd,
    ring: Ring,
    transmit: Transmit,
    large: Large,
    hardware: EthernetAddress,
    mtu: usize,
    counts: DeviceCounts,
    gone: bool,
}

impl Packet {
    /// Opens the interface of this name in the thread's network namespace. Its address and MTU are read now.
    ///
    /// # Errors
    /// Those of the system: `EPERM` without the right to raw sockets (`CAP_NET_RAW`), `ENODEV` if there is no such
    /// interface; [`Unsupported`](io::ErrorKind::Unsupported) if it does not carry Ethernet frames.
    pub fn open(name: &str, config: &PacketConfig) -> io::Result<Self> {
        let interface = Interface::named(name)?;
        let (index, mtu, its_own) = (interface.index(), interface.mtu()?, interface.hardware()?);
        let hardware = config.hardware.unwrap_or(its_own);
        let socket = socket::receiving()?;
        let ring = Ring::new(&socket, config.ring, ring::slot_for(mtu))?;
        socket::bind(&socket, index, true)?;
        socket::let_through(&socket, index, config.promiscuous || hardware != its_own)?;
        let sender = socket::sending(config.bypass_queues)?;
        socket::bind(&sender, index, false)?;
        let transmit = Transmit::new(sender, config.batch);
        Ok(Self {
            interface,
            socket,
            ring,
            transmit,
            large: Large::new(),
            hardware,
            mtu,
            counts: DeviceCounts::default(),
            gone: false,
        })
    }

    /// Takes one frame out of the ring, if there is one: `None` when it was not one to be handed over, or not as a whole.
    fn step(&mut self, pool: &mut Pool) -> io::Result<Option<Option<Message>>> {
        let Some(arrived) = self.ring.next() else { return Ok(None) };
        if arrived.is_elsewhere() {
            let tag = arrived.tag();
            drop(arrived);
            if !self.large.receive(&self.socket, tag)? {
                self.counts.malformed += 1;
            }
        } else if arrived.is_cut() {
            self.counts.overrun += 1;
        } else if arrived.offload().has_segments() {
            if !self.large.copy(&arrived) {
                self.counts.malformed += 1;
            }
        } else {
            return Ok(Some(whole(&arrived, pool, &mut self.counts)));
        }
        Ok(Some(None))
    }

    /// The next segment of what came as one piece.
    fn segment(&mut self, pool: &mut Pool) -> Option<Message> {
        let segments = self.large.segments.as_mut()?;
        let frame = &self.large.buffer[OFFLOAD..];
        let mut message = pool.take();
        if !segments.next(frame, &mut message) || !offload::insert(self.large.tag, &mut message) {
            self.counts.oversized += segments.left();
            self.large.segments = None;
            pool.give(message);
            return None;
        }
        message.verified = true;
        if segments.left() == 0 {
            self.large.segments = None;
        }
        Some(message)
    }
}

/// A frame of the ring as a message, or a count of why not.
fn whole(arrived: &Arrived<'_>, pool: &mut Pool, counts: &mut DeviceCounts) -> Option<Message> {
    let mut message = pool.take();
    let len = arrived.len();
    if len > message.room_mut().len() {
        counts.oversized += 1;
        pool.give(message);
        return None;
    }
    arrived.copy_to(&mut message.room_mut()[..len]);
    message.filled(len);
    let offload = arrived.offload();
    let complete = offload.complete(message.bytes_mut());
    message.verified = offload.vouches();
    if complete && offload::insert(arrived.tag(), &mut message) {
        return Some(message);
    }
    if complete {
        counts.oversized += 1;
    } else {
        counts.malformed += 1;
    }
    pool.give(message);
    None
}

impl Device for Packet {
    fn hardware(&self) -> EthernetAddress {
        self.hardware
    }

    fn mtu(&self) -> usize {
        self.mtu
    }

    fn receive(&mut self, pool: &mut Pool) -> io::Result<Option<Message>> {
        self.transmit.give_back(pool);
        if self.gone {
            return Err(is_gone());
        }
        for _ in 0..SKIPPED {
            let found = match self.segment(pool) {
                Some(segment) => Some(segment),
                None => match self.step(pool)? {
                    Some(found) => found,
                    None => return Ok(None),
                },
            };
            if found.is_some() {
                self.counts.received += 1;
                return Ok(found);
            }
        }
        Ok(None)
    }

    fn send(&mut self, frame: Message, pool: &mut Pool) -> Result<(), (Message, io::Error)> {
        if !is_carried(frame.bytes(), self.mtu) {
            return Err((frame, too_long()));
        }
        self.transmit.give_back(pool);
        self.transmit.send(frame)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.transmit.flush().map_err(|error| match Errno::from_io_error(&error) {
            Some(Errno::NXIO | Errno::NODEV) => is_gone(),
            _ => error,
        })
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.socket.as_fd())
    }

    fn is_up(&mut self) -> bool {
        // That it was down is told once, as an error, until which the socket seems to have something to say.
        let _ = socket_error(&self.socket);
        let running = self.interface.is_running();
        let missing = |error: &io::Error| Errno::from_io_error(error) == Some(Errno::NODEV);
        self.gone = running.as_ref().err().is_some_and(missing);
        running.unwrap_or(false)
    }

    fn counts(&mut self) -> DeviceCounts {
        self.counts.overrun += socket::drops(&self.socket);
        DeviceCounts { sent: self.transmit.sent, unsent: self.transmit.unsent, ..self.counts }
    }
}

/// A frame that is to be cut into segments.
#[derive(Debug)]
struct Large {
    /// The kernel's remarks, and the frame behind them.
    buffer: Box<[u8]>,
    segments: Option<Segments>,
    tag: Option<Tag>,
}

impl Large {
    fn new() -> Self {
        Self { buffer: vec![0; OFFLOAD + LONGEST].into_boxed_slice(), segments: None, tag: None }
    }

    /// Takes a frame that was too large for the ring; whether it makes sense.
    fn receive(&mut self, socket: &OwnedFd, tag: Option<Tag>) -> io::Result<bool> {
        let (_, len) = recv(socket, &mut *self.buffer, RecvFlags::DONTWAIT | RecvFlags::TRUNC)?;
        let Some((offload, frame)) = self.buffer.get(..len).and_then(<[u8]>::split_first_chunk) else {
            return Ok(false);
        };
        self.segments = Segments::of(frame, &Offload::of(*offload));
        self.tag = tag;
        Ok(self.segments.is_some())
    }

    /// Takes one from the ring; whether it makes sense.
    fn copy(&mut self, arrived: &Arrived<'_>) -> bool {
        let frame = &mut self.buffer[OFFLOAD..][..arrived.len()];
        arrived.copy_to(frame);
        self.segments = Segments::of(frame, &arrived.offload());
        self.tag = arrived.tag();
        self.segments.is_some()
    }
}
