//! Messages longer than the buffers posted, and messages read in the peer's memory.
#![cfg(not(loom))]

use std::{
    error::Error,
    time::{Duration, Instant},
};
use throughline_vi::{
    Completion, CompletionError, Faults, LocalNetwork, Nic, Region, Reliability, SendDescriptor, State,
    TrustedPeers, Vi, ViAttributes,
};

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

const LONG: Option<Duration> = Some(Duration::from_secs(20));
const LEVELS: [Reliability; 3] =
    [Reliability::Unreliable, Reliability::ReliableDelivery, Reliability::ReliableReception];

/// Two VIs that are connected; the second has few and short buffers for receiving.
fn pair(nic: &Nic, attributes: &ViAttributes) -> Result<[Vi; 2]> {
    let mut listener = nic.listen(b"long")?;
    let mut a = nic.create_vi(&ViAttributes::new(attributes.reliability))?;
    let mut b = nic.create_vi(attributes)?;
    a.post_own_receives();
    b.post_own_receives();
    std::thread::scope(|scope| -> Result {
        let active = scope.spawn(|| a.connect(nic.address(), b"long", LONG));
        listener.wait(LONG)?.accept(&mut b)?;
        Ok(active.join().expect("no panic")?)
    })?;
    Ok([a, b])
}

fn attributes(level: Reliability) -> ViAttributes {
    ViAttributes {
        receive_buffers: 2,
        receive_buffer_size: 4096,
        receive_longer: 100_000,
        ..ViAttributes::new(level)
    }
}

fn trusting(level: Reliability) -> ViAttributes {
    // SAFETY: the peer is this process, which uses the library alone.
    ViAttributes { trusted: Some(unsafe { TrustedPeers::promise() }), ..attributes(level) }
}

fn leaving(level: Reliability) -> ViAttributes {
    ViAttributes { leave: true, ..attributes(level) }
}

/// Copies of a left message's parts, put together.
fn in_parts(vi: &Vi) -> Result<Vec<u8>> {
    const PART: usize = 999;
    let left = vi.left().ok_or("nothing is left")?;
    let mut all = vec![0; left.len()];
    for (n, part) in all.chunks_mut(PART).enumerate() {
        left.copy(n * PART, part)?;
    }
    Ok(all)
}

fn pattern(seed: usize, len: usize) -> Vec<u8> {
    (0..len).map(|at| (seed * 31 + at * 7 + at / 256) as u8).collect()
}

fn send(vi: &mut Vi, region: &Region, bytes: &[u8]) -> Result {
    let mut buffer = region.buffer().ok_or("no buffer")?;
    buffer.set_len(bytes.len());
    buffer.copy_from_slice(bytes);
    Ok(vi.post_send(SendDescriptor::new(buffer).unsignaled())?)
}

fn receive(vi: &mut Vi) -> Result<Completion> {
    Ok(vi.receive_wait(LONG)?)
}

/// A NIC of every fabric, and whether it promises anything at the lowest level.
fn every_nic() -> Result<[(Nic, bool); 4]> {
    let lossy = Faults { seed: 5, loss: 0.1, duplication: 0.1, reordering: 0.1, ..Faults::NONE };
    let local = |faults| Nic::local(&LocalNetwork::new(faults), "long");
    Ok([
        (Nic::shm()?, true),
        (Nic::udp((std::net::Ipv4Addr::LOCALHOST, 0).into())?, false),
        (local(Faults::NONE), true),
        (local(lossy), false),
    ])
}

/// Sends as soon as a buffer is back.
fn send_when_free(vi: &mut Vi, region: &Region, bytes: &[u8]) -> Result {
    let began = Instant::now();
    loop {
        match send(vi, region, bytes) {
            Err(_) if region.buffer().is_none() && LONG.is_some_and(|long| began.elapsed() < long) => {
                assert!(vi.send_done().is_none());
            }
            sent => return sent,
        }
    }
}

#[test]
fn long_messages_come_in_memory_made_for_them() -> Result {
    for (nic, steady) in every_nic()? {
        for level in LEVELS.into_iter().filter(|level| steady || *level != Reliability::Unreliable) {
            let [mut a, mut b] = pair(&nic, &attributes(level))?;
            let region = nic.register(2, 100_000, a.tag())?;
            for (seed, len) in [5000, 100, 100_000, 4096, 4200, 70_000].into_iter().enumerate() {
                send_when_free(&mut a, &region, &pattern(seed, len))?;
                let completion = receive(&mut b)?;
                assert_eq!(completion.result, Ok(len));
                assert_eq!(*completion.buffer, pattern(seed, len));
                // What was posted for a long message is to be had again, and nothing else.
                let posted = b.receive_buffer();
                assert_eq!(posted.is_some(), completion.buffer.capacity() > 5000, "{len} bytes");
                b.post_receive(posted.unwrap_or(completion.buffer))?;
                assert!(b.receive_buffer().is_none());
                assert!(a.send_done().is_none());
            }
            // One is in use while the next comes.
            send_when_free(&mut a, &region, &pattern(1, 50_000))?;
            let first = receive(&mut b)?;
            send_when_free(&mut a, &region, &pattern(2, 60_000))?;
            let second = receive(&mut b)?;
            assert_eq!((&*first.buffer, &*second.buffer), (&*pattern(1, 50_000), &*pattern(2, 60_000)));
        }
    }
    Ok(())
}

#[test]
fn unreliable_long_messages_over_datagrams_come_whole_or_not_at_all() -> Result {
    let nic = Nic::udp((std::net::Ipv4Addr::LOCALHOST, 0).into())?;
    let [mut a, mut b] = pair(&nic, &attributes(Reliability::Unreliable))?;
    let region = nic.register(1, 100_000, a.tag())?;
    let mut came = 0;
    for seed in 0..100 {
        send_when_free(&mut a, &region, &pattern(seed, 60_000))?;
        let Ok(completion) = b.receive_wait(Some(Duration::from_millis(200))) else { continue };
        assert_eq!(completion.result, Ok(60_000));
        assert_eq!(*completion.buffer, pattern(seed, 60_000));
        let posted = b.receive_buffer();
        b.post_receive(posted.unwrap_or(completion.buffer))?;
        came += 1;
    }
    assert!(came > 0);
    Ok(())
}

#[test]
fn many_long_messages_under_way_come_in_order_whatever_memory_their_reader_keeps() -> Result {
    const MESSAGES: usize = 60;
    let length = |seed: usize| [9_000, 100_000, 30, 4097, 64_000][seed % 5] + seed;
    for (nic, _) in every_nic()? {
        let with_many = ViAttributes { receive_buffers: 16, ..attributes(Reliability::ReliableDelivery) };
        let [mut a, mut b] = pair(&nic, &with_many)?;
        let region = nic.register(8, 110_000, a.tag())?;
        std::thread::scope(|scope| -> Result {
            let sending = scope.spawn(|| -> std::result::Result<_, String> {
                for seed in 0..MESSAGES {
                    let sent = send_when_free(&mut a, &region, &pattern(seed, length(seed).min(100_000)));
                    sent.map_err(|error| error.to_string())?;
                }
                Ok(a)
            });
            let mut kept = Vec::new();
            for seed in 0..MESSAGES {
                let completion =
                    receive(&mut b).map_err(|error| format!("{seed} by {nic:?}: {error} {b:?}"))?;
                assert!(*completion.buffer == pattern(seed, length(seed).min(100_000)), "message {seed}");
                // More than there is in stock.
                kept.push(completion.buffer);
                if kept.len() > 10 {
                    kept.clear();
                }
                b.post_own_receives();
            }
            drop(sending.join().expect("no panic")?);
            Ok(())
        })?;
    }
    Ok(())
}

/// Over datagrams, where they are put together: one taken out of the connection, three beside, and the one that is waited for.
#[test]
fn who_is_slow_to_take_long_messages_is_sent_few_and_the_others_afterwards() -> Result {
    const MOST: usize = 5;
    let [_, (udp, _), _, (lossy, _)] = every_nic()?;
    for nic in [udp, lossy] {
        let with_many = ViAttributes { receive_buffers: 16, ..attributes(Reliability::ReliableReception) };
        let [mut a, mut b] = pair(&nic, &with_many)?;
        let region = nic.register(12, 100_000, a.tag())?;
        for seed in 0..12 {
            let mut buffer = region.buffer().ok_or("no buffer")?;
            buffer.set_len(100_000);
            buffer.copy_from_slice(&pattern(seed, 100_000));
            a.post_send(SendDescriptor::new(buffer))?;
        }
        let (mut sent, began) = (0, Instant::now());
        while began.elapsed() < Duration::from_millis(200) {
            sent += usize::from(a.send_done().is_some());
            assert!(b.send_done().is_none());
        }
        assert!((3..=MOST).contains(&sent), "{sent} by {nic:?}");
        for seed in 0..12 {
            let received = std::thread::scope(|scope| {
                let receiving = scope.spawn(|| receive(&mut b).map_err(|error| error.to_string()));
                while !receiving.is_finished() {
                    sent += usize::from(a.send_done().is_some());
                }
                receiving.join().expect("no panic")
            });
            assert!(*received?.buffer == pattern(seed, 100_000), "message {seed} by {nic:?}");
        }
        // Nobody waited until the peer was asked again after a long silence.
        assert!(began.elapsed() < Duration::from_secs(5), "{:?} by {nic:?}", began.elapsed());
    }
    Ok(())
}

#[test]
fn what_is_longer_than_that_is_an_error() -> Result {
    let shm = Nic::shm()?;
    let cases = [attributes, trusting, leaving].map(|with| (shm.clone(), with));
    let others = every_nic()?.map(|(nic, _)| (nic, attributes as fn(_) -> _));
    for (nic, with) in cases.into_iter().map(|(nic, with)| (nic, with as fn(_) -> _)).chain(others) {
        let [mut a, mut b] = pair(&nic, &with(Reliability::ReliableDelivery))?;
        let region = nic.register(1, 200_000, a.tag())?;
        send(&mut a, &region, &pattern(1, 101_000))?;
        assert_eq!(receive(&mut b)?.result, Err(CompletionError::TooLong));
        assert_eq!(b.state(), State::Stopped(CompletionError::TooLong));
        assert!(b.in_place().is_none() && b.left().is_none());
    }
    Ok(())
}

#[test]
fn a_message_in_place_is_its_readers_until_released() -> Result {
    let nic = Nic::shm()?;
    for level in LEVELS {
        let [mut a, mut b] = pair(&nic, &trusting(level))?;
        let region = nic.register(1, 100_000, a.tag())?;
        for (seed, len) in [5000, 100_000, 4096, 2100].into_iter().enumerate() {
            send(&mut a, &region, &pattern(seed, len))?;
            let completion = receive(&mut b)?;
            assert_eq!((completion.result, completion.buffer.len()), (Ok(len), 0));
            assert_eq!(b.in_place(), Some(&*pattern(seed, len)));
            // As long as it is read the sender has no buffer.
            assert!(a.send_done().is_none());
            assert!(region.buffer().is_none());
            assert!(b.receive_done().is_none());
            assert_eq!(b.in_place(), Some(&*pattern(seed, len)));
            b.release();
            assert!(b.in_place().is_none());
            assert!(a.send_done().is_none());
            assert!(region.buffer().is_some());
            b.post_receive(completion.buffer)?;
        }
        // What is short is not there.
        send(&mut a, &region, b"short")?;
        assert_eq!(*receive(&mut b)?.buffer, *b"short");
        assert!(b.in_place().is_none());
    }
    Ok(())
}

#[test]
fn what_is_left_is_copied_by_its_reader_until_released() -> Result {
    let nic = Nic::shm()?;
    for level in LEVELS {
        let [mut a, mut b] = pair(&nic, &leaving(level))?;
        let region = nic.register(1, 100_000, a.tag())?;
        for (seed, len) in [5000, 100_000, 4096, 2100, 70_000].into_iter().enumerate() {
            send(&mut a, &region, &pattern(seed, len))?;
            let mut completion = receive(&mut b)?;
            assert_eq!((completion.result, completion.buffer.len()), (Ok(len), 0));
            // Nobody has promised anything.
            assert!(b.in_place().is_none());
            assert_eq!(in_parts(&b)?, pattern(seed, len));
            assert!(b.left().is_some_and(|left| left.copy(len - 1, &mut [0; 2]).is_err()));
            // There is room for it all the same.
            completion.buffer.set_len(len);
            b.left().ok_or("gone")?.copy(0, &mut completion.buffer)?;
            assert_eq!(*completion.buffer, pattern(seed, len));
            assert!(a.send_done().is_none());
            assert!(region.buffer().is_none());
            b.release();
            assert!(b.left().is_none());
            assert!(a.send_done().is_none());
            assert!(region.buffer().is_some());
            let posted = b.receive_buffer();
            b.post_receive(posted.unwrap_or(completion.buffer))?;
        }
        send(&mut a, &region, b"short")?;
        assert_eq!(*receive(&mut b)?.buffer, *b"short");
        assert!(b.left().is_none());
    }
    Ok(())
}

#[test]
fn the_next_message_ends_the_one_in_place() -> Result {
    let nic = Nic::shm()?;
    for next in [10, 1000, 6000] {
        let [mut a, mut b] = pair(&nic, &trusting(Reliability::ReliableDelivery))?;
        let region = nic.register(3, 10_000, a.tag())?;
        send(&mut a, &region, &pattern(1, 5000))?;
        send(&mut a, &region, &pattern(2, next))?;
        let first = receive(&mut b)?;
        assert_eq!(b.in_place(), Some(&*pattern(1, 5000)));
        let second = receive(&mut b)?;
        assert_eq!(second.result, Ok(next));
        match b.in_place() {
            Some(bytes) => assert_eq!((next, bytes), (6000, &*pattern(2, 6000))),
            None => assert_eq!(*second.buffer, pattern(2, next)),
        }
        b.release();
        assert!(a.send_done().is_none());
        assert_eq!(std::iter::from_fn(|| region.buffer()).collect::<Vec<_>>().len(), 3);
        drop(first);
    }
    Ok(())
}

#[test]
fn messages_that_come_while_only_sends_are_looked_at_are_copied() -> Result {
    let nic = Nic::shm()?;
    let both = ViAttributes { leave: true, ..trusting(Reliability::ReliableDelivery) };
    let [mut a, mut b] = pair(&nic, &both)?;
    let regions = [nic.register(2, 50_000, a.tag())?, nic.register(1, 50_000, b.tag())?];
    send(&mut b, &regions[1], &pattern(7, 10_000))?;
    for seed in 0..2 {
        send(&mut a, &regions[0], &pattern(seed, 20_000))?;
        assert!(b.send_done().is_none());
    }
    for seed in 0..2 {
        let completion = receive(&mut b)?;
        assert!(b.in_place().is_none() && b.left().is_none());
        assert_eq!(*completion.buffer, pattern(seed, 20_000));
    }
    Ok(())
}

#[test]
fn what_is_read_in_place_outlives_its_sender() -> Result {
    let nic = Nic::shm()?;
    for attributes in [trusting, leaving].map(|with| with(Reliability::ReliableDelivery)) {
        let [mut a, mut b] = pair(&nic, &attributes)?;
        let region = nic.register(1, 50_000, a.tag())?;
        send(&mut a, &region, &pattern(3, 50_000))?;
        let completion = receive(&mut b)?;
        drop((a, region));
        assert_eq!(receive(&mut b)?.result, Err(CompletionError::Flushed));
        assert_eq!(in_parts(&b)?, pattern(3, 50_000));
        assert_eq!(b.in_place().is_some(), attributes.trusted.is_some());
        drop(completion);
    }
    Ok(())
}
