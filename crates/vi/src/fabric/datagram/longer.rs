//! Memory for messages that are longer than the buffers posted for them: their octets go there from the datagrams they came in.

use super::message::Place;
use crate::{ProtectionTag, memory::Spare, reliable::Lengthen};

/// So many such messages of a VI may be there in part, or not yet taken; one more if that is the one that is waited for. What the
/// application has taken and keeps is its own.
const LONGER: u32 = 3;

/// Gives messages of up to `limit` octets buffers in memory of this tag.
pub(super) fn lengthen(limit: u32, tag: ProtectionTag) -> Lengthen<Place> {
    let mut spare = Spare::new(LONGER, limit, tag);
    Box::new(move |place, octets, oldest| {
        let Place::Lent(descriptor) = place else { return true };
        if !spare.suits(octets, descriptor) {
            return true;
        }
        let longer = spare.buffer_at_hand().or_else(|| if oldest { spare.one_more() } else { None });
        let found = longer.is_some();
        if let Some(buffer) = longer {
            descriptor.buffer = buffer;
        }
        found
    })
}
