//! Ciphers in pieces, and sealed records.

use ring::aead::{AES_128_GCM, Aad, Algorithm, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use throughline_stack::manipulate::{Checksum, Cipher, Forged, Opener, Pass, Swap, TAG, checksum, open};

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap()).collect()
}

/// RFC 8439, 2.3.2, whose counter begins with 1: the second block of the stream.
#[test]
fn chacha20() {
    let key: Vec<u8> = (0..32).collect();
    let nonce = [0, 0, 0, 9, 0, 0, 0, 0x4a, 0, 0, 0, 0];
    let mut cipher = Cipher::new(key.as_slice().try_into().unwrap(), &nonce);
    let mut stream = [0; 128];
    let (first, second) = stream.split_at_mut(64);
    cipher.in_place(first);
    cipher.copy(&[0; 64], second);
    let expected = "10f1e7e4 d13b5915 500fdd1f a32071c4 c7d1f4c7 33c06803 0422aa9a c3d46c4e
                    d2826446 079faa09 14c2d705 d98b02a2 b5129cd1 de164eb9 cbd083e8 a2503c4e";
    assert_eq!(stream[64..], hex(expected));
}

const NONCE: [u8; 12] = [7; 12];

fn key(algorithm: &'static Algorithm) -> LessSafeKey {
    LessSafeKey::new(UnboundKey::new(algorithm, &vec![5; algorithm.key_len()]).unwrap())
}

/// Records of so many bytes, each with its tag, as TLS 1.3 counts them.
fn seal(algorithm: &'static Algorithm, data: &[u8], size: usize) -> Vec<u8> {
    let mut sealed = Vec::new();
    for (number, record) in (0_u64..).zip(data.chunks(size)) {
        let mut nonce = NONCE;
        nonce[4..].iter_mut().zip(number.to_be_bytes()).for_each(|(byte, number)| *byte ^= number);
        let mut record = record.to_vec();
        key(algorithm)
            .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut record)
            .unwrap();
        sealed.extend(record);
    }
    sealed
}

#[test]
fn records_are_opened_and_manipulated() {
    for algorithm in [&AES_128_GCM, &CHACHA20_POLY1305] {
        for (len, size) in [(0, 16), (1, 16), (1000, 1000), (1001, 1000), (9999, 1024), (70_000, 16_384)] {
            let data: Vec<u8> = (0..len as u32).map(|n| (n * 17) as u8).collect();
            let sealed = seal(algorithm, &data, size);
            let mut place = vec![0xaa; len];
            let mut stages = (Checksum::default(), Swap::<4>);
            let mut opener = Opener::new(key(algorithm), NONCE);
            assert_eq!(open(&mut opener, size, &mut stages, &sealed, &mut place), Ok(len), "{len} {size}");
            assert_eq!(stages.0.sum(), checksum(&data));
            let mut plain = data;
            plain.chunks_mut(size).for_each(|record| record.chunks_exact_mut(4).for_each(<[u8]>::reverse));
            assert!(place == plain, "{len} {size}");
        }
    }
}

#[test]
fn forged_records_leave_nothing_behind() {
    let data = vec![9; 3000];
    let sealed = seal(&CHACHA20_POLY1305, &data, 1000);
    for at in [0, 999, 1000, 1015, 1016, 2500, 3047] {
        let mut forged = sealed.clone();
        forged[at] ^= 1;
        let mut place = vec![0xaa; 3000];
        let mut opener = Opener::new(key(&CHACHA20_POLY1305), NONCE);
        let record = at / 1016;
        assert_eq!(open(&mut opener, 1000, &mut (), &forged, &mut place), Err(Forged(record as u64)));
        assert!(place[..record * 1000].iter().all(|byte| *byte == 9));
        assert!(place[record * 1000..].iter().all(|byte| *byte == 0));
    }
    let mut swapped = sealed[1016..2032].to_vec();
    swapped.extend(&sealed[..1016]);
    let mut opener = Opener::new(key(&CHACHA20_POLY1305), NONCE);
    assert_eq!(open(&mut opener, 1000, &mut (), &swapped, &mut [0; 2000]), Err(Forged(0)));
    opener.seek(1);
    assert_eq!(open(&mut opener, 1000, &mut (), &swapped[..1016], &mut [0; 1000]), Ok(1000));
    let mut opener = Opener::new(key(&CHACHA20_POLY1305), NONCE);
    let cut = &sealed[..1016 + TAG - 1];
    assert_eq!(open(&mut opener, 1000, &mut (), cut, &mut [0; 2000]), Err(Forged(1)));
}
