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

/// A version of GIOP by its number, as options have it.
///
/// # Errors
/// What is wrong with the text.
pub fn version(text: &str) -> Result<throughline::Version, String> {
    match text {
        "1.0" => Ok(throughline::Version::V1_0),
        "1.1" => Ok(throughline::Version::V1_1),
        "1.2" => Ok(throughline::Version::V1_2),
        _ => Err(format!("{text} is no version of GIOP")),
    }
}
