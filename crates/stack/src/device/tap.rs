//! A network interface of the kernel whose wire is this process.

use std::fs::{File, OpenOptions};
use std::io::{self, IoSliceMut, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

use linux_raw_sys::if_tun::{IFF_NO_PI, IFF_TAP};
use linux_raw_sys::ioctl::TUNSETIFF;
use rustix::io::Errno;
use smoltcp::wire::EthernetAddress;

use super::interface::{Interface, ioctl, request};
use super::{Device, DeviceCounts, is_carried, is_gone, too_long};
use crate::{Message, Pool};

/// What the kernel sends on a TAP interface arrives here, and the other way round.
///
/// The kernel completes checksums and cuts segments before it hands frames over.
#[derive(Debug)]
pub struct Tap {
    file: File,
    hardware: EthernetAddress,
    mtu: usize,
    counts: DeviceCounts,
}

impl Tap {
    /// Attaches to the interface of this name (15 bytes at most) in the thread's network namespace, which is created if there
    /// is none, and then vanishes with the device. It must still be set up and given addresses, by `ip` for instance.
    ///
    /// `hardware` is the address of this end of the wire; the kernel's end has its own. The MTU is read now.
    ///
    /// # Errors
    /// Those of the system: `EPERM` without the right to create interfaces, `EBUSY` if somebody else is attached.
    pub fn open(name: &str, hardware: EthernetAddress) -> io::Result<Self> {
        let mut attach = request(name)?;
        attach.ifr_ifru.ifru_flags = (IFF_TAP | IFF_NO_PI) as _;
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).custom_flags(libc::O_NONBLOCK).open("/dev/net/tun")?;
        // SAFETY: TUNSETIFF takes an ifreq.
        unsafe { ioctl(file.as_fd(), TUNSETIFF.into(), &mut attach) }?;
        let mtu = Interface::named(name)?.mtu()?;
        Ok(Self { file, hardware, mtu, counts: DeviceCounts::default() })
    }

    /// Reads a frame into the message; its length, or one more than there was room for.
    fn read(&mut self, message: &mut Message) -> io::Result<usize> {
        // What is cut off is not told, but a byte that does not fit goes here.
        let mut beyond = [0];
        let mut parts = [IoSliceMut::new(message.room_mut()), IoSliceMut::new(&mut beyond)];
        self.file.read_vectored(&mut parts)
    }
}

/// An error as other devices have it: the kernel calls a TAP interface that is down an error of input or output, and one that is gone
/// a bad descriptor.
fn told(errno: Errno) -> io::Error {
    match errno {
        Errno::BADFD => is_gone(),
        Errno::IO => Errno::NETDOWN.into(),
        _ => errno.into(),
    }
}

impl Device for Tap {
    fn hardware(&self) -> EthernetAddress {
        self.hardware
    }

    fn mtu(&self) -> usize {
        self.mtu
    }

    fn receive(&mut self, pool: &mut Pool) -> io::Result<Option<Message>> {
        let mut message = pool.take();
        loop {
            match self.read(&mut message) {
                Ok(len) if len <= message.room_mut().len() => {
                    message.filled(len);
                    self.counts.received += 1;
                    return Ok(Some(message));
                }
                Ok(_) => self.counts.oversized += 1,
                Err(error) => {
                    pool.give(message);
                    return match Errno::from_io_error(&error) {
                        Some(Errno::AGAIN) => Ok(None),
                        Some(errno) => Err(told(errno)),
                        None => Err(error),
                    };
                }
            }
        }
    }

    fn send(&mut self, frame: Message, pool: &mut Pool) -> Result<(), (Message, io::Error)> {
        if !is_carried(frame.bytes(), self.mtu) {
            return Err((frame, too_long()));
        }
        match rustix::io::write(&self.file, frame.bytes()) {
            Ok(_) => {
                self.counts.sent += 1;
                pool.give(frame);
                Ok(())
            }
            Err(errno) => Err((frame, told(errno))),
        }
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.file.as_fd())
    }

    fn counts(&mut self) -> DeviceCounts {
        self.counts
    }
}
