//! The CORBA name service (OMG Naming Service 1.3): names for objects, in a graph of contexts.
//!
//! - [`cos_naming`]: types, references and servant traits, generated from the IDL.
//! - [`NameServer`]: a service for any CORBA client, in memory or with a store that survives restarts.
//! - [`client`]: what programs that use a name service need beside the generated references.
//!
//! ```
//! use throughline::{Address, Orb};
//! use throughline_naming::{NameServer, NamingConfig, client};
//!
//! let orb = Orb::listening_at(&[Address::tcp("127.0.0.1", 0)])?;
//! let server = NameServer::start(&orb, NamingConfig::default())?;
//! let root = server.root();
//! let bank = root.bind_new_context(&client::parse_name("bank.service")?)?;
//! let found = orb.string_to_object("corbaname:rir:#bank.service")?;
//! assert_eq!(bank.map(Into::into), Some(found));
//! # orb.shutdown(std::time::Duration::ZERO);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

include!(concat!(env!("OUT_DIR"), "/CosNaming.rs"));

mod abroad;
pub mod client;
mod context;
mod failure;
mod iterator;
mod label;
mod server;
mod store;
mod tree;

pub use server::{NameServer, NamingConfig, NamingError, ROOT_KEY};
