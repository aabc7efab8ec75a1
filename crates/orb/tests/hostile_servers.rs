//! Servers that do not answer, answer nonsense, or go away in the middle of a call.
#![allow(missing_docs)]

#[path = "common/raw.rs"]
mod raw;

use std::io::Read;
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use raw::{
    BadServer, GRACE, Heard, LONG, Probe, ProbeRef, Wire, block_on, client, client_with, reply, reply_of,
    within,
};
use throughline::exception::minor;
use throughline::{Completion, Kind, Orb, SystemException, Version};
use throughline_cdr::ByteOrder;
use throughline_giop::finish;
use throughline_giop::header::MessageType;
use throughline_giop::reply::{NewReply, ReplyStatus, begin_reply};

const SECOND: Duration = Duration::from_secs(1);

/// What a call gets, blocking and as a future, each from a server of its own.
#[track_caller]
fn both_ways(
    serve: impl Fn(usize, Wire) + Send + Clone + 'static,
    check: impl Fn(Result<String, SystemException>),
) {
    for blocking in [true, false] {
        let client = client_with(|c| c.max_message = 1 << 20);
        let serve = serve.clone();
        let bad = BadServer::new(serve);
        let probe = bad.reference(&client).within(LONG);
        let started = Instant::now();
        check(if blocking {
            within(LONG, move || probe.text("hello"))
        } else {
            within(LONG, move || block_on(probe.text_async("hello")))
        });
        assert!(started.elapsed() < 5 * SECOND, "{:?}", started.elapsed());
        client.shutdown(GRACE);
    }
}

#[track_caller]
fn fails(serve: impl Fn(Heard, &mut Wire) + Send + Clone + 'static, kind: Kind, completed: Completion) {
    let once = move |_, mut wire: Wire| {
        if let Some(heard) = wire.request() {
            serve(heard, &mut wire);
        }
    };
    both_ways(once, |result| {
        let e = result.unwrap_err();
        assert_eq!((e.kind, e.completed), (kind, completed), "{e}");
    });
}

#[test]
fn nobody_listens() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let client = client();
    let probe = ProbeRef(client.string_to_object(&format!("corbaloc::127.0.0.1:{port}/x")).unwrap());
    for e in
        [probe.ping().unwrap_err(), block_on(probe.ping_async()).unwrap_err(), probe.post(1, 0).unwrap_err()]
    {
        assert_eq!((e.kind, e.completed), (Kind::Transient, Completion::No), "{e}");
        assert!(e.to_string().contains(&port.to_string()), "{e}");
    }
}

#[test]
fn a_server_that_accepts_and_never_answers() {
    // Nobody accepts, but the kernel does.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let client = client();
    let probe = ProbeRef(client.string_to_object(&format!("corbaloc::127.0.0.1:{port}/x")).unwrap());
    let probe = probe.within(Duration::from_millis(300));
    let many: Vec<_> = (0..8)
        .map(|n| {
            let probe = probe.clone();
            std::thread::spawn(move || {
                let started = Instant::now();
                let e = match n % 2 {
                    0 => probe.ping(),
                    _ => block_on(probe.ping_async()),
                };
                (e.unwrap_err(), started.elapsed())
            })
        })
        .collect();
    for thread in many {
        let (e, took) = thread.join().unwrap();
        assert_eq!((e.kind, e.completed), (Kind::Timeout, Completion::Maybe), "{e}");
        assert!(took >= Duration::from_millis(290) && took < 2 * SECOND, "{took:?}");
    }
}

#[test]
fn a_server_that_does_not_even_accept() {
    let listener = std::os::fd::OwnedFd::from(TcpListener::bind("127.0.0.1:0").unwrap());
    let port = TcpListener::from(listener.try_clone().unwrap()).local_addr().unwrap().port();
    // The queue holds one; more get no answer at all.
    rustix::net::listen(&listener, 0).unwrap();
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], port));
    let fill: Vec<_> =
        (0..4).map(|_| std::net::TcpStream::connect_timeout(&address, Duration::from_millis(50))).collect();
    assert!(fill.iter().any(Result::is_err), "the queue has no end");
    let client = client();
    let probe = ProbeRef(client.string_to_object(&format!("corbaloc::127.0.0.1:{port}/x")).unwrap());
    // One caller is patient; another's time is its own all the same.
    let patient = probe.within(3 * SECOND);
    let patient = std::thread::spawn(move || patient.ping());
    std::thread::sleep(Duration::from_millis(100));
    for future in [false, true] {
        let (hasty, started) = (probe.within(Duration::from_millis(300)), Instant::now());
        let e = if future { block_on(hasty.ping_async()) } else { hasty.ping() }.unwrap_err();
        assert_eq!((e.kind, e.completed), (Kind::Transient, Completion::No), "{e}");
        assert!(started.elapsed() < SECOND, "{:?}", started.elapsed());
    }
    drop(fill);
    let _ = patient.join().unwrap();
}

#[test]
fn a_server_that_does_not_read() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let client = client();
    let probe = ProbeRef(client.string_to_object(&format!("corbaloc::127.0.0.1:{port}/x")).unwrap());
    let started = Instant::now();
    let e = probe.within(SECOND / 2).take(&vec![0; 32 << 20]).unwrap_err();
    assert_eq!((e.kind, e.completed), (Kind::Timeout, Completion::Maybe), "{e}");
    assert!(started.elapsed() < 2 * SECOND, "{:?}", started.elapsed());
}

#[test]
fn nonsense_for_a_reply() {
    let maybe = |bytes: fn(&Heard) -> Vec<u8>| {
        fails(move |heard, wire| wire.send(&bytes(&heard)), Kind::CommFailure, Completion::Maybe);
    };
    maybe(|_| b"HTTP/1.0 400 Bad Request\r\n\r\n".to_vec());
    maybe(|_| vec![0; 64]);
    maybe(|h| raw::ping(b"key", h.id));
    maybe(|h| raw::message((1, 3), 1, 1, 4, &h.id.to_le_bytes()));
    maybe(|h| raw::message((1, 2), 1, 9, 4, &h.id.to_le_bytes()));
    maybe(|_| raw::message((1, 2), 1, 1, 2, &[0; 2]));
    // Larger than the client takes: refused by its header.
    maybe(|_| raw::message((1, 2), 1, 1, u32::MAX, &[0; 100]));
    maybe(|_| raw::message((1, 2), 1, 1, 1 << 20, &[0; 100]));
    // A status that does not exist.
    maybe(|h| {
        raw::message((1, 2), 1, 1, 12, &[&h.id.to_le_bytes()[..], &9_u32.to_le_bytes(), &[0; 4]].concat())
    });
    maybe(|_| raw::message((1, 2), 1, 7, 8, &[1; 8]));
    maybe(|_| raw::message_error());
}

#[test]
fn a_reply_cut_short() {
    for cut in [1, 11, 12, 13, 20, 30] {
        fails(
            move |heard, wire| wire.send(&reply(heard.id, |w| w.write_string("hello").unwrap())[..cut]),
            Kind::CommFailure,
            Completion::Maybe,
        );
    }
    fails(|_, _| {}, Kind::CommFailure, Completion::Maybe);
}

#[test]
fn results_that_cannot_be_read() {
    let marshal = |write: fn(&mut throughline_cdr::Writer<'_>)| {
        fails(move |h, wire| wire.send(&reply(h.id, write)), Kind::Marshal, Completion::Yes);
    };
    marshal(|_| {});
    marshal(|w| w.write_u32(u32::MAX));
    marshal(|w| w.write_bytes(&[0; 3]));
    let exception =
        |h: Heard, wire: &mut Wire| wire.send(&reply_of(h.id, ReplyStatus::SystemException, |_| {}));
    fails(exception, Kind::Marshal, Completion::Yes);
    let user = |h: Heard, wire: &mut Wire| {
        wire.send(&reply_of(h.id, ReplyStatus::UserException, |w| {
            w.write_string("IDL:Unheard:1.0").unwrap()
        }));
    };
    fails(user, Kind::Unknown, Completion::Yes);
    let locate = |h: Heard, wire: &mut Wire| {
        wire.send(&raw::message((1, 2), 1, 4, 8, &[h.id.to_le_bytes(), 1_u32.to_le_bytes()].concat()));
    };
    fails(locate, Kind::CommFailure, Completion::Maybe);
}

#[test]
fn replies_to_requests_that_nobody_made() {
    let serve = |_, mut wire: Wire| {
        let Some(heard) = wire.request() else { return };
        for id in [0, 1, 7, heard.id.wrapping_add(1), heard.id ^ (1 << 25), u32::MAX] {
            if id != heard.id {
                wire.send(&reply(id, |w| w.write_string("for somebody else").unwrap()));
            }
        }
        wire.send(&reply(heard.id, |w| w.write_string("for you").unwrap()));
        // Twice: the second one comes too late.
        wire.send(&reply(heard.id, |w| w.write_string("again").unwrap()));
        let _ = wire.0.read(&mut [0; 1]);
    };
    both_ways(serve, |result| assert_eq!(result.unwrap(), "for you"));
}

#[test]
fn a_flood_of_replies_that_nobody_asked_for() {
    let serve = |_, mut wire: Wire| {
        let Some(heard) = wire.request() else { return };
        let useless = reply(heard.id ^ (1 << 25), |w| w.write_bytes(&[0; 10_000]));
        let until = Instant::now() + 3 * SECOND;
        while Instant::now() < until && std::io::Write::write_all(&mut wire.0, &useless).is_ok() {}
    };
    for future in [false, true] {
        let client = client();
        let bad = BadServer::new(serve);
        let probe = bad.reference(&client).within(SECOND / 2);
        let started = Instant::now();
        let e = if future { block_on(probe.ping_async()) } else { probe.ping() }.unwrap_err();
        assert_eq!((e.kind, e.completed), (Kind::Timeout, Completion::Maybe), "{e}");
        assert!(started.elapsed() < 2 * SECOND, "{:?}", started.elapsed());
        client.shutdown(GRACE);
    }
}

#[test]
fn a_server_that_forwards_for_ever() {
    for status in [ReplyStatus::LocationForward, ReplyStatus::LocationForwardPerm] {
        let ports = Arc::new(AtomicUsize::new(0));
        let known = Arc::clone(&ports);
        let client = client();
        let orb = client.clone();
        let bad = BadServer::new(move |_, mut wire| {
            let text = format!("corbaloc:iiop:1.2@127.0.0.1:{}/bad", known.load(Ordering::SeqCst));
            let back = orb.string_to_object(&text).unwrap();
            while let Some(heard) = wire.request() {
                wire.send(&reply_of(heard.id, status, |w| {
                    throughline::rt::Encode::encode(back.ior(), w).unwrap();
                }));
            }
        });
        ports.store(bad.port.into(), Ordering::SeqCst);
        let probe = bad.reference(&client).within(LONG);
        for future in [false, true] {
            let e = if future { block_on(probe.ping_async()) } else { probe.ping() }.unwrap_err();
            assert_eq!((e.kind, e.completed), (Kind::Transient, Completion::No), "{e}");
        }
        client.shutdown(GRACE);
    }
}

#[test]
fn forwards_to_nowhere() {
    for ior in [throughline::Ior::NIL, throughline::Ior { type_id: "IDL:X:1.0".into(), profiles: Vec::new() }]
    {
        let client = client();
        let bad = BadServer::new(move |_, mut wire| {
            while let Some(heard) = wire.request() {
                wire.send(&reply_of(heard.id, ReplyStatus::LocationForward, |w| {
                    throughline::rt::Encode::encode(&ior, w).unwrap();
                }));
            }
        });
        let probe = bad.reference(&client).within(LONG);
        for future in [false, true] {
            let e = if future { block_on(probe.ping_async()) } else { probe.ping() }.unwrap_err();
            assert_eq!(e.completed, Completion::No, "{e}");
        }
        client.shutdown(GRACE);
    }
}

#[test]
fn a_server_that_wants_every_other_way_of_naming() {
    for wanted in [0_u16, 1, 2, 9] {
        let serve = move |_, mut wire: Wire| {
            while let Some(heard) = wire.request() {
                wire.send(&reply_of(heard.id, ReplyStatus::NeedsAddressingMode, |w| w.write_u16(wanted)));
            }
        };
        both_ways(serve, move |result| {
            let e = result.unwrap_err();
            let kind = if wanted == 9 { Kind::Marshal } else { Kind::Transient };
            assert_eq!(e.kind, kind, "{e}");
        });
    }
}

#[test]
fn a_way_of_naming_that_a_server_wanted_does_not_keep_others_of_older_versions_away() {
    // The first of two servers wants a profile, and goes away. The second speaks GIOP 1.0, which has keys only.
    let first = BadServer::new(|_, mut wire| {
        if let Some(heard) = wire.request() {
            wire.send(&reply_of(heard.id, ReplyStatus::NeedsAddressingMode, |w| w.write_u16(1)));
        }
    });
    let second = BadServer::new(|_, mut wire| {
        while let Some(heard) = wire.request() {
            let (version, mut answer) = (heard.header.version, Vec::new());
            let new =
                NewReply { request_id: heard.id, status: ReplyStatus::NoException, service_contexts: &[] };
            let open = begin_reply(&mut answer, version, ByteOrder::NATIVE, &new).unwrap();
            finish(&mut answer, open).unwrap();
            wire.send(&answer);
        }
    });
    let client = client();
    let text = format!("corbaloc:iiop:1.2@127.0.0.1:{},iiop:1.0@127.0.0.1:{}/bad", first.port, second.port);
    let probe = ProbeRef(client.string_to_object(&text).unwrap()).within(LONG);
    let lost = probe.ping().unwrap_err();
    assert_eq!(lost.kind, Kind::CommFailure, "{lost}");
    drop(first);
    probe.ping().unwrap();
    block_on(probe.ping_async()).unwrap();
    client.shutdown(GRACE);
}

#[test]
fn calls_on_a_connection_that_closes_in_order_are_made_anew() {
    // The first connections answer nothing and say that they never will.
    let serve = |n: usize, mut wire: Wire| {
        let Some(heard) = wire.request() else { return };
        if n < 2 {
            wire.send(&raw::close_connection());
        } else {
            wire.send(&reply(heard.id, |w| w.write_string("third time").unwrap()));
            let _ = wire.0.read(&mut [0; 1]);
        }
    };
    both_ways(serve, |result| assert_eq!(result.unwrap(), "third time"));
    // One that does so always is given up on; nothing has been carried out.
    let never = |_, mut wire: Wire| {
        wire.request();
        wire.send(&raw::close_connection());
    };
    both_ways(never, |result| {
        let e = result.unwrap_err();
        assert_eq!((e.kind, e.completed), (Kind::Transient, Completion::No), "{e}");
    });
}

#[test]
fn calls_go_to_another_address_where_the_first_one_closes_every_connection_in_order() {
    for future in [false, true] {
        let leaves = BadServer::new(|_, mut wire| {
            wire.request();
            wire.send(&raw::close_connection());
        });
        let stays = BadServer::new(|_, mut wire| {
            while let Some(heard) = wire.request() {
                wire.send(&heard.answer());
            }
        });
        let client = client();
        let address = |server: &BadServer| format!("iiop:1.2@127.0.0.1:{}", server.port);
        let text = format!("corbaloc:{},{}/bad", address(&leaves), address(&stays));
        let probe = ProbeRef(client.string_to_object(&text).unwrap()).within(LONG);
        let ping = || if future { block_on(probe.ping_async()) } else { probe.ping() };
        assert_eq!(ping(), Ok(()), "future: {future}");
        let connections = leaves.connections();
        assert_eq!((ping(), leaves.connections(), stays.connections()), (Ok(()), connections, 1));
        // Where all do, each is asked a few times.
        let text = format!("corbaloc:{},{}/bad", address(&leaves), address(&leaves));
        let probe = ProbeRef(client.string_to_object(&text).unwrap()).within(LONG);
        let e = if future { block_on(probe.ping_async()) } else { probe.ping() }.unwrap_err();
        assert_eq!((e.kind, e.completed), (Kind::Transient, Completion::No), "{e}");
        assert!(leaves.connections() < connections + 10);
        client.shutdown(GRACE);
    }
}

#[test]
fn many_calls_on_a_connection_that_closes_in_order_are_all_made_anew() {
    let client = client();
    let bad = BadServer::new(|n, mut wire| {
        if n == 0 {
            for _ in 0..20 {
                wire.request();
            }
            wire.send(&raw::close_connection());
            return;
        }
        while let Some(heard) = wire.request() {
            wire.send(&heard.answer());
        }
    });
    let probe = bad.reference(&client).within(LONG);
    let calls: Vec<_> = (0..20)
        .map(|n| {
            let probe = probe.clone();
            std::thread::spawn(move || if n % 2 == 0 { probe.ping() } else { block_on(probe.ping_async()) })
        })
        .collect();
    calls.into_iter().for_each(|c| c.join().unwrap().unwrap());
    assert_eq!(bad.connections(), 2);
    client.shutdown(GRACE);
}

#[test]
fn a_request_that_has_left_is_not_made_anew_for_one_that_waits_behind_it() {
    const FIRST: usize = 24 << 20;
    let (client, taken) = (client(), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&taken);
    let bad = BadServer::new(move |n, mut wire| {
        if n == 0 {
            // Until both wait to be sent. Then the first one is taken, and carried out for all that anybody knows.
            std::thread::sleep(SECOND);
        }
        while let Some(heard) = wire.request() {
            let first = (heard.header.size as usize) < 2 * FIRST;
            count.fetch_add(usize::from(first), Ordering::SeqCst);
            if n == 0 {
                std::thread::sleep(SECOND / 2);
                return;
            }
            wire.send(&reply(heard.id, |w| w.write_u32(1)));
        }
    });
    let probe = bad.reference(&client).within(LONG);
    let [first, second] = [FIRST, 2 * FIRST].map(|size| {
        let probe = probe.clone();
        let call = std::thread::spawn(move || probe.take(&vec![0; size]));
        std::thread::sleep(SECOND / 4);
        call
    });
    let e = first.join().unwrap().unwrap_err();
    assert_eq!((e.kind, e.completed), (Kind::CommFailure, Completion::Maybe), "{e}");
    // Of the other one the server cannot have had more than a part.
    assert_eq!(second.join().unwrap(), Ok(1));
    assert_eq!(taken.load(Ordering::SeqCst), 1);
    client.shutdown(GRACE);
}

#[test]
fn a_farewell_while_nobody_calls_is_noticed() {
    let client = client();
    let (posted, posts) = mpsc::channel();
    let bad = BadServer::new(move |n, mut wire| {
        let Some(heard) = wire.request() else { return };
        if !heard.expected {
            let _ = posted.send(n);
        } else {
            wire.send(&heard.answer());
        }
        if n == 0 {
            // Not together with the reply, which somebody still waits for.
            std::thread::sleep(Duration::from_millis(50));
            wire.send(&raw::close_connection());
            // Whoever still sends here is not read.
            std::thread::sleep(SECOND / 2);
            return;
        }
        while let Some(heard) = wire.request() {
            if heard.expected {
                wire.send(&heard.answer());
            }
        }
    });
    let probe = bad.reference(&client).within(LONG);
    probe.ping().unwrap();
    std::thread::sleep(Duration::from_millis(200));
    // Nobody tells the client of a oneway that was not read.
    probe.post(1, 0).unwrap();
    assert_eq!(posts.recv_timeout(LONG).unwrap(), 1);
    probe.ping().unwrap();
    assert_eq!(bad.connections(), 2);
    client.shutdown(GRACE);
}

#[test]
fn the_end_of_a_connection_is_noticed_behind_a_late_reply() {
    for future in [false, true] {
        let client = client();
        let (ended, end) = mpsc::channel();
        let bad = BadServer::new(move |n, mut wire| {
            let Some(heard) = wire.request() else { return };
            if n == 0 {
                std::thread::sleep(SECOND / 4);
                // More than is received at a time.
                wire.send(&reply(heard.id, |w| w.write_bytes(&[0; 100_000])));
                drop(wire);
                let _ = ended.send(());
                return;
            }
            wire.send(&heard.answer());
            wire.request();
        });
        let probe = bad.reference(&client);
        let ping = |limit| match future {
            false => probe.within(limit).ping(),
            true => block_on(probe.within(limit).ping_async()),
        };
        assert_eq!(ping(SECOND / 20).unwrap_err().kind, Kind::Timeout);
        end.recv_timeout(LONG).unwrap();
        std::thread::sleep(SECOND / 5);
        assert_eq!(ping(LONG), Ok(()), "future: {future}");
        client.shutdown(GRACE);
    }
}

#[test]
fn a_message_error_in_the_middle_of_calls() {
    let client = client();
    let bad = BadServer::new(|n, mut wire| {
        if n == 0 {
            for _ in 0..6 {
                wire.request();
            }
            wire.send(&raw::message_error());
            return;
        }
        while let Some(heard) = wire.request() {
            wire.send(&heard.answer());
        }
    });
    let probe = bad.reference(&client).within(LONG);
    let calls: Vec<_> = (0..6)
        .map(|n| {
            let probe = probe.clone();
            std::thread::spawn(move || if n % 2 == 0 { probe.ping() } else { block_on(probe.ping_async()) })
        })
        .collect();
    for call in calls {
        let e = call.join().unwrap().unwrap_err();
        // Which of them could not be read is not known, nor what became of the others.
        assert_eq!((e.kind, e.completed), (Kind::CommFailure, Completion::Maybe), "{e}");
    }
    probe.ping().unwrap();
    client.shutdown(GRACE);
}

#[test]
fn a_server_that_accepts_and_closes_leaves_no_descriptors() {
    let client = client();
    let bad = BadServer::new(|_, wire| drop(wire));
    let probe = bad.reference(&client).within(LONG);
    for n in 0..300 {
        let result = if n % 2 == 0 { probe.ping() } else { block_on(probe.ping_async()) };
        let e = result.unwrap_err();
        assert!(matches!(e.kind, Kind::Transient | Kind::CommFailure), "{e}");
    }
    let to_server = || {
        let port = bad.port;
        let fds = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
        let ours: Vec<_> = fds.filter_map(|f| std::fs::read_link(f.path()).ok()).collect();
        // Sockets of this process whose peer is the server, by inode.
        let table = std::fs::read_to_string("/proc/self/net/tcp").unwrap();
        let peers = table.lines().skip(1).filter_map(|line| {
            let mut fields = line.split_whitespace();
            let peer = fields.nth(2)?;
            peer.ends_with(&format!(":{port:04X}")).then(|| fields.nth(6).map(str::to_owned)).flatten()
        });
        peers.filter(|inode| ours.contains(&format!("socket:[{inode}]").into())).count()
    };
    raw::eventually("few sockets", || to_server() <= 2);
    client.shutdown(GRACE);
}

#[test]
fn endless_fragments_of_a_reply() {
    let serve = |_, mut wire: Wire| {
        let Some(heard) = wire.request() else { return };
        let native = ByteOrder::NATIVE.flag();
        let start = [heard.id.to_ne_bytes(), [0; 4], [0; 4]].concat();
        wire.send(&raw::message((1, 2), native | 2, 1, 12, &start));
        let piece = [&heard.id.to_ne_bytes()[..], &[0; 60_000]].concat();
        let piece = raw::message((1, 2), native | 2, 7, piece.len() as u32, &piece);
        while std::io::Write::write_all(&mut wire.0, &piece).is_ok() {}
    };
    both_ways(serve, |result| {
        let e = result.unwrap_err();
        assert_eq!((e.kind, e.completed), (Kind::CommFailure, Completion::Maybe), "{e}");
    });
}

/// A reply with this number, without its end, and its end.
fn in_two_pieces(id: u32) -> [Vec<u8>; 2] {
    let native = ByteOrder::NATIVE.flag();
    let start = [id.to_ne_bytes(), [0; 4], [0; 4]].concat();
    let end = [id.to_ne_bytes(), [0; 4]].concat();
    [raw::message((1, 2), native | 2, 1, 12, &start), raw::message((1, 2), native, 7, 8, &end)]
}

#[test]
fn as_many_replies_in_fragments_at_a_time_as_were_asked_for() {
    const CALLS: usize = 40;
    for unasked in [0, 16, 17] {
        let client = client();
        let bad = BadServer::new(move |_, mut wire| {
            let mut ids: Vec<_> = (0..CALLS).map_while(|_| Some(wire.request()?.id)).collect();
            let others: Vec<_> = (0..unasked).map(|n| 1 << 25 | n).collect();
            // The last one is one too many, if any is.
            ids.splice(0..0, others);
            ids.rotate_left(1);
            let replies: Vec<_> = ids.into_iter().map(in_two_pieces).collect();
            replies.iter().for_each(|[start, _]| wire.send(start));
            replies.iter().for_each(|[_, end]| wire.send(end));
            wire.request();
        });
        let probe = bad.reference(&client).within(LONG);
        let calls: Vec<_> = (0..CALLS)
            .map(|n| {
                let probe = probe.clone();
                std::thread::spawn(
                    move || if n % 2 == 0 { probe.ping() } else { block_on(probe.ping_async()) },
                )
            })
            .collect();
        for call in calls {
            match call.join().unwrap() {
                Ok(()) => assert!(unasked < 17),
                Err(e) => assert_eq!((e.kind, unasked), (Kind::CommFailure, 17), "{e}"),
            }
        }
        client.shutdown(GRACE);
    }
}

#[test]
fn replies_that_nobody_waits_for_any_more_are_forgotten_though_their_ends_never_come() {
    // More than may have begun that nobody waits for.
    const CALLS: usize = 40;
    for future in [false, true] {
        let client = client();
        let bad = BadServer::new(|_, mut wire| {
            let mut late = None;
            for n in 0..CALLS {
                let Some(heard) = wire.request() else { return };
                match n % 2 {
                    0 => wire.send(&in_two_pieces(heard.id)[0]),
                    // Begins when the call is over.
                    _ => {
                        late.replace(heard.id);
                        continue;
                    }
                }
                late.take().into_iter().for_each(|id| wire.send(&in_two_pieces(id)[0]));
            }
            let mut last = late;
            while let Some(heard) = wire.request() {
                // What has been forgotten may still come to its end.
                last.take().into_iter().for_each(|id| wire.send(&in_two_pieces(id).concat()));
                wire.send(&heard.answer());
            }
        });
        let probe = bad.reference(&client);
        let ping = |limit| match future {
            false => probe.within(limit).ping(),
            true => block_on(probe.within(limit).ping_async()),
        };
        // It needs not time for that to be sent where a connection is open.
        for n in 0..CALLS {
            let e = ping(if n == 0 { SECOND } else { SECOND / 50 }).unwrap_err();
            assert_eq!((e.kind, n), (Kind::Timeout, n), "future: {future}, {e}");
        }
        assert_eq!([LONG; 2].map(ping), [Ok(()), Ok(())], "future: {future}");
        assert_eq!(bad.connections(), 1);
        client.shutdown(GRACE);
    }
}

#[test]
fn a_system_exception_that_no_standard_knows_is_unknown_for_that_reason() {
    let client = client();
    let bad = BadServer::new(|_, mut wire| {
        while let Some(heard) = wire.request() {
            wire.send(&reply_of(heard.id, ReplyStatus::SystemException, |w| {
                w.write_string("IDL:acme.com/Broken:1.0").unwrap();
                // Whatever it means there: with UNKNOWN it would be a user exception that is not listed.
                w.write_u32(minor::UNLISTED_USER_EXCEPTION);
                w.write_u32(2);
            }));
        }
    });
    let probe = bad.reference(&client).within(LONG);
    for e in [probe.ping(), block_on(probe.ping_async())].map(Result::unwrap_err) {
        assert_eq!((e.kind, e.minor, e.completed), (Kind::Unknown, 0x4f4d_0002, Completion::Maybe), "{e}");
        let detail = e.detail_text().unwrap_or_default();
        assert!(detail.contains("IDL:acme.com/Broken:1.0") && detail.contains("0x4f4d0001"), "{e}");
    }
    client.shutdown(GRACE);
}

#[test]
fn of_an_exception_with_a_name_without_end_the_beginning_is_told() {
    for status in [ReplyStatus::SystemException, ReplyStatus::UserException] {
        let client = client();
        let bad = BadServer::new(move |_, mut wire| {
            while let Some(heard) = wire.request() {
                wire.send(&reply_of(heard.id, status, |w| {
                    // Characters that take several each to be shown, and do something to a terminal if they are not.
                    w.write_string(&format!("IDL:long{}", "\u{1b}".repeat(1 << 20))).unwrap();
                    w.write_u32(7);
                    w.write_u32(0);
                }));
            }
        });
        let e = bad.reference(&client).within(LONG).ping().unwrap_err();
        assert_eq!((e.kind, e.completed), (Kind::Unknown, Completion::Yes), "{status:?}");
        let detail = e.detail_text().unwrap_or_default();
        assert!(detail.len() < 4096, "{status:?}: {} octets", detail.len());
        assert!(detail.contains("IDL:long") && !detail.contains('\u{1b}'), "{status:?}: {detail}");
        client.shutdown(GRACE);
    }
}

#[test]
fn a_reply_in_crumbs_and_in_the_other_byte_order() {
    let serve = |_, mut wire: Wire| {
        let Some(heard) = wire.request() else { return };
        let order = if ByteOrder::NATIVE == ByteOrder::Big { ByteOrder::Little } else { ByteOrder::Big };
        let mut bytes = Vec::new();
        let new = NewReply { request_id: heard.id, status: ReplyStatus::NoException, service_contexts: &[] };
        let open = begin_reply(&mut bytes, Version::V1_2, order, &new).unwrap();
        open.writer(&mut bytes).write_string("crumbs").unwrap();
        finish(&mut bytes, open).unwrap();
        for byte in bytes {
            wire.send(&[byte]);
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = wire.0.read(&mut [0; 1]);
    };
    both_ways(serve, |result| assert_eq!(result.unwrap(), "crumbs"));
}

#[test]
fn a_call_that_is_given_up_is_cancelled() {
    for (future, version) in [(false, Version::V1_2), (true, Version::V1_2), (false, Version::V1_0)] {
        let (told, cancelled) = mpsc::channel();
        let client = client_with(|c| (c.cancel_requests, c.max_version) = (true, version));
        let bad = BadServer::new(move |_, mut wire| {
            let Some(heard) = wire.request() else { return };
            if let Some((header, message)) = wire.other() {
                assert_eq!((header.kind, header.version), (MessageType::CancelRequest, version));
                let id = throughline_giop::control::read_cancel_request(&header, &message).unwrap();
                let _ = told.send(id == heard.id);
            }
        });
        let probe = bad.reference(&client).within(Duration::from_millis(200));
        let e = if future { block_on(probe.ping_async()) } else { probe.ping() }.unwrap_err();
        assert_eq!(e.kind, Kind::Timeout);
        assert!(cancelled.recv_timeout(LONG).unwrap());
        client.shutdown(GRACE);
    }
}

#[test]
fn a_future_that_is_dropped_gives_its_place_back() {
    let server = raw::server();
    let client = client_with(|c| c.max_outstanding = 4);
    let probe = raw::seen_by(&client, &server.root().activate(Probe::default()).unwrap());
    let waker = std::task::Waker::noop();
    let mut random = raw::Random(7);
    for round in 0..300_u32 {
        let mut call = probe.sleep_async(round % 3);
        for _ in 0..random.below(4) {
            let _ = std::pin::Pin::new(&mut call).poll(&mut std::task::Context::from_waker(waker));
            if random.below(2) == 0 {
                std::thread::sleep(Duration::from_micros(random.below(2000) as u64));
            }
            if random.below(3) == 0 {
                break;
            }
        }
    }
    // All four places are free, and no more than four.
    let mut four: Vec<_> = (0..4).map(|_| Box::pin(probe.sleep_async(50))).collect();
    let mut cx = std::task::Context::from_waker(waker);
    assert!(four.iter_mut().all(|call| call.as_mut().poll(&mut cx).is_pending()));
    let full = probe.ping().unwrap_err();
    assert_eq!(full.kind, Kind::NoResources, "{full}");
    for call in four {
        block_on(call).unwrap();
    }
    probe.ping().unwrap();
    client.shutdown(GRACE);
    server.shutdown(GRACE);
}

#[test]
fn limits_without_end_are_no_limits() {
    let server: Orb = raw::server();
    let client = client();
    let probe = raw::seen_by(&client, &server.root().activate(Probe::default()).unwrap());
    probe.within(Duration::MAX).ping().unwrap();
    block_on(probe.within(Duration::MAX).ping_async()).unwrap();
    client.shutdown(Duration::MAX);
    server.shutdown(Duration::MAX);
}
