//! Choices by name, as configuration makes them.

/// Prints and parses a choice by its `name()`, which must be that of one of `ALL`.
macro_rules! by_name {
    ($choice:ident, $unknown:ident, $what:literal) => {
        impl core::fmt::Display for $choice {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.pad(self.name())
            }
        }

        impl core::str::FromStr for $choice {
            type Err = $unknown;

            fn from_str(name: &str) -> Result<Self, $unknown> {
                Self::ALL.into_iter().find(|choice| choice.name() == name).ok_or($unknown)
            }
        }

        #[doc = concat!("The name is none of a ", $what, ".")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $unknown;

        impl core::fmt::Display for $unknown {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(concat!("unknown ", $what, "; expected one of "))?;
                for (i, choice) in $choice::ALL.into_iter().enumerate() {
                    write!(f, "{}`{choice}`", if i == 0 { "" } else { ", " })?;
                }
                Ok(())
            }
        }

        impl core::error::Error for $unknown {}
    };
}
pub(crate) use by_name;
