//! Executors whose wakers panic, as they do when their queues are gone, or own other calls: nobody else's calls suffer.
#![allow(missing_docs)]

#[path = "common/raw.rs"]
mod raw;

use std::net::TcpListener;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use raw::{BadServer, GRACE, LONG, Probe, ProbeRef, block_on, client, seen_by, server_with, within};
use throughline::{Completion, Kind};

const SHORT: Duration = Duration::from_millis(100);

struct Bomb;

impl Wake for Bomb {
    fn wake(self: Arc<Self>) {
        std::panic::resume_unwind(Box::new("as asked"));
    }
}

fn poll<F: Future>(future: Pin<&mut F>) -> bool {
    future.poll(&mut Context::from_waker(&Waker::from(Arc::new(Bomb)))).is_ready()
}

#[test]
fn time_limits_hold() {
    // Nobody accepts, but the kernel does.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (client, port) = (client(), listener.local_addr().unwrap().port());
    let probe = ProbeRef(client.string_to_object(&format!("corbaloc::127.0.0.1:{port}/x")).unwrap());
    // Connects, which may take its time.
    probe.post(0, 0).unwrap();
    let probe = probe.within(SHORT);
    let mut bomb = pin!(probe.ping_async());
    assert!(!poll(bomb.as_mut()));
    // Both are woken at the same time, the other one after this.
    let e = block_on(probe.ping_async()).unwrap_err();
    assert_eq!((e.kind, e.completed), (Kind::Timeout, Completion::Maybe), "{e}");
    let e = block_on(probe.ping_async()).unwrap_err();
    assert_eq!((e.kind, e.completed), (Kind::Timeout, Completion::Maybe), "{e}");
    client.shutdown(GRACE);
}

#[test]
fn who_receives_for_others_goes_on() {
    let client = client();
    let server = BadServer::new(|_, mut wire| {
        let first = wire.request().unwrap();
        wire.send(&first.answer());
        let both = [wire.request().unwrap(), wire.request().unwrap()];
        // Until the blocking caller receives.
        std::thread::sleep(SHORT);
        wire.send(&both.map(|heard| heard.answer()).concat());
        while let Some(heard) = wire.request() {
            wire.send(&heard.answer());
        }
    });
    let probe = server.reference(&client).within(LONG);
    block_on(probe.ping_async()).unwrap();
    let mut bomb = pin!(probe.ping_async());
    assert!(!poll(bomb.as_mut()));
    let blocking = probe.clone();
    within(LONG, move || blocking.ping()).unwrap();
    block_on(bomb).unwrap();
    probe.ping().unwrap();
    client.shutdown(GRACE);
}

#[test]
fn those_woken_together_all_are() {
    for at in ["127.0.0.1:0", "shm:", "udp://127.0.0.1:0"] {
        let server = server_with(|c| c.listen = vec![at.parse().unwrap()]);
        let client = client();
        let probe = seen_by(&client, &server.root().activate(Probe::default()).unwrap());
        block_on(probe.ping_async()).unwrap();
        let mut bombs: Vec<_> = (0..4).map(|_| Box::pin(probe.sleep_async(50))).collect();
        assert!(!bombs.iter_mut().any(|bomb| poll(bomb.as_mut())));
        for _ in 0..4 {
            block_on(probe.sleep_async(50)).unwrap();
        }
        for bomb in bombs {
            block_on(bomb).unwrap();
        }
        client.shutdown(GRACE);
        server.shutdown(GRACE);
    }
}

/// A task that nobody but its waker keeps.
struct Owner<T>(T);

impl<T: Send + Sync + 'static> Wake for Owner<T> {
    fn wake(self: Arc<Self>) {}
}

#[test]
fn a_waker_that_is_dropped_may_drop_other_calls_of_the_same_server() {
    for at in ["127.0.0.1:0", "shm:"] {
        let server = server_with(|c| c.listen = vec![at.parse().unwrap()]);
        let own = ProbeRef(server.root().activate(Probe::default()).unwrap().0);
        let client = client();
        let probe = seen_by(&client, &own);
        assert_eq!(block_on(probe.ping_async()), Ok(()));
        for replaced in [false, true] {
            let probe = probe.clone();
            within(LONG, move || {
                let mut nobody = Context::from_waker(Waker::noop());
                let [mut owned, mut call] = [(); 2].map(|()| Box::pin(probe.sleep_async(300)));
                assert!(owned.as_mut().poll(&mut nobody).is_pending());
                let owner = Waker::from(Arc::new(Owner(std::sync::Mutex::new(owned))));
                assert!(call.as_mut().poll(&mut Context::from_waker(&owner)).is_pending());
                drop(owner);
                if replaced {
                    assert!(call.as_mut().poll(&mut nobody).is_pending());
                }
                drop(call);
            });
        }
        assert_eq!(block_on(probe.ping_async()), Ok(()), "{at}");
        client.shutdown(GRACE);
        server.shutdown(GRACE);
    }
}
