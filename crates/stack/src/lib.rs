//! One set of protocols, three architectures: layered, direct, integrated.
//!
//! The graph of protocols below datagrams and streams, after the x-kernel, in which each protocol is written once and run
//! in three ways; after Jain, Hutchinson and Chanson, "Protocol Architectures for Delivering Application Specific Quality
//! of Service" (1995).
mod device;
mod message;

pub use device::{Captured, Device, DeviceCounts, End, FaultCounts, Faults, Faulty, PairConfig, pair};
pub use message::{Message, NoRoom, Pool};
