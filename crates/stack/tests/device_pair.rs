//! The wire in memory.

use std::io;

use throughline_stack::{Device, DeviceCounts, End, Message, PairConfig, Pool, pair};

fn frame(pool: &mut Pool, number: u32) -> Message {
    let mut message = pool.take();
    message.append(&[0; 60]).unwrap();
    message.bytes_mut()[..4].copy_from_slice(&number.to_be_bytes());
    message
}

fn number(message: &Message) -> u32 {
    u32::from_be_bytes(*message.bytes().first_chunk().unwrap())
}

#[test]
fn the_message_itself_goes_over() {
    let (mut a, mut b) = pair(&PairConfig::default());
    assert_ne!(a.hardware(), b.hardware());
    let (mut at_a, mut at_b) = (Pool::new(256, 16, 4), Pool::new(256, 16, 4));
    assert!(b.receive(&mut at_b).unwrap().is_none());
    let mut sent = frame(&mut at_a, 7);
    sent.push(2).unwrap().copy_from_slice(b"up");
    let memory = sent.bytes().as_ptr();
    a.send(sent, &mut at_a).unwrap();
    let came = b.receive(&mut at_b).unwrap().unwrap();
    assert_eq!((came.bytes().as_ptr(), came.len(), came.position()), (memory, 62, 14));
    assert!(a.receive(&mut at_a).unwrap().is_none());
    assert_eq!(a.counts(), DeviceCounts { sent: 1, ..Default::default() });
    assert_eq!(b.counts(), DeviceCounts { received: 1, ..Default::default() });
}

#[test]
fn what_does_not_fit_comes_back() {
    let (mut a, b) = pair(&PairConfig { mtu: 100, queue: 2, ..Default::default() });
    let mut pool = Pool::new(256, 16, 4);
    let mut long = pool.take();
    long.append(&[0; 115]).unwrap();
    let (mut long, error) = a.send(long, &mut pool).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(90));
    long.truncate(114);
    a.send(long, &mut pool).unwrap();
    let next = frame(&mut pool, 1);
    a.send(next, &mut pool).unwrap();
    let third = frame(&mut pool, 2);
    let (third, error) = a.send(third, &mut pool).unwrap_err();
    assert_eq!((number(&third), error.kind()), (2, io::ErrorKind::WouldBlock));
    drop(b);
    a.send(third, &mut pool).unwrap();
    assert_eq!(a.counts(), DeviceCounts { sent: 2, unsent: 1, ..Default::default() });
}

/// As long as it may be without the tag.
#[test]
fn a_frame_with_a_vlan_tag_is_longer_by_the_tag() {
    let (mut a, mut b) = pair(&PairConfig { mtu: 100, ..Default::default() });
    let mut pool = Pool::new(256, 16, 4);
    for (len, ethertype, goes) in
        [(118, [0x81, 0], true), (119, [0x81, 0], false), (118, [8, 0], false), (114, [8, 0], true)]
    {
        let mut frame = pool.take();
        frame.append(&vec![0; len]).unwrap();
        frame.bytes_mut()[12..14].copy_from_slice(&ethertype);
        assert_eq!(a.send(frame, &mut pool).is_ok(), goes, "{len} {ethertype:?}");
        assert_eq!(b.receive(&mut pool).unwrap().map(|frame| frame.len()), goes.then_some(len));
    }
}

/// The memory that an end has used so far, by address.
fn one_way(a: &mut End, b: &mut End, rounds: u32) -> std::collections::HashSet<*const u8> {
    let (mut at_a, mut at_b) = (Pool::new(256, 16, 64), Pool::new(256, 16, 64));
    let mut seen = std::collections::HashSet::new();
    // What has been seen is kept from the allocator, so that an address cannot come back by accident.
    let mut kept = Vec::new();
    for round in 0..rounds {
        let message = frame(&mut at_a, round);
        seen.insert(message.bytes().as_ptr());
        a.send(message, &mut at_a).unwrap();
        let came = b.receive(&mut at_b).unwrap().unwrap();
        assert_eq!(number(&came), round);
        at_b.give(came);
        kept.push(vec![0_u8; 256]);
    }
    seen
}

#[test]
fn frames_one_way_only_use_the_same_memory_again() {
    let (mut a, mut b) = pair(&PairConfig::default());
    let few = one_way(&mut a, &mut b, 200).len();
    let (mut a, mut b) = pair(&PairConfig::default());
    let many = one_way(&mut a, &mut b, 2_000).len();
    assert!(few < 150 && many <= few, "{few} buffers for 200 frames, {many} for 2,000");
}

#[test]
fn two_threads() {
    const FRAMES: u32 = 20_000;
    let (mut a, mut b) = pair(&PairConfig { queue: 64, ..Default::default() });
    let echo = std::thread::spawn(move || {
        let mut pool = Pool::new(256, 16, 64);
        let mut waiting = None;
        let mut echoed = 0;
        while echoed < FRAMES {
            let Some(message) = waiting.take().or_else(|| b.receive(&mut pool).unwrap()) else {
                std::thread::yield_now();
                continue;
            };
            match b.send(message, &mut pool) {
                Ok(()) => echoed += 1,
                Err((message, error)) => {
                    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
                    waiting = Some(message);
                    std::thread::yield_now();
                }
            }
        }
        b
    });
    let mut pool = Pool::new(256, 16, 64);
    let (mut sent, mut came) = (0, 0);
    while came < FRAMES {
        if sent < FRAMES {
            let message = frame(&mut pool, sent);
            match a.send(message, &mut pool) {
                Ok(()) => sent += 1,
                Err((message, _)) => pool.give(message),
            }
        }
        match a.receive(&mut pool).unwrap() {
            Some(message) => {
                assert_eq!(number(&message), came, "in order");
                came += 1;
                pool.give(message);
            }
            None => std::thread::yield_now(),
        }
    }
    let counts = DeviceCounts { sent: u64::from(FRAMES), received: u64::from(FRAMES), ..Default::default() };
    assert_eq!((a.counts(), echo.join().unwrap().counts()), (counts, counts));
}
