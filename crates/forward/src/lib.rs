//! Frames that pass through: packet filters, bridges, routers.
//!
//! Each of them looks something up for every frame: who wants it, behind which port its destination is, which route it takes.
//! All frames of a *flow* have the same answer, so it is kept in a [`FlowCache`], and where it is kept is a number that the
//! sender chose and the frame carries ([`Label`]): its *source hash*, or a *threaded index*, which is the place in the next
//! node's table itself. After Chandranmenon and Varghese, "Trading Packet Headers for Packet Processing" (1996).
//!
//! What a frame carries is never believed beyond a first guess: whatever its label says, it goes where the lookup without
//! label would send it.
#![deny(unsafe_code)]

mod bridge;
mod config;
mod edge;
pub mod filter;
mod flow_cache;
mod frame;
mod ip;
mod node;
mod port;
mod router;
pub mod routing;
mod sender;
mod spanning_tree;
pub mod threaded;

pub use {
    bridge::{AddressIndices, Bridge, BridgeConfig, BridgeCounts, BridgePort},
    config::{
        BridgeSetup, ConfigFault, ForwardConfig, Link, Periods, PortConfig, ProtocolConfig, ProtocolKind,
        Role, RouterSetup,
    },
    edge::PortLabels,
    filter::{FilterBank, FilterBankConfig},
    flow_cache::{FlowCache, FlowCacheConfig, FlowCounts},
    frame::{FrameError, LABEL_ETHERTYPE, Label, Packet, clear_index, insert_label, remove_label, set_index},
    node::{Forwarder, Node, NodeError},
    port::{HEADROOM, Outgoing, PortId},
    router::{
        FlowIndex, MulticastConfig, Refused, Route, RouteError, Router, RouterConfig, RouterCounts,
        RouterError, RouterPort,
    },
    sender::{Assignment, Labeller},
    spanning_tree::{BridgeId, PortState, SpanningTree, SpanningTreeConfig, TreeCounts, TreePort},
};
