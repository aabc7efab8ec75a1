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
//! | `perfect-hash` | [`Perfect`] | 1 | 1 | 9 to 11 | frozen before the first lookup |
//! | `dynamic-hash` | [`DynamicHash`] | 1.1 to 1.25 on average | about 1 | 18 to 24, table 16 to 32 | come and go |
//! | `linear` | [`Linear`] | half of them on average | all | 18 to 24 | few, or for comparison |
//!
//! Take `active` when you give out the keys yourself: object keys, connection identifiers, cookies. Else take
//! `perfect-hash` when all keys are known before the first of them is asked for, and `dynamic-hash` when not.
//! [`Strategy`] is that choice as a configuration value, and [`AnyLocator`] what comes of it.
//!
//! All locators have wait-free readers and writers that wait for one another, and pass one conformance suite. A
//! [`Probe`] counts the entries examined; [`NoProbe`] compiles to nothing.
//!
//! Names known at compile time, such as the operations of an interface, have a [`NameTable`] that a code generator
//! writes out with [`build_names`]: at most 60 instructions for names of up to 24 bytes, comparison included.
//! [`LinearNames`] and [`HashedNames`] are its counterparts for comparison.
//!
//! # Example
//!
//! ```
//! use throughline_demux::{Arena, Locator, LocatorConfig, Strategy};
//!
//! let arena = Arena::new(1_000);
//! let handle = arena.insert(7, "record")?;
//! assert_eq!(arena.get(handle, 7).as_deref(), Some(&"record"));
//!
//! // The same record by a key.
//! let strategy: Strategy = "dynamic-hash".parse()?;
//! let locator = strategy.locator(LocatorConfig::random()).expect("this strategy searches");
//! locator.insert(b"key", handle.slot)?;
//! assert_eq!(locator.locate(b"key", &arena).as_deref(), Some(&"record"));
//!
//! // First the key, then the record: so nobody finds another record under this key.
//! locator.remove(b"key");
//! let last = arena.remove(handle).expect("still there");
//! assert!(arena.get(handle, 7).is_none());
//! assert_eq!(*last, "record");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! - `std` (default): the locators, whose readers pin an epoch per thread, and `getrandom`.
//! - `getrandom`: [`OsNonces`], unguessable nonces from the operating system. Without it bring a [`NonceSource`].
//!
//! Without features the arena, [`NameTable`] and its builder remain, on `core` and `alloc`.
#![no_std]

extern crate alloc;
#[cfg(any(feature = "std", loom, test))]
extern crate std;

mod arena;
mod displace;
mod keyed_hash;
mod mix;
mod name_lists;
mod names;
mod names_build;
mod nonce;
mod probe;
mod strategy;
mod sync;

#[cfg(feature = "std")]
mod dynamic_hash;
#[cfg(feature = "std")]
mod entry;
#[cfg(feature = "std")]
mod linear;
#[cfg(feature = "std")]
mod locator;
#[cfg(feature = "std")]
mod perfect;

#[cfg(feature = "getrandom")]
pub use nonce::OsNonces;
pub use {
    arena::{Arena, Full, Handle, Ref, Slot},
    name_lists::{HashedNames, LinearNames},
    names::NameTable,
    names_build::{BuildNamesError, BuiltNames, MAX_NAMES, build_names},
    nonce::NonceSource,
    probe::{CountExamined, NoProbe, Probe},
    strategy::{Strategy, UnknownStrategy},
};
#[cfg(feature = "std")]
pub use {
    dynamic_hash::DynamicHash,
    linear::Linear,
    locator::{FreezeError, InsertError, Locator, MAX_KEY},
    perfect::Perfect,
    strategy::{AnyLocator, LocatorConfig},
};
