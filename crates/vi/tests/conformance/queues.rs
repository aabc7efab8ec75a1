//! Work queues and completion queues.

use crate::{LONG, Pair, Result, everywhere, filled, on_pairs, on_pairs_with, pattern, receive, send};
use std::time::{Duration, Instant};
use throughline_vi::{
    CompletionError, CompletionQueue, PostRefused, ProtectionTag, Reliability, Rights, SendDescriptor, State,
    ViAttributes, WaitError,
};

#[test]
fn completions_come_in_the_order_of_posting() -> Result {
    on_pairs(|pair| {
        let (a, b) = pair.both();
        // Long ones, which are acknowledged, between short ones, which need not be.
        let lengths: Vec<usize> = (0..30).map(|at| if at % 3 == 0 { 5000 + at } else { at }).collect();
        for len in &lengths {
            let buffer = filled(a, &pattern(*len, 0))?;
            a.post_send(buffer)?;
        }
        for len in &lengths {
            assert_eq!(receive(b)?.len(), *len);
        }
        for len in &lengths {
            assert_eq!(a.send_wait(LONG)?.result, Ok(*len));
        }
        assert!(a.send_done().is_none() && b.receive_done().is_none());
        Ok(())
    })
}

#[test]
fn reception_completes_when_the_message_was_taken() -> Result {
    on_pairs(|pair| {
        let by_polling = !pair.places_itself;
        let (a, b) = pair.both();
        let buffer = filled(a, b"hello")?;
        a.post_send(buffer)?;
        let early = a.send_done();
        assert!(!by_polling || early.is_none() == (a.reliability() == Reliability::ReliableReception));
        receive(b)?;
        assert!(early.is_some() || a.send_wait(LONG).is_ok());
        Ok(())
    })
}

#[test]
fn a_full_queue_refuses_and_hands_back() -> Result {
    on_pairs_with(
        |attributes| (attributes.queue_depth, attributes.receive_buffers) = (4, 10),
        |pair| {
            let (a, b) = pair.both();
            let spare = b.receive_buffer().ok_or("no buffer")?;
            let refused = b.post_receive(spare).expect_err("four are posted");
            assert_eq!(refused.reason, PostRefused::QueueFull);
            for at in 0..4 {
                let buffer = filled(a, &[at])?;
                a.post_send(buffer)?;
            }
            let fifth = filled(a, b"fifth")?;
            let refused = a.post_send(fifth).expect_err("four are not taken back");
            assert_eq!(refused.reason, PostRefused::QueueFull);
            for _ in 0..4 {
                receive(b)?;
            }
            a.send_wait(LONG)?;
            a.post_send(refused.descriptor)?;
            assert_eq!(receive(b)?, b"fifth");
            Ok(())
        },
    )
}

#[test]
fn nothing_is_sent_before_there_is_a_connection() -> Result {
    everywhere(|fabric, level| {
        let [nic, _] = (fabric.nics)()?;
        let mut vi = nic.create_vi(&ViAttributes::new(level))?;
        let buffer = filled(&mut vi, b"x")?;
        assert_eq!(vi.post_send(buffer).expect_err("idle").reason, PostRefused::NotConnected);
        assert!(vi.receive_done().is_none() && vi.send_done().is_none());
        assert!(matches!(vi.receive_wait(LONG), Err(WaitError::NothingOutstanding)));
        Ok(())
    })
}

/// Many more than any fabric keeps under way, so that sends are held back, and go on when the receiver has caught up.
#[test]
fn sends_that_are_held_back_go_on() -> Result {
    on_pairs_with(
        |attributes| attributes.ring_lines = 16,
        |pair| {
            if pair.vis[0].reliability() == Reliability::Unreliable {
                return Ok(());
            }
            let (a, b) = pair.both();
            std::thread::scope(|scope| -> Result {
                let receiver = scope.spawn(move || -> std::result::Result<(), String> {
                    for message in 0..3000_usize {
                        let bytes = receive(b).map_err(|error| error.to_string())?;
                        assert_eq!(bytes, pattern(message % 300, message));
                    }
                    Ok(())
                });
                for message in 0..3000 {
                    let mut buffer = loop {
                        match a.send_buffer() {
                            Some(buffer) => break buffer,
                            None => drop(a.send_wait(Some(Duration::from_micros(100)))),
                        }
                    };
                    buffer.set_len(message % 300);
                    buffer.copy_from_slice(&pattern(message % 300, message));
                    a.post_send(SendDescriptor::new(buffer).unsignaled())?;
                }
                // Whoever posts and leaves would leave behind what is held back.
                while !receiver.is_finished() {
                    let _ = a.send_wait(Some(Duration::from_millis(1)));
                }
                Ok(receiver.join().expect("no panic")?)
            })
        },
    )
}

#[test]
fn waiting_ends_in_time() -> Result {
    on_pairs(|pair| {
        let (a, _b) = pair.both();
        let start = Instant::now();
        assert!(matches!(a.receive_wait(Some(Duration::from_millis(30))), Err(WaitError::Timeout)));
        assert!(start.elapsed() >= Duration::from_millis(30) && start.elapsed() < Duration::from_secs(5));
        assert!(matches!(a.send_wait(Some(Duration::ZERO)), Err(WaitError::NothingOutstanding)));
        Ok(())
    })
}

/// Also where nobody ever wants to sleep.
#[test]
fn looking_ends_in_time() -> Result {
    const WAIT: Duration = Duration::from_millis(30);
    on_pairs_with(
        |attributes| attributes.spin = Duration::MAX,
        |pair| {
            let (a, _b) = pair.both();
            let start = Instant::now();
            assert!(matches!(a.receive_wait(Some(WAIT)), Err(WaitError::Timeout)));
            let mut queue = CompletionQueue::new(Duration::MAX)?;
            queue.link(a, 1);
            assert!(matches!(queue.wait(Some(WAIT)), Err(WaitError::Timeout)));
            assert!(start.elapsed() >= 2 * WAIT && start.elapsed() < Duration::from_secs(5));
            Ok(())
        },
    )
}

#[test]
fn a_sleeper_is_woken() -> Result {
    on_pairs_with(
        |attributes| attributes.spin = Duration::ZERO,
        |pair| {
            let (a, b) = pair.both();
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let bytes = receive(b).expect("a message");
                        std::thread::sleep(Duration::from_micros(u64::from(bytes[0]) * 20));
                        send(b, &bytes).expect("sent");
                    }
                });
                for at in 0..50_u8 {
                    send(a, &[at % 5])?;
                    assert_eq!(receive(a)?, [at % 5]);
                }
                Ok(())
            })
        },
    )
}

#[test]
fn a_completion_queue_serves_many_vis() -> Result {
    everywhere(|fabric, level| {
        let mut attributes = ViAttributes::new(level);
        (attributes.send_buffers, attributes.receive_buffers) = (8, 8);
        let pairs = (0..12).map(|_| Pair::new(fabric, &attributes)).collect::<Result<Vec<_>>>()?;
        let (mut clients, mut servers): (Vec<_>, Vec<_>) =
            pairs.into_iter().map(|Pair { vis: [a, b], .. }| (a, b)).unzip();
        for spin in [Duration::ZERO, Duration::from_micros(50)] {
            let mut queue = CompletionQueue::new(spin)?;
            for (token, server) in servers.iter_mut().enumerate() {
                queue.link(server, token as u64);
            }
            // What is acknowledged late, however late, is no completion, but it is something.
            let mut is_nothing = |token: u64| assert!(servers[token as usize].receive_done().is_none());
            let quiet = loop {
                match queue.wait(Some(Duration::from_millis(5))) {
                    Ok(token) => is_nothing(token),
                    Err(error) => break error,
                }
            };
            assert!(matches!(quiet, WaitError::Timeout));
            while let Some(token) = queue.done() {
                is_nothing(token);
            }
            std::thread::scope(|scope| -> Result {
                let calling = scope.spawn(|| {
                    for round in 0..20 {
                        for (at, client) in clients.iter_mut().enumerate() {
                            send(client, &[at as u8, round]).expect("sent");
                        }
                        for (at, client) in clients.iter_mut().enumerate() {
                            assert_eq!(receive(client).expect("a reply"), [at as u8, round]);
                        }
                    }
                });
                let mut served = 0;
                while served < 12 * 20 {
                    let token = queue.wait(LONG)? as usize;
                    let server = &mut servers[token];
                    while let Some(completion) = server.receive_done() {
                        assert_eq!(completion.buffer[0], token as u8);
                        send(server, &completion.buffer)?;
                        server.post_receive(completion.buffer)?;
                        served += 1;
                    }
                }
                calling.join().expect("no panic");
                Ok(())
            })?;
        }
        Ok(())
    })
}

#[test]
fn a_completion_queue_tells_of_ends_and_of_late_connections() -> Result {
    everywhere(|fabric, level| {
        let nics = (fabric.nics)()?;
        let attributes = ViAttributes::new(level);
        let mut vis = [nics[0].create_vi(&attributes)?, nics[1].create_vi(&attributes)?];
        let mut queue = CompletionQueue::new(Duration::ZERO)?;
        let [a, b] = &mut vis;
        b.post_own_receives();
        queue.link(b, 77);
        std::thread::scope(|scope| -> Result {
            let waiting = scope.spawn(move || queue.wait(LONG).map(|token| (token, queue)));
            std::thread::sleep(Duration::from_millis(20));
            let mut both =
                [std::mem::replace(a, nics[0].create_vi(&attributes)?), nics[1].create_vi(&attributes)?];
            std::mem::swap(&mut both[1], b);
            crate::connect(&nics, &mut both)?;
            let [mut a, mut b] = both;
            send(&mut a, b"first")?;
            let (token, mut queue) = waiting.join().expect("no panic")?;
            assert_eq!(token, 77);
            assert_eq!(receive(&mut b)?, b"first");
            drop(a);
            while b.receive_done().is_none() {
                assert_eq!(queue.wait(LONG)?, 77);
            }
            drop(b);
            assert!(matches!(queue.wait(Some(Duration::from_millis(1))), Err(WaitError::Timeout)));
            Ok(())
        })
    })
}

#[test]
fn vis_and_buffers_move_between_threads() -> Result {
    on_pairs(|pair| {
        let (a, b) = pair.both();
        let buffer = filled(a, b"made here")?;
        std::thread::scope(|scope| {
            scope.spawn(|| a.post_send(SendDescriptor::new(buffer).unsignaled()).expect("sent"));
        });
        assert_eq!(receive(b)?, b"made here");
        Ok(())
    })
}

/// A message that was left with its sender is over when the next is received, which may be left there, too; and the sender hears of
/// that.
#[test]
fn a_message_that_was_left_is_complete_once_the_next_is_received() -> Result {
    for next in [4, 10_000] {
        on_pairs_with(
            |attributes| attributes.leave = true,
            |pair| {
                let (a, b) = pair.both();
                for len in [10_000, next] {
                    let buffer = filled(a, &vec![7; len])?;
                    a.post_send(buffer)?;
                }
                let (mut received, mut sent) = (0, None);
                let began = Instant::now();
                while received < 2 || sent.is_none() {
                    assert!(began.elapsed() < Duration::from_secs(5), "{received} received, and {sent:?}");
                    // Whoever polls does not sleep, which would tell the peer as well.
                    received += u32::from(b.receive_done().is_some());
                    sent = sent.or_else(|| a.send_done().map(|completion| completion.result));
                }
                assert_eq!(sent, Some(Ok(10_000)));
                Ok(())
            },
        )?;
    }
    Ok(())
}

/// Of a VI that goes on after it: behind a message that the peer has yet to fetch, and one that there is no room for yet.
#[test]
fn a_send_that_fails_completes_in_its_turn() -> Result {
    for ahead in [1, 40] {
        everywhere(|fabric, level| {
            if level != Reliability::Unreliable || fabric.places_itself {
                return Ok(());
            }
            let attributes = ViAttributes { ring_lines: 16, ..ViAttributes::new(level) };
            let Pair { vis: [mut a, mut b], nics, .. } = Pair::new(fabric, &attributes)?;
            let strange = nics[0].register(1, 64, ProtectionTag::new())?;
            for _ in 0..ahead {
                let buffer = filled(&mut a, &[7; 10_000])?;
                a.post_send(buffer)?;
            }
            a.post_send(strange.buffer().ok_or("no buffer")?)?;
            let buffer = filled(&mut a, b"last")?;
            a.post_send(buffer)?;
            for _ in 0..ahead {
                assert_eq!(receive(&mut b)?.len(), 10_000);
                assert_eq!(a.send_wait(LONG)?.result, Ok(10_000));
            }
            assert_eq!(a.send_wait(LONG)?.result, Err(CompletionError::Protection));
            assert_eq!(a.send_wait(LONG)?.result, Ok(4));
            assert_eq!(receive(&mut b)?, b"last");
            assert_eq!(a.state(), State::Connected);
            Ok(())
        })?;
    }
    Ok(())
}

/// He knows already how long he may sleep. Where he falls asleep so late that he looks at once another attempt is made.
#[test]
fn who_sleeps_by_a_queue_is_not_woken_by_a_message_behind_one_that_waits() -> Result {
    everywhere(|fabric, level| {
        if fabric.name != "shm" {
            // No message waits for the peer to take note of anything else.
            return Ok(());
        }
        let attributes = ViAttributes { peer_pieces: 1000, ..ViAttributes::new(level) };
        let Pair { vis: [mut a, _b], nics, .. } = Pair::new(fabric, &attributes)?;
        let rights = Rights { remote_write: false, remote_read: true };
        let windows = (0..600).map(|_| nics[0].register_window(64, a.tag(), rights));
        let _windows = windows.collect::<std::result::Result<Vec<_>, _>>()?;
        let mut queue = CompletionQueue::new(Duration::ZERO)?;
        queue.link(&mut a, 7);
        let region = nics[0].register(11, 3000, a.tag())?;
        a.post_send(region.buffer().ok_or("no buffer")?)?;
        let slept = (0..10).any(|_| {
            let _ = (queue.done(), a.send_done());
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    std::thread::sleep(Duration::from_millis(10));
                    a.post_send(region.buffer().expect("a buffer")).expect("posted");
                });
                let begun = Instant::now();
                let _ = queue.wait(Some(Duration::from_millis(50)));
                begun.elapsed() >= Duration::from_millis(50)
            })
        });
        assert!(slept);
        Ok(())
    })
}
