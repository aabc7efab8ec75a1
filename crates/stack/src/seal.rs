//! Messages that came sealed, while they are.

use crate::{Message, associations::HEADER, manipulate::TAG, message::Seal};

impl Message {
    /// Leaves a record whose header was taken off, and whose tag is at its end, to be opened by whoever takes the data. If it is
    /// to be checked too, header and tag become part of what is known of its sum.
    pub(crate) fn leave_sealed(&mut self) {
        let data = self.len() - TAG;
        if let Some(sum) = self.unchecked() {
            let header = words(self.since(self.position() - HEADER));
            let tag = words(&self.bytes()[data..]);
            // Behind an odd number of bytes, first and second bytes of words are the other way round.
            let tag = if data % 2 == 1 { tag.rotate_left(8) } else { tag };
            self.leave_unchecked(fold(u128::from(sum) + u128::from(header) + u128::from(tag)));
        }
        self.truncate(data);
        self.seal = Seal::Shut;
    }

    /// Header, data and tag of what was [left sealed](Self::leave_sealed).
    pub(crate) fn sealed_parts(&mut self) -> ([u8; HEADER], &mut [u8], [u8; TAG]) {
        let (before, data, behind) = self.surroundings();
        let header = before.last_chunk().expect("the header was taken off");
        let tag = behind.first_chunk().expect("the tag was taken off");
        (*header, data, *tag)
    }
}

/// The sum of words of 32 bits, of which there are few: that of their halves is the same modulo 2^16 - 1.
#[inline]
fn words(bytes: &[u8]) -> u64 {
    let (words, _) = bytes.as_chunks();
    words.iter().map(|word| u64::from(u32::from_be_bytes(*word))).sum()
}

/// To 16 bits, carries added again.
#[inline]
fn fold(sum: u128) -> u16 {
    // What is congruent modulo 2^64 - 1 is modulo 2^16 - 1.
    let sum = (sum & u128::from(u64::MAX)) + (sum >> 64);
    let sum = (sum as u64 & 0xffff_ffff) + (sum as u64 >> 32) + (sum >> 64) as u64;
    let sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
    let sum = (sum & 0xffff) + (sum >> 16);
    ((sum & 0xffff) + (sum >> 16)) as u16
}
