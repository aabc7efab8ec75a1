//! Remote DMA.

use crate::{LONG, Pair, Result, connect, everywhere, filled, on_pairs, pattern, receive, send};
use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};
use throughline_vi::{
    Bell, CompletionError, CompletionQueue, MemoryHandle, ProtectionTag, Reliability, RemoteAddress, Rights,
    SendDescriptor, Vi, ViAttributes, Window,
};

const BOTH: Rights = Rights { remote_write: true, remote_read: true };

fn at(window: &Window, offset: u64) -> RemoteAddress {
    // As a peer does who was told in a message.
    RemoteAddress { handle: MemoryHandle::from_bytes(window.handle().to_bytes()), offset }
}

/// Posts a descriptor and returns what came of it.
fn outcome(vi: &mut Vi, descriptor: SendDescriptor) -> Result<std::result::Result<usize, CompletionError>> {
    vi.post_send(descriptor)?;
    Ok(vi.send_wait(LONG)?.result)
}

#[test]
fn writes_and_reads_need_nobody_at_the_other_side() -> Result {
    on_pairs(|pair| {
        let nic = &pair.nics[1];
        let [a, b] = &mut pair.vis;
        let window = nic.register_window(20_000, b.tag(), BOTH)?;
        let bytes = pattern(9000, 4);
        let (one, two) = (filled(a, &bytes[..1000])?, filled(a, &bytes[1000..])?);
        let write = SendDescriptor::write(one, at(&window, 7)).segments(vec![two]);
        assert_eq!(outcome(a, write)?, Ok(9000));
        let mut there = vec![0; 9000];
        window.read(7, &mut there)?;
        assert!(there == bytes);

        window.write(10_000, &pattern(500, 8))?;
        let (mut one, mut two) = (filled(a, &[0; 200])?, filled(a, &[0; 300])?);
        one.set_len(200);
        two.set_len(300);
        a.post_send(SendDescriptor::read(one, at(&window, 10_000)).segments(vec![two]))?;
        let read = a.send_wait(LONG)?;
        assert_eq!(read.result, Ok(500));
        assert!(crate::bytes_of(&read) == pattern(500, 8));
        assert!(b.receive_done().is_none());
        Ok(())
    })
}

#[test]
fn immediate_data_tells_of_a_write() -> Result {
    on_pairs(|pair| {
        // More often than there are lines in a ring.
        let rounds = if pair.places_itself { 60 } else { 600 };
        let nic = &pair.nics[1];
        let [a, b] = &mut pair.vis;
        let window = nic.register_window(64, b.tag(), BOTH)?;
        for round in 0..rounds {
            let write = SendDescriptor::write(filled(a, &u32::to_le_bytes(round))?, at(&window, 4));
            a.post_send(write.immediate(round).unsignaled())?;
            let completion = b.receive_wait(LONG)?;
            assert_eq!((completion.result, completion.immediate), (Ok(0), Some(round)));
            b.post_receive(completion.buffer)?;
            let mut there = [0; 4];
            window.read(4, &mut there)?;
            assert_eq!(u32::from_le_bytes(there), round);
        }
        Ok(())
    })
}

#[test]
fn what_was_written_is_there_when_a_later_message_is() -> Result {
    on_pairs(|pair| {
        let nic = &pair.nics[1];
        let [a, b] = &mut pair.vis;
        let window = nic.register_window(4096, b.tag(), BOTH)?;
        for round in 0..50 {
            let bytes = pattern(4096, round);
            let buffer = filled(a, &bytes)?;
            a.post_send(SendDescriptor::write(buffer, at(&window, 0)).unsignaled())?;
            send(a, b"look")?;
            receive(b)?;
            let mut there = vec![0; 4096];
            window.read(0, &mut there)?;
            assert!(there == bytes);
        }
        Ok(())
    })
}

/// Nobody wants a small message back, so nothing else would say that it is there.
#[test]
fn writes_are_carried_out_behind_small_messages() -> Result {
    on_pairs(|pair| {
        let nic = &pair.nics[1];
        let [a, b] = &mut pair.vis;
        let window = nic.register_window(64, b.tag(), BOTH)?;
        let small = a.send_small(b"small");
        let buffer = filled(a, b"there")?;
        assert_eq!(outcome(a, SendDescriptor::write(buffer, at(&window, 0)))?, Ok(5));
        let mut there = [0; 5];
        window.read(0, &mut there)?;
        assert_eq!(&there, b"there");
        if small && a.reliability() != Reliability::Unreliable {
            assert_eq!(receive(b)?, b"small");
        }
        Ok(())
    })
}

#[test]
fn rights_bounds_tags_and_names_are_checked() -> Result {
    type Make = fn(&[throughline_vi::Nic; 2], ProtectionTag) -> Result<(Option<Window>, RemoteAddress, bool)>;
    let wrong: [Make; 6] = [
        |nics, tag| {
            let window = nics[1].register_window(64, tag, Rights { remote_write: false, ..BOTH })?;
            let at = at(&window, 0);
            Ok((Some(window), at, true))
        },
        |nics, tag| {
            let window = nics[1].register_window(64, tag, Rights { remote_read: false, ..BOTH })?;
            let at = at(&window, 0);
            Ok((Some(window), at, false))
        },
        |nics, tag| {
            let window = nics[1].register_window(64, tag, BOTH)?;
            let at = at(&window, 61);
            Ok((Some(window), at, true))
        },
        |nics, tag| {
            let window = nics[1].register_window(64, tag, BOTH)?;
            let at = at(&window, u64::MAX - 1);
            Ok((Some(window), at, false))
        },
        |nics, _| {
            let window = nics[1].register_window(64, ProtectionTag::new(), BOTH)?;
            let at = at(&window, 0);
            Ok((Some(window), at, true))
        },
        // Stale: withdrawn before it is used.
        |nics, tag| {
            let window = nics[1].register_window(64, tag, BOTH)?;
            let at = at(&window, 0);
            Ok((None, at, true))
        },
    ];
    for make in wrong {
        on_pairs(|pair| {
            let (_window, address, write) = make(&pair.nics, pair.vis[1].tag())?;
            let [a, b] = &mut pair.vis;
            let buffer = filled(a, b"four")?;
            let descriptor = if write {
                SendDescriptor::write(buffer, address)
            } else {
                SendDescriptor::read(buffer, address)
            };
            assert_eq!(outcome(a, descriptor)?, Err(CompletionError::RemoteProtection));
            if a.reliability() == Reliability::Unreliable {
                send(a, b"still there")?;
                assert_eq!(receive(b)?, b"still there");
            }
            Ok(())
        })?;
    }
    Ok(())
}

#[test]
fn a_window_in_use_may_be_withdrawn() -> Result {
    on_pairs(|pair| {
        let nic = &pair.nics[1];
        let [a, b] = &mut pair.vis;
        let window = nic.register_window(64, b.tag(), BOTH)?;
        let address = at(&window, 0);
        let now = filled(a, b"now")?;
        assert_eq!(outcome(a, SendDescriptor::write(now, address))?, Ok(3));
        drop(window);
        let late = filled(a, b"late")?;
        let late = outcome(a, SendDescriptor::write(late, address))?;
        assert_eq!(late, Err(CompletionError::RemoteProtection));
        Ok(())
    })
}

/// What is asked of its memory meanwhile, or afterwards, may fail.
#[test]
fn what_a_peer_sent_before_it_disconnects_arrives_where_its_memory_is_reached_for() -> Result {
    const LEN: usize = 4 << 20;
    for round in 0..16 {
        let early = round % 2 == 0;
        on_pairs(|pair| {
            let nic = &pair.nics[1];
            let [a, b] = &mut pair.vis;
            if a.reliability() == Reliability::Unreliable {
                return Ok(());
            }
            let window = nic.register_window(LEN, b.tag(), BOTH)?;
            let region = pair.nics[0].register(1, LEN as u32, a.tag())?;
            let reach = |a: &mut Vi| -> Result {
                let mut buffer = region.buffer().ok_or("no buffer")?;
                buffer.set_len(LEN);
                let read = SendDescriptor::read(buffer, at(&window, 0));
                // Its end may have been noticed.
                let _ = a.post_send(read);
                Ok(())
            };
            if early {
                reach(a)?;
            }
            for byte in 0..20 {
                send(b, &[byte; 3_000])?;
            }
            b.disconnect();
            if !early {
                reach(a)?;
            }
            for byte in 0..20 {
                assert_eq!(receive(a)?, [byte; 3_000], "early: {early}");
            }
            assert_eq!(a.receive_wait(LONG)?.result, Err(CompletionError::Flushed));
            assert_eq!(a.state(), throughline_vi::State::Stopped(CompletionError::Disconnected));
            Ok(())
        })?;
    }
    Ok(())
}

/// A peer may show as many as [`ViAttributes::peer_pieces`](throughline_vi::ViAttributes::peer_pieces) says, and all at once.
#[test]
fn the_last_of_many_windows_is_there_as_the_first_is() -> Result {
    on_pairs(|pair| {
        let nic = &pair.nics[1];
        let [a, b] = &mut pair.vis;
        let windows = (0..100).map(|_| nic.register_window(64, b.tag(), BOTH));
        let windows = windows.collect::<std::result::Result<Vec<_>, _>>()?;
        for window in windows.iter().rev() {
            let buffer = filled(a, b"there")?;
            assert_eq!(outcome(a, SendDescriptor::write(buffer, at(window, 0)))?, Ok(5));
        }
        let last = windows.last().map(|window| at(window, 0)).ok_or("no window")?;
        drop(windows);
        let buffer = filled(a, b"gone")?;
        assert_eq!(outcome(a, SendDescriptor::write(buffer, last))?, Err(CompletionError::RemoteProtection));
        Ok(())
    })
}

#[test]
fn messages_from_other_memory_arrive_behind_many_windows() -> Result {
    on_pairs(|pair| {
        let nic = &pair.nics[1];
        let [a, b] = &mut pair.vis;
        let windows = (0..100).map(|_| nic.register_window(64, b.tag(), BOTH));
        let _windows = windows.collect::<std::result::Result<Vec<_>, _>>()?;
        let mut buffer = nic.register(1, 10_000, b.tag())?.buffer().ok_or("no buffer")?;
        buffer.set_len(10_000);
        buffer.copy_from_slice(&pattern(10_000, 3));
        b.post_send(SendDescriptor::new(buffer).unsignaled())?;
        assert!(receive(a)? == pattern(10_000, 3));
        Ok(())
    })
}

/// Over shared memory the peer can be told of no more before it takes note of some. And the sender need not wait either.
#[test]
fn messages_from_other_memory_reach_who_looks_now_and_then_behind_many_windows() -> Result {
    everywhere(|fabric, level| {
        let attributes = ViAttributes { peer_pieces: 1000, ..ViAttributes::new(level) };
        for queued in [false, true] {
            let mut pair = Pair::new(fabric, &attributes)?;
            let nic = &pair.nics[1];
            let [a, b] = &mut pair.vis;
            let windows = (0..400).map(|_| nic.register_window(64, b.tag(), BOTH));
            let _windows = windows.collect::<std::result::Result<Vec<_>, _>>()?;
            let mut queue = CompletionQueue::new(Duration::ZERO)?;
            queue.link(b, 7);
            b.post_send(nic.register(1, 10_000, b.tag())?.buffer().ok_or("no buffer")?)?;
            let looks = (0..2_000).find_map(|_| {
                a.receive_done();
                std::thread::sleep(Duration::from_millis(2));
                let looks = !queued || queue.done().is_some();
                looks.then(|| b.send_done()).flatten()
            });
            assert!(looks.as_ref().is_some_and(|sent| sent.result.is_ok()), "{queued}: {looks:?}");
        }
        Ok(())
    })
}

#[test]
fn the_end_is_noticed_behind_many_windows() -> Result {
    on_pairs(|pair| {
        let nic = &pair.nics[1];
        let [a, b] = &mut pair.vis;
        let windows = (0..100).map(|_| nic.register_window(64, b.tag(), BOTH));
        let _windows = windows.collect::<std::result::Result<Vec<_>, _>>()?;
        b.disconnect();
        assert_eq!(a.receive_wait(LONG)?.result, Err(CompletionError::Flushed));
        assert_eq!(a.state(), throughline_vi::State::Stopped(CompletionError::Disconnected));
        Ok(())
    })
}

/// They are more than a peer over shared memory can be told of, or that its peer ends, before it takes note of any.
#[test]
fn why_a_peer_ends_is_known_behind_more_windows_than_it_is_told_of() -> Result {
    everywhere(|fabric, level| {
        let nics = (fabric.nics)()?;
        let attributes = ViAttributes { peer_pieces: 1000, ..ViAttributes::new(level) };
        let mut vis = [nics[0].create_vi(&attributes)?, nics[1].create_vi(&attributes)?];
        vis.iter_mut().for_each(Vi::post_own_receives);
        connect(&nics, &mut vis)?;
        let [mut a, mut b] = vis;
        let windows = (0..400).map(|_| nics[1].register_window(64, b.tag(), BOTH));
        let _windows = windows.collect::<std::result::Result<Vec<_>, _>>()?;
        b.disconnect();
        assert_eq!(a.receive_wait(LONG)?.result, Err(CompletionError::Flushed));
        assert_eq!(a.state(), throughline_vi::State::Stopped(CompletionError::Disconnected));
        Ok(())
    })
}

/// The peer of a VI is told of all of them, and looks when it wants to reach one; meanwhile it sleeps.
#[test]
fn a_window_is_reached_that_follows_many_which_have_come_and_gone() -> Result {
    on_pairs(|pair| {
        let nic = &pair.nics[1];
        let [a, b] = &mut pair.vis;
        std::thread::scope(|scope| {
            let sleeper = scope.spawn(|| {
                let told = a.receive_wait(LONG).ok()?;
                let handle = MemoryHandle::from_bytes(told.buffer.first_chunk().copied()?);
                let buffer = filled(a, b"there").ok()?;
                outcome(a, SendDescriptor::write(buffer, RemoteAddress { handle, offset: 0 })).ok()
            });
            for round in 0..400 {
                nic.register_window(64, b.tag(), BOTH)?;
                if round % 8 == 0 {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
            let window = nic.register_window(64, b.tag(), BOTH)?;
            send(b, &window.handle().to_bytes())?;
            assert_eq!(sleeper.join().expect("no panic"), Some(Ok(5)));
            Ok(())
        })
    })
}

/// Over shared memory what the peer says of it goes to whoever listens first.
#[test]
fn a_window_is_reached_while_another_thread_waits_for_the_queue() -> Result {
    everywhere(|fabric, level| {
        if fabric.name != "shm" {
            // Who writes sleeps, as nobody may while somebody waits for the queue.
            return Ok(());
        }
        let mut pair = Pair::new(fabric, &ViAttributes::new(level))?;
        let nic = &pair.nics[1];
        let [a, b] = &mut pair.vis;
        let mut queue = CompletionQueue::new(Duration::ZERO)?;
        queue.link(a, 7);
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    let _ = queue.wait(Some(Duration::from_micros(50)));
                }
            });
            let reached = (0..500).try_for_each(|_| {
                let shown = (0..16).map(|_| nic.register_window(64, b.tag(), BOTH));
                let shown = shown.collect::<std::result::Result<Vec<_>, _>>()?;
                shown.iter().try_for_each(|window| {
                    let buffer = filled(a, b"there")?;
                    outcome(a, SendDescriptor::write(buffer, at(window, 0)))??;
                    Ok(())
                })
            });
            over.store(true, Ordering::Relaxed);
            reached
        })
    })
}

/// They are more than a peer over shared memory can be told of before it takes note of any.
#[test]
fn as_many_windows_as_a_peer_takes_are_there_and_none_that_is_withdrawn() -> Result {
    const WINDOWS: usize = 400;
    everywhere(|fabric, level| {
        if level != Reliability::Unreliable {
            return Ok(());
        }
        let nics = (fabric.nics)()?;
        let attributes = ViAttributes { peer_pieces: 1000, ..ViAttributes::new(level) };
        let mut vis = [nics[0].create_vi(&attributes)?, nics[1].create_vi(&attributes)?];
        let window = || nics[1].register_window(64, attributes.tag, BOTH);
        let mut windows = (0..WINDOWS / 2).map(|_| window()).collect::<std::result::Result<Vec<_>, _>>()?;
        connect(&nics, &mut vis)?;
        for _ in WINDOWS / 2..WINDOWS {
            windows.push(window()?);
        }
        let take_note = |vis: &[Vi; 2]| {
            for _ in 0..4 {
                vis.iter().for_each(|vi| vi.bell().iter().for_each(Bell::drain));
            }
        };
        let write = |vis: &mut [Vi; 2], at| {
            let buffer = filled(&mut vis[0], b"here")?;
            outcome(&mut vis[0], SendDescriptor::write(buffer, at))
        };
        take_note(&vis);
        for window in &windows {
            assert_eq!(write(&mut vis, at(window, 7))?, Ok(4));
            let mut there = [0; 4];
            window.read(7, &mut there)?;
            assert_eq!(&there, b"here");
        }
        let kept = windows.split_off(WINDOWS - 10);
        let gone: Vec<_> = windows.drain(..).map(|window| at(&window, 0)).collect();
        take_note(&vis);
        for at in gone {
            assert_eq!(write(&mut vis, at)?, Err(CompletionError::RemoteProtection));
        }
        for window in &kept {
            assert_eq!(write(&mut vis, at(window, 0))?, Ok(4));
        }
        Ok(())
    })
}

/// Of somebody who waits by himself, and by a queue.
#[test]
fn a_message_from_memory_that_a_peer_cannot_be_shown_yet_leaves_once_it_can() -> Result {
    for queued in [false, true] {
        everywhere(|fabric, level| {
            if level == Reliability::Unreliable {
                return Ok(());
            }
            let nics = (fabric.nics)()?;
            let attributes = ViAttributes { peer_pieces: 1000, ..ViAttributes::new(level) };
            let mut vis = [nics[0].create_vi(&attributes)?, nics[1].create_vi(&attributes)?];
            vis[1].post_own_receives();
            connect(&nics, &mut vis)?;
            let window = || nics[0].register_window(64, attributes.tag, BOTH);
            let _windows = (0..400).map(|_| window()).collect::<std::result::Result<Vec<_>, _>>()?;
            let region = nics[0].register(1, 3000, attributes.tag)?;
            let [mut a, mut b] = vis;
            a.post_send(region.buffer().ok_or("no buffer")?)?;
            let mut queue = CompletionQueue::new(Duration::ZERO)?;
            queue.link(&mut a, 7);
            std::thread::scope(|scope| {
                let receiving = scope.spawn(|| b.receive_wait(LONG).map(|completion| completion.result));
                let sent = if queued {
                    loop {
                        if let Some(sent) = a.send_done() {
                            break sent;
                        }
                        queue.wait(LONG)?;
                    }
                } else {
                    a.send_wait(LONG)?
                };
                assert!(sent.result.is_ok());
                assert!(receiving.join().expect("no panic")?.is_ok());
                Ok(())
            })
        })?;
    }
    Ok(())
}
