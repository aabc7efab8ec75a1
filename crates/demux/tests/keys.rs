//! The ready-made keys and the hash functions.
#![cfg(not(loom))]

use std::{collections::HashSet, net::Ipv6Addr};

use throughline_demux::{
    AnyHash, Bytes, Carried, EthernetAddress, FlowId, HashKind, Ipv4Connection, Ipv4Flow, Ipv6Connection,
    Ipv6Flow, Key, KeyHash, TooLong,
};

fn ipv4(n: u32) -> Ipv4Flow {
    Ipv4Flow::new((0x0a00_0000 + n).into(), 40_000, [10, 1, 2, 3].into(), 80, 6)
}

#[test]
fn fields_come_out_as_they_went_in() {
    let flow = ipv4(1);
    assert_eq!((flow.source(), flow.source_port()), ([10, 0, 0, 1].into(), 40_000));
    assert_eq!((flow.destination(), flow.destination_port()), ([10, 1, 2, 3].into(), 80));
    assert_eq!(flow.protocol(), 6);
    assert_eq!(flow.as_bytes(), &[10, 0, 0, 1, 10, 1, 2, 3, 0x9c, 0x40, 0, 80, 6, 0, 0, 0]);
    assert_eq!(format!("{flow:?}"), "10.0.0.1:40000 > 10.1.2.3:80 protocol 6");
    let back = flow.reversed();
    assert_eq!((back.source(), back.source_port()), (flow.destination(), 80));
    assert_eq!((back.destination(), back.destination_port(), back.protocol()), (flow.source(), 40_000, 6));
    assert_eq!(flow.reversed().reversed(), flow);
    let (here, there) = (Ipv6Addr::LOCALHOST, Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 1));
    let flow = Ipv6Flow::new(here, 1, there, 2, 17);
    assert_eq!((flow.source(), flow.destination(), flow.protocol()), (here, there, 17));
    assert_eq!(format!("{:?}", Ipv6Connection::new(here, 1, there, 2)), "[::1]:1 > [fe80::1]:2");
    assert_eq!(format!("{:?}", EthernetAddress::new([1, 2, 3, 4, 5, 255])), "01:02:03:04:05:ff");
    assert!(EthernetAddress::new([1, 0, 0, 0, 0, 0]).is_multicast());
    assert!(!EthernetAddress::new([2, 1, 1, 1, 1, 1]).is_multicast());
}

#[test]
fn sizes() {
    assert_eq!(size_of::<Ipv4Connection>(), 12);
    assert_eq!(size_of::<FlowId>(), 12);
    assert_eq!(size_of::<Ipv4Flow>(), 16);
    assert_eq!(size_of::<Ipv6Connection>(), 36);
    assert_eq!(size_of::<Ipv6Flow>(), 40);
    assert_eq!(size_of::<EthernetAddress>(), 6);
}

/// Each octet counts, whatever words a comparison takes them in, and a hash.
#[test]
fn keys_that_differ_in_one_octet_are_different() {
    fn hold<K: Key + std::fmt::Debug, const N: usize>(key: impl Fn([u8; N]) -> K) {
        let (all, hash) = ([0x5a; N], HashKind::Keyed.with_seed(1));
        assert_eq!(key(all), key(all));
        for at in 0..N {
            let mut other = all;
            other[at] ^= 1 << (at % 8);
            assert_ne!(key(all), key(other), "octet {at} of {N}");
            assert_ne!(hash.hash(&key(all)), hash.hash(&key(other)), "octet {at} of {N}");
        }
    }
    let octets = |bytes: &[u8]| <[u8; 4]>::try_from(bytes).expect("four octets");
    let many = |bytes: &[u8]| <[u8; 16]>::try_from(bytes).expect("sixteen octets");
    let port = |bytes: &[u8]| u16::from_be_bytes([bytes[0], bytes[1]]);
    hold(FlowId::new);
    hold(EthernetAddress::new);
    hold(|b: [u8; 12]| {
        Ipv4Connection::new(octets(&b[..4]).into(), port(&b[8..]), octets(&b[4..8]).into(), port(&b[10..]))
    });
    hold(|b: [u8; 13]| {
        Ipv4Flow::new(octets(&b[..4]).into(), port(&b[8..]), octets(&b[4..8]).into(), port(&b[10..]), b[12])
    });
    hold(|b: [u8; 36]| {
        Ipv6Connection::new(many(&b[..16]).into(), port(&b[32..]), many(&b[16..32]).into(), port(&b[34..]))
    });
    hold(|b: [u8; 37]| {
        Ipv6Flow::new(many(&b[..16]).into(), port(&b[32..]), many(&b[16..32]).into(), port(&b[34..]), b[36])
    });
}

#[test]
fn byte_strings() {
    let key = Bytes::<8>::new(b"account").unwrap();
    assert_eq!(key.as_bytes(), b"account");
    assert_eq!(Bytes::<8>::new(b"account-1"), Err(TooLong));
    assert_ne!(Bytes::<8>::new(b"a").unwrap(), Bytes::new(b"a\0").unwrap());
    assert_eq!(format!("{key:?}"), "b\"account\"");
    let hash = HashKind::Keyed.with_seed(1);
    let [one, longer, other] =
        [&b"a"[..], b"a\0", b"b"].map(|bytes| hash.hash(&Bytes::<8>::new(bytes).unwrap()));
    assert!(one != longer && one != other);
}

#[test]
fn an_index_is_no_part_of_the_key() {
    let [one, two] = [1, 2].map(|index| Carried { index, key: ipv4(7) });
    assert_eq!(one, two);
    assert_eq!((one.index(), two.index(), ipv4(7).index()), (Some(1), Some(2), None));
    let hash = HashKind::Keyed.with_seed(1);
    assert_eq!(hash.hash(&one), hash.hash(&two));
}

/// Known values, over the bytes in network order.
#[test]
fn hashes_of_the_literature() {
    let bytes = |hash: HashKind, text: &[u8]| {
        use std::hash::{BuildHasher, Hasher};
        fn of<B: BuildHasher>(hash: B, text: &[u8]) -> u64 {
            let mut hasher = hash.build_hasher();
            hasher.write(text);
            hasher.finish()
        }
        match hash.with_seed(0) {
            AnyHash::Crc32(hash) => of(hash, text),
            AnyHash::Fnv1a(hash) => of(hash, text),
            AnyHash::XorFold(hash) => of(hash, text),
            _ => unreachable!(),
        }
    };
    assert_eq!(bytes(HashKind::Crc32, b"123456789"), 0xcbf4_3926);
    assert_eq!(bytes(HashKind::Fnv1a, b"foobar"), 0x8594_4171_f739_67e8);
    assert_eq!(bytes(HashKind::XorFold, &[0x12, 0x34, 0x01, 0x01, 0xff]), 0xec35);
    // Port by port and half by half: 0x0a00 ^ 0x0001 ^ 0x0a01 ^ 0x0203 ^ 0x9c40 ^ 0x0050 ^ 0x0600.
    assert_eq!(HashKind::XorFold.with_seed(0).hash(&ipv4(1)), 0x9813);
}

#[test]
fn good_hashes_tell_neighbours_apart() {
    for kind in [HashKind::Keyed, HashKind::Crc32, HashKind::Fnv1a, HashKind::Multiplicative] {
        let hash = kind.with_seed(3);
        let distinct: HashSet<u64> = (0..10_000).map(|n| hash.hash(&ipv4(n))).collect();
        assert!(distinct.len() > 9_990, "{kind}: {}", distinct.len());
    }
    let [one, two] = [1, 2].map(|seed| HashKind::Keyed.with_seed(seed).hash(&ipv4(1)));
    assert_ne!(one, two);
}
