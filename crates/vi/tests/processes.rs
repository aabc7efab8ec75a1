//! Two processes over shared memory.
//!
//! The other process is this program again, told by an environment variable what to be.
#![cfg(not(loom))]

use std::{
    error::Error,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};
use throughline_vi::{
    CompletionError, CompletionQueue, ConnectError, Listener, NAP, Nic, Reliability, SendDescriptor, State,
    Vi, ViAttributes, WaitError,
};

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

const ROLE: &str = "THROUGHLINE_VI_ROLE";
const ADDRESS: &str = "THROUGHLINE_VI_ADDRESS";
const LONG: Option<Duration> = Some(Duration::from_secs(20));

/// The other process. Without a role a test that has nothing to do.
#[test]
fn other_process() -> Result {
    let (Ok(role), Ok(address)) = (std::env::var(ROLE), std::env::var(ADDRESS)) else { return Ok(()) };
    if role == "listen" {
        return listen(&address);
    }
    let mut vi = new_vi(&Nic::shm()?, Reliability::ReliableDelivery)?;
    match role.as_str() {
        "echo, without looking" => vi = sleeping_vi(&Nic::shm()?, Duration::ZERO)?,
        "echo, hardly looking" => vi = sleeping_vi(&Nic::shm()?, HARDLY)?,
        _ => {}
    }
    vi.connect(&address, b"test", LONG)?;
    match role.as_str() {
        "echo" | "echo, without looking" | "echo, hardly looking" => echo(&mut vi, usize::MAX),
        "echo, then leave" => echo(&mut vi, 1),
        "echo, then die" => echo(&mut vi, 1).and_then(|()| die()),
        "be silent" => {
            std::thread::sleep(Duration::from_secs(60));
            Ok(())
        }
        role => Err(format!("no role {role}").into()),
    }
}

/// Listens for one whose process is in no namespace that this one sees.
fn listen(address: &str) -> Result {
    let request = Nic::shm_at(address)?.listen(b"test")?.wait(LONG)?;
    assert_eq!(request.process(), None);
    request.accept(&mut new_vi(&Nic::shm()?, Reliability::ReliableDelivery)?)?;
    Ok(())
}

fn die() -> Result {
    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL)?;
    unreachable!("killed")
}

/// Sends back so many messages, or until the peer disconnects.
fn echo(vi: &mut Vi, times: usize) -> Result {
    for _ in 0..times {
        let request = vi.receive_wait(LONG)?;
        if request.result == Err(CompletionError::Flushed) {
            return Ok(());
        }
        let mut reply = loop {
            match vi.send_buffer() {
                Some(buffer) => break buffer,
                None => std::thread::yield_now(),
            }
        };
        reply.set_len(request.buffer.len());
        reply.copy_from_slice(&request.buffer);
        vi.post_receive(request.buffer)?;
        vi.post_send(SendDescriptor::new(reply).unsignaled())?;
    }
    Ok(())
}

fn new_vi(nic: &Nic, reliability: Reliability) -> Result<Vi> {
    let mut vi = nic.create_vi(&ViAttributes::new(reliability))?;
    vi.post_own_receives();
    Ok(vi)
}

/// Who is said to look falls asleep in two parts.
const HARDLY: Duration = Duration::from_nanos(1);

/// One that does not look for long before it sleeps.
fn sleeping_vi(nic: &Nic, spin: Duration) -> Result<Vi> {
    let attributes = ViAttributes { spin, ..ViAttributes::new(Reliability::ReliableDelivery) };
    let mut vi = nic.create_vi(&attributes)?;
    vi.post_own_receives();
    Ok(vi)
}

/// A process that ends with us.
struct Other(Child);

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(role: &str, address: &str) -> Result<Other> {
    let child = Command::new(std::env::current_exe()?)
        .args(["--exact", "other_process", "--nocapture"])
        .envs([(ROLE, role), (ADDRESS, address)])
        .stdout(Stdio::null())
        .spawn()?;
    Ok(Other(child))
}

fn connected_to(role: &str) -> Result<(Vi, Other)> {
    let nic = Nic::shm()?;
    let mut listener: Listener = nic.listen(b"test")?;
    let other = start(role, nic.address())?;
    let mut vi = new_vi(&nic, Reliability::ReliableDelivery)?;
    let request = listener.wait(LONG)?;
    assert_eq!(request.process(), Some(other.0.id()));
    request.accept(&mut vi)?;
    Ok((vi, other))
}

fn call(vi: &mut Vi, bytes: &[u8]) -> Result<Vec<u8>> {
    let mut buffer = vi.send_buffer().ok_or("no buffer")?;
    buffer.set_len(bytes.len());
    buffer.copy_from_slice(bytes);
    vi.post_send(SendDescriptor::new(buffer).unsignaled())?;
    let reply = vi.receive_wait(LONG)?;
    reply.result?;
    let bytes = reply.buffer.to_vec();
    vi.post_receive(reply.buffer)?;
    Ok(bytes)
}

#[test]
fn messages_of_all_lengths_come_back() -> Result {
    let (mut vi, _other) = connected_to("echo")?;
    for round in 0..2000_usize {
        let len = round * 131 % 16_385;
        let bytes: Vec<u8> = (0..len).map(|at| (at * 3 + round) as u8).collect();
        assert_eq!(call(&mut vi, &bytes)?, bytes);
    }
    Ok(())
}

#[test]
fn a_killed_peer_is_noticed_by_a_sleeper_and_by_a_poller() -> Result {
    for poll in [false, true] {
        let (mut vi, _other) = connected_to("echo, then die")?;
        assert_eq!(call(&mut vi, b"last words")?, b"last words");
        let completion = if poll {
            loop {
                if let Some(completion) = vi.receive_done() {
                    break completion;
                }
            }
        } else {
            vi.receive_wait(LONG)?
        };
        assert_eq!(completion.result, Err(CompletionError::Flushed));
        assert_eq!(vi.state(), State::Stopped(CompletionError::ConnectionLost));
        let buffer = vi.send_buffer().ok_or("no buffer")?;
        assert!(vi.post_send(buffer).is_err());
    }
    Ok(())
}

#[test]
fn a_peer_that_leaves_says_so() -> Result {
    let (mut vi, _other) = connected_to("echo, then leave")?;
    assert_eq!(call(&mut vi, b"once")?, b"once");
    assert_eq!(vi.receive_wait(LONG)?.result, Err(CompletionError::Flushed));
    assert_eq!(vi.state(), State::Stopped(CompletionError::Disconnected));
    Ok(())
}

#[test]
fn waiting_ends_in_time_and_uses_no_processor() -> Result {
    let (mut vi, _other) = connected_to("be silent")?;
    let used = || {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
    };
    let half_a_second = Some(Duration::from_millis(500));
    let mut before = used();
    assert!(matches!(vi.receive_wait(half_a_second), Err(WaitError::Timeout)));
    assert!(used() - before < Duration::from_millis(5), "{:?}", used() - before);
    let mut queue = CompletionQueue::new(Duration::from_micros(50))?;
    queue.link(&mut vi, 1);
    before = used();
    assert!(matches!(queue.wait(half_a_second), Err(WaitError::Timeout)));
    assert!(used() - before < Duration::from_millis(5), "{:?}", used() - before);
    Ok(())
}

/// Both sides fall asleep time and again, at all distances from the message that is to wake them, and of the end of the first
/// part of their sleep.
#[test]
fn messages_at_the_moment_of_falling_asleep_arrive() -> Result {
    ["echo, without looking", "echo, hardly looking"].into_iter().try_for_each(all_are_echoed)
}

fn all_are_echoed(role: &str) -> Result {
    let (mut vi, _other) = connected_to(role)?;
    let mut queue = CompletionQueue::new(Duration::ZERO)?;
    for round in 0..3000_u32 {
        let around = if round % 32 == 0 { NAP } else { Duration::ZERO };
        let pause = Instant::now() + around + Duration::from_nanos(u64::from(round * 7919 % 30_000));
        while Instant::now() < pause {
            std::hint::spin_loop();
        }
        if round == 2000 {
            // From now on it is woken at once, whenever it sleeps.
            queue.link(&mut vi, 1);
        }
        assert!(vi.send_small(&round.to_ne_bytes()));
        if round >= 2000 {
            assert_eq!(queue.wait(LONG)?, 1);
        }
        let echo = vi.receive_wait(LONG)?;
        assert_eq!(*echo.buffer, round.to_ne_bytes());
        vi.post_receive(echo.buffer)?;
    }
    Ok(())
}

#[test]
fn nobody_listens_at_a_dead_process() -> Result {
    let (_vi, mut other) = connected_to("be silent")?;
    other.0.kill()?;
    let mut vi = new_vi(&Nic::shm()?, Reliability::ReliableDelivery)?;
    assert!(matches!(vi.connect("nobody", b"test", LONG), Err(ConnectError::NobodyListens)));
    Ok(())
}

#[test]
fn a_peer_in_another_namespace_has_no_id() -> Result {
    if !Command::new("unshare")
        .args(["--pid", "--fork", "true"])
        .output()
        .is_ok_and(|done| done.status.success())
    {
        eprintln!("SKIPPED: no namespaces of processes (root has them, and `unshare` makes them)");
        return Ok(());
    }
    let address = format!("namespaces-{}", std::process::id());
    let mut listening = Command::new("unshare")
        .args(["--pid", "--fork", "--kill-child"])
        .arg(std::env::current_exe()?)
        .args(["--exact", "other_process", "--nocapture"])
        .envs([(ROLE, "listen"), (ADDRESS, &address)])
        .stdout(Stdio::null())
        .spawn()?;
    let begin = Instant::now();
    let connected = loop {
        let mut vi = new_vi(&Nic::shm()?, Reliability::ReliableDelivery)?;
        match vi.connect(&address, b"test", LONG) {
            Err(ConnectError::NobodyListens) if begin.elapsed() < Duration::from_secs(10) => {
                std::thread::sleep(Duration::from_millis(5));
            }
            connected => break connected,
        }
    };
    let ended = listening.wait()?;
    connected?;
    assert!(ended.success());
    Ok(())
}
