//! Sending and receiving.

use crate::{LONG, Result, bytes_of, filled, on_pairs, on_pairs_with, pattern, receive, send};
use throughline_vi::{ProtectionTag, ReceiveDescriptor, Reliability, SendDescriptor, ViAttributes};

/// Nothing is received into but what the test posts.
fn no_pool(attributes: &mut ViAttributes) {
    attributes.receive_buffers = 0;
}

#[test]
fn messages_of_all_lengths_arrive_intact() -> Result {
    on_pairs(|pair| {
        let (a, b) = pair.both();
        for len in [0, 1, 4, 7, 8, 47, 48, 49, 56, 57, 64, 120, 1000, 2047, 2048, 2049, 4096, 16_384] {
            send(a, &pattern(len, len))?;
            assert_eq!(receive(b)?, pattern(len, len), "{len} bytes");
            send(b, &pattern(len, 3))?;
            assert_eq!(receive(a)?, pattern(len, 3), "{len} bytes back");
        }
        Ok(())
    })
}

#[test]
fn messages_arrive_in_order() -> Result {
    on_pairs(|pair| {
        let (a, b) = pair.both();
        for round in 0..40_usize {
            for message in 0..20_usize {
                send(a, &pattern(message * 200, round + message))?;
            }
            for message in 0..20_usize {
                assert_eq!(receive(b)?, pattern(message * 200, round + message));
            }
        }
        Ok(())
    })
}

#[test]
fn the_longest_message_arrives() -> Result {
    on_pairs_with(no_pool, |pair| {
        let [near, far] = &pair.nics;
        let [a, b] = &mut pair.vis;
        let len = pair.longest as u32;
        let (from, to) = (near.register(1, len, a.tag())?, far.register(1, len, b.tag())?);
        b.post_receive(to.buffer().ok_or("no buffer")?)?;
        let mut buffer = from.buffer().ok_or("no buffer")?;
        buffer.set_len(len as usize);
        let bytes = pattern(len as usize, 5);
        buffer.copy_from_slice(&bytes);
        a.post_send(buffer)?;
        let completion = b.receive_wait(LONG)?;
        assert_eq!(completion.result, Ok(len as usize));
        assert!(*completion.buffer == *bytes);
        assert_eq!(a.send_wait(LONG)?.result, Ok(len as usize));
        Ok(())
    })
}

#[test]
fn segments_are_gathered_and_scattered() -> Result {
    // On shared memory the first goes inline and the second is fetched.
    for size in [100, 5000] {
        on_pairs_with(no_pool, |pair| {
            let nic = &pair.nics[1];
            let [a, b] = &mut pair.vis;
            let region = nic.register(3, size + 28, b.tag())?;
            let mut places = std::iter::from_fn(|| region.buffer());
            let first = places.next().ok_or("no buffer")?;
            b.post_receive(ReceiveDescriptor::new(first).segments(places.collect::<Vec<_>>()))?;
            let size = size as usize;
            let parts = [pattern(size, 1), Vec::new(), pattern(size / 2, 2), pattern(size, 3)];
            let more = parts[1..].iter().map(|part| filled(a, part)).collect::<Result<Vec<_>>>()?;
            let first = filled(a, &parts[0])?;
            a.post_send(SendDescriptor::new(first).segments(more))?;
            let received = b.receive_wait(LONG)?;
            assert_eq!(received.result, Ok(size * 5 / 2));
            assert!(bytes_of(&received) == parts.concat());
            let sent = a.send_wait(LONG)?;
            assert_eq!((sent.result, sent.more.len()), (Ok(size * 5 / 2), 3));
            Ok(())
        })?;
    }
    Ok(())
}

#[test]
fn immediate_data_comes_with_the_message() -> Result {
    on_pairs(|pair| {
        let (a, b) = pair.both();
        for len in [0, 4, 48, 49, 5000] {
            let buffer = filled(a, &pattern(len, 1))?;
            a.post_send(SendDescriptor::new(buffer).immediate(0xFEED_0000 + len as u32).unsignaled())?;
            send(a, b"without")?;
            let with = b.receive_wait(LONG)?;
            assert_eq!((with.result, with.immediate), (Ok(len), Some(0xFEED_0000 + len as u32)));
            assert_eq!(*with.buffer, pattern(len, 1));
            assert_eq!(b.receive_wait(LONG)?.immediate, None);
            b.post_receive(with.buffer)?;
        }
        Ok(())
    })
}

#[test]
fn memory_registered_apart_is_sent_from_and_received_into() -> Result {
    on_pairs_with(no_pool, |pair| {
        let [near, far] = &pair.nics;
        let [a, b] = &mut pair.vis;
        let from = near.register(4, 9000, a.tag())?;
        let to = far.register(64, 9000, b.tag())?;
        for round in 0..100 {
            b.post_receive(to.buffer().ok_or("no buffer")?)?;
            let mut buffer = from.buffer().ok_or("all in use")?;
            let bytes = pattern(if round % 2 == 0 { 9000 } else { 90 }, round);
            buffer.set_len(bytes.len());
            buffer.copy_from_slice(&bytes);
            a.post_send(buffer)?;
            let completion = b.receive_wait(LONG)?;
            assert!(bytes_of(&completion) == bytes, "round {round}");
            a.send_wait(LONG)?.result?;
        }
        Ok(())
    })
}

#[test]
fn received_buffers_may_be_sent_on() -> Result {
    on_pairs(|pair| {
        let (a, b) = pair.both();
        for len in [4, 4000] {
            send(a, &pattern(len, 9))?;
            let received = b.receive_wait(LONG)?;
            b.post_send(SendDescriptor::new(received.buffer).unsignaled())?;
            assert_eq!(receive(a)?, pattern(len, 9));
        }
        Ok(())
    })
}

#[test]
fn memory_of_another_tag_is_refused() -> Result {
    on_pairs(|pair| {
        let nic = &pair.nics[0];
        let [a, b] = &mut pair.vis;
        let foreign = nic.register(1, 64, ProtectionTag::new())?;
        a.post_send(SendDescriptor::new(foreign.buffer().ok_or("no buffer")?).unsignaled())?;
        let completion = a.send_wait(LONG)?;
        assert_eq!(completion.result, Err(throughline_vi::CompletionError::Protection));
        if a.reliability() == Reliability::Unreliable {
            send(a, b"still there")?;
            assert_eq!(receive(b)?, b"still there");
        } else {
            assert!(a.post_send(completion.buffer).is_err());
        }
        Ok(())
    })
}

/// Each is another one, and so are the few that stay.
#[test]
fn messages_from_regions_that_come_and_go_arrive() -> Result {
    for leave in [false, true] {
        on_pairs_with(
            |attributes| attributes.leave = leave,
            |pair| {
                let nic = &pair.nics[0];
                let [a, b] = &mut pair.vis;
                let mut stay = Vec::new();
                for round in 0..300 {
                    let region = nic.register(1, 4000, a.tag())?;
                    let mut buffer = region.buffer().ok_or("no buffer")?;
                    buffer.set_len(4000);
                    buffer.copy_from_slice(&pattern(4000, round));
                    a.post_send(buffer)?;
                    let mut received = b.receive_wait(LONG)?;
                    assert_eq!(received.result, Ok(4000));
                    if let Some(left) = b.left() {
                        received.buffer.set_len(4000);
                        left.copy(0, &mut received.buffer)?;
                    }
                    assert!(*received.buffer == *pattern(4000, round));
                    b.release();
                    b.post_receive(received.buffer)?;
                    assert_eq!(a.send_wait(LONG)?.result, Ok(4000));
                    if round % 10 == 0 {
                        stay.push(region);
                    }
                }
                Ok(())
            },
        )?;
    }
    Ok(())
}
