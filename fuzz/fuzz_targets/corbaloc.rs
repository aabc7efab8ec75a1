//! `corbaloc:`, `corbaname:` and names: what is understood is understood the same once written.
#![no_main]

use libfuzzer_sys::fuzz_target;
use throughline_giop::corbaloc::Corbaloc;
use throughline_giop::corbaname::{Corbaname, name_to_string, parse_name};

fuzz_target!(|text: &str| {
    if let Ok(location) = text.parse::<Corbaloc>() {
        assert_eq!(location.to_string().parse().as_ref(), Ok(&location));
        let _ = location.to_ior("host");
    }
    if let Ok(name) = text.parse::<Corbaname>() {
        assert_eq!(name.to_string().parse(), Ok(name));
    }
    if let Ok(name) = parse_name(text) {
        assert_eq!(parse_name(&name_to_string(&name)), Ok(name));
    }
});
