//! How connections end.

use crate::{
    LONG, Pair, Result, connect, everywhere, filled, on_pairs, on_pairs_with, pattern, receive, send,
};
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;
use throughline_vi::{
    CompletionError, CompletionQueue, Reliability, Rights, SendDescriptor, State, Vi, ViAttributes,
};

/// The next receive's result, as it stands in the completion.
fn next_result(vi: &mut Vi) -> Result<std::result::Result<usize, CompletionError>> {
    Ok(vi.receive_wait(LONG)?.result)
}

#[test]
fn disconnecting_flushes_both_sides_and_loses_nothing_sent_before() -> Result {
    on_pairs(|pair| {
        let (a, b) = pair.both();
        send(a, b"farewell")?;
        a.disconnect();
        assert_eq!(a.state(), State::Stopped(CompletionError::Disconnected));
        for _ in 0..64 {
            assert_eq!(next_result(a)?, Err(CompletionError::Flushed));
        }
        assert!(a.receive_done().is_none());
        assert_eq!(&*b.receive_wait(LONG)?.buffer, b"farewell");
        for _ in 0..63 {
            assert_eq!(next_result(b)?, Err(CompletionError::Flushed));
        }
        assert_eq!(b.state(), State::Stopped(CompletionError::Disconnected));
        let buffer = b.receive_buffer().ok_or("no buffer")?;
        assert!(b.post_receive(buffer).is_err());
        Ok(())
    })
}

#[test]
fn what_waits_for_descriptors_when_its_sender_disconnects_arrives_once_there_are_some() -> Result {
    on_pairs_with(
        |attributes| attributes.receive_buffers = 2,
        |pair| {
            if !pair.places_itself || pair.vis[0].reliability() == Reliability::Unreliable {
                return Ok(());
            }
            let (a, b) = pair.both();
            for byte in 0..10 {
                send(a, &[byte])?;
            }
            a.disconnect();
            for byte in 0..10 {
                assert_eq!(receive(b)?, [byte]);
            }
            assert_eq!(next_result(b)?, Err(CompletionError::Flushed));
            assert_eq!(b.state(), State::Stopped(CompletionError::Disconnected));
            Ok(())
        },
    )
}

#[test]
fn a_dropped_vi_disconnects() -> Result {
    everywhere(|fabric, level| {
        let Pair { vis: [a, mut b], .. } = Pair::new(fabric, &ViAttributes::new(level))?;
        drop(a);
        assert_eq!(next_result(&mut b)?, Err(CompletionError::Flushed));
        assert_eq!(b.state(), State::Stopped(CompletionError::Disconnected));
        Ok(())
    })
}

#[test]
fn a_message_without_a_receive_descriptor() -> Result {
    on_pairs_with(
        |attributes| attributes.receive_buffers = 1,
        |pair| {
            let waits = pair.places_itself;
            let (a, b) = pair.both();
            send(a, b"one")?;
            let buffer = filled(a, b"two")?;
            a.post_send(buffer)?;
            let first = b.receive_wait(LONG)?;
            assert_eq!(&*first.buffer, b"one");
            assert!(b.receive_done().is_none());
            if a.reliability() == Reliability::Unreliable {
                b.post_receive(first.buffer)?;
                send(a, b"three")?;
                // Where nobody has looked yet, the second may still be on its way.
                let mut next = receive(b)?;
                if waits && next == b"two" {
                    // While it had the only descriptor, the third may have found none.
                    send(a, b"three")?;
                    next = receive(b)?;
                }
                assert_eq!(next, b"three");
                return Ok(());
            }
            if waits {
                b.post_receive(first.buffer)?;
                assert_eq!(receive(b)?, b"two");
                return Ok(());
            }
            assert_eq!(b.state(), State::Stopped(CompletionError::ReceiveQueueEmpty));
            let told = CompletionError::ReceiveQueueEmpty;
            if a.reliability() == Reliability::ReliableReception {
                assert_eq!(a.send_wait(LONG)?.result, Err(told));
            }
            assert_eq!(next_result(a)?, Err(CompletionError::Flushed));
            assert_eq!(a.state(), State::Stopped(told));
            Ok(())
        },
    )
}

#[test]
fn a_message_longer_than_its_buffer() -> Result {
    // On shared memory the first is inline and the second is fetched.
    for len in [65, 5000] {
        on_pairs_with(
            |attributes| attributes.receive_buffer_size = 64,
            |pair| {
                let (a, b) = pair.both();
                let buffer = filled(a, &vec![1; len])?;
                a.post_send(buffer)?;
                assert_eq!(next_result(b)?, Err(CompletionError::TooLong));
                if a.reliability() == Reliability::Unreliable {
                    send(a, b"short")?;
                    assert_eq!(receive(b)?, b"short");
                    return Ok(());
                }
                assert_eq!(b.state(), State::Stopped(CompletionError::TooLong));
                assert_eq!(next_result(b)?, Err(CompletionError::Flushed));
                if a.reliability() == Reliability::ReliableReception {
                    assert_eq!(a.send_wait(LONG)?.result, Err(CompletionError::TooLong));
                }
                assert_eq!(next_result(a)?, Err(CompletionError::Flushed));
                assert_eq!(a.state(), State::Stopped(CompletionError::TooLong));
                Ok(())
            },
        )?;
    }
    Ok(())
}

/// Sends that the peer has not taken when it leaves fail, the first with the reason; of a VI that receives nothing, too.
#[test]
fn sends_outstanding_fail() -> Result {
    sends_outstanding_fail_of(|_| {})?;
    sends_outstanding_fail_of(|sender| sender.receive_buffers = 0)
}

fn sends_outstanding_fail_of(change: impl Fn(&mut ViAttributes)) -> Result {
    everywhere(|fabric, level| {
        if level != Reliability::ReliableReception {
            return Ok(());
        }
        let nics = (fabric.nics)()?;
        let mut attributes = ViAttributes::new(level);
        let without = ViAttributes { receive_buffers: 0, ..attributes.clone() };
        change(&mut attributes);
        let mut vis = [nics[0].create_vi(&attributes)?, nics[1].create_vi(&without)?];
        vis.iter_mut().for_each(Vi::post_own_receives);
        connect(&nics, &mut vis)?;
        let [mut a, b] = vis;
        for byte in 0..3 {
            let buffer = filled(&mut a, &[byte])?;
            a.post_send(buffer)?;
        }
        drop(b);
        assert_eq!(a.send_wait(LONG)?.result, Err(CompletionError::Disconnected));
        assert_eq!(a.send_wait(LONG)?.result, Err(CompletionError::Flushed));
        assert_eq!(a.send_wait(LONG)?.result, Err(CompletionError::Flushed));
        Ok(())
    })
}

/// Though the sender of what failed hears of that first.
#[test]
fn what_came_before_the_end_is_received_after_a_send_has_failed() -> Result {
    everywhere(|fabric, level| {
        if level != Reliability::ReliableReception {
            return Ok(());
        }
        let nics = (fabric.nics)()?;
        let attributes = ViAttributes::new(level);
        let without = ViAttributes { receive_buffers: 0, ..attributes.clone() };
        let mut vis = [nics[0].create_vi(&attributes)?, nics[1].create_vi(&without)?];
        vis.iter_mut().for_each(Vi::post_own_receives);
        connect(&nics, &mut vis)?;
        let [mut a, mut b] = vis;
        let buffer = filled(&mut a, b"nobody takes it")?;
        a.post_send(buffer)?;
        for byte in 0..3 {
            send(&mut b, &[byte])?;
        }
        b.disconnect();
        assert!(a.send_wait(LONG)?.result.is_err());
        for byte in 0..3 {
            let completion = a.receive_wait(LONG)?;
            assert_eq!((completion.result, &*completion.buffer), (Ok(1), &[byte][..]));
        }
        assert_eq!(next_result(&mut a)?, Err(CompletionError::Flushed));
        Ok(())
    })
}

/// Whoever disconnects has the buffers back of what the peer has not taken, and may use them for something else.
#[test]
fn a_message_whose_buffer_is_back_arrives_as_it_was_sent_or_not_at_all() -> Result {
    on_pairs(|pair| {
        let (a, b) = pair.both();
        let message = pattern(10_000, 5);
        let buffer = filled(a, &message)?;
        a.post_send(buffer)?;
        a.disconnect();
        if let Some(mut completion) = a.send_done() {
            completion.buffer.fill(0xFF);
        }
        let completion = b.receive_wait(LONG)?;
        assert!(completion.result.is_err() || *completion.buffer == *message, "another message came");
        Ok(())
    })
}

#[test]
fn a_long_message_arrives_whose_sender_asks_for_nothing_back() -> Result {
    on_pairs(|pair| {
        let (a, b) = pair.both();
        let message = pattern(10_000, 5);
        send(a, &message)?;
        a.disconnect();
        if b.reliability() != Reliability::Unreliable {
            assert!(receive(b)? == message);
        }
        Ok(())
    })
}

/// Though it has taken no note of what its peer showed it.
#[test]
fn a_vi_that_was_shown_a_window_disconnects_and_loses_nothing_sent_before() -> Result {
    let rights = Rights { remote_write: true, remote_read: true };
    everywhere(|fabric, level| {
        let Pair { vis: [mut a, mut b], nics, .. } = Pair::new(fabric, &ViAttributes::new(level))?;
        let _window = nics[1].register_window(64, b.tag(), rights)?;
        let message = pattern(10_000, 5);
        let region = nics[0].register(1, 10_000, a.tag())?;
        let mut buffer = region.buffer().ok_or("no buffer")?;
        buffer.set_len(message.len());
        buffer.copy_from_slice(&message);
        a.post_send(SendDescriptor::new(buffer).unsignaled())?;
        drop(a);
        if level != Reliability::Unreliable {
            assert!(receive(&mut b)? == message);
        }
        while next_result(&mut b)? != Err(CompletionError::Flushed) {}
        assert_eq!(b.state(), State::Stopped(CompletionError::Disconnected));
        Ok(())
    })
}

/// And not that the memory was wrong, which the peer could not be shown.
#[test]
fn who_sends_from_other_memory_to_a_peer_that_has_left_is_told_that_it_has() -> Result {
    everywhere(|fabric, level| {
        let Pair { vis: [mut a, b], nics, .. } = Pair::new(fabric, &ViAttributes::new(level))?;
        let region = nics[0].register(1, 10_000, a.tag())?;
        drop(b);
        a.post_send(region.buffer().ok_or("no buffer")?)?;
        match a.send_wait(LONG)?.result {
            // It has left this side.
            Ok(_) => {}
            Err(why) => assert_eq!(why, CompletionError::Disconnected),
        }
        assert_eq!(next_result(&mut a)?, Err(CompletionError::Flushed));
        assert_eq!(a.state(), State::Stopped(CompletionError::Disconnected));
        Ok(())
    })
}

/// Though a message lies with the peer, and another one behind it: what is sent meanwhile would be waited for without end.
#[test]
fn a_peer_that_ends_with_a_message_left_is_noticed_by_who_sends() -> Result {
    on_pairs_with(
        |attributes| attributes.leave = true,
        |pair| {
            let (a, b) = pair.both();
            send(a, &[7; 10_000])?;
            assert_eq!(b.receive_wait(LONG)?.result, Ok(10_000));
            let _ = send(a, b"next");
            let buffer = filled(b, &[8; 10_000])?;
            b.post_send(buffer)?;
            a.disconnect();
            if b.reliability() == Reliability::Unreliable {
                return Ok(());
            }
            // Elsewhere it may have gone.
            b.send_wait(Some(Duration::from_secs(5)))?;
            assert_eq!(b.receive_wait(LONG)?.result, Ok(4));
            Ok(())
        },
    )
}

/// The message can be had afterwards, and while it lies there nobody is kept awake.
#[test]
fn a_send_that_the_peer_never_takes_fails_though_a_message_lies_there_without_a_place() -> Result {
    let clock = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).expect("a time");
    everywhere(|fabric, level| {
        if level == Reliability::Unreliable {
            return Ok(());
        }
        let attributes = ViAttributes { receive_buffers: 1, ..ViAttributes::new(level) };
        let Pair { vis: [mut a, mut b], nics: _nics, .. } = Pair::new(fabric, &attributes)?;
        send(&mut b, b"one")?;
        send(&mut b, b"two")?;
        let first = a.receive_wait(LONG)?;
        assert_eq!(&*first.buffer, b"one");
        let buffer = filled(&mut a, &[7; 3000])?;
        a.post_send(buffer)?;
        let began = clock();
        let sent = std::thread::scope(|scope| {
            scope.spawn(move || {
                std::thread::sleep(Duration::from_millis(300));
                drop(b);
            });
            a.send_wait(Some(Duration::from_secs(5)))
        })?;
        let busy = clock() - began;
        assert!(busy < Duration::from_millis(100), "{} {level:?}: busy for {busy:?}", fabric.name);
        assert!(fabric.name != "shm" || sent.result == Err(CompletionError::Disconnected));
        a.post_receive(first.buffer)?;
        assert_eq!(receive(&mut a)?, b"two");
        assert_eq!(next_result(&mut a)?, Err(CompletionError::Flushed));
        assert_eq!(a.state(), State::Stopped(CompletionError::Disconnected));
        Ok(())
    })
}

/// Though there is no room for what this side has to send, and never will be.
#[test]
fn what_came_before_the_end_is_received_while_sends_are_blocked() -> Result {
    on_pairs(|pair| {
        if pair.vis[0].reliability() == Reliability::Unreliable {
            return Ok(());
        }
        let (a, b) = pair.both();
        for _ in 0..40 {
            send(a, &[7; 2000])?;
        }
        for byte in 0..3 {
            send(b, &[byte])?;
        }
        b.disconnect();
        // The end is known before what came ahead of it is received.
        a.bell().ok_or("it is connected")?.drain();
        receives_three_and_the_end(a)
    })
}

/// Messages of one byte, 0 to 2, and then the end.
fn receives_three_and_the_end(a: &mut Vi) -> Result {
    for byte in 0..3 {
        let completion = a.receive_wait(LONG)?;
        assert_eq!((completion.result, &*completion.buffer), (Ok(1), &[byte][..]));
    }
    assert_eq!(next_result(a)?, Err(CompletionError::Flushed));
    assert_eq!(a.state(), State::Stopped(CompletionError::Disconnected));
    Ok(())
}

/// Who goes on sending to a peer that has gone, with room for it or without, receives what came before, all of it.
#[test]
fn what_came_before_the_end_is_received_though_more_is_sent_after_it() -> Result {
    for (ahead, len) in [(0, 1), (40, 2000)] {
        on_pairs(|pair| {
            if pair.vis[0].reliability() == Reliability::Unreliable {
                return Ok(());
            }
            let (a, b) = pair.both();
            for _ in 0..ahead {
                send(a, &vec![7; len])?;
            }
            for byte in 0..3 {
                send(b, &[byte])?;
            }
            b.disconnect();
            // The end is known before what came ahead of it is received.
            a.bell().ok_or("it is connected")?.drain();
            let buffer = filled(a, &vec![8; len])?;
            let posted = a.post_send(buffer).is_ok();
            while let Some(sent) = a.send_done() {
                assert!(
                    posted
                        && matches!(
                            sent.result,
                            Ok(_) | Err(CompletionError::Disconnected | CompletionError::Flushed)
                        )
                );
            }
            receives_three_and_the_end(a)
        })?;
    }
    Ok(())
}

/// Whatever he did before, and be it by a queue, without waiting for it.
#[test]
fn who_looks_now_and_then_notices_the_end() -> Result {
    for queued in [false, true] {
        on_pairs(|pair| {
            let [a, b] = &mut pair.vis;
            let mut queue = CompletionQueue::new(Duration::ZERO)?;
            if queued {
                queue.link(a, 7);
            }
            let mut looks = |a: &mut Vi| {
                let looks = !queued || queue.done().is_some();
                looks && a.receive_done().is_some()
            };
            (0..10_000).for_each(|_| assert!(!looks(a)));
            b.disconnect();
            for _ in 0..2_000 {
                if looks(a) {
                    break;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            assert_eq!(a.state(), State::Stopped(CompletionError::Disconnected), "{queued}");
            Ok(())
        })?;
    }
    Ok(())
}

/// Somebody else always has something, which nobody takes.
#[test]
fn who_looks_at_a_queue_that_is_never_idle_notices_the_end() -> Result {
    everywhere(|fabric, level| {
        let [mut pair, mut busy] =
            [Pair::new(fabric, &ViAttributes::new(level))?, Pair::new(fabric, &ViAttributes::new(level))?];
        let mut queue = CompletionQueue::new(Duration::ZERO)?;
        queue.link(&mut pair.vis[0], 7);
        queue.link(&mut busy.vis[0], 8);
        send(&mut busy.vis[1], b"busy")?;
        while queue.wait(LONG)? != 8 {
            assert!(pair.vis[0].receive_done().is_none());
        }
        pair.vis[1].disconnect();
        let noticed = (0..2_000).any(|_| {
            std::thread::sleep(Duration::from_millis(1));
            (0..300).any(|_| queue.done() == Some(7)) && pair.vis[0].receive_done().is_some()
        });
        assert!(noticed, "{}", fabric.name);
        assert_eq!(pair.vis[0].state(), State::Stopped(CompletionError::Disconnected));
        Ok(())
    })
}
