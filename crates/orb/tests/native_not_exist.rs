//! `OBJECT_NOT_EXIST` by a servant that has run: it is not called once more, and there still.

mod common;

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use common::{ECHO, EchoRef, client, seen_by, server_with};
use throughline::rt::{Dispatched, Interface, Operation, ServerCall, Skeleton, TypedSkeleton};
use throughline::{Completion, Kind, SystemException, block_on};

static RUNS: AtomicU32 = AtomicU32::new(0);

/// Finds, after it has done its work, that another object is gone.
struct Late(Completion);

impl Skeleton for Late {
    fn interface(&self) -> &'static Interface {
        &ECHO
    }

    fn invoke(&self, _: u32, _: &mut ServerCall<'_>) -> Dispatched {
        RUNS.fetch_add(1, Ordering::Relaxed);
        Err(SystemException::new(Kind::ObjectNotExist, 7).completed(self.0))
    }
}

impl TypedSkeleton for Late {
    type Reference = EchoRef;
}

#[test]
fn a_servant_that_has_run_is_not_called_once_more() {
    for (at, completed) in [
        ("shm:", Completion::Yes),
        ("shm:", Completion::No),
        ("udp://127.0.0.1:0", Completion::Maybe),
        ("udp://127.0.0.1:0", Completion::No),
    ] {
        // By IIOP as well.
        let server = server_with(|c| c.listen.push(at.parse().unwrap()));
        let own = server.root().activate(Late(completed)).unwrap();
        let client = client();
        let echo = seen_by(&client, &own);
        let ping = Operation::new("ping", 0);
        let calls: [&dyn Fn() -> Result<(), SystemException>; 3] =
            [&|| echo.ping(), &|| block_on(echo.ping_async()), &|| {
                echo.0.begin(ping, |_| Ok(()), |_| Ok(()), None).wait()
            }];
        for (way, call) in calls.iter().enumerate() {
            for _ in 0..2 {
                RUNS.store(0, Ordering::Relaxed);
                let error = call().unwrap_err();
                assert_eq!((error.kind, error.minor, error.completed), (Kind::ObjectNotExist, 7, completed));
                assert_eq!(RUNS.load(Ordering::Relaxed), 1, "{at}: {way}");
                let ways = format!("{:?}", echo.0);
                assert!(ways.contains(" at shm:") || ways.contains(" at udp:"), "{ways}");
            }
        }
        server.shutdown(Duration::from_secs(1));
    }
}
