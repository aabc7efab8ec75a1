//! Objects that are activated for a client end with its process.

mod common;
#[path = "common/process.rs"]
mod process;

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use common::{ECHO, Echo, EchoRef, client, seen_by, server_with};
use process::Process;
use throughline::rt::{Dispatched, Interface, ServerCall, Skeleton, TypedSkeleton};
use throughline::{Adapter, AdapterConfig, AdapterError, Strategy};

/// Activates an object for whoever pings it.
struct Opener {
    adapter: Adapter,
    opened: Arc<Mutex<Vec<Result<EchoRef, AdapterError>>>>,
}

impl Skeleton for Opener {
    fn interface(&self) -> &'static Interface {
        &ECHO
    }

    fn invoke(&self, operation: u32, call: &mut ServerCall<'_>) -> Dispatched {
        match operation {
            0 => {
                let opened = self.adapter.activate_for_caller(Echo::default());
                self.opened.lock().unwrap().push(opened);
                call.reply(|_| Ok(()))
            }
            _ => call.implicit(&ECHO, operation),
        }
    }
}

impl TypedSkeleton for Opener {
    type Reference = EchoRef;
}

/// Not a test of its own: what the child processes run.
#[test]
fn child() {
    let Some(reference) = process::given() else { return };
    let client = client();
    let opener = EchoRef(client.string_to_object(&reference).unwrap());
    (0..100).for_each(|_| opener.ping().unwrap());
    // Another thread, whose link ends with it: the client does not.
    std::thread::scope(|scope| drop(scope.spawn(|| opener.ping().unwrap())));
    println!("\nREADY now");
    std::io::stdout().flush().unwrap();
    std::thread::sleep(Duration::from_secs(60));
}

#[test]
fn what_a_client_holds_ends_with_it() {
    let server =
        server_with(|c| c.listen = vec!["shm:".parse().unwrap(), "iiop://127.0.0.1:0".parse().unwrap()]);
    let opened = Arc::<Mutex<Vec<_>>>::default();
    let opener = Opener { adapter: server.root().clone(), opened: Arc::clone(&opened) };
    let own = server.root().activate(opener).unwrap();
    let observer = client();
    seen_by(&observer, &own).ping().unwrap();
    let still_there = opened.lock().unwrap().pop().unwrap().unwrap();
    let [(mut first, _), (mut second, _)] = [(); 2].map(|()| Process::start(&own.0.to_string()));
    let theirs: Vec<EchoRef> = opened.lock().unwrap().drain(..).map(|opened| opened.unwrap()).collect();
    assert_eq!(theirs.len(), 202);
    let alive = || theirs.iter().filter(|object| object.ping().is_ok()).count();
    assert_eq!(alive(), 202);
    first.kill();
    let until = |left: usize| {
        let started = Instant::now();
        while alive() != left && started.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(alive(), left);
    };
    until(101);
    // One that is gone already is released without complaint.
    let living = theirs.iter().find(|object| object.ping().is_ok()).unwrap();
    server.root().deactivate(living).unwrap();
    second.kill();
    until(0);
    still_there.ping().unwrap();
    server.shutdown(Duration::from_secs(1));
}

#[test]
fn only_callers_that_can_be_watched_hold_anything() {
    let server = server_with(|c| c.listen = vec!["iiop://127.0.0.1:0".parse().unwrap()]);
    assert!(matches!(server.root().activate_for_caller(Echo::default()), Err(AdapterError::NoCaller)));
    let opened = Arc::<Mutex<Vec<_>>>::default();
    let opener = Opener { adapter: server.root().clone(), opened: Arc::clone(&opened) };
    let own = server.root().activate(opener).unwrap();
    let observer = client();
    let by_iiop = seen_by(&observer, &own);
    by_iiop.ping().unwrap();
    assert!(matches!(opened.lock().unwrap().pop(), Some(Err(AdapterError::NoCaller))));
    server.shutdown(Duration::from_secs(1));
}

#[test]
fn ids_of_objects_that_are_no_more_are_free_in_servers_without_iiop() {
    let server = server_with(|c| c.listen = vec!["shm:".parse().unwrap()]);
    let root = server.root();
    for n in 0..4 {
        let own = root.activate_with_id("a", Echo::default()).unwrap();
        assert_eq!(own.0.object_key(), b"a");
        // As it comes back from a client.
        let returned = server.string_to_object(&own.0.to_string()).unwrap();
        if n % 2 == 0 { root.deactivate(&own) } else { root.deactivate(&returned) }.unwrap();
        assert_eq!(root.deactivate(&own), Err(AdapterError::NotActive));
        assert_eq!(root.deactivate(&returned), Err(AdapterError::NotActive));
    }
    server.shutdown(Duration::ZERO);
}

#[test]
fn objects_that_are_told_by_their_handles_are_deactivated_however_many_there_are() {
    let server = server_with(|c| c.listen = vec!["shm:".parse().unwrap()]);
    for objects in [Strategy::DynamicHash, Strategy::PerfectHash] {
        let config = AdapterConfig { objects, ..AdapterConfig::default() };
        let adapter = server.root().create_child(objects.name(), config).unwrap();
        let own: Vec<_> = (0..50_000).map(|_| adapter.activate(Echo::default()).unwrap()).collect();
        if objects == Strategy::PerfectHash {
            adapter.freeze().unwrap();
        }
        let returned: Vec<_> =
            own.iter().map(|own| server.string_to_object(&own.0.to_string()).unwrap()).collect();
        let begun = Instant::now();
        returned.iter().for_each(|returned| adapter.deactivate(returned).unwrap());
        // Looking for each among all takes minutes.
        assert!(begun.elapsed() < Duration::from_secs(5), "{objects}: {:?}", begun.elapsed());
        assert!(adapter.is_empty());
        assert_eq!(adapter.deactivate(&own[0]), Err(AdapterError::NotActive));
    }
    server.shutdown(Duration::ZERO);
}
