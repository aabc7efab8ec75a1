//! The Unix socket beside a connection: it carries files, and words that are seldom needed.

use rustix::{
    io::Errno,
    net::{
        AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags,
        SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType,
    },
};
use std::{
    io::{IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::fd::{AsRawFd, BorrowedFd, OwnedFd},
};

/// Bytes of a control message at most.
pub(crate) const MESSAGE: usize = 64;

/// A control message.
pub(crate) struct Message {
    pub(crate) bytes: [u8; MESSAGE],
    pub(crate) len: usize,
    pub(crate) file: Option<OwnedFd>,
    /// A second file.
    pub(crate) waker: Option<OwnedFd>,
    /// Files came with it that are lost: this process may open no more, or they were too many.
    pub(crate) cut: bool,
}

pub(crate) fn new_socket() -> rustix::io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)
}

/// The name of the socket where a NIC listens for a discriminator. Abstract names vanish with their process.
pub(crate) fn name(address: &str, discriminator: &[u8]) -> Option<SocketAddrUnix> {
    if address.is_empty()
        || address.len() > super::MAX_ADDRESS
        || discriminator.len() > crate::MAX_DISCRIMINATOR
    {
        return None;
    }
    let mut name = b"tl-vi/".to_vec();
    name.extend_from_slice(address.as_bytes());
    name.push(b'/');
    name.extend_from_slice(discriminator);
    SocketAddrUnix::new_abstract_name(&name).ok()
}

/// Sends without waiting.
pub(crate) fn send(socket: BorrowedFd<'_>, bytes: &[u8], files: &[BorrowedFd<'_>]) -> rustix::io::Result<()> {
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(files));
    }
    rustix::net::sendmsg(socket, &[IoSlice::new(bytes)], &mut control, flags).map(|_| ())
}

/// Receives without waiting. `CONNRESET` when the peer is gone.
pub(crate) fn receive(socket: BorrowedFd<'_>) -> rustix::io::Result<Message> {
    let mut message = Message { bytes: [0; MESSAGE], len: 0, file: None, waker: None, cut: false };
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
    let slices = &mut [IoSliceMut::new(&mut message.bytes)];
    let received = match rustix::net::recvmsg(socket, slices, &mut control, flags) {
        // The system says once, ahead of the peer's last words, that the peer has left something unread.
        Err(Errno::CONNRESET) => rustix::net::recvmsg(socket, slices, &mut control, flags)?,
        received => received?,
    };
    if received.bytes == 0 {
        return Err(Errno::CONNRESET);
    }
    (message.len, message.cut) = (received.bytes, received.flags.contains(ReturnFlags::CTRUNC));
    for ancillary in control.drain() {
        if let RecvAncillaryMessage::ScmRights(mut files) = ancillary {
            (message.file, message.waker) = (files.next(), files.next());
        }
    }
    Ok(message)
}

/// The other process: its id, unless it is in a namespace of processes that ours cannot see into, and its user, as the kernel
/// knows them.
pub(crate) fn peer(socket: &OwnedFd) -> rustix::io::Result<(Option<u32>, u32)> {
    // Not by `rustix`, for which an id is never 0.
    let mut credentials = libc::ucred { pid: 0, uid: u32::MAX, gid: u32::MAX };
    let mut len = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: both are there for the call, and `len` is the length of the first, which is valid whatever it holds.
    let got = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut credentials).cast(),
            &raw mut len,
        )
    };
    if got != 0 {
        return Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::INVAL));
    }
    Ok((u32::try_from(credentials.pid).ok().filter(|id| *id != 0), credentials.uid))
}
