//! CORBA objects in Rust: served to any client, called from any thread, found in one step.
//!
//! Interfaces are written in OMG IDL and compiled by `throughline-idl` from a build script. What it generates uses this
//! crate through [`rt`]; what an application uses is here:
//!
//! - [`Orb`]: starts listening, makes references from text, shuts down in order. Everything that can be configured is in
//!   [`OrbConfig`].
//! - [`Adapter`]: activates servants as objects. Its [`AdapterConfig`] says by which [`Strategy`] objects and operations
//!   are found, and whether object keys are stable text.
//! - [`ObjectRef`] and the typed references around it: call objects, blocking or async, here or elsewhere.
//! - [`SystemException`]: what any call can fail with, with a minor code ([`exception::minor`]) and a text for people.
//!
//! ```
//! use throughline::{Adapter, AdapterConfig, Orb, Strategy};
//!
//! let orb = Orb::listening_at(&["127.0.0.1:0".parse()?])?;
//! // Objects that are found in one step, whatever their number; keys carry a handle.
//! let accounts = orb.root().create_child("accounts", AdapterConfig::default())?;
//! // Objects with readable keys that stay the same after a restart: `tellers/17`.
//! let config = AdapterConfig { objects: Strategy::DynamicHash, stable_keys: true, ..AdapterConfig::default() };
//! let tellers = orb.root().create_child("tellers", config)?;
//! # let _ = (accounts, tellers);
//! // let account: AccountRef = accounts.activate(AccountSkeleton(MyAccount::default()))?;
//! orb.shutdown(std::time::Duration::from_secs(1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Which strategy
//!
//! | objects found by | cost of a call | keys | take it when |
//! |---|---|---|---|
//! | `active` | the same for any number of objects | opaque, void after a restart | always, unless keys must be stable |
//! | `dynamic-hash` | a hash of the object id, then a short chain | may be stable text | references are stored, or typed by hand |
//! | `perfect-hash` | a hash of the object id, no chain | may be stable text | the objects are known at the start and never change |
//! | `linear` | grows with the number of objects | may be stable text | for a handful of objects, and to see the difference |
//!
//! Operations are found by the same four. `active`, the default, compares the name with that of the last operation called
//! over the same connection, and asks the perfect hash when that guess was wrong.
//!
//! # Transports
//!
//! An ORB listens at any number of [`Address`]es: `iiop://host:port`, `unix:/path`, `udp://host:port`, and `shm:` (or
//! `shm:name`) for clients on the same machine, which then call in well under a microsecond. References tell all of them, and
//! a client takes the fastest that works from where it is: shared memory, UDP, a Unix-domain socket, TCP. By shared memory and
//! UDP, both sides look for messages for [`OrbConfig::native_spin`] before they sleep.
//!
//! A parameter `in sequence<octet>`, or of numbers, is a slice of the message as it was received. By shared memory that is a copy
//! which the caller cannot change; among processes that trust each other, long ones can be read in the caller's memory instead:
//! see [`OrbConfig::trusted_peers`]. A parameter `inout` of numbers is an [`InOut`]: a slice, too, which by shared memory and UDP lies
//! in the answer already when the servant changes it, if the operation returns nothing before it, or, between processes that trust
//! each other, in the caller's memory.
//!
//! Over UDP messages are neither lost nor doubled, and an object that has another address, too, is called there while UDP does
//! not get through. There is no encryption and no authentication, as with IIOP: listen where only friends are.
//!
//! What a client opens, a session or an iterator, can end with it: an object that a servant activates by
//! [`Adapter::activate_for_caller`] is deactivated once the client's process has ended, in order or not.
//!
//! TCP need not be the system's: see [`OrbConfig::network`], and with the feature `stack` `StackNetwork`. Nor need UDP: how a
//! program does over a network that loses datagrams, doubles them or cuts hosts off is tried out with
//! [`OrbConfig::datagrams`], without another machine and without privileges.
//!
//! # Many calls at once
//!
//! Generated stubs have two further forms of each operation `withdraw`. `withdraw_begin` sends the request and returns a
//! [`Begun`], which the same thread waits for later: the fastest way for one thread to have many calls under way.
//! `withdraw_async` is a future for any executor and any thread; [`AsyncCall::begin`] sends its request before anybody waits, and
//! [`block_on`] receives while it waits, which is faster than an executor that sleeps.
//!
//! # Urgent calls
//!
//! Calls have a [`Priority`], from 0 to 32767, that of the reference or of the calling thread; see [`priority`]. It goes with the
//! request by every way, by IIOP as real-time CORBA has it, and on with whatever the servant calls. A server may set threads
//! aside for urgent calls: adapters [serve in](Adapter::serve_in) [lanes], so that a flood of ordinary calls does not hold up
//! those with a priority. [`OrbConfig::priority_limits`] says how urgent clients may be.
//!
//! # Threads
//!
//! Servants are called from the ORB's worker threads, several at a time: an object is `Send + Sync` and locks what it must.
//! Requests of one connection are carried out one after another as long as servants are quick (a tick of 10 ms), slow ones
//! beside each other. Oneways are carried out in the order sent, each after the end of the one before, unless its servant
//! waits for another object. A client that asks for an answer to a oneway gets it after its end, also where the answer could
//! come before (`SYNC_WITH_SERVER`).
#![forbid(unsafe_code)]

pub mod adapter;
mod arguments;
mod backlog;
mod begun;
mod binding;
mod call_future;
mod call_future_native;
mod call_pool;
mod clients;
mod dispatch;
mod ending;
pub mod exception;
mod handover;
mod initial;
pub mod interface;
mod invoke;
mod invoke_native;
mod lane_pool;
pub mod lanes;
mod large;
mod local;
mod members;
mod native;
pub mod network;
mod object_key;
mod object_table;
mod orb;
mod placement;
pub mod priority;
mod random;
pub mod reference;
pub mod rt;
pub mod servant;
mod transport;
mod way;

pub use adapter::{Adapter, AdapterConfig, AdapterError};
pub use begun::{Begun, Decoder};
pub use call_future::{AsyncCall, CallFuture};
pub use exception::{Completion, Kind, SystemException, UserException};
pub use lanes::{LaneConfig, LaneCounts, Lanes, LanesError};
pub use network::Network;
#[cfg(feature = "stack")]
pub use network::StackNetwork;
pub use object_key::KeyParts;
pub use object_table::ActiveObject;
pub use orb::{Orb, OrbConfig, OrbError};
pub use priority::{Priority, PriorityCounts, PriorityLimits};
pub use reference::{ObjectRef, TypedReference};
pub use throughline_cdr::{BoundedString, BoundedVec, BoundedWString, InOut, LongDouble, WChar, WString};
pub use throughline_demux::shared::Strategy;
pub use throughline_giop::{Ior, Version};
pub use throughline_vi::{Faults, LocalNetwork, TrustedPeers};
pub use transport::address::{Address, AddressError};
pub use transport::native::drive::block_on;
pub use transport::socket::Wait;
pub use way::{Transport, Way};
