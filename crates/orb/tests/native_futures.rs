//! Calls of futures by the native protocol: many at once on one link.

#![allow(clippy::redundant_closure)] // `Decode::decode` itself is a function of one lifetime.

#[macro_use]
mod common;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake};
use std::time::{Duration, Instant};

use common::{Echo, EchoRef, client, seen_by, server_with};
use throughline::rt::{
    Decode, DecodeError, Dispatched, Encode, Interface, Operation, Reader, ServerCall, Skeleton,
    TypedSkeleton,
};
use throughline::{AsyncCall, CallFuture, Completion, Kind, Orb, OrbConfig, SystemException, block_on};

const GRACE: Duration = Duration::from_secs(2);

/// A server without IIOP, so that futures have no other way.
fn server(at: &str) -> Orb {
    server_with(|c| c.listen = vec![at.parse().unwrap()])
}

fn served(server: &Orb) -> EchoRef {
    server.root().activate(Echo::default()).unwrap()
}

type Shouting = CallFuture<SystemException, fn(&mut Reader<'_>) -> Result<String, DecodeError>>;

fn shout(echo: &EchoRef, text: &str) -> Shouting {
    echo.0.call_async(Operation::new("shout", 1), |w| text.encode(w), |r| String::decode(r))
}

type Sleeping = CallFuture<SystemException, fn(&mut Reader<'_>) -> Result<(), DecodeError>>;

fn sleep(echo: &EchoRef, ms: u32) -> Sleeping {
    echo.0.call_async(Operation::new("sleep", 5), |w| ms.encode(w), |_| Ok(()))
}

/// An executor that knows nothing of links, and sleeps.
fn sleep_on<F: Future>(future: F) -> F::Output {
    struct Unpark(std::thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut cx = Context::from_waker(&waker);
    let mut future = std::pin::pin!(future);
    let started = Instant::now();
    loop {
        match future.as_mut().poll(&mut cx) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park_timeout(Duration::from_secs(20)),
        }
        assert!(started.elapsed() < Duration::from_secs(20), "nobody woke the task");
    }
}

#[test]
fn more_answers_than_are_taken_at_once_all_wake_their_tasks() {
    for at in ["shm:", "udp://127.0.0.1:0"] {
        let server = server(at);
        let client = client();
        let echo = seen_by(&client, &served(&server));
        sleep_on(sleep(&echo, 0)).unwrap();
        let mut calls: Vec<_> = (0..200).map(|_| sleep(&echo, 0).begin()).collect();
        // Nobody looks until all answers are there, and then one waits for the last of them.
        std::thread::sleep(Duration::from_millis(500));
        let last = calls.pop().unwrap();
        sleep_on(last).unwrap();
        calls.into_iter().for_each(|call| sleep_on(call).unwrap());
        server.shutdown(GRACE);
    }
}

/// Says when it is dropped.
struct Ending(Echo, Arc<AtomicBool>);

impl Skeleton for Ending {
    fn interface(&self) -> &'static Interface {
        self.0.interface()
    }

    fn invoke(&self, operation: u32, call: &mut ServerCall<'_>) -> Dispatched {
        self.0.invoke(operation, call)
    }
}

impl TypedSkeleton for Ending {
    type Reference = EchoRef;
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.1.store(true, Ordering::Release);
    }
}

/// Whoever serves a long request keeps no other object for it than its own.
fn what_was_called_before_a_long_call_ends_without_it(at: &str) {
    let (server, client) = (server(at), client());
    let (busy, ended) = (seen_by(&client, &served(&server)), Arc::new(AtomicBool::new(false)));
    let ending = server.root().activate(Ending(Echo::default(), Arc::clone(&ended))).unwrap();
    let first = shout(&seen_by(&client, &ending), "first");
    block_on(busy.ping_async()).unwrap();
    // While the first sleeps the others arrive, to be served by whoever comes next.
    let before = sleep(&busy, 200).begin();
    let first = first.begin();
    let data = vec![1_u32; 1_000];
    let long = busy.0.call_async(
        Operation::new("sum", 8),
        |w| {
            2_000_u32.encode(w)?;
            data.encode(w)
        },
        |r| Ok((r.read_u64()?, r.read_u64()?)),
    );
    let long: CallFuture<SystemException, _> = long;
    let long = long.begin();
    assert_eq!(block_on(first).unwrap(), "FIRST");
    block_on(before).unwrap();
    server.root().deactivate(&ending).unwrap();
    let until = Instant::now() + Duration::from_secs(1);
    while !ended.load(Ordering::Acquire) {
        assert!(Instant::now() < until, "the object is kept while another works");
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(block_on(long).unwrap().0, 1_000);
    server.shutdown(GRACE);
}

fn executors_of_both_kinds_get_answers(at: &str) {
    let (server, client) = (server(at), client());
    let echo = seen_by(&client, &served(&server));
    for n in 0..200 {
        let text = format!("t{n}");
        assert_eq!(block_on(echo.shout_async(&text)).unwrap(), format!("T{n}"));
        assert_eq!(sleep_on(echo.shout_async(&text)).unwrap(), format!("T{n}"));
    }
    server.shutdown(GRACE);
}

fn many_are_under_way_at_once(at: &str) {
    let (server, client) = (server(at), client());
    let echo = seen_by(&client, &served(&server));
    let mut pending = VecDeque::new();
    for n in 0..5_000 {
        let call = shout(&echo, &format!("t{n}")).begin();
        pending.push_back((n, call));
        if pending.len() == 64 {
            let (n, call) = pending.pop_front().unwrap();
            assert_eq!(block_on(call).unwrap(), format!("T{n}"));
        }
    }
    // Also those that nobody has asked for yet, in any order.
    for (n, call) in pending.into_iter().rev() {
        assert_eq!(sleep_on(call).unwrap(), format!("T{n}"));
    }
    server.shutdown(GRACE);
}

/// Some take a line, some several, some stay with the sender; while a servant sleeps, the others are kept by those who work on them.
fn of_any_length_they_keep_apart(at: &str) {
    let (server, client) = (server(at), client());
    let echo = seen_by(&client, &served(&server));
    let text = |n: usize| format!("{n}{}", "t".repeat(n * 97 % 2_500));
    let mut pending = VecDeque::new();
    let mut sleeping = Vec::new();
    for n in 0..2_000 {
        if n % 250 == 0 {
            sleeping.push(sleep(&echo, 20).begin());
        }
        pending.push_back((n, shout(&echo, &text(n)).begin()));
        if pending.len() == 48 {
            let (n, call) = pending.pop_front().unwrap();
            assert_eq!(block_on(call).unwrap(), text(n).to_uppercase());
        }
    }
    for (n, call) in pending {
        assert_eq!(sleep_on(call).unwrap(), text(n).to_uppercase());
    }
    for call in sleeping {
        block_on(call).unwrap();
    }
    server.shutdown(GRACE);
}

fn more_than_memory_is_registered_for_waits_for_room(at: &str) {
    let (server, client) = (server(at), client());
    let echo = seen_by(&client, &served(&server));
    let text = "x".repeat(10_000);
    let calls: Vec<_> = (0..300).map(|_| shout(&echo, &text).begin()).collect();
    for call in calls {
        assert_eq!(block_on(call).unwrap().len(), 10_000);
    }
    server.shutdown(GRACE);
}

fn long_arguments_and_results_arrive(at: &str) {
    let (server, client) = (server(at), client());
    let echo = seen_by(&client, &served(&server));
    for length in [0, 1, 30, 50, 100, 5_000, 65_000, 70_000, 1_000_000] {
        let text = "y".repeat(length);
        assert_eq!(sleep_on(echo.shout_async(&text)).unwrap(), text.to_uppercase(), "{length}");
        assert_eq!(block_on(echo.shout_async(&text)).unwrap(), text.to_uppercase(), "{length}");
    }
    server.shutdown(GRACE);
}

fn threads_share_one_link(at: &str) {
    let (server, client) = (server(at), client());
    let echo = seen_by(&client, &served(&server));
    std::thread::scope(|scope| {
        for t in 0..6 {
            let echo = &echo;
            scope.spawn(move || {
                for n in 0..300 {
                    let text = format!("t{t} n{n}");
                    let call = echo.shout_async(&text);
                    let answer = if (t + n) % 2 == 0 { block_on(call) } else { sleep_on(call) };
                    assert_eq!(answer.unwrap(), text.to_uppercase());
                }
            });
        }
    });
    server.shutdown(GRACE);
}

fn a_slow_call_holds_up_nobody(at: &str) {
    let (server, client) = (server(at), client());
    let echo = seen_by(&client, &served(&server));
    block_on(echo.ping_async()).unwrap();
    let slow = sleep(&echo, 600).begin();
    let started = Instant::now();
    for _ in 0..20 {
        block_on(echo.ping_async()).unwrap();
    }
    assert!(started.elapsed() < Duration::from_millis(400), "{:?}", started.elapsed());
    block_on(slow).unwrap();
    server.shutdown(GRACE);
}

fn calls_end_in_time_and_dropped_ones_disturb_nobody(at: &str) {
    let (server, client) = (server(at), client());
    let echo = seen_by(&client, &served(&server));
    // To connect may take longer on a busy machine, and is not what is measured.
    block_on(echo.ping_async()).unwrap();
    let hasty = EchoRef(echo.0.with_timeout(Duration::from_millis(50)));
    for executor in [block_on::<Sleeping>, sleep_on::<Sleeping>] {
        let e = executor(sleep(&hasty, 300)).unwrap_err();
        assert_eq!((e.kind, e.completed), (Kind::Timeout, Completion::Maybe));
        drop(sleep(&echo, 1).begin());
        assert_eq!(executor(sleep(&echo, 0)), Ok(()));
    }
    server.shutdown(GRACE);
}

fn calls_that_find_no_room_end_in_time(at: &str) {
    let server = server_with(|c| {
        c.listen = vec![at.parse().unwrap()];
        c.max_threads = 2;
    });
    let client = client();
    let echo = seen_by(&client, &served(&server));
    block_on(echo.ping_async()).unwrap();
    // Nobody is left to read.
    let sleepers: Vec<_> = (0..2).map(|_| sleep(&echo, 1_500).begin()).collect();
    std::thread::sleep(Duration::from_millis(200));
    let hasty = EchoRef(echo.0.with_timeout(Duration::from_millis(100)));
    let text = "x".repeat(10_000);
    let started = Instant::now();
    let calls: Vec<_> = (0..400).map(|_| shout(&hasty, &text).begin()).collect();
    let outcomes: Vec<_> = calls.into_iter().map(|call| block_on(call).unwrap_err()).collect();
    assert!(started.elapsed() < Duration::from_millis(1_000), "{:?}", started.elapsed());
    assert!(outcomes.iter().all(|e| e.kind == Kind::Timeout));
    assert!(outcomes.iter().any(|e| e.completed == Completion::No), "all found room");
    sleepers.into_iter().for_each(|call| block_on(call).unwrap());
    server.shutdown(GRACE);
}

fn a_server_that_is_gone_ends_what_waits(at: &str) {
    let (first, client) = (server(at), client());
    let own = served(&first);
    let echo = seen_by(&client, &own);
    block_on(echo.ping_async()).unwrap();
    let waiting: Vec<_> = (0..8).map(|_| sleep(&echo, 10_000).begin()).collect();
    first.shutdown(Duration::from_millis(50));
    for call in waiting {
        let e = sleep_on(call).unwrap_err();
        assert!(matches!(e.kind, Kind::CommFailure | Kind::Transient), "{e:?}");
    }
    let e = block_on(echo.ping_async()).unwrap_err();
    assert!(matches!(e.kind, Kind::Transient | Kind::InvObjref), "{e:?}");
}

type Adding = CallFuture<SystemException, fn(&mut Reader<'_>) -> Result<u64, DecodeError>>;

/// A call whose arguments fit into no registered buffer.
fn add_long(echo: &EchoRef, ms: u32) -> Adding {
    let encode = |w: &mut throughline::rt::Writer<'_>| {
        ms.encode(w)?;
        vec![1_u32; 200_000].encode(w)
    };
    echo.0.call_async(Operation::new("sum", 8), encode, |r| r.read_u64())
}

fn workers_are_not_kept_by_calls_that_nobody_waits_for(at: &str) {
    let server = server(at);
    let config = OrbConfig { max_threads: 2, ..OrbConfig::default() };
    let client = Orb::start(config).unwrap();
    let own = served(&server);
    let echo = seen_by(&client, &own);
    assert_eq!(block_on(add_long(&echo, 0)), Ok(200_000));
    let mut cx = Context::from_waker(std::task::Waker::noop());
    // Two are on their way, and two have not left.
    let mut calls: Vec<_> = (0..4).map(|_| Box::pin(add_long(&echo, 3_000))).collect();
    assert!(calls.iter_mut().all(|call| call.as_mut().poll(&mut cx).is_pending()));
    std::thread::sleep(Duration::from_millis(300));
    drop(calls);
    let started = Instant::now();
    assert_eq!(sleep_on(add_long(&echo, 0)), Ok(200_000));
    assert!(started.elapsed() < Duration::from_millis(1500), "{:?}", started.elapsed());
    std::thread::sleep(Duration::from_millis(3_500));
    assert_eq!(own.posted().unwrap().len(), 2, "what was not wanted any more was begun");
    client.shutdown(GRACE);
    server.shutdown(GRACE);
}

fn a_client_that_shuts_down_ends_what_waits(at: &str) {
    let (server, client) = (server(at), client());
    let echo = seen_by(&client, &served(&server));
    let waiting = sleep(&echo, 10_000).begin();
    let ended = std::thread::spawn(move || sleep_on(waiting));
    std::thread::sleep(Duration::from_millis(50));
    client.shutdown(GRACE);
    assert!(ended.join().unwrap().is_err());
    server.shutdown(Duration::from_millis(50));
}

type Posted = CallFuture<SystemException, fn(&mut Reader<'_>) -> Result<Vec<u32>, DecodeError>>;

fn answers_to_calls_that_were_dropped_are_taken(at: &str) {
    let server = server_with(|c| {
        c.listen = vec![at.parse().unwrap()];
        c.stall_timeout = Duration::from_millis(300);
    });
    let client = client();
    let echo = seen_by(&client, &served(&server));
    (0..450).for_each(|n| echo.post(n).unwrap());
    block_on(echo.ping_async()).unwrap();
    let posted =
        || -> Posted { echo.0.call_async(Operation::new("posted", 3), |_| Ok(()), |r| Decode::decode(r)) };
    for _ in 0..3 {
        let mut calls: Vec<_> = (0..100).map(|_| Box::pin(posted())).collect();
        let mut cx = Context::from_waker(std::task::Waker::noop());
        calls.iter_mut().for_each(|call| drop(call.as_mut().poll(&mut cx)));
        drop(calls);
        // Whoever takes no answers would have lost his link.
        std::thread::sleep(Duration::from_millis(800));
        assert_eq!(block_on(echo.ping_async()), Ok(()));
    }
    server.shutdown(GRACE);
}

over! {
    answers_to_calls_that_were_dropped_are_taken
    executors_of_both_kinds_get_answers
    what_was_called_before_a_long_call_ends_without_it
    many_are_under_way_at_once
    of_any_length_they_keep_apart
    more_than_memory_is_registered_for_waits_for_room
    long_arguments_and_results_arrive
    threads_share_one_link
    a_slow_call_holds_up_nobody
    calls_end_in_time_and_dropped_ones_disturb_nobody
    calls_that_find_no_room_end_in_time
    a_server_that_is_gone_ends_what_waits
    workers_are_not_kept_by_calls_that_nobody_waits_for
    a_client_that_shuts_down_ends_what_waits
}
