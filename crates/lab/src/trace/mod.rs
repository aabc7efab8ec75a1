//! Which lookup suits a traffic? A capture is read once, as a stream, in memory that does not grow with its length.
//!
//! [`analyse`] takes the octets of a capture ([`Source`]) through up to four threads: one reads and decompresses them; one finds
//! the flow of every packet (`throughline-capture`), keeps the flows that are alive (`live`) and counts what walks through
//! lists would examine (`walks`); two look every packet up (`lookups`) with the locators of `throughline-demux`, those that need
//! its addresses and those that need an index. Of these there is one less than there are processors, and whoever has time looks
//! up (`team`). What comes out is a [`Report`].
//!
//! # What a flow is
//!
//! The packets of TCP or UDP with the same addresses and ports, by default in both directions, as for the hosts at the
//! ends of a connection. IPv4 and IPv6 have tables of their own. A flow begins with its first packet, which is looked up
//! in vain and then put in. It ends after a time of silence; or 60 s after both sides have sent FIN or one has sent RST,
//! as TCP's TIME-WAIT has it; or, when there are as many as [`Options::flows`], for the longest unused of them, when
//! another needs its place. Where only what certain addresses receive is asked for, what they send ends flows, too.
//!
//! # Entries and times
//!
//! Entries examined are those of all packets. Lists and chains that take too long to walk are given up, but not what they
//! would examine: that is told by the flow's distance in the list, newest first or latest first, kept in `order`.
//!
//! Times are those of one lookup at a time, with putting in new flows, in time of the processor; taking flows out is not
//! timed. Each lookup waits for what the one before has found, as it does where much is done with a packet before the next is
//! looked up; without that the processor would look up several at once, and hide what each waits for. (Who finds nothing is
//! not waited for.) Batches of 4,096 packets go through one lookup after the other. The first 16,384 packets, and batches that
//! have fewer than 1,024 because flows leave after them, are not timed; and when 131,072 are, every eighth batch stands for
//! eight, and once a million came while there were about as many flows, every 32nd for 32. Of captures that have fewer than
//! 65,536 packets to be timed, the first 65,536 packets are kept and looked up again and again, until caches are warm.
//!
//! Three lookups need more than the addresses in a packet, and are never recommended: a perfect hash must know the flows
//! beforehand (so all flows that are alive are given to it now and then, and it looks up the batch that came last), source
//! hashes and direct indices must come in the packet (so they are put in).
//!
//! The working set is that of the windows that end at each packet, in the mean: those at the beginning are not full yet.
//! It is within 2 %, since long intervals between a flow's packets are told by their ranges.
//!
//! Frames are looked at once, in the order of the capture: a fragment that comes before the first of its datagram is one
//! of an unknown flow, and a frame that is earlier than one before it is taken to be as late as that.
//!
//! # How fast
//!
//! Five million packets a second if they are of 1,000 flows, three if of 100,000, about two if of a million drawn evenly, one to two if each
//! is of a new flow and another leaves for it; two virtual cores, on newer ones twice as many ([measured](https://github.com/throughline/throughline/blob/main/docs/results/2026-11-26/trace-rate.md)).
//! A test holds how much more work that is than to count the packets of each flow in a map.
//!
//! # What is bounded
//!
//! Flows alive ([`Options::flows`]), points in time (512 intervals, which grow), values in distributions (told apart below
//! 128, within 1/64 above), packets kept to be looked up again (65,536), batches under way (a few), and what
//! `throughline-capture` keeps while it reads.
//!
//! # Damage
//!
//! A capture that breaks off, or makes no sense from some place on, is analysed up to there, and the report has the
//! [`Fault`].

mod analysis;
mod binned;
mod by_size;
mod clock;
mod counts;
mod driven;
mod family;
mod foreknown;
mod labelled;
mod list;
mod live;
mod lookups;
mod measured;
mod nothing;
mod options;
mod order;
mod page;
mod recommend;
mod replay;
mod report;
mod summary;
mod tables;
mod tally;
mod team;
mod trains;
mod walks;
#[cfg(test)]
mod walks_tests;
mod working_set;

pub use analysis::{AnalysisError, analyse};
pub use by_size::{BySize, Cost};
pub use counts::{Counts, Moment};
pub use lookups::LookupError;
pub use options::{Network, NotANetwork, Options};
pub use recommend::Recommendation;
pub use report::Report;
pub use summary::Summary;
pub use tally::Tally;
pub use throughline_capture::{Compression, Fault, Format, Source, Stopper};
pub use working_set::Point;
