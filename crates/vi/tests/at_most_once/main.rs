//! At most once, and exactly once with a reply: in virtual time, over a network that loses, repeats and reorders.
#![cfg(not(loom))]

mod floods;
mod model;
mod network;
mod simulated;
