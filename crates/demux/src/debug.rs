//! How tables show themselves: what they are and how many entries they have; what else there is, is not for the eye.

/// Implements [`Debug`](core::fmt::Debug) for a locator.
macro_rules! debug_with_len {
    ([$($generics:tt)*] $type:ty, $name:literal) => {
        impl<$($generics)*> core::fmt::Debug for $type {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct($name).field("len", &self.len()).finish_non_exhaustive()
            }
        }
    };
}

pub(crate) use debug_with_len;
