//! VIs over a network that fails on purpose.
#![cfg(not(loom))]

use std::{collections::BTreeSet, error::Error, time::Duration};
use throughline_vi::{
    CompletionError, Faults, LocalNetwork, Nic, Reliability, SendDescriptor, State, Vi, ViAttributes,
};

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

const LONG: Option<Duration> = Some(Duration::from_secs(20));
const MESSAGES: u32 = 2000;

fn pair(network: &LocalNetwork) -> Result<[Vi; 2]> {
    pair_of(network, Reliability::Unreliable)
}

fn pair_of(network: &LocalNetwork, level: Reliability) -> Result<[Vi; 2]> {
    let nics = ["a", "b"].map(|address| Nic::local(network, address));
    let mut listener = nics[1].listen(b"faults")?;
    let attributes = ViAttributes::new(level);
    let mut vis = [nics[0].create_vi(&attributes)?, nics[1].create_vi(&attributes)?];
    let [a, b] = &mut vis;
    b.post_own_receives();
    a.post_own_receives();
    std::thread::scope(|scope| -> Result {
        let active = scope.spawn(|| a.connect("b", b"faults", LONG));
        listener.wait(LONG)?.accept(b)?;
        Ok(active.join().expect("no panic")?)
    })?;
    Ok(vis)
}

fn send(vi: &mut Vi, number: u32) -> Result {
    let mut buffer = vi.send_buffer().ok_or("no buffer")?;
    buffer.set_len(4);
    buffer.copy_from_slice(&number.to_le_bytes());
    Ok(vi.post_send(SendDescriptor::new(buffer).unsignaled())?)
}

/// What has arrived.
fn arrived(vi: &mut Vi) -> Result<Vec<u32>> {
    let mut numbers = Vec::new();
    while let Some(completion) = vi.receive_done() {
        completion.result?;
        numbers.push(u32::from_le_bytes(completion.buffer[..].try_into()?));
        vi.post_receive(completion.buffer)?;
    }
    Ok(numbers)
}

/// The numbers that arrive when 0 to 2000 are sent.
fn run(faults: Faults) -> Result<Vec<u32>> {
    let network = LocalNetwork::new(faults);
    let [mut a, mut b] = pair(&network)?;
    let mut numbers = Vec::new();
    for number in 0..MESSAGES {
        send(&mut a, number)?;
        // In bursts, so that there is something to overtake.
        if number % 10 == 9 {
            numbers.extend(arrived(&mut b)?);
            network.advance(Duration::from_millis(1));
        }
    }
    network.advance(Duration::from_secs(1));
    numbers.extend(arrived(&mut b)?);
    assert_eq!(b.state(), State::Connected);
    Ok(numbers)
}

fn distinct(numbers: &[u32]) -> usize {
    numbers.iter().collect::<BTreeSet<_>>().len()
}

fn in_order(numbers: &[u32]) -> bool {
    numbers.is_sorted()
}

#[test]
fn without_faults_everything_arrives() -> Result {
    assert_eq!(run(Faults::NONE)?, (0..MESSAGES).collect::<Vec<_>>());
    Ok(())
}

#[test]
fn each_fault_does_what_it_says_and_no_more() -> Result {
    let lossy = run(Faults { seed: 1, loss: 0.1, ..Faults::NONE })?;
    assert!((1700..1900).contains(&lossy.len()) && in_order(&lossy) && distinct(&lossy) == lossy.len());
    let twice = run(Faults { seed: 2, duplication: 0.1, ..Faults::NONE })?;
    assert!((2100..2300).contains(&twice.len()) && in_order(&twice) && distinct(&twice) == 2000);
    let overtaking = run(Faults { seed: 3, reordering: 0.1, ..Faults::NONE })?;
    assert!(overtaking.len() == 2000 && !in_order(&overtaking) && distinct(&overtaking) == 2000);
    // Damage is recognised: what arrives is intact.
    let damaged = run(Faults { seed: 4, corruption: 0.1, ..Faults::NONE })?;
    assert!((1700..1900).contains(&damaged.len()) && in_order(&damaged));
    assert!(damaged.iter().all(|number| *number < MESSAGES) && distinct(&damaged) == damaged.len());
    let delayed = run(Faults { seed: 5, delay: Duration::from_millis(5), ..Faults::NONE })?;
    assert!(delayed.len() == 2000 && !in_order(&delayed) && distinct(&delayed) == 2000);
    Ok(())
}

#[test]
fn the_same_seed_makes_the_same_faults() -> Result {
    let faults = Faults {
        seed: 9,
        loss: 0.05,
        duplication: 0.05,
        reordering: 0.2,
        corruption: 0.05,
        delay: Duration::from_millis(3),
    };
    assert_eq!(run(faults)?, run(faults)?);
    assert_ne!(run(faults)?, run(Faults { seed: 10, ..faults })?);
    Ok(())
}

#[test]
fn a_network_that_is_cut_stops_both_sides() -> Result {
    let network = LocalNetwork::new(Faults { seed: 1, loss: 0.5, ..Faults::NONE });
    let mut vis = pair(&network)?;
    network.cut("a");
    for vi in &mut vis {
        assert_eq!(vi.receive_wait(LONG)?.result, Err(CompletionError::Flushed));
        assert_eq!(vi.state(), State::Stopped(CompletionError::ConnectionLost));
    }
    Ok(())
}

/// At the reliable levels every message arrives once, in order and intact, whatever the network does.
#[test]
fn reliable_levels_are_reliable_where_messages_are_lost() -> Result {
    let faults =
        Faults { seed: 3, loss: 0.1, duplication: 0.1, reordering: 0.1, corruption: 0.02, ..Faults::NONE };
    for level in [Reliability::ReliableDelivery, Reliability::ReliableReception] {
        let network = LocalNetwork::new(faults);
        let [mut a, mut b] = pair_of(&network, level)?;
        std::thread::scope(|scope| -> Result {
            let echo = scope.spawn(move || -> std::result::Result<(), String> {
                for number in 0..MESSAGES {
                    let completion = b.receive_wait(LONG).map_err(|error| error.to_string())?;
                    assert_eq!(completion.buffer[..], number.to_le_bytes());
                    b.post_receive(completion.buffer).map_err(|error| error.to_string())?;
                    send(&mut b, number).map_err(|error| error.to_string())?;
                }
                Ok(())
            });
            let (mut sent, mut back) = (0, 0);
            while back < MESSAGES {
                while sent < MESSAGES && sent < back + 16 {
                    send(&mut a, sent)?;
                    sent += 1;
                }
                let completion = a.receive_wait(LONG)?;
                assert_eq!(completion.buffer[..], back.to_le_bytes());
                a.post_receive(completion.buffer)?;
                back += 1;
            }
            Ok(echo.join().expect("no panic")?)
        })?;
    }
    Ok(())
}

#[test]
fn reliable_levels_notice_that_the_network_is_cut() -> Result {
    let network = LocalNetwork::new(Faults { seed: 1, loss: 0.1, ..Faults::NONE });
    let mut vis = pair_of(&network, Reliability::ReliableDelivery)?;
    network.cut("a");
    let [a, b] = &mut vis;
    send(a, 1)?;
    send(b, 1)?;
    for vi in &mut vis {
        assert_eq!(vi.receive_wait(LONG)?.result, Err(CompletionError::Flushed));
        assert_eq!(vi.state(), State::Stopped(CompletionError::ConnectionLost));
    }
    Ok(())
}
