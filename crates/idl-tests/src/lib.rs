//! Code generated from IDL, as a user's crate has it: the tests beside it call it. It compiles without a warning, also
//! where documentation is required.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

/// The example of the documentation.
pub mod bank {
    include!(concat!(env!("OUT_DIR"), "/bank.rs"));
}

/// Nested modules, inheritance, local and abstract interfaces.
pub mod inheritance {
    include!(concat!(env!("OUT_DIR"), "/inheritance.rs"));
}

/// Arrays that a thread's stack has no room for.
pub mod large {
    include!(concat!(env!("OUT_DIR"), "/large.rs"));
}

/// Awkward names.
pub mod names {
    include!(concat!(env!("OUT_DIR"), "/names.rs"));
}

/// The OMG's Naming Service.
pub mod naming {
    include!(concat!(env!("OUT_DIR"), "/naming.rs"));
}

/// Definitions outside of modules.
pub mod root {
    include!(concat!(env!("OUT_DIR"), "/root.rs"));
}

/// Definitions that need those of another module.
pub mod second {
    include!(concat!(env!("OUT_DIR"), "/second.rs"));
}

/// Every type.
pub mod types {
    include!(concat!(env!("OUT_DIR"), "/types.rs"));
}

/// Every sort of union.
pub mod unions {
    include!(concat!(env!("OUT_DIR"), "/unions.rs"));
}

// Several files at the root of a crate do not get in each other's way.
include!(concat!(env!("OUT_DIR"), "/root.rs"));
include!(concat!(env!("OUT_DIR"), "/inheritance.rs"));

/// Nothing of this is used.
mod unused {
    include!(concat!(env!("OUT_DIR"), "/root.rs"));
    include!(concat!(env!("OUT_DIR"), "/types.rs"));
}
