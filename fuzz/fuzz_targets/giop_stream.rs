//! A connection: octets cut anywhere into what single receive calls bring. However they are cut, the same messages come
//! out, and memory stays in proportion.
#![no_main]

use libfuzzer_sys::fuzz_target;
use throughline_giop::connection::{Incoming, ProtocolError, Role};
use throughline_giop::fragment::{FragmentLimits, split};

const LIMITS: FragmentLimits = FragmentLimits { max_message: 4096, max_total: 8192, max_messages: 4 };

fn receive(mut octets: &[u8], step: usize) -> (Vec<Vec<u8>>, Option<ProtocolError>) {
    let mut incoming = Incoming::new(Role::Both, LIMITS);
    let mut messages = vec![];
    loop {
        match incoming.next() {
            Ok(Some(frame)) => messages.push(frame.to_vec()),
            Ok(None) if octets.is_empty() => return (messages, None),
            Ok(None) => {
                let missing = incoming.missing();
                let space = incoming.space();
                assert!(space.len() <= 256 << 10, "memory for what has not arrived");
                let count = octets.len().min(step).min(missing.max(1)).min(space.len());
                space[..count].copy_from_slice(&octets[..count]);
                incoming.filled(count);
                octets = &octets[count..];
            }
            Err(error) => return (messages, Some(error)),
        }
    }
}

fuzz_target!(|input: (u8, u8, &[u8])| {
    let (step, max_len, octets) = input;
    let (messages, end) = receive(octets, usize::MAX);
    assert_eq!(receive(octets, usize::from(step).max(1)), (messages.clone(), end));

    // What came out whole is the same again after having been in pieces.
    for message in messages {
        let header = throughline_giop::MessageHeader::of(&message, usize::MAX).expect("it was received");
        let pieces: Vec<u8> = split(&header, &message, usize::from(max_len))
            .flat_map(|piece| [piece.header(), piece.data].concat())
            .collect();
        // Reserved flags are not kept.
        let expected = [&header.to_octets(), &message[throughline_giop::HEADER_LEN..]].concat();
        assert_eq!(receive(&pieces, usize::MAX), (vec![expected], None));
    }
});
