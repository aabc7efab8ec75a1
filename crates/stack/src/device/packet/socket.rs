//! Sockets of AF_PACKET and their options.

use std::ffi::{c_int, c_void};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use linux_raw_sys::if_packet::{
    PACKET_ADD_MEMBERSHIP, PACKET_COPY_THRESH, PACKET_IGNORE_OUTGOING, PACKET_MR_ALLMULTI, PACKET_MR_PROMISC,
    PACKET_QDISC_BYPASS, PACKET_STATISTICS, PACKET_VERSION, PACKET_VNET_HDR, packet_mreq, tpacket_stats,
    tpacket_versions,
};
use rustix::net::sockopt::{set_socket_recv_buffer_size, set_socket_recv_buffer_size_force};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

/// Room for frames that are too large for the ring.
const LARGE_FRAMES: usize = 8 << 20;

/// A socket that receives nothing before it is bound, so that no frame of other interfaces gets in.
fn unbound() -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    Ok(socket_with(AddressFamily::PACKET, SocketType::RAW, flags, None)?)
}

/// One to receive from, by a ring that is still to be made.
pub(super) fn receiving() -> io::Result<OwnedFd> {
    let socket = unbound()?;
    set(&socket, PACKET_VERSION, &(tpacket_versions::TPACKET_V2 as c_int))?;
    set(&socket, PACKET_IGNORE_OUTGOING, &1)?;
    set(&socket, PACKET_VNET_HDR, &1)?;
    set(&socket, PACKET_COPY_THRESH, &1)?;
    if set_socket_recv_buffer_size_force(&socket, LARGE_FRAMES).is_err() {
        set_socket_recv_buffer_size(&socket, LARGE_FRAMES)?;
    }
    Ok(socket)
}

/// One to send by.
pub(super) fn sending(bypass_queues: bool) -> io::Result<OwnedFd> {
    let socket = unbound()?;
    set(&socket, PACKET_QDISC_BYPASS, &c_int::from(bypass_queues))?;
    Ok(socket)
}

/// Binds to an interface, to send there and, perhaps, to receive all that comes.
pub(super) fn bind(socket: &OwnedFd, index: c_int, receive: bool) -> io::Result<()> {
    let protocol = if receive { libc::ETH_P_ALL as u16 } else { 0 };
    let address = libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as u16,
        sll_protocol: protocol.to_be(),
        sll_ifindex: index,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
    let length = size_of_val(&address) as libc::socklen_t;
    // SAFETY: the address lives during the call and has this length.
    let result = unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Has the interface let multicasts of all groups through, or all there is, as long as the socket lives.
pub(super) fn let_through(socket: &OwnedFd, index: c_int, everything: bool) -> io::Result<()> {
    let what = if everything { PACKET_MR_PROMISC } else { PACKET_MR_ALLMULTI };
    let membership = packet_mreq { mr_ifindex: index, mr_type: what as u16, mr_alen: 0, mr_address: [0; 8] };
    set(socket, PACKET_ADD_MEMBERSHIP, &membership)
}

/// Sets an option of AF_PACKET; its value must be plain numbers.
pub(super) fn set<T: Copy>(socket: &OwnedFd, option: u32, value: &T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    let value: *const T = value;
    // SAFETY: the value lives during the call and has this length; the kernel copies it and checks what is in it.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            option as c_int,
            value.cast::<c_void>(),
            length,
        )
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Frames dropped since the last time this was asked.
pub(super) fn drops(socket: &OwnedFd) -> u64 {
    let mut stats = tpacket_stats { tp_packets: 0, tp_drops: 0 };
    let mut length = size_of_val(&stats) as libc::socklen_t;
    let option = PACKET_STATISTICS as c_int;
    // SAFETY: both live during the call, and the kernel writes no more than this length.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            option,
            (&raw mut stats).cast::<c_void>(),
            &raw mut length,
        )
    };
    if result < 0 { 0 } else { u64::from(stats.tp_drops) }
}
