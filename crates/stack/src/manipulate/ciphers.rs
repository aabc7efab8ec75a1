//! Ciphers, which do not fit between other stages in registers: libraries' own loops, piece by piece.

use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit, StreamCipher};
use ring::aead::{Aad, LessSafeKey, NONCE_LEN, Nonce, Tag};

use super::program::{Pass, Sums};
use super::{Stage, in_place};

/// ChaCha20 (RFC 8439) as a stream: encrypts, or decrypts. By itself it does not notice changed data.
pub struct Cipher(ChaCha20);

impl Cipher {
    /// Begins a stream. No two streams under a key may have the same nonce.
    pub fn new(key: &[u8; 32], nonce: &[u8; 12]) -> Self {
        Self(ChaCha20::new(key.into(), nonce.into()))
    }
}

/// # Panics
/// After 256 GiB of one stream, where it ends.
impl Pass for Cipher {
    fn copy(&mut self, from: &[u8], to: &mut [u8]) {
        self.0.apply_keystream_b2b(from, to);
    }

    fn in_place(&mut self, data: &mut [u8]) {
        self.0.apply_keystream(data);
    }

    fn sums(&self, _sums: &mut Sums) {}
}

/// Bytes of the tag behind each record.
pub const TAG: usize = 16;

/// A record was not sealed by who has the key, or not in this place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("record {0} is not what was sealed")]
pub struct Forged(pub u64);

/// Opens sealed records: AES-GCM or ChaCha20-Poly1305, by what its key is for. The nonce of a record is the first one, XOR its
/// number in the last bytes, as in TLS 1.3 (RFC 8446, 5.3).
pub struct Opener {
    key: LessSafeKey,
    nonce: [u8; NONCE_LEN],
    next: u64,
}

impl Opener {
    /// Records from number 0 on, under this key.
    pub fn new(key: LessSafeKey, nonce: [u8; NONCE_LEN]) -> Self {
        Self { key, nonce, next: 0 }
    }

    /// Goes to the record of this number, for records that tell theirs and may be lost or come again.
    pub fn seek(&mut self, number: u64) {
        self.next = number;
    }

    /// Opens the next record where it lies.
    ///
    /// # Errors
    /// If it is forged; what is in its place then makes no sense and must not be used.
    pub fn record(&mut self, data: &mut [u8], tag: [u8; TAG]) -> Result<(), Forged> {
        self.record_behind(&[], data, tag)
    }

    /// As [`record`](Self::record), for one whose tag is over a header too that is not sealed.
    ///
    /// # Errors
    /// The same.
    pub fn record_behind(&mut self, header: &[u8], data: &mut [u8], tag: [u8; TAG]) -> Result<(), Forged> {
        let nonce = nonce(self.nonce, self.next);
        let opened = self.key.open_in_place_separate_tag(nonce, Aad::from(header), Tag::from(tag), data, 0..);
        opened.map_err(|_| Forged(self.next))?;
        self.next = self.next.wrapping_add(1);
        Ok(())
    }
}

/// Seals records for an [`Opener`]. Two that seal under one key must have different first nonces.
pub struct Sealer {
    key: LessSafeKey,
    nonce: [u8; NONCE_LEN],
    next: u64,
}

impl Sealer {
    /// Records from number 1 on, under this key.
    pub fn new(key: LessSafeKey, nonce: [u8; NONCE_LEN]) -> Self {
        Self { key, nonce, next: 1 }
    }

    /// The number of the next record; `None` when there are no more under this key.
    pub fn next(&self) -> Option<u64> {
        (self.next < u64::MAX).then_some(self.next)
    }

    /// Seals the next record where it lies; its tag, over a header too that is not sealed. `None`, and nothing was done, when there
    /// are no more numbers, or the record is longer than the key can seal (64 GiB).
    pub fn record_behind(&mut self, header: &[u8], data: &mut [u8]) -> Option<[u8; TAG]> {
        let nonce = nonce(self.nonce, self.next()?);
        // A number is used once, whatever becomes of its record.
        self.next += 1;
        let tag = self.key.seal_in_place_separate_tag(nonce, Aad::from(header), data).ok()?;
        tag.as_ref().try_into().ok()
    }
}

fn nonce(mut first: [u8; NONCE_LEN], number: u64) -> Nonce {
    let last = first.iter_mut().rev().zip(number.to_le_bytes());
    last.for_each(|(byte, number)| *byte ^= number);
    Nonce::assume_unique_for_key(first)
}

/// Opens records of `size` bytes each (the last may be shorter), each with its tag behind it, on their way to another place, and
/// runs the stages over each while it is in the cache. How many bytes there are without the tags.
///
/// # Errors
/// The first forged record. The stages have seen those before it, which are in their place; the rest of it is zeros.
///
/// # Panics
/// If the place is too small, or the size is 0.
pub fn open<S: Stage>(
    opener: &mut Opener,
    size: usize,
    stages: &mut S,
    from: &[u8],
    to: &mut [u8],
) -> Result<usize, Forged> {
    let mut done = 0;
    for record in from.chunks(size + TAG) {
        let Some((data, tag)) = record.split_last_chunk() else {
            to[done..].fill(0);
            return Err(Forged(opener.next));
        };
        let place = &mut to[done..done + data.len()];
        place.copy_from_slice(data);
        if let Err(forged) = opener.record(place, *tag) {
            to[done..].fill(0);
            return Err(forged);
        }
        in_place(stages, place);
        done += data.len();
    }
    Ok(done)
}
