//! Threaded indices: the place of a packet's destination in the routing table of the node that receives it.
//!
//! Each entry of a [`Table`] has an index, which the routing protocols tell the neighbours, and the index of the same destination
//! at the next hop, which was learned from that neighbour. A node finds the entry by the packet's index in one step and writes
//! the next hop's in its place. Section 4 of the paper. The worst that an index can do, stale or forged, is a
//! slow lookup for the packet that carries it.

mod address;
pub mod message;
mod table;

pub use {
    address::{Address, Prefix},
    table::{NO_INDEX, Route, Step, Table, Table4, Table6, TableCounts},
};
