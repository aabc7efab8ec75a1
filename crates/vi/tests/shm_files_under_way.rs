//! The system bounds how many files a user may have under way, whoever of his processes sent them: memory that there is no room for then
//! is shown once there is.
#![cfg(not(loom))]

mod common;

use common::{LONG, Result};
use rustix::{
    net::{AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType},
    process::{Resource, Rlimit, getrlimit, setrlimit},
    thread::{CapabilitySet, capabilities, set_capabilities},
};
use std::{
    io::IoSlice,
    mem::MaybeUninit,
    os::fd::{AsFd, OwnedFd},
    sync::{Mutex, mpsc},
    time::{Duration, Instant},
};
use throughline_vi::{
    CompletionError, CompletionQueue, Nic, Reliability, RemoteAddress, Rights, SendDescriptor, Vi,
    ViAttributes, Window,
};

/// So many files may be under way for a while, and be open. Nobody waits for more at a time.
const FEW: u64 = 128;

/// So many files are under way until both are closed.
fn under_way(files: u64) -> Result<(OwnedFd, OwnedFd)> {
    let (kind, flags) = (SocketType::SEQPACKET, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK);
    let sockets = rustix::net::socketpair(AddressFamily::UNIX, kind, flags, None)?;
    for _ in 0..files {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let files = [sockets.0.as_fd()];
        control.push(SendAncillaryMessage::ScmRights(&files));
        rustix::net::sendmsg(&sockets.0, &[IoSlice::new(b"file")], &mut control, SendFlags::empty())?;
    }
    Ok(sockets)
}

/// Even the superuser is bound by the limit then, in this thread.
fn lose_privileges() -> Result {
    let mut left = capabilities(None)?;
    left.effective -= CapabilitySet::SYS_ADMIN | CapabilitySet::SYS_RESOURCE;
    Ok(set_capabilities(None, left)?)
}

/// The limit is that of the process.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn limit_to(files: Option<u64>) -> Result {
    let maximum = getrlimit(Resource::Nofile).maximum;
    Ok(setrlimit(Resource::Nofile, Rlimit { current: files.or(maximum), maximum })?)
}

/// More files than [`FEW`] are under way, and this thread is bound by how many there may be, which are all for now: other tests of this
/// user have files under way, too.
fn files_under_way() -> Result<(OwnedFd, OwnedFd)> {
    lose_privileges()?;
    limit_to(None)?;
    under_way(FEW + 1)
}

fn writes(a: &mut Vi, window: &Window) -> std::result::Result<usize, CompletionError> {
    let mut buffer = a.send_buffer().expect("a buffer");
    buffer.set_len(5);
    let to = RemoteAddress { handle: window.handle(), offset: 0 };
    a.post_send(SendDescriptor::write(buffer, to)).expect("posted");
    a.send_wait(LONG).expect("an end").result
}

fn connected(nics: &[Nic; 2], level: Reliability) -> Result<[Vi; 2]> {
    let attributes = ViAttributes { spin: Duration::ZERO, peer_pieces: 1000, ..ViAttributes::new(level) };
    let mut listener = nics[1].listen(b"files")?;
    let [mut a, mut b] = [nics[0].create_vi(&attributes)?, nics[1].create_vi(&attributes)?];
    b.post_own_receives();
    std::thread::scope(|scope| {
        let connecting = scope.spawn(|| a.connect(nics[1].address(), b"files", LONG));
        listener.wait(LONG)?.accept(&mut b)?;
        connecting.join().expect("no panic")
    })?;
    Ok([a, b])
}

/// By somebody who waits by himself, and by a queue.
#[test]
fn a_message_leaves_once_there_is_room_for_the_file_of_its_memory() -> Result {
    let _alone = ONE_AT_A_TIME.lock();
    let _under_way = files_under_way()?;
    for queued in [false, true] {
        let nics = [Nic::shm()?, Nic::shm()?];
        let [mut a, mut b] = connected(&nics, Reliability::ReliableDelivery)?;
        let buffer = nics[0].register(1, 3000, a.tag())?.buffer().ok_or("no buffer")?;
        let mut queue = CompletionQueue::new(Duration::ZERO)?;
        queue.link(&mut a, 7);
        limit_to(Some(FEW))?;
        a.post_send(buffer)?;
        let refused = a.send_done().is_none();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(50));
                limit_to(None).expect("it was so before");
                b.receive_wait(LONG).expect("a message").result.expect("a whole one");
            });
            let sent = loop {
                match a.send_done() {
                    Some(sent) => break sent,
                    None if queued => assert_eq!(queue.wait(LONG)?, 7),
                    None => break a.send_wait(LONG)?,
                }
            };
            assert!(refused && sent.result.is_ok(), "{:?}", sent.result);
            Ok::<_, Box<dyn std::error::Error>>(())
        })?;
    }
    Ok(())
}

/// One thread sleeps by a queue, and has another look at the VI: he may fall asleep while that one tries again.
#[test]
fn who_sleeps_by_a_queue_while_another_tries_again_is_woken_in_time() -> Result {
    let _alone = ONE_AT_A_TIME.lock();
    let _under_way = files_under_way()?;
    let nics = [Nic::shm()?, Nic::shm()?];
    let [mut a, _b] = connected(&nics, Reliability::ReliableDelivery)?;
    let buffer = nics[0].register(1, 3000, a.tag())?.buffer().ok_or("no buffer")?;
    let mut queue = CompletionQueue::new(Duration::ZERO)?;
    queue.link(&mut a, 7);
    limit_to(Some(FEW))?;
    a.post_send(buffer)?;
    let (woken, wakes) = mpsc::sync_channel(1);
    let until = Instant::now() + Duration::from_millis(1500);
    let longest = std::thread::scope(|scope| {
        let sleeper = scope.spawn(move || {
            let mut longest = Duration::ZERO;
            while Instant::now() < until {
                let before = Instant::now();
                assert_eq!(queue.wait(LONG).expect("it is woken"), 7);
                longest = longest.max(before.elapsed());
                let _ = woken.try_send(());
            }
            longest
        });
        wakes.iter().for_each(|()| assert!(a.send_done().is_none_or(|sent| sent.result.is_err())));
        sleeper.join().expect("no panic")
    });
    limit_to(None)?;
    assert!(longest < Duration::from_secs(3), "{longest:?}");
    Ok(())
}

/// The VI sleeps meanwhile, by itself or by a queue, and perhaps before there is a window.
#[test]
fn a_window_is_shown_once_there_is_room_for_its_file() -> Result {
    let _alone = ONE_AT_A_TIME.lock();
    let _under_way = files_under_way()?;
    for (queued, late) in [(false, false), (true, false), (false, true), (true, true)] {
        let nics = [Nic::shm()?, Nic::shm()?];
        let [mut a, mut b] = connected(&nics, Reliability::Unreliable)?;
        let mut queue = CompletionQueue::new(Duration::ZERO)?;
        queue.link(&mut b, 7);
        let (tag, rights) = (b.tag(), Rights { remote_write: true, remote_read: false });
        let shown = || nics[1].register_window(64, tag, rights).expect("a window");
        limit_to(Some(FEW))?;
        let early = (!late).then(shown);
        let (refused, reached) = std::thread::scope(|scope| {
            let sleeper = scope.spawn(|| {
                if queued {
                    assert_eq!(queue.wait(LONG).expect("it is woken"), 7);
                }
                b.receive_wait(LONG).expect("a message").result
            });
            std::thread::sleep(Duration::from_millis(50));
            let window = early.unwrap_or_else(shown);
            let refused = writes(&mut a, &window);
            limit_to(None).expect("it was so before");
            let reached = (0..400).any(|_| {
                std::thread::sleep(Duration::from_millis(5));
                writes(&mut a, &window).is_ok()
            });
            assert!(a.send_small(b"over"));
            assert_eq!(sleeper.join().expect("no panic"), Ok(4));
            (refused, reached)
        });
        assert_eq!((refused, reached), (Err(CompletionError::RemoteProtection), true), "{queued} {late}");
    }
    Ok(())
}

/// The peer makes room for words, when there is none for the file of the last of them, and wakes the VI, which says the others and sleeps
/// on.
#[test]
fn a_window_is_shown_once_there_is_room_for_its_file_though_there_was_none_for_words_before() -> Result {
    let _alone = ONE_AT_A_TIME.lock();
    let _under_way = files_under_way()?;
    let nics = [Nic::shm()?, Nic::shm()?];
    let [mut a, mut b] = connected(&nics, Reliability::Unreliable)?;
    let (tag, rights) = (b.tag(), Rights { remote_write: true, remote_read: false });
    let shown = || nics[1].register_window(64, tag, rights);
    let many = (0..400).map(|_| shown()).collect::<std::result::Result<Vec<_>, _>>()?;
    while writes(&mut a, &many[399]).is_err() {
        (0..10_000).for_each(|_| assert!(b.receive_done().is_none()));
    }
    // These words have no files, and are more than there is room for.
    drop(many);
    let window = shown()?;
    // It has been woken for what was said before, and who has looked often does not listen with each look.
    assert!(b.receive_wait(Some(Duration::from_millis(5))).is_err());
    (0..600).for_each(|_| assert!(b.receive_done().is_none()));
    limit_to(Some(FEW))?;
    let (refused, reached) = std::thread::scope(|scope| {
        let sleeper = scope.spawn(|| b.receive_wait(LONG).expect("a message").result);
        std::thread::sleep(Duration::from_millis(50));
        let refused = writes(&mut a, &window);
        std::thread::sleep(Duration::from_millis(50));
        limit_to(None).expect("it was so before");
        // Whoever writes listens, makes room and wakes the peer.
        std::thread::sleep(Duration::from_secs(1));
        let reached = writes(&mut a, &window);
        assert!(a.send_small(b"over"));
        assert_eq!(sleeper.join().expect("no panic"), Ok(4));
        (refused, reached)
    });
    assert_eq!((refused, reached), (Err(CompletionError::RemoteProtection), Ok(5)));
    Ok(())
}
