//! Virtual Interfaces: user-level networking in the manner of the Virtual Interface Architecture 1.0.
//!
//! A process talks through *virtual interfaces*, each a pair of work queues into which it posts descriptors of
//! buffers in registered memory. A fabric carries them out; completions are polled for or waited for.
//!
//! A buffer is moved into the descriptor that is posted, and comes back with the completion. While the fabric has it,
//! nobody else does.
//!
//! # Fabrics
//!
//! | NIC | reaches | addresses | remote DMA |
//! |---|---|---|---|
//! | [`Nic::shm`] | processes of this machine and user, by shared memory | names | one-sided |
//! | [`Nic::udp`] | whoever UDP reaches | `ip:port` | served by the peer's process |
//! | [`Nic::local`] | VIs of this process, over a network with faults on purpose | names | one-sided |
//!
//! Over UDP messages of the reliable levels are carried by the protocol of [`reliable`], and receives posted are the
//! sender's credit: a message waits until there is one, where on the other fabrics it would break the VI. Whoever polls or
//! waits does the work; a thread of the process looks after sockets that nobody polls, so that a VI left alone stays
//! connected, and sleeps while nothing happens. Buffers sent return when the peer has acknowledged them. Unreliable messages
//! have at most 64,000 bytes and are sent once. [`Vi::connect_early`] does not wait for the listener: messages leave with
//! the question. Remote DMA is served by the peer's process, in order with the messages, and four parts of 32 KiB are
//! under way at a time: where round trips are long messages are faster. What waits for it when the VI disconnects is not sent.
//!
//! Nothing overtakes on a VI: what is urgent waits until all that was posted before it is there, however long that is, so it
//! should have a VI of its own. VIs over datagrams have turns of 16 datagrams each where several of a NIC have something to send.
//!
//! # Example
//!
//! ```
//! use throughline_vi::{Nic, Reliability, SendDescriptor, ViAttributes};
//!
//! let attributes = ViAttributes::new(Reliability::ReliableDelivery);
//! let nic = Nic::shm()?;
//! let mut listener = nic.listen(b"echo")?;
//! let address = nic.address().to_owned();
//!
//! let server = std::thread::spawn(move || -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
//!     let mut vi = nic.create_vi(&attributes)?;
//!     vi.post_own_receives();
//!     listener.wait(None)?.accept(&mut vi)?;
//!     let request = vi.receive_wait(None)?;
//!     let mut reply = vi.send_buffer().expect("none is in use");
//!     reply.set_len(request.buffer.len());
//!     reply.copy_from_slice(&request.buffer);
//!     vi.post_receive(request.buffer)?;
//!     vi.post_send(SendDescriptor::new(reply).unsignaled())?;
//!     Ok(())
//! });
//!
//! let nic = Nic::shm()?;
//! let mut vi = nic.create_vi(&ViAttributes::new(Reliability::ReliableDelivery))?;
//! vi.post_own_receives();
//! vi.connect(&address, b"echo", None)?;
//! let mut request = vi.send_buffer().expect("none is in use");
//! request.set_len(5);
//! request.copy_from_slice(b"hello");
//! vi.post_send(SendDescriptor::new(request).unsignaled())?;
//! let reply = vi.receive_wait(None)?;
//! assert_eq!(&*reply.buffer, b"hello");
//! # server.join().unwrap().unwrap();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg_attr(all(loom, not(test)), allow(dead_code, reason = "for the model"))]
mod sync;

#[cfg(all(loom, test))]
#[path = "fabric/shm/model.rs"]
#[allow(dead_code, reason = "the model is a part of the whole")]
mod model;

// Loom's atomics are no words in shared memory: with them only the model is built.
#[cfg(not(loom))]
mod attributes;
#[cfg(not(loom))]
mod bell;
#[cfg(not(loom))]
mod completion_queue;
#[cfg(not(loom))]
mod deadlines;
#[cfg(not(loom))]
mod descriptor;
#[cfg(not(loom))]
mod error;
#[cfg(not(loom))]
mod exclusive;
#[cfg(not(loom))]
mod fabric;
#[cfg(not(loom))]
mod loans;
#[cfg(not(loom))]
mod memory;
#[cfg(not(loom))]
mod nic;
#[cfg(not(loom))]
mod state;
#[cfg(not(loom))]
mod vi;

#[cfg(not(loom))]
pub mod at_most_once;
#[cfg(not(loom))]
pub mod reliable;

#[cfg(not(loom))]
pub use {
    attributes::{MAX_DISCRIMINATOR, MAX_MESSAGE, ProtectionTag, Reliability, TrustedPeers, ViAttributes},
    bell::Bell,
    completion_queue::CompletionQueue,
    descriptor::{Completion, Operation, ReceiveDescriptor, RemoteAddress, Segments, SendDescriptor},
    error::{CompletionError, ConnectError, PostError, PostRefused, ResourceError, WaitError},
    exclusive::{Exclusive, Held},
    fabric::local::{Faults, LocalNetwork},
    fabric::{NAP, SMALL_MESSAGE},
    loans::LENT_FRONT,
    memory::{Buffer, Left, MemoryHandle, OutsideWindow, Region, Rights, Window},
    nic::{ConnectionRequest, Listener, Nic},
    state::State,
    vi::Vi,
};
