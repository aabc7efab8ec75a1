//! One set of protocols, three architectures: layered, direct, integrated.
//!
//! The graph of protocols below datagrams and streams, after the x-kernel, in which each protocol is written once and run
//! in three ways; after Jain, Hutchinson and Chanson, "Protocol Architectures for Delivering Application Specific Quality
//! of Service" (1995).
mod admission;
#[cfg(feature = "ciphers")]
mod associations;
mod compose;
mod context;
mod description;
mod device;
mod driver;
mod error;
mod fragments;
mod graph;
mod host;
#[cfg(feature = "ciphers")]
mod keys;
pub mod manipulate;
mod message;
mod metrics;
mod neighbors;
mod participants;
mod path;
mod patience;
mod ports;
mod protocol;
mod protocols;
mod rate;
mod run_queue;
#[cfg(feature = "ciphers")]
mod seal;
mod secret;
mod sessions;
mod settle;
mod shepherd;
mod sockets;
mod timer_wheel;
mod trouble;
#[cfg(feature = "ciphers")]
mod window;
mod workers;

/// Its types are in the interface: addresses, the time.
pub use smoltcp;

pub use compose::ComposeError;
pub use context::{Limits, Lower};
pub use description::DescriptionError;
pub use device::{
    Captured, Device, DeviceCounts, End, FaultCounts, Faults, Faulty, Packet, PacketConfig, PairConfig, Tap,
    is_passing, pair,
};
pub use driver::Driver;
pub use error::{Discard, OpenError, SendError, StreamError, TooLong, Trouble};
pub use fragments::Fragments;
pub use graph::{Architecture, Config, Graph};
pub use host::{ETHERNET_MTU, Host, solicited_node};
#[cfg(feature = "ciphers")]
pub use keys::{Aead, Key, KeyError, Keys};
pub use message::{Marks, Message, NoRoom, Pool};
pub use metrics::{GraphCounts, Metrics};
pub use participants::Participants;
pub use path::{ListenerId, MAX_LAYERS, PathId};
pub use protocol::{Answer, Control, Demux, Enabled, Layer, Lead, Pop, Protocol, ProtocolId, Reach, Upper};
pub use rate::{Bucket, Rate};
pub use run_queue::{RunQueue, Urgency};
pub use secret::Secret;
pub use sessions::{DEFAULT_SESSIONS, Lookup, LookupError};
pub use sockets::Sockets;
pub use trouble::{Allowance, Refusal, Refused, Report};
pub use workers::{Access, Arrival, Stopped, Workers};
