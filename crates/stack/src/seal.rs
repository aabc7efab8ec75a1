//! Messages that came sealed, while they are.

use crate::{
    Message,
    associations::HEADER,
    manipulate::{Checksum, TAG, checksum},
    message::Seal,
};

impl Message {
    /// Leaves a record whose header was taken off, and whose tag is at its end, to be opened by whoever takes the data. If it is
    /// to be checked too, header and tag become part of what is known of its sum.
    pub(crate) fn leave_sealed(&mut self) {
        let data = self.len() - TAG;
        let known = self.unchecked().map(|sum| {
            let (header, tag) = (self.since(self.position() - HEADER), &self.bytes()[data..]);
            let tag = checksum(tag);
            // Behind an odd number of bytes, first and second bytes of words are the other way round.
            let tag = if data % 2 == 1 { tag.swap_bytes() } else { tag };
            let mut sum = Checksum::beginning_with(sum);
            sum.look(header);
            sum.look(&tag.to_be_bytes());
            sum.sum()
        });
        if let Some(sum) = known {
            self.leave_unchecked(sum);
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
