//! The ways in which a call ends, oneways, and calls at the same time.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use throughline::rt::{Operation, OperationError, TypedReference};
use throughline::{Completion, Kind, Orb, SystemException};

use super::{Context, Failed, Outcome, points, strings};
use crate::interop::{
    self, ByColour, Empty, FailuresRaiseBesideError as Beside, FailuresRaiseUserError as User, Nested,
    SuiteRef,
};
use crate::suite::refused;

fn expect_system(
    c: &Context,
    name: &str,
    minor: u32,
    asked: interop::Completion,
    wanted: Completion,
) -> Outcome {
    let Err(exception) = c.suite.raise_system(name, minor, asked) else {
        return Err(Failed(format!("no {name}")));
    };
    expect_same!(exception.kind.name(), name);
    expect_same!(exception.minor, minor);
    expect_same!(exception.completed, wanted);
    Ok(())
}

pub(super) fn within_two_seconds(mut condition: impl FnMut() -> Result<bool, SystemException>) -> Outcome {
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(2) {
        if condition()? {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(5));
    }
    Err(Failed("not within two seconds".to_owned()))
}

/// A failure in any of the threads is the check's.
fn in_threads(count: i32, work: impl Fn(i32) -> Outcome + Sync) -> Outcome {
    thread::scope(|scope| {
        let threads: Vec<_> = (0..count)
            .map(|t| {
                scope.spawn({
                    let work = &work;
                    move || work(t)
                })
            })
            .collect();
        threads
            .into_iter()
            .try_for_each(|t| t.join().unwrap_or_else(|_| Err(Failed("a thread panicked".to_owned()))))
    })
}

/// Calls an operation by name, without a stub.
fn call_by_name(c: &Context, name: &'static str) -> Result<(), SystemException> {
    c.suite.as_object().call(Operation::new(name, u32::MAX), |_| Ok(()), |_| Ok(()))
}

/// An operation's error as somebody sees it who knows none of its exceptions.
#[derive(Debug)]
struct Stranger(SystemException);

impl From<SystemException> for Stranger {
    fn from(exception: SystemException) -> Self {
        Self(exception)
    }
}

impl OperationError for Stranger {
    fn decode_user(
        _id: &str,
        _r: &mut throughline::rt::Reader<'_>,
    ) -> Option<Result<Self, throughline::rt::DecodeError>> {
        None
    }

    fn raise(self, _call: &mut throughline::rt::ServerCall<'_>) -> throughline::rt::Dispatched {
        Err(self.0)
    }
}

checks! {
    "exception.none" Nothing |c| {
        expect_same!(c.suite.raise_user(0)?, 42);
        let mut text = "ab".to_owned();
        expect_same!(c.suite.raise_beside(0, &mut text)?, (42, 4_u32));
        expect_same!(text, "abab".to_owned());
    }

    "exception.empty" Nothing |c| {
        expect_same!(c.suite.raise_user(1), Err::<i32, _>(User::Empty(Empty)));
    }

    "exception.members" Nothing |c| {
        expect_same!(c.suite.raise_user(2), Err::<i32, _>(User::Refused(refused(77))));
    }

    "exception.nested" Nothing |c| {
        let nested = Nested { choice: ByColour::Names(strings(&["n"])), crowd: Vec::new() };
        expect_same!(c.suite.raise_user(3), Err::<i32, _>(User::Nested(nested)));
    }

    "exception.beside_results" Nothing |c| {
        let mut text = "ab".to_owned();
        expect!(matches!(c.suite.raise_beside(1, &mut text), Err(Beside::Empty(_))));
        expect!(matches!(c.suite.raise_beside(2, &mut text), Err(Beside::Refused(_))));
        expect!(matches!(c.suite.raise_beside(3, &mut text), Err(Beside::Nested(_))));
        expect_same!(text, "ab".to_owned());
    }

    // Which stubs of an older IDL are.
    "exception.unlisted" Nothing |c| {
        let operation = Operation::new("raise_user", u32::MAX);
        let object = c.suite.as_object();
        let raised = object.call::<(), Stranger>(operation, |w| { w.write_u32(2); Ok(()) }, |_| Ok(()));
        expect!(matches!(raised, Err(Stranger(SystemException { kind: Kind::Unknown, .. }))));
        expect_same!(c.suite.raise_user(0)?, 42);
    }

    "system.completion" Nothing |c| {
        use interop::Completion::{CompletedMaybe, CompletedNo, CompletedYes};
        expect_system(c, "NO_PERMISSION", 0x1234_5678, CompletedYes, Completion::Yes)?;
        expect_system(c, "NO_PERMISSION", 0, CompletedNo, Completion::No)?;
        expect_system(c, "NO_PERMISSION", u32::MAX, CompletedMaybe, Completion::Maybe)?;
    }

    "system.kinds" Nothing |c| {
        for name in [
            "BAD_PARAM", "NO_PERMISSION", "IMP_LIMIT", "NO_RESOURCES", "INTERNAL", "BAD_OPERATION", "NO_IMPLEMENT",
            "BAD_INV_ORDER", "UNKNOWN", "DATA_CONVERSION", "INV_OBJREF",
        ] {
            expect_system(c, name, 0x5448_0007, interop::Completion::CompletedMaybe, Completion::Maybe)?;
        }
    }

    "system.unknown_operation" Nothing |c| {
        for name in ["no_such_operation", "ech", "echo_strin", "echo_stringy", "Echo_string", "_get_nothing"] {
            expect_exception!(call_by_name(c, name), BadOperation);
        }
        expect_same!(c.suite.raise_user(0)?, 42);
    }

    "timeout.call" Nothing |c| {
        let impatient = SuiteRef::from_object(c.suite.as_object().with_timeout(Duration::from_millis(200)));
        let started = Instant::now();
        expect_exception!(impatient.sleep(1500), Timeout);
        expect!(started.elapsed() < Duration::from_millis(1200));
        expect_same!(c.suite.raise_user(0)?, 42);
    }

    "connection.again" Nothing |c| {
        for _ in 0..20 {
            let orb = Orb::client()?;
            let suite = SuiteRef::from_object(orb.string_to_object(&c.suite.as_object().to_string())?);
            expect_same!(suite.raise_user(0)?, 42);
            orb.shutdown(Duration::from_secs(1));
        }
    }

    // Not kept by an omniORB server unless -ORBmaxServerThreadPerConnection is 1: it hands the requests of one connection
    // to several threads.
    "oneway.order" Nothing |c| {
        c.suite.clear()?;
        (0..2000).try_for_each(|n| c.suite.post(n))?;
        expect_same!(c.suite.posted()?, (0..2000).collect::<Vec<u32>>());
    }

    "oneway.all_arrive" Nothing |c| {
        c.suite.clear()?;
        (0..500).try_for_each(|n| c.suite.post(n))?;
        within_two_seconds(|| Ok(c.suite.posted()?.len() == 500))?;
        let different: BTreeSet<u32> = c.suite.posted()?.into_iter().collect();
        expect!(different.into_iter().eq(0..500));
    }

    "oneway.arguments" Nothing |c| {
        c.suite.clear()?;
        let [_, place] = points();
        c.suite.note("a line", &place)?;
        within_two_seconds(|| Ok(c.suite.noted()?.len() == 1))?;
        expect_same!(c.suite.noted()?, strings(&["a line"]));
        expect_same!(c.suite.place()?, place);
    }

    "concurrent.accumulate" Nothing |c| {
        let before = c.suite.total()?;
        in_threads(8, |t| {
            for _ in 0..200 {
                c.suite.accumulate(t + 1)?;
            }
            Ok(())
        })?;
        expect_same!(c.suite.total()? - before, 200 * 36_i64);
    }

    "concurrent.replies_apart" Nothing |c| {
        in_threads(8, |t| {
            for i in 0..50 {
                let sent = char::from(b'a' + t as u8).to_string().repeat((t * 1000 + i) as usize);
                expect!(c.suite.echo_long_string(&sent)? == sent);
            }
            Ok(())
        })?;
    }

    "concurrent.slow_call_beside" Nothing |c| {
        thread::scope(|scope| -> Outcome {
            let slow = scope.spawn(|| c.suite.sleep(600));
            thread::sleep(Duration::from_millis(50));
            let started = Instant::now();
            for _ in 0..20 {
                expect_same!(c.suite.raise_user(0)?, 42);
            }
            expect!(started.elapsed() < Duration::from_millis(400));
            expect!(matches!(slow.join(), Ok(Ok(()))));
            Ok(())
        })?;
    }

    "concurrent.bulk" Nothing |c| {
        in_threads(4, |t| {
            for _ in 0..4 {
                let sent: Vec<i32> = (0..100_000 + t).map(|n| n * (t + 1)).collect();
                expect!(c.suite.echo_longs(&sent)? == sent);
            }
            Ok(())
        })?;
    }
}
