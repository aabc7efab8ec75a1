//! Servers that send their callers elsewhere: to nowhere, to nobody, in words that make no sense.
#![allow(missing_docs)]

#[path = "common/raw.rs"]
mod raw;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use raw::{BadServer, GRACE, LONG, block_on, client, reply_of};
use throughline::rt::{Dispatched, Encode, Interface, ObjectRef, ServerCall, Skeleton, TypedSkeleton};
use throughline::{Completion, Ior, Kind, SystemException};
use throughline_giop::reply::ReplyStatus;

/// A reply that forwards to a reference.
fn forward(id: u32, ior: &Ior) -> Vec<u8> {
    reply_of(id, ReplyStatus::LocationForward, |w| ior.encode(w).unwrap())
}

/// The first request is forwarded to `place`, all others are answered.
fn forwards_once(place: Ior) -> BadServer {
    let mut first = true;
    BadServer::new(move |_, mut wire| {
        while let Some(heard) = wire.request() {
            wire.send(&match std::mem::take(&mut first) {
                true => forward(heard.id, &place),
                false => heard.answer(),
            });
        }
    })
}

#[test]
fn a_call_that_is_forwarded_to_nowhere_goes_back_once() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for future in [false, true] {
        let text = format!("corbaloc:iiop:1.2@127.0.0.1:{port}/x");
        let nobody = client().string_to_object(&text).unwrap().ior().clone();
        for place in [Ior::NIL, Ior { type_id: raw::ID.into(), profiles: Vec::new() }, nobody] {
            let (client, server) = (client(), forwards_once(place.clone()));
            let probe = server.reference(&client).within(LONG);
            let called = if future { block_on(probe.ping_async()) } else { probe.ping() };
            assert_eq!(called, Ok(()), "future: {future}, to {place}");
            client.shutdown(GRACE);
        }
    }
}

/// Forwards all requests to this place; how many there were.
fn forwards_all(place: Ior) -> (BadServer, Arc<AtomicUsize>) {
    let asked = Arc::<AtomicUsize>::default();
    let count = Arc::clone(&asked);
    let server = BadServer::new(move |_, mut wire| {
        while let Some(heard) = wire.request() {
            count.fetch_add(1, Ordering::SeqCst);
            wire.send(&forward(heard.id, &place));
        }
    });
    (server, asked)
}

#[test]
fn a_call_that_is_forwarded_to_nobody_time_and_again_goes_back_once() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for future in [false, true] {
        let client = client();
        let nobody = client.string_to_object(&format!("corbaloc:iiop:1.2@127.0.0.1:{port}/x")).unwrap();
        let (server, asked) = forwards_all(nobody.ior().clone());
        let probe = server.reference(&client).within(LONG);
        for calls in 1..3 {
            let e = if future { block_on(probe.ping_async()) } else { probe.ping() }.unwrap_err();
            assert_eq!((e.kind, e.completed), (Kind::Transient, Completion::No), "future: {future}, {e}");
            // Where nobody answers at all, each time takes as long as connecting may.
            assert_eq!(asked.load(Ordering::SeqCst), 2 * calls, "future: {future}, {e}");
            assert!(e.to_string().contains(&format!("127.0.0.1:{port}")), "{e}");
        }
        client.shutdown(GRACE);
    }
}

#[test]
fn a_call_that_is_forwarded_to_nobody_by_the_native_protocol_goes_back_once() {
    for (future, at) in
        [(true, "shm:"), (false, "shm:"), (true, "udp://127.0.0.1:0"), (false, "udp://127.0.0.1:0")]
    {
        let place = raw::server_with(|c| c.listen = vec![at.parse().unwrap()]);
        let nobody = place.root().activate(raw::Probe::default()).unwrap().0.ior().clone();
        place.shutdown(GRACE);
        drop(place);
        let (client, (server, asked)) = (client(), forwards_all(nobody));
        let probe = server.reference(&client).within(LONG);
        for calls in 1..3 {
            let e = if future { block_on(probe.ping_async()) } else { probe.ping() }.unwrap_err();
            assert_eq!((e.kind, e.completed), (Kind::Transient, Completion::No), "future: {future}, {e}");
            assert_eq!(asked.load(Ordering::SeqCst), 2 * calls, "future: {future}, {at}: {e}");
        }
        client.shutdown(GRACE);
    }
}

#[test]
fn a_forward_that_cannot_be_read_has_not_completed() {
    for (status, body) in [
        (ReplyStatus::LocationForward, &[0xff; 8][..]),
        (ReplyStatus::LocationForwardPerm, &[]),
        (ReplyStatus::NeedsAddressingMode, &[9; 2]),
    ] {
        let client = client();
        let server = BadServer::new(move |_, mut wire| {
            while let Some(heard) = wire.request() {
                wire.send(&reply_of(heard.id, status, |w| w.write_bytes(body)));
            }
        });
        let probe = server.reference(&client).within(LONG);
        for future in [false, true] {
            let e = if future { block_on(probe.ping_async()) } else { probe.ping() }.unwrap_err();
            assert_eq!((e.kind, e.completed), (Kind::Marshal, Completion::No), "{status:?}: {e}");
        }
        client.shutdown(GRACE);
    }
}

/// Answers the first request; afterwards the object is gone.
fn leaves() -> BadServer {
    let mut there = true;
    BadServer::new(move |_, mut wire| {
        while let Some(heard) = wire.request() {
            wire.send(&match std::mem::take(&mut there) {
                true => heard.answer(),
                false => reply_of(heard.id, ReplyStatus::SystemException, |w| {
                    let (kind, completed) = (Kind::ObjectNotExist, Completion::No);
                    throughline_giop::SystemException { kind, minor: 0, completed }.encode(w).unwrap();
                }),
            });
        }
    })
}

#[test]
fn an_object_that_has_left_where_it_was_forwarded_to_is_asked_for_again() {
    for future in [false, true] {
        let (client, place) = (client(), leaves());
        let server = forwards_once(place.reference(&client).0.ior().clone());
        let probe = server.reference(&client).within(LONG);
        for _ in 0..3 {
            let called = if future { block_on(probe.ping_async()) } else { probe.ping() };
            assert_eq!(called, Ok(()), "future: {future}");
        }
        client.shutdown(GRACE);
    }
}

/// Answers the first request, and says this to whoever asks afterwards.
fn turns_away(says: Vec<u8>) -> BadServer {
    let mut well = true;
    BadServer::new(move |_, mut wire| {
        while let Some(heard) = wire.request() {
            if !std::mem::take(&mut well) {
                return wire.send(&says);
            }
            wire.send(&heard.answer());
        }
    })
}

/// What three calls bring of which the first one is forwarded to a server that afterwards turns away.
fn three_calls(future: bool, says: &[u8]) -> [Result<(), SystemException>; 3] {
    let (client, place) = (client(), turns_away(says.to_vec()));
    let server = forwards_once(place.reference(&client).0.ior().clone());
    let probe = server.reference(&client).within(LONG);
    let called = [(); 3].map(|()| if future { block_on(probe.ping_async()) } else { probe.ping() });
    client.shutdown(GRACE);
    called
}

#[test]
fn where_nobody_carries_calls_out_any_more_they_are_not_sent_for_ever() {
    for future in [false, true] {
        assert_eq!(three_calls(future, &raw::close_connection()), [Ok(()), Ok(()), Ok(())]);
        let [first, second, third] = three_calls(future, b"HTTP/1.0 400 Bad Request\r\n\r\n");
        // It may have been carried out.
        let e = second.unwrap_err();
        assert_eq!((e.kind, e.completed), (Kind::CommFailure, Completion::Maybe), "{e}");
        assert_eq!((first, third), (Ok(()), Ok(())), "future: {future}");
    }
}

#[test]
fn an_object_that_is_gone_from_everywhere_is_not_looked_for_in_circles() {
    for future in [false, true] {
        let (client, place) = (client(), leaves());
        let (server, asked) = forwards_all(place.reference(&client).0.ior().clone());
        let probe = server.reference(&client).within(LONG);
        let call = || if future { block_on(probe.ping_async()) } else { probe.ping() };
        call().unwrap();
        for calls in 2..4 {
            let e = call().unwrap_err();
            assert_eq!((e.kind, e.completed), (Kind::ObjectNotExist, Completion::No), "{e}");
            assert_eq!(asked.load(Ordering::SeqCst), calls);
        }
        client.shutdown(GRACE);
    }
}

#[test]
fn an_object_that_is_reached_by_the_native_protocol_alone_is_found_where_a_call_is_forwarded_to() {
    for (future, at) in
        [(true, "shm:"), (false, "shm:"), (true, "udp://127.0.0.1:0"), (false, "udp://127.0.0.1:0")]
    {
        let place = raw::server_with(|c| c.listen = vec![at.parse().unwrap()]);
        let own = place.root().activate(raw::Probe::default()).unwrap();
        let (client, server) = (client(), forwards_once(own.0.ior().clone()));
        let probe = server.reference(&client).within(LONG);
        for _ in 0..2 {
            let called = if future { block_on(probe.text_async("hello")) } else { probe.text("hello") };
            assert_eq!(called.as_deref(), Ok("hello"), "future: {future}, {at}");
        }
        assert_eq!(probe.posted(), Ok(vec![]));
        client.shutdown(GRACE);
        place.shutdown(GRACE);
    }
}

/// Sends its first caller elsewhere, and answers all others.
struct Returned {
    place: ObjectRef,
    is_back: AtomicBool,
}

impl Skeleton for Returned {
    fn interface(&self) -> &'static Interface {
        &raw::PROBE
    }

    fn invoke(&self, _: u32, call: &mut ServerCall<'_>) -> Dispatched {
        if self.is_back.swap(true, Ordering::SeqCst) {
            call.reply(|_| Ok(()))
        } else {
            call.forward(&self.place)
        }
    }
}

impl TypedSkeleton for Returned {
    type Reference = raw::ProbeRef;
}

#[test]
fn a_call_goes_back_from_nobody_to_where_the_native_protocol_alone_leads() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for (future, at) in
        [(true, "shm:"), (false, "shm:"), (true, "udp://127.0.0.1:0"), (false, "udp://127.0.0.1:0")]
    {
        let (client, server) = (client(), raw::server_with(|c| c.listen = vec![at.parse().unwrap()]));
        let place = server.string_to_object(&format!("corbaloc:iiop:1.2@127.0.0.1:{port}/x")).unwrap();
        let servant = Returned { place, is_back: AtomicBool::new(false) };
        let probe = raw::seen_by(&client, &server.root().activate(servant).unwrap()).within(LONG);
        let called = if future { block_on(probe.ping_async()) } else { probe.ping() };
        assert_eq!(called, Ok(()), "future: {future}, {at}");
        client.shutdown(GRACE);
        server.shutdown(GRACE);
    }
}
