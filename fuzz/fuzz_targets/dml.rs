//! Messages of the native protocol: what is read lies within the message, and is the same once written.
#![no_main]

use libfuzzer_sys::fuzz_target;
use throughline_wire::{Message, RegionList};

fuzz_target!(|bytes: &[u8]| {
    let Ok(message) = Message::read(bytes) else { return };
    let size = message.header.size_with(message.regions.len());
    assert_eq!(message.body, &bytes[size..]);
    assert!(message.regions.iter().all(|region| region.of(bytes).is_some()));
    assert!(message.payload(bytes).len() <= bytes.len());
    assert_eq!(message.header.answer(message.header.kind).flow, message.header.flow);

    let mut list = RegionList::new();
    for region in message.regions.iter() {
        // A list counts from the body on; what a stranger marked may begin before.
        let Some(offset) = region.offset.checked_sub(size as u32) else { return };
        list.push(region.kind, region.detail, offset, region.length).expect("as many as were read");
    }
    let mut again = vec![0; bytes.len()];
    let body = message.header.write_with(&list, &mut again).expect("as much room");
    body.copy_from_slice(message.body);
    assert_eq!(again, bytes);
});
