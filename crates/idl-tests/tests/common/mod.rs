//! What the tests of calls share.
#![allow(dead_code)]

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;

use throughline::rt::{TypedReference, TypedSkeleton};
use throughline::{Address, Orb, OrbConfig, TrustedPeers};

/// Serves an object and gives `test` four references to it: one of the same process, one through TCP, and two through shared memory:
/// of a client that does not trust the server, and of one that does. The server trusts everybody.
pub fn served<S: TypedSkeleton>(skeleton: S, test: impl Fn(&Orb, &S::Reference)) {
    // SAFETY: all peers are this process, which uses the library alone.
    let trusted = Some(unsafe { TrustedPeers::promise() });
    let listen = vec![Address::tcp("127.0.0.1", 0), Address::Shm(String::new())];
    let server = Orb::start(OrbConfig { listen, trusted_peers: trusted, ..OrbConfig::default() }).unwrap();
    let own = server.root().activate(skeleton).unwrap();
    test(&server, &own);
    for (native, trusted_peers) in [(false, None), (true, None), (true, trusted)] {
        let client = Orb::start(OrbConfig { native, trusted_peers, ..OrbConfig::default() }).unwrap();
        test(&client, &elsewhere(&client, &own));
        client.shutdown(Duration::ZERO);
    }
    server.shutdown(Duration::from_secs(2));
}

/// The reference as another process gets it.
pub fn elsewhere<R: TypedReference>(client: &Orb, reference: &R) -> R {
    let text = reference.as_object().to_string();
    R::from_object(client.string_to_object(&text).unwrap())
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for a future on this thread.
pub fn wait<T>(future: impl Future<Output = T>) -> T {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => std::thread::park(),
        }
    }
}
