//! References, as text and as octets.
#![no_main]

use libfuzzer_sys::fuzz_target;
use throughline_giop::Ior;

fn check(ior: &Ior) {
    assert_eq!(ior.to_string().parse().as_ref(), Ok(ior));
    for profile in ior.iiop_profiles().flatten() {
        let tagged = profile.to_tagged().expect("it was read");
        let again = throughline_giop::IiopProfile::from_octets(&tagged.data);
        assert_eq!(again, Ok(profile));
    }
}

fuzz_target!(|octets: &[u8]| {
    if let Ok(ior) = str::from_utf8(octets).unwrap_or_default().parse() {
        check(&ior);
    }
    if let Ok(ior) = Ior::from_octets(octets) {
        check(&ior);
    }
});
