//! One module per experiment.

mod calls;
mod collisions;
mod connect;
mod discards;
pub(crate) mod dispatch;
pub(crate) mod filter;
pub(crate) mod forwarding;
pub(crate) mod hash_cost;
mod hot_object;
mod iiop;
mod ilp;
pub(crate) mod lookup_instructions;
mod mixes;
mod move_data;
pub(crate) mod paths;
mod pcb;
pub(crate) mod priority;
mod schemes;
mod setup_cost;
pub(crate) mod tcp_scale;
mod threaded;

use crate::Experiment;

/// All of them, in the order of the list.
pub(crate) const ALL: &[&dyn Experiment] = &[
    &dispatch::Dispatch,
    &hash_cost::HashCost,
    &lookup_instructions::LookupInstructions,
    &setup_cost::SetupCost,
    &schemes::Schemes,
    &hot_object::HotObject,
    &iiop::Iiop,
    &move_data::MoveData,
    &calls::Calls,
    &paths::Paths,
    &priority::Priority,
    &tcp_scale::TcpScale,
    &pcb::Pcb,
    &connect::Connect,
    &filter::Filter,
    &collisions::Collisions,
    &forwarding::Forwarding,
    &mixes::Mixes,
    &threaded::Threaded,
    &ilp::Ilp,
];
