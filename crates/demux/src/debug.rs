//! How tables show themselves: what they are and how many entries they have.

use core::fmt;

/// Writes a name and a length; what else there is, is not for the eye.
pub(crate) fn with_len(f: &mut fmt::Formatter<'_>, name: &str, len: usize) -> fmt::Result {
    f.debug_struct(name).field("len", &len).finish_non_exhaustive()
}

/// Implements [`fmt::Debug`] for a locator.
macro_rules! debug_with_len {
    ([$($generics:tt)*] $type:ty, $name:literal) => {
        impl<$($generics)*> core::fmt::Debug for $type {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                crate::debug::with_len(f, $name, self.len())
            }
        }
    };
}

pub(crate) use debug_with_len;
