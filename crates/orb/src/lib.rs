//! CORBA objects in Rust: served to any client, called from any thread, found in one step.
#![forbid(unsafe_code)]

pub mod adapter;
mod binding;
mod call_future;
mod dispatch;
pub mod exception;
mod initial;
pub mod interface;
mod invoke;
mod local;
mod object_key;
mod object_table;
mod orb;
mod random;
pub mod reference;
pub mod rt;
pub mod servant;
mod transport;

pub use adapter::{Adapter, AdapterConfig, AdapterError};
pub use call_future::CallFuture;
pub use exception::{Completion, Kind, SystemException, UserException};
pub use object_key::KeyParts;
pub use object_table::ActiveObject;
pub use orb::{Orb, OrbConfig, OrbError};
pub use reference::{ObjectRef, TypedReference};
pub use throughline_cdr::{BoundedString, BoundedVec, BoundedWString, LongDouble, WChar, WString};
pub use throughline_demux::Strategy;
pub use throughline_giop::{Ior, Version};
pub use transport::address::{Address, AddressError};
pub use transport::socket::Wait;
