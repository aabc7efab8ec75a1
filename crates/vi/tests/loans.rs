//! Messages in memory that their sender lends to a receiver whom he trusts, and gets back changed.
#![cfg(not(loom))]

use std::{error::Error, time::Duration};

use throughline_vi::{
    Buffer, CompletionError, Faults, LENT_FRONT, LocalNetwork, Nic, Region, Reliability, SendDescriptor,
    State, TrustedPeers, Vi, ViAttributes,
};

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

const LONG: Option<Duration> = Some(Duration::from_secs(20));
const SIZE: u32 = 100_000;

fn promise() -> TrustedPeers {
    // SAFETY: all peers are this process, which uses the library alone.
    unsafe { TrustedPeers::promise() }
}

fn attributes(trusting: bool) -> ViAttributes {
    ViAttributes {
        trusted: trusting.then(promise),
        receive_longer: SIZE,
        ..ViAttributes::new(Reliability::ReliableDelivery)
    }
}

/// Two VIs that are connected, each trusting the other or not, and memory that the first may lend.
fn pair(nic: &Nic, trusting: [bool; 2]) -> Result<(Vi, Vi, Region)> {
    let mut listener = nic.listen(b"loans")?;
    let [mut a, mut b] = [nic.create_vi(&attributes(trusting[0]))?, nic.create_vi(&attributes(trusting[1]))?];
    assert!(!a.lends());
    a.post_own_receives();
    b.post_own_receives();
    std::thread::scope(|scope| -> Result {
        let active = scope.spawn(|| a.connect(nic.address(), b"loans", LONG));
        listener.wait(LONG)?.accept(&mut b)?;
        Ok(active.join().expect("no panic")?)
    })?;
    let region = nic.register_lent(3, SIZE, a.tag(), promise())?;
    Ok((a, b, region))
}

fn pattern(seed: usize, len: usize) -> Vec<u8> {
    (0..len).map(|at| (seed * 31 + at * 7 + at / 256) as u8).collect()
}

fn written(region: &Region, bytes: &[u8]) -> Result<Buffer> {
    let mut buffer = region.buffer().ok_or("no buffer")?;
    buffer[..bytes.len()].copy_from_slice(bytes);
    Ok(buffer)
}

/// Receives what was lent; its first bytes are those that come with it.
fn receive_lent(vi: &mut Vi) -> Option<usize> {
    let mut front = [0; LENT_FRONT];
    let len = vi.receive_lent(&mut front)?;
    let known = len.min(LENT_FRONT);
    assert_eq!(vi.in_place().expect("a message")[..known], front[..known]);
    Some(len)
}

/// Takes the next message, which needs no descriptor.
fn receive(vi: &mut Vi) -> Option<Vec<u8>> {
    let mut line = [0; throughline_vi::SMALL_MESSAGE];
    let mut longer = [0; 2048];
    let small = vi.receive_small(&mut line).map(|len| line[..len].to_vec());
    small.or_else(|| vi.receive_copied(&mut longer).map(|len| longer[..len].to_vec()))
}

#[test]
fn what_is_lent_comes_back_as_the_receiver_left_it() -> Result {
    let (mut a, mut b, region) = pair(&Nic::shm()?, [true; 2])?;
    assert!(a.lends() && b.lends());
    // Often enough for the ring to come round, among messages that fill several of its lines.
    for round in 0..600 {
        let len = [5000, 1, 47, 48, 49, SIZE as usize][round % 6];
        let mut expected = pattern(round, len);
        a.lend(written(&region, &expected)?, len).map_err(|_| "refused")?;
        assert!(a.take_back().is_none());
        assert_eq!(receive_lent(&mut b), Some(len));
        let message = b.lent_mut().expect("it was lent");
        assert_eq!(message, expected);
        message.reverse();
        expected.reverse();
        let answer = pattern(round, round % 49);
        match round % 4 {
            // Told in one, or not.
            0 | 1 => assert!(b.send_and_release(&answer)),
            2 => {
                b.release();
                assert!(b.send_copied(&answer));
            }
            _ => {
                b.release();
                assert!(b.send_copied(&pattern(round, 700)));
                assert_eq!(receive(&mut a), Some(pattern(round, 700)));
                assert!(b.send_copied(&answer));
            }
        }
        assert!(b.lent_mut().is_none() && b.in_place().is_none());
        assert_eq!(receive(&mut a), Some(answer), "round {round}");
        let back = a.take_back().ok_or("it is not back")?;
        assert_eq!(back.len(), len);
        assert!(*back == expected);
        assert!(a.take_back().is_none());
    }
    Ok(())
}

#[test]
fn several_may_be_away() -> Result {
    let (mut a, mut b, region) = pair(&Nic::shm()?, [true; 2])?;
    for seed in 0..3 {
        a.lend(written(&region, &pattern(seed, 3000))?, 3000).map_err(|_| "refused")?;
    }
    assert!(region.buffer().is_none());
    for seed in 0..3 {
        assert_eq!(receive_lent(&mut b), Some(3000));
        assert_eq!(b.lent_mut().expect("it was lent"), pattern(seed, 3000));
        assert!(a.take_back().is_none());
        b.release();
    }
    // The last one is not given out before all are back, and the others have returned to their region.
    let last = a.take_back().ok_or("it is not back")?;
    assert_eq!(*last, pattern(2, 3000));
    assert!(region.buffer().is_some() && region.buffer().is_some());
    Ok(())
}

#[test]
fn who_asks_in_the_usual_way_gets_it_too() -> Result {
    let (mut a, mut b, region) = pair(&Nic::shm()?, [true; 2])?;
    a.lend(written(&region, &pattern(1, 5000))?, 5000).map_err(|_| "refused")?;
    let completion = b.receive_wait(LONG)?;
    assert_eq!(completion.result, Ok(5000));
    assert_eq!(b.in_place().expect("it is in place"), pattern(1, 5000));
    assert!(b.lent_mut().is_none());
    b.release();
    assert_eq!(*a.take_back().ok_or("it is not back")?, pattern(1, 5000));
    // And what is sent from there in the usual way is not lent.
    let mut buffer = written(&region, &pattern(2, 5000))?;
    buffer.set_len(5000);
    a.post_send(SendDescriptor::new(buffer))?;
    assert_eq!(receive_lent(&mut b), None);
    assert_eq!(b.receive_wait(LONG)?.result, Ok(5000));
    assert_eq!(b.in_place().expect("it is in place"), pattern(2, 5000));
    assert!(b.lent_mut().is_none());
    b.release();
    assert_eq!(a.send_wait(LONG)?.result, Ok(5000));
    Ok(())
}

#[test]
fn nothing_is_lent_unless_both_sides_trust() -> Result {
    for trusting in [[false, true], [true, false], [false, false]] {
        let (mut a, mut b, region) = pair(&Nic::shm()?, trusting)?;
        assert!(!a.lends() && !b.lends());
        let buffer = a.lend(written(&region, &pattern(1, 5000))?, 5000).expect_err("it is refused");
        assert!(a.state() == State::Connected);
        // Not shown to the peer in any other way either.
        a.post_send(SendDescriptor::new(buffer))?;
        assert_eq!(a.send_wait(LONG)?.result, Err(CompletionError::Protection));
        assert!(b.receive_wait(LONG)?.result.is_err());
    }
    Ok(())
}

#[test]
fn only_memory_that_is_lent_and_of_the_same_tag_is() -> Result {
    let nic = Nic::shm()?;
    let (mut a, _b, _region) = pair(&nic, [true; 2])?;
    let plain = nic.register(1, SIZE, a.tag())?;
    assert!(a.lend(plain.buffer().ok_or("no buffer")?, 5000).is_err());
    let own = a.send_buffer().ok_or("no buffer")?;
    assert!(a.lend(own, 5000).is_err());
    let strange = nic.register_lent(1, SIZE, throughline_vi::ProtectionTag::new(), promise())?;
    assert!(a.lend(strange.buffer().ok_or("no buffer")?, 5000).is_err());
    assert_eq!(a.state(), State::Connected);
    Ok(())
}

#[test]
fn it_is_lost_with_the_connection() -> Result {
    let (mut a, mut b, region) = pair(&Nic::shm()?, [true; 2])?;
    a.lend(written(&region, &pattern(3, 5000))?, 5000).map_err(|_| "refused")?;
    assert_eq!(receive_lent(&mut b), Some(5000));
    drop(a);
    // Whoever has it may go on with it.
    b.lent_mut().ok_or("it was lent")?.reverse();
    assert!(b.receive_wait(LONG)?.result.is_err());
    assert!(!b.send_and_release(b"late"));

    let (mut a, b, region) = pair(&Nic::shm()?, [true; 2])?;
    a.lend(written(&region, &pattern(4, 5000))?, 5000).map_err(|_| "refused")?;
    drop(b);
    assert!(a.receive_wait(LONG)?.result.is_err());
    assert!(a.take_back().is_none());
    assert!(a.lend(region.buffer().ok_or("no buffer")?, 100).is_err());
    Ok(())
}

#[test]
fn other_fabrics_lend_nothing() -> Result {
    let udp = Nic::udp((std::net::Ipv4Addr::LOCALHOST, 0).into())?;
    for nic in [udp, Nic::local(&LocalNetwork::new(Faults::NONE), "loans")] {
        let (mut a, mut b, region) = pair(&nic, [true; 2])?;
        assert!(!a.lends());
        let mut buffer = a.lend(written(&region, &pattern(1, 5000))?, 5000).expect_err("it is refused");
        buffer.set_len(5000);
        a.post_send(SendDescriptor::new(buffer).unsignaled())?;
        assert_eq!(receive_lent(&mut b), None);
        let completion = b.receive_wait(LONG)?;
        assert_eq!(*completion.buffer, pattern(1, 5000));
        assert!(!b.send_and_release(b"nothing was"));
    }
    Ok(())
}

/// Whoever has it may still change it. What was released is there again.
#[test]
fn what_is_away_when_its_vi_is_dropped_is_given_to_nobody() -> Result {
    let (mut a, mut b, region) = pair(&Nic::shm()?, [true; 2])?;
    for round in 0..2 {
        let message = pattern(round, 50_000);
        assert!(a.lend(written(&region, &message)?, message.len()).is_ok());
        assert_eq!(receive_lent(&mut b), Some(message.len()));
        if round == 0 {
            b.release();
        }
    }
    drop(a);
    let mut others: Vec<_> = std::iter::from_fn(|| region.buffer()).collect();
    others.iter_mut().for_each(|buffer| buffer.fill(0xFF));
    assert!(*b.lent_mut().ok_or("it is there")? == *pattern(1, 50_000));
    assert_eq!(others.len(), 2);
    Ok(())
}
