//! Registered memory: regions cut into buffers, each owned by whoever holds it.

mod copy;
mod handle;
mod left;
mod mapping;
mod region;
mod spare;
mod window;

pub(crate) use copy::{copy_in, copy_out, copy_out_new};
pub use handle::MemoryHandle;
pub use left::Left;
pub(crate) use mapping::{Mapping, Untrusted};
pub use region::{Buffer, Region};
pub(crate) use region::{FilePart, Memory, Pool};
pub(crate) use spare::Spare;
pub(crate) use window::WindowMemory;
pub use window::{OutsideWindow, Rights, Window};
