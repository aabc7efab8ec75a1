//! Which slot? The arena of records and every way to find one.
//!
//! An [`Arena`] keeps records (connections, objects, flows) at stable [`Slot`]s. Whoever is given a record's
//! [`Handle`] reaches it without a search: a check of bounds and of a 64-bit nonce turns a handle that comes back
//! from a stranger into the record, or into a clean refusal when it is stale or forged. Whoever has only a key
//! needs a locator, which finds the key's slot.
//!
//! # Which lookup to take
//!
//! 1. **You give out the keys** (object keys, cookies, connection identifiers that come back): no search. A peer whom you
//!    need not trust carries the [`Handle`] itself. One whom you trust, such as the next router, carries a plain index:
//!    [`Direct`].
//! 2. **The sender labels its packets**, with a random number that stays the same for a flow (IPv6 has 20 bits for it):
//!    [`SourceCache`] in front of a longer lookup, or [`SourceHash`] by itself. No hash is computed.
//! 3. **All keys are known before the first packet**: [`PerfectHash`], or [`NameTable`] when they are known to the compiler.
//! 4. **Connections come and go**: up to some ten thousand [`Swiss`](crate#features), which is hashbrown's table, or
//!    [`DynamicHash`] without that dependency; beyond that, where packets come in batches of 16 or more or no insertion may
//!    pause, [`FlowTable`].
//! 5. **Many threads read while one writes**: [`flow_table`] for records of flows, [`shared`] for names.
//! 6. **A handful of connections**: any of these. [`Linear`], or [`LastFound`] where packets come in trains, needs no hash
//!    function and no memory but the entries.
//!
//! [`HashChains`], [`MoveToFront`] and [`ChainsMoveToFront`] are here because systems have them: to compare, and to model.
//!
//! | strategy | type | entries examined, hit | miss | bytes per entry | 1,000 flows, ns | 4 million, ns | batched |
//! |---|---|---|---|---|---|---|---|
//! | | [`Arena::exclusive`], [`Arena::reader`] | none: 8, 9 instructions | none | 16 and the record | | | |
//! | | [`Arena::get`] | none: 13 instructions | none | 16 and the record | | | |
//! | `direct` | [`Direct`] | none: 5 instructions | none | 4 and the key | 1.6 | 12 | 8.6 |
//! | `source-hash` | [`SourceHash`] | 1 + half of n / places; 15 to 18 instructions for 1 | n / places | 24 to 48, and 4 to 8 | 2.1 | 62 | 38 |
//! | | [`SourceCache`] | 1: 14 instructions | 1 | 24 to 32 | | | |
//! | `perfect-hash` | [`PerfectHash`] | 1 | 1 | 26 | 4.1 | 47 | 34 |
//! | `flow-table` | [`FlowTable`] | 1.0 | 0.06 | 31 | 5.4 | 60 | 30 |
//! | `swiss` | `Swiss` | 1.0 | 0.1 | 29 to 57 | 4.1 | 54 | 42 |
//! | `dynamic-hash` | [`DynamicHash`] | 1.13 to 1.25 | 0.25 to 0.5 | 32 to 64 | 7.2 | 79 | 67 |
//! | `sequent`, H = 19 | [`HashChains`] | 1 + n / 2H; 1 in a train | 1 + n / H | 24 to 48 | 70 | | |
//! | `chains-move-to-front` | [`ChainsMoveToFront`] | n / 2H; 1 in a train, n / H in turn | n / H | 24 to 48 | 73 | | |
//! | `move-to-front` | [`MoveToFront`] | n / 2; 1 in a train, n in turn | n | 24 to 48 | 1,000 | | |
//! | `bsd` | [`LastFound`] | 1 + n / 2; 1 in a train | 1 + n | 24 to 48 | 970 | | |
//! | `linear` | [`Linear`] | n / 2 | n | 24 to 48 | 1,100 | | |
//!
//! Entries are those that packets of flows drawn evenly examine; *in a train* the packet before was of the same flow, *in turn*
//! every other flow has had one since, as when a server polls its clients.
//!
//! Bytes are those of 16-byte keys ([`Ipv4Flow`]). Times are of one run of the example `lookups` on two virtual cores:
//! packets of flows drawn evenly, all hits, one thread; the figures are good for comparing with one another. Lookups
//! [in batches](Locator::find_batch) fetch memory for later packets while earlier ones are compared, and
//! [`Locator::prefetch`] does so before changes. [`FlowTable`] has a
//! benchmark of its own, beside the tables of others; its
//! [results](https://github.com/throughline/throughline/blob/main/docs/results/2026-11-26/flow-table-sizes.md) show where it is
//! faster, and where not. The instructions of the first line are counted from the handle in registers, all others
//! include loads of the key; [another page](https://github.com/throughline/throughline/blob/main/docs/results/2026-11-27/handles.md) has
//! the times of the ways to look a handle up, alone and beside another thread.
//!
//! Where strangers choose the keys, a lookup must not be theirs to slow down. [`Keyed`], the default, has another
//! function for each seed, so nobody knows which keys collide; seed it from the system ([`LocatorConfig::random`]). The other hash functions (`XorFold`, `Crc32`, ...)
//! are there to be compared, and are not safe against anyone.
//!
//! Every lookup from `direct` on is a [`Locator`]: exclusive use, since some of them rearrange themselves
//! when they are searched. [`Strategy`] is the choice as a configuration value, and [`AnyLocator`] what comes of it. A
//! [`Probe`] counts the entries examined and the hits of one-entry caches; [`NoProbe`] compiles to nothing. All pass one
//! conformance suite.
//!
//! | used by many threads at once | readers | writers | keys |
//! |---|---|---|---|
//! | [`Arena::get`] | wait-free | a lock to insert, none to remove | handles |
//! | [`Arena::reader`] | wait-free; lock-free to begin and to end | as above; what is removed stays until readers are done | handles |
//! | [`shared::Linear`], [`shared::DynamicHash`] | take no lock | one at a time | byte strings |
//! | [`shared::Perfect`] | wait-free | one at a time, before freezing | byte strings |
//! | [`flow_table`] | take no lock, wait for nobody; look again after a change | one | any |
//!
//! Names known at compile time, such as the operations of an interface, have a [`NameTable`] that a code generator
//! writes out with [`build_names`]: at most 60 instructions for names of up to 24 bytes, comparison included.
//! [`LinearNames`] and [`HashedNames`] are its counterparts for comparison.
//!
//! # Example
//!
//! ```
//! # #[cfg(not(feature = "std"))]
//! # fn main() {}
//! # #[cfg(feature = "std")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use throughline_demux::{Arena, Ipv4Connection, Locator, LocatorConfig, Strategy};
//!
//! let arena = Arena::new(1_000);
//! let handle = arena.insert(7, "record")?;
//! assert_eq!(arena.get(handle, 7).as_deref(), Some(&"record"));
//! // A batch of lookups, without references to count.
//! let reader = arena.reader();
//! assert_eq!(reader.get(handle), Some(&"record"));
//! drop(reader);
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
//! # Ok(())
//! # }
//! ```
//!
//! # Features
//!
//! - `std` (default): the [`shared`] locators, whose readers pin an epoch per thread, and `getrandom`.
//! - `huge-pages`: arenas and [`FlowTable`]s of more than 2 and 4 MiB ask Linux for huge pages. Those of a table that may come to
//!   have so many are made ready ahead of their use, up to 32 MiB, by a thread for the records and, of the largest, others for tags and counts.
//! - `swiss`: `Swiss`, hashbrown's table as a locator.
//! - `getrandom`: [`OsNonces`], unguessable nonces from the operating system. Without it bring a [`NonceSource`].
//!
//! Without features everything but the shared locators remains, on `core` and `alloc`; [`FlowTable`] only where there are atomic
//! integers of 64 bits. The lock of those who insert into an [`Arena`] spins then: whoever may interrupt one of them, on the same
//! core, must not insert.
#![no_std]
// Without features, what these pages say of their items leads nowhere.
#![cfg_attr(not(feature = "std"), allow(rustdoc::broken_intra_doc_links))]

extern crate alloc;
#[cfg(any(feature = "std", loom, test))]
extern crate std;

mod arena;
pub mod chained;
mod choice;
mod debug;
mod direct;
mod displace;
mod drop_all;
#[cfg(target_has_atomic = "64")]
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

#[cfg(target_has_atomic = "64")]
pub use flow_table::{
    FlowInsertError, FlowReader, FlowRecord, FlowTable, FlowWriter, PlainRecord, Sweep, flow_table,
    try_flow_table,
};
#[cfg(feature = "getrandom")]
pub use nonce::OsNonces;
#[cfg(feature = "std")]
pub use shared::SharedLocator;
#[cfg(feature = "swiss")]
pub use swiss::Swiss;
pub use {
    arena::{Arena, Exclusive, Full, Handle, Reader, Ref, Slot},
    chained::{ChainsMoveToFront, DynamicHash, HashChains, LastFound, Linear, MoveToFront, SourceHash},
    direct::Direct,
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
    prefetch::{prefetch, prefetch_at},
    probe::{CountExamined, NoProbe, Probe},
    source_cache::SourceCache,
    strategy::{AnyLocator, ConfigError, LocatorConfig, Strategy, UnknownStrategy},
};
