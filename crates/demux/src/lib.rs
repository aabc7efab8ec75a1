//! Which slot? The arena of records and every way to find one.
//!
//! An [`Arena`] keeps records (connections, objects, flows) at stable [`Slot`]s. Whoever is given a record's
//! [`Handle`] reaches it without a search: a check of bounds and of a 64-bit nonce turns a handle that comes back
//! from a stranger into the record, or into a clean refusal when it is stale or forged. Whoever has only a key
//! needs a locator, which finds the key's slot.
//!
//! # Which lookup to take
//!
//! | strategy | type | entries examined, hit | miss | bytes per key, besides the key | keys |
//! |---|---|---|---|---|---|
//! | `active` | [`Arena::get`] | none: 13 instructions | 10 instructions | none | the peer carries the handle |
//! | `perfect-hash` | [`shared::Perfect`] | 1 | 1 | 9 to 11 | frozen before the first lookup |
//! | `dynamic-hash` | [`DynamicHash`] | 1.1 to 1.25 on average | about 1 | 18 to 24, table 16 to 32 | come and go |
//! | `linear` | [`Linear`] | half of them on average | all | 18 to 24 | few, or for comparison |
//!
//! Take `active` when you give out the keys yourself: object keys, connection identifiers, cookies. Else take
//! `perfect-hash` when all keys are known before the first of them is asked for, and `dynamic-hash` when not.
//! [`Strategy`] is that choice as a configuration value, and [`AnyLocator`] what comes of it.
//!
//! Those in [`shared`] have readers without locks and writers that wait for one another. All pass a conformance suite. A
//! [`Probe`] counts the entries examined; [`NoProbe`] compiles to nothing.
//!
//! Names known at compile time, such as the operations of an interface, have a [`NameTable`] that a code generator
//! writes out with [`build_names`]: at most 60 instructions for names of up to 24 bytes, comparison included.
//! [`LinearNames`] and [`HashedNames`] are its counterparts for comparison.
//!
//! # Example
//!
//! ```
//! use throughline_demux::{Arena, Ipv4Connection, Locator, LocatorConfig, Strategy};
//!
//! let arena = Arena::new(1_000);
//! let handle = arena.insert(7, "record")?;
//! assert_eq!(arena.get(handle, 7).as_deref(), Some(&"record"));
//!
//! // The same record by a key.
//! let strategy: Strategy = "dynamic-hash".parse()?;
//! let mut locator = strategy.locator(LocatorConfig::random())?;
//! let key = Ipv4Connection::new([10, 0, 0, 1].into(), 40_000, [10, 0, 0, 2].into(), 80);
//! locator.insert(key, handle.slot)?;
//! let slot = locator.find(&key).expect("just inserted");
//! assert_eq!(arena.get_slot(slot).as_deref(), Some(&"record"));
//!
//! // First the key, then the record: so nobody finds another record under this key.
//! locator.remove(&key);
//! let last = arena.remove(handle).expect("still there");
//! assert!(arena.get(handle, 7).is_none());
//! assert_eq!(*last, "record");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! - `std` (default): the locators, whose readers pin an epoch per thread, and `getrandom`.
//! - `huge-pages`: [`FlowTable`] asks Linux for huge pages, which a thread makes ready ahead of their use.
//! - `getrandom`: [`OsNonces`], unguessable nonces from the operating system. Without it bring a [`NonceSource`].
//!
//! Without features the arena, [`NameTable`] and its builder remain, on `core` and `alloc`.
#![no_std]

extern crate alloc;
#[cfg(any(feature = "std", loom, test))]
extern crate std;

mod arena;
pub mod chained;
mod direct;
mod displace;
mod flow_table;
mod hashes;
mod keys;
mod locator;
mod mix;
mod name_lists;
mod names;
mod names_build;
mod nonce;
mod perfect;
mod prefetch;
mod probe;
mod source_cache;
mod strategy;
#[cfg(feature = "swiss")]
mod swiss;
mod sync;

#[cfg(feature = "std")]
pub mod shared;

#[cfg(feature = "getrandom")]
pub use nonce::OsNonces;
#[cfg(feature = "std")]
pub use shared::SharedLocator;
#[cfg(feature = "swiss")]
pub use swiss::Swiss;
pub use {
    arena::{Arena, Exclusive, Full, Handle, Ref, Slot},
    chained::{ChainsMoveToFront, DynamicHash, HashChains, LastFound, Linear, MoveToFront, SourceHash},
    direct::Direct,
    flow_table::{FlowInsertError, FlowReader, FlowRecord, FlowTable, FlowWriter, PlainRecord, flow_table},
    hashes::{AnyHash, Crc32, Fnv1a, HashKind, KeyHash, Keyed, Multiplicative, UnknownHash, XorFold},
    keys::{
        Bytes, Carried, EthernetAddress, FlowId, Ipv4Connection, Ipv4Flow, Ipv6Connection, Ipv6Flow, Key,
        TooLong,
    },
    locator::{Examined, FreezeError, InsertError, Locator},
    name_lists::{HashedNames, LinearNames},
    names::NameTable,
    names_build::{BuildNamesError, BuiltNames, MAX_NAMES, build_names},
    nonce::NonceSource,
    perfect::PerfectHash,
    probe::{CountExamined, NoProbe, Probe},
    source_cache::SourceCache,
    strategy::{AnyLocator, ConfigError, LocatorConfig, Strategy, UnknownStrategy},
};
