//! Reliability in virtual time: two endpoints and a network that does them harm.
#![cfg(not(loom))]

mod calls;
mod conditions;
mod endings;
mod exactly_once;
mod frames;
mod hostile;
mod life;
mod link;
mod world;
