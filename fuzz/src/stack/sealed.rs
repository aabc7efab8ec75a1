//! Sealed messages, of strangers who have a key of ours and of those who have none.

use ring::aead::{AES_128_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use throughline_stack::{Aead, Key, Keys};

use super::{
    Target,
    input::Input,
    internet::packet,
    link::STRANGERS,
    transport::{OPENED_FROM, OPENED_TO, cut, datagram},
};

/// The port that we listen at with keys that strangers have too, and that of keys that only somebody honest has.
pub const SHARED_AT: u16 = 4500;
pub const PRIVATE_AT: u16 = 4501;

pub const SEALED: Target = Target {
    graphs: &[
        "sealed(limit=8) > udp(limit=8) > ipv4(limit=8) > eth(limit=8); icmp > ipv4; arp > eth",
        "sealed(limit=8) > udp(limit=8) > ipv4(limit=8) > ethdaa(limit=8); icmp > ipv4; arp > eth(limit=8)",
        "sealed(limit=8) > udp(limit=8) > ipv6(limit=8) > eth(limit=8); icmp6 > ipv6",
        "sealed(limit=8) > udp(limit=8) > ipv6(limit=8) > ethdaa(limit=8); icmp6 > ipv6 > eth(limit=8)",
    ],
    frame: |input, world| {
        let stranger = STRANGERS + input.byte() % 4;
        let (from, to) = *input.pick(&[
            (1000, SHARED_AT),
            (1001, SHARED_AT),
            (OPENED_TO, OPENED_FROM + 3),
            (1000, PRIVATE_AT),
            (1000, 7),
        ]);
        let ends = world.ends(stranger);
        let record = record(input, to);
        let packet = packet(ends, 17, &datagram(ends, (from, to), cut(input, &record)));
        world.frame(input, stranger, &packet)
    },
    honest: "sealed",
    most: 1 << 18,
};

/// Ours of a port; the id by which we receive is the port's number.
pub fn keys(port: u16) -> Keys {
    let key = |id| Key::new(id, Aead::Aes128Gcm, &material(id)).unwrap();
    Keys::new(key(port.into()), key(u32::from(port) | 1 << 16)).unwrap()
}

fn material(id: u32) -> [u8; 20] {
    let mut material = [7; 20];
    material[..4].copy_from_slice(&id.to_be_bytes());
    material
}

/// A record for a port, mostly as who has the key makes it; nobody has the one of [`PRIVATE_AT`].
fn record(input: &mut Input<'_>, port: u16) -> Vec<u8> {
    let odd = [port, SHARED_AT, PRIVATE_AT, 0];
    let id = u32::from(if input.is_odd() { *input.pick(&odd) } else { port });
    let number = match input.byte() {
        near @ ..0xf0 => near.into(),
        _ => u64::from_be_bytes(input.bytes()),
    };
    let header = [id.to_be_bytes().as_slice(), &number.to_be_bytes()].concat();
    let mut data = input.data();
    if port == PRIVATE_AT {
        return [header, data].concat();
    }
    let key = material(id);
    let mut nonce = [0; NONCE_LEN];
    nonce[..4].copy_from_slice(&key[16..]);
    nonce[4..].copy_from_slice(&number.to_be_bytes());
    let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key[..16]).unwrap());
    let nonce = Nonce::assume_unique_for_key(nonce);
    key.seal_in_place_append_tag(nonce, Aad::from(&header), &mut data).unwrap();
    let mut record = [header, data].concat();
    if input.is_odd() {
        let at = usize::from(input.byte()) % record.len();
        record[at] ^= input.byte();
    }
    record
}
