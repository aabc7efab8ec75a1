//! What code generated from IDL refers to. Applications use the same items through the crate root.

pub use throughline_cdr::{
    BoundedString, BoundedVec, BoundedWString, Decode, DecodeError, Encode, EncodeError, InOut, LongDouble,
    Nilable, Reader, WChar, WString, Writer,
};
pub use throughline_demux::NameTable;

pub use crate::arguments::{Rewrite, rewrite};
pub use crate::begun::{Begun, Decoder};
pub use crate::call_future::{AsyncCall, CallFuture};
pub use crate::exception::{OperationError, SystemException, UserException};
pub use crate::interface::{IMPLICIT_OPERATIONS, Interface, Operation, OperationTable};
pub use crate::reference::{ObjectRef, TypedReference, decode_reference, encode_reference};
pub use crate::servant::{Dispatched, ServerCall, Skeleton, TypedSkeleton};
