//! Calls over VIs of a network within the process that loses a tenth of all packets, doubles a tenth and lets a tenth overtake
//! others: each is carried out exactly once. A million of them: `cargo test --release -p throughline-vi --test local_calls --
//! --ignored --nocapture`.
#![cfg(not(loom))]

use std::{
    collections::VecDeque,
    error::Error,
    time::{Duration, Instant},
};
use throughline_vi::{
    Faults, LocalNetwork, Nic, Reliability, SMALL_MESSAGE, SendDescriptor, Vi, ViAttributes,
    at_most_once::{CALL_ID, Call, CallId, CallTable, Caller, CallerId, Limits, Times, Verdict},
};

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

const LONG: Option<Duration> = Some(Duration::from_secs(20));
/// Calls under way.
const OUTSTANDING: u32 = 64;
const FEW: u32 = 20_000;
/// Calls one by one: a message that is lost costs time.
const ONE_BY_ONE: u32 = 3_000;
const MANY: u32 = 1_000_000;

fn pair(level: Reliability) -> Result<[Vi; 2]> {
    let faults = Faults { seed: 1, loss: 0.1, duplication: 0.1, reordering: 0.1, ..Faults::NONE };
    let network = LocalNetwork::new(faults);
    let nics = ["client", "server"].map(|address| Nic::local(&network, address));
    let mut listener = nics[1].listen(b"calls")?;
    let attributes = ViAttributes {
        send_buffers: 256,
        receive_buffers: 256,
        queue_depth: 256,
        ..ViAttributes::new(level)
    };
    let attributes = ViAttributes { send_buffer_size: 64, receive_buffer_size: 64, ..attributes };
    let mut vis = [nics[0].create_vi(&attributes)?, nics[1].create_vi(&attributes)?];
    vis.iter_mut().for_each(Vi::post_own_receives);
    let [client, server] = &mut vis;
    std::thread::scope(|scope| -> Result {
        let active = scope.spawn(|| client.connect("server", b"calls", LONG));
        listener.wait(LONG)?.accept(server)?;
        Ok(active.join().expect("no panic")?)
    })?;
    Ok(vis)
}

/// Whether there was a buffer.
fn send(vi: &mut Vi, parts: [&[u8]; 2]) -> Result<bool> {
    let Some(mut buffer) = vi.send_buffer() else { return Ok(false) };
    buffer.set_len(parts[0].len() + parts[1].len());
    buffer[..parts[0].len()].copy_from_slice(parts[0]);
    buffer[parts[0].len()..].copy_from_slice(parts[1]);
    vi.post_send(SendDescriptor::new(buffer).unsignaled())?;
    Ok(true)
}

/// Shows a message that has arrived, if any has.
fn receive<T>(vi: &mut Vi, show: impl FnOnce(&[u8]) -> T) -> Result<Option<T>> {
    let Some(completion) = vi.receive_done() else { return Ok(None) };
    completion.result?;
    let shown = show(&completion.buffer);
    vi.post_receive(completion.buffer)?;
    Ok(Some(shown))
}

fn number(octets: &[u8]) -> u32 {
    u32::from_le_bytes(octets.try_into().expect("four octets"))
}

fn answer(request: u32) -> u32 {
    request.wrapping_mul(0x9e37_79b1) ^ 0x5ca1_ab1e
}

fn report(what: &str, calls: u32, began: Instant) {
    let took = began.elapsed().as_secs_f64();
    println!("{what}: {calls} calls in {took:.1} s, {:.0} a second", f64::from(calls) / took);
}

/// Sends a number without a descriptor if that can be.
fn send_somehow(vi: &mut Vi, number: u32) -> Result<bool> {
    if vi.send_small(&number.to_le_bytes()) { Ok(true) } else { send(vi, [&number.to_le_bytes(), &[]]) }
}

/// Receives a number without a descriptor if that can be.
fn receive_somehow(vi: &mut Vi) -> Result<Option<u32>> {
    let mut octets = [0; SMALL_MESSAGE];
    match vi.receive_small(&mut octets) {
        Some(len) => Ok(Some(number(&octets[..len]))),
        None => receive(vi, number),
    }
}

/// A client and a server, each a thread that polls.
fn over_reliable_vis(level: Reliability, calls: u32, outstanding: u32) -> Result {
    let [mut client, mut server] = pair(level)?;
    let began = Instant::now();
    let carried_out = std::thread::scope(|scope| -> Result<Vec<u8>> {
        let serving = scope.spawn(move || serve(&mut server, calls).map_err(|error| error.to_string()));
        let (mut asked, mut answered) = (0, 0);
        while answered < calls {
            while asked < calls.min(answered + outstanding) && send_somehow(&mut client, asked)? {
                asked += 1;
            }
            match receive_somehow(&mut client)? {
                Some(reply) => {
                    assert_eq!(reply, answer(answered), "replies come in the order of the calls");
                    answered += 1;
                }
                None => std::thread::yield_now(),
            }
        }
        // Ends the server's loop.
        drop(client);
        Ok(serving.join().expect("no panic")?)
    })?;
    assert!(carried_out.iter().all(|count| *count == 1), "each exactly once");
    report(&format!("{level:?}"), calls, began);
    Ok(())
}

/// How often each call was carried out.
fn serve(server: &mut Vi, calls: u32) -> Result<Vec<u8>> {
    let (mut counts, mut replies) = (vec![0; calls as usize], VecDeque::new());
    let mut sent = 0;
    // Until the client has everything, and leaves.
    while sent < calls || server.state() == throughline_vi::State::Connected {
        while let Some(reply) = replies.front() {
            if !send_somehow(server, *reply)? {
                break;
            }
            replies.pop_front();
            sent += 1;
        }
        match receive_somehow(server) {
            Ok(Some(request)) => {
                counts[request as usize] += 1;
                replies.push_back(answer(request));
            }
            Ok(None) => std::thread::yield_now(),
            Err(error) if sent < calls => return Err(error),
            Err(_) => break,
        }
    }
    Ok(counts)
}

/// Unreliable VIs: whatever is lost is repeated by the caller, and the server's table knows what it has carried out.
fn at_most_once(calls: u32) -> Result {
    const STEP: Duration = Duration::from_micros(50);
    let [mut client, mut server] = pair(Reliability::Unreliable)?;
    let times = Times::default();
    let mut table = CallTable::new(&times, Limits::default(), 1);
    let mut caller = Caller::new(CallerId { index: 7, key: 0x1234_5678 }, times, STEP);
    let (mut counts, mut answered, mut made) = (vec![0_u8; calls as usize], 0, 0);
    let (mut repeated, mut now, began) = (0_u64, Duration::ZERO, Instant::now());
    while answered < calls {
        now += STEP;
        while made < calls && caller.call(now, made).is_ok() {
            made += 1;
        }
        while let Some((id, call)) = caller.transmit(now) {
            let Call::Request(request) = call else { continue };
            send(&mut client, [&id.to_octets(), &request.to_le_bytes()])?;
            repeated += 1;
        }
        while let Some((id, request)) = receive(&mut server, |octets| {
            let (id, request) = octets.split_at(CALL_ID);
            (CallId::from_octets(id.try_into().expect("an id")), number(request))
        })? {
            let reply = match table.receive(now, &id) {
                Verdict::CarryOut(ticket) => {
                    counts[request as usize] += 1;
                    let reply = answer(request);
                    table.reply(ticket, &reply.to_le_bytes());
                    reply
                }
                Verdict::Replied(reply) => number(reply),
                Verdict::Settled => continue,
                verdict => panic!("{verdict:?}"),
            };
            send(&mut server, [&id.number.to_le_bytes(), &reply.to_le_bytes()])?;
        }
        while let Some((call, reply)) = receive(&mut client, |octets| {
            let (call, reply) = octets.split_at(8);
            (u64::from_le_bytes(call.try_into().expect("eight octets")), number(reply))
        })? {
            if let Some(request) = caller.reply(now, call) {
                assert_eq!(reply, answer(request));
                answered += 1;
            }
        }
        assert!(caller.give_up(now).is_none());
    }
    assert!(counts.iter().all(|count| *count == 1), "each exactly once");
    assert!(repeated > u64::from(calls) * 11 / 10, "{repeated} requests sent");
    report("at most once, unreliable VIs", calls, began);
    Ok(())
}

#[test]
fn each_call_is_carried_out_once() -> Result {
    over_reliable_vis(Reliability::ReliableDelivery, FEW, OUTSTANDING)?;
    over_reliable_vis(Reliability::ReliableReception, FEW, OUTSTANDING)
}

/// Nothing is in the way of most messages, and each that is lost is missed by nobody else.
#[test]
fn each_call_is_carried_out_once_that_has_the_network_for_itself() -> Result {
    for outstanding in [1, 2, 5] {
        over_reliable_vis(Reliability::ReliableDelivery, ONE_BY_ONE, outstanding)?;
    }
    Ok(())
}

#[test]
fn each_call_is_carried_out_once_over_unreliable_vis() -> Result {
    at_most_once(FEW)
}

#[test]
#[ignore = "takes long"]
fn each_of_a_million_calls_is_carried_out_once() -> Result {
    over_reliable_vis(Reliability::ReliableDelivery, MANY, OUTSTANDING)?;
    over_reliable_vis(Reliability::ReliableReception, MANY, OUTSTANDING)
}

#[test]
#[ignore = "takes long"]
fn each_of_a_million_calls_is_carried_out_once_over_unreliable_vis() -> Result {
    at_most_once(MANY)
}
