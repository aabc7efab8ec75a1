//! Labels on frames: put on, read, changed and taken off.

use proptest::prelude::*;
use throughline_forward::{
    FrameError, LABEL_ETHERTYPE, Label, Packet, insert_label, remove_label, set_index,
};
use throughline_stack::{Message, NoRoom};
use throughline_wire::{Flow, RegionKind, RegionList};

const LABEL: Label = Label { flow: Flow { id: 0x0102_0304_0506_0708, source_hash: 0xcafe }, threaded: false };

fn frame(ethertype: u16, packet: &[u8]) -> Message {
    let mut bytes = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
    bytes.extend(ethertype.to_be_bytes());
    bytes.extend(packet);
    Message::copied(64, &bytes)
}

#[test]
fn a_label_goes_on_and_comes_off() {
    let mut message = frame(0x0800, b"packet");
    let before = message.bytes().to_vec();
    let mut regions = RegionList::new();
    regions.push(RegionKind::Payload, 0, 2, 4).unwrap();
    insert_label(&mut message, LABEL, &regions).unwrap();
    assert_eq!(message.bytes()[12..14], LABEL_ETHERTYPE.to_be_bytes());

    let packet = Packet::of(message.bytes()).unwrap();
    assert_eq!((packet.ethertype, packet.bytes(), packet.label), (0x0800, &b"packet"[..], Some(LABEL)));
    let payload = packet.regions.find(RegionKind::Payload).unwrap();
    assert_eq!(payload.of(&message.bytes()[14..]), Some(&b"cket"[..]));

    remove_label(&mut message).unwrap();
    assert_eq!(message.bytes(), before);
    remove_label(&mut message).unwrap();
    assert_eq!(message.bytes(), before);
}

#[test]
fn an_index_is_replaced_where_it_lies() {
    let mut message = frame(0x0800, b"packet");
    insert_label(&mut message, Label { threaded: true, ..LABEL }, &RegionList::new()).unwrap();
    set_index(message.bytes_mut(), 0xdead_beef);
    let label = Packet::of(message.bytes()).unwrap().label.unwrap();
    assert_eq!((label.flow.source_hash, label.threaded), (0xdead_beef, true));
}

#[test]
fn the_flow_label_of_ipv6_is_a_label() {
    let mut packet = vec![0x60, 0x0a, 0xbc, 0xde];
    packet.resize(40, 0);
    let message = frame(0x86dd, &packet);
    let label = Packet::of(message.bytes()).unwrap().label.unwrap();
    assert_eq!((label.flow.source_hash, label.flow.id), (0xabcde, 0xabcde));
    packet[1..4].fill(0);
    assert_eq!(Packet::of(frame(0x86dd, &packet).bytes()).unwrap().label, None);
    assert_eq!(Packet::of(frame(0x86dd, &[0x60]).bytes()).unwrap().label, None);
}

#[test]
fn what_is_no_label_is_refused() {
    assert_eq!(Packet::of(&[0; 13]).unwrap_err(), FrameError::TooShort(13));
    assert!(matches!(Packet::of(frame(LABEL_ETHERTYPE, &[1; 30]).bytes()), Err(FrameError::Label(_))));
    let mut twice = frame(0x0800, b"");
    insert_label(&mut twice, LABEL, &RegionList::new()).unwrap();
    insert_label(&mut twice, LABEL, &RegionList::new()).unwrap();
    assert_eq!(Packet::of(twice.bytes()).unwrap_err(), FrameError::NotAPacket);
}

#[test]
fn a_label_whose_regions_lie_outside_leaves_the_frame_as_it_is() {
    let mut message = frame(0x0800, b"packet");
    let before = message.bytes().to_vec();
    for (offset, length, missing) in [(0, 7, 1), (6, 1, 1), (7, 0, 1), (u32::MAX, 0, u32::MAX - 6)] {
        let mut regions = RegionList::new();
        regions.push(RegionKind::Payload, 0, 0, 6).unwrap();
        regions.push(RegionKind::Check, 0, offset, length).unwrap();
        assert_eq!(insert_label(&mut message, LABEL, &regions), Err(NoRoom(missing as usize)));
        assert_eq!(message.bytes(), before);
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let mut labelled = frame(LABEL_ETHERTYPE, &bytes);
        if let Ok(packet) = Packet::of(labelled.bytes()) {
            prop_assert!(packet.offset <= labelled.len());
            remove_label(&mut labelled).unwrap();
        }
    }
}
