//! CORBA's General Inter-ORB Protocol, versions 1.0 to 1.2: octets in, octets out, no I/O.
//!
//! - Messages: [`header`], then a module per kind of message. Reading yields views that borrow from the message
//!   and allocates nothing; writing appends to a `Vec<u8>` that may hold other messages already, and patches the
//!   size in at the end.
//! - The stream: [`connection`] cuts received octets into messages in place, [`fragment`] splits and reassembles.
//! - References: [`ior`], [`profile`], [`component`], and their readable forms [`corbaloc`] and [`corbaname`].
//! - What goes along: [`service_context`], [`codeset`], [`priority`], [`exception`].
//!
//! ```
//! use throughline_cdr::ByteOrder;
//! use throughline_giop::header::MessageHeader;
//! use throughline_giop::request::{NewRequest, RequestHeader, Response, begin_request};
//! use throughline_giop::{NewTarget, Version, finish};
//!
//! let mut buffer = Vec::new();
//! let request = NewRequest {
//!     request_id: 1,
//!     response: Response::Target,
//!     target: NewTarget::Key(b"bank"),
//!     operation: "deposit",
//!     service_contexts: &[],
//! };
//! let open = begin_request(&mut buffer, Version::V1_2, ByteOrder::NATIVE, &request)?;
//! open.writer(&mut buffer).write_u32(100);
//! finish(&mut buffer, open)?;
//!
//! let header = MessageHeader::of(&buffer, 1 << 20)?;
//! let mut request = RequestHeader::read(&header, &buffer)?;
//! assert_eq!(request.operation, b"deposit");
//! assert_eq!(request.body.read_u32()?, 100);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Reference: CORBA 3.3, part 2 (Interoperability), chapters 7 and 9.
#![forbid(unsafe_code)]

pub mod codeset;
pub mod component;
pub mod connection;
pub mod control;
pub mod corbaloc;
pub mod corbaname;
mod escape;
pub mod exception;
pub mod fragment;
pub mod header;
pub mod ior;
pub mod locate;
pub mod native;
mod open;
pub mod priority;
pub mod profile;
pub mod reply;
pub mod request;
pub mod service_context;
pub mod target;

pub use exception::{CompletionStatus, SystemException, SystemExceptionKind};
pub use header::{HEADER_LEN, HeaderError, MessageHeader, MessageType, Version};
pub use ior::{Ior, TaggedProfile};
pub use native::{NativeAddress, NativeProfile};
pub use open::{Open, TooLarge, finish, finish_with};
pub use profile::IiopProfile;
pub use service_context::{ServiceContext, ServiceContexts};
pub use target::{NewTarget, Target};
