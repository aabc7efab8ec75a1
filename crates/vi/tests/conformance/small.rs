//! Messages that need no descriptor, among others that do.

use crate::{Pair, Result, everywhere, on_pairs, pattern, receive, send};
use std::time::{Duration, Instant};
use throughline_vi::{CompletionError, Reliability, SMALL_MESSAGE, SendDescriptor, State, Vi, ViAttributes};

/// Longer than anything takes, and sooner than a silent peer would be asked whether it is there, which might help.
const SOON: Duration = Duration::from_secs(2);

/// Sends without a descriptor if that can be, as users do.
fn send_somehow(vi: &mut Vi, bytes: &[u8]) -> Result {
    if vi.send_small(bytes) { Ok(()) } else { send(vi, bytes) }
}

/// As [`send_somehow`], and says that more is to follow.
fn send_with_more(vi: &mut Vi, bytes: &[u8]) -> Result {
    if vi.send_small_with_more(bytes) { Ok(()) } else { send(vi, bytes) }
}

/// As [`send_somehow`], from memory in which the message is the beginning.
fn send_line(vi: &mut Vi, bytes: &[u8]) -> Result {
    let mut octets = [0x55; SMALL_MESSAGE];
    let line = octets.get_mut(..bytes.len()).map(|place| place.copy_from_slice(bytes));
    if line.is_some() && vi.send_line(&octets, bytes.len()) { Ok(()) } else { send(vi, bytes) }
}

/// As [`send_somehow`], of any length.
fn send_copied(vi: &mut Vi, bytes: &[u8]) -> Result {
    if vi.send_copied(bytes) { Ok(()) } else { send(vi, bytes) }
}

/// Receives without a descriptor if that can be.
fn receive_somehow(vi: &mut Vi) -> Result<Vec<u8>> {
    let mut bytes = [0xAA; SMALL_MESSAGE];
    match vi.receive_small(&mut bytes) {
        Some(len) => Ok(bytes[..len].to_vec()),
        None => receive(vi),
    }
}

/// As [`receive_somehow`], of any length.
fn receive_copied(vi: &mut Vi) -> Result<Vec<u8>> {
    let mut bytes = [0xAA; 1000];
    match vi.receive_copied(&mut bytes) {
        Some(len) => {
            assert!(bytes[len..].iter().all(|byte| *byte == 0xAA));
            Ok(bytes[..len].to_vec())
        }
        None => receive(vi),
    }
}

#[test]
fn small_messages_keep_their_place_among_others() -> Result {
    on_pairs(|pair| {
        let (a, b) = pair.both();
        for round in 0..30_usize {
            if round == 15 {
                // Changes nothing that can be seen.
                b.expect_many();
            }
            // Of all lengths around the longest small one, and some that take several lines or lie elsewhere.
            let lengths = (0..20).map(|n| [n * 3, SMALL_MESSAGE - 2 + n % 5, n * 200][(n + round) % 3]);
            let sent: Vec<_> = lengths.map(|len| pattern(len, round + len)).collect();
            for (n, bytes) in sent.iter().enumerate() {
                // Even if nothing follows, what waits leaves.
                match (n + round) % 4 {
                    0 => send_with_more(a, bytes)?,
                    1 => send_line(a, bytes)?,
                    2 => send_copied(a, bytes)?,
                    _ => send_somehow(a, bytes)?,
                }
            }
            for (n, bytes) in sent.iter().enumerate() {
                let receive = if (n + round) % 3 == 0 { receive_copied } else { receive_somehow };
                assert_eq!(receive(b)?, *bytes);
            }
        }
        Ok(())
    })
}

#[test]
fn the_room_that_small_messages_leave_is_told_of_however_late_they_are_taken() -> Result {
    // Even if nobody polls any more once they are.
    [true, false].into_iter().try_for_each(|polls| {
        on_pairs(|pair| {
            let (a, b) = pair.both();
            let mut sent = 0_u32;
            while sent < 100_000 && a.send_small(&sent.to_le_bytes()) {
                sent += 1;
            }
            // All of them come while nobody looks.
            std::thread::sleep(Duration::from_millis(50));
            for number in 0..sent {
                assert_eq!(receive_somehow(b)?, number.to_le_bytes());
            }
            let began = Instant::now();
            while sent > 0 && !a.send_small(b"another") {
                assert!(began.elapsed() < SOON, "no room after {sent} messages");
                assert!(!polls || b.receive_small(&mut [0; SMALL_MESSAGE]).is_none());
                assert!(a.send_done().is_none() && a.receive_done().is_none());
            }
            Ok(())
        })
    })
}

#[test]
fn small_messages_may_follow_one_another_though_no_message_comes_back() -> Result {
    on_pairs(|pair| {
        let (a, b) = pair.both();
        if !a.send_small(&pattern(8, 0)) {
            return Ok(());
        }
        for round in 1..10 {
            assert_eq!(receive_somehow(b)?, pattern(8, round - 1));
            let began = Instant::now();
            while !a.has_settled() {
                assert!(began.elapsed() < SOON, "nobody acknowledges the message before {round}");
                assert_eq!(b.receive_small(&mut [0; SMALL_MESSAGE]), None);
            }
            while !a.send_small(&pattern(8, round)) {
                assert!(began.elapsed() < SOON, "message {round} cannot be sent this way");
                assert!(a.send_done().is_none() && a.receive_done().is_none());
                assert_eq!(b.receive_small(&mut [0; SMALL_MESSAGE]), None);
            }
        }
        Ok(())
    })
}

#[test]
fn what_is_sent_small_may_be_received_by_a_descriptor_and_the_other_way_round() -> Result {
    on_pairs(|pair| {
        let (a, b) = pair.both();
        for len in 0..=SMALL_MESSAGE {
            send_somehow(a, &pattern(len, 1))?;
            assert_eq!(receive(b)?, pattern(len, 1));
            send(a, &pattern(len, 2))?;
            assert_eq!(receive_somehow(b)?, pattern(len, 2));
            send_line(a, &pattern(len, 3))?;
            assert_eq!(receive(b)?, pattern(len, 3));
            send_copied(a, &pattern(len, 4))?;
            assert_eq!(receive_copied(b)?, pattern(len, 4));
        }
        Ok(())
    })
}

#[test]
fn shared_memory_has_the_short_cut_and_it_has_its_limits() -> Result {
    everywhere(|fabric, level| {
        if fabric.name != "shm" {
            return Ok(());
        }
        // Who is told when a message was taken needs a descriptor.
        let can = level != Reliability::ReliableReception;
        let mut pair = Pair::new(fabric, &ViAttributes { ring_lines: 64, ..ViAttributes::new(level) })?;
        let (a, b) = pair.both();
        assert!(!a.send_small(&[0; SMALL_MESSAGE + 1]));
        assert!(!a.send_line(&[0; SMALL_MESSAGE], SMALL_MESSAGE + 1));
        // None is lost when there is no more room.
        let mut line = [0x55; SMALL_MESSAGE];
        let sent = (0..1000_u32).take_while(|n| {
            line[..4].copy_from_slice(&n.to_ne_bytes());
            if n.is_multiple_of(2) { a.send_small(&n.to_ne_bytes()) } else { a.send_line(&line, 4) }
        });
        let sent = sent.count();
        assert!(!a.send_small(b"full") && !a.send_line(&line, 4));
        assert_eq!(sent, if can { 63 } else { 0 });
        let mut bytes = [0; SMALL_MESSAGE];
        for number in 0..sent as u32 {
            assert_eq!(b.receive_small(&mut bytes), Some(4));
            assert_eq!(bytes[..4], number.to_ne_bytes());
        }
        assert_eq!(b.receive_small(&mut bytes), None);
        Ok(())
    })
}

#[test]
fn shared_memory_takes_copies_of_what_fits_into_its_ring_and_loses_none() -> Result {
    everywhere(|fabric, level| {
        if fabric.name != "shm" {
            return Ok(());
        }
        let can = level != Reliability::ReliableReception;
        let mut pair = Pair::new(fabric, &ViAttributes { ring_lines: 64, ..ViAttributes::new(level) })?;
        let (a, b) = pair.both();
        let lengths = [0, SMALL_MESSAGE, SMALL_MESSAGE + 1, 300];
        let messages = || (0..).map(|n| pattern(lengths[n % lengths.len()], n));
        let sent = messages().take_while(|message| a.send_copied(message)).count();
        assert_eq!(sent > 20, can);
        assert!(!a.send_copied(&pattern(64 << 10, 0)), "longer than the ring");
        for message in messages().take(sent) {
            assert_eq!(receive_somehow(b)?, message);
        }
        assert_eq!(a.send_copied(b"again"), can);
        if can {
            assert_eq!(receive_somehow(b)?, b"again");
        }
        Ok(())
    })
}

#[test]
fn shared_memory_gives_copies_of_what_lies_in_its_ring_and_of_nothing_else() -> Result {
    everywhere(|fabric, level| {
        if fabric.name != "shm" {
            return Ok(());
        }
        let mut pair = Pair::new(fabric, &ViAttributes { inline_limit: 2048, ..ViAttributes::new(level) })?;
        let (a, b) = pair.both();
        let mut place = [0; 300];
        assert_eq!(b.receive_copied(&mut place), None);
        for len in [0, 1, SMALL_MESSAGE, SMALL_MESSAGE + 1, 299, 300] {
            send(a, &pattern(len, 1))?;
            assert_eq!(b.receive_copied(&mut place), Some(len));
            assert_eq!(place[..len], pattern(len, 1));
        }
        // Longer than that place; in the sender's memory; and with immediate data, which there would be no place for.
        for len in [301, 4000] {
            send(a, &pattern(len, 2))?;
            assert_eq!(b.receive_copied(&mut place), None);
            assert_eq!(receive(b)?, pattern(len, 2));
        }
        let mut buffer = a.send_buffer().ok_or("no buffer")?;
        buffer.set_len(3);
        a.post_send(SendDescriptor::new(buffer).unsignaled().immediate(7))?;
        assert_eq!(b.receive_copied(&mut place), None);
        let received = b.receive_wait(None)?;
        assert_eq!((received.result, received.immediate), (Ok(3), Some(7)));
        Ok(())
    })
}

#[test]
fn who_is_not_connected_neither_sends_nor_receives() -> Result {
    everywhere(|fabric, level| {
        let nic = &(fabric.nics)()?[0];
        let mut alone = nic.create_vi(&ViAttributes::new(level))?;
        assert!(!alone.send_copied(b"nobody"));
        assert!(!alone.send_small(b"nobody") && !alone.send_line(&[0; SMALL_MESSAGE], 1));
        assert_eq!(alone.receive_small(&mut [0; SMALL_MESSAGE]), None);
        assert_eq!(alone.receive_copied(&mut [0; 300]), None);
        let mut pair = Pair::new(fabric, &ViAttributes::new(level))?;
        let (a, b) = pair.both();
        a.disconnect();
        assert!(!a.send_small(b"over"));
        while b.state() == State::Connected {
            assert_eq!(b.receive_small(&mut [0; SMALL_MESSAGE]), None);
            b.receive_done();
        }
        assert_eq!(b.state(), State::Stopped(CompletionError::Disconnected));
        assert!(!b.send_small(b"over") && !b.send_copied(b"over"));
        Ok(())
    })
}
