//! Which slot? The arena of records and every way to find one.
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
