//! Who asks for a connection while the process may open no more files gets one when it may: strangers can bring that about by coming
//! in numbers.
#![cfg(not(loom))]

mod common;

use common::{LONG, LOOPBACK, Result};
use rustix::process::{Resource, Rlimit, setrlimit};
use std::fs::File;
use throughline_vi::{Nic, Reliability, ViAttributes};

/// Files that this process may have open; the test harness has some.
const FILES: u64 = 100;

#[test]
fn an_opening_that_cannot_be_accepted_is_heard_again() -> Result {
    setrlimit(Resource::Nofile, Rlimit { current: Some(FILES), maximum: Some(FILES) })?;
    let nics = [Nic::udp(LOOPBACK)?, Nic::udp(LOOPBACK)?];
    let attributes = ViAttributes::new(Reliability::ReliableDelivery);
    let (mut active, mut passive) = (nics[0].create_vi(&attributes)?, nics[1].create_vi(&attributes)?);
    let mut listener = nics[1].listen(b"files")?;
    std::thread::scope(|scope| {
        let connecting = scope.spawn(|| active.connect(nics[1].address(), b"files", LONG));
        let request = listener.wait(LONG)?;
        let open: Vec<_> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
        assert!(request.accept(&mut passive).is_err());
        drop(open);
        listener.wait(LONG)?.accept(&mut passive)?;
        connecting.join().expect("no panic")?;
        Ok(())
    })
}
