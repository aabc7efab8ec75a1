//! Callers who share a connection: what one of them has no time for costs the others nothing.
#![allow(missing_docs)]

#[path = "common/raw.rs"]
mod raw;

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use raw::{BadServer, GRACE, LONG, ProbeRef, Wire, block_on, client, reply};
use throughline::exception::minor;
use throughline::{Completion, Kind, Orb, SystemException};

const MS: Duration = Duration::from_millis(1);
const LARGE: usize = 32 << 20;

/// Answers, in the order in which they come, requests that it has read. It waits before it reads on after the first octets, and
/// before it answers.
fn slow(before: Duration, between: Duration) -> BadServer {
    BadServer::new(move |_, mut wire: Wire| {
        let mut first = [0; 4];
        let _ = wire.0.peek(&mut first);
        std::thread::sleep(before);
        let mut pause = Some(between);
        while let Some(heard) = wire.request() {
            std::thread::sleep(pause.take().unwrap_or_default());
            wire.send(&reply(heard.id, |w| w.write_u32(7)));
        }
    })
}

fn gives_up(probe: &ProbeRef, limit: Duration, data: &[u8]) {
    let started = Instant::now();
    let e = probe.within(limit).take(data).unwrap_err();
    assert_eq!(e.kind, Kind::Timeout, "{e}");
    assert!(started.elapsed() < limit + 300 * MS, "{:?}", started.elapsed());
}

fn end(client: &Orb, server: &BadServer, probe: &ProbeRef) {
    assert_eq!(probe.ping(), Ok(()));
    assert_eq!(server.connections(), 1);
    client.shutdown(GRACE);
}

#[test]
fn who_gives_up_behind_a_large_request_does_not_end_it() {
    let (client, server) = (client(), slow(600 * MS, Duration::ZERO));
    let probe = server.reference(&client).within(LONG);
    let large = probe.clone();
    let large = std::thread::spawn(move || large.take(&vec![0; LARGE]));
    std::thread::sleep(100 * MS);
    gives_up(&probe, 200 * MS, &[1]);
    assert_eq!(large.join().unwrap(), Ok(7));
    end(&client, &server, &probe);
}

#[test]
fn who_gives_a_large_request_up_does_not_end_the_calls_of_others() {
    for future in [false, true] {
        let (client, server) = (client(), slow(Duration::ZERO, 700 * MS));
        let probe = server.reference(&client).within(LONG);
        let first = probe.clone();
        let first =
            std::thread::spawn(move || if future { block_on(first.ping_async()) } else { first.ping() });
        std::thread::sleep(100 * MS);
        gives_up(&probe, 200 * MS, &vec![0; LARGE]);
        assert_eq!(first.join().unwrap(), Ok(()), "future: {future}");
        end(&client, &server, &probe);
    }
}

#[test]
fn an_answer_that_comes_too_late_is_nobody_elses_however_many_calls_were_made_since() {
    for future in [false, true] {
        let client = client();
        let server = BadServer::new(|_, mut wire: Wire| {
            let Some(late) = wire.request() else { return };
            while let Some(heard) = wire.request() {
                if heard.id == late.id {
                    wire.send(&reply(late.id, |w| w.write_string("too late").unwrap()));
                }
                wire.send(&reply(heard.id, |w| w.write_string("in time").unwrap()));
            }
        });
        let probe = server.reference(&client).within(LONG);
        let call = |probe: &ProbeRef| match future {
            false => probe.text(""),
            true => block_on(probe.text_async("")),
        };
        let e = call(&probe.within(50 * MS)).unwrap_err();
        assert_eq!(e.kind, Kind::Timeout, "{e}");
        for n in 0..10_000 {
            assert_eq!(call(&probe).as_deref(), Ok("in time"), "future: {future}, call {n}");
        }
        client.shutdown(GRACE);
    }
}

#[test]
fn a_large_request_that_is_half_sent_when_a_message_is_refused_is_not_carried_out() {
    let client = client();
    let server = BadServer::new(|_, mut wire: Wire| {
        // What it has read whole it does not understand, it says; of the other it has hardly read anything.
        wire.request();
        let _ = wire.0.read_exact(&mut [0; 1 << 16]);
        wire.send(&raw::message_error());
        std::thread::sleep(100 * MS);
    });
    let probe = server.reference(&client).within(LONG);
    let refused = probe.clone();
    let refused = std::thread::spawn(move || refused.ping());
    std::thread::sleep(100 * MS);
    let half = probe.take(&vec![0; LARGE]).unwrap_err();
    let whole = refused.join().unwrap().unwrap_err();
    for (e, completed) in [(half, Completion::No), (whole, Completion::Maybe)] {
        let refused = (Kind::CommFailure, minor::PEER_REFUSED_MESSAGE);
        assert_eq!(((e.kind, e.minor), e.completed), (refused, completed), "{e}");
    }
    assert_eq!(server.connections(), 1);
    client.shutdown(GRACE);
}

/// What becomes of three futures where the server has read the first one's request, and then says this: of the one whose request
/// it has, of the one whose request is half sent, and of the one that waits behind that.
fn futures_end_by(says: Vec<u8>) -> (SystemException, [Result<String, SystemException>; 2]) {
    let client = client();
    let (stage, requests) = <(Arc<AtomicUsize>, Arc<AtomicUsize>)>::default();
    let (reached, count) = (Arc::clone(&stage), Arc::clone(&requests));
    let wait_for = |stage: &AtomicUsize, n| raw::eventually("go on", || stage.load(Ordering::SeqCst) >= n);
    let server = BadServer::new(move |n, mut wire: Wire| {
        if n == 0 {
            assert_eq!(wire.request().unwrap().operation, "ping");
            reached.store(1, Ordering::SeqCst);
            wait_for(&reached, 2);
            if !says.is_empty() {
                wire.send(&says);
                wait_for(&reached, 3);
            }
            return;
        }
        while let Some(heard) = wire.request() {
            count.fetch_add(1, Ordering::SeqCst);
            wire.send(&reply(heard.id, |w| w.write_string("anew").unwrap()));
        }
    });
    let probe = server.reference(&client).within(LONG);
    let sent = probe.clone();
    let sent = std::thread::spawn(move || block_on(sent.ping_async()));
    wait_for(&stage, 1);
    let mut calls = [&"x".repeat(LARGE), ""].map(|text| Box::pin(probe.text_async(text)));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(calls.iter_mut().all(|call| call.as_mut().poll(&mut cx).is_pending()));
    stage.store(2, Ordering::SeqCst);
    let sent = sent.join().unwrap().unwrap_err();
    stage.store(3, Ordering::SeqCst);
    let others = calls.map(block_on);
    let anew = others.iter().filter(|called| called.is_ok()).count();
    assert_eq!((server.connections(), requests.load(Ordering::SeqCst)), (2, anew));
    client.shutdown(GRACE);
    (sent, others)
}

#[test]
fn futures_whose_requests_have_not_left_whole_are_called_anew_where_the_connection_is_lost() {
    for (says, why) in [("", minor::CONNECTION_LOST), ("no message of GIOP", minor::PEER_TALKS_NONSENSE)] {
        let (sent, others) = futures_end_by(says.into());
        assert_eq!(others.map(Result::unwrap), ["anew"; 2], "{says:?}");
        assert_eq!((sent.kind, sent.minor), (Kind::CommFailure, why), "{sent}");
        assert_eq!(sent.completed, Completion::Maybe, "{sent}");
    }
}

#[test]
fn a_future_whose_request_is_half_sent_when_a_message_is_refused_is_not_carried_out() {
    let (sent, [half, behind]) = futures_end_by(raw::message_error());
    for (e, completed) in [(half.unwrap_err(), Completion::No), (sent, Completion::Maybe)] {
        let refused = (Kind::CommFailure, minor::PEER_REFUSED_MESSAGE);
        assert_eq!(((e.kind, e.minor), e.completed), (refused, completed), "{e}");
    }
    assert_eq!(behind.as_deref(), Ok("anew"));
}
