//! The Rust side of the interoperability tests: the suite of `interop/idl` served, and judged, as a user of the ORB
//! would write it; and what the tests run omniORB's side with.
#![forbid(unsafe_code)]

pub mod bench_target;
pub mod checks;
pub mod objects;
pub mod peers;
pub mod suite;

include!(concat!(env!("OUT_DIR"), "/awkward.rs"));
include!(concat!(env!("OUT_DIR"), "/bench.rs"));
include!(concat!(env!("OUT_DIR"), "/hundred.rs"));
include!(concat!(env!("OUT_DIR"), "/interop.rs"));

/// Says aloud that a test is not made, and why, and ends it. Where `CI` is `true` a thing that can be installed is
/// installed: there it fails.
#[macro_export]
macro_rules! skip {
    ($($why:tt)*) => {{
        $crate::peers::skipped(&format!($($why)*));
        return;
    }};
}
