//! What the kernel says of its network interfaces.

use std::ffi::c_int;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use smoltcp::wire::EthernetAddress;

/// An interface of the network namespace that the thread is in.
#[derive(Debug)]
pub(super) struct Interface {
    /// Of that namespace, which it keeps.
    socket: OwnedFd,
    name: String,
    /// The kernel's number for it, which no other gets; its name may be another's later.
    index: c_int,
}

impl Interface {
    /// The one with this name.
    pub(super) fn named(name: &str) -> io::Result<Self> {
        request(name)?;
        let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
        let mut interface = Self { socket, name: name.to_owned(), index: 0 };
        let request = interface.ask(libc::SIOCGIFINDEX)?;
        // SAFETY: the kernel has filled in this member.
        interface.index = unsafe { request.ifr_ifru.ifru_ifindex };
        Ok(interface)
    }

    /// The kernel's number for it.
    pub(super) fn index(&self) -> c_int {
        self.index
    }

    /// Bytes behind the link's header, at most.
    pub(super) fn mtu(&self) -> io::Result<usize> {
        let request = self.ask(libc::SIOCGIFMTU)?;
        // SAFETY: the kernel has filled in this member.
        usize::try_from(unsafe { request.ifr_ifru.ifru_mtu }).map_err(|_| io::ErrorKind::InvalidData.into())
    }

    /// Its own address.
    pub(super) fn hardware(&self) -> io::Result<EthernetAddress> {
        let request = self.ask(libc::SIOCGIFHWADDR)?;
        // SAFETY: the kernel has filled in this member.
        let address = unsafe { request.ifr_ifru.ifru_hwaddr };
        if address.sa_family != libc::ARPHRD_ETHER {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let mut octets = [0; 6];
        octets.iter_mut().zip(address.sa_data).for_each(|(octet, data)| *octet = data as u8);
        Ok(EthernetAddress(octets))
    }

    /// Whether it is up, and something is at the other end as far as its driver knows. An error if there is none any more.
    pub(super) fn is_running(&self) -> io::Result<bool> {
        let mut request = request("")?;
        request.ifr_ifru.ifru_ifindex = self.index;
        // SAFETY: this request reads the number from an ifreq and writes the name.
        unsafe { ioctl(self.socket.as_fd(), libc::SIOCGIFNAME, &mut request) }?;
        // SAFETY: this one reads the name, and writes one member of the union.
        unsafe { ioctl(self.socket.as_fd(), libc::SIOCGIFFLAGS, &mut request) }?;
        // SAFETY: the kernel has filled in this member.
        let flags = c_int::from(unsafe { request.ifr_ifru.ifru_flags });
        Ok(flags & libc::IFF_UP != 0 && flags & libc::IFF_RUNNING != 0)
    }

    fn ask(&self, what: libc::c_ulong) -> io::Result<libc::ifreq> {
        let mut request = request(&self.name)?;
        // SAFETY: these requests read the name from an ifreq and write one member of its union.
        unsafe { ioctl(self.socket.as_fd(), what, &mut request) }?;
        Ok(request)
    }
}

/// A request about an interface; names have at most 15 bytes.
pub(super) fn request(name: &str) -> io::Result<libc::ifreq> {
    if name.len() >= libc::IFNAMSIZ || name.contains('\0') {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut ifr_name = [0; libc::IFNAMSIZ];
    ifr_name.iter_mut().zip(name.bytes()).for_each(|(to, from)| *to = from as libc::c_char);
    // SAFETY: a union of integers, addresses and a raw pointer may be all zeros.
    Ok(libc::ifreq { ifr_name, ifr_ifru: unsafe { std::mem::zeroed() } })
}

/// Makes a request.
///
/// # Safety
/// It must be one that takes an `ifreq`.
pub(super) unsafe fn ioctl(fd: BorrowedFd<'_>, what: libc::c_ulong, on: &mut libc::ifreq) -> io::Result<()> {
    // SAFETY: `on` lives during the call; the caller says that the request takes it.
    let result = unsafe { libc::ioctl(fd.as_raw_fd(), what as _, &raw mut *on) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
