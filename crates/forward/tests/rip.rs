//! Messages of RIP: what is written is read again, and what is wrong is refused with its reason.

use proptest::prelude::*;
use throughline_forward::routing::{
    authentication::{Algorithm, Authentication, Key, Password},
    rip::{Command, EntryError, MessageError, RouteEntry, Sequences, read_ng, read_v2, write_ng, write_v2},
};
use throughline_stack::smoltcp::wire::{IpAddress, IpCidr, Ipv4Address, Ipv6Address};

const FROM: IpAddress = IpAddress::v4(10, 0, 0, 2);
const PLAIN: Authentication = Authentication::None;

fn v4(a: u8, b: u8, length: u8, metric: u8) -> RouteEntry {
    let prefix = IpCidr::new(IpAddress::v4(a, b, 0, 0), length);
    RouteEntry { prefix, next_hop: None, tag: 7, metric }
}

fn read(
    bytes: &[u8],
    authentication: &Authentication,
) -> Result<Vec<Result<RouteEntry, EntryError>>, MessageError> {
    read_v2(bytes, authentication, FROM, &mut Sequences::new(4)).map(|message| message.entries)
}

fn keyed(id: u8, algorithm: Algorithm, secret: &str) -> Authentication {
    Authentication::Keyed(vec![Key { id, algorithm, secret: secret.into() }])
}

/// A response with one entry, as RFC 2453 draws it.
fn response(entry: [u8; 20]) -> Vec<u8> {
    [&[2, 2, 0, 0][..], &entry].concat()
}

#[test]
fn the_octets_are_those_of_the_rfc() {
    let entry = RouteEntry { next_hop: Some(IpAddress::v4(10, 0, 0, 9)), ..v4(10, 1, 16, 3) };
    let written = write_v2(Command::Response, &[entry], &PLAIN, &mut 0);
    let octets = [0, 2, 0, 7, 10, 1, 0, 0, 255, 255, 0, 0, 10, 0, 0, 9, 0, 0, 0, 3];
    assert_eq!(written, [response(octets)]);
    assert_eq!(read(&written[0], &PLAIN), Ok(vec![Ok(entry)]));

    let whole = write_v2(Command::Request, &[], &PLAIN, &mut 0);
    assert_eq!(whole, [[&[1, 2, 0, 0][..], &[0; 19], &[16]].concat()]);
    assert!(read_v2(&whole[0], &PLAIN, FROM, &mut Sequences::new(4)).unwrap().whole_table);
    let whole = write_ng(Command::Request, &[]);
    assert_eq!(whole, [[&[1, 1, 0, 0][..], &[0; 19], &[16]].concat()]);
    assert!(read_ng(&whole[0]).unwrap().whole_table);
}

#[test]
fn entries_are_refused_one_by_one() {
    let wrong = |entry: [u8; 20]| read(&response(entry), &PLAIN).unwrap()[0].unwrap_err();
    let entry = |address: [u8; 4], mask: [u8; 4], metric: u8| {
        let mut entry = [0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, metric];
        entry[4..8].copy_from_slice(&address);
        entry[8..12].copy_from_slice(&mask);
        entry
    };
    let all = [255; 4];
    assert_eq!(wrong([0, 9, 0, 0, 10, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]), EntryError::Family(9));
    assert_eq!(wrong(entry([10, 0, 0, 0], [255, 0, 255, 0], 1)), EntryError::Mask);
    assert_eq!(wrong(entry([10, 0, 0, 1], [255, 0, 0, 0], 1)), EntryError::Host);
    assert_eq!(wrong(entry([10, 0, 0, 0], [255, 0, 0, 0], 0)), EntryError::Metric(0));
    assert_eq!(wrong(entry([10, 0, 0, 0], [255, 0, 0, 0], 17)), EntryError::Metric(17));
    for address in [[127, 0, 0, 1], [224, 0, 0, 9], [240, 0, 0, 1], all, [0, 1, 2, 3], [0; 4]] {
        assert_eq!(wrong(entry(address, all, 1)), EntryError::Prefix, "{address:?}");
    }
    assert!(read(&response(entry([0; 4], [0; 4], 1)), &PLAIN).unwrap()[0].is_ok(), "the default route");
    let mut huge = entry([10, 0, 0, 0], [255, 0, 0, 0], 0);
    huge[16] = 1;
    assert_eq!(wrong(huge), EntryError::Metric(255));
}

#[test]
fn messages_are_refused_as_a_whole() {
    let good = &write_v2(Command::Response, &[v4(10, 1, 16, 3)], &PLAIN, &mut 0)[0];
    let with = |at: usize, octet: u8| {
        let mut bytes = good.clone();
        bytes[at] = octet;
        read(&bytes, &PLAIN)
    };
    assert_eq!(with(0, 9), Err(MessageError::Command(9)));
    assert_eq!(with(1, 1), Err(MessageError::Version(1)));
    assert_eq!(read(&good[..3], &PLAIN), Err(MessageError::Length(3)));
    assert_eq!(read(&good[..23], &PLAIN), Err(MessageError::Length(23)));
    assert_eq!(read(&[&good[..4], &good[4..].repeat(26)].concat(), &PLAIN), Err(MessageError::TooMany(26)));
    assert_eq!(read(good, &keyed(1, Algorithm::KeyedMd5, "secret")), Err(MessageError::Authentication));
}

#[test]
fn passwords() {
    let ours = Authentication::Password(Password(*b"open sesame\0\0\0\0\0"));
    let message = &write_v2(Command::Response, &[v4(10, 1, 16, 3)], &ours, &mut 0)[0];
    assert_eq!(message[4..8], [0xff, 0xff, 0, 2]);
    assert_eq!(read(message, &ours), Ok(vec![Ok(v4(10, 1, 16, 3))]));
    let other = Authentication::Password(Password(*b"open sesamE\0\0\0\0\0"));
    assert_eq!(read(message, &other), Err(MessageError::Password));
    assert_eq!(read(message, &PLAIN), Err(MessageError::Authentication));
}

#[test]
fn digests() {
    use Algorithm::*;
    for algorithm in [KeyedMd5, HmacSha1, HmacSha256, HmacSha384, HmacSha512] {
        let ours =
            keyed(3, algorithm, "a secret that is longer than the digest of MD5 and than that of SHA-1");
        let entries: Vec<RouteEntry> = (0..30).map(|n| v4(10, n, 16, 3)).collect();
        let messages = write_v2(Command::Response, &entries, &ours, &mut 0);
        assert_eq!(messages.len(), 2);
        let message = &messages[0];
        assert_eq!(message.len(), 4 + 25 * 20 + 4 + algorithm.size());
        assert_eq!(read(message, &ours).unwrap().len(), 24);
        for at in 0..message.len() {
            let mut other = message.clone();
            other[at] ^= 1;
            // What lies behind the version is not looked at, but signed.
            assert!(read(&other, &ours).is_err(), "{algorithm:?}, octet {at}");
        }
        for length in 0..message.len() {
            assert!(read(&message[..length], &ours).is_err(), "{algorithm:?}, {length} octets");
        }
        assert_eq!(read(message, &keyed(4, algorithm, "a")), Err(MessageError::UnknownKey(3)));
        assert_eq!(read(message, &keyed(3, algorithm, "a")), Err(MessageError::Digest));
    }
}

/// The digest computed by hand: MD5 of "message, trailer, key" as RFC 2082 says, by another program.
#[test]
fn the_digest_of_md5_is_that_of_the_rfc() {
    let ours = keyed(1, Algorithm::KeyedMd5, "secret");
    let message = &write_v2(Command::Response, &[v4(10, 1, 16, 3)], &ours, &mut 41)[0];
    let digest = message[message.len() - 16..].iter().map(|octet| format!("{octet:02x}")).collect::<String>();
    assert_eq!(digest, MD5_BY_HAND);
}
// printf '\2\2\0\0\xff\xff\0\3\0\x2c\1\x10\0\0\0\x2a\0\0\0\0\0\0\0\0\0\2\0\7\x0a\1\0\0\xff\xff\0\0\0\0\0\0\0\0\0\3\xff\xff\0\1secret\0\0\0\0\0\0\0\0\0\0' | md5sum
const MD5_BY_HAND: &str = "c246e7bf1176e472153b4a4e9dfe3f43";

#[test]
fn what_was_sent_before_is_refused() {
    let ours = keyed(1, Algorithm::HmacSha256, "secret");
    let mut sequence = 10;
    let [old, new] =
        [0; 2].map(|_| write_v2(Command::Response, &[v4(10, 1, 16, 3)], &ours, &mut sequence).remove(0));
    let mut sequences = Sequences::new(1);
    let mut read = |message: &[u8], from| read_v2(message, &ours, from, &mut sequences).map(|_| ());
    assert_eq!(read(&old, FROM), Ok(()));
    assert_eq!(read(&new, FROM), Ok(()));
    assert_eq!(read(&old, FROM), Err(MessageError::Replay));
    assert_eq!(read(&new, FROM), Err(MessageError::Replay), "the last one, too");
    // Others may have the same number.
    let another = write_v2(Command::Response, &[v4(10, 2, 16, 3)], &ours, &mut (sequence - 1)).remove(0);
    assert_eq!(read(&another, FROM), Ok(()));
    assert_eq!(read(&another, FROM), Err(MessageError::Replay));
    assert_eq!(read(&new, IpAddress::v4(10, 0, 0, 3)), Err(MessageError::Authentication), "no room");
}

#[test]
fn next_hops_of_ripng() {
    let prefix = |n: u16| IpCidr::new(Ipv6Address::new(0x2001, 0xdb8, n, 0, 0, 0, 0, 0).into(), 48);
    let entry = |n| RouteEntry { prefix: prefix(n), next_hop: None, tag: 0, metric: 2 };
    let mut message = write_ng(Command::Response, &[entry(1), entry(2), entry(3)]).remove(0);
    let hop = Ipv6Address::new(0xfe80, 0, 0, 0, 0, 0, 0, 9);
    let hop_entry = |address: Ipv6Address| [&address.octets()[..], &[0, 0, 0, 255]].concat();
    message.splice(44..44, hop_entry(Ipv6Address::new(0x2001, 0, 0, 0, 0, 0, 0, 9)));
    message.splice(24..24, hop_entry(hop));
    let entries: Vec<RouteEntry> =
        read_ng(&message).unwrap().entries.into_iter().map(Result::unwrap).collect();
    assert_eq!(entries.iter().map(|e| e.next_hop).collect::<Vec<_>>(), [None, Some(hop.into()), None]);
    assert_eq!(read_ng(&message[..30]), Err(MessageError::Length(30)));
    let wrong = |address: Ipv6Address, length: u8, metric: u8| {
        let entry = [&[2, 1, 0, 0][..], &address.octets(), &[0, 0, length, metric]].concat();
        read_ng(&entry).unwrap().entries[0].unwrap_err()
    };
    let good = Ipv6Address::new(0x2001, 0, 0, 0, 0, 0, 0, 0);
    assert_eq!(wrong(good, 129, 1), EntryError::Mask);
    assert_eq!(wrong(good, 8, 1), EntryError::Host);
    assert_eq!(wrong(good, 16, 17), EntryError::Metric(17));
    for address in [Ipv6Address::LOCALHOST, hop, Ipv6Address::new(0xff02, 0, 0, 0, 0, 0, 0, 9)] {
        assert_eq!(wrong(address, 128, 1), EntryError::Prefix);
    }
}

fn any_entry() -> impl Strategy<Value = RouteEntry> {
    (1_u8..224, any::<[u8; 3]>(), 8_u8..=32, any::<u16>(), 1_u8..=16, any::<Option<[u8; 4]>>())
        .prop_filter("a prefix that may be told", |(first, ..)| *first != 127)
        .prop_map(|(first, [b, c, d], length, tag, metric, hop)| {
            let cidr =
                throughline_stack::smoltcp::wire::Ipv4Cidr::new(Ipv4Address::new(first, b, c, d), length);
            let next_hop = hop.filter(|hop| *hop != [0; 4]).map(|hop| Ipv4Address::from(hop).into());
            RouteEntry { prefix: cidr.network().into(), next_hop, tag, metric }
        })
}

proptest! {
    #[test]
    fn written_is_read(entries in prop::collection::vec(any_entry(), 1..60), kind in 0..3) {
        let authentication = match kind {
            0 => PLAIN,
            1 => Authentication::Password(Password([7; 16])),
            _ => keyed(9, Algorithm::HmacSha256, "secret"),
        };
        let messages = write_v2(Command::Response, &entries, &authentication, &mut 0);
        let again: Vec<_> = messages.iter().flat_map(|m| read(m, &authentication).unwrap()).collect();
        prop_assert_eq!(again, entries.into_iter().map(Ok).collect::<Vec<_>>());
    }

    #[test]
    fn any_bytes_are_read_or_refused(mut bytes in prop::collection::vec(any::<u8>(), 0..600), start in any::<bool>()) {
        if start && bytes.len() > 8 {
            bytes[..8].copy_from_slice(&[2, 2, 0, 0, 0xff, 0xff, 0, 3]);
        }
        for authentication in [PLAIN, Authentication::Password(Password([0; 16])), keyed(0, Algorithm::KeyedMd5, "")] {
            let _ = read(&bytes, &authentication);
        }
        let _ = read_ng(&bytes);
    }
}
