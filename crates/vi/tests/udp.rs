//! What is particular to VIs over UDP.
#![cfg(not(loom))]

mod common;

use common::{LEVELS, LONG, LOOPBACK, Result, descriptor, pair, receive, send};
use std::{
    net::{SocketAddr, UdpSocket},
    time::{Duration, Instant},
};
use throughline_vi::reliable::{
    Level,
    frame::{FrameWriter, Header, Opening, Route},
};
use throughline_vi::{
    CompletionError, ConnectError, Nic, Reliability, ResourceError, State, Vi, ViAttributes,
};

#[test]
fn addresses_are_those_of_sockets() -> Result {
    let nic = Nic::udp(LOOPBACK)?;
    let address: SocketAddr = nic.address().parse()?;
    assert!(address.ip().is_loopback() && address.port() != 0);
    assert!(matches!(Nic::udp(address), Err(ResourceError::AddressInUse)));
    let mut vi = nic.create_vi(&ViAttributes::new(Reliability::ReliableDelivery))?;
    assert!(matches!(vi.connect("nowhere", b"", LONG), Err(ConnectError::BadAddress)));
    Ok(())
}

/// Nobody polls the receiver, and still the sender hears that the message is there.
#[test]
fn a_vi_left_alone_acknowledges() -> Result {
    for level in LEVELS {
        let [mut a, mut b] = pair(level)?;
        // Twice: the second time the thread that does it has slept.
        for _ in 0..2 {
            let descriptor = descriptor(&mut a, b"anybody there?")?;
            a.post_send(descriptor)?;
            a.send_wait(LONG)?.result?;
            std::thread::sleep(Duration::from_millis(30));
        }
        for _ in 0..2 {
            assert_eq!(receive(&mut b)?, b"anybody there?");
        }
    }
    Ok(())
}

/// A small message has no descriptor that comes back; still its sender can wait until the peer has it.
#[test]
fn small_messages_settle() -> Result {
    let [mut a, mut b] = pair(Reliability::ReliableDelivery)?;
    send(&mut a, b"first")?;
    assert_eq!(receive(&mut b)?, b"first");
    send(&mut b, b"second")?;
    assert_eq!(receive(&mut a)?, b"second");
    assert!(a.send_small(b"third"));
    let before = Instant::now();
    while !a.has_settled() {
        assert!(before.elapsed() < Duration::from_secs(20), "nobody acknowledges");
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(receive(&mut b)?, b"third");
    // With nobody at the other end there is nothing to wait for.
    drop(b);
    while a.state() == State::Connected {
        a.receive_done();
    }
    assert!(a.has_settled());
    Ok(())
}

#[test]
fn what_was_sent_before_the_end_arrives() -> Result {
    for level in LEVELS {
        let [mut a, mut b] = pair(level)?;
        for at in 0..50 {
            send(&mut a, &[at; 5000])?;
        }
        drop(a);
        for at in 0..50 {
            assert_eq!(receive(&mut b)?, [at; 5000]);
        }
        assert_eq!(b.receive_wait(LONG)?.result, Err(CompletionError::Flushed));
        assert_eq!(b.state(), State::Stopped(CompletionError::Disconnected));
    }
    Ok(())
}

#[test]
fn connecting_early_needs_no_answer_before_messages_leave() -> Result {
    for level in LEVELS {
        let nics = [Nic::udp(LOOPBACK)?, Nic::udp(LOOPBACK)?];
        let mut listener = nics[1].listen(b"early")?;
        let mut a = nics[0].create_vi(&ViAttributes::new(level))?;
        a.post_own_receives();
        a.connect_early(nics[1].address(), b"early", LONG)?;
        assert_eq!(a.state(), State::Connected);
        send(&mut a, b"question")?;
        let mut b = nics[1].create_vi(&ViAttributes::new(level))?;
        b.post_own_receives();
        let request = listener.wait(LONG)?;
        assert_eq!(request.reliability(), level);
        request.accept(&mut b)?;
        assert_eq!(receive(&mut b)?, b"question");
        send(&mut b, b"answer")?;
        assert_eq!(receive(&mut a)?, b"answer");
        // Repetitions of the opening are no other connection.
        assert!(matches!(listener.wait(Some(Duration::from_millis(50))), Err(ConnectError::Timeout)));
    }
    Ok(())
}

#[test]
fn connecting_early_in_vain() -> Result {
    for level in LEVELS {
        let nics = [Nic::udp(LOOPBACK)?, Nic::udp(LOOPBACK)?];
        let early = |address: &str| -> Result<Vi> {
            let mut vi = nics[0].create_vi(&ViAttributes::new(level))?;
            vi.post_own_receives();
            vi.connect_early(address, b"x", LONG)?;
            send(&mut vi, b"question")?;
            Ok(vi)
        };
        let end = |mut vi: Vi| -> Result<State> {
            assert_eq!(vi.receive_wait(LONG)?.result, Err(CompletionError::Flushed));
            Ok(vi.state())
        };
        let nobody = State::Stopped(CompletionError::NobodyListens);
        assert_eq!(end(early(nics[1].address())?)?, nobody);
        let unbound = UdpSocket::bind(LOOPBACK)?.local_addr()?.to_string();
        assert_eq!(end(early(&unbound)?)?, nobody);
        let mut listener = nics[1].listen(b"x")?;
        let vi = early(nics[1].address())?;
        listener.wait(LONG)?.reject();
        assert_eq!(end(vi)?, State::Stopped(CompletionError::Refused));
    }
    Ok(())
}

#[test]
fn a_peer_that_is_gone_without_a_word() -> Result {
    // A socket that takes everything and says nothing.
    let silent = UdpSocket::bind(LOOPBACK)?;
    let nic = Nic::udp(LOOPBACK)?;
    let mut vi = nic.create_vi(&ViAttributes::new(Reliability::ReliableDelivery))?;
    vi.post_own_receives();
    vi.connect_early(&silent.local_addr()?.to_string(), b"x", LONG)?;
    send(&mut vi, b"question")?;
    let start = Instant::now();
    assert_eq!(vi.receive_wait(LONG)?.result, Err(CompletionError::Flushed));
    assert_eq!(vi.state(), State::Stopped(CompletionError::ConnectionLost));
    assert!(start.elapsed() > Duration::from_secs(2) && start.elapsed() < Duration::from_secs(15));
    Ok(())
}

/// Many VIs of one NIC, each with a thread of its own that sleeps: one looks out for all.
#[test]
fn many_sleepers_share_a_socket() -> Result {
    let nics = [Nic::udp(LOOPBACK)?, Nic::udp(LOOPBACK)?];
    let mut listener = nics[1].listen(b"many")?;
    let attributes =
        ViAttributes { spin: Duration::ZERO, ..ViAttributes::new(Reliability::ReliableDelivery) };
    std::thread::scope(|scope| -> Result {
        let mut threads = Vec::new();
        for client in 0..8_u8 {
            let (nic, address, attributes) = (&nics[0], nics[1].address(), &attributes);
            threads.push(scope.spawn(move || -> std::result::Result<(), String> {
                let mut vi = nic.create_vi(attributes).map_err(|error| error.to_string())?;
                vi.post_own_receives();
                vi.connect(address, b"many", LONG).map_err(|error| error.to_string())?;
                for round in 0..100 {
                    send(&mut vi, &[client, round]).map_err(|error| error.to_string())?;
                    assert_eq!(receive(&mut vi).map_err(|error| error.to_string())?, [client, round]);
                }
                Ok(())
            }));
            let mut vi = nics[1].create_vi(attributes)?;
            vi.post_own_receives();
            listener.wait(LONG)?.accept(&mut vi)?;
            threads.push(scope.spawn(move || {
                for _ in 0..100 {
                    let request = receive(&mut vi).map_err(|error| error.to_string())?;
                    send(&mut vi, &request).map_err(|error| error.to_string())?;
                }
                Ok(())
            }));
        }
        for thread in threads {
            thread.join().expect("no panic")?;
        }
        Ok(())
    })
}

/// Somebody opens connections in the names of others, who do not answer, and fills all places there are for such.
#[test]
fn strangers_who_do_not_answer_keep_nobody_out() -> Result {
    let nics = [Nic::udp(LOOPBACK)?, Nic::udp(LOOPBACK)?];
    let mut listener = nics[1].listen(b"crowd")?;
    let address: SocketAddr = nics[1].address().parse()?;
    let attributes = ViAttributes {
        send_buffers: 2,
        receive_buffers: 2,
        queue_depth: 2,
        ..ViAttributes::new(Reliability::ReliableDelivery)
    };
    let stranger = UdpSocket::bind(LOOPBACK)?;
    let mut buffer = [0; 200];
    std::thread::scope(|scope| -> Result {
        let accepting = scope.spawn(|| -> std::result::Result<usize, String> {
            let text = |error: &dyn std::fmt::Display| error.to_string();
            let mut vis = Vec::new();
            loop {
                let request = listener.wait(LONG).map_err(|error| text(&error))?;
                let mut vi = nics[1].create_vi(&attributes).map_err(|error| text(&error))?;
                vi.post_own_receives();
                if request.accept(&mut vi).is_err() {
                    continue;
                }
                // Strangers send nothing.
                if vi.receive_wait(Some(Duration::from_micros(100))).is_ok() {
                    return Ok(vis.len());
                }
                vis.push(vi);
            }
        });
        for connection in 0..2_000 {
            let route = Route { connection, from_opener: true };
            let header =
                Header { route, elicits: true, number: 1, credit: 0, completed: 0, floor: 0, promise: 0 };
            let mut frame = FrameWriter::new(&mut buffer, &header);
            frame.open(&Opening { level: Level::Delivery, name: b"crowd" });
            let length = frame.finish();
            stranger.send_to(&buffer[..length], address)?;
            std::thread::sleep(Duration::from_micros(100));
        }
        let start = Instant::now();
        let mut vi = nics[0].create_vi(&attributes)?;
        vi.post_own_receives();
        vi.connect_early(nics[1].address(), b"crowd", LONG)?;
        send(&mut vi, b"here I am")?;
        let strangers = accepting.join().expect("no panic")?;
        // They time out after five seconds.
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
        assert!(strangers >= 256, "only {strangers} strangers");
        Ok(())
    })
}

/// Of this machine, but not of the loopback interface.
fn own_address() -> Option<SocketAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    // Nothing is sent.
    socket.connect("192.0.2.1:9").ok()?;
    let address = socket.local_addr().ok()?;
    (!address.ip().is_loopback()).then(|| SocketAddr::new(address.ip(), 0))
}

/// Many datagrams leave by one system call there, and may be marked.
#[test]
fn as_between_machines() -> Result {
    const LENGTH: usize = 300_000;
    let Some(address) = own_address() else {
        println!("SKIPPED: this machine has no address but that of the loopback interface");
        return Ok(());
    };
    let nics = [Nic::udp(address)?, Nic::udp(address)?];
    let mut listener = nics[1].listen(b"far")?;
    let size = LENGTH as u32;
    let attributes = ViAttributes {
        send_buffers: 4,
        send_buffer_size: size,
        receive_buffers: 4,
        receive_buffer_size: size,
        ..ViAttributes::new(Reliability::ReliableDelivery)
    };
    let mut vis = [nics[0].create_vi(&attributes)?, nics[1].create_vi(&attributes)?];
    vis.iter_mut().for_each(Vi::post_own_receives);
    let [a, b] = &mut vis;
    std::thread::scope(|scope| -> Result {
        let active = scope.spawn(|| a.connect(nics[1].address(), b"far", LONG));
        listener.wait(LONG)?.accept(b)?;
        Ok(active.join().expect("no panic")?)
    })?;
    let message: Vec<u8> = (0..LENGTH).map(|at| (at % 251) as u8).collect();
    std::thread::scope(|scope| -> Result {
        let answering = scope.spawn(move || -> std::result::Result<(), String> {
            for _ in 0..20 {
                let message = receive(b).map_err(|error| error.to_string())?;
                send(b, &message).map_err(|error| error.to_string())?;
            }
            // Until the other side has everything.
            while b.receive_wait(LONG).is_ok_and(|completion| completion.result.is_ok()) {}
            Ok(())
        });
        for _ in 0..20 {
            send(a, &message)?;
            assert!(receive(a)? == message);
        }
        a.disconnect();
        Ok(answering.join().expect("no panic")?)
    })
}
