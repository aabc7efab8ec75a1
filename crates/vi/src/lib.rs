//! Virtual Interfaces: user-level networking in the manner of the Virtual Interface Architecture 1.0.
//!
//! A process talks through *virtual interfaces*, each a pair of work queues into which it posts descriptors of
//! buffers in registered memory. A fabric carries them out; completions are polled for or waited for.

pub mod at_most_once;
pub mod reliable;
