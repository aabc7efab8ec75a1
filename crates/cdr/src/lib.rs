//! CORBA's Common Data Representation (CDR): typed values to and from octets, without I/O.
//!
//! A [`Reader`] is a checked cursor over borrowed octets; a [`Writer`] appends to a `Vec<u8>`, or fills memory of
//! a fixed size ([`Output`]). Both know the byte order, the alignment base, and the code sets of text. Types implement
//! [`Encode`] and [`Decode`]; code generated from IDL does so field by field.
//!
//! Everything that is read is taken to be hostile: bounds are checked before use, lengths against what is left
//! of the message before anything is allocated, and nesting against a limit.
//!
//! ```
//! use throughline_cdr::{ByteOrder, Decode, Encode, Reader, Writer};
//!
//! let mut octets = Vec::new();
//! let mut w = Writer::new(&mut octets, ByteOrder::Big);
//! w.write_u8(7);
//! vec![1u32, 2].encode(&mut w)?;
//! assert_eq!(octets, [7, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2]);
//!
//! let mut r = Reader::new(&octets, ByteOrder::Big);
//! assert_eq!(r.read_u8()?, 7);
//! assert_eq!(Vec::<u32>::decode(&mut r)?, [1, 2]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Reference: CORBA 3.3, part 2 (Interoperability), section 9.3.
#![deny(unsafe_code)]

mod bounded;
mod code_sets;
mod containers;
mod error;
mod in_out;
mod long_double;
mod nilable;
mod order;
mod output;
mod primitive;
mod read_text;
mod reader;
mod tail;
mod traits;
mod wide;
mod write_text;
mod writer;

pub use bounded::{BoundExceeded, BoundedString, BoundedVec, BoundedWString};
pub use code_sets::{CharSet, CodeSets, WideCharSet, WideEncoding};
pub use error::{DecodeError, EncodeError, ErrorClass};
pub use in_out::{FinishedInOut, InOut, ReplyPlace};
pub use long_double::LongDouble;
pub use nilable::Nilable;
pub use order::ByteOrder;
pub use output::Output;
pub use primitive::{Number, Primitive};
pub use reader::{DEFAULT_DEPTH, Reader};
pub use tail::{Tail, fill};
pub use traits::{Decode, Encode};
pub use wide::{WChar, WString};
pub use writer::{LARGE_BLOCK, LargeBlocks, Writer};
