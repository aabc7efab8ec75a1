//! Calls as futures, many at a time on one thread.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, Wake};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use throughline::TypedReference as _;

use super::answers::within_two_seconds;
use super::some;
use crate::interop::{CounterRef, FailuresRaiseUserError as User, SuiteRef};
use crate::suite::refused;

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// A runtime of one future.
fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Arc::new(Unpark(thread::current())).into();
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut TaskContext::from_waker(&waker)) {
            return output;
        }
        thread::park();
    }
}

checks! {
    "async.results" Nothing |c| {
        expect_same!(block_on(c.suite.echo_string_async("a future"))?, "a future".to_owned());
        // The result, the inout, the out.
        expect_same!(block_on(c.suite.turn_long_async(1, 2))?, (2, 1, 1));
        expect_same!(block_on(c.suite.level_async())?, c.suite.level()?);
    }

    "async.at_once" Nothing |c| {
        let text = |n: usize| n.to_string().repeat(n);
        let calls: Vec<_> = (0..100).map(|n| c.suite.echo_long_string_async(&text(n))).collect();
        for (n, call) in calls.into_iter().enumerate() {
            expect!(block_on(call)? == text(n));
        }
    }

    "async.beside_a_slow_one" Nothing |c| {
        let slow = c.suite.sleep_async(600);
        let started = Instant::now();
        for _ in 0..20 {
            expect_same!(block_on(c.suite.raise_user_async(0))?, 42);
        }
        expect!(started.elapsed() < Duration::from_millis(400));
        block_on(slow)?;
    }

    "async.exceptions" Nothing |c| {
        expect_same!(block_on(c.suite.raise_user_async(2)), Err::<i32, _>(User::Refused(refused(77))));
        let counter = c.counter(1)?;
        block_on(counter.destroy_async())?;
        within_two_seconds(|| Ok(block_on(counter.value_async()).is_err()))?;
        expect_exception!(block_on(counter.value_async()), ObjectNotExist);
    }

    "async.timeout" Nothing |c| {
        let impatient = SuiteRef::from_object(c.suite.as_object().with_timeout(Duration::from_millis(200)));
        let started = Instant::now();
        expect_exception!(block_on(impatient.sleep_async(1500)), Timeout);
        expect!(started.elapsed() < Duration::from_millis(1200));
    }

    // A future that is dropped cancels its call, and the connection lives on.
    "async.dropped" Nothing |c| {
        drop(c.suite.sleep_async(300));
        let large = vec![7; 1 << 20];
        drop(c.suite.echo_octets_async(&large));
        expect!(block_on(c.suite.echo_octets_async(&large))? == large);
    }

    "async.forwarded" Nothing |c| {
        let counter = c.counter(100)?;
        let forwarder = some(c.suite.forwarder(Some(counter.as_object()))?)?;
        expect_same!(block_on(CounterRef::from_object(forwarder).add_async(1))?, 101);
    }
}
