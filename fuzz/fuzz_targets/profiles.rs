//! The encapsulated data of profiles, components and service contexts.
#![no_main]

use libfuzzer_sys::fuzz_target;
use throughline_cdr::ByteOrder;
use throughline_giop::TaggedProfile;
use throughline_giop::codeset::*;
use throughline_giop::component::*;
use throughline_giop::native::*;
use throughline_giop::profile::*;

fn address(
    read: Result<Address, throughline_cdr::DecodeError>,
    parse: fn(&[u8]) -> Result<Address, throughline_cdr::DecodeError>,
) {
    if let Ok(address) = read {
        let component = address.to_component().expect("it was read");
        assert_eq!(parse(&component.data), Ok(address));
    }
}

fuzz_target!(|octets: &[u8]| {
    if let Ok(profile) = IiopProfile::from_octets(octets) {
        assert_eq!(object_key(octets), Ok(&*profile.object_key));
        let _ = (profile.addresses(), profile.code_sets());
        for order in [ByteOrder::Big, ByteOrder::Little] {
            let again = profile.to_octets(order).expect("it was read");
            assert_eq!(IiopProfile::from_octets(&again).as_ref(), Ok(&profile));
        }
    }
    if let Ok(components) = read_multiple_components(octets) {
        let again = multiple_components(&components).expect("it was read");
        assert_eq!(read_multiple_components(&again.data), Ok(components));
    }
    if let Ok(info) = CodeSetComponentInfo::from_octets(octets) {
        let _ = negotiate(&info);
        let again = info.to_component().expect("it was read");
        assert_eq!(CodeSetComponentInfo::from_octets(&again.data), Ok(info));
    }
    let _ = CodeSetContext::from_octets(octets);
    let _ = read_orb_type(octets);
    for tag in [TAG_NATIVE_SHM, TAG_NATIVE_UDP] {
        let profile = TaggedProfile { tag, data: octets.to_vec() };
        if let Some(Ok(native)) = NativeProfile::from_tagged(&profile) {
            let again = native.to_tagged().expect("it was read");
            assert_eq!(NativeProfile::from_tagged(&again), Some(Ok(native)));
        }
    }
    address(read_alternate_address(octets), read_alternate_address);
    address(read_unix_address(octets), read_unix_address);
});
