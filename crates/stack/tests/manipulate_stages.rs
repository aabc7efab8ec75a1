//! Stages beside plain references, alone and together, at all lengths and alignments.

use proptest::prelude::*;
use throughline_stack::manipulate::{
    Checksum, Crc32c, Manipulation, Program, Sums, Swap, Xor, checksum, copy, in_place, look,
};

/// As RFC 1071 says it.
fn plain_checksum(data: &[u8]) -> u16 {
    let mut sum = 0_u32;
    for pair in data.chunks(2) {
        sum += u32::from(u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]));
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

fn plain_swap(width: usize, data: &mut [u8]) {
    data.chunks_exact_mut(width).for_each(<[u8]>::reverse);
}

fn plain_xor(mask: [u8; 8], data: &mut [u8]) {
    data.iter_mut().enumerate().for_each(|(n, byte)| *byte ^= mask[n % 8]);
}

/// Data of some length at some alignment: what is before it does not count.
fn data() -> impl Strategy<Value = (Vec<u8>, usize)> {
    let lengths = prop_oneof![0..200_usize, 1390..1410_usize, 4000..9000_usize];
    (lengths, 0..64_usize)
        .prop_flat_map(|(len, before)| (proptest::collection::vec(any::<u8>(), len + before), Just(before)))
}

#[test]
fn known_values() {
    // RFC 1071, 3.
    assert_eq!(checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), 0xddf2);
    assert_eq!((checksum(&[]), checksum(&[0x12])), (0, 0x1200));
    assert_eq!(checksum(&[0xff; 1400]), 0xffff);
    // RFC 3720, B.4.
    for (data, crc) in [([0; 32], 0x8a91_36aa), ([0xff; 32], 0x62a8_ab43)] {
        let mut stage = Crc32c::default();
        look(&mut stage, &data);
        assert_eq!(stage.value(), crc);
    }
    let mut stage = Crc32c::default();
    look(&mut stage, b"123456789");
    assert_eq!(stage.value(), 0xe306_9283);
}

#[test]
fn the_largest_sum_does_not_overflow() {
    let data = vec![0xff; 5 << 20];
    assert_eq!(checksum(&data), 0xffff);
    let mut sum = Checksum::default();
    (0..200).for_each(|_| look(&mut sum, &data));
    assert_eq!(sum.sum(), 0xffff);
}

#[test]
#[should_panic(expected = "another length")]
fn a_place_of_another_length() {
    copy(&mut (), &[1, 2, 3], &mut [0; 2]);
}

/// What headers of smoltcp say.
#[test]
fn sums_of_datagrams() {
    use smoltcp::wire::{IpAddress, Ipv4Address, UdpPacket};
    let [from, to] = [Ipv4Address::new(10, 1, 2, 3), Ipv4Address::new(192, 168, 77, 1)];
    for len in 8..300 {
        let mut bytes: Vec<u8> = (0..len as u32).map(|n| (n * 31) as u8).collect();
        let mut packet = UdpPacket::new_unchecked(&mut bytes);
        packet.set_len(len as u16);
        packet.fill_checksum(&IpAddress::from(from), &IpAddress::from(to));
        let mut pseudo = Checksum::default();
        look(&mut pseudo, &[from.octets(), to.octets(), [0, 17, (len >> 8) as u8, len as u8]].concat());
        let mut sum = Checksum::beginning_with(pseudo.sum());
        look(&mut sum, &bytes);
        assert_eq!(sum.sum(), 0xffff, "{len} bytes");
    }
}

proptest! {
    #[test]
    fn each_alone((data, before) in data(), mask in any::<[u8; 8]>()) {
        let data = &data[before..];
        prop_assert_eq!(checksum(data), plain_checksum(data));
        let mut crc = Crc32c::default();
        look(&mut crc, data);
        prop_assert_eq!(crc.value(), crc32c::crc32c(data));
        let mut mine = data.to_vec();
        let mut plain = data.to_vec();
        in_place(&mut Swap::<2>, &mut mine);
        plain_swap(2, &mut plain);
        prop_assert_eq!(&mine, &plain);
        in_place(&mut Swap::<4>, &mut mine);
        plain_swap(4, &mut plain);
        prop_assert_eq!(&mine, &plain);
        in_place(&mut Swap::<8>, &mut mine);
        plain_swap(8, &mut plain);
        prop_assert_eq!(&mine, &plain);
        in_place(&mut Xor::new(mask), &mut mine);
        plain_xor(mask, &mut plain);
        prop_assert_eq!(&mine, &plain);
    }

    /// Source and destination at any alignment, and nothing beside the destination is written.
    #[test]
    fn together((data, before) in data(), after in 0..64_usize) {
        let data = &data[before..];
        let mut place = vec![0xaa; after + data.len() + 64];
        let mut stages = (Checksum::default(), Swap::<4>, Crc32c::default());
        copy(&mut stages, data, &mut place[after..after + data.len()]);
        let mut plain = data.to_vec();
        plain_swap(4, &mut plain);
        prop_assert_eq!(stages.0.sum(), plain_checksum(data));
        prop_assert_eq!(&place[after..after + data.len()], &plain[..]);
        prop_assert_eq!(stages.2.value(), crc32c::crc32c(&plain));
        prop_assert!(place[..after].iter().chain(&place[after + data.len()..]).all(|byte| *byte == 0xaa));
    }

    /// Sums go on over pieces of any length.
    #[test]
    fn sums_in_pieces((data, before) in data(), cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..6)) {
        let data = &data[before..];
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(data.len() + 1)).collect();
        cuts.extend([0, data.len()]);
        cuts.sort_unstable();
        let mut sums = (Checksum::beginning_with(0x1234), Crc32c::beginning_with(77));
        cuts.windows(2).for_each(|cut| look(&mut sums, &data[cut[0]..cut[1]]));
        let with_sum = [&[0x12, 0x34], data].concat();
        prop_assert_eq!((sums.0.sum(), sums.1.value()), (plain_checksum(&with_sum), crc32c::crc32c_append(77, data)));
    }

    /// Any list, in one pass or in pieces, does what its parts do one after another.
    #[test]
    fn programs((data, before) in data(), list in proptest::collection::vec(0..7_u8, 0..5)) {
        let data = &data[before..];
        let list: Vec<Manipulation> = list.into_iter().map(|kind| match kind {
            0 => Manipulation::Checksum,
            1 => Manipulation::Crc32c,
            2 => Manipulation::Swap16,
            3 => Manipulation::Swap32,
            4 => Manipulation::Swap64,
            5 => Manipulation::Xor(*b"87654321"),
            _ => Manipulation::ChaCha20 { key: [3; 32], nonce: [4; 12] },
        }).collect();
        let mut sums = Sums::default();
        let mut plain = data.to_vec();
        for manipulation in &list {
            match manipulation {
                Manipulation::Checksum => sums.checksum = Some(plain_checksum(&plain)),
                Manipulation::Crc32c => sums.crc32c = Some(crc32c::crc32c(&plain)),
                Manipulation::Swap16 => plain_swap(2, &mut plain),
                Manipulation::Swap32 => plain_swap(4, &mut plain),
                Manipulation::Swap64 => plain_swap(8, &mut plain),
                Manipulation::Xor(mask) => plain_xor(*mask, &mut plain),
                _ => plain_chacha(&mut plain),
            }
        }
        let mut program = Program::new(&list);
        let mut place = vec![0; data.len()];
        program.copy(data, &mut place);
        prop_assert_eq!(program.sums(), sums);
        prop_assert!(place == plain);
        prop_assert!(program.is_fused() || list.len() > 1);
    }
}

fn plain_chacha(data: &mut [u8]) {
    use chacha20::cipher::{KeyIvInit, StreamCipher};
    chacha20::ChaCha20::new(&[3; 32].into(), &[4; 12].into()).apply_keystream(data);
}

#[test]
fn usual_lists_are_one_pass() {
    use Manipulation as M;
    for fused in [
        &[][..],
        &[M::Checksum],
        &[M::Checksum, M::Swap32],
        &[M::Swap64, M::Checksum],
        &[M::Crc32c, M::Swap16],
        &[M::Checksum, M::Crc32c, M::Swap64],
    ] {
        assert!(Program::new(fused).is_fused(), "{fused:?}");
    }
    assert!(!Program::new(&[M::Swap16, M::Swap32, M::Checksum]).is_fused());
}
