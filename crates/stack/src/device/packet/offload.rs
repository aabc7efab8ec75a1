//! What the kernel left to hardware.

use crate::Message;

/// Bytes of the remarks before each frame: `virtio_net_hdr`.
pub(super) const OFFLOAD: usize = 10;
/// In its flags: the checksum is still to be computed.
const NEEDS_CHECKSUM: u8 = 1;
/// In its flags: the checksum was found right by hardware.
const CHECKSUM_IS_RIGHT: u8 = 2;
/// In its kind of segments: congestion is told by a bit, which changes nothing here.
const TELLS_CONGESTION: u8 = 0x80;

/// The kernel's remarks on a frame (virtio 1.2, 5.1.6), in the machine's order of bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offload {
    flags: u8,
    segments: u8,
    /// Payload of each segment.
    pub(super) size: u16,
    /// What the checksum covers begins here and ends with the frame.
    pub(super) start: u16,
    /// Where the checksum lies behind that.
    place: u16,
}

/// A VLAN tag as on the wire: the EtherType of tags, and the tag.
pub(super) type Tag = [u8; 4];

impl Offload {
    pub(super) fn of(bytes: [u8; OFFLOAD]) -> Self {
        let [flags, segments, _, _, s0, s1, c0, c1, p0, p1] = bytes;
        let word = |a, b| u16::from_ne_bytes([a, b]);
        Self { flags, segments, size: word(s0, s1), start: word(c0, c1), place: word(p0, p1) }
    }

    /// Whether the frame is several in one piece.
    pub(super) fn has_segments(&self) -> bool {
        self.kind() != 0
    }

    /// What kind of segments: one of `VIRTIO_NET_HDR_GSO_*`.
    pub(super) fn kind(&self) -> u8 {
        self.segments & !TELLS_CONGESTION
    }

    /// Whether the kernel vouches for the transport's checksum: it is right, or still to be computed, which means that the
    /// frame has never been on a wire.
    pub(super) fn vouches(&self) -> bool {
        self.flags & (NEEDS_CHECKSUM | CHECKSUM_IS_RIGHT) != 0
    }

    pub(super) fn needs_checksum(&self) -> bool {
        self.flags & NEEDS_CHECKSUM != 0
    }

    /// Computes the checksum, if that is left to do. Its place has the sum of the pseudo header.
    ///
    /// Whether the remarks make sense.
    pub(super) fn complete(&self, frame: &mut [u8]) -> bool {
        if !self.needs_checksum() {
            return true;
        }
        let place = usize::from(self.start) + usize::from(self.place);
        let Some(covered) = frame.get(usize::from(self.start)..).filter(|_| place + 2 <= frame.len()) else {
            return false;
        };
        let sum = !crate::manipulate::checksum(covered);
        // 0 would say that there is none.
        let sum = if sum == 0 { 0xffff } else { sum };
        frame[place..place + 2].copy_from_slice(&sum.to_be_bytes());
        true
    }
}

/// Puts a tag back to where it was; whether there is room for it.
pub(super) fn insert(tag: Option<Tag>, message: &mut Message) -> bool {
    let Some(tag) = tag else { return true };
    let len = message.len();
    if len < 12 || message.append(&[0; 4]).is_err() {
        return false;
    }
    let frame = message.bytes_mut();
    frame.copy_within(12..len, 16);
    frame[12..16].copy_from_slice(&tag);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offload(flags: u8, start: u16, place: u16) -> Offload {
        Offload { flags, segments: 0, size: 0, start, place }
    }

    #[test]
    fn a_checksum_is_completed_where_the_remarks_say() {
        let mut frame = vec![0; 14];
        // The sum of a pseudo header, 0x0102, in the place of the checksum.
        frame.extend([0x11, 0x22, 0x33, 0x44, 0x01, 0x02, 0x55]);
        assert!(offload(0, 9999, 9999).complete(&mut frame.clone()), "nothing to do");
        assert!(offload(1, 14, 4).complete(&mut frame));
        let sum = !(0x1122_u16 + 0x3344 + 0x0102 + 0x5500);
        assert_eq!(frame[18..20], sum.to_be_bytes());
    }

    #[test]
    fn a_checksum_of_nought_is_told_as_its_other_form() {
        let mut frame = [0xff, 0xff, 0, 0];
        assert!(offload(1, 0, 2).complete(&mut frame));
        assert_eq!(frame, [0xff; 4]);
    }

    #[test]
    fn remarks_that_point_outside_the_frame() {
        for (start, place) in [(20, 0), (15, 4), (0, 19), (u16::MAX, u16::MAX)] {
            assert!(!offload(1, start, place).complete(&mut [0; 20]), "{start} {place}");
        }
        assert!(offload(1, 14, 4).complete(&mut [0; 20]));
    }

    #[test]
    fn a_tag_goes_between_addresses_and_type() {
        let mut message = Message::with_capacity(2, 2 + 20);
        message.append(&[1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 8, 0, 9, 9]).unwrap();
        assert!(insert(None, &mut message));
        assert!(insert(Some([0x81, 0, 0x30, 5]), &mut message));
        let tagged = [1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 0x81, 0, 0x30, 5, 8, 0, 9, 9];
        assert_eq!(message.bytes(), tagged);
        assert!(!insert(Some([0x81, 0, 0, 6]), &mut message), "no room");
    }
}
