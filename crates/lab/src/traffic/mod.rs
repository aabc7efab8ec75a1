//! Traffic to try lookups with: seeded streams of packets by discrete events, and what they cost a locator.
//!
//! Each kind of traffic is a plain struct of parameters whose `events(seed)` is an endless iterator in the order of
//! time; the same seed gives the same stream. Times are nanoseconds since the beginning. Streams are put together
//! with [`together`]; flows of one are moved out of the way of another's with [`from_flow`].
//!
//! | traffic | what |
//! |---|---|
//! | [`TpcA`] | users who enter a transaction, wait for the response and think (McKenney and Dove, section 2) |
//! | [`Polling`] | a server that polls its clients in turn |
//! | [`Trains`] | packets of a flow in trains, as bulk transfers have them |
//! | [`Popularity`] | some flows send more than others, by Zipf's law |
//! | [`Churn`] | connections that open, send a little, and close |
//! | [`Scan`] | packets for flows that do not exist |
//! | [`Flood`] | a stranger opens flows whose keys collide |
//!
//! ```
//! use throughline_lab::traffic::{self, TpcA, Trains};
//! let oltp = TpcA { users: 2000, ..TpcA::default() };
//! let bulk = Trains { flows: 4, ..Trains::default() };
//! let both = traffic::together([
//!     Box::new(oltp.events(1)) as traffic::Stream,
//!     Box::new(traffic::from_flow(2000, bulk.events(2))),
//! ]);
//! let packets: Vec<_> = both.take(1000).collect();
//! assert!(packets.is_sorted_by_key(|packet| packet.time));
//! ```
//!
//! [`Traffic`] is any of them, described in a line of text; a [`Mix`] is several on one wire, and writes them as a capture.
//!
//! [`drive`] looks every packet's flow up in the library's own locators:
//!
//! ```
//! use throughline_demux::{LocatorConfig, Strategy};
//! use throughline_lab::traffic::{Kind, Subject, TpcA, drive, keys, seconds};
//! let sequent = Strategy::Sequent.locator(LocatorConfig::seeded(1))?;
//! let mut subjects = [Subject::new(sequent)];
//! subjects[0].fill(0..2000, keys::terminal)?;
//! drive(&mut subjects, TpcA::default().events(1).take(50_000), seconds(100.0), keys::terminal)?;
//! let entries = subjects[0].costs.of(Kind::Entry);
//! assert!((50.0..60.0).contains(&entries.mean()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod agenda;
mod churn;
mod drive;
mod event;
mod hostile;
pub mod keys;
mod mix;
mod poisson;
mod polling;
mod popularity;
mod spec;
mod tpc_a;
mod trains;

pub(crate) use agenda::Agenda;
pub use churn::Churn;
pub use drive::{Costs, Subject, Tally, drive};
pub(crate) use event::until_counted;
pub use event::{Event, Kind, Stream, from_flow, seconds, together};
pub use hostile::{Flood, Scan};
pub use mix::{Mix, TooMany};
pub use polling::Polling;
pub use popularity::Popularity;
pub use spec::{Traffic, TrafficError};
pub use tpc_a::{Think, TpcA};
pub use trains::Trains;

/// The generator of all streams: PCG with 128 bits of state, small and fast, repeatable on every machine.
pub(crate) type Generator = rand_pcg::Pcg64Mcg;

/// The generator for a seed.
pub(crate) fn generator(seed: u64) -> Generator {
    rand::SeedableRng::seed_from_u64(seed)
}

#[cfg(test)]
mod tests;
