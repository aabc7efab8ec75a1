//! The Rust side of the interoperability tests: the suite of `interop/idl` served, and judged, as a user of the ORB
//! would write it; and what the tests run omniORB's side with.
#![forbid(unsafe_code)]

pub mod bench_target;
pub mod checks;
pub mod objects;
pub mod peers;
pub mod suite;
pub mod tap;

include!(concat!(env!("OUT_DIR"), "/awkward.rs"));
include!(concat!(env!("OUT_DIR"), "/bench.rs"));
include!(concat!(env!("OUT_DIR"), "/hundred.rs"));
include!(concat!(env!("OUT_DIR"), "/interop.rs"));

/// Says aloud that a test is not made on this machine, and why, and ends it.
#[macro_export]
macro_rules! skip {
    ($($why:tt)*) => {{
        $crate::peers::skipped(&format!($($why)*));
        return;
    }};
}

/// As [`skip!`], for want of a package. Where the environment variable `CI` is `true` packages are installed: there the
/// test fails.
#[macro_export]
macro_rules! missing {
    ($($why:tt)*) => {{
        let why = format!($($why)*);
        assert!(::std::env::var("CI").as_deref() != Ok("true"), "not skipped in CI: {why}");
        $crate::skip!("{why}");
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
