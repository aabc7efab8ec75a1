//! Calls that a thread begins and waits for later.

#![allow(clippy::redundant_closure)] // `Decode::decode` itself is a function of one lifetime.

#[macro_use]
mod common;

use std::time::{Duration, Instant};

use common::{Echo, EchoRef, client, seen_by, server_with};
use throughline::rt::{Decode, Encode, Operation};
use throughline::{Begun, Completion, Kind, Orb, SystemException};

const GRACE: Duration = Duration::from_secs(2);

fn server(at: &str) -> Orb {
    server_with(|c| c.listen = vec![at.parse().unwrap()])
}

fn served(server: &Orb) -> EchoRef {
    server.root().activate(Echo::default()).unwrap()
}

fn ping(echo: &EchoRef) -> Begun<'_, (), SystemException> {
    echo.0.begin(Operation::new("ping", 0), |_| Ok(()), |_| Ok(()), None)
}

fn shout<'e>(echo: &'e EchoRef, text: &str) -> Begun<'e, String, SystemException> {
    echo.0.begin(Operation::new("shout", 1), |w| text.encode(w), |r| String::decode(r), None)
}

fn sleep(echo: &EchoRef, ms: u32) -> Begun<'_, (), SystemException> {
    echo.0.begin(Operation::new("sleep", 5), |w| ms.encode(w), |_| Ok(()), None)
}

fn answers_are_taken_in_any_order(at: &str) {
    let (server, client) = (server(at), client());
    let echo = seen_by(&client, &served(&server));
    for window in [1, 3, 64, 127, 128, 129, 300] {
        let mut pending: Vec<_> = (0..window).map(|n| (n, shout(&echo, &format!("t{n}")))).collect();
        while let Some((n, call)) = (!pending.is_empty()).then(|| pending.swap_remove(pending.len() / 2)) {
            assert_eq!(call.wait().unwrap(), format!("T{n}"));
        }
    }
    server.shutdown(GRACE);
}

fn arguments_and_results_of_all_lengths_arrive(at: &str) {
    let (server, client) = (server(at), client());
    let echo = seen_by(&client, &served(&server));
    let lengths = [0, 1, 10, 11, 12, 13, 30, 31, 32, 50, 100, 2_000, 5_000, 65_000, 70_000];
    let texts: Vec<_> = lengths.iter().map(|length| "y".repeat(*length)).collect();
    let calls: Vec<_> = texts.iter().map(|text| shout(&echo, text)).collect();
    for (text, call) in texts.iter().zip(calls) {
        assert_eq!(call.wait().unwrap(), text.to_uppercase(), "{}", text.len());
    }
    server.shutdown(GRACE);
}

fn a_slow_call_is_overtaken(at: &str) {
    let (server, client) = (server(at), client());
    let echo = seen_by(&client, &served(&server));
    ping(&echo).wait().unwrap();
    let slow = sleep(&echo, 600);
    let started = Instant::now();
    let quick: Vec<_> = (0..20).map(|_| ping(&echo)).collect();
    quick.into_iter().for_each(|call| call.wait().unwrap());
    // Blocking calls of the same thread go by another link.
    echo.ping().unwrap();
    assert!(started.elapsed() < Duration::from_millis(400), "{:?}", started.elapsed());
    slow.wait().unwrap();
    server.shutdown(GRACE);
}

fn calls_end_in_time_and_dropped_ones_disturb_nobody(at: &str) {
    let (server, client) = (server(at), client());
    let echo = seen_by(&client, &served(&server));
    // Long enough for the request to leave.
    let hasty = EchoRef(echo.0.with_timeout(Duration::from_millis(150)));
    for _ in 0..3 {
        let patient = sleep(&echo, 100);
        let e = sleep(&hasty, 300).wait().unwrap_err();
        assert_eq!((e.kind, e.completed), (Kind::Timeout, Completion::Maybe));
        drop(sleep(&echo, 1));
        assert_eq!(sleep(&echo, 0).wait(), Ok(()));
        assert_eq!(patient.wait(), Ok(()));
        assert_eq!(sleep(&hasty, 0).wait(), Ok(()));
    }
    server.shutdown(GRACE);
}

fn every_thread_has_its_own(at: &str) {
    let (server, client) = (server(at), client());
    let echo = seen_by(&client, &served(&server));
    std::thread::scope(|scope| {
        for t in 0..6 {
            let echo = &echo;
            scope.spawn(move || {
                for round in 0..30 {
                    let calls: Vec<_> = (0..10).map(|n| shout(echo, &format!("t{t} {n}"))).collect();
                    for (n, call) in calls.into_iter().enumerate().skip(round % 3) {
                        assert_eq!(call.wait().unwrap(), format!("T{t} {n}"));
                    }
                }
            });
        }
    });
    ping(&echo).wait().unwrap();
    server.shutdown(GRACE);
}

fn one_thread_calls_two_servers(at: &str) {
    let (servers, client) = ([server(at), server(at)], client());
    let echoes = servers.each_ref().map(|server| seen_by(&client, &served(server)));
    for _ in 0..20 {
        let calls: Vec<_> = (0..20).map(|n| (n, shout(&echoes[n % 2], &format!("s{n}")))).collect();
        calls.into_iter().for_each(|(n, call)| assert_eq!(call.wait().unwrap(), format!("S{n}")));
    }
    servers.iter().for_each(|server| server.shutdown(GRACE));
}

fn an_object_that_is_gone_is_an_exception(at: &str) {
    let (server, client) = (server(at), client());
    let own = served(&server);
    let echo = seen_by(&client, &own);
    ping(&echo).wait().unwrap();
    server.root().deactivate(&own).unwrap();
    let calls: Vec<_> = (0..3).map(|_| ping(&echo)).collect();
    for call in calls {
        assert_eq!(call.wait().unwrap_err().kind, Kind::ObjectNotExist);
    }
    server.shutdown(GRACE);
}

fn a_server_that_is_gone_ends_what_waits(at: &str) {
    let (first, client) = (server(at), client());
    let echo = seen_by(&client, &served(&first));
    ping(&echo).wait().unwrap();
    let waiting: Vec<_> = (0..8).map(|_| sleep(&echo, 10_000)).collect();
    first.shutdown(Duration::from_millis(50));
    for call in waiting {
        let e = call.wait().unwrap_err();
        assert!(matches!(e.kind, Kind::CommFailure | Kind::Transient | Kind::InvObjref), "{e:?}");
    }
    assert!(ping(&echo).wait().is_err());
}

fn post(echo: &EchoRef, n: u32) -> Begun<'_, (), SystemException> {
    echo.0.begin(Operation::new("post", 2), |w| n.encode(w), |_| Ok(()), None)
}

fn servants_of_dropped_calls_run_though_nobody_waits_for_any(at: &str) {
    let (server, client) = (server(at), client());
    let echo = seen_by(&client, &served(&server));
    ping(&echo).wait().unwrap();
    let other = seen_by(&client, &echo);
    for round in 1..=50 {
        (0..50).for_each(|n| drop(post(&echo, n)));
        let started = Instant::now();
        // By another link of this thread's.
        while other.posted().unwrap().len() < 50 * round {
            assert!(started.elapsed() < Duration::from_secs(5), "{round}: {}", other.posted().unwrap().len());
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    server.shutdown(GRACE);
}

fn each_object_gets_its_own_calls_among_those_that_wait_together(at: &str) {
    let (server, client) = (server(at), client());
    let echoes = [(); 2].map(|()| seen_by(&client, &served(&server)));
    ping(&echoes[0]).wait().unwrap();
    for round in 0..5 {
        // Meanwhile the others come together.
        let slow = sleep(&echoes[0], 50);
        let calls: Vec<_> = (0..60).map(|n| post(&echoes[n as usize % 2], round * 60 + n)).collect();
        calls.into_iter().for_each(|call| call.wait().unwrap());
        slow.wait().unwrap();
    }
    for (echo, parity) in echoes.iter().zip(0..) {
        let mut posted = echo.posted().unwrap();
        posted.sort_unstable();
        assert_eq!(posted, (0..300).filter(|n| n % 2 == parity).collect::<Vec<u32>>());
    }
    server.shutdown(GRACE);
}

fn answers_that_are_there_outlive_their_link(at: &str) {
    let (first, second, client) = (server(at), server(at), client());
    let [echo, other] = [&first, &second].map(|server| seen_by(&client, &served(server)));
    ping(&echo).wait().unwrap();
    let early = shout(&echo, "early");
    assert_eq!(shout(&echo, "late").wait().unwrap(), "LATE");
    // It may have been overtaken.
    std::thread::sleep(Duration::from_millis(100));
    ping(&echo).wait().unwrap();
    first.shutdown(GRACE);
    ping(&echo).wait().unwrap_err();
    ping(&other).wait().unwrap();
    assert_eq!(early.wait().unwrap(), "EARLY");
    second.shutdown(GRACE);
}

over! {
    each_object_gets_its_own_calls_among_those_that_wait_together
    answers_that_are_there_outlive_their_link
    servants_of_dropped_calls_run_though_nobody_waits_for_any
    answers_are_taken_in_any_order
    arguments_and_results_of_all_lengths_arrive
    a_slow_call_is_overtaken
    calls_end_in_time_and_dropped_ones_disturb_nobody
    every_thread_has_its_own
    one_thread_calls_two_servers
    an_object_that_is_gone_is_an_exception
    a_server_that_is_gone_ends_what_waits
}
