//! Data manipulations, as stages of one pass (Integrated Layer Processing).
//!
//! What each protocol does to the data of a message (check its sum, decrypt it, swap its bytes, move it to where it
//! belongs) takes a pass over it, and each pass reads the data from memory again. Once the boundary between headers and data is
//! known, all of it can be done in one pass: after Clark and Tennenhouse, "Architectural Considerations for a New
//! Generation of Protocols" (1990).
//!
//! A [`Stage`] works on 64 bytes in registers; a tuple of stages is a stage again, and one pass runs all of them over each
//! block before it is stored: [`copy`] from one place to another, [`in_place`], or [`look`] without storing. Composed by type,
//! the compiler makes one loop of them, for each set of instructions that the machine may have. A [`Program`] is composed
//! at run time: of the usual combinations there are such loops, others go in pieces that stay in the nearest cache.
//!
//! ```
//! use throughline_stack::manipulate::{Checksum, Swap, copy};
//!
//! let received = [0x12, 0x34, 0x56, 0x78];
//! let mut numbers = [0; 4];
//! let mut stages = (Checksum::default(), Swap::<4>);
//! copy(&mut stages, &received, &mut numbers);
//! assert_eq!((stages.0.sum(), numbers), (0x68ac, [0x78, 0x56, 0x34, 0x12]));
//! ```
mod checksum;
#[cfg(feature = "ciphers")]
mod ciphers;
mod crc32c;
mod machine;
mod program;
mod stage;
mod swap;
mod xor;

pub use checksum::{Checksum, checksum};
#[cfg(feature = "ciphers")]
pub use ciphers::{Cipher, Forged, Opener, Sealer, TAG, open};
pub use crc32c::Crc32c;
pub use machine::{Block, Machine};
pub use program::{Manipulation, Pass, Program, Sums};
pub use stage::{Stage, copy, in_place, look};
pub use swap::Swap;
pub use xor::Xor;

/// Bytes of a block.
pub const BLOCK: usize = 64;

/// Bytes that go through all passes before the next ones, where passes cannot be one: source and destination of a piece
/// fit into the nearest cache, with room to spare.
pub const PIECE: usize = 4096;
