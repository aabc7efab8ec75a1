//! Experiments that set what the papers claim beside what this system does.
//!
//! A program that offers them needs four things:
//!
//! ```no_run
//! // Experiments run parts of themselves in processes of their own: this same binary, started again.
//! if let Some(status) = throughline_lab::child() {
//!     std::process::exit(status);
//! }
//! // The list, and one of it.
//! for experiment in throughline_lab::registry() {
//!     println!("{:12} {}", experiment.name(), experiment.purpose());
//! }
//! let dispatch = throughline_lab::find("dispatch").unwrap();
//! // `Options` are `clap::Args`, to be flattened into the program's own.
//! throughline_lab::run(dispatch, &throughline_lab::Options::default()).unwrap();
//! ```
//!
//! The fourth is [`CountingAllocator`] as global allocator; without it, heap memory is not measured.

mod allocator;
mod callgrind;
mod children;
mod experiment;
mod experiments;
pub mod model;
mod options;
pub mod peers;
mod plot;
mod random;
mod row;
mod sink;
mod table;
mod timing;
pub mod trace;
pub mod traffic;

pub use allocator::CountingAllocator;
pub use children::child;
pub use experiment::{Experiment, LabError, find, registry};
pub use options::Options;
pub use row::{Row, Value};
pub use sink::{Collected, Ended, JsonLines, Screen, Sink, run};
pub use table::Table;
