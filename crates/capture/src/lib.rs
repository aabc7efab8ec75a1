//! Captures: files of packets, read as a stream in bounded memory; and written, by a [`PcapWriter`].
//!
//! The stages, a file each: a [`Source`] hands out the octets of a file, decompressed; a [`Capture`] cuts them into
//! [`Frame`]s; [`payload`] finds the IP packet in a frame, and [`look`] the flow of an IP packet.
//!
//! ```no_run
//! use throughline_capture::{Capture, Fragments, Payload, Seen, Source, look, payload};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut fragments = Fragments::default();
//! Capture::open(Source::open("some.pcapng.zst".as_ref())?)?.read(|frame| {
//!     if let Payload::Ip(packet) = payload(&frame)
//!         && let Seen::Flow(flow, _) = look(packet, &mut fragments)
//!     {
//!         println!("{} {flow:?}", frame.time);
//!     }
//! })?;
//! # Ok(())
//! # }
//! ```
//!
//! # Files after files
//!
//! Captures that follow one another, as `zcat *.pcap.gz` puts them, are one: byte order, clock and link type are those of
//! the last header, and pcapng may follow pcap or the other way round.
//!
//! # What is bounded
//!
//! Octets of one record (16 MiB), octets that a decompressor looks back at (128 MiB), interfaces of one section of a
//! pcapng file (65,536), datagrams whose fragments can be told the flow of (4,096), VLAN tags of one frame (4).
//!
//! # Damage
//!
//! A capture that breaks off, or makes no sense from some place on, is read up to there; then [`Capture::read`] returns
//! the [`Fault`]. A record of a pcap file makes no sense if it is larger than those of any such file, if there are but
//! zeros in its place, or if it claims to have more octets than were sent and the next record begins where those end.
//! Of damaged compressed data the last 4 KiB before the damage are lost too, of Zstandard the block
//! (128 KiB), of xz the chunk (up to 2 MiB).
#![forbid(unsafe_code)]

mod ahead;
mod capture;
mod fragments;
mod gzip;
mod link;
mod packet;
mod pcapng;
mod source;
mod writer;
mod zstd;

pub use ahead::Stopper;
pub use capture::{Capture, Fault, Format, Frame};
pub use fragments::{DatagramId, Fragments};
pub use link::{Payload, link_name, payload};
pub use packet::{FIN, Flow, RST, SYN, Seen, Tuple, carrier_name, look};
pub use source::{Compression, Progress, Source};
pub use writer::PcapWriter;
