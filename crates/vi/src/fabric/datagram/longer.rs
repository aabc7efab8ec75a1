//! Memory for messages that are longer than the buffers posted for them: their octets go there from the datagrams they came in.

use super::message::Place;
use crate::{
    ProtectionTag,
    memory::Spare,
    reliable::{Lengthen, Longer},
};

/// So many of the longest such messages have room, or more shorter ones, be they there in part or not yet taken; and the one that
/// is waited for always. What the application has taken and keeps is its own.
const LONGEST: usize = 3;

/// Gives messages of up to `limit` octets buffers in memory of this tag: those in stock, which are as long as the longest message, or
/// others of the message's length.
pub(super) fn lengthen(limit: u32, tag: ProtectionTag) -> Lengthen<Place> {
    let mut spare = Spare::new(LONGEST as u32, limit, tag);
    Box::new(move |place, Longer { octets, untaken, next }| {
        let Place::Lent(descriptor) = place else { return true };
        if !spare.suits(octets, descriptor) {
            return true;
        }
        let has_room = next || untaken.saturating_add(octets) <= LONGEST * spare.limit();
        has_room && spare.buffer_for(octets).map(|buffer| descriptor.buffer = buffer).is_some()
    })
}
