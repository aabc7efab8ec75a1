//! References in all their forms. The `IOR:` texts come from omniORB 4.2 (`genior` and `omniNames`).

use proptest::prelude::*;
use throughline_cdr::{
    ByteOrder, CharSet, CodeSets, Decode, DecodeError, Encode, Reader, WideCharSet, Writer,
};
use throughline_giop::codeset::*;
use throughline_giop::component::*;
use throughline_giop::corbaloc::*;
use throughline_giop::corbaname::*;
use throughline_giop::ior::ParseIorError;
use throughline_giop::profile::*;
use throughline_giop::*;

const GENIOR: &str = "IOR:010000001500000049444c3a42616e6b2f4163636f756e743a312e3000000000010000000000000060000000\
    010102001100000062616e6b2e6578616d706c652e6f72670000f90a0500000068656c6c6f00000002000000000000000800000001000000\
    00545441010000001c00000001000000010001000100000001000105090101000100000009010100";

const OMNI_NAMES: &str = "\
    IOR:010000002b00000049444c3a6f6d672e6f72672f436f734e616d696e672f4e616d696e67436f6e746578744578743a312e30\
    00000100000000000000ac000000010102000a0000003132372e302e302e310030720b0000004e616d6553657276696365000500\
    000000000000080000000100000000545441010000001c0000000100000001000100010000000100010509010100010000000901\
    0100030000000e00000001000000040000003a3a310030720000025454412000000001000000040000006c616200100000002f72\
    756e2f6e616d65732e736f636b000354544108000000a090016b01007b51";

fn tcp(host: &str, port: u16) -> Address {
    Address::Tcp { host: host.to_owned(), port }
}

#[test]
fn omniorb_references() {
    let ior: Ior = GENIOR.parse().unwrap();
    assert_eq!(ior.type_id, "IDL:Bank/Account:1.0");
    let profile = ior.iiop_profiles().next().unwrap().unwrap();
    assert_eq!((profile.version, &*profile.host, profile.port), (Version::V1_2, "bank.example.org", 2809));
    assert_eq!(profile.object_key, b"hello");
    assert_eq!(read_orb_type(profile.component(ORB_TYPE).unwrap()), Ok(0x4154_5400));
    let sets = profile.code_sets().unwrap().unwrap();
    assert_eq!(
        sets.for_char,
        CodeSetComponent { native: CharSet::Latin1.id(), conversion: vec![0x0501_0001] }
    );
    assert_eq!(sets.for_wchar.native, WideCharSet::Utf16.id());
    assert_same_text(&ior, GENIOR);

    let ior: Ior = OMNI_NAMES.parse().unwrap();
    let profile = ior.iiop_profiles().next().unwrap().unwrap();
    let unix = Address::Unix { host: "lab".to_owned(), path: "/run/names.sock".to_owned() };
    assert_eq!(profile.addresses(), [tcp("127.0.0.1", 29232), tcp("::1", 29232), unix.clone()]);
    assert_eq!(profile.component(OMNIORB_PERSISTENT_ID).unwrap().len(), 8);
    assert_same_text(&ior, OMNI_NAMES);
    if cfg!(target_endian = "little") {
        assert_eq!(unix.to_component().unwrap().data, profile.component(OMNIORB_UNIX_TRANS).unwrap());
        assert_eq!(tcp("::1", 29232).to_component().unwrap(), profile.components[2]);
    }
}

/// Texts of little-endian machines come out of others with the other order.
fn assert_same_text(ior: &Ior, text: &str) {
    if cfg!(target_endian = "little") {
        assert_eq!(ior.to_string(), text);
    } else {
        assert_eq!(ior.to_string().parse::<Ior>().as_ref(), Ok(ior));
    }
}

#[test]
fn a_type_id_that_no_text_could_hold_is_refused() {
    let read = |type_id: &str| {
        let mut octets = Vec::new();
        let mut w = Writer::new(&mut octets, ByteOrder::NATIVE);
        w.set_codesets(CodeSets::UNICODE);
        w.write_string(type_id).unwrap();
        w.write_u32(0);
        let mut r = Reader::new(&octets, ByteOrder::NATIVE);
        r.set_codesets(CodeSets::UNICODE);
        Ior::decode(&mut r)
    };
    let refused = |type_id| matches!(read(type_id), Err(DecodeError::InvalidText { .. }));
    assert!(refused("IDL:\u{2603}:1.0") && refused("\u{100}"));
    // What ISO 8859-1 has comes back from the text.
    for type_id in ["", "IDL:Bank:1.0", "IDL:B\u{e4}nk:1.0", "\u{ff}"] {
        let ior = read(type_id).unwrap();
        assert_eq!(ior.to_string().parse(), Ok(ior));
    }
}

#[test]
fn ior_texts() {
    assert_eq!(GENIOR.to_uppercase().parse::<Ior>(), GENIOR.parse());
    assert_eq!(format!("  {GENIOR}\n").replace("IOR", "ior").parse::<Ior>(), GENIOR.parse());
    let fail = |text: &str| text.parse::<Ior>().unwrap_err();
    assert_eq!(fail(""), ParseIorError::NoPrefix);
    assert_eq!(fail("IO"), ParseIorError::NoPrefix);
    assert_eq!(fail("corbaloc::x/y"), ParseIorError::NoPrefix);
    assert_eq!(fail("IOR:0"), ParseIorError::NotHex(4));
    assert_eq!(fail("IOR:000g"), ParseIorError::NotHex(6));
    assert_eq!(fail("IOR:0é0"), ParseIorError::NotHex(5 - 1));
    assert!(matches!(fail("IOR:"), ParseIorError::Malformed(DecodeError::InvalidEncapsulation { .. })));
    assert!(matches!(
        fail("IOR:02000000"),
        ParseIorError::Malformed(DecodeError::InvalidEncapsulation { .. })
    ));
    let endless = "IOR:000000000000000100ffffffff";
    assert!(matches!(fail(endless), ParseIorError::Malformed(_)));
    for length in 0..GENIOR.len() {
        assert!(GENIOR[..length].parse::<Ior>().is_err(), "cut to {length}");
    }
}

#[test]
fn nil() {
    let text = Ior::NIL.to_string();
    let little = cfg!(target_endian = "little");
    assert_eq!(
        text,
        ["IOR:00000000000000010000000000000000", "IOR:01000000010000000000000000000000"][usize::from(little)]
    );
    let ior: Ior = text.parse().unwrap();
    assert!(ior.is_nil());
    assert_eq!(ior, Ior::default());
    assert_eq!(Ior::NIL.to_octets(ByteOrder::Big).unwrap(), b"\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0");
}

#[test]
fn profiles_by_hand() {
    let v1_0 = b"\0\x01\0\0\0\0\0\x02a\0\0\x50\0\0\0\x01k";
    let profile = IiopProfile::from_octets(v1_0).unwrap();
    assert_eq!((profile.version, &*profile.host, profile.port), (Version::V1_0, "a", 80));
    assert_eq!(profile.object_key, b"k");
    assert_eq!(profile.to_octets(ByteOrder::Big).unwrap(), v1_0);
    assert_eq!(object_key(v1_0), Ok(b"k".as_slice()));

    // A later minor version may add members; those we know are where they were.
    let v1_9 = [b"\0\x01\x09".as_slice(), &v1_0[3..], b"\0\0\0\0\0\0\0something new"].concat();
    let profile = IiopProfile::from_octets(&v1_9).unwrap();
    assert_eq!((profile.version, profile.object_key), (Version::V1_2, b"k".to_vec()));
    assert!(IiopProfile::from_octets(b"\0\x02\0\0\0\0\0\x02a\0\0\x50\0\0\0\x01k").is_err(), "IIOP 2.0");

    let components = [orb_type(7), CodeSetComponentInfo::ours().to_component().unwrap()];
    let profile = multiple_components(&components).unwrap();
    assert_eq!(profile.tag, TAG_MULTIPLE_COMPONENTS);
    assert_eq!(read_multiple_components(&profile.data).unwrap(), components);
    assert_eq!(CodeSetComponentInfo::from_octets(&components[1].data), Ok(CodeSetComponentInfo::ours()));
    assert_eq!(tag_name(CODE_SETS), Some("TAG_CODE_SETS"));
}

fn iiop(version: Version, host: &str, port: u16) -> CorbalocAddress {
    CorbalocAddress::Iiop { version, host: host.to_owned(), port }
}

fn unix(path: &str) -> CorbalocAddress {
    CorbalocAddress::Unix { path: path.to_owned() }
}

#[test]
fn corbalocs() {
    use Version::{V1_0, V1_1, V1_2};
    let cases: &[(&str, &[CorbalocAddress], &[u8])] = &[
        ("corbaloc::host:1234/key", &[iiop(V1_0, "host", 1234)], b"key"),
        ("corbaloc:iiop:1.2@host:1234/a/b", &[iiop(V1_2, "host", 1234)], b"a/b"),
        ("CORBALOC::host/key", &[iiop(V1_0, "host", 2809)], b"key"),
        ("corbaloc::host:/key", &[iiop(V1_0, "host", 2809)], b"key"),
        ("corbaloc::/key", &[iiop(V1_0, "localhost", 2809)], b"key"),
        ("corbaloc::1.2@[::1]:7/k", &[iiop(V1_2, "::1", 7)], b"k"),
        ("corbaloc::[fe80::1%eth0]/k", &[iiop(V1_0, "fe80::1%eth0", 2809)], b"k"),
        (
            "corbaloc::a,iiop:1.1@b:9,:1.2@c/k",
            &[iiop(V1_0, "a", 2809), iiop(V1_1, "b", 9), iiop(V1_2, "c", 2809)],
            b"k",
        ),
        ("corbaloc::h/%00%ff%2F%2f~", &[iiop(V1_0, "h", 2809)], b"\0\xFF//~"),
        ("corbaloc::h/", &[iiop(V1_0, "h", 2809)], b""),
        ("corbaloc::1.7@h/k", &[iiop(V1_2, "h", 2809)], b"k"),
        ("corbaloc:omniunix:/run/bank.sock:/key", &[unix("/run/bank.sock")], b"key"),
        ("corbaloc:omniunix:1.2@/run/a@b:,:h/key", &[unix("/run/a@b"), iiop(V1_0, "h", 2809)], b"key"),
        ("corbaloc:omniunix:1.2@1.0@b:/key", &[unix("1.0@b")], b"key"),
    ];
    for (text, addresses, key) in cases {
        let expected = Corbaloc::Addresses { addresses: addresses.to_vec(), key: key.to_vec() };
        assert_eq!(text.parse(), Ok(expected.clone()), "{text}");
        assert_eq!(expected.to_string().parse(), Ok(expected.clone()), "{expected}");
    }
    for text in ["corbaloc:rir:", "corbaloc:rir:/", "corbaloc:rir:/NameService"] {
        assert_eq!(text.parse(), Ok(Corbaloc::Rir("NameService".to_owned())), "{text}");
    }
}

#[test]
fn corbalocs_that_are_refused() {
    let fail = |text: &str| text.parse::<Corbaloc>().unwrap_err();
    use ParseLocError::*;
    assert_eq!(fail("corbalo"), NoPrefix("corbaloc:"));
    assert_eq!(fail("IOR:00"), NoPrefix("corbaloc:"));
    assert_eq!(fail("corbaloc:"), BadAddress(String::new()));
    assert_eq!(fail("corbaloc:ssliop:h/k"), UnknownProtocol("ssliop".to_owned()));
    assert_eq!(fail("corbaloc:shm:bank/k"), ByHandle("shm"));
    assert_eq!(fail("corbaloc::h,udp:h:1/k"), ByHandle("udp"));
    assert_eq!(fail("corbaloc::h"), NoKey);
    assert_eq!(fail("corbaloc::2.0@h/k"), BadVersion("2.0".to_owned()));
    assert_eq!(fail("corbaloc::1.x@h/k"), BadVersion("1.x".to_owned()));
    assert_eq!(fail("corbaloc::1.+1@h/k"), BadVersion("1.+1".to_owned()));
    for host in ["1.0@h", "@h", "h@", "a b", "a\tb"] {
        assert_eq!(fail(&format!("corbaloc::1.2@{host}:1/k")), BadAddress(host.to_owned()));
    }
    assert_eq!(fail("corbaloc::h:65536/k"), BadPort("65536".to_owned()));
    assert_eq!(fail("corbaloc::h:+1/k"), BadPort("+1".to_owned()));
    assert_eq!(fail("corbaloc::[::1/k"), BadAddress("::1".to_owned()));
    assert_eq!(fail("corbaloc::[]:1/k"), BadAddress("]:1".to_owned()));
    assert_eq!(fail("corbaloc::[::1]x/k"), BadAddress("x/k".to_owned()));
    assert_eq!(fail("corbaloc:rir:,:h/k"), RirNotAlone);
    assert_eq!(fail("corbaloc::h,rir:/k"), RirNotAlone);
    assert_eq!(fail("corbaloc::h/a b"), BadEscape(13));
    assert_eq!(fail("corbaloc::h/%4"), BadEscape(12));
    assert_eq!(fail("corbaloc::h/%zz"), BadEscape(12));
    assert_eq!(fail("corbaloc:rir:/%ff"), NotText);
    assert_eq!(fail(&format!("corbaloc:{}/k", vec![":h"; 100].join(","))), TooManyAddresses);
}

#[test]
fn corbaloc_to_ior() {
    let location: Corbaloc = "corbaloc::1.1@h:9,omniunix:/s:/k".parse().unwrap();
    let ior = location.to_ior("here").unwrap().unwrap();
    let profiles: Vec<_> = ior.iiop_profiles().map(Result::unwrap).collect();
    assert_eq!(profiles[0].addresses(), [tcp("h", 9)]);
    assert_eq!(profiles[0].version, Version::V1_1);
    assert_eq!(profiles[1].addresses(), [Address::Unix { host: "here".to_owned(), path: "/s".to_owned() }]);
    assert!(profiles.iter().all(|profile| profile.object_key == b"k"));
    assert_eq!(Corbaloc::Rir(String::new()).to_ior(""), Ok(None));
    // Components are for profiles that have room for them.
    let location: Corbaloc = "corbaloc::h,:1.2@h,omniunix:/s:/k".parse().unwrap();
    let code_sets = CodeSetComponentInfo::assumed();
    let ior = location.to_ior_with("here", &[code_sets.to_component().unwrap()]).unwrap().unwrap();
    let told: Vec<_> = ior.iiop_profiles().map(|profile| profile.unwrap().code_sets()).collect();
    assert_eq!(told, [None, Some(Ok(code_sets.clone())), Some(Ok(code_sets))]);
}

#[test]
fn corbanames() {
    let parse = |text: &str| text.parse::<Corbaname>();
    let name = parse("corbaname::h:9#bank/accounts.dir/47%2011").unwrap();
    assert_eq!(name.name, "bank/accounts.dir/47 11");
    let context =
        Corbaloc::Addresses { addresses: vec![iiop(Version::V1_0, "h", 9)], key: b"NameService".to_vec() };
    assert_eq!(name.context, context);
    assert_eq!(name.to_string(), "corbaname:iiop:h:9/NameService#bank/accounts.dir/47%2011");
    assert_eq!(parse("corbaname::h:9/Other"), parse("corbaname::h:9/Other#"));
    assert_eq!(parse("corbaname:rir:#a").unwrap().context, Corbaloc::Rir("NameService".to_owned()));
    assert_eq!(parse("corbaname::h#%ff"), Err(ParseLocError::NotText));
    assert_eq!(parse("corbaname::h#a|b"), Err(ParseLocError::BadEscape(14)));
    assert!(matches!(parse("corbaname::h#a//b"), Err(ParseLocError::BadName(_))));
}

#[test]
fn names() {
    let component = |id: &str, kind: &str| NameComponent { id: id.to_owned(), kind: kind.to_owned() };
    let cases = [
        ("a", vec![component("a", "")]),
        ("a/b.c", vec![component("a", ""), component("b", "c")]),
        (".k", vec![component("", "k")]),
        (".", vec![component("", "")]),
        (r"a\.b.c\/d\\", vec![component("a.b", r"c/d\")]),
    ];
    for (text, expected) in cases {
        assert_eq!(parse_name(text), Ok(expected.clone()), "{text}");
        assert_eq!(name_to_string(&expected), text);
    }
    for wrong in ["", "/", "a/", "/a", "a.", "a.b.c", r"a\b", r"a\", "a//b"] {
        assert!(parse_name(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn code_sets_are_agreed_upon() {
    let [utf8, latin1, utf16] = [0x0501_0001, 0x0001_0001, 0x0001_0109];
    let server = |native, conversion: &[u32], wide| CodeSetComponentInfo {
        for_char: CodeSetComponent { native, conversion: conversion.to_vec() },
        for_wchar: CodeSetComponent { native: wide, conversion: vec![] },
    };
    let chosen = |server| {
        let CodeSetContext { char_data, wchar_data } = negotiate(&server);
        (char_data, wchar_data)
    };
    assert_eq!(chosen(CodeSetComponentInfo::ours()), (utf8, utf16));
    assert_eq!(chosen(server(latin1, &[utf8], utf16)), (utf8, utf16), "omniORB");
    assert_eq!(chosen(server(latin1, &[], 0)), (latin1, 0));
    assert_eq!(chosen(server(0x0001_0020, &[], 0)), (latin1, 0), "ASCII");
    assert_eq!(chosen(server(0x0001_0002, &[], 0x0001_0106)), (utf8, utf16), "the fallbacks");

    let context = CodeSetContext { char_data: utf8, wchar_data: utf16 };
    for order in [ByteOrder::Big, ByteOrder::Little] {
        assert_eq!(CodeSetContext::from_octets(&context.to_octets(order)), Ok(context));
    }
    assert_eq!(context.to_octets(ByteOrder::Big), b"\0\0\0\0\x05\x01\0\x01\0\x01\x01\x09");
    assert_eq!(context.code_sets(Version::V1_2), Ok(CodeSets::UNICODE));
    assert_eq!(context.code_sets(Version::V1_0).unwrap().wide, None);
    assert!(CodeSetContext { char_data: 0x0001_0002, wchar_data: 0 }.code_sets(Version::V1_2).is_err());
}

fn octets(length: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..length)
}

fn any_profile() -> impl Strategy<Value = IiopProfile> {
    let components = prop::collection::vec((any::<u32>(), octets(9)), 0..4);
    let version = prop::sample::select(vec![Version::V1_0, Version::V1_1, Version::V1_2]);
    (version, "[a-z.]{0,9}", any::<u16>(), octets(20), components).prop_map(
        |(version, host, port, object_key, components)| {
            let components = components.into_iter().map(|(tag, data)| TaggedComponent { tag, data });
            let components = components.filter(|_| version > Version::V1_0).collect();
            IiopProfile { version, host, port, object_key, components }
        },
    )
}

proptest! {
    #[test]
    fn references_survive(
        type_id in "[A-Za-z:/.0-9]{0,20}",
        profiles in prop::collection::vec(any_profile(), 0..3),
        others in prop::collection::vec((any::<u32>(), octets(9)), 0..3),
        little in any::<bool>(),
    ) {
        let order = ByteOrder::from_flag(little);
        let mut tagged: Vec<_> = profiles
            .iter()
            .map(|profile| TaggedProfile { tag: TAG_INTERNET_IOP, data: profile.to_octets(order).unwrap() })
            .collect();
        tagged.extend(others.into_iter().map(|(tag, data)| TaggedProfile { tag: tag | 1, data }));
        let ior = Ior { type_id, profiles: tagged };
        prop_assert_eq!(&ior.to_string().parse::<Ior>().unwrap(), &ior);
        prop_assert_eq!(&Ior::from_octets(&ior.to_octets(order).unwrap()).unwrap(), &ior);
        prop_assert_eq!(ior.iiop_profiles().map(Result::unwrap).collect::<Vec<_>>(), profiles);

        let mut whole = vec![];
        ior.encode(&mut Writer::new(&mut whole, order)).unwrap();
        for length in 0..whole.len() {
            prop_assert!(Ior::decode(&mut Reader::new(&whole[..length], order)).is_err());
        }
    }

    #[test]
    fn profiles_cut_short_are_refused(profile in any_profile(), little in any::<bool>()) {
        let whole = profile.to_octets(ByteOrder::from_flag(little)).unwrap();
        prop_assert_eq!(object_key(&whole), Ok(&*profile.object_key));
        for length in 0..whole.len() {
            // Later versions may leave the components out altogether.
            let read = IiopProfile::from_octets(&whole[..length]);
            prop_assert!(read.is_err() || profile.version > Version::V1_0 && read.unwrap().components.is_empty());
        }
    }

    #[test]
    fn any_text_is_parsed_or_refused(
        text in r"[a-z0-9:/@.,%#\[\]\\é]{0,40}",
        prefix in prop::sample::select(vec!["IOR:", "corbaloc:", "corbaname:", "corbaloc::", "corbaname::h#", ""]),
    ) {
        let text = format!("{prefix}{text}");
        let _ = text.parse::<Ior>();
        if let Ok(location) = text.parse::<Corbaloc>() {
            prop_assert_eq!(location.to_string().parse(), Ok(location));
        }
        if let Ok(name) = text.parse::<Corbaname>() {
            prop_assert_eq!(name.to_string().parse(), Ok(name));
        }
        if let Ok(name) = parse_name(&text) {
            prop_assert_eq!(parse_name(&name_to_string(&name)), Ok(name));
        }
    }

    #[test]
    fn any_octets_are_decoded_or_refused(
        octets in prop::collection::vec(prop_oneof![3 => 0_u8..4, 1 => any::<u8>()], 0..80),
    ) {
        let _ = Ior::from_octets(&octets);
        let _ = IiopProfile::from_octets(&octets).map(|profile| profile.addresses());
        let _ = object_key(&octets);
        let _ = read_multiple_components(&octets);
        let _ = CodeSetComponentInfo::from_octets(&octets).map(|server| negotiate(&server));
        let _ = CodeSetContext::from_octets(&octets).map(|context| context.code_sets(Version::V1_2));
        let _ = (read_orb_type(&octets), read_alternate_address(&octets), read_unix_address(&octets));
    }
}
