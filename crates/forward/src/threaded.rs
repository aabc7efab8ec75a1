//! Threaded indices: the place of a packet's destination in the routing table of the node that receives it.
//!
//! Each entry of a [`Table`] has an index, which the routing protocols tell the neighbours, and the index of the same destination
//! at the next hop, which was learned from that neighbour. A node finds the entry by the packet's index in one step and writes
//! the next hop's in its place. Section 4 of the paper. The worst that an index can do, stale or forged, is a
//! slow lookup for the packet that carries it.
//!
//! Indices are those of an *area*. Routes to prefixes outside have none ([`Route::indexed`]), which is what a [`Source`] is told
//! that asks for one; its packets carry a source hash, and nodes find their routes in a [`FlowCache`](crate::FlowCache). The flag
//! [`THREADED`](throughline_wire::Flags::THREADED) says which of the two a packet has. On a link of many routers the indices of multicast
//! [`Groups`] are given out by one of them.

mod address;
pub mod message;
mod multicast;
pub(crate) mod source;
mod table;

pub use {
    address::{Address, Prefix},
    multicast::{Groups, GroupsConfig},
    source::{Source, SourceConfig, answer},
    table::{NO_INDEX, Route, Step, Table, Table4, Table6, TableCounts},
};
