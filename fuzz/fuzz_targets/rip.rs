//! Messages of RIP version 2 and RIPng: what is read is the same once written.
#![no_main]

use libfuzzer_sys::fuzz_target;
use throughline_forward::routing::{
    authentication::{Algorithm, Authentication, Key, Password},
    rip::{self, Message, MessageError, RouteEntry, Sequences},
};
use throughline_stack::smoltcp::wire::IpAddress;

const FROM: IpAddress = IpAddress::v4(10, 0, 0, 2);

fuzz_target!(|bytes: &[u8]| {
    let key = |algorithm| Authentication::Keyed(vec![Key { id: 1, algorithm, secret: vec![1] }]);
    let password = Authentication::Password(Password([0; 16]));
    for authentication in
        [Authentication::None, password, key(Algorithm::KeyedMd5), key(Algorithm::HmacSha256)]
    {
        let read = |bytes: &[u8]| rip::read_v2(bytes, &authentication, FROM, &mut Sequences::new(1));
        again(read(bytes), |m, entries| rip::write_v2(m.command, entries, &authentication, &mut 0), read);
    }
    again(rip::read_ng(bytes), |m, entries| rip::write_ng(m.command, &without_hops(entries)), rip::read_ng);
});

/// The next hops of RIPng are entries of their own, which we don't write.
fn without_hops(entries: &[RouteEntry]) -> Vec<RouteEntry> {
    entries.iter().map(|entry| RouteEntry { next_hop: None, ..*entry }).collect()
}

fn again(
    read: Result<Message, MessageError>,
    write: impl Fn(&Message, &[RouteEntry]) -> Vec<Vec<u8>>,
    again: impl Fn(&[u8]) -> Result<Message, MessageError>,
) {
    let Ok(message) = read else { return };
    let good: Vec<RouteEntry> = message.entries.iter().filter_map(|entry| entry.ok()).collect();
    if good.is_empty() {
        return;
    }
    let written = write(&message, &good);
    let read: Vec<_> =
        written.iter().flat_map(|bytes| again(bytes).expect("as we write it").entries).collect();
    assert_eq!(read.len(), good.len());
    for (read, good) in read.iter().zip(&good) {
        // Of requests, bits behind the prefix may be there.
        let read = read.expect("as we write it");
        assert_eq!((read.prefix, read.metric, read.tag), (good.prefix, good.metric, good.tag));
    }
}
