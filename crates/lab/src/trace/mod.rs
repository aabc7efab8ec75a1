//! Which lookup suits a traffic? A capture is read once, as a stream, in memory that does not grow with its length.
//!
//! [`analyse`] takes the octets of a capture ([`Source`]) through these stages: `throughline-capture` finds the flow of
//! every packet, `live` keeps the flows that are alive, and `lookups` looks every packet up with every locator of
//! `throughline-demux`. What comes out is a [`Report`].
//!
//! # What a flow is
//!
//! The packets of TCP or UDP with the same addresses and ports, by default in both directions, as for the hosts at the
//! ends of a connection. IPv4 and IPv6 have tables of their own. A flow begins with its first packet, which is looked up
//! in vain and then put in. It ends after a time of silence; or 60 s after both sides have sent FIN or one has sent RST,
//! as TCP's TIME-WAIT has it; or, when there are as many as [`Options::flows`], for the longest unused of them, when
//! another needs its place.
//!
//! # What is bounded
//!
//! Flows alive ([`Options::flows`]), points in time (512 intervals, which grow), values in distributions (told apart below
//! 128, within 1/64 above), and what `throughline-capture` keeps while it reads.
//!
//! # Damage
//!
//! A capture that breaks off, or makes no sense from some place on, is analysed up to there, and the report has the
//! [`Fault`].

mod analysis;
mod binned;
mod by_size;
mod family;
mod foreknown;
mod lists;
mod live;
mod lookups;
mod measured;
mod options;
mod order;
mod page;
mod recommend;
mod report;
mod summary;
mod tally;
mod trains;
mod which;
mod working_set;

pub use analysis::{AnalysisError, Counts, Moment, analyse};
pub use by_size::{BySize, Cost};
pub use lookups::LookupError;
pub use options::{Network, NotANetwork, Options};
pub use recommend::Recommendation;
pub use report::Report;
pub use summary::Summary;
pub use tally::Tally;
pub use throughline_capture::{Compression, Fault, Format, Source};
pub use which::Which;
pub use working_set::Point;
