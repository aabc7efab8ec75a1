//! Who may open no more files cannot have memory shown to him, which is nobody's fault but his own: nobody is said to have broken the
//! protocol.
#![cfg(not(loom))]

mod common;

use common::{LONG, Result};
use rustix::process::{Resource, Rlimit, setrlimit};
use std::fs::File;
use throughline_vi::{CompletionError, ConnectError, Nic, Reliability, State, Vi, ViAttributes};

/// Files that this process may have open; the test harness has some.
const FILES: u64 = 100;

#[test]
fn memory_that_comes_when_no_file_may_be_opened_is_told_as_that() -> Result {
    setrlimit(Resource::Nofile, Rlimit { current: Some(FILES), maximum: Some(FILES) })?;
    let fill = || std::iter::from_fn(|| File::open("/dev/null").ok()).collect::<Vec<_>>();
    let nics = [Nic::shm()?, Nic::shm()?];
    let attributes = ViAttributes::new(Reliability::ReliableDelivery);
    let mut listener = nics[1].listen(b"files")?;
    let [mut refused, mut a] = [nics[0].create_vi(&attributes)?, nics[0].create_vi(&attributes)?];
    let [mut other, mut b] = [nics[1].create_vi(&attributes)?, nics[1].create_vi(&attributes)?];
    let connected = std::thread::scope(|scope| {
        let connecting = scope.spawn(|| refused.connect(nics[1].address(), b"files", LONG));
        let request = listener.wait(LONG)?;
        let open = fill();
        request.accept(&mut other)?;
        let connected = connecting.join().expect("no panic");
        drop(open);
        Ok::<_, ConnectError>(connected)
    })?;
    assert!(matches!(connected, Err(ConnectError::Io(_))), "{connected:?}");

    [&mut a, &mut b].into_iter().for_each(Vi::post_own_receives);
    std::thread::scope(|scope| {
        let connecting = scope.spawn(|| a.connect(nics[1].address(), b"files", LONG));
        listener.wait(LONG)?.accept(&mut b)?;
        connecting.join().expect("no panic")
    })?;
    let region = nics[0].register(1, 3000, a.tag())?;
    a.post_send(region.buffer().ok_or("no buffer")?)?;
    let open = fill();
    assert_eq!(b.receive_wait(LONG)?.result, Err(CompletionError::Flushed));
    drop(open);
    assert_eq!(b.state(), State::Stopped(CompletionError::NotMapped));
    assert_eq!(a.send_wait(LONG)?.result, Err(CompletionError::NotMapped));
    Ok(())
}
